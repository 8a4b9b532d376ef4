/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <rpcrdma/xdr.h>

#include "xdr/emit/emit.h"

/* ---- Codecs behind void pointers, as the table wants them ---- */

/* Returns the end of the name of the functions with void pointers for a type: call_get_SUFFIX and
 * call_put_SUFFIX. */
static const char *
program_suffix_of(const struct rr_xdr_type *type)
{
	return type->kind < RR_XDR_SCALARS ? rr_xdr_scalars[type->kind].codec : type->definition->name;
}

/* Writes the functions that decode and encode a scalar, with void pointers as parameters, so that the table
 * of procedures can refer to them. */
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

/* Writes the body of a function that encodes an array. The function gets the array's address as a pointer to
 * const void. The body converts the address by way of a struct that contains the array, as ISO C has no
 * conversion to a pointer to a const array. */
static void
emit_put_of_array(struct rr_xdr_emitter *emitter, const char *name)
{
	rr_xdr_line(emitter, "{\n\tconst struct {\n\t\t%s array;\n\t} *%s = (__typeof__(%s))%s;\n", name,
		emitter->holder, emitter->holder, emitter->value);
	rr_xdr_line(emitter, "\t%sput_%s(%s, &%s->array);\n}", emitter->compiler->codec_prefix, name,
		emitter->writer, emitter->holder);
}

/* Writes the functions that decode and encode a named type, with void pointers as parameters, so that the
 * table of procedures can refer to them. */
static void
emit_wrappers_of_type(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition)
{
	const char *name = definition->name;

	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_get_%s(struct rpcrdma_xdr_reader *%s, void *%s)", name, emitter->reader,
		emitter->value);
	rr_xdr_line(emitter, "{\n\t%sget_%s(%s, (%s *)%s);\n}", emitter->compiler->codec_prefix, name,
		emitter->reader, name, emitter->value);
	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "call_put_%s(struct rpcrdma_xdr_writer *%s, const void *%s)", name,
		emitter->writer, emitter->value);
	if (rr_xdr_leaf(&definition->declaration)->shape == RR_XDR_FIXED)
		emit_put_of_array(emitter, name);
	else
		rr_xdr_line(emitter, "{\n\t%sput_%s(%s, (const %s *)%s);\n}", emitter->compiler->codec_prefix,
			name, emitter->writer, name, emitter->value);
}

/* Writes the functions with void pointers that decode and encode a type which a procedure takes or returns,
 * once for each type. */
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

/* Writes two members of a procedure's entry in the table of procedures: the number for its arguments, and the
 * number for its result. Behind them, writes a comment with the members' names, as initialisers in C++ cannot
 * name members as those in C do. */
static void
emit_pair(struct rr_xdr_emitter *emitter, const char *comment, uint32_t of_args, uint32_t of_result)
{
	rr_xdr_line(emitter, "%" PRIu32 "u, %" PRIu32 "u, /* %s */", of_args, of_result, comment);
}

/* Returns the size of a type as C text, for the table of procedures: "0" for void. */
static const char *
program_size_of(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_VOID)
		return "0";
	return rr_xdr_format(emitter->compiler, "sizeof(%s)", rr_xdr_c_type(type));
}

/* Returns, as C text, the name of the function with void pointers that decodes (verb "get") or encodes
 * ("put") a type; "NULL" for void. */
static const char *
program_call_of(struct rr_xdr_emitter *emitter, const char *verb, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_VOID)
		return "NULL";
	return rr_xdr_format(emitter->compiler, "call_%s_%s", verb, program_suffix_of(type));
}

/* Writes the entry of a procedure in the table of procedures: its name, sizes, functions that decode and
 * encode, and where the walk's code for its arguments and result begins. A walk goes by this code through an
 * encoded message. */
static void
emit_procedure(struct rr_xdr_emitter *emitter, const struct rr_xdr_procedure *procedure)
{
	const struct rr_xdr_type *args = procedure->args, *result = procedure->result;
	struct rr_xdr_size a = rr_xdr_size(emitter->compiler, args);
	struct rr_xdr_size r = rr_xdr_size(emitter->compiler, result);

	rr_xdr_line(emitter, "{");
	emitter->indent++;
	rr_xdr_line(emitter, "\"%s\", %s, %s,", procedure->name, program_size_of(emitter, args),
		program_size_of(emitter, result));
	emit_pair(emitter, "min", a.min, r.min);
	emit_pair(emitter, "max", a.max, r.max);
	emit_pair(emitter, "items", a.items, r.items);
	emit_pair(emitter, "item_max", a.item_max, r.item_max);
	rr_xdr_line(emitter, "%s, %s,", program_call_of(emitter, "get", args),
		program_call_of(emitter, "put", args));
	rr_xdr_line(emitter, "%s, %s,", program_call_of(emitter, "get", result),
		program_call_of(emitter, "put", result));
	emit_pair(
		emitter, "walk", rr_walk_entry(&emitter->walk, args), rr_walk_entry(&emitter->walk, result));
	rr_xdr_close(emitter, ",");
}

/* Returns the procedure of the version that has this number, or NULL if there is none. */
static const struct rr_xdr_procedure *
program_find_procedure(const struct rr_xdr_version *version, uint64_t number)
{
	const struct rr_xdr_procedure *procedure = version->procedures;

	while (procedure && procedure->number.number.magnitude != number)
		procedure = procedure->next;
	return procedure;
}

/* Writes the table of a version's procedures, with an entry for each number up to the highest. Numbers
 * without a procedure have an empty entry. */
static void
emit_procedures(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version)
{
	uint64_t highest = 0;

	for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next)
		highest = p->number.number.magnitude > highest ? p->number.number.magnitude : highest;
	fputc('\n', emitter->out);
	rr_xdr_open(emitter, "static const struct rpcrdma_procedure %s_procedures[] =", version->name);
	for (uint64_t i = 0; i <= highest; i++) {
		const struct rr_xdr_procedure *procedure = program_find_procedure(version, i);

		if (procedure)
			emit_procedure(emitter, procedure);
		else
			rr_xdr_line(emitter,
				"{ NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0 },");
	}
	rr_xdr_close(emitter, ";");
}

/* Writes the table of a version and the table of its procedures. Before the tables, writes the functions to
 * which they refer. */
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
	rr_xdr_line(emitter, "\"%s\", %s, %s,", name, program->name, version->c_name);
	rr_xdr_line(
		emitter, "sizeof(%s_procedures) / sizeof(*%s_procedures), %s_procedures,", name, name, name);
	rr_xdr_line(emitter, "%s,", emitter->walk.length > 0 ? emitter->walk_name : "NULL");
	rr_xdr_close(emitter, ";");
}

void
rr_xdr_emit_program(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program)
{
	for (const struct rr_xdr_version *version = program->versions; version; version = version->next)
		emit_version(emitter, program, version);
}
