/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_REPLAY_H
#define RR_TESTS_FABRIC_REPLAY_H

#include "fabric/fabric.h"

/*
 * A record (rpcrdma-record(5)) as a provider: it brings the events of the record's first fabric, and waits
 * between them for the operations that were written down there, which have the results that they had. So an
 * owner goes through what happened once more, without a peer; time and random numbers must be what they were.
 * With another record made of it, replay_compare() tells whether it did the same.
 *
 * What RDMA moved is not in a record: nothing is moved. Where there were several listeners, the first one is
 * asked.
 */

/* The record that the next fabric replays, until replay_close(). */
void replay_open(const char *path);
void replay_close(void);

/* Makes the fabric that replays the record; the arguments are those of rr_fabric_new(). */
int replay_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* Returns NULL, or the place in the record where the owner did another operation than the recorded one. */
const char *replay_wrong(void);

/*
 * Compares two records, except for their times, and for checksums once something was read by RDMA. Returns
 * NULL, or the first line of the second record that differs.
 */
const char *replay_compare(const char *path, const char *other);

#endif
