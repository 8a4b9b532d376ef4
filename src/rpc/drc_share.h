/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_DRC_SHARE_H
#define RR_RPC_DRC_SHARE_H

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"

/*
 * Whose the answers of the duplicate request cache are: each connection has a share, and each address is the
 * sum of its connections. Where there is no room, an answer of the connection with the most goes, of the
 * address with the most: a client does not push out the answers of others, whatever it sends. A connection,
 * not a user, as a caller can claim to be any user.
 *
 * A share lives as long as it has answers. It is found by a hash.
 */
struct rr_drc_share {
	struct rr_map_link link; /* in its map, by its hash */
	struct rr_heap_link rank;
	uint64_t weight;           /* of its answers */
	struct rr_drc_share *host; /* NULL: it is one */
	struct rr_heap members;    /* of a host: its connections, the heaviest first */
	struct rr_list answers;    /* of a connection: the oldest first */
};

struct rr_drc_shares {
	const struct rr_env *env;
	struct rr_map connections, hosts;
	struct rr_heap heaviest; /* hosts */
};

/* -RPCRDMA_ERR_NOMEM. */
int rr_drc_shares_init(struct rr_drc_shares *shares, const struct rr_env *env, uint32_t entries);

/* There must be no answers. Also after a failed or no rr_drc_shares_init() of zeroed memory. */
void rr_drc_shares_end(struct rr_drc_shares *shares);

/* An answer more of the connection with that hash, which is one of that host. Its share, or NULL: no memory.
 */
struct rr_drc_share *rr_drc_share_add(struct rr_drc_shares *shares, uint64_t connection, uint64_t host,
	struct rr_list *answer, uint64_t weight);

/* The answer goes; so does its share, if that was the last one. */
void rr_drc_share_remove(
	struct rr_drc_shares *shares, struct rr_drc_share *share, struct rr_list *answer, uint64_t weight);

/* The answer that makes room for another one; NULL: there is none. */
struct rr_list *rr_drc_shares_first(const struct rr_drc_shares *shares);

#endif
