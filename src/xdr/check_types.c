/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* Schemas, those of NFSv4 among them, leave these names of C to the compiler. */
static bool
resolve_c_name(struct rr_xdr_type *type)
{
	static const struct {
		const char *name;
		enum rr_xdr_kind kind;
	} known[] = { { "int32_t", RR_XDR_INT }, { "uint32_t", RR_XDR_UNSIGNED_INT },
		{ "int64_t", RR_XDR_HYPER }, { "uint64_t", RR_XDR_UNSIGNED_HYPER } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(type->name, known[i].name) != 0)
			continue;
		type->kind = known[i].kind;
		return true;
	}
	return false;
}

static void
resolve_name(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type)
{
	const struct rr_xdr_name *name = rr_xdr_find(compiler, type->name);

	if (!name && resolve_c_name(type))
		return;
	if (!name)
		rr_xdr_error(compiler, type->position, "%s is not defined, expected a type", type->name);
	else if (name->kind != RR_XDR_NAME_TYPE)
		rr_xdr_error(compiler, type->position, "%s (line %u) is not a type", type->name,
			name->position.line);
	else
		type->definition = name->definition;
}

static bool
is_earlier(struct rr_xdr_position a, struct rr_xdr_position b)
{
	return a.line < b.line || (a.line == b.line && a.column < b.column);
}

/* RFC 4506, section 6.4: "Only unsigned constants may be used as size specifications for arrays. If an
 * identifier is used, it must have been declared previously as an unsigned constant in a "const" definition."
 */
static void
resolve_size(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	struct rr_xdr_value *size = &declaration->size;
	const struct rr_xdr_name *name = size->is_name ? rr_xdr_find(compiler, size->text) : NULL;

	if (!rr_xdr_evaluate(compiler, size))
		return;
	if (size->is_name &&
		(!name || name->kind != RR_XDR_NAME_CONST || !is_earlier(name->position, size->position)))
		rr_xdr_error(compiler, size->position,
			"%s is no size, expected a const that was defined before", size->text);
	else if (!rr_xdr_is_u32(size->number))
		rr_xdr_error(compiler, size->position, "%s is no size, expected 0 to 4294967295", size->text);
	else if (declaration->shape == RR_XDR_FIXED && size->number.magnitude == 0)
		rr_xdr_error(compiler, size->position, "an array of fixed length has at least one element");
}

/* RFC 4506, section 6.4: "variable names must be unique within the scope of struct and union declarations" */
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

void
rr_xdr_resolve_type(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type)
{
	if (compiler->error)
		return;
	if (type->kind == RR_XDR_NAMED)
		resolve_name(compiler, type);
	if (type->discriminant)
		rr_xdr_resolve(compiler, type->discriminant);
	for (struct rr_xdr_declaration *member = type->members; member; member = member->next)
		rr_xdr_resolve(compiler, member);
	check_unique(compiler, type);
}

void
rr_xdr_resolve(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	if (declaration->name)
		rr_xdr_check_name(compiler, declaration->name, declaration->position);
	if (declaration->shape == RR_XDR_FIXED || declaration->bounded)
		resolve_size(compiler, declaration);
	rr_xdr_resolve_type(compiler, declaration->type);
}
