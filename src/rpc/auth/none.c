/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RFC 5531, 10.1: "the flavor of the RPC message's credential, verifier, and
 * reply verifier is "AUTH_NONE". Opaque data associated with "AUTH_NONE" is
 * undefined. It is recommended that the length of the opaque data be zero."
 */
#include "rpc/auth.h"
#include "rpc/server.h"

/* Writes nothing, as the body of the credential is empty. */
static void
none_put(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_auth_sys *user)
{
	(void)writer, (void)user;
}

/* Takes a call that names no user. A credential whose body is not empty is refused. */
static int
none_take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	request->caller = (struct rr_caller){ .flavor = RR_AUTH_NONE };
	return call->cred.body.length == 0 ? (int)rr_auth_null_verifier(call) : RR_AUTH_BADCRED;
}

const struct rr_auth rr_auth_none = {
	.flavor = RR_AUTH_NONE,
	.name = "AUTH_NONE",
	.call_adds = 2 * RR_AUTH_FIXED,
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX, /* the length of zero is only recommended */
	.answer_adds = RR_AUTH_FIXED,
	.may_place = rr_auth_places,
	.put = none_put,
	.take = none_take,
};
