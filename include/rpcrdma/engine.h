/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_ENGINE_H
#define RPCRDMA_ENGINE_H

#include <rpcrdma/api.h>
#include <rpcrdma/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An engine: the event loop of one thread, with the connections and the
 * memory of the clients (client.h) and servers (server.h) that are made on
 * it. A caller either runs it, turn by turn, or folds its descriptor into an
 * event loop of its own.
 *
 * Threads: an engine, and all that is made on it, is used by one thread at a
 * time; only rpcrdma_engine_wake() and rpcrdma_engine_post() may be called from
 * others. A program that wants several cores makes several engines: they share
 * nothing, and nothing locks.
 *
 * Callbacks come from rpcrdma_engine_turn() only, never from inside a
 * function that starts something. Inside a callback everything may be called
 * that does not turn the loop itself.
 */
struct rpcrdma_engine;

/*
 * A handle, a configuration, or the place for a result may be NULL by mistake: functions that return errors
 * then return INVAL. Other functions then do nothing, or return 0, NULL, or a text that says so.
 */

/* The memory that a client provides for a reply that may not fit inline, where the server can provide a
 * Read chunk. Other servers are always offered a Reply chunk. */
enum rpcrdma_reply_chunks {
	RPCRDMA_REPLY_CHUNKS_AUTO, /* a Reply chunk where the reply will not fit, nothing where it may */
	RPCRDMA_REPLY_CHUNKS_ALWAYS,
	RPCRDMA_REPLY_CHUNKS_NEVER
};

/* How an engine works, with its limits. Zero is the default, everywhere: a comment that ends with a bare
 * value names it. */
struct rpcrdma_engine_config {
	size_t size; /* sizeof(struct rpcrdma_engine_config): see api.h */
	/*
	 * The largest RDMA Send, in octets, that this side sends, and that it receives (RFC 8166, section
	 * 3.3.2, inline threshold; RFC 8797 announces both to the peer): multiples of 1024 from 1024 to
	 * 262144. 12288.
	 */
	uint32_t inline_send, inline_receive;
	/* Calls that may be under way on a connection: a client asks for this number, and a server grants it
	 * (RFC 8166, section 3.3.1). At most 16384. 64. */
	uint32_t credits;
	/* The largest RPC message, in octets, its data included, in either direction: 1024 to 1 GiB. 1 MiB +
	 * 64 KiB. */
	uint32_t message_max;
	uint32_t segment_max; /* the most segments in all chunks of a message that comes. 300 */
	/* The most Read chunks, and the most Write chunks, of a message that comes: at most 1024, and never
	 * more than 16 Read chunks. 64. */
	uint32_t chunk_max;
	/* Connections that the servers of the engine accept at a time, all together. Beyond that, a new
	 * connection takes the place of the connection that was longest without a call. 1024 */
	uint32_t connection_max;
	/*
	 * Octets of memory for calls that arrived, and for results until they were sent. Where no memory is
	 * left, new calls wait: this bounds a server. Replies to calls of this side have half as many octets
	 * of their own. 64 MiB.
	 */
	size_t memory_max;
	bool crc;                    /* iWARP: ask for CRC32c (RFC 5044, section 7.1) */
	bool no_remote_invalidation; /* do not offer that the peer invalidates memory (RFC 8797, section 4) */
	bool reuse_port; /* several engines may listen at the same address: connections spread over them */
	uint32_t rpcrdma_version; /* RPC-over-RDMA: 1 or 2 only; 0: both, where a client tries 2 first */
	/*
	 * Replies in Read chunks of the responder (draft-cel-nfsv4-rpcrdma-reliable-reply-02) are used in
	 * RPC-over-RDMA version 2, where both sides announced them. A server that has exposed all chunks that
	 * it may answers with an error where a reply fits in no other way.
	 */
	bool no_read_chunks;   /* do not announce such chunks */
	uint32_t reply_chunks; /* of calls: an enum rpcrdma_reply_chunks */
	/* Read chunks with replies that a connection may expose at a time: at most 4096. As many as
	 * credits */
	uint32_t provided_max;
	size_t provided_octets; /* octets in all of them. Half of memory_max, and at least message_max */
	/* Takes a line of log, a warning or an error, without line feed. NULL: lines go to standard error. */
	void (*log)(void *ctx, const char *line);
	void *ctx; /* for log */
	/*
	 * The name of a file for all that connections over RDMA send and receive, as a capture in the format
	 * of pcapng. The capture shows iWARP over TCP, also where other fabrics move the data, so that
	 * Wireshark and `rpcrdma decode` read it. RDMA operations of the peer are derived from its messages,
	 * and stand in front of them. The file is emptied when the engine is made, and complete when the
	 * engine has ended. The engine copies the name. A capture costs a copy of all data. NULL: no capture.
	 */
	const char *capture;
	/*
	 * The name of a file for a flight recorder: a capture of the last 1024 packets, with the first 512
	 * octets of each. The recorder keeps them in memory, and writes the file anew when a connection ends
	 * with an error of the protocol, and in rpcrdma_engine_write_flight(). The engine copies the name.
	 * NULL: no recorder.
	 */
	const char *flight;
	/*
	 * Microseconds for which a turn that finds nothing to do looks again and again before it sleeps, at
	 * most 1000: being woken can take longer than a small call. A turn does so only if the wait of the
	 * last turn was shorter than this time: an idle engine looks again and again for this time once, and
	 * then sleeps. Meanwhile it offers the processor to other threads. 0: every turn sleeps at once.
	 */
	uint32_t poll;
};

