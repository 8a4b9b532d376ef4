/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_ROOM_H
#define RR_CARRIER_RDMA_CORE_ROOM_H

#include "base/cache.h"
#include "carrier/rdma/core/trace.h"
#include "carrier/rdma/rdma.h"
#include "carrier/rdma/version.h"
#include "fabric/fabric.h"
#include "wire/rpcrdma2.h"

/* The room holds all that the RPC-over-RDMA connections of an engine share. It lives as long as the engine;
 * connections and acceptors point to it. provider.c makes the fabrics in it. */
struct rr_room {
	struct rr_carriers base;    /* comes first */
	struct rr_fabric *fabric;   /* iwarp, unless a test's engine was made on another one */
	struct rr_fabric *adapters; /* verbs, made when it is first wanted */
	bool only;                  /* the engine has no other fabric: a test made this one */
	bool adapters_failed;       /* the adapters could not be used when no caller asked for them by name */
	uint32_t receive_size;      /* octets of each receive, in either fabric */
	/* How many replies in Read chunks a connection may expose, and the octets in all of them. */
	uint32_t provided_max;
	uint64_t provided_octets_max;

	struct rr_chunk_lists arrival_lists; /* of the message that arrived last */
	struct rr_servers servers; /* servers to which the engine connected, and their protocol versions */
	struct rr_list exchanges;  /* struct rr_inbound, kept for reuse */
	uint32_t exchange_count;
	/* Memory that is kept for reuse and that connections do not keep themselves: RDMA_DONEs (done.c),
	 * replies that are pulled (pull.c), replies in Read chunks (provided.c). Each cache is set up when it
	 * is first used. */
	struct rr_cache dones, pulls, provided;
	uint64_t provided_octets; /* that all connections have exposed in Read chunks */
	struct rr_traces traces;  /* the last headers of connections */
};

/* At most this many blocks of each kind are kept. */
enum { RR_ROOM_KEPT = 256 };

/* Returns a block of size octets from a cache that the engine's RDMA connections share; its contents are
 * undefined. The first call prepares the cache. Returns NULL if there is no memory. */
static inline void *
rr_room_get(const struct rr_room *room, struct rr_cache *cache, size_t size)
{
	if (cache->size == 0)
		rr_cache_init(cache, room->base.engine->env, size, RR_ROOM_KEPT);
	return rr_cache_get(cache);
}

/* Returns the size of the largest message that this side sends inline in any version: inline_send, but at
 * least 4096, as each side of version 2 accepts 4096 octets (draft-cel-nfsv4-rpcrdma-version-two-00, 2.3). */
static inline uint32_t
rr_room_send_size(const struct rr_room *room)
{
	uint32_t size = room->base.engine->config.inline_send;

	return size > RR_INLINE_DEFAULT_2 ? size : RR_INLINE_DEFAULT_2;
}

static inline struct rr_room *
rr_room_of(struct rr_carriers *carriers)
{
	return rr_container(carriers, struct rr_room, base);
}

/* Returns the room of an engine (the data that its RDMA connections share), or NULL if the engine has no
 * RDMA. */
static inline struct rr_room *
rr_room_in(const struct rpcrdma_engine *engine)
{
	for (struct rr_list *link = engine->carriers.next; link != &engine->carriers; link = link->next) {
		struct rr_carriers *carriers = rr_container(link, struct rr_carriers, link);

		if (carriers->ops == &rr_rdma_carriers)
			return rr_room_of(carriers);
	}
	return NULL;
}

#endif
