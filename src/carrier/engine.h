/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_ENGINE_H
#define RR_CARRIER_ENGINE_H

#include <rpcrdma/engine.h>

#include "base/cache.h"
#include "base/loop.h"
#include "base/share/pool.h"
#include "base/share/spread.h"
#include "base/text.h"
#include "base/tls/handshakes.h"
#include "carrier/post.h"

/* The transports, by which messages move. */
enum rr_transport {
	RR_TRANSPORT_AUTO,  /* RDMA: adapters where the address belongs to one, else iWARP */
	RR_TRANSPORT_IWARP, /* RDMA, this project's own, over TCP sockets */
	RR_TRANSPORT_VERBS, /* RDMA adapters */
	RR_TRANSPORT_TCP,
	RR_TRANSPORT_UDP /* for small protocols beside NFS, and for listeners alone: udp/udp.h */
};

/* Tells whether the transport can move data items of a message in chunks, apart from the stream. TCP and
 * UDP cannot. */
static inline bool
rr_transport_has_chunks(enum rr_transport transport)
{
	return transport < RR_TRANSPORT_TCP;
}

#define RR_TRANSPORT_BIT(transport) (UINT32_C(1) << (transport))

/* The versions of RPC-over-RDMA that an engine may use. A responder answers in the version of the call. */
enum rr_versions {
	RR_VERSIONS_AUTO, /* 1 and 2: a requester tries 2 first */
	RR_VERSIONS_1,
	RR_VERSIONS_2
};

/* When a requester provides memory for a reply that may not fit inline, although the responder can provide a
 * Read chunk for it (draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 5.3.1). Responders that cannot are
 * always offered a Reply chunk. */
enum rr_reply_chunks {
	/* A Reply chunk if the reply will probably not fit inline. If it may or may not fit, a Reply chunk
	 * only if the responder cannot provide a Read chunk. */
	RR_REPLY_CHUNKS_AUTO,
	RR_REPLY_CHUNKS_ALWAYS,
	RR_REPLY_CHUNKS_NEVER
};

enum { RR_ENGINE_POLL_MAX = 1000 }; /* us */

struct rr_fabric;
struct rr_tls;
struct rr_fabric_config;
struct rr_feature;

/* Makes an RDMA fabric that works in the loop, and stores it in *fabric. Returns 0 or an error. */
typedef int rr_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* The configuration of an engine. An engine is the event loop of one thread with its carriers and its memory.
 * Connections of one engine share nothing with those of another; a server that wants to use several cores
 * runs several engines. */
struct rr_engine_config {
	/* Sizes of this side, RFC 8797: 1024 to 262144, multiples of 1024. */
	uint32_t inline_send, inline_receive;
	uint32_t credits;         /* that a requester asks for, and a responder grants */
	uint32_t message_max;     /* octets of one RPC message with its items, either direction */
	uint32_t segment_max;     /* segments in all chunks of one header */
	uint32_t chunk_max;       /* the most Write chunks; and Read chunks beside position zero */
	size_t memory_max;        /* octets of payload memory */
	bool remote_invalidation; /* announce the R flag: the peer may invalidate */
	bool read_chunks;         /* announce that responder-provided Read chunks are taken */
	/* How much a connection may expose in Read chunks of replies: chunks (0: as many as credits), and
	 * octets in all of them (0: half of memory_max, and at least message_max). Beyond that, large replies
	 * become errors. */
	uint32_t provided_max;
	size_t provided_octets;
	enum rr_reply_chunks reply_chunks; /* for the calls of this side */
	enum rr_versions versions;         /* of RPC-over-RDMA, for connections that are made from now on */
	/* Optional features of version 2 beside those of feature.c, with NULL behind the last feature; or
	 * NULL. */
	const struct rr_feature *const *features;
	bool crc;        /* iWARP: ask for CRC32c */
	bool reuse_port; /* several engines listen at one address */
	/* Spreads connections over the engines of a server; NULL: the system spreads them. */
	struct rr_spread *spread;
	enum rr_transport provider; /* of RDMA: the one that RR_TRANSPORT_AUTO stands for */
	/* Another engine listens at the same addresses and has the RDMA adapters: a port of an adapter can
	 * have one listener only. */
	bool adapters_elsewhere;
	uint32_t connection_max; /* connections accepted at a time */
	/* Connections that are accepted over TCP or iWARP may go into TLS with these certificates. NULL:
	 * there is no TLS. It is the caller's, and lives as long as the engine. */
	struct rr_tls *tls;
	uint8_t tls_refused; /* bit s: with tls, calls over TCP by connections of the enum rr_security s are
				denied, and such connections over RDMA declined */
	uint32_t poll;       /* us: the limit of rr_loop_poll(), at most RR_ENGINE_POLL_MAX; 0: never */
	/* Puts filters (glossary: fabrics that record or change what passes) before the fabric of each
	 * provider; may be NULL. filter_ctx must outlive the engine. */
	int (*filter)(void *ctx, struct rr_fabric **fabric);
	void *filter_ctx;
	/* Makes the fabric of the only RDMA provider; tests set this. NULL: the engine has the usual
	 * providers. */
	rr_fabric_new *make;
};

