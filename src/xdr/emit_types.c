/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <rpcrdma/xdr.h>
#include <string.h>

#include "xdr/emit.h"

/* ---- Types ---- */

static void emit_member(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *before);

static void
emit_enumerators(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	for (const struct rr_xdr_enumerator *e = type->enumerators; e; e = e->next) {
		struct rr_xdr_value number = e->value;

		number.is_name = false; /* the constant may be an enumerator that C sees later */
		rr_xdr_line(
			emitter, "%s = %s%s", e->name, rr_xdr_number(emitter, &number), e->next ? "," : "");
	}
}

static void
emit_union_members(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	const struct rr_xdr_declaration *arm = type->members;

	emit_member(emitter, type->discriminant, "");
	while (arm && !arm->name)
		arm = arm->next;
	if (!arm)
		return;
	rr_xdr_open(emitter, "union");
	for (; arm; arm = arm->next) {
		if (arm->name)
			emit_member(emitter, arm, "");
	}
	rr_xdr_close(emitter, " u;");
}

/* What stands between the braces of an enum, struct or union. */
static void
emit_inside(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_ENUM)
		emit_enumerators(emitter, type);
	else if (type->kind == RR_XDR_UNION)
		emit_union_members(emitter, type);
	else {
		for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
			emit_member(emitter, member, "");
	}
}

/* One object of the type: `before TYPE name;` */
static void
emit_object(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *before, const char *name)
{
	if (type->kind < RR_XDR_SCALARS || type->kind == RR_XDR_NAMED) {
		rr_xdr_line(emitter, "%s%s %s;", before, rr_xdr_c_type(type), name);
		return;
	}
	rr_xdr_open(emitter, "%s%s", before, type->kind == RR_XDR_ENUM ? "enum" : "struct");
	emit_inside(emitter, type);
	rr_xdr_close(emitter, rr_xdr_format(emitter->compiler, " %s;", name));
}

static void
emit_octets(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *before)
{
	if (declaration->shape == RR_XDR_FIXED)
		rr_xdr_line(emitter, "%suint8_t %s[%s];", before, declaration->name,
			rr_xdr_bound(emitter, declaration));
	else
		rr_xdr_line(emitter, "%sstruct rpcrdma_bytes %s;", before, declaration->name);
}

static void
emit_member(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *before)
{
	const struct rr_xdr_type *type = declaration->type;
	const char *name = declaration->name;

	if (type->kind == RR_XDR_OPAQUE || type->kind == RR_XDR_STRING) {
		emit_octets(emitter, declaration, before);
		return;
	}
	switch (declaration->shape) {
	case RR_XDR_PLAIN: emit_object(emitter, type, before, name); break;
	case RR_XDR_OPTIONAL:
		emit_object(emitter, type, before, rr_xdr_format(emitter->compiler, "*%s", name));
		break;
	case RR_XDR_FIXED:
		emit_object(emitter, type, before,
			rr_xdr_format(emitter->compiler, "%s[%s]", name, rr_xdr_bound(emitter, declaration)));
		break;
	case RR_XDR_VARIABLE:
		rr_xdr_open(emitter, "%sstruct", before);
		rr_xdr_line(emitter, "uint32_t count;");
		emit_object(emitter, type, "", "*values");
		rr_xdr_close(emitter, rr_xdr_format(emitter->compiler, " %s;", name));
		break;
	}
}

static bool
is_struct(const struct rr_xdr_definition *definition)
{
	enum rr_xdr_kind kind = definition->declaration.type->kind;

	return definition->what == RR_XDR_TYPE && definition->declaration.shape == RR_XDR_PLAIN &&
	       (kind == RR_XDR_STRUCT || kind == RR_XDR_UNION);
}

/* Schemas define names such as uint32_t, which C has already. */
static bool
is_known(const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *declaration = &definition->declaration;

	return declaration->shape == RR_XDR_PLAIN && declaration->type->kind < RR_XDR_SCALARS &&
	       strcmp(rr_xdr_c_type(declaration->type), definition->name) == 0;
}

