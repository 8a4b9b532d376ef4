/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/compound.h"

#include "ulb/nfs42.h"

enum { LAST_MINOR_VERSION = 2 };

static const struct rpcrdma_program *const nfs4 = &nfs42_NFS_V4_program;

bool
rr_compound_is(const struct rpcrdma_program *program, uint32_t proc)
{
	return program->prog == nfs4->prog && program->vers == nfs4->vers && proc == NFSPROC4_COMPOUND;
}

uint32_t
rr_compound_begin_call(struct rr_walk *walk)
{
	rr_walk_opaque(walk, UINT32_MAX); /* tag */
	/* The changes of later minor versions are not known here. */
	if (rr_walk_u32(walk) > LAST_MINOR_VERSION)
		rr_walk_refuse(walk);
	return rr_walk_u32(walk);
}

uint32_t
rr_compound_next_call(struct rr_walk *walk)
{
	uint32_t operation = rr_walk_peek(walk);

	rr_walk_over(walk, nfs4->walk, XDR_WALK_nfs_argop4);
	return operation;
}

uint32_t
rr_compound_begin_reply(struct rr_walk *walk)
{
	rr_walk_u32(walk);                /* status */
	rr_walk_opaque(walk, UINT32_MAX); /* tag */
	return rr_walk_u32(walk);
}

uint32_t
rr_compound_next_reply(struct rr_walk *walk)
{
	uint32_t operation = rr_walk_peek(walk);

	rr_walk_over(walk, nfs4->walk, XDR_WALK_nfs_resop4);
	if (rr_compound_is_read(operation))
		walk->result++;
	return operation;
}

bool
rr_compound_is_read(uint32_t operation)
{
	return operation == OP_READ || operation == OP_READLINK;
}
