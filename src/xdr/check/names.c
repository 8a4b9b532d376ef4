/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* Whether the member cannot have `name` in C: the name is reserved, or that of a macro or of another
 * member. */
static bool
names_is_taken(const struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type,
	const struct rr_xdr_declaration *member, const char *name)
{
	const struct rr_xdr_name *known = rr_xdr_find_in_c(compiler, name);

	/* Constants are macros in C, which would replace members of the same name. */
	if (rr_xdr_is_reserved(name) ||
		(known && (known->kind == RR_XDR_NAME_CONST || known->kind == RR_XDR_NAME_OTHER)))
		return true;
	/* In C the arms of a union are the members of a union with this name. */
	if (member == type->discriminant)
		return strcmp(name, "u") == 0;
	for (const struct rr_xdr_declaration *other = type->members; other; other = other->next) {
		if (other != member && other->name && strcmp(other->name, name) == 0)
			return true;
	}
	return false;
}

/* Appends underscores to the name of a member until C accepts the name, and warns of the new name. */
static void
names_rename_member(
	struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type, struct rr_xdr_declaration *member)
{
	const char *name = member->name;

	if (!name)
		return;
	while (names_is_taken(compiler, type, member, name) && !compiler->error)
		name = rr_xdr_format(compiler, "%s_", name);
	if (name != member->name)
		rr_xdr_warn(compiler, member->position, "%s has a meaning in C or C++: its name there is %s",
			member->name, name);
	member->name = name;
}

void
rr_xdr_rename_members(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	struct rr_xdr_type *type = declaration->type;

	if (type->discriminant) {
		names_rename_member(compiler, type, type->discriminant);
		rr_xdr_rename_members(compiler, type->discriminant);
	}
	for (struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		names_rename_member(compiler, type, member);
		rr_xdr_rename_members(compiler, member);
	}
}
