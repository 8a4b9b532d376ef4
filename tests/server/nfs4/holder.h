/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS4_HOLDER_H
#define RR_TESTS_NFS4_HOLDER_H

#include "world.h"

/* A client that holds a delegation, and another client that wants the file: what tests of delegations begin
 * with. */

enum { READ = OPEN4_SHARE_ACCESS_READ, WRITE = OPEN4_SHARE_ACCESS_WRITE };

/* What holder_hold() makes: a client with a delegation of "file", which the client has closed, and a second
 * client. */
struct held {
	struct peer *holder, *other;
	stateid4 stateid;
};

/* Return the stateid and the delegation in the result of the OPEN that was operation `index`. */
const stateid4 *holder_opened(const struct peer *peer, uint32_t index);
const open_delegation4 *holder_given(const struct peer *peer, uint32_t index);

/* Makes a client with a session, and waits until the server knows that the backchannel works. */
struct peer *holder_caller(struct world *world, uint32_t number, const char *name);
/* Makes a file, which is not open then. */
void holder_make_file(struct peer *peer, const char *name);
/* Makes "file" and "target", and both clients. */
struct held holder_hold(struct world *world);

nfs_argop4 op_delegreturn(const stateid4 *stateid);
/* Returns the delegation to the server. */
nfsstat4 holder_give_back(const struct held *held, const char *name);

/* Waits for the recall of the delegation. */
void holder_expect_recall(struct world *world, const struct held *held);
/* Has the other client open the file for writing, which recalls the holder's delegation. */
void holder_cause_recall(struct world *world, const struct held *held);

#endif
