/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <limits.h>
#include <rpcrdma/xdr.h>

#include "xdr/emit/emit.h"

/* ---- Constants ---- */

/* Returns, as C text, the value of a constant as the schema spells it, if C understands that spelling: a
 * text, a name that another header defines, or an octal or hexadecimal number (so that masks look like
 * masks). Else returns it as a decimal number. */
static const char *
header_constant_text(struct rr_xdr_emitter *emitter, const struct rr_xdr_value *value)
{
	struct rr_xdr_value number = *value;

	if (value->is_text || value->foreign || value->text[0] == '0')
		return value->text;
	number.c_name = NULL; /* C may define the name later */
	return rr_xdr_number(emitter, &number);
}

/* Writes a #define for the number of each version and of each procedure of a program. A procedure that an
 * earlier version has with the same name and number is left out. */
static void
emit_versions(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program)
{
	const struct rr_xdr_version *version = program->versions;

	for (; version; version = version->next) {
		rr_xdr_line(emitter, "#define %s %s", version->c_name,
			header_constant_text(emitter, &version->number));
		for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
			if (!p->defined)
				rr_xdr_line(emitter, "#define %s %s", p->c_name,
					header_constant_text(emitter, &p->number));
		}
	}
}

/* Writes a #define for each constant, and for each program with its versions and procedures. */
static void
emit_constants(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_definition *definition = emitter->compiler->definitions;

	fputc('\n', emitter->out);
	for (; definition; definition = definition->next) {
		if (definition->what != RR_XDR_CONST && definition->what != RR_XDR_PROGRAM)
			continue;
		rr_xdr_line(emitter, "#define %s %s", definition->name,
			header_constant_text(emitter, &definition->value));
		emit_versions(emitter, definition);
	}
}

/* ---- The rest of the header ---- */

/* Returns the largest size of a type as C text. */
static const char *
header_size_text(struct rr_xdr_emitter *emitter, uint32_t size)
{
	return size == RPCRDMA_XDR_UNBOUNDED ? "RPCRDMA_XDR_UNBOUNDED"
					     : rr_xdr_format(emitter->compiler, "%" PRIu32, size);
}

/* Writes into the header, for a type, the bounds of its encoded size and the declarations of the functions
 * that decode and encode it. */
static void
emit_interface(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	struct rr_xdr_size size = rr_xdr_size_of_definition(emitter->compiler, definition);
	const char *name = definition->name;

	fputc('\n', emitter->out);
	rr_xdr_line(emitter, "#define XDR_MIN_%s %" PRIu32, name, size.min);
	rr_xdr_line(emitter, "#define XDR_MAX_%s %s", name, header_size_text(emitter, size.max));
	rr_xdr_line(emitter, "void %sget_%s(struct rpcrdma_xdr_reader *%s, %s *%s);",
		emitter->compiler->codec_prefix, name, emitter->reader, name, emitter->value);
	rr_xdr_line(emitter, "void %sput_%s(struct rpcrdma_xdr_writer *%s, const %s *%s);",
		emitter->compiler->codec_prefix, name, emitter->writer, name, emitter->value);
}

/* Writes into the header, for each version of a program, the declaration of its table and the functions that
 * call its procedures. */
static void
emit_programs(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_definition *definition = emitter->compiler->definitions;

	for (; definition; definition = definition->next) {
		for (const struct rr_xdr_version *version = definition->versions; version;
			version = version->next) {
			fputc('\n', emitter->out);
			rr_xdr_line(emitter, "extern const struct rpcrdma_program %s%s_program;",
				emitter->compiler->program_prefix, version->name);
			rr_xdr_emit_calls(emitter, version);
		}
	}
}

/* Writes `typedef struct NAME NAME;` for each struct, so that the definitions of structs can refer to each
 * other. Does the same for types that the schema refers to as `struct NAME`, or as a union or an enum, but
 * does not define: the user of the header defines them. */
