/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* Finds the definitions of the types that declarations refer to, and the numbers of their sizes. */

/* Makes a definition for a type that the schema does not define, and warns the user: a header that the
 * generated code includes must define the type and the functions that encode and decode it. Returns NULL if
 * there is no memory. */
static struct rr_xdr_definition *
types_declare_foreign(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	struct rr_xdr_definition *definition = rr_xdr_alloc(compiler, sizeof(*definition));
	struct rr_xdr_type *foreign = rr_xdr_alloc(compiler, sizeof(*foreign));
	struct rr_xdr_name *name;

	rr_xdr_warn(compiler, type->position,
		"%s is not defined here: a header has to be included that does so", type->name);
	name = rr_xdr_define_foreign(compiler, RR_XDR_NAME_TYPE, type->name, type->position);
	if (!definition || !foreign || !name)
		return NULL;
	foreign->kind = RR_XDR_FOREIGN;
	foreign->name = type->name;
	foreign->position = type->position;
	foreign->is_tag = type->is_tag;
	definition->what = RR_XDR_TYPE;
	definition->position = type->position;
	definition->name = name->c_name;
	definition->declaration.position = type->position;
	definition->declaration.name = definition->name;
	definition->declaration.type = foreign;
	name->definition = definition;
	*compiler->foreign_end = definition;
	compiler->foreign_end = &definition->after;
	return definition;
}

/* Finds the definition of the declaration's named type: in the schema, among the types of Sun's RPC library
 * and of C, or else as a type that another header must define. */
static void
types_resolve_name(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	struct rr_xdr_type *type = declaration->type;
	const struct rr_xdr_name *name = rr_xdr_find(compiler, type->name);

	if (!name && rr_xdr_resolve_known(compiler, declaration))
		return;
	if (!name)
		type->definition = types_declare_foreign(compiler, type);
	else if (name->kind != RR_XDR_NAME_TYPE)
		rr_xdr_error(compiler, type->position, "%s (line %u) is not a type", type->name,
			name->position.line);
	else
		type->definition = name->definition;
}

/* Reports an array size that is not a number of 32 bits. RFC 4506, section 6.4: "Only unsigned constants may
 * be used as size specifications for arrays." The section also demands that an identifier "have been declared
 * previously as an unsigned constant"; this is not checked, as rpcgen accepts any number. */
static void
types_resolve_size(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_value *size = &declaration->size;

	if (!size->foreign && !rr_xdr_is_u32(size->number))
		rr_xdr_error(compiler, size->position, "%s is no size, expected 0 to 4294967295", size->text);
}

bool
rr_xdr_is_empty(const struct rr_xdr_declaration *declaration)
{
	return declaration->shape == RR_XDR_FIXED && !declaration->size.foreign &&
	       declaration->size.number.magnitude == 0;
}

/* Removes members that are arrays of no elements, as C has no such member; an arm of a union becomes void
 * instead. RFC 5531, section 9, for example, has `opaque results[0]` for results whose type is not known.
 * Reports a struct that has no other members. */
static void
types_remove_empty(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type)
{
	struct rr_xdr_declaration **link = &type->members;

	while (*link) {
		struct rr_xdr_declaration *member = *link;

		if (rr_xdr_is_empty(member) && type->kind == RR_XDR_STRUCT) {
			*link = member->next;
			continue;
		}
		if (rr_xdr_is_empty(member)) {
			member->name = NULL;
			member->shape = RR_XDR_PLAIN;
			member->type->kind = RR_XDR_VOID;
		}
		link = &member->next;
	}
	if (type->kind == RR_XDR_STRUCT && !type->members)
		rr_xdr_error(compiler, type->position, "a struct without contents cannot be in C");
}

/* Reports members of a type that have the same name. RFC 4506, section 6.4: "variable names must be unique
 * within the scope of struct and union declarations" */
static void
check_unique(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		const struct rr_xdr_declaration *other = type->members;

		for (; member->name && other != member; other = other->next) {
			if (other->name && strcmp(other->name, member->name) == 0)
				rr_xdr_error(compiler, member->position, "%s is already a member, at line %u",
					member->name, other->position.line);
		}
	}
}

/* Finds the types and sizes that the discriminant and the members of a type refer to, reports members with
 * the same name, and removes empty members. */
static void
types_resolve_inside(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type)
{
	if (type->discriminant)
		rr_xdr_resolve(compiler, type->discriminant);
	for (struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		rr_xdr_resolve(compiler, member);
		if (compiler->error)
			return;
	}
	check_unique(compiler, type);
	if (type->members)
		types_remove_empty(compiler, type);
}

void
rr_xdr_resolve(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	if (compiler->error)
		return;
	if ((declaration->shape == RR_XDR_FIXED || declaration->bounded) &&
		rr_xdr_evaluate(compiler, &declaration->size))
		types_resolve_size(compiler, declaration);
	if (!compiler->error && declaration->type->kind == RR_XDR_NAMED)
		types_resolve_name(compiler, declaration);
	types_resolve_inside(compiler, declaration->type);
}
