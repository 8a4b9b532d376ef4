/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/estimate.h"

#include "ulb/binding.h"
#include "ulb/compound.h"
#include "ulb/estimate_private.h"

/* Sets the sizes of a reply as far as the schema alone limits them: the least and the largest size, and the
 * size of each result that may travel in a chunk. */
static void
estimate_procedure(const struct rpcrdma_procedure *procedure, struct rr_reply_size *size)
{
	uint32_t results = procedure->result_items;

	*size = (struct rr_reply_size){ .min = procedure->result_min, .max = procedure->result_max };
	/* More results than RR_ESTIMATE_RESULTS need not be listed: no call can offer that many chunks. */
	if (results > RR_ESTIMATE_RESULTS)
		results = RR_ESTIMATE_RESULTS;
	while (size->result_count < results)
		rr_estimate_result(size, procedure->result_item_max);
}

/* Lowers the estimated sizes of the reply by what the arguments of the call ask for, if the program is NFS or
 * NFSACL. */
static void
estimate_call(const struct rpcrdma_program *program, uint32_t proc, struct rr_walk *walk,
	struct rr_reply_size *size)
{
	if (rr_compound_is(program, proc))
		rr_estimate_compound(walk, size);
	/* The pointers are compared: a description of the same program that is not the built-in one may
	 * differ. */
	else if (program == rr_ulb_find(100003, 2))
		rr_estimate_nfs2(proc, walk, size);
	else if (program == rr_ulb_find(100003, 3))
		rr_estimate_nfs3(proc, walk, size);
	else if (program == rr_ulb_find(100227, 3))
		rr_estimate_nfsacl3(proc, walk, size);
}

bool
rr_ulb_reply_size(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_reply_size *size)
{
	struct rr_walk walk;

	*size = (struct rr_reply_size){ .max = RPCRDMA_XDR_UNBOUNDED };
	if (proc >= program->procedure_count || !program->procedures[proc].name)
		return false;
	estimate_procedure(&program->procedures[proc], size);
	rr_walk_begin(&walk, reader, NULL, 0);
	estimate_call(program, proc, &walk, size);
	if (walk.answer == RR_WALKED)
		return true;
	*size = (struct rr_reply_size){ .max = RPCRDMA_XDR_UNBOUNDED };
	return false;
}