static void
emit_forward(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_definition *definition = emitter->compiler->ordered;

	fputc('\n', emitter->out);
	for (; definition; definition = definition->after) {
		if (rr_xdr_is_struct(definition))
			rr_xdr_line(emitter, "typedef struct %s %s;", definition->name, definition->name);
	}
	for (definition = emitter->compiler->foreign; definition; definition = definition->after) {
		if (definition->declaration.type->is_tag)
			rr_xdr_line(emitter, "typedef struct %s %s;", definition->name, definition->name);
	}
}

/* Writes the declarations of the functions that decode and encode a type which the schema does not define.
 * The user of the generated code must write these functions. */
static void
emit_foreign(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition)
{
	const char *name = definition->name, *prefix = emitter->compiler->codec_prefix;

	fputc('\n', emitter->out);
	rr_xdr_line(
		emitter, "/* An included header has to define this type; and another source its codecs. */");
	rr_xdr_line(emitter, "void %sget_%s(struct rpcrdma_xdr_reader *%s, %s *%s);", prefix, name,
		emitter->reader, name, emitter->value);
	rr_xdr_line(emitter, "void %sput_%s(struct rpcrdma_xdr_writer *%s, const %s *%s);", prefix, name,
		emitter->writer, name, emitter->value);
}

/* Writes those lines that the schema passes on to the header (in the schema they begin with %) that stand in
 * front of `place` in the schema. Returns the rest of the lines. */
static const struct rr_xdr_passed *
emit_passed(struct rr_xdr_emitter *emitter, const struct rr_xdr_passed *passed, unsigned place)
{
	for (; passed && passed->place < place; passed = passed->next)
		fprintf(emitter->out, "%s\n", passed->line);
	return passed;
}

/* Writes the constants and types of the schema and, at their places between these, the lines that the schema
 * passes on to the header (those that begin with %). */
static void
emit_types(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_compiler *compiler = emitter->compiler;
	const struct rr_xdr_passed *passed = compiler->passed;

	/* The lines in front of all definitions come before all macros, as they include other headers. */
	passed = emit_passed(emitter, passed, compiler->definitions ? compiler->definitions->place : 0);
	emit_constants(emitter);
	emit_forward(emitter);
	for (struct rr_xdr_definition *d = compiler->ordered; d; d = d->after) {
		passed = emit_passed(emitter, passed, d->place);
		rr_xdr_emit_type(emitter, d);
	}
	emit_passed(emitter, passed, UINT_MAX);
}

/* Whether the schema defines a program: its header then needs the client's functions. */
static bool
header_has_program(const struct rr_xdr_compiler *compiler)
{
	const struct rr_xdr_definition *definition = compiler->definitions;

	while (definition && !definition->versions)
		definition = definition->next;
	return definition;
}

void
rr_xdr_emit_header(struct rr_xdr_emitter *emitter, const char *guard)
{
	const struct rr_xdr_compiler *compiler = emitter->compiler;
	struct rr_xdr_definition *definition;

	rr_xdr_line(emitter, "/* Written by `rpcrdma xdr` from a schema: change that, not this. */");
	rr_xdr_line(emitter, "#ifndef %s", guard);
	rr_xdr_line(emitter, "#define %s", guard);
	/* The header of the library comes before all macros of the schema. */
	rr_xdr_line(emitter, "\n#include <rpcrdma/%s.h>", header_has_program(compiler) ? "client" : "xdr");
	emit_types(emitter);
	rr_xdr_line(emitter, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif");
	for (definition = compiler->foreign; definition; definition = definition->after)
		emit_foreign(emitter, definition);
	for (definition = compiler->ordered; definition; definition = definition->after)
		emit_interface(emitter, definition);
	rr_xdr_emit_walk_entries(emitter);
	emit_programs(emitter);
	rr_xdr_line(emitter, "\n#ifdef __cplusplus\n}\n#endif");
	rr_xdr_line(emitter, "\n#endif");
}
