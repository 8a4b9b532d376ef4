/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/compiler.h"

/* The passes between the parser and the writing of C; rr_xdr_check() has their order. */

/* ---- Names ---- */

/* Returns the number plus one. */
static struct rr_xdr_number
check_successor(struct rr_xdr_number number)
{
	if (!number.negative)
		return (struct rr_xdr_number){ false, number.magnitude + 1 };
	return (struct rr_xdr_number){ number.magnitude > 1, number.magnitude - 1 };
}

/* Computes the number of each name of an enum and defines the name. As in C, a name without a value has the
 * number of the previous name plus one. inside: the enum is declared within another type. */
static void
check_define_enumerators(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type, bool inside)
{
	struct rr_xdr_enumerator *enumerator = type->enumerators;
	struct rr_xdr_number next = { 0 };

	for (; enumerator && !compiler->error; enumerator = enumerator->next) {
		struct rr_xdr_name *name;

		if (!enumerator->value.text) {
			enumerator->value.text = enumerator->name;
			enumerator->value.number = next;
		}
		if (!rr_xdr_evaluate_known(compiler, &enumerator->value))
			return;
		/* RFC 4506, section 4.3: "Enumerations have the same representation as signed integers." */
		if (!rr_xdr_is_i32(enumerator->value.number))
			rr_xdr_error(compiler, enumerator->value.position,
				"%s does not fit into an enum, expected -2147483648 to 2147483647",
				enumerator->value.text);
		name = rr_xdr_define(
			compiler, RR_XDR_NAME_ENUMERATOR, enumerator->name, enumerator->position);
		if (!name)
			return;
		name->number = enumerator->value.number;
		name->inside = inside;
		enumerator->name = name->c_name;
		next = check_successor(name->number);
	}
}

/* Defines the names of all enums in the type: of the type itself, if it is an enum, and of all enums that are
 * declared within it. inside: the type itself is declared within another type; C++ then knows the names of
 * the enum only in that other type. */
static void
check_define_inside(struct rr_xdr_compiler *compiler, struct rr_xdr_type *type, bool inside)
{
	check_define_enumerators(compiler, type, inside);
	if (type->discriminant)
		check_define_inside(compiler, type->discriminant->type, true);
	for (struct rr_xdr_declaration *member = type->members; member; member = member->next)
		check_define_inside(compiler, member->type, true);
}

/* Whether the definition is a constant named TRUE or FALSE, which some schemas define although bool has these
 * names. If so, checks the value and drops the definition. */
static bool
check_define_bool(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	bool is_true = strcmp(definition->name, "TRUE") == 0;

	if (!is_true && strcmp(definition->name, "FALSE") != 0)
		return false;
	definition->what = RR_XDR_NOTHING;
	if (!rr_xdr_evaluate_known(compiler, &definition->value))
		return true;
	if (definition->value.is_text || definition->value.number.magnitude != is_true)
		rr_xdr_error(compiler, definition->position, "%s is a value of bool, and %d",
			definition->name, is_true);
	return true;
}

void
rr_xdr_define_all(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	/* In the order of enum rr_xdr_what. */
	static const enum rr_xdr_name_kind kinds[] = { RR_XDR_NAME_CONST, RR_XDR_NAME_TYPE,
		RR_XDR_NAME_OTHER };
	struct rr_xdr_name *name;

	/* TRUE and FALSE are names already. */
	if (definition->what == RR_XDR_CONST && check_define_bool(compiler, definition))
		return;
	name = rr_xdr_define(compiler, kinds[definition->what], definition->name, definition->position);
	if (!name)
		return;
	name->definition = definition;
	definition->name = name->c_name;
	definition->declaration.name = name->c_name;
	if (definition->what == RR_XDR_TYPE)
		check_define_inside(compiler, definition->declaration.type, false);
}

/* ---- Order ---- */

static void check_order(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition);

/* For a named type, appends the definitions that C needs before it to the list compiler->ordered, in which
 * every type stands behind the types that it needs. pointed_to: the type is used behind a pointer, so C needs
 * only the name of a struct, and a struct is not appended. Reports a type that contains itself. */
static void
check_order_reference(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type, bool pointed_to)
{
	for (; type->kind == RR_XDR_NAMED && !compiler->error; type = type->definition->declaration.type) {
		struct rr_xdr_definition *definition = type->definition;
		enum rr_xdr_kind kind = definition->declaration.type->kind;
		bool plain = definition->declaration.shape == RR_XDR_PLAIN;

		/* The header declares all structs before it defines the first of them. */
		if (pointed_to && plain && (kind == RR_XDR_STRUCT || kind == RR_XDR_UNION))
			return;
		if (definition->ordered == RR_XDR_BEGUN)
			rr_xdr_error(compiler, type->position,
				"%s contains itself here, expected a struct behind a * or <>", type->name);
		check_order(compiler, definition);
		/* If the type is only another name (`typedef T x`), C needs T in the same place: the loop
		 * goes on with T. */
		if (!plain)
			return;
	}
}

/* Appends the definitions that a declaration needs, itself or by its members, to the list compiler->ordered,
 * in which every type stands behind the types that it needs. */
