/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/parser.h"

enum { DEEPEST = 64 }; /* how deep bodies may stand inside bodies */

/* ---- Declarations ---- */

/* Parses the size behind a declared name, if there is one: `[SIZE]` for a fixed length, `<MAXIMUM>` or `<>`
 * for a variable length. */
static void
types_parse_size(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration)
{
	if (rr_xdr_accept(parser, "[")) {
		declaration->shape = RR_XDR_FIXED;
		declaration->size = rr_xdr_parse_value(parser);
		rr_xdr_expect(parser, "]");
	} else if (rr_xdr_accept(parser, "<")) {
		declaration->shape = RR_XDR_VARIABLE;
		declaration->bounded = !rr_xdr_sees(parser, ">");
		if (declaration->bounded)
			declaration->size = rr_xdr_parse_value(parser);
		rr_xdr_expect(parser, ">");
	}
}

/* Reports opaque data or a string that is declared without the size that the grammar demands. */
static void
check_shape(struct rr_xdr_parser *parser, const struct rr_xdr_declaration *declaration)
{
	enum rr_xdr_kind kind = declaration->type->kind;

	if (kind == RR_XDR_OPAQUE &&
		(declaration->shape == RR_XDR_PLAIN || declaration->shape == RR_XDR_OPTIONAL))
		rr_xdr_expected(parser, "[SIZE] or <MAXIMUM> of the opaque");
	if (kind == RR_XDR_STRING && declaration->shape != RR_XDR_VARIABLE)
		rr_xdr_error(parser->compiler, declaration->position,
			"a string is declared as: string %s<MAXIMUM>", declaration->name);
}

void
rr_xdr_parse_declaration(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration)
{
	declaration->position = parser->token.position;
	declaration->type = rr_xdr_parse_type(parser);
	if (!declaration->type || declaration->type->kind == RR_XDR_VOID)
		return;
	if (rr_xdr_accept(parser, "*"))
		declaration->shape = RR_XDR_OPTIONAL;
	declaration->position = parser->token.position;
	declaration->name = rr_xdr_parse_name(parser, "the name of what is declared");
	if (declaration->shape == RR_XDR_PLAIN)
		types_parse_size(parser, declaration);
	if (!parser->compiler->error)
		check_shape(parser, declaration);
}

/* Makes the declaration of an argument or result of a procedure, and parses its type. Reports opaque data, as
 * its length would not be known; strings may have any length. Returns NULL if there is no memory. */
static struct rr_xdr_declaration *
types_new_argument(struct rr_xdr_parser *parser)
{
	struct rr_xdr_declaration *declaration = rr_xdr_alloc(parser->compiler, sizeof(*declaration));

	if (!declaration)
		return NULL;
	declaration->position = parser->token.position;
	if (rr_xdr_sees(parser, "opaque"))
		rr_xdr_expected(parser, "a type with a name (see typedef)");
	declaration->type = rr_xdr_parse_type(parser);
	return declaration;
}

struct rr_xdr_declaration *
rr_xdr_parse_result(struct rr_xdr_parser *parser)
{
	struct rr_xdr_declaration *result = types_new_argument(parser);

	/* A string has a variable length; it stands here without a maximum. */
	if (result && result->type && result->type->kind == RR_XDR_STRING)
		result->shape = RR_XDR_VARIABLE;
	return result;
}

struct rr_xdr_declaration *
rr_xdr_parse_argument(struct rr_xdr_parser *parser)
{
	struct rr_xdr_declaration *argument;
	bool string;

	/* An empty list stands for void. */
	if (rr_xdr_sees(parser, ")")) {
		argument = rr_xdr_alloc(parser->compiler, sizeof(*argument));
		if (argument)
			argument->type = rr_xdr_alloc(parser->compiler, sizeof(*argument->type));
		if (argument && argument->type)
			argument->type->kind = RR_XDR_VOID;
		return argument;
	}
	argument = types_new_argument(parser);
	if (!argument || !argument->type || argument->type->kind == RR_XDR_VOID)
		return argument;
	string = argument->type->kind == RR_XDR_STRING;
	if (!string && rr_xdr_accept(parser, "*"))
		argument->shape = RR_XDR_OPTIONAL;
	argument->position = parser->token.position;
	if (parser->token.kind == RR_XDR_TOKEN_NAME)
		argument->name = rr_xdr_parse_name(parser, "the name of an argument");
	/* A string has a variable length, also without `<` and a maximum. */
	if (!string)
		return argument;
	argument->shape = RR_XDR_VARIABLE;
	if (rr_xdr_sees(parser, "<"))
		types_parse_size(parser, argument);
	return argument;
}

