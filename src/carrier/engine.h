/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_ENGINE_H
#define RR_CARRIER_ENGINE_H

#include <rpcrdma/engine.h>

#include "base/cache.h"
#include "base/loop.h"
#include "base/pool.h"
#include "base/spread.h"
#include "base/text.h"
#include "carrier/post.h"

/* What moves messages. */
enum rr_transport {
	RR_TRANSPORT_AUTO,  /* RDMA: adapters where the address belongs to one, else iWARP */
	RR_TRANSPORT_IWARP, /* RDMA, this project's own, over TCP sockets */
	RR_TRANSPORT_VERBS, /* RDMA adapters */
	RR_TRANSPORT_TCP
};

/* Items may travel beside the stream of a message, in chunks. */
static inline bool
rr_transport_has_chunks(enum rr_transport transport)
{
	return transport != RR_TRANSPORT_TCP;
}

#define RR_TRANSPORT_BIT(transport) (UINT32_C(1) << (transport))

/* What an engine may speak of RPC-over-RDMA. A responder answers in the version of the call. */
enum rr_versions {
	RR_VERSIONS_AUTO, /* 1 and 2: a requester tries 2 first */
	RR_VERSIONS_1,
	RR_VERSIONS_2
};

/*
 * The memory that a requester provides for a reply that may not fit inline, where the responder can provide a
 * Read chunk (draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 5.3.1). Other responders are always offered
 * a Reply chunk.
 */
enum rr_reply_chunks {
	RR_REPLY_CHUNKS_AUTO, /* a Reply chunk where it will not fit, else the choice is the responder's */
	RR_REPLY_CHUNKS_ALWAYS,
	RR_REPLY_CHUNKS_NEVER
};

struct rr_fabric;
struct rr_fabric_config;
struct rr_feature;

typedef int rr_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/*
 * An engine: the event loop of one thread with its carriers and its memory.
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
	/* Optional features of version 2 beside those of feature.c; NULL behind the last one, or no list. */
	const struct rr_feature *const *features;
	bool crc;                   /* iWARP: ask for CRC32c */
	bool reuse_port;            /* several engines listen at one address, */
	struct rr_spread *spread;   /* and spread connections by this; NULL: as the system does */
	enum rr_transport provider; /* of RDMA: what RR_TRANSPORT_AUTO stands for */
	/* Another engine listens at the same addresses, and has the RDMA adapters: a port of theirs can have
	 * one listener only. */
	bool adapters_elsewhere;
	uint32_t connection_max; /* connections accepted at a time */
	/* Puts filters before each provider's fabric, or NULL. filter_ctx must outlive the engine. */
	int (*filter)(void *ctx, struct rr_fabric **fabric);
	void *filter_ctx;
	/* The only provider of RDMA is what this makes: for tests. NULL: those that there are. */
	rr_fabric_new *make;
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

struct rpcrdma_engine {
	const struct rr_env *env;
	struct rr_engine_config config;
	struct rr_loop *loop;
	/*
	 * Payload memory, half of memory_max each: what calls take that arrive, what their results take until
	 * they were sent, and what the replies to our own calls take. A holder of memory of one of them may
	 * wait for the next, but never for one before it or for the same: so calls that wait for memory for
	 * their answers cannot hold all of it, nor can results that wait until our own client reads them.
	 */
	struct rr_pool *arrivals, *results, *pool;
	struct rr_shares shares;         /* of them, and of the connections that there may be */
	struct rr_spread_member *spread; /* NULL: connections stay where they come */
	struct rr_list carriers;         /* struct rr_carriers, one of each kind: carrier.h */

	/* Of the caller, who has it as the public handle. */
	struct rr_env own_env; /* env, where it was made by rpcrdma_engine_new() */
	struct rr_text text;   /* why the last function failed that was to make something on it */
	struct rr_watch wake;  /* an eventfd */
	struct rr_posts posts;
	struct rr_cache calls; /* memory of struct rpcrdma_call */
	uint32_t users;        /* clients, servers, timers and kept requests on it */
	bool freed;            /* by its caller, while it had users: the last of them ends it */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
	struct rr_engine_captures *captures; /* engine_capture.c; NULL: there are none */
};

/* Whether values of config are in their ranges; what is a carrier's own, its begin() judges. */
bool rr_engine_config_is_good(const struct rr_engine_config *config);

/* An engine with all kinds of carriers. Errors: NOMEM, SYSTEM, INVAL. */
int rr_engine_new(
	const struct rr_env *env, const struct rr_engine_config *config, struct rpcrdma_engine **engine);

/* The same on the provider that make() creates, and that one only. Errors of config->filter are handed on. */
int rr_engine_new_on(const struct rr_env *env, const struct rr_engine_config *config, rr_fabric_new *make,
	struct rpcrdma_engine **engine);

/*
 * Makes an engine of zeroed memory whose env is set, and which is freed where this fails: what
 * rr_engine_new() and rpcrdma_engine_new() have in common.
 */
int rr_engine_begin(struct rpcrdma_engine *engine, const struct rr_engine_config *config);

/* Ends an engine that nobody uses: every carrier and acceptor must have been closed, every exchange answered
 * or dropped; the sent() of replies that were under way then come before this returns. */
void rr_engine_destroy(struct rpcrdma_engine *engine);

/* A client, a server, a timer or a request that is kept begins and ends to use the engine. */
void rr_engine_use(struct rpcrdma_engine *engine);
void rr_engine_leave(struct rpcrdma_engine *engine);

/* -RPCRDMA_ERR_INVAL, with a text, inside a callback, where nothing may wait. */
int rr_engine_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text);

/* The same transport as the inside has it. -RPCRDMA_ERR_INVAL, with a text: there is no such transport. */
int rr_engine_transport(enum rpcrdma_transport transport, enum rr_transport *inner, struct rr_text *text);

#endif