static void
check_order_declaration(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_type *type = declaration->type;
	/* Arrays of variable length and optional values are pointers in C, which need no definition before
	 * them. */
	bool pointed_to = declaration->shape == RR_XDR_VARIABLE || declaration->shape == RR_XDR_OPTIONAL;

	if (compiler->error)
		return;
	if (type->kind == RR_XDR_NAMED)
		check_order_reference(compiler, type, pointed_to);
	if (type->discriminant)
		check_order_declaration(compiler, type->discriminant);
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
		check_order_declaration(compiler, member);
}

/* Appends the definition to the list compiler->ordered, which is written to the header, and before it all
 * definitions that it needs, so that the list is in an order that C accepts. Does nothing if the list has the
 * definition already, or if the type is defined by another header. */
static void
check_order(struct rr_xdr_compiler *compiler, struct rr_xdr_definition *definition)
{
	if (definition->ordered != RR_XDR_NEW || definition->declaration.type->kind == RR_XDR_FOREIGN)
		return;
	definition->ordered = RR_XDR_BEGUN;
	/* For another name of a struct, C needs only the name of the struct, as behind a pointer. */
	if (definition->declaration.shape == RR_XDR_PLAIN &&
		definition->declaration.type->kind == RR_XDR_NAMED)
		check_order_reference(compiler, definition->declaration.type, true);
	else
		check_order_declaration(compiler, &definition->declaration);
	definition->ordered = RR_XDR_DONE;
	*compiler->ordered_end = definition;
	compiler->ordered_end = &definition->after;
}

/* Finds the definitions of all types and sizes that the declaration refers to, and reports an array of no
 * elements. */
static void
check_resolve_type(struct rr_xdr_compiler *compiler, struct rr_xdr_declaration *declaration)
{
	rr_xdr_resolve(compiler, declaration);
	if (rr_xdr_is_empty(declaration))
		rr_xdr_error(compiler, declaration->size.position,
			"an array of fixed length has at least one element");
}

/* ---- Marks ---- */

/* Returns the member with this name of a struct or union, or NULL if there is no such member. */
static struct rr_xdr_declaration *
check_find_member(const struct rr_xdr_definition *definition, const char *name)
{
	struct rr_xdr_declaration *member = definition->declaration.type->members;

	while (member && (!member->name || strcmp(member->name, name) != 0))
		member = member->next;
	return member;
}

/* Handles a pragma that says that a member may travel in a chunk: sets the member's flag `placed`, or reports
 * an error if the member is neither opaque data nor a string of variable length. RFC 8166, 3.4.4.3: "A union
 * data type MUST NOT be made DDP-eligible, but one or more of its arms MAY be". Optional-data must not be
 * made DDP-eligible either, RFC 8166, 3.4.4.2: its "is present" field "MUST remain in the Payload stream". */
static void
check_place(struct rr_xdr_compiler *compiler, const struct rr_xdr_mark *mark)
{
	const struct rr_xdr_name *name = rr_xdr_find(compiler, mark->type);
	struct rr_xdr_declaration *member;
	const struct rr_xdr_declaration *leaf;

	if (!name || name->kind != RR_XDR_NAME_TYPE || !name->definition->declaration.type->members) {
		rr_xdr_error(compiler, mark->position, "%s is not defined as a struct or union", mark->type);
		return;
	}
	member = check_find_member(name->definition, mark->field);
	if (!member) {
		rr_xdr_error(compiler, mark->position, "%s has no member %s", mark->type, mark->field);
		return;
	}
	leaf = rr_xdr_leaf(member);
	if (leaf->shape != RR_XDR_VARIABLE ||
		(leaf->type->kind != RR_XDR_OPAQUE && leaf->type->kind != RR_XDR_STRING))
		rr_xdr_error(compiler, mark->position,
			"%s.%s cannot be placed, expected an opaque<> or string<>", mark->type, mark->field);
	member->placed = true;
}

void
rr_xdr_check(struct rr_xdr_compiler *compiler)
{
	struct rr_xdr_definition *definition;

	for (definition = compiler->definitions; definition && !compiler->error;
		definition = definition->next)
		rr_xdr_define_all(compiler, definition);
	/* The numbers of programs may be constants that are defined further down. */
	for (definition = compiler->definitions; definition && !compiler->error;
		definition = definition->next) {
		if (definition->what == RR_XDR_PROGRAM)
			rr_xdr_define_program(compiler, definition);
	}
	/* Programs add definitions at the end of the list, and this loop comes to those, too. */
	for (definition = compiler->definitions; definition && !compiler->error;
		definition = definition->next) {
		if (definition->what == RR_XDR_CONST)
			rr_xdr_evaluate_const(compiler, definition);
		else if (definition->what == RR_XDR_TYPE)
			check_resolve_type(compiler, &definition->declaration);
		else if (definition->what == RR_XDR_PROGRAM)
			rr_xdr_check_program(compiler, definition);
	}
	for (definition = compiler->definitions; definition && !compiler->error;
		definition = definition->next) {
		if (definition->what == RR_XDR_TYPE)
			check_order(compiler, definition);
	}
	for (definition = compiler->ordered; definition && !compiler->error; definition = definition->after)
		rr_xdr_check_declaration(compiler, &definition->declaration);
	for (const struct rr_xdr_mark *mark = compiler->marks; mark && !compiler->error; mark = mark->next)
		check_place(compiler, mark);
	for (definition = compiler->ordered; definition && !compiler->error && !compiler->as_written;
		definition = definition->after)
		rr_xdr_rename_members(compiler, &definition->declaration);
}
