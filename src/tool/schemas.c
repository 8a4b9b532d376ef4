/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/schemas.h"

#include <inttypes.h>

#include "base/checked.h"
#include "ulb/binding.h"

/* HEADERS: octets of RPC headers beside arguments or results. MESSAGE_MAX: the largest message that a schema
 * can ask for; the payload memory of an engine has room for several of that size. */
enum { HEADERS = 4096, MESSAGE_MAX = 16 << 20 };

/* Tells whether the gateway knows this version of the program already, from another schema or from the
 * library. */
static bool
schemas_is_known(const struct rr_gateway_config *config, const struct rpcrdma_program *program)
{
	for (uint32_t i = 0; i < config->program_count; i++) {
		if (config->programs[i]->prog == program->prog && config->programs[i]->vers == program->vers)
			return true;
	}
	return rr_ulb_find(program->prog, program->vers);
}

/* Adds a program of a schema to the programs of the gateway. It is an error if the program is known already,
 * or if the gateway has too many programs. Returns an exit status, after a message if it is not OK. */
static int
schemas_add(const struct rr_tool *tool, const char *path, const struct rpcrdma_program *program,
	struct rr_gateway_config *config)
{
	if (schemas_is_known(config, program))
		return rr_tool_fail(tool, "%s: program %" PRIu32 " version %" PRIu32 " is known already",
			path, program->prog, program->vers);
	if (config->program_count == RR_GATEWAY_PROGRAMS)
		return rr_tool_fail(tool, "%s: that is one version too many, at most %d of all programs",
			path, RR_GATEWAY_PROGRAMS);
	config->programs[config->program_count++] = program;
	return RR_EXIT_OK;
}

int
rr_schemas_option(const struct rr_tool *tool, struct rr_schemas *schemas, const char *path,
	struct rr_gateway_config *config)
{
	struct rr_xdr_tables *file = &schemas->files[schemas->count];
	int status = RR_EXIT_OK;

	if (schemas->count == RR_SCHEMAS_MAX)
		return rr_tool_usage(tool, "at most %d schemas can be given", RR_SCHEMAS_MAX);
	if (rr_xdr_load(file, &rr_env_system, path, stderr) < 0)
		return RR_EXIT_FAILED;
	schemas->count++;
	for (uint32_t i = 0; i < file->count && status == RR_EXIT_OK; i++)
		status = schemas_add(tool, path, &file->programs[i], config);
	return status;
}

/* Returns the largest number of octets that a procedure's arguments or results can have; 0 if there is no
 * bound. They have at most `stream` octets in the message itself, and `items` values of at most item_max
 * octets each, which RDMA may convey apart from the message. */
static uint64_t
schemas_side_max(uint32_t stream, uint32_t items, uint32_t item_max)
{
	if (stream == RPCRDMA_XDR_UNBOUNDED || items == RPCRDMA_XDR_UNBOUNDED ||
		item_max == RPCRDMA_XDR_UNBOUNDED)
		return 0;
	return stream + (uint64_t)items * ((uint64_t)item_max + rr_pad(item_max));
}

uint32_t
rr_schemas_message_max(const struct rr_gateway_config *config)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < config->program_count; i++) {
		const struct rpcrdma_program *program = config->programs[i];

		for (uint32_t proc = 0; proc < program->procedure_count; proc++) {
			const struct rpcrdma_procedure *p = &program->procedures[proc];
			uint64_t args = schemas_side_max(p->args_max, p->args_items, p->args_item_max);
			uint64_t result =
				schemas_side_max(p->result_max, p->result_items, p->result_item_max);

			most = args > most ? args : most;
			most = result > most ? result : most;
		}
	}
	return most ? (uint32_t)rr_min(most + HEADERS, MESSAGE_MAX) : 0;
}

void
rr_schemas_free(struct rr_schemas *schemas)
{
	while (schemas->count > 0)
		rr_xdr_unload(&schemas->files[--schemas->count]);
}
