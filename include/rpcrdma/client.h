/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_CLIENT_H
#define RPCRDMA_CLIENT_H

#include <rpcrdma/engine.h>
#include <rpcrdma/xdr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An RPC client: a server, and one connection to it or several, with many calls outstanding.
 *
 * A connection that was up and is lost is made again, with backoff, and calls outstanding are sent again with
 * the same XIDs. A server may then handle a call twice: see RFC 5531, section 4, on what transports promise.
 * Where no call is outstanding, the connection is made again for the next call; where the server may call as
 * well (see services below), it is made again at once.
 *
 * Threads: those of its engine.
 */
struct rpcrdma_client;

/* A call that was started. It exists until its done() returns. */
struct rpcrdma_call;

struct rpcrdma_service; /* see rpcrdma/server.h */

/* The most connections of a client. */
enum { RPCRDMA_CONNECTIONS_MAX = 64 };

/* How a client connects and calls. Zero is the default, everywhere: a comment that ends with a bare value
 * names it. */
struct rpcrdma_client_config {
	size_t size;      /* sizeof(struct rpcrdma_client_config): see api.h */
	const char *host; /* name or numeric address of the server. Copied. NULL: 127.0.0.1 */
	uint16_t port;    /* must be set */
	enum rpcrdma_transport transport;
	bool auth_none; /* calls carry AUTH_NONE. Else AUTH_SYS (RFC 5531, section 8.1) */
	/* The user and groups that calls are made for. Copied. NULL: the effective user and groups of this
	 * process. */
	const struct rpcrdma_auth_sys *auth_sys;
	/* For how long, in nanoseconds, a lost connection is tried again before its calls fail, from when the
	 * first of these calls began to wait for the connection. 0: not at all. */
	uint64_t retry;
	/*
	 * The services that the server may call over this connection, in the reverse direction (RFC 8167):
	 * see rpcrdma_request_client(). The array is copied; the data that it points to must stay as long as
	 * the client. Over RDMA, such calls and their replies are small: they are no larger than the inline
	 * threshold, and none of their data is placed.
	 *
	 * While it has services, a client makes a lost connection again without waiting for a call of its
	 * own, and tries until the server is back or the client is freed: the server cannot (RFC 8167,
	 * section 5.4). Where retry is 0, it does not.
	 */
	const struct rpcrdma_service *services;
	uint32_t service_count;
	/*
	 * The number of connections over which calls are spread: each call goes over the connection with the
	 * fewest calls. Several connections help where the server serves them by several threads, or where a
	 * single connection is the limit. Each connection that is lost is made again, apart from the others,
	 * and a call is sent again on the connection that it went over. The server calls back over the first
	 * connection alone, which rpcrdma_client_negotiated() describes, too; if the first connection cannot
	 * be made, the client cannot. The client does without further ones that cannot be made. At most
	 * RPCRDMA_CONNECTIONS_MAX. 1
	 */
	uint32_t connections;
	/* Called now and then while rpcrdma_client_connect() or rpcrdma_client_call_and_wait() waits; if
	 * interrupted() returns true, the function ends with CANCELLED. NULL: it waits to the end. The name
	 * service is waited for in any case. */
	bool (*interrupted)(void *ctx);
	void *ctx; /* for interrupted */
	/*
	 * TLS 1.3, over TCP (RFC 9289) or under iWARP; not over RDMA adapters: RPCRDMA_TRANSPORT_RDMA means
	 * iWARP with it. "tls": the server must prove its name, host, by its certificate; "mtls": this side
	 * shows one, too; "auto": TLS where the server has it, else without, which who is on the way can
	 * bring about. NULL: without.
	 */
	const char *xprtsec;
	/* Paths of files in the PEM format, for xprtsec: of the authorities that are trusted (NULL: those of
	 * the system); of the certificate of "mtls"; of its key (NULL: in the file of the certificate). */
	const char *tls_ca, *tls_cert, *tls_key;
	/* "sha256:" and 64 hexadecimal digits, as `rpcrdma serve --tls` prints them: the server's key must
	 * have this fingerprint, and nothing else of its certificate counts. NULL: its authority and name
	 * count. */
	const char *fingerprint;
};

