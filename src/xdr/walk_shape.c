/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/walk_build.h"

/* Whether a definition is uniform: whether all its values take the same number of octets. The definition
 * remembers the answer (definition->uniform), as some nested schemas would take very long otherwise. */
enum { UNKNOWN, NO, YES };

bool
rr_walk_is_uniform_type(const struct rr_xdr_type *type)
{
	struct rr_xdr_definition *definition = type->definition;

	/* Even if all arms of a union have the same size, a value without an arm may have another size. */
	if (type->kind == RR_XDR_UNION || type->kind == RR_XDR_FOREIGN)
		return false;
	if (type->kind == RR_XDR_NAMED) {
		if (definition->uniform == UNKNOWN)
			definition->uniform = rr_walk_is_uniform(&definition->declaration) ? YES : NO;
		return definition->uniform == YES;
	}
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		if (!rr_walk_is_uniform(member))
			return false;
	}
	return true;
}

bool
rr_walk_is_uniform(const struct rr_xdr_declaration *declaration)
{
	if (declaration->shape == RR_XDR_VARIABLE || declaration->shape == RR_XDR_OPTIONAL ||
		(declaration->shape == RR_XDR_FIXED && declaration->size.foreign))
		return false;
	return rr_walk_is_uniform_type(declaration->type);
}

/* Returns how many words of instructions a value of the type needs in the code that moves over it. For a
 * named type with many instructions the result is 2: the code only calls the type's subroutine. */
static unsigned
shape_cost_of_type(const struct rr_xdr_type *type)
{
	struct rr_xdr_definition *definition = type->definition;
	unsigned cost = type->kind == RR_XDR_UNION ? 4 : 0;

	if (type->kind == RR_XDR_NAMED) {
		/* A linked list is a loop, and always becomes a subroutine. */
		if (definition->walk_cost == 0)
			definition->walk_cost = rr_xdr_tail(definition)
							? RR_WALK_INLINE + 1
							: rr_walk_cost(&definition->declaration);
		return definition->walk_cost <= RR_WALK_INLINE ? definition->walk_cost : 2;
	}
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		cost += rr_walk_cost(member);
		for (const struct rr_xdr_value *label = member->labels; label; label = label->next)
			cost += 2;
	}
	return cost;
}

unsigned
rr_walk_cost(const struct rr_xdr_declaration *declaration)
{
	if (declaration->shape != RR_XDR_PLAIN || rr_walk_is_uniform(declaration))
		/* An instruction with its operands takes about three words. */
		return 3;
	return shape_cost_of_type(declaration->type);
}