/* Makes a declaration and parses it. Returns NULL if there is no memory. */
static struct rr_xdr_declaration *
types_new_declaration(struct rr_xdr_parser *parser)
{
	struct rr_xdr_declaration *declaration = rr_xdr_alloc(parser->compiler, sizeof(*declaration));

	if (declaration)
		rr_xdr_parse_declaration(parser, declaration);
	return declaration;
}

/* ---- Types with a body ---- */

/* Parses the body of an enum: `{ NAME = VALUE, ... }`. The value may be left out, as in rpcgen's schemas. */
static void
types_parse_enum_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_enumerator **end = &type->enumerators;

	rr_xdr_expect(parser, "{");
	do {
		struct rr_xdr_enumerator *enumerator = rr_xdr_alloc(parser->compiler, sizeof(*enumerator));

		if (!enumerator)
			return;
		enumerator->position = parser->token.position;
		enumerator->name = rr_xdr_parse_name(parser, "the name of a value of the enum");
		enumerator->value.position = enumerator->position;
		enumerator->value.text = NULL;
		if (rr_xdr_accept(parser, "="))
			enumerator->value = rr_xdr_parse_value(parser);
		*end = enumerator;
		end = &enumerator->next;
	} while (rr_xdr_accept(parser, ","));
	rr_xdr_expect(parser, "}");
}

/* Parses the body of a struct: `{ DECLARATION; ... }`. */
static void
types_parse_struct_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_declaration **end = &type->members;

	rr_xdr_expect(parser, "{");
	do {
		struct rr_xdr_declaration *member = types_new_declaration(parser);

		if (!member)
			return;
		if (member->type && member->type->kind == RR_XDR_VOID)
			rr_xdr_error(
				parser->compiler, member->position, "a struct has no members of type void");
		rr_xdr_expect(parser, ";");
		*end = member;
		end = &member->next;
	} while (!rr_xdr_ended(parser) && !rr_xdr_sees(parser, "}"));
	rr_xdr_expect(parser, "}");
}

/* Parses the labels of one arm of a union: `case VALUE:`, once or more often, or `default:`. */
static void
types_parse_labels(struct rr_xdr_parser *parser, struct rr_xdr_declaration *arm)
{
	struct rr_xdr_value **end = &arm->labels;

	if (rr_xdr_accept(parser, "default")) {
		arm->is_default = true;
		rr_xdr_expect(parser, ":");
		return;
	}
	if (!rr_xdr_sees(parser, "case"))
		rr_xdr_expected(parser, "case or default");
	while (rr_xdr_accept(parser, "case")) {
		struct rr_xdr_value *label = rr_xdr_alloc(parser->compiler, sizeof(*label));

		if (!label)
			return;
		*label = rr_xdr_parse_value(parser);
		rr_xdr_expect(parser, ":");
		*end = label;
		end = &label->next;
	}
}

/* Parses the body of a union: `switch (DECLARATION) { case VALUE: DECLARATION; ... }`, with `default:
 * DECLARATION;` as its last arm if there is one. */
static void
types_parse_union_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_declaration **end = &type->members, *arm;

	rr_xdr_expect(parser, "switch");
	rr_xdr_expect(parser, "(");
	type->discriminant = types_new_declaration(parser);
	rr_xdr_expect(parser, ")");
	rr_xdr_expect(parser, "{");
	do {
		arm = rr_xdr_alloc(parser->compiler, sizeof(*arm));
		if (!arm)
			return;
		types_parse_labels(parser, arm);
		rr_xdr_parse_declaration(parser, arm);
		rr_xdr_expect(parser, ";");
		*end = arm;
		end = &arm->next;
	} while (!rr_xdr_ended(parser) && !arm->is_default && !rr_xdr_sees(parser, "}"));
	if (arm->is_default && rr_xdr_sees(parser, "case"))
		rr_xdr_error(
			parser->compiler, parser->token.position, "default must be the last arm of a union");
	rr_xdr_expect(parser, "}");
}