/*
 * Makes a client and begins to connect to the first address of config->host (resolving a name may block).
 * Calls may be started at once. If the attempt fails, every call fails with its error. Free the client with
 * rpcrdma_client_free().
 *
 * Errors, with their text on the engine: INVAL (config, or files of TLS), NOTSUP (config, or there is no
 * OpenSSL for TLS), ADDRESS (the host is not known), NOMEM, SYSTEM (no permission on RDMA devices, for
 * example), and of RDMA adapters NOTSUP (there is no adapter, or no library), LIMIT (locked memory).
 */
RPCRDMA_API int rpcrdma_client_new(struct rpcrdma_engine *engine, const struct rpcrdma_client_config *config,
	struct rpcrdma_client **client);

/*
 * Makes a client as rpcrdma_client_new() does, but blocks until the connection is up, and tries each address
 * of the host, in their order. Turns the engine's loop: not inside a callback.
 *
 * Errors, with their text on the engine: those of rpcrdma_client_new(), CANCELLED (config->interrupted), and
 * REFUSED, UNREACHABLE, TIMEDOUT, REJECTED, PEER, DISCONNECTED of the last address that was tried.
 */
RPCRDMA_API int rpcrdma_client_connect(struct rpcrdma_engine *engine,
	const struct rpcrdma_client_config *config, struct rpcrdma_client **client);

/* Cancels all calls without calling their done(), closes the connections and frees the client. The function
 * may be called inside a callback, but not while a blocking call of this client waits, except in the done()
 * of the call that blocks. client may be NULL. */
RPCRDMA_API void rpcrdma_client_free(struct rpcrdma_client *client);

/* The most marked results of one call that can be placed. */
enum { RPCRDMA_SINKS_MAX = 4 };

/*
 * Memory in which a marked result (`#pragma rpcrdma place` in the schema) may
 * be placed by the server's RDMA Write, without a copy. length: the most
 * octets that the result can have.
 */
struct rpcrdma_sink {
	void *data;
	uint32_t length;
};

/* A call to be made. Zero is the default, everywhere. */
struct rpcrdma_call_config {
	size_t size;                           /* sizeof(struct rpcrdma_call_config): see api.h */
	const struct rpcrdma_program *program; /* as `rpcrdma xdr` writes it; must be set */
	uint32_t procedure;                    /* its number */
	/* Values of the procedure's C types; NULL for void. args, and all that it points to, must not change
	 * until done() is called or cancelling returns. result is written before done(0). */
	const void *args;
	void *result;
	/* Memory for the marked results, in their order; the array is copied. The memory is the library's
	 * until done() is called or cancelling returns. At most RPCRDMA_SINKS_MAX. */
	const struct rpcrdma_sink *sinks;
	uint32_t sink_count;
	/* The most octets of the encoded result, marked data not counted. 0: as the schema says, and where
	 * the schema has no bound, all that a message may have (message_max of the engine). */
	uint32_t reply_max;
	/*
	 * The least octets of the encoded result, marked data not counted. 0: as the schema says. In version
	 * 2, a reply that may not fit inline is left to a server that can provide a Read chunk for it. Where
	 * reply_min says that the reply will not fit inline, a Reply chunk is offered instead, which spares a
	 * round trip (draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1). A smaller reply comes inline
	 * nevertheless. More than reply_max counts as reply_max.
	 */
	uint32_t reply_min;
	/*
	 * Memory for the result's strings and opaque data: the octets of the reply are copied to it. It must
	 * have room for reply_max + 424 octets (the reply's header is among them), and for the marked results
	 * if they come some other way than by RDMA Write: over TCP, or inside a small reply. Else the call
	 * fails with LIMIT. NULL: the octets are not copied, and result is valid until done() returns.
	 */
	void *keep;
	uint32_t keep_size;
	/* The memory for arrays, lists and optional data of the result. NULL: a result that has some fails
	 * with XDR. */
	void *arena;
	size_t arena_size;
	uint64_t timeout; /* in nanoseconds; the call fails with TIMEDOUT then. 0: no timeout */
	/* Called once, from rpcrdma_engine_turn(): see rpcrdma_client_call() for the errors. It may start
	 * other calls, and may free the client. NULL: nothing is called. */
	void (*done)(void *ctx, struct rpcrdma_call *call, int error);
	void *ctx; /* for done */
};

