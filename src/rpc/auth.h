/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_H
#define RR_RPC_AUTH_H

#include <rpcrdma/engine.h>

#include "base/list.h"
#include "wire/rpc.h"

/* Flavors of authentication, each with a const struct and a file of auth/: the octets that a flavor adds to
 * messages, what may be done with such messages, and how the credential is encoded and decoded. Of a call's
 * credential, the layers above see what struct rr_caller (caller.h) says. */

/* Marks functions that only calls of flavors with contexts need. Their instructions and their memory stay out
 * of the way of all other calls. */
#define RR_AUTH_APART __attribute__((noinline, cold))

struct rpcrdma_client;
struct rpcrdma_program;
struct rpcrdma_request;
struct rr_auth;
struct rr_crew;
struct rr_service;

/* A client that waits for a context. */
struct rr_auth_waiter {
	struct rpcrdma_client *client; /* by whose calls the context may be made */
	uint32_t prog, vers;           /* of a program whose procedure 0 these calls name */
	/* Is called by the loop, once: there is a context (0), or there is none (an error and its text). The
	 * waiter may be used again then. */
	void (*ready)(struct rr_auth_waiter *waiter, int error, const char *text);
	struct rr_list link; /* the flavor's */
};

/* What a flavor with contexts notes of one call. Only its file looks at the members behind wraps. */
struct rr_auth_call {
	/* The context to which the call belongs, held until guard->end(); NULL: there is none. */
	void *context;
	bool wraps;      /* arguments and results are wrapped; then no item of them may be placed */
	bool again;      /* the connection was lost on which a client sent the call */
	uint32_t number; /* of this transmission of the call */
	uint32_t service;
	void *memory; /* into which unwrap() has put arguments or results */
	bool apart;   /* unwrap() and protect() are called by a thread of a crew */
	bool guarded; /* begin() protects the call against changes, at least (struct rr_call) */
};

/* From so many octets on, wrapping and unwrapping is work for a crew, where a server has one. */
enum { RR_AUTH_LARGE = 16384 };

/* Where in a message the octets lie that protect() is still to protect. size 0: there are none. */
struct rr_auth_span {
	size_t at, size;
};

/*
 * The guard of the messages of a flavor that has contexts, as RPCSEC_GSS has (RFC 2203): verifiers, and
 * arguments and results that are wrapped by a checksum or a cipher. A client and a server have the same
 * functions; what the flavor keeps of them is in the object that struct rr_auth begins, and in contexts.
 */
struct rr_auth_guard {
	/* Begins a transmission of a client's call: sets all members of *call but again and guarded. A call
	 * of the program auth->control->program, or of a copy of it for another program's number, makes or
	 * destroys a context. Returns 0; or RR_AUTH_UNREADY: there is no context yet, and prepare() has one
	 * made; or an error: there is no context for the call. */
	int (*begin)(
		const struct rr_auth *auth, const struct rpcrdma_program *program, struct rr_auth_call *call);
	/* Has a context made, by calls of a client that waits; does nothing if the waiter waits already. The
	 * flavor lets go of a waiter when it has called ready(), or by forget(), which also ends the call of
	 * that client by which a context is being made. NULL for flavors whose begin() has no use for them.
	 */
	void (*prepare)(const struct rr_auth *auth, struct rr_auth_waiter *waiter);
	void (*forget)(const struct rr_auth *auth, struct rr_auth_waiter *waiter);
	/* The server has denied a client's call because of its context: no call begins with that context any
	 * more. Returns whether the call may begin again, with another one. NULL: as above. */
	bool (*lose)(const struct rr_auth_call *call);
	/* Writes the body of the credential of a client's call. */
	void (*put)(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *body);
	/* Writes the body of the verifier of a client's call, and returns the verifier's flavor. front: the
	 * call up to and including its credential. */
	uint32_t (*sign)(
		const struct rr_auth_call *call, struct rpcrdma_bytes front, struct rpcrdma_xdr_writer *body);
	/* Tells whether the verifier of an accepted reply is that of the call. */
	bool (*check)(struct rr_auth_call *call, const struct rr_opaque_auth *verifier);

	/* Stores the verifier of a server's accepted reply in *verifier, with the body in that memory.
	 * Returns RR_AUTH_OK, or the reason for which the call is denied instead. */
	enum rr_auth_stat (*answer)(const struct rr_auth_call *call, struct rr_opaque_auth *verifier,
		uint8_t body[RR_AUTH_BODY_MAX]);