void
rr_xdr_parse_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	if (parser->depth == DEEPEST) {
		rr_xdr_error(
			parser->compiler, type->position, "types are nested too deeply, at most %d", DEEPEST);
		return;
	}
	parser->depth++;
	if (type->kind == RR_XDR_ENUM)
		types_parse_enum_body(parser, type);
	else if (type->kind == RR_XDR_STRUCT)
		types_parse_struct_body(parser, type);
	else
		types_parse_union_body(parser, type);
	parser->depth--;
}

/* ---- Types ---- */

/* Parses a spelling of int that rpcgen accepts: int, long, short, long int or short int. Returns false if
 * none of these words is next. */
static bool
types_parse_long(struct rr_xdr_parser *parser)
{
	bool found = rr_xdr_accept(parser, "long") || rr_xdr_accept(parser, "short");

	return rr_xdr_accept(parser, "int") || found;
}

/* Parses the words behind `unsigned`, and sets the kind of the type. RFC 4506 requires int or hyper there;
 * older schemas, also those of NFSv4, leave out the int. */
static void
types_parse_unsigned(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	type->kind = RR_XDR_UNSIGNED_INT;
	if (rr_xdr_accept(parser, "hyper"))
		type->kind = RR_XDR_UNSIGNED_HYPER;
	else if (!rr_xdr_accept(parser, "char"))
		types_parse_long(parser);
}

/* Parses a type whose name is a keyword, such as bool. Returns false, and reads nothing, if the next word is
 * no such keyword. */
static bool
types_accept_simple(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	static const struct {
		const char *name;
		enum rr_xdr_kind kind;
	} simple[] = { { "char", RR_XDR_INT }, { "hyper", RR_XDR_HYPER }, { "float", RR_XDR_FLOAT },
		{ "double", RR_XDR_DOUBLE }, { "bool", RR_XDR_BOOL }, { "opaque", RR_XDR_OPAQUE },
		{ "string", RR_XDR_STRING }, { "void", RR_XDR_VOID } };

	if (types_parse_long(parser)) {
		type->kind = RR_XDR_INT;
		return true;
	}
	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++) {
		if (!rr_xdr_accept(parser, simple[i].name))
			continue;
		type->kind = simple[i].kind;
		return true;
	}
	return false;
}

/* Parses a type that begins with the word struct, union or enum; its body follows, or the name of a type that
 * is defined elsewhere. Returns false, and reads nothing, if the next word is another one. */
static bool
types_accept_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type)
{
	if (rr_xdr_accept(parser, "enum"))
		type->kind = RR_XDR_ENUM;
	else if (rr_xdr_accept(parser, "struct"))
		type->kind = RR_XDR_STRUCT;
	else if (rr_xdr_accept(parser, "union"))
		type->kind = RR_XDR_UNION;
	else
		return false;
	if (rr_xdr_sees(parser, type->kind == RR_XDR_UNION ? "switch" : "{")) {
		rr_xdr_parse_body(parser, type);
		return true;
	}
	type->kind = RR_XDR_NAMED;
	type->is_tag = true;
	type->position = parser->token.position;
	type->name = rr_xdr_parse_name(parser, "a body or the name of a type");
	return true;
}

struct rr_xdr_type *
rr_xdr_parse_type(struct rr_xdr_parser *parser)
{
	struct rr_xdr_type *type = rr_xdr_alloc(parser->compiler, sizeof(*type));

	if (!type)
		return NULL;
	type->position = parser->token.position;
	if (rr_xdr_sees(parser, "quadruple"))
		rr_xdr_error(
			parser->compiler, type->position, "quadruple is not supported, C has no such type");
	if (rr_xdr_accept(parser, "unsigned"))
		types_parse_unsigned(parser, type);
	else if (!types_accept_simple(parser, type) && !types_accept_body(parser, type)) {
		type->kind = RR_XDR_NAMED;
		type->name = rr_xdr_parse_name(parser, "a type");
	}
	return type;
}
