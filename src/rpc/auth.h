/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_H
#define RR_RPC_AUTH_H

#include <rpcrdma/engine.h>

#include "wire/rpc.h"

/* Flavors of authentication, each with a const struct and a file of auth/: the octets that a flavor adds to
 * messages, what may be done with such messages, and how the credential is encoded and decoded. Of a call's
 * credential, the layers above see what struct rr_caller (caller.h) says. */

struct rpcrdma_request;

/* A flavor of authentication. */
struct rr_auth {
	enum rr_auth_flavor flavor;
	const char *name;

	/* The most octets that the flavor adds to a call and to its reply, beside those of every header
	 * (RR_RPC_CALL_FIXED, RR_RPC_REPLY_FIXED): the credential and the verifiers, with their flavors and
	 * lengths. */
	uint32_t call_adds, reply_adds;
	/* Octets that the flavor adds to the replies of servers here, for calls that they accept. */
	uint32_t answer_adds;

	/* Tells whether the items of a call with this credential, and those of its reply, may be placed
	 * directly. */
	bool (*may_place)(struct rpcrdma_bytes cred);

	/* Writes the body of a client's credential; the writer fails if there is no such credential. user:
	 * for flavors that name a user. NULL: clients here cannot use the flavor. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_auth_sys *user);

	/* Checks the credential and the verifier of a call, and says in request->caller who asks. Returns
	 * RR_AUTH_OK or the reason for the refusal. NULL: servers here cannot use the flavor. */
	enum rr_auth_stat (*take)(const struct rr_call_header *call, struct rpcrdma_request *request);
};

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
