/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_RATE_H
#define RR_TOOL_CP_RATE_H

#include <stdint.h>

/*
 * The rate of --bwlimit: a token bucket. Each piece of data is taken from it before it is moved, and takes as
 * long as the limit says; the next piece may begin when that time is over. A copy that came late, as the
 * network or the disk was slower, may make up for a tenth of a second.
 *
 * All times are those of one clock, in ns, and parameters.
 */
struct rr_rate {
	uint64_t limit; /* octets per second; 0: no limit, and all that is asked for may be taken at once */
	uint64_t due;   /* when all that was taken is moved, at the limit */
};

/* The argument of --bwlimit: reads a number of KiB per second, which may have a K, an M (MiB) or a G (GiB)
 * behind it, from 1 KiB to 1 TiB. Returns 0; or -RPCRDMA_ERR_INVAL if text is none. */
int rr_rate_parse(const char *text, uint64_t *limit);

/* Returns how long the next octets have to wait; 0: they may be taken now. */
uint64_t rr_rate_wait(const struct rr_rate *rate, uint64_t now);

/* Takes octets, which are about to be moved. */
void rr_rate_take(struct rr_rate *rate, uint32_t octets, uint64_t now);

/* Gives octets back that were taken, and were not moved. */
void rr_rate_give(struct rr_rate *rate, uint32_t octets);

/* Returns how many octets, of at most `most`, a piece should have: so few that several pieces are moved in a
 * second, but no fewer than a block of a file system. */
uint32_t rr_rate_piece(const struct rr_rate *rate, uint32_t most);

#endif
