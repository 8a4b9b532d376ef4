/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes for each procedure a function that calls it with its own types; the pointers in the table are
 * void. */
#include <inttypes.h>

#include "xdr/emit/emit.h"

/* Returns, as C text, the parameter for a procedure's arguments: a pointer to const, or "" for void. For an
 * array the pointer is not to const, as ISO C has no conversion to a pointer to a const array. */
static const char *
call_args(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *name)
{
	bool array = type->kind == RR_XDR_NAMED &&
		     rr_xdr_leaf(&type->definition->declaration)->shape == RR_XDR_FIXED;

	if (type->kind == RR_XDR_VOID)
		return "";
	return rr_xdr_format(
		emitter->compiler, " %s%s *%s,", array ? "" : "const ", rr_xdr_c_type(type), name);
}

/* Returns the C text of the parameter that gets the result of the call, with a comma behind it; or "" if the
 * procedure has no result. */
static const char *
call_result(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *name)
{
	if (type->kind == RR_XDR_VOID)
		return "";
	return rr_xdr_format(emitter->compiler, " %s *%s,", rr_xdr_c_type(type), name);
}

/* Writes a C function that calls the procedure as a client. */
static void
call_emit(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version,
	const struct rr_xdr_procedure *procedure)
{
	struct rr_xdr_compiler *compiler = emitter->compiler;
	const char *prefix = compiler->program_prefix;
	const char *client = rr_xdr_local(compiler, "client"), *config = rr_xdr_local(compiler, "config");
	const char *args = rr_xdr_local(compiler, "args"), *result = rr_xdr_local(compiler, "result");
	const char *name = rr_xdr_local(
		compiler, rr_xdr_format(compiler, "%s%s_call_%s", prefix, version->name, procedure->name));

	rr_xdr_line(emitter, "\nstatic inline int");
	rr_xdr_line(emitter, "%s(struct rpcrdma_client *%s,%s%s const struct rpcrdma_call_config *%s)", name,
		client, call_args(emitter, procedure->args, args),
		call_result(emitter, procedure->result, result), config);
	rr_xdr_line(emitter, "{\n\treturn rpcrdma_client_call_procedure(%s, &%s%s_program, %" PRIu64 "u,",
		client, prefix, version->name, procedure->number.number.magnitude);
	rr_xdr_line(emitter, "\t\t%s, %s, %s);\n}", procedure->args->kind == RR_XDR_VOID ? "NULL" : args,
		procedure->result->kind == RR_XDR_VOID ? "NULL" : result, config);
}

void
rr_xdr_emit_calls(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version)
{
	for (const struct rr_xdr_procedure *procedure = version->procedures; procedure;
		procedure = procedure->next)
		call_emit(emitter, version, procedure);
}
