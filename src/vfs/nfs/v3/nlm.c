/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of NLM. */
#include <string.h>

#include "vfs/nfs/v3/v3_private.h"

/* A server that is silent for so long, in seconds, is to be asked again. */
enum { NLM_TIMEOUT = 30 };

void
rr_v3_nlm_call(struct rr_v3_vfs *vfs, struct rr_v3_nlm *nlm, struct rr_call *call, uint32_t procedure)
{
	uint64_t number = ++vfs->locks.cookies;

	memcpy(nlm->cookie, &number, sizeof(number));
	nlm->args.cookie = (netobj){ nlm->cookie, sizeof(nlm->cookie) };
	call->program = &nlm4_NLM4_VERS_program;
	call->proc = procedure;
	call->args = &nlm->args;
	call->result = &nlm->result;
	call->timeout = NLM_TIMEOUT * RR_SECOND;
	call->silence = true;
	rr_client_call(vfs->locks.client, call);
}

nlm4_lock
rr_v3_nlm_lock(const struct rr_v3_owner *owner, uint64_t offset, uint64_t length)
{
	const char *machine = owner->vfs->base.shared->config.rpc.user.machine;

	if (!*machine)
		machine = "localhost";
	/* RFC 1813, 6.1.4: "A l_len of 0 means "to end of file"." */
	return (nlm4_lock){ .caller_name = { machine, (uint32_t)strlen(machine) },
		.fh = rr_remote_fh(&owner->file),
		.oh = { owner->oh, sizeof(owner->oh) },
		.svid = owner->svid,
		.l_offset = offset,
		.l_len = length == UINT64_MAX ? 0 : length };
}

enum rr_vfs_status
rr_v3_nlm_status(const struct rr_v3_nlm *nlm, int error, nlm4_stats stat)
{
	static const enum rr_vfs_status statuses[] = {
		[NLM4_GRANTED] = RR_VFS_OK,
		[NLM4_DENIED] = RR_VFS_LOCK,
		[NLM4_DENIED_NOLOCKS] = RR_VFS_BUSY,
		[NLM4_BLOCKED] = RR_VFS_IO, /* nobody asked the server to wait */
		[NLM4_DENIED_GRACE_PERIOD] = RR_VFS_BUSY,
		[NLM4_DEADLCK] = RR_VFS_IO,
		[NLM4_ROFS] = RR_VFS_ROFS,
		[NLM4_STALE_FH] = RR_VFS_STALE,
		[NLM4_FBIG] = RR_VFS_FBIG,
		[NLM4_FAILED] = RR_VFS_IO,
	};
	const netobj *cookie = &nlm->result.cookie;

	if (error)
		return rr_remote_unanswered(error);
	/* A server returns the cookie of the call. */
	if (cookie->length != sizeof(nlm->cookie) ||
		memcmp(cookie->data, nlm->cookie, sizeof(nlm->cookie)) != 0)
		return RR_VFS_IO;
	return stat <= NLM4_FAILED ? statuses[stat] : RR_VFS_IO;
}
