/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/tables.h"

#include <rpcrdma/error.h>

/* Makes the tables of a schema's programs in memory, without C code. They have no functions that decode or
 * encode. */

/* Returns the entry of a procedure for the table of procedures: its name, the sizes of its arguments and
 * result, and where the walk's code for them begins. A walk goes by this code through an encoded message. */
static struct rpcrdma_procedure
tables_load_procedure(struct rr_xdr_compiler *compiler, const struct rr_walk_code *walk,
	const struct rr_xdr_procedure *procedure)
{
	struct rr_xdr_size args = rr_xdr_size(compiler, procedure->args);
	struct rr_xdr_size result = rr_xdr_size(compiler, procedure->result);

	return (struct rpcrdma_procedure){
		.name = procedure->name,
		.args_min = args.min,
		.args_max = args.max,
		.args_items = args.items,
		.args_item_max = args.item_max,
		.args_walk = rr_walk_entry(walk, procedure->args),
		.result_min = result.min,
		.result_max = result.max,
		.result_items = result.items,
		.result_item_max = result.item_max,
		.result_walk = rr_walk_entry(walk, procedure->result),
	};
}

/* Returns the number of entries in the table of a version's procedures: the highest procedure number plus
 * one. */
static uint32_t
tables_count_procedures(const struct rr_xdr_version *version)
{
	uint64_t highest = 0;

	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
		if (p->number.number.magnitude > highest)
			highest = p->number.number.magnitude;
	}
	return (uint32_t)highest + 1;
}

/* Sets *table to the table of a version, and makes the table of the version's procedures. If there is no
 * memory, *table remains as it is. */
static void
tables_load_version(struct rr_xdr_compiler *run, const struct rr_walk_code *walk,
	const struct rr_xdr_definition *program, const struct rr_xdr_version *version,
	struct rpcrdma_program *table)
{
	uint32_t count = tables_count_procedures(version);
	struct rpcrdma_procedure *procedures = rr_xdr_alloc(run, count * sizeof(*procedures));

	if (!procedures)
		return;
	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next)
		procedures[p->number.number.magnitude] = tables_load_procedure(run, walk, p);
	*table = (struct rpcrdma_program){
		.name = version->name,
		.prog = (uint32_t)program->value.number.magnitude,
		.vers = (uint32_t)version->number.number.magnitude,
		.procedure_count = count,
		.procedures = procedures,
		.walk = walk->words,
	};
}

/* Returns the number of versions of all programs of the schema: each gets a table. */
static uint32_t
tables_count_versions(const struct rr_xdr_compiler *run)
{
	uint32_t count = 0;

	for (const struct rr_xdr_definition *d = run->definitions; d; d = d->next) {
		for (const struct rr_xdr_version *v = d->versions; v; v = v->next)
			count++;
	}
	return count;
}

/* Makes a table for each version of each program of the schema. Reports a schema without programs. */
static void
tables_load(struct rr_xdr_tables *tables)
{
	struct rr_xdr_compiler *run = &tables->run;
	struct rr_walk_code walk;
	uint32_t room = tables_count_versions(run);

	if (room == 0)
		rr_xdr_trouble(run, -RPCRDMA_ERR_XDR, "there is no program in it");
	rr_walk_build(&walk, run);
	tables->walk_length = walk.length;
	tables->programs = rr_xdr_alloc(run, room * sizeof(*tables->programs));
	for (const struct rr_xdr_definition *d = run->definitions; d; d = d->next) {
		for (const struct rr_xdr_version *v = d->versions; v && !run->error; v = v->next)
			tables_load_version(run, &walk, d, v, &tables->programs[tables->count++]);
	}
}

int
rr_xdr_load(struct rr_xdr_tables *tables, const struct rr_env *env, const char *path, FILE *errors)
{
	int error;

	*tables = (struct rr_xdr_tables){ 0 };
	rr_xdr_compiler_init(&tables->run, env, path, errors);
	rr_xdr_read(&tables->run);
	if (!tables->run.error)
		tables_load(tables);
	error = tables->run.error;
	if (error)
		rr_xdr_unload(tables);
	return error;
}

void
rr_xdr_unload(struct rr_xdr_tables *tables)
{
	rr_xdr_compiler_free(&tables->run);
	*tables = (struct rr_xdr_tables){ 0 };
}