static void
emit_type(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *declaration = &definition->declaration;

	if (is_known(definition))
		return;
	fputc('\n', emitter->out);
	if (is_struct(definition)) {
		rr_xdr_open(emitter, "struct %s", definition->name);
		emit_inside(emitter, declaration->type);
		rr_xdr_close(emitter, ";");
	} else if (declaration->shape == RR_XDR_PLAIN && declaration->type->kind == RR_XDR_ENUM) {
		rr_xdr_open(emitter, "typedef enum %s", definition->name);
		emit_inside(emitter, declaration->type);
		rr_xdr_close(emitter, rr_xdr_format(emitter->compiler, " %s;", definition->name));
	} else
		emit_member(emitter, declaration, "typedef ");
}

/* ---- Constants ---- */

static void
emit_versions(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program)
{
	const struct rr_xdr_version *version = program->versions;

	for (; version; version = version->next) {
		rr_xdr_line(
			emitter, "#define %s %s", version->name, rr_xdr_number(emitter, &version->number));
		for (const struct rr_xdr_procedure *p = version->procedures; p; p = p->next) {
			if (!p->defined)
				rr_xdr_line(emitter, "#define %s %s", p->name,
					rr_xdr_number(emitter, &p->number));
		}
	}
}

static void
emit_constants(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_definition *definition = emitter->compiler->definitions;

	fputc('\n', emitter->out);
	for (; definition; definition = definition->next) {
		if (definition->what == RR_XDR_TYPE)
			continue;
		/* As it is spelled where C understands that, so that masks look like masks. */
		rr_xdr_line(emitter, "#define %s %s", definition->name,
			definition->value.text[0] == '0' ? definition->value.text
							 : rr_xdr_number(emitter, &definition->value));
		emit_versions(emitter, definition);
	}
}

/* ---- The rest of the header ---- */

static const char *
size_text(struct rr_xdr_emitter *emitter, uint32_t size)
{
	return size == RPCRDMA_XDR_UNBOUNDED ? "RPCRDMA_XDR_UNBOUNDED"
					     : rr_xdr_format(emitter->compiler, "%" PRIu32, size);
}

static void
emit_interface(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	struct rr_xdr_size size = rr_xdr_size_of_definition(emitter->compiler, definition);
	const char *name = definition->name;

	fputc('\n', emitter->out);
	rr_xdr_line(emitter, "#define XDR_MIN_%s %" PRIu32, name, size.min);
	rr_xdr_line(emitter, "#define XDR_MAX_%s %s", name, size_text(emitter, size.max));
	rr_xdr_line(emitter, "void %sget_%s(struct rpcrdma_xdr_reader *%s, %s *%s);",
		emitter->compiler->codec_prefix, name, emitter->reader, name, emitter->value);
	rr_xdr_line(emitter, "void %sput_%s(struct rpcrdma_xdr_writer *%s, const %s *%s);",
		emitter->compiler->codec_prefix, name, emitter->writer, name, emitter->value);
}

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
		}
	}
}

static void
emit_forward(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_definition *definition = emitter->compiler->ordered;

	fputc('\n', emitter->out);
	for (; definition; definition = definition->after) {
		if (is_struct(definition))
			rr_xdr_line(emitter, "typedef struct %s %s;", definition->name, definition->name);
	}
}

void
rr_xdr_emit_header(struct rr_xdr_emitter *emitter, const char *guard)
{
	const struct rr_xdr_compiler *compiler = emitter->compiler;
	struct rr_xdr_definition *definition;

	rr_xdr_line(emitter, "/* Written by `rpcrdma xdr` from a schema: change that, not this. */");
	rr_xdr_line(emitter, "#ifndef %s", guard);
	rr_xdr_line(emitter, "#define %s", guard);
	rr_xdr_line(emitter, "\n#include <rpcrdma/xdr.h>");
	for (const struct rr_xdr_passed *passed = compiler->passed; passed; passed = passed->next)
		rr_xdr_line(emitter, "%s", passed->line);
	emit_constants(emitter);
	emit_forward(emitter);
	for (definition = compiler->ordered; definition; definition = definition->after)
		emit_type(emitter, definition);
	for (definition = compiler->ordered; definition; definition = definition->after)
		emit_interface(emitter, definition);
	rr_xdr_emit_walk_entries(emitter);
	emit_programs(emitter);
	rr_xdr_line(emitter, "\n#endif");
}
