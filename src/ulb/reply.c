/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/reply.h"

#include "ulb/nfs3.h"

/* What each row of the table has. */
#define REPLY(name) .result_max = XDR_MAX_##name##3res

/* The binding of each procedure. The items are those that nfs3.x places. */
const struct rr_ulb_procedure rr_ulb_nfs3[RR_ULB_NFS3_PROCEDURES] = {
	[NFSPROC3_GETATTR] = { REPLY(GETATTR) },
	[NFSPROC3_SETATTR] = { REPLY(SETATTR) },
	[NFSPROC3_LOOKUP] = { REPLY(LOOKUP) },
	[NFSPROC3_ACCESS] = { REPLY(ACCESS) },
	[NFSPROC3_READLINK] = { REPLY(READLINK), .result = "READLINK3resok.data" },
	[NFSPROC3_READ] = { REPLY(READ), .result = "READ3resok.data" },
	[NFSPROC3_WRITE] = { REPLY(WRITE), .argument = "WRITE3args.data" },
	[NFSPROC3_CREATE] = { REPLY(CREATE) },
	[NFSPROC3_MKDIR] = { REPLY(MKDIR) },
	[NFSPROC3_SYMLINK] = { REPLY(SYMLINK), .argument = "symlinkdata3.symlink_data" },
	[NFSPROC3_MKNOD] = { REPLY(MKNOD) },
	[NFSPROC3_REMOVE] = { REPLY(REMOVE) },
	[NFSPROC3_RMDIR] = { REPLY(RMDIR) },
	[NFSPROC3_RENAME] = { REPLY(RENAME) },
	[NFSPROC3_LINK] = { REPLY(LINK) },
	[NFSPROC3_READDIR] = { REPLY(READDIR), .often_large = true },
	[NFSPROC3_READDIRPLUS] = { REPLY(READDIRPLUS), .often_large = true },
	[NFSPROC3_FSSTAT] = { REPLY(FSSTAT) },
	[NFSPROC3_FSINFO] = { REPLY(FSINFO) },
	[NFSPROC3_PATHCONF] = { REPLY(PATHCONF) },
	[NFSPROC3_COMMIT] = { REPLY(COMMIT) },
};

/* Returns how many octets the result of READDIR or READDIRPLUS takes at most: the size of the status and the
 * list, or `failure`, the size of a failed result, if that is larger. count is the argument that limits the
 * list, RFC 1813, 3.3.16 and 3.3.17: count and maxcount are "The maximum size of the ... resok structure, in
 * bytes". */
static uint32_t
reply_list_max(uint32_t count, uint32_t failure)
{
	uint32_t success = count > UINT32_MAX - 4 ? UINT32_MAX : count + 4;

	return success > failure ? success : failure;
}

uint32_t
rr_ulb_nfs3_reply_max(uint32_t proc, const void *args)
{
	if (proc == NFSPROC3_READDIR)
		return reply_list_max(((const READDIR3args *)args)->count, 4 + XDR_MAX_READDIR3resfail);
	if (proc == NFSPROC3_READDIRPLUS)
		return reply_list_max(
			((const READDIRPLUS3args *)args)->maxcount, 4 + XDR_MAX_READDIRPLUS3resfail);
	return proc < RR_ULB_NFS3_PROCEDURES ? rr_ulb_nfs3[proc].result_max : 0;
}