/*
 * Makes an engine. config may be NULL: all defaults. Free the engine with rpcrdma_engine_free().
 *
 * Errors: INVAL (a value out of range, a wrong size), NOTSUP (a member that this library does not know),
 * NOMEM, SYSTEM (the system gives no descriptors, or refuses getrandom(2), which is logged, too: errno).
 */
RPCRDMA_API int rpcrdma_engine_new(
	const struct rpcrdma_engine_config *config, struct rpcrdma_engine **engine);

/* Files for TLS, in the PEM format, which the servers of an engine need, by their paths. Zero is the
 * default, everywhere. */
struct rpcrdma_secure_config {
	size_t size;      /* sizeof(struct rpcrdma_secure_config): see api.h */
	const char *cert; /* the certificate, behind it those that lead to its authority; must be set */
	const char *key;  /* its private key; NULL: in the file of the certificate */
	/* The authorities that may sign certificates of clients, with their lists of revoked ones. NULL:
	 * clients are asked for none. */
	const char *ca;
	bool only; /* calls and connections that come without TLS are refused */
};

/*
 * Has all servers of the engine offer TLS 1.3, over TCP (RFC 9289) and under iWARP, to clients that ask for
 * it. Must be called before clients and servers are made on the engine. Called again, with config NULL, reads
 * the same files again, for connections that come from then on; after an error, these have what was read
 * before. The paths are copied.
 *
 * Errors, with their text on the engine: INVAL (config, the files, or there are clients or servers), NOTSUP
 * (there is no OpenSSL), NOMEM.
 */
RPCRDMA_API int rpcrdma_engine_secure(
	struct rpcrdma_engine *engine, const struct rpcrdma_secure_config *config);

/*
 * Writes the file of the flight recorder now: for a program that finds that something hangs, for example. Any
 * thread, but not a signal handler; the engine must not be freed meanwhile. Errors: INVAL (there is no
 * recorder), SYSTEM (errno).
 */
RPCRDMA_API int rpcrdma_engine_write_flight(struct rpcrdma_engine *engine);

/*
 * Frees the engine. Not inside a callback. engine may be NULL. Functions that were posted and have not run
 * yet run first, inside this function. Where clients, servers, timers or requests that a handler keeps are
 * left on the engine, it is not turned any more, and ends with the last of them: each of them is still to be
 * freed, or ended.
 */
RPCRDMA_API void rpcrdma_engine_free(struct rpcrdma_engine *engine);

/*
 * Turns the engine's loop once: waits for at most timeout nanoseconds (0: not at all; negative: until
 * something happens), then does what is to be done, callbacks included. A signal ends the wait, and so does
 * rpcrdma_engine_wake().
 *
 * Returns 1 where anything was done, 0 where nothing was, or an error: SYSTEM, INVAL (called inside a
 * callback).
 */
RPCRDMA_API int rpcrdma_engine_turn(struct rpcrdma_engine *engine, int64_t timeout);

/*
 * Returns a descriptor for another event loop, which is readable when a turn has something to do, except for
 * what is due by time. The descriptor is the engine's, and stays the same. The other loop waits for it for
 * rpcrdma_engine_due() nanoseconds at most, then calls rpcrdma_engine_turn(engine, 0).
 */
RPCRDMA_API int rpcrdma_engine_fd(const struct rpcrdma_engine *engine);

/*
 * Returns the nanoseconds until a turn is due even if the descriptor of rpcrdma_engine_fd() is not readable.
 * 0 means now; a negative number means that no turn is due until it is readable. Call it anew before each
 * wait: starting a call, too, makes a turn due.
 */
RPCRDMA_API int64_t rpcrdma_engine_due(const struct rpcrdma_engine *engine);

/*
 * Ends the wait of the turn under way, or of the next turn; that turn returns 1. Several wakes before that
 * count as a single one. Any thread, and signal handlers; the engine must not be freed meanwhile.
 */
