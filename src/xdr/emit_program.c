/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <rpcrdma/xdr.h>

#include "xdr/emit.h"

/* ---- Codecs behind void pointers, as the table wants them ---- */

static const char *
suffix_of(const struct rr_xdr_type *type)
{
	return type->kind < RR_XDR_SCALARS ? rr_xdr_scalars[type->kind].codec : type->name;
}

static void
emit_wrappers_of_scalar(struct rr_xdr_emitter *emitter, const struct rr_xdr_scalar *scalar)
{
	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_get_%s(struct rpcrdma_xdr_reader *%s, void *%s)", scalar->codec,
		emitter->reader, emitter->value);
	rr_xdr_line(emitter, "{\n\t*(%s *)%s = rpcrdma_get_%s(%s);\n}", scalar->c_type, emitter->value,
		scalar->codec, emitter->reader);
	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_put_%s(struct rpcrdma_xdr_writer *%s, const void *%s)", scalar->codec,
		emitter->writer, emitter->value);
	rr_xdr_line(emitter, "{\n\trpcrdma_put_%s(%s, *(const %s *)%s);\n}", scalar->codec, emitter->writer,
		scalar->c_type, emitter->value);
}

/* ISO C has no conversion to a pointer to a const array: only a const struct has const arrays. */
static void
emit_put_of_array(struct rr_xdr_emitter *emitter, const char *name)
{
	rr_xdr_line(emitter, "{\n\tconst struct {\n\t\t%s array;\n\t} *%s = %s;\n", name, emitter->holder,
		emitter->value);
	rr_xdr_line(emitter, "\t%sput_%s(%s, &%s->array);\n}", emitter->compiler->codec_prefix, name,
		emitter->writer, emitter->holder);
}

static void
emit_wrappers_of_type(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition)
{
	const char *name = definition->name;

	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_get_%s(struct rpcrdma_xdr_reader *%s, void *%s)", name, emitter->reader,
		emitter->value);
	rr_xdr_line(emitter, "{\n\t%sget_%s(%s, %s);\n}", emitter->compiler->codec_prefix, name,
		emitter->reader, emitter->value);
	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_put_%s(struct rpcrdma_xdr_writer *%s, const void *%s)", name,
		emitter->writer, emitter->value);
	if (rr_xdr_leaf(&definition->declaration)->shape == RR_XDR_FIXED)
		emit_put_of_array(emitter, name);
	else
		rr_xdr_line(emitter, "{\n\t%sput_%s(%s, %s);\n}", emitter->compiler->codec_prefix, name,
			emitter->writer, emitter->value);
}

/* Once for each type that a procedure of the schema takes or returns. */
static void
emit_wrappers(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_VOID)
		return;
	if (type->kind < RR_XDR_SCALARS) {
		if (!(emitter->wrapped_scalars & 1u << type->kind))
			emit_wrappers_of_scalar(emitter, &rr_xdr_scalars[type->kind]);
		emitter->wrapped_scalars |= 1u << type->kind;
		return;
	}
	if (!type->definition->wrapped)
		emit_wrappers_of_type(emitter, type->definition);
	type->definition->wrapped = true;
}

/* ---- The tables ---- */

static void
emit_limit(struct rr_xdr_emitter *emitter, const char *field, const char *suffix, uint32_t limit)
{
	if (limit == RPCRDMA_XDR_UNBOUNDED)
		rr_xdr_line(emitter, ".%s_%s = RPCRDMA_XDR_UNBOUNDED,", field, suffix);
	else
		rr_xdr_line(emitter, ".%s_%s = %" PRIu32 ",", field, suffix, limit);
}

/* The members for the arguments, or for the result. */
static void
emit_side(struct rr_xdr_emitter *emitter, const char *field, const struct rr_xdr_type *type)
{
	struct rr_xdr_size size = rr_xdr_size(emitter->compiler, type);
	uint32_t entry = rr_walk_entry(&emitter->walk, type);

	if (type->kind == RR_XDR_VOID)
		return;
	if (entry)
		rr_xdr_line(emitter, ".%s_walk = %" PRIu32 ",", field, entry);
	rr_xdr_line(emitter, ".%s_min = %" PRIu32 ",", field, size.min);
	rr_xdr_line(emitter, ".%s_size = sizeof(%s),", field, rr_xdr_c_type(type));
	emit_limit(emitter, field, "max", size.max);
	emit_limit(emitter, field, "items", size.items);
	emit_limit(emitter, field, "item_max", size.item_max);
	rr_xdr_line(emitter, ".get_%s = call_get_%s,", field, suffix_of(type));
	rr_xdr_line(emitter, ".put_%s = call_put_%s,", field, suffix_of(type));
}

static void
emit_procedures(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version)
{
	fputc('\n', emitter->out);
	rr_xdr_open(emitter, "static const struct rpcrdma_procedure %s_procedures[] =", version->name);
	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
		rr_xdr_open(emitter, "[%s] =", p->name);
		rr_xdr_line(emitter, ".name = \"%s\",", p->name);
		emit_side(emitter, "args", p->args);
		emit_side(emitter, "result", p->result);
		rr_xdr_close(emitter, ",");
	}
	rr_xdr_close(emitter, ";");
}

static void
emit_version(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program,
	const struct rr_xdr_version *version)
{
	const char *name = version->name;

	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
		emit_wrappers(emitter, p->args);
		emit_wrappers(emitter, p->result);
	}
	emit_procedures(emitter, version);
	fputc('\n', emitter->out);
	rr_xdr_open(emitter, "const struct rpcrdma_program %s%s_program =", emitter->compiler->program_prefix,
		name);
	rr_xdr_line(emitter, ".name = \"%s\",", name);
	rr_xdr_line(emitter, ".prog = %s,", program->name);
	rr_xdr_line(emitter, ".vers = %s,", name);
	rr_xdr_line(
		emitter, ".procedure_count = sizeof(%s_procedures) / sizeof(*%s_procedures),", name, name);
	rr_xdr_line(emitter, ".procedures = %s_procedures,", name);
	if (emitter->walk.length > 0)
		rr_xdr_line(emitter, ".walk = %s,", emitter->walk_name);
	rr_xdr_close(emitter, ";");
}

void
rr_xdr_emit_program(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program)
{
	for (const struct rr_xdr_version *version = program->versions; version; version = version->next)
		emit_version(emitter, program, version);
}
