/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/emit/emit.h"

/* Finds the name of a type in C at the place of its use. */

bool
rr_xdr_is_struct(const struct rr_xdr_definition *definition)
{
	enum rr_xdr_kind kind = definition->declaration.type->kind;

	return definition->what == RR_XDR_TYPE && definition->declaration.shape == RR_XDR_PLAIN &&
	       (kind == RR_XDR_STRUCT || kind == RR_XDR_UNION);
}

bool
rr_xdr_has_tag(const struct rr_xdr_definition *definition)
{
	return rr_xdr_is_struct(definition) || (definition->declaration.shape == RR_XDR_PLAIN &&
						       definition->declaration.type->kind == RR_XDR_ENUM);
}

/* Whether the type, or a type that is declared within it, has a member with this name. */
static bool
scope_is_member(const struct rr_xdr_type *type, const char *name)
{
	if (type->discriminant && (strcmp(type->discriminant->name, name) == 0 ||
					  scope_is_member(type->discriminant->type, name)))
		return true;
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		if ((member->name && strcmp(member->name, name) == 0) || scope_is_member(member->type, name))
			return true;
	}
	return false;
}

/* Whether a member of the definition has this name in C. Generated structs also have members that the schema
 * does not have: u, count and values. */
static bool
scope_is_hidden(const struct rr_xdr_definition *definition, const char *name)
{
	static const char *const own[] = { "u", "count", "values" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (strcmp(name, own[i]) == 0)
			return true;
	}
	return scope_is_member(definition->declaration.type, name);
}

/* Returns the second name of a type, xdr_type_NAME, by which a struct can use the type where a member of that
 * struct has the type's own name. Underscores follow if the schema has this name, too. */
static const char *
scope_alias_of(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition)
{
	return rr_xdr_local(
		emitter->compiler, rr_xdr_format(emitter->compiler, "xdr_type_%s", definition->name));
}

void
rr_xdr_emit_aliases(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition,
	const struct rr_xdr_type *type)
{
	struct rr_xdr_definition *used = type->kind == RR_XDR_NAMED ? type->definition : NULL;

	if (used && !used->aliased && scope_is_hidden(definition, used->name) && !rr_xdr_has_tag(used)) {
		rr_xdr_line(emitter, "typedef %s %s;", used->name, scope_alias_of(emitter, used));
		used->aliased = true;
	}
	if (type->discriminant)
		rr_xdr_emit_aliases(emitter, definition, type->discriminant->type);
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
		rr_xdr_emit_aliases(emitter, definition, member->type);
}

/* Returns the C text that names a type inside the struct that is being written. If the struct has a member
 * with the same name as the type, C++ hides the type there: so a struct or enum is named with its keyword,
 * and another type by a second name. */
const char *
rr_xdr_type_in_scope(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type)
{
	const struct rr_xdr_definition *used = type->definition;

	if (type->kind != RR_XDR_NAMED || !scope_is_hidden(emitter->current, used->name))
		return rr_xdr_c_type(type);
	if (rr_xdr_has_tag(used))
		return rr_xdr_format(
			emitter->compiler, "%s %s", rr_xdr_is_struct(used) ? "struct" : "enum", used->name);
	return scope_alias_of(emitter, used);
}