RPCRDMA_API void rpcrdma_engine_wake(struct rpcrdma_engine *engine);

/*
 * A function that another thread wants to run in the engine's thread, such as a thread that works for a
 * handler and hands the request back. The caller sets run and ctx, and everything else to zero before the
 * first use. From rpcrdma_engine_post() until run() is called the structure is the library's; inside run() it
 * is the caller's again, and may be posted again, or freed.
 */
struct rpcrdma_post {
	void (*run)(void *ctx);
	void *ctx;
	struct rpcrdma_post *next; /* the library's, as the next member */
	bool posted;
};

/*
 * Has post->run(post->ctx) called in the engine's thread: once, from a later rpcrdma_engine_turn(), in the
 * order in which functions were posted; a wait of the loop ends for it. A post that has not run yet stays
 * where it is, and runs once. Nothing is allocated: as many functions can wait as the callers have
 * structures.
 *
 * Any thread, also the engine's own; not a signal handler. The engine must not be freed meanwhile: before
 * that, threads that post have ended, or know that they must not post any more. Functions that were posted
 * before rpcrdma_engine_free() run inside that function.
 *
 * Errors: INVAL (NULL), CANCELLED (rpcrdma_engine_free() was called: run() is not called, and post is the
 * caller's).
 */
RPCRDMA_API int rpcrdma_engine_post(struct rpcrdma_engine *engine, struct rpcrdma_post *post);

/* A timer of the engine's loop. Threads: the engine's. */
struct rpcrdma_timer;

/*
 * Makes a timer, which is not armed. expired(ctx) is called from rpcrdma_engine_turn(), once each time that
 * the timer was armed; it may arm the timer again, or free it. Free the timer with rpcrdma_timer_free().
 *
 * Errors, with their text on the engine: INVAL (NULL), NOMEM.
 */
RPCRDMA_API int rpcrdma_timer_new(
	struct rpcrdma_engine *engine, void (*expired)(void *ctx), void *ctx, struct rpcrdma_timer **timer);

/* Arms the timer: it expires delay nanoseconds from now. If it was armed already, the earlier time is
 * forgotten. */
RPCRDMA_API void rpcrdma_timer_arm(struct rpcrdma_timer *timer, uint64_t delay);

/* Disarms the timer, so that it does not expire. There is no effect if the timer is not armed. */
RPCRDMA_API void rpcrdma_timer_disarm(struct rpcrdma_timer *timer);

/* Disarms and frees the timer, which may be NULL. */
RPCRDMA_API void rpcrdma_timer_free(struct rpcrdma_timer *timer);

/* Returns the reason why the last function failed that makes something on this engine, or turns it: what
 * failed, on which address, and what to do about it. Valid until such a function is called again. */
RPCRDMA_API const char *rpcrdma_engine_error(const struct rpcrdma_engine *engine);

/* ---- What clients and servers have in common ---- */

/* The transport of a client's or server's connections. */
enum rpcrdma_transport {
	/*
	 * RPC-over-RDMA, version 1 (RFC 8166) or 2, over an RDMA adapter where the address belongs to one (a
	 * client's: the one from which the route to the server begins), else as RPCRDMA_TRANSPORT_IWARP. A
	 * server at "0.0.0.0" or "::" listens over both.
	 */
	RPCRDMA_TRANSPORT_RDMA,
	RPCRDMA_TRANSPORT_TCP,   /* TCP with record marking (RFC 5531, section 11) */
	RPCRDMA_TRANSPORT_IWARP, /* RPC-over-RDMA over this library's own iWARP, over TCP sockets */
	/*
	 * RPC-over-RDMA over RDMA adapters: libibverbs and librdmacm, which are loaded when first wanted. An
	 * adapter's port can have one listener, so that servers in several engines cannot share it.
	 */
	RPCRDMA_TRANSPORT_VERBS
};

enum { RPCRDMA_AUTH_SYS_GIDS = 16, RPCRDMA_AUTH_SYS_NAME = 255 };

/* The contents of an AUTH_SYS credential (RFC 5531, appendix A). The layout is that of the protocol, and
 * final. */
struct rpcrdma_auth_sys {
	uint32_t stamp, uid, gid;
	uint32_t gid_count; /* of further groups */
	uint32_t gids[RPCRDMA_AUTH_SYS_GIDS];
	char machine[RPCRDMA_AUTH_SYS_NAME + 1]; /* the caller's name for itself, ended by a zero */
};

