/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/compiler.h"

const struct rr_xdr_declaration *
rr_xdr_leaf(const struct rr_xdr_declaration *declaration)
{
	while (declaration->shape == RR_XDR_PLAIN && declaration->type->kind == RR_XDR_NAMED)
		declaration = &declaration->type->definition->declaration;
	return declaration;
}

const struct rr_xdr_declaration *
rr_xdr_tail(const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *declaration = &definition->declaration;
	const struct rr_xdr_declaration *last, *leaf;

	if (declaration->shape != RR_XDR_PLAIN || declaration->type->kind != RR_XDR_STRUCT)
		return NULL;
	for (last = declaration->type->members; last->next;)
		last = last->next;
	leaf = rr_xdr_leaf(last);
	if (leaf->shape != RR_XDR_OPTIONAL || leaf->type->kind != RR_XDR_NAMED)
		return NULL;
	return leaf->type->definition == definition ? last : NULL;
}

/* A search along all references; each definition is visited once. (It is not the walk of xdr/walk.h, which
 * goes through an encoded message.) */
struct walk {
	const struct rr_xdr_definition *target; /* NULL: looks for a marked declaration */
	bool tails;                             /* follow the tails of lists, too */
	unsigned visit;                         /* the number of this search */
};

static bool walk_definition(const struct walk *walk, struct rr_xdr_definition *definition);

/* Whether a value of the declaration can contain what the search looks for: a value of the type walk->target
 * or, if target is NULL, data that may travel in a chunk (`placed`). */
static bool
walk_declaration(const struct walk *walk, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_type *type = declaration->type;

	if (!walk->target && declaration->placed)
		return true;
	if (type->kind == RR_XDR_NAMED)
		return type->definition == walk->target || walk_definition(walk, type->definition);
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		if (walk_declaration(walk, member))
			return true;
	}
	return false;
}

/* Whether a member of the definition can contain what the search looks for: a value of the type walk->target
 * or, if target is NULL, data that may travel in a chunk. If walk->tails is false, the member by which a
 * linked list goes on is not searched. */
static bool
walk_members(const struct walk *walk, const struct rr_xdr_definition *definition)
{
	const struct rr_xdr_declaration *tail = walk->tails ? NULL : rr_xdr_tail(definition);
	const struct rr_xdr_declaration *member = definition->declaration.type->members;

	for (; member; member = member->next) {
		if (member != tail && walk_declaration(walk, member))
			return true;
	}
	return false;
}

/* Whether a value of the definition can contain what the search looks for: a value of the type walk->target
 * or, if target is NULL, data that may travel in a chunk. Returns false if the search has visited the
 * definition already. */
static bool
walk_definition(const struct walk *walk, struct rr_xdr_definition *definition)
{
	if (definition->visited == walk->visit)
		return false;
	definition->visited = walk->visit;
	/* Another name for a type has no members, and so no tail of a list that could be left out. */
	if (definition->declaration.type->kind == RR_XDR_NAMED)
		return walk_declaration(walk, &definition->declaration);
	return walk_members(walk, definition);
}

bool
rr_xdr_reaches(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *from,
	const struct rr_xdr_definition *to, bool tails)
{
	/* Each search has a number of its own, so that it visits no definition twice. */
	const struct walk walk = { to, tails, ++compiler->visits };

	return walk_definition(&walk, from);
}

bool
rr_xdr_reaches_mark(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	/* Without a target, the search looks for declarations with a mark. */
	const struct walk walk = { NULL, true, ++compiler->visits };

	return walk_definition(&walk, definition);
}
