/* SPDX-License-Identifier: BSD-3-Clause */
/* AUTH_SYS and AUTH_SHORT: RFC 5531, appendix A. "The flavor value of the verifier received in the reply
 * message from the server may be "AUTH_NONE" or "AUTH_SHORT"", which brings "an opaque structure" of up to
 * 400 octets. Clients here do not use that structure; clients behind a gateway may. */
#include "rpc/auth.h"
#include "rpc/server.h"

/* Octets of the largest credential: stamp, uid, gid and two lengths; the name; the groups. */
enum { BODY_MAX = 5 * 4 + (RR_AUTH_SYS_NAME + 1) + 4 * RR_AUTH_SYS_GIDS };

/* Decodes the AUTH_SYS credential of the call into request, and checks the verifier. Returns RR_AUTH_OK or
 * the reason for the refusal. */
static enum rr_auth_stat
sys_take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	request->has_sys = rr_auth_sys_get(call->cred.body, &request->sys);
	/* RFC 5531, appendix A: "The verifier accompanying the credential should have "AUTH_NONE" flavor
	 * value" */
	return request->has_sys ? rr_auth_null_verifier(call) : RR_AUTH_BADCRED;
}

const struct rr_auth rr_auth_sys = {
	.flavor = RR_AUTH_SYS,
	.name = "AUTH_SYS",
	.call_adds = 2 * RR_AUTH_FIXED + BODY_MAX,
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.answer_adds = RR_AUTH_FIXED,
	.may_place = rr_auth_places,
	.put = rr_auth_sys_put,
	.take = sys_take,
};

const struct rr_auth rr_auth_short = {
	.flavor = RR_AUTH_SHORT,
	.name = "AUTH_SHORT",
	.call_adds = 2 * RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.may_place = rr_auth_places,
};
