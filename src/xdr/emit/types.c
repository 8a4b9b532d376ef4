/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/emit/emit.h"

/* Writes the types of the schema as types of C. */

static void emit_member(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *before);

/* Writes, for each name of an enum, a line of C with the name and its number. */
static void
emit_enumerators(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	for (const struct rr_xdr_enumerator *e = type->enumerators; e; e = e->next) {
		struct rr_xdr_value number = e->value;

		number.c_name = NULL; /* the constant may be an enumerator that C defines later */
		rr_xdr_line(
			emitter, "%s = %s%s", e->name, rr_xdr_number(emitter, &number), e->next ? "," : "");
	}
}

/* Writes the C members of an XDR union: its discriminant, and a C union `u` with a member for each arm. The
 * union is left out if all arms are void. */
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

/* Writes what stands between the braces of an enum, struct or union. */
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

/* Writes a C declaration of `name` with the type, which is a name or a whole struct or enum. `before` is the
 * text in front of it, for example "typedef ". */
static void
emit_object(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *before, const char *name)
{
	if (type->kind < RR_XDR_SCALARS || type->kind == RR_XDR_NAMED) {
		rr_xdr_line(emitter, "%s%s %s;", before, rr_xdr_type_in_scope(emitter, type), name);
		return;
	}
	rr_xdr_open(emitter, "%s%s", before, type->kind == RR_XDR_ENUM ? "enum" : "struct");
	emit_inside(emitter, type);
	rr_xdr_close(emitter, rr_xdr_format(emitter->compiler, " %s;", name));
}

/* Writes the C declaration of opaque data or a string: an array if its length is fixed, else a struct
 * rpcrdma_bytes. `before` is the text in front of it. */
static void
emit_octets(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *before)
{
	if (declaration->shape == RR_XDR_FIXED)
		rr_xdr_line(emitter, "%suint8_t %s[%s];", before, declaration->name,
			rr_xdr_bound(emitter, declaration));
	else
		rr_xdr_line(emitter, "%sstruct rpcrdma_bytes %s;", before, declaration->name);
}

/* Writes the C declaration that stands for a declaration of the schema: an object, a pointer, an array, or a
 * struct of count and values. `before` is the text in front of it. */
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

/* Whether the definition gives a type the name that C has for that type already: some schemas define names
 * such as uint32_t. */
static bool
types_is_known(const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *declaration = &definition->declaration;

	return declaration->shape == RR_XDR_PLAIN && declaration->type->kind < RR_XDR_SCALARS &&
	       strcmp(rr_xdr_c_type(declaration->type), definition->name) == 0;
}

void
rr_xdr_emit_type(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *declaration = &definition->declaration;

	emitter->current = definition;
	if (types_is_known(definition))
		return;
	fputc('\n', emitter->out);
	rr_xdr_emit_aliases(emitter, definition, declaration->type);
	if (rr_xdr_is_struct(definition)) {
		rr_xdr_open(emitter, "struct %s", definition->name);
		emit_inside(emitter, declaration->type);
		rr_xdr_close(emitter, ";");
	} else if (rr_xdr_has_tag(definition)) {
		rr_xdr_open(emitter, "typedef enum %s", definition->name);
		emit_inside(emitter, declaration->type);
		rr_xdr_close(emitter, rr_xdr_format(emitter->compiler, " %s;", definition->name));
	} else
		emit_member(emitter, declaration, "typedef ");
}
