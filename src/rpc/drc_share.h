/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_DRC_SHARE_H
#define RR_RPC_DRC_SHARE_H

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"

/* The shares of connections and hosts in the answers of the duplicate request cache. Each connection has a
 * share, and the share of a host, that is of an address, is the sum of its connections. If there is no room
 * for an answer, another answer is forgotten: of the host with the most, of its connection with the most, the
 * oldest. So a client cannot push out the answers of others, whatever it sends. Shares belong to connections,
 * not to users, as a caller can claim to be any user. Connections of a host that have little count as equal,
 * so that many connections with an answer each push out the oldest answers of their host, not the latest.
 *
 * A share lives as long as it has answers. It is found by a hash of the name of the connection or host. */
struct rr_drc_share {
	struct rr_map_link link; /* in its map, by the hash */
	struct rr_heap_link rank;
	uint64_t weight;           /* the sum of the weights of its answers */
	uint64_t excess;           /* the weight; but 0 for a connection with little */
	uint64_t order;            /* grows: it is set when the share is made, and when it loses an answer */
	struct rr_drc_share *host; /* NULL: the share is that of a host */
	struct rr_heap members;    /* of a host: the shares of its connections, the heaviest first */
	struct rr_list answers;    /* of a connection: the oldest first */
};

/* All shares of a cache. */
struct rr_drc_shares {
	const struct rr_env *env;
	struct rr_map connections, hosts;
	struct rr_heap heaviest; /* the shares of hosts, the heaviest first */
	uint64_t little, order;
};

/* Prepares the shares. Connections whose weight is at most `little` count as equal: of their answers, the
 * oldest of the host are forgotten first. Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_drc_shares_init(
	struct rr_drc_shares *shares, const struct rr_env *env, uint32_t entries, uint64_t little);

/* Frees the maps. No answers may be left. Also works with zeroed memory, or if rr_drc_shares_init() has
 * failed. */
void rr_drc_shares_end(struct rr_drc_shares *shares);

/* Adds an answer to the share of the connection with that hash, and its weight to the share of the host with
 * that hash. Returns the connection's share, or NULL if there is no memory. */
struct rr_drc_share *rr_drc_share_add(struct rr_drc_shares *shares, uint64_t connection, uint64_t host,
	struct rr_list *answer, uint64_t weight);

/* Removes an answer from its share. With its last answer, the share is freed. */
void rr_drc_share_remove(
	struct rr_drc_shares *shares, struct rr_drc_share *share, struct rr_list *answer, uint64_t weight);

/* Returns the answer that is to be forgotten next, or NULL if there are no answers. */
struct rr_list *rr_drc_shares_first(const struct rr_drc_shares *shares);

#endif
