/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/compiler.h"

/* Checks unions: their discriminants and the labels of their arms. */

/* Whether one of the names of an enum has this number. */
static bool
declarations_is_enumerator(const struct rr_xdr_type *type, struct rr_xdr_number number)
{
	for (const struct rr_xdr_enumerator *e = type->enumerators; e; e = e->next) {
		if (rr_xdr_same(e->value.number, number))
			return true;
	}
	return false;
}

/* Whether a discriminant of this type can have that number as its value. RFC 4506, section 6.4: "the case
 * values must be one of the legal values of the discriminant" */
static bool
declarations_is_legal(const struct rr_xdr_type *type, struct rr_xdr_number number)
{
	switch (type->kind) {
	case RR_XDR_INT: return rr_xdr_is_i32(number);
	case RR_XDR_UNSIGNED_INT: return rr_xdr_is_u32(number);
	case RR_XDR_BOOL: return !number.negative && number.magnitude <= 1;
	default: return declarations_is_enumerator(type, number);
	}
}

/* Returns an earlier label of the union, in any arm, that has the same value as `label`. Returns NULL if
 * there is no such label. */
static const struct rr_xdr_value *
declarations_find_same(const struct rr_xdr_type *type, const struct rr_xdr_value *label)
{
	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *other = arm->labels; other; other = other->next) {
			if (other == label)
				return NULL;
			if (!other->foreign && rr_xdr_same(other->number, label->number))
				return other;
		}
	}
	return NULL;
}

/* Finds the value of a label of a union. Reports an error if the discriminant cannot have the value, or if an
 * earlier label has the same value. */
static void
check_label(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type,
	const struct rr_xdr_type *discriminant, struct rr_xdr_value *label)
{
	const struct rr_xdr_value *same;

	if (!rr_xdr_evaluate(compiler, label))
		return;
	/* The C compiler finds faults of numbers that the schema does not know. */
	if (label->foreign && discriminant->kind != RR_XDR_BOOL)
		return;
	if (label->foreign || !declarations_is_legal(discriminant, label->number))
		rr_xdr_error(compiler, label->position, "%s is not a value that %s can have", label->text,
			type->discriminant->name);
	/* RFC 4506, section 6.4: "a case value may not be specified more than once" */
	same = declarations_find_same(type, label);
	if (same)
		rr_xdr_error(compiler, label->position, "there is already a case for %s, at line %u",
			label->text, same->position.line);
}

/* Reports a discriminant that is no integer, bool or enum. RFC 4506, section 6.4: "The discriminant of a
 * union must be of a type that evaluates to an integer." Returns false if this or an earlier error was
 * found. */
static bool
check_discriminant(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *discriminant)
{
	const struct rr_xdr_declaration *leaf = rr_xdr_leaf(discriminant);
	enum rr_xdr_kind kind = leaf->type->kind;
	bool integer = kind == RR_XDR_INT || kind == RR_XDR_UNSIGNED_INT || kind == RR_XDR_BOOL ||
		       kind == RR_XDR_ENUM;

	if (leaf->shape != RR_XDR_PLAIN || !integer)
		rr_xdr_error(compiler, discriminant->position,
			"a union cannot depend on this, expected an int, unsigned int, bool or enum");
	return !compiler->error;
}

/* Reports errors in the discriminant and in the labels of a union. */
static void
check_union(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	const struct rr_xdr_type *discriminant;

	if (!check_discriminant(compiler, type->discriminant))
		return;
	discriminant = rr_xdr_leaf(type->discriminant)->type;
	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		for (struct rr_xdr_value *label = arm->labels; label && !compiler->error; label = label->next)
			check_label(compiler, type, discriminant, label);
	}
}

void
rr_xdr_check_declaration(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_type *type = declaration->type;

	if (compiler->error)
		return;
	if (type->kind == RR_XDR_UNION)
		check_union(compiler, type);
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
		rr_xdr_check_declaration(compiler, member);
}
