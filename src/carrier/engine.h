/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_ENGINE_H
#define RR_CARRIER_ENGINE_H

#include "base/loop.h"
#include "base/pool.h"
#include "carrier/rdma/version.h"
#include "fabric/fabric.h"
#include "wire/rpcrdma2.h"

/* What moves the data: provider.h says how AUTO chooses. */
enum rr_provider {
	RR_PROVIDER_AUTO,
	RR_PROVIDER_IWARP, /* this project's own, over TCP sockets */
	RR_PROVIDER_VERBS  /* RDMA adapters */
};

enum { RR_FABRICS = 2 };

/*
 * What a requester provides for a reply that may not fit inline, where the responder can provide a Read chunk
 * (draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 5.3.1). Other responders are always offered a Reply
 * chunk.
 */
enum rr_reply_chunks {
	RR_REPLY_CHUNKS_AUTO, /* a Reply chunk where it will not fit, else the choice is the responder's */
	RR_REPLY_CHUNKS_ALWAYS,
	RR_REPLY_CHUNKS_NEVER
};

/*
 * An engine: the event loop of one thread with its fabric and its memory.
 * Connections of one engine share nothing with those of another; a server
 * that wants several cores runs several engines.
 */
struct rr_engine_config {
	uint32_t inline_send, inline_receive; /* own sizes, RFC 8797: 1024 to 262144, multiples of 1024 */
	uint32_t credits;                     /* to ask for, as a requester, and to grant, as a responder */
	uint32_t message_max;                 /* octets of one RPC message with its items, either direction */
	uint32_t segment_max;                 /* segments in all chunks of one header */
	uint32_t chunk_max;                   /* Read chunks but for one at position zero, and Write chunks */
	size_t memory_max;                    /* octets of payload memory */
	bool remote_invalidation;             /* advertise R */
	bool read_chunks;                     /* announce responder-provided Read chunks */
	/* What of them a connection may expose: chunks (0: as many as credits), and octets in all of them (0:
	 * half of memory_max, and at least message_max). Beyond that, large replies become errors. */
	uint32_t provided_max;
	size_t provided_octets;
	enum rr_reply_chunks reply_chunks; /* of calls */
	enum rr_versions versions;         /* of RPC-over-RDMA, of connections that are made from now on */
	bool crc;                          /* iWARP: ask for CRC32c */
	bool reuse_port;                   /* several engines listen at one address */
	enum rr_provider provider;         /* of connections and listeners that do not ask for one */
	/* Another engine listens at the same addresses, and has the RDMA adapters: a port of theirs can have
	 * one listener only. */
	bool adapters_elsewhere;
	uint32_t connection_max; /* connections accepted at a time */
	/* Puts filters before each provider's fabric, or NULL. filter_ctx must outlive the engine. */
	rr_fabric_filter *filter;
	void *filter_ctx;
};

/* 4096 both ways, 64 credits, 1 MiB + 64 KiB messages, 300 segments, 64 chunks, 64 MiB, R set, Read chunks
 * announced, 1024 connections. */
extern const struct rr_engine_config rr_engine_config_default;

/* Octets of each of an engine's pools. */
static inline size_t
rr_engine_pool_max(const struct rr_engine_config *config)
{
	return config->memory_max / 2;
}

struct rr_engine {
	const struct rr_env *env;
	struct rr_engine_config config;
	struct rr_loop *loop;
	/*
	 * Payload memory, half of memory_max each: what calls take that arrive, what their results take until
	 * they were sent, and what the replies to our own calls take. What lies in one of them may wait for
	 * the next, but never for one before it or for itself: calls that wait for memory to be answered
	 * cannot hold all of it, nor can results that wait until our own client reads them.
	 */
	struct rr_pool *arrivals, *results, *pool;
	struct rr_shares shares;    /* of them, and of the connections that there may be */
	struct rr_fabric *fabric;   /* iwarp, unless a test put another one here with rr_engine_new_on() */
	struct rr_fabric *adapters; /* verbs, from the moment when it is wanted */
	bool only;                  /* there is never a second one */
	bool adapters_failed;       /* where nobody asked for them by name */

	/* The transport's. */
	struct rr_chunk_lists arrival_lists; /* of the message that arrived last */
	struct rr_servers servers;           /* that were called */
	struct rr_list exchanges;            /* kept for reuse */
	uint32_t exchange_count;
	uint64_t provided_octets; /* that all connections have exposed in Read chunks */
};

/* Octets of the largest message that is sent in any version: draft-cel-nfsv4-rpcrdma-version-two-00, 2.3, has
 * both sides take 4096 in version 2. */
static inline uint32_t
rr_engine_send_size(const struct rr_engine *engine)
{
	uint32_t size = engine->config.inline_send;

	return size > RR_INLINE_DEFAULT_2 ? size : RR_INLINE_DEFAULT_2;
}

/* An engine on the iWARP provider, and on RDMA adapters once those are wanted. Errors: NOMEM, SYSTEM, INVAL.
 */
int rr_engine_new(const struct rr_env *env, const struct rr_engine_config *config, struct rr_engine **engine);

typedef int rr_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* The same on the provider that make() creates, and that one only. Errors
 * of config->filter are handed on. */
int rr_engine_new_on(const struct rr_env *env, const struct rr_engine_config *config, rr_fabric_new *make,
	struct rr_engine **engine);

/*
 * The fabric of the RDMA adapters, made when first asked for. NOTSUP (no library, no device, or none that is
 * usable), LIMIT (locked memory), SYSTEM (no permission), NOMEM; text says what to do.
 */
int rr_engine_adapters(struct rr_engine *engine, struct rr_fabric **fabric, struct rr_text *text);

/* Every carrier and acceptor must have been closed, every exchange answered or dropped; the sent() of replies
 * that were under way then come before this returns. engine may be NULL. */
void rr_engine_free(struct rr_engine *engine);

#endif