/*
 * Starts a call. Where the function returns 0, done() follows, unless the call is cancelled or the client is
 * freed. *call (call may be NULL) then names the call for rpcrdma_call_cancel(), and is gone when done()
 * returns. config is copied.
 *
 * Errors at once, without done(), text on the client: INVAL, NOTSUP (config, a procedure that the program
 * does not have), NOMEM.
 *
 * Errors of done(), text on the client:
 *   INVAL, LIMIT              the arguments break their schema or a bound
 *   REFUSED, UNREACHABLE, REJECTED, PEER, DISCONNECTED   no connection
 *   TIMEDOUT                  config's timeout, or the connection's
 *   VERS, CHUNK               RDMA_ERROR: RFC 8166, section 4.5
 *   RPC_DENIED, PROG_UNAVAIL, PROG_MISMATCH, PROC_UNAVAIL, GARBAGE_ARGS,
 *   RPC_SYSTEM                the server's answer: RFC 5531, section 9
 *   XDR                       the reply does not decode
 *   NOMEM, SYSTEM             on this side
 */
RPCRDMA_API int rpcrdma_client_call(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *config, struct rpcrdma_call **call);

/*
 * Makes a call as rpcrdma_client_call() does, and turns the engine's loop until the call is done. Returns the
 * error of the call, any of the above, or CANCELLED: the client's config->interrupted() ended the wait, and
 * the call was cancelled, without its done(). config->done, where it is set, is called first; where it is
 * NULL, results that refer to memory need keep. Not inside a callback: INVAL.
 */
RPCRDMA_API int rpcrdma_client_call_and_wait(
	struct rpcrdma_client *client, const struct rpcrdma_call_config *config);

/*
 * Makes a call for the functions that `rpcrdma xdr` writes, one for each procedure:
 * VERSION_call_PROCEDURE(client, args, result, config). In these, args and result have the procedure's own
 * types, and are left out where they are void. config has everything else of the call, may be NULL, and is
 * copied; its program, procedure, args and result are not looked at. Where config->done is set, the function
 * starts the call as rpcrdma_client_call() does, else it waits for the call as rpcrdma_client_call_and_wait()
 * does; errors are those of that function. A call that may have to be cancelled is started by
 * rpcrdma_client_call() itself.
 */
RPCRDMA_API int rpcrdma_client_call_procedure(struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint32_t procedure, const void *args, void *result,
	const struct rpcrdma_call_config *config);

/*
 * Ends a call without done(). Its memory is the caller's again when the function returns: no peer can reach
 * that memory any more. The server may have handled the call, or may still do so. No effect inside the call's
 * own done().
 */
RPCRDMA_API void rpcrdma_call_cancel(struct rpcrdma_call *call);

/* Inside done(): rpcrdma_call_placed() returns how many octets of the result the server placed by RDMA Write,
 * rpcrdma_call_pulled() how many octets of the call the server fetched by RDMA Read. Both are 0 over TCP, and
 * if the whole message went by Send. */
RPCRDMA_API uint32_t rpcrdma_call_placed(const struct rpcrdma_call *call);
RPCRDMA_API uint32_t rpcrdma_call_pulled(const struct rpcrdma_call *call);

/* Returns a text that says why the last call or connection failed, with the server's address and what to do.
 * The text is valid until the next turn, or the next function on this client. */
RPCRDMA_API const char *rpcrdma_client_error(const struct rpcrdma_client *client);