	/* Writes arguments or results as the flavor wraps them. put() writes them as they are; NULL: there
	 * are none. Returns false if they cannot be wrapped, and must not be sent; the writer fails if there
	 * is no room. */
	bool (*wrap)(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
		void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value);
	/* The two steps of wrap(): lay() writes all that is known before anything is computed; protect()
	 * computes the rest, in the message, which may have been moved meanwhile. Any thread may call
	 * protect(), and unwrap(). NULL: the flavor has wrap() alone. */
	void (*lay)(const struct rr_auth_call *call, struct rpcrdma_xdr_writer *writer,
		void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value,
		struct rr_auth_span *span);
	bool (*protect)(const struct rr_auth_call *call, uint8_t *message, const struct rr_auth_span *span);
	/* Replaces wrapped arguments or results by what they are. *message then points into the same memory,
	 * or into call->memory. Returns false if they are not what the peer has wrapped for this call. */
	bool (*unwrap)(struct rr_auth_call *call, struct rpcrdma_message *message);

	/* Ends the call or, at a client, a transmission of it: lets its context go, which is then NULL. */
	void (*end)(struct rr_auth_call *call);
};

/* A flavor of authentication. A flavor that keeps something has it in a structure that begins with this one;
 * that structure outlives the clients and servers that use it. */
struct rr_auth {
	enum rr_auth_flavor flavor;
	const char *name;
	/* Of RPCSEC_GSS: the number by which lists of flavors name the mechanism and the service of a
	 * client's calls: RFC 2623, 2.2.2. 0: there is none. */
	uint32_t pseudo_flavor;
	const char *principal; /* the name of a client's user, as the flavor proves it; NULL: there is none */

	/* The most octets that the flavor adds to a call and to its reply, beside those of every header
	 * (RR_RPC_CALL_FIXED, RR_RPC_REPLY_FIXED): the credential and the verifiers, with their flavors and
	 * lengths. */
	uint32_t call_adds, reply_adds;
	uint32_t guarded_adds; /* octets more of a reply to a call that is guarded (struct rr_call) */
	/* Octets that the flavor adds to the replies of servers here, for calls that they accept. */
	uint32_t answer_adds;

	/* Tells whether the items of a call with this credential, and those of its reply, may be placed
	 * directly. */
	bool (*may_place)(struct rpcrdma_bytes cred);

	/* Writes the body of a client's credential; the writer fails if there is no such credential. user:
	 * for flavors that name a user. NULL: clients here cannot use the flavor. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_auth_sys *user);

	/* Checks the credential and the verifier of a call, and says in request->caller who asks. Returns
	 * RR_AUTH_OK, the reason for the refusal (enum rr_auth_stat), RR_AUTH_SILENT or RR_AUTH_CONTROL.
	 * NULL: servers here cannot use the flavor.
	 *
	 * A flavor with contexts sets request->auth_call, unless it refuses the call, and adds to
	 * request->header what it adds to this reply. If request->exchange->taken is set, the call was
	 * taken before, and has waited for memory since then: it does not repeat another call. */
	int (*take)(const struct rr_call_header *call, struct rpcrdma_request *request);

	/* The two members that follow are NULL for flavors without contexts. control: serves procedure 0 of
	 * its program, whatever program the call names, if take() returned RR_AUTH_CONTROL: RFC 2203, 5.2:
	 * "the procedure number is always zero". The handler may make a context, and set
	 * request->auth_call. */
	const struct rr_auth_guard *guard;
	const struct rr_service *control;
	/* The threads that protect and open the messages of a client, if they have RR_AUTH_LARGE octets or
	 * more; NULL: all messages are wrapped and unwrapped by the loop. */
	struct rr_crew *crew;
};

/* What guard->begin() returns if a context is to be made first. */
enum { RR_AUTH_UNREADY = 1 };

/* What take() returns beside the reasons for refusals. RR_AUTH_SILENT: the call gets no answer. RFC 2203,
 * 5.3.3.1: "the request is silently discarded." RR_AUTH_CONTROL: the flavor answers the call itself. */
enum { RR_AUTH_SILENT = -1, RR_AUTH_CONTROL = -2 };

/* The flavors. AUTH_SHORT and RPCSEC_GSS have only the parts that are needed to pass messages on. */
extern const struct rr_auth rr_auth_none, rr_auth_sys, rr_auth_short, rr_auth_gss;

/* The flavors that servers here take, the strongest first; NULL is the last entry. */
extern const struct rr_auth *const rr_auth_served[];

/* Returns the flavor with that number, or NULL if no flavor of this file has it. */
const struct rr_auth *rr_auth_find(uint32_t flavor);

/* Tells whether the data items of a message with this credential may travel apart from its stream. They may
 * not if the flavor is unknown, as such a flavor may change where the items are. */
bool rr_auth_may_place(const struct rr_opaque_auth *cred);

/* Returns true. This is the may_place() of the flavors that leave arguments and results as they are. */
bool rr_auth_places(struct rpcrdma_bytes cred);

/* Checks that the verifier of a call has the flavor AUTH_NONE, and an empty body. Returns RR_AUTH_OK or the
 * reason for the refusal. */
enum rr_auth_stat rr_auth_null_verifier(const struct rr_call_header *call);

#endif
