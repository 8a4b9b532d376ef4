/* SPDX-License-Identifier: BSD-3-Clause */
/* AUTH_SYS and AUTH_SHORT: RFC 5531, appendix A. "The flavor value of the verifier received in the reply
 * message from the server may be "AUTH_NONE" or "AUTH_SHORT"", which brings "an opaque structure" of up to
 * 400 octets. Clients here do not use that structure; clients behind a gateway may. */
#include <string.h>

#include "rpc/auth.h"
#include "rpc/server.h"

/* Octets of the largest credential: stamp, uid, gid and two lengths; the name; the groups. */
enum { BODY_MAX = 5 * 4 + (RR_AUTH_SYS_NAME + 1) + 4 * RR_AUTH_SYS_GIDS };

/* Writes the credential of a client's user. The writer fails if the name of the machine has no end. */
static void
sys_put(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_auth_sys *user)
{
	struct rr_auth_sys sys = { user->stamp, user->uid, user->gid, user->gid_count, { 0 },
		{ user->machine, (uint32_t)strnlen(user->machine, sizeof(user->machine)) } };

	memcpy(sys.gids, user->gids, sizeof(sys.gids));
	rr_auth_sys_put(writer, &sys);
}

/* Decodes the AUTH_SYS credential of the call into request, and checks the verifier. Returns RR_AUTH_OK or
 * the reason for the refusal. */
static int
sys_take(const struct rr_call_header *call, struct rpcrdma_request *request)
{
	struct rr_auth_sys *sys = &request->sys;

	if (!rr_auth_sys_get(call->cred.body, sys))
		return RR_AUTH_BADCRED;
	request->caller = (struct rr_caller){ .flavor = RR_AUTH_SYS,
		.named = true,
		.uid = sys->uid,
		.gid = sys->gid,
		.group_count = sys->gid_count,
		.groups = sys->gids };
	/* RFC 5531, appendix A: "The verifier accompanying the credential should have "AUTH_NONE" flavor
	 * value" */
	return rr_auth_null_verifier(call);
}

const struct rr_auth rr_auth_sys = {
	.flavor = RR_AUTH_SYS,
	.name = "AUTH_SYS",
	.call_adds = 2 * RR_AUTH_FIXED + BODY_MAX,
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.answer_adds = RR_AUTH_FIXED,
	.may_place = rr_auth_places,
	.put = sys_put,
	.take = sys_take,
};

const struct rr_auth rr_auth_short = {
	.flavor = RR_AUTH_SHORT,
	.name = "AUTH_SHORT",
	.call_adds = 2 * RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.reply_adds = RR_AUTH_FIXED + RR_AUTH_BODY_MAX,
	.may_place = rr_auth_places,
};