/* Counters of the work of connections. Octets are those of RPC messages. */
struct rpcrdma_counters {
	size_t size; /* set by the caller: see api.h */
	uint64_t calls, replies;
	uint64_t inline_messages;      /* messages that travelled as a whole in one Send */
	uint64_t long_calls;           /* calls as a position-zero Read chunk: RFC 8166, section 3.5.3 */
	uint64_t long_replies;         /* replies in a Reply chunk */
	uint64_t read_chunks;          /* Read chunks of data that were used, not merely offered */
	uint64_t write_chunks;         /* likewise Write chunks */
	uint64_t octets_inline;        /* sent and received by Send, or over TCP */
	uint64_t octets_rdma_read;     /* moved by RDMA Read */
	uint64_t octets_rdma_write;    /* moved by RDMA Write */
	uint64_t registrations;        /* of memory */
	uint64_t invalidations;        /* by this side */
	uint64_t remote_invalidations; /* by the peer, with Send With Invalidate */
	uint64_t credit_waits;         /* calls that waited for a credit */
	uint64_t credit_wait_ns;       /* the time during which at least one call waited for a credit */
	uint64_t memory_waits;         /* calls that waited for memory of the engine's memory_max */
	uint64_t memory_wait_ns;       /* the time during which at least one call waited for such memory */
	uint64_t errors_sent;          /* RDMA_ERROR: RFC 8166, section 4.5 */
	uint64_t errors_received;
	uint64_t discarded; /* messages that this side could not use */
	/*
	 * Why a client used or offered chunks.
	 *   why_arguments  a call did not fit inline with an argument in its stream: a Read chunk has that
	 *   why_stream     a call did not fit inline, and had no item to take out: a long call
	 *   why_rest       a call did not fit inline even without its items: a long call
	 *   why_sinks      a reply might not fit inline with the results in its stream: Write chunks
	 *   why_reply      the stream of a reply might not fit inline: a Reply chunk
	 *   why_many       a reply had more results than Write chunks: a Reply chunk
	 */
	uint64_t why_arguments, why_stream, why_rest, why_sinks, why_reply, why_many;
	uint64_t rdma_reads, rdma_writes;          /* operations that this side posted */
	uint64_t err_vers_sent, err_vers_received; /* of the errors; the other errors are INVAL_OPTION, see
						      below, and ERR_CHUNK, in version 2 BAD_HEADER, too */
	uint64_t overruns;    /* calls of the peer beyond the credits that it was ever granted */
	uint64_t bad_replies; /* of the discarded: they had the XID of a call, and were not a valid reply to
				 it */
	uint64_t repeats;     /* calls answered out of the duplicate request cache, not executed again */
	/* Replies in Read chunks of the responder. */
	uint64_t replies_left;      /* calls without a Reply chunk: the responder provides large replies */
	uint64_t provided_replies;  /* replies in such a chunk, sent or received */
	uint64_t provided_refused;  /* replies for which no chunk could be exposed, and which became errors */
	uint64_t provided_timeouts; /* chunks withdrawn, as the requester did not say in time that it had read
				       them */
	uint64_t done_sent, done_received; /* RDMA_DONE */
	uint64_t done_unmatched;           /* of those received: they named no chunk */
	/* Of the errors: RDMA_ERR_INVAL_OPTION of version 2, the answer to an optional feature that is not
	 * known. */
	uint64_t err_inval_option_sent, err_inval_option_received;
};

/* Returns the name of a counter, "calls" for index 0: index is its place among the members of struct
 * rpcrdma_counters behind size. Returns NULL if there is no such counter. Any thread may call it. */
RPCRDMA_API const char *rpcrdma_counter_name(uint32_t index);

/* Returns the value of the counter at place index, as rpcrdma_counter_name() counts them; 0 if counters is
 * NULL, or is of an earlier version that does not have the counter. Any thread may call it. */
RPCRDMA_API uint64_t rpcrdma_counter_value(const struct rpcrdma_counters *counters, uint32_t index);

enum { RPCRDMA_LATENCY_BUCKETS = 26 };

/* How long the calls of one procedure took. */
struct rpcrdma_latency {
	size_t size; /* set by the caller: see api.h */
	uint64_t calls;
	uint64_t errors; /* are among the calls */
	uint64_t sum_ns;
	/* buckets[0] counts the calls that took less than 1 us, buckets[i] those that took from 2^(i-1) to
	 * less than 2^i us, the last one all that took longer. */
	uint64_t buckets[RPCRDMA_LATENCY_BUCKETS];
};

/* Returns the time, in microseconds, within which `percent` of 100 calls were done, rounded up to the end of
 * a bucket. Returns 0 if no call was counted, or latency is NULL. Any thread may call it. */
RPCRDMA_API uint64_t rpcrdma_latency_percentile(const struct rpcrdma_latency *latency, unsigned percent);

#ifdef __cplusplus
}
#endif

#endif
