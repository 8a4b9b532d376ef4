/* SPDX-License-Identifier: BSD-3-Clause */
/* This file lists the procedures of procedure.h and newer.h, by their numbers. */
#include "nfs/v4/proc.h"
#include "base/checked.h"
#include "vfs/nfs/v4/work.h"

static const struct rr_v4_work *const proc_works[] = {
	[NFSPROC3_READDIR] = &rr_v4_readdir3,
	[NFSPROC3_READDIRPLUS] = &rr_v4_readdirplus3,
	[NFSPROC3_FSINFO] = &rr_v4_fsinfo3,
	[RR_V4_PUT] = &rr_v4_put,
	[RR_V4_SECINFO] = &rr_v4_secinfo,
	[RR_V4_GETACL] = &rr_v4_getacl,
	[RR_V4_SETACL] = &rr_v4_setacl,
};

const struct rr_v4_work *
rr_v4_procedure(const struct rr_call *call)
{
	if (call->proc == RR_V4_OPERATION)
		return ((const struct rr_v4_job *)call->ctx)->work;
	return call->proc < sizeof(proc_works) / sizeof(proc_works[0]) ? proc_works[call->proc] : NULL;
}

uint32_t
rr_v4_names_max(const struct rr_v4 *v4)
{
	enum { OTHERS = 4 }; /* SEQUENCE, PUTFH, GETFH, GETATTR */

	_Static_assert(RR_V4_NAMES <= RR_V4_OPS - OTHERS, "a walk fits in a COMPOUND");
	return (uint32_t)rr_min(rr_v4_operations(v4) - OTHERS, RR_V4_NAMES);
}

bool
rr_v4_can_put(const struct rr_v4 *v4)
{
	return rr_v4_operations(v4) >= RR_V4_PUT_OPS;
}