/* The number of transport properties of RPC-over-RDMA version 2 (draft-cel-nfsv4-rpcrdma-version-two-03,
 * section 5) that this library knows. */
enum { RPCRDMA_PROPERTIES = 4 };

/* Returns the name of a property in a few words, for example "receive buffer size", or NULL if there is no
 * such property. Any thread may call it. */
RPCRDMA_API const char *rpcrdma_property_name(uint32_t index);

/* The values that the two sides of a connection agreed on, and how many credits and chunks are in use. */
struct rpcrdma_negotiated {
	size_t size;              /* set by the caller: see api.h */
	const char *fabric;       /* "iwarp", "verbs" or "tcp"; constant */
	uint32_t version;         /* of RPC-over-RDMA; 0 over TCP */
	bool private_data;        /* the server sent the private data of RFC 8797 */
	bool remote_invalidation; /* both sides offered it */
	uint32_t inline_call;     /* octets of the largest Send from the side that connected, the client */
	uint32_t inline_reply;    /* octets of the largest Send from the side that accepted, the server */
	uint32_t credits_asked;   /* calls under way at a time: by the config of this side's engine */
	uint32_t credits_granted; /* calls under way at a time: as the server's last reply granted */
	uint32_t credits_used; /* now: calls of this side that are under way, and a message of properties */
	uint32_t credits_min;  /* the least credits that were granted so far; 0 before the first grant */
	uint32_t credits_max;  /* the most credits that were granted so far; 0 before the first grant */
	uint32_t own_send, own_receive; /* octets of the largest Send, as this side announced them */
	/* As the peer announced them; its defaults where private_data is false. */
	uint32_t peer_send, peer_receive;
	bool read_chunks;       /* both sides take replies in Read chunks of the responder */
	uint32_t provided;      /* Read chunks with replies that this side has exposed now */
	uint32_t provided_peak; /* the most such chunks that were exposed at a time so far */
	bool properties;        /* the peer announced its transport properties, in version 2 */
	/* The values in force of each side's properties: by index, see rpcrdma_property_name(). */
	uint32_t own_properties[RPCRDMA_PROPERTIES], peer_properties[RPCRDMA_PROPERTIES];
	const char *tls;        /* "TLSv1.3": TLS protects the connection; NULL: nothing does. Constant */
	const char *tls_cipher; /* its cipher suite; NULL without TLS. Constant */
	bool tls_mutual;        /* the client proved its name by a certificate, too */
	char tls_peer[64]; /* the common name in the peer's certificate, in ASCII, cut off at 63 octets; ""
			      without */
	/* Of a client: the flavor of its calls, "AUTH_SYS", "AUTH_NONE", "krb5", "krb5i" or "krb5p",
	 * constant; and the name of the user whom Kerberos proves, as "alice@EXAMPLE.ORG", once there is a
	 * context, valid as long as the client; NULL: there is none. */
	const char *flavor, *principal;
};

/* Fills in negotiated, from the current connection or, if there is none, from the last one.
 * negotiated->fabric is NULL if there was no connection yet. Errors: INVAL (negotiated->size). */
RPCRDMA_API int rpcrdma_client_negotiated(
	const struct rpcrdma_client *client, struct rpcrdma_negotiated *negotiated);

/* Fills in counters, summed over all connections of this client. Errors: INVAL (counters->size). */
RPCRDMA_API int rpcrdma_client_counters(
	const struct rpcrdma_client *client, struct rpcrdma_counters *counters);

/* Fills in latency for a procedure: the times from the start of a call to its done(), including the time
 * without a connection. Cancelled calls are not counted. All numbers are 0 if there was no such call. Errors:
 * INVAL (latency->size). */
RPCRDMA_API int rpcrdma_client_latency(const struct rpcrdma_client *client,
	const struct rpcrdma_program *program, uint32_t procedure, struct rpcrdma_latency *latency);

#ifdef __cplusplus
}
#endif

#endif
