/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_H
#define RR_RPC_AUTH_H

#include "wire/rpc.h"

/*
 * Flavors of authentication, one const struct and one file each: what a
 * flavor adds to messages, what may be done with them, and how the credential
 * gets in and out. Nothing else looks at the number of a flavor.
 */

struct rpcrdma_request;

struct rr_auth {
	enum rr_auth_flavor flavor;
	const char *name;

	/* Octets that it adds at most to a call and to its reply, besides what every header has
	 * (RR_RPC_CALL_FIXED, RR_RPC_REPLY_FIXED): the credential and the verifiers, with their flavors and
	 * lengths. */
	uint32_t call_adds, reply_adds;
	/* Octets that it adds to the replies of servers here; of calls that they accept. */
	uint32_t answer_adds;

	/* Whether the items of a call with this credential, and of its reply, may be placed directly. */
	bool (*may_place)(struct rpcrdma_bytes cred);

	/* The body of the credential of a client here; it fails the writer where there is none. NULL: clients
	 * here cannot use the flavor. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rr_auth_sys *caller);

	/* Takes the credential and the verifier of a call into request, or says why not. NULL: servers here
	 * cannot use the flavor. */
	enum rr_auth_stat (*take)(const struct rr_call_header *call, struct rpcrdma_request *request);
};

/* Of AUTH_SHORT and RPCSEC_GSS there is only what those need who pass messages on. */
extern const struct rr_auth rr_auth_none, rr_auth_sys, rr_auth_short, rr_auth_gss;

/* What servers here take, the strongest first; ends with NULL. */
extern const struct rr_auth *const rr_auth_served[];

/* NULL where nothing here knows the flavor. */
const struct rr_auth *rr_auth_find(uint32_t flavor);

/* False also where nothing is known of the flavor: nobody can tell where the items of such a message are. */
bool rr_auth_may_place(const struct rr_opaque_auth *cred);

/* For the flavors that leave arguments and results as they are. */
bool rr_auth_places(struct rpcrdma_bytes cred);

/* For the flavors whose verifier is AUTH_NONE. */
enum rr_auth_stat rr_auth_null_verifier(const struct rr_call_header *call);

#endif
