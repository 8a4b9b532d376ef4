/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/binding.h"

#include "ulb/compound.h"

/* The tables are declared here, as the headers that declare them cannot be included together: they share
 * names. */
extern const struct rpcrdma_program nfs2_NFS_VERSION_program, NFS_V3_program, nfs42_NFS_V4_program,
	nfs42_NFS_CB_program, NFS_ACL_V3_program, nlm3_NLM_VERSX_program, nlm4_NLM4_VERS_program,
	nsm1_SM_VERS_program, MOUNT_V1_program, MOUNT_V2_program, MOUNT_V3_program, RQUOTAVERS_program,
	EXT_RQUOTAVERS_program;

static const struct rpcrdma_program *const programs[] = {
	&nfs2_NFS_VERSION_program,
	&NFS_V3_program,
	&nfs42_NFS_V4_program,
	&NFS_ACL_V3_program,
	&nlm3_NLM_VERSX_program,
	&nlm4_NLM4_VERS_program,
	&nsm1_SM_VERS_program,
	&MOUNT_V1_program,
	&MOUNT_V2_program,
	&MOUNT_V3_program,
	&RQUOTAVERS_program,
	&EXT_RQUOTAVERS_program,
};

const struct rpcrdma_program *
rr_ulb_find(uint32_t prog, uint32_t vers)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (programs[i]->prog == prog && programs[i]->vers == vers)
			return programs[i];
	}
	return NULL;
}

const struct rpcrdma_program *
rr_ulb_callback(void)
{
	return &nfs42_NFS_CB_program;
}

/* Does the work for arguments or results in which no data may travel in chunks, so that no walk is needed.
 * Returns RR_WALK_MISPLACED if the message has data from chunks (items) nevertheless, else RR_WALKED. */
static enum rr_walk_answer
binding_find_nothing(const struct rpcrdma_xdr_reader *reader)
{
	for (const struct rpcrdma_item *item = reader->items; item < reader->items_end; item++) {
		if (item->length > 0)
			return RR_WALK_MISPLACED;
	}
	return RR_WALKED;
}

/* Finds the items, the data that may travel in chunks, in the arguments or results of any procedure other
 * than COMPOUND. entry is the index in program->walk at which the code for their type begins (xdr/walk.h); it
 * is 0 if the type has no such data. Each item counts as a result of its own. */
static enum rr_walk_answer
binding_find_all(const struct rpcrdma_program *program, uint32_t entry,
	const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found)
{
	struct rr_walk walk;
	enum rr_walk_answer answer;

	if (entry == 0)
		return binding_find_nothing(reader);
	rr_walk_begin(&walk, reader, found->items, found->max);
	rr_walk_over(&walk, program->walk, entry);
	answer = rr_walk_end(&walk);
	if (answer != RR_WALKED)
		return answer;
	found->count = found->results = walk.item_count;
	for (uint32_t i = 0; i < found->count && i < found->max; i++)
		found->items[i].result = i;
	return RR_WALKED;
}

/* Finds the items, the data that may travel in chunks, in a COMPOUND. begin() moves over the fields in front
 * of the operations and returns the number of operations; next() moves over one operation. */
static enum rr_walk_answer
binding_find_in_compound(const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found,
	uint32_t (*begin)(struct rr_walk *walk), uint32_t (*next)(struct rr_walk *walk))
{
	struct rr_walk walk;
	uint32_t count;

	rr_walk_begin(&walk, reader, found->items, found->max);
	count = begin(&walk);
	while (count > 0 && walk.answer == RR_WALKED) {
		next(&walk);
		count--;
	}
	if (rr_walk_end(&walk) != RR_WALKED)
		return walk.answer;
	found->count = walk.item_count;
	found->results = walk.result;
	return RR_WALKED;
}

/* Returns the procedure of the program with the number proc, and makes the list of found items empty. Returns
 * NULL if the program has no such procedure. */
static const struct rpcrdma_procedure *
binding_find_procedure(const struct rpcrdma_program *program, uint32_t proc, struct rr_ulb_items *found)
{
	found->count = found->results = 0;
	if (proc >= program->procedure_count || !program->procedures[proc].name)
		return NULL;
	return &program->procedures[proc];
}

enum rr_walk_answer
rr_ulb_walk_call(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found)
{
	const struct rpcrdma_procedure *procedure = binding_find_procedure(program, proc, found);

	if (!procedure)
		return RR_WALK_UNKNOWN;
	if (rr_compound_is(program, proc))
		return binding_find_in_compound(reader, found, rr_compound_begin_call, rr_compound_next_call);
	return binding_find_all(program, procedure->args_walk, reader, found);
}

enum rr_walk_answer
rr_ulb_walk_reply(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found)
{
	const struct rpcrdma_procedure *procedure = binding_find_procedure(program, proc, found);

	if (!procedure)
		return RR_WALK_UNKNOWN;
	if (rr_compound_is(program, proc))
		return binding_find_in_compound(
			reader, found, rr_compound_begin_reply, rr_compound_next_reply);
	return binding_find_all(program, procedure->result_walk, reader, found);
}