/* The default values: Sends of 12 KiB both ways, 64 credits, messages of 1 MiB + 64 KiB, 300 segments,
 * 64 chunks, 64 MiB of payload memory, remote invalidation, responder-provided Read chunks, 1024
 * connections. */
extern const struct rr_engine_config rr_engine_config_default;

/* Returns how many octets each of an engine's memory pools may give out: half of memory_max. */
static inline size_t
rr_engine_pool_max(const struct rr_engine_config *config)
{
	return config->memory_max / 2;
}

struct rpcrdma_engine {
	const struct rr_env *env;
	struct rr_engine_config config;
	struct rr_loop *loop;
	/* Payload memory, half of memory_max each. arrivals: for calls that arrive; results: for their
	 * results until these were sent; pool: for the replies to calls of this side. A holder of memory of
	 * one of these pools may wait for memory of the next pool in this order, but never of the same pool
	 * or of an earlier one. So calls that wait for memory for their answers cannot hold all memory, nor
	 * can results that wait until the client in the same engine reads them. */
	struct rr_pool *arrivals, *results, *pool;
	struct rr_shares shares;             /* of the pools, and of the connections that are allowed */
	struct rr_tls_handshakes handshakes; /* of TLS, of all transports */
	struct rr_spread_member *spread;     /* NULL: each connection stays in the engine that accepted it */
	struct rr_list carriers;             /* struct rr_carriers, one for each kind: carrier.h */

	/* The public interface, whose handle is the engine, uses the following members. */
	struct rr_env own_env; /* env points to this if rpcrdma_engine_new() made the engine */
	struct rr_text text;   /* why the last function on the engine failed */
	struct rr_watch wake;  /* its descriptor is an eventfd */
	struct rr_posts posts;
	struct rr_cache calls; /* memory of struct rpcrdma_call */
	uint32_t users; /* clients, servers, timers, and requests that a handler keeps to answer later */
	bool freed;     /* the caller freed the engine while it had users: the last user ends it */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
	struct rr_engine_captures *captures; /* engine_capture.c; NULL: there are none */
	struct rr_tls *own_tls;              /* of rpcrdma_engine_secure(); NULL: it was not called */
};

/* Tells whether the values of config are in their ranges. Values that concern only RDMA or only TCP are
 * checked later, by the begin() of that transport. */
bool rr_engine_config_is_good(const struct rr_engine_config *config);

/* Makes an engine for all transports. Returns 0 or an error: NOMEM, SYSTEM, INVAL. */
int rr_engine_new(
	const struct rr_env *env, const struct rr_engine_config *config, struct rpcrdma_engine **engine);

/* Makes an engine as rr_engine_new() does, with the fabric that make() creates as its only RDMA provider.
 * Returns the errors of config->filter, too. */
int rr_engine_new_on(const struct rr_env *env, const struct rr_engine_config *config, rr_fabric_new *make,
	struct rpcrdma_engine **engine);

/* Makes an engine in memory that is zeroed, except that its env is set. If this fails, the memory is freed.
 * rr_engine_new() and rpcrdma_engine_new() both use this function. Returns 0 or an error. */
int rr_engine_begin(struct rpcrdma_engine *engine, const struct rr_engine_config *config);

/* Ends an engine without users: every carrier and acceptor must have been closed, and every exchange answered
 * or dropped. The sent() of replies that were under way are called before this function returns. */
void rr_engine_destroy(struct rpcrdma_engine *engine);

/* Counts another user of the engine: a client, a server, a timer or a request that is kept.
 * rr_engine_leave() ends the use. If the engine was freed by its caller meanwhile, the last rr_engine_leave()
 * destroys it. */
void rr_engine_use(struct rpcrdma_engine *engine);
void rr_engine_leave(struct rpcrdma_engine *engine);

/* Returns 0 if the caller may wait in the engine's loop. Inside a callback of the engine, where no function
 * may wait, returns -RPCRDMA_ERR_INVAL, with a text that names the function. */
int rr_engine_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text);

/* Stores in *inner the transport that the public transport stands for. Returns 0, or -RPCRDMA_ERR_INVAL with
 * a text if there is no such transport. */
int rr_engine_transport(enum rpcrdma_transport transport, enum rr_transport *inner, struct rr_text *text);

#endif
