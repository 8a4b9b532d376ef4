/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "xdr/lexer.h"

/*
 * RFC 4506, section 6.3, and RFC 5531, section 12.2: a function per rule.
 * After an error every token is the end of the file, so that each function
 * runs to its end without looking; what it returns is then never used.
 * Where memory was missing it may be NULL.
 */

enum { DEEPEST = 64 }; /* bodies inside bodies */

struct parser {
	struct rr_xdr_compiler *compiler;
	struct rr_xdr_lexer lexer;
	struct rr_xdr_token token; /* the one to look at */
	unsigned depth;
};

static struct rr_xdr_type *parse_type(struct parser *parser, bool void_too);

static void
advance(struct parser *parser)
{
	parser->token = rr_xdr_next_token(&parser->lexer);
}

static void
fail(struct parser *parser, const char *expected)
{
	rr_xdr_error(parser->compiler, parser->token.position, "expected %s before %s", expected,
		parser->token.text);
	parser->token.kind = RR_XDR_TOKEN_END;
}

static bool
ended(const struct parser *parser)
{
	return parser->compiler->error || parser->token.kind == RR_XDR_TOKEN_END;
}

static bool
sees(const struct parser *parser, const char *text)
{
	return !ended(parser) && parser->token.kind != RR_XDR_TOKEN_NUMBER &&
	       strcmp(parser->token.text, text) == 0;
}

static bool
accept(struct parser *parser, const char *text)
{
	if (!sees(parser, text))
		return false;
	advance(parser);
	return true;
}

static void
expect(struct parser *parser, const char *text)
{
	if (!accept(parser, text))
		fail(parser, text);
}

static bool
is_keyword(const char *name)
{
	/* RFC 4506, section 6.4, and RFC 5531, section 12.3: "cannot be used as identifiers" */
	static const char *const keywords[] = { "bool", "case", "const", "default", "double", "quadruple",
		"enum", "float", "hyper", "int", "opaque", "program", "string", "struct", "switch", "typedef",
		"union", "unsigned", "version", "void" };

	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if (strcmp(name, keywords[i]) == 0)
			return true;
	}
	return false;
}

static const char *
parse_name(struct parser *parser, const char *of_what)
{
	const char *name = parser->token.text;

	if (ended(parser) || parser->token.kind != RR_XDR_TOKEN_NAME || is_keyword(name)) {
		fail(parser, of_what);
		return "";
	}
	advance(parser);
	return name;
}

static struct rr_xdr_value
parse_value(struct parser *parser)
{
	struct rr_xdr_value value = {
		.position = parser->token.position,
		.text = parser->token.text,
		.is_name = parser->token.kind == RR_XDR_TOKEN_NAME,
		.number = parser->token.number,
	};

	if (!ended(parser) && parser->token.kind == RR_XDR_TOKEN_NUMBER)
		advance(parser);
	else
		parse_name(parser, "a number or the name of a constant");
	return value;
}

static struct rr_xdr_value
parse_number(struct parser *parser)
{
	if (parser->token.kind != RR_XDR_TOKEN_NUMBER)
		fail(parser, "a number");
	return parse_value(parser);
}

/* ---- Declarations ---- */

/* What may follow the name: [size], <size>, <>. */
static void
parse_size(struct parser *parser, struct rr_xdr_declaration *declaration)
{
	if (accept(parser, "[")) {
		declaration->shape = RR_XDR_FIXED;
		declaration->size = parse_value(parser);
		expect(parser, "]");
	} else if (accept(parser, "<")) {
		declaration->shape = RR_XDR_VARIABLE;
		declaration->bounded = !sees(parser, ">");
		if (declaration->bounded)
			declaration->size = parse_value(parser);
		expect(parser, ">");
	}
}

static void
check_shape(struct parser *parser, const struct rr_xdr_declaration *declaration)
{
	enum rr_xdr_kind kind = declaration->type->kind;

	if (kind == RR_XDR_OPAQUE &&
		(declaration->shape == RR_XDR_PLAIN || declaration->shape == RR_XDR_OPTIONAL))
		fail(parser, "[SIZE] or <MAXIMUM> of the opaque");
	if (kind == RR_XDR_STRING && declaration->shape != RR_XDR_VARIABLE)
		rr_xdr_error(parser->compiler, declaration->position,
			"a string is declared as: string %s<MAXIMUM>", declaration->name);
}

/* RFC 4506: declaration */
static void
parse_declaration(struct parser *parser, struct rr_xdr_declaration *declaration)
{
	declaration->position = parser->token.position;
	declaration->type = parse_type(parser, true);
	if (!declaration->type || declaration->type->kind == RR_XDR_VOID)
		return;
	if (accept(parser, "*"))
		declaration->shape = RR_XDR_OPTIONAL;
	declaration->position = parser->token.position;
	declaration->name = parse_name(parser, "the name of what is declared");
	if (declaration->shape == RR_XDR_PLAIN)
		parse_size(parser, declaration);
	if (!parser->compiler->error)
		check_shape(parser, declaration);
}

static struct rr_xdr_declaration *
new_declaration(struct parser *parser)
{
	struct rr_xdr_declaration *declaration = rr_xdr_alloc(parser->compiler, sizeof(*declaration));

	if (declaration)
		parse_declaration(parser, declaration);
	return declaration;
}

/* ---- Types with a body ---- */

static void
parse_enum_body(struct parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_enumerator **end = &type->enumerators;

	expect(parser, "{");
	do {
		struct rr_xdr_enumerator *enumerator = rr_xdr_alloc(parser->compiler, sizeof(*enumerator));

		if (!enumerator)
			return;
		enumerator->position = parser->token.position;
		enumerator->name = parse_name(parser, "the name of a value of the enum");
		expect(parser, "=");
		enumerator->value = parse_value(parser);
		*end = enumerator;
		end = &enumerator->next;
	} while (accept(parser, ","));
	expect(parser, "}");
}

static void
parse_struct_body(struct parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_declaration **end = &type->members;

	expect(parser, "{");
	do {
		struct rr_xdr_declaration *member = new_declaration(parser);

		if (!member)
			return;
		if (member->type && member->type->kind == RR_XDR_VOID)
			rr_xdr_error(
				parser->compiler, member->position, "a struct has no members of type void");
		expect(parser, ";");
		*end = member;
		end = &member->next;
	} while (!ended(parser) && !sees(parser, "}"));
	expect(parser, "}");
}

/* "case" value ":", as many as there are; or "default" ":" */
static void
parse_labels(struct parser *parser, struct rr_xdr_declaration *arm)
{
	struct rr_xdr_value **end = &arm->labels;

	if (accept(parser, "default")) {
		arm->is_default = true;
		expect(parser, ":");
		return;
	}
	if (!sees(parser, "case"))
		fail(parser, "case or default");
	while (accept(parser, "case")) {
		struct rr_xdr_value *label = rr_xdr_alloc(parser->compiler, sizeof(*label));

		if (!label)
			return;
		*label = parse_value(parser);
		expect(parser, ":");
		*end = label;
		end = &label->next;
	}
}

static void
parse_union_body(struct parser *parser, struct rr_xdr_type *type)
{
	struct rr_xdr_declaration **end = &type->members, *arm;

	expect(parser, "switch");
	expect(parser, "(");
	type->discriminant = new_declaration(parser);
	expect(parser, ")");
	expect(parser, "{");
	do {
		arm = rr_xdr_alloc(parser->compiler, sizeof(*arm));
		if (!arm)
			return;
		parse_labels(parser, arm);
		parse_declaration(parser, arm);
		expect(parser, ";");
		*end = arm;
		end = &arm->next;
	} while (!ended(parser) && !arm->is_default && !sees(parser, "}"));
	if (arm->is_default && sees(parser, "case"))
		rr_xdr_error(
			parser->compiler, parser->token.position, "default must be the last arm of a union");
	expect(parser, "}");
}

static void
parse_body(struct parser *parser, struct rr_xdr_type *type)
{
	if (parser->depth == DEEPEST) {
		rr_xdr_error(
			parser->compiler, type->position, "types are nested too deeply, at most %d", DEEPEST);
		return;
	}
	parser->depth++;
	if (type->kind == RR_XDR_ENUM)
		parse_enum_body(parser, type);
	else if (type->kind == RR_XDR_STRUCT)
		parse_struct_body(parser, type);
	else
		parse_union_body(parser, type);
	parser->depth--;
}

/* ---- Types ---- */

/* RFC 4506 wants int or hyper behind unsigned; older schemas, those of NFSv4 among them, leave out the int.
 */
static void
parse_unsigned(struct parser *parser, struct rr_xdr_type *type)
{
	type->kind = RR_XDR_UNSIGNED_INT;
	if (accept(parser, "hyper"))
		type->kind = RR_XDR_UNSIGNED_HYPER;
	else
		accept(parser, "int");
}

/* Types that are one keyword. */
static bool
accept_simple(struct parser *parser, struct rr_xdr_type *type)
{
	static const struct {
		const char *name;
		enum rr_xdr_kind kind;
	} simple[] = { { "int", RR_XDR_INT }, { "hyper", RR_XDR_HYPER }, { "float", RR_XDR_FLOAT },
		{ "double", RR_XDR_DOUBLE }, { "bool", RR_XDR_BOOL }, { "opaque", RR_XDR_OPAQUE },
		{ "string", RR_XDR_STRING }, { "void", RR_XDR_VOID } };

	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++) {
		if (!accept(parser, simple[i].name))
			continue;
		type->kind = simple[i].kind;
		return true;
	}
	return false;
}

/* Struct, union or enum: a body, or the name of one that is defined elsewhere. */
static bool
accept_body(struct parser *parser, struct rr_xdr_type *type)
{
	if (accept(parser, "enum"))
		type->kind = RR_XDR_ENUM;
	else if (accept(parser, "struct"))
		type->kind = RR_XDR_STRUCT;
	else if (accept(parser, "union"))
		type->kind = RR_XDR_UNION;
	else
		return false;
	if (sees(parser, type->kind == RR_XDR_UNION ? "switch" : "{")) {
		parse_body(parser, type);
		return true;
	}
	type->kind = RR_XDR_NAMED;
	type->position = parser->token.position;
	type->name = parse_name(parser, "a body or the name of a type");
	return true;
}

/* Any type that the grammar names somewhere; opaque, string and void only where a declaration begins. */
static struct rr_xdr_type *
parse_type(struct parser *parser, bool in_declaration)
{
	struct rr_xdr_type *type = rr_xdr_alloc(parser->compiler, sizeof(*type));

	if (!type)
		return NULL;
	type->position = parser->token.position;
	if (sees(parser, "quadruple"))
		rr_xdr_error(
			parser->compiler, type->position, "quadruple is not supported, C has no such type");
	if (!in_declaration && (sees(parser, "opaque") || sees(parser, "string")))
		fail(parser, "a type with a name (see typedef)");
	if (accept(parser, "unsigned"))
		parse_unsigned(parser, type);
	else if (!accept_simple(parser, type) && !accept_body(parser, type)) {
		type->kind = RR_XDR_NAMED;
		type->name = parse_name(parser, "a type");
	}
	return type;
}

/* ---- Programs (RFC 5531, section 12.2) ---- */

static void
parse_procedure(struct parser *parser, struct rr_xdr_procedure *procedure)
{
	struct rr_xdr_type **end = &procedure->args;

	procedure->result = parse_type(parser, false);
	procedure->position = parser->token.position;
	procedure->name = parse_name(parser, "the name of a procedure");
	expect(parser, "(");
	do {
		*end = parse_type(parser, false);
		if (!*end)
			return;
		end = &(*end)->next;
	} while (accept(parser, ","));
	expect(parser, ")");
	expect(parser, "=");
	procedure->number = parse_number(parser);
	expect(parser, ";");
}

static void
parse_version(struct parser *parser, struct rr_xdr_version *version)
{
	struct rr_xdr_procedure **end = &version->procedures;

	expect(parser, "version");
	version->position = parser->token.position;
	version->name = parse_name(parser, "the name of a version");
	expect(parser, "{");
	do {
		*end = rr_xdr_alloc(parser->compiler, sizeof(**end));
		if (!*end)
			return;
		parse_procedure(parser, *end);
		end = &(*end)->next;
	} while (!ended(parser) && !sees(parser, "}"));
	expect(parser, "}");
	expect(parser, "=");
	version->number = parse_number(parser);
	expect(parser, ";");
}

static void
parse_program(struct parser *parser, struct rr_xdr_definition *program)
{
	struct rr_xdr_version **end = &program->versions;

	program->what = RR_XDR_PROGRAM;
	program->position = parser->token.position;
	program->name = parse_name(parser, "the name of a program");
	expect(parser, "{");
	do {
		*end = rr_xdr_alloc(parser->compiler, sizeof(**end));
		if (!*end)
			return;
		parse_version(parser, *end);
		end = &(*end)->next;
	} while (!ended(parser) && !sees(parser, "}"));
	expect(parser, "}");
	expect(parser, "=");
	program->value = parse_number(parser);
}

/* ---- Definitions ---- */

static void
parse_const(struct parser *parser, struct rr_xdr_definition *definition)
{
	definition->what = RR_XDR_CONST;
	definition->position = parser->token.position;
	definition->name = parse_name(parser, "the name of the constant");
	expect(parser, "=");
	definition->value = parse_number(parser);
}

static void
parse_typedef(struct parser *parser, struct rr_xdr_definition *definition)
{
	struct rr_xdr_declaration *declaration = &definition->declaration;

	definition->what = RR_XDR_TYPE;
	parse_declaration(parser, declaration);
	definition->position = declaration->position;
	definition->name = declaration->name;
	if (declaration->type && declaration->type->kind == RR_XDR_VOID)
		rr_xdr_error(parser->compiler, declaration->position, "void cannot have another name");
}

/* "enum" identifier enum-body, and so on: another spelling of a typedef with a body. */
static void
parse_named_body(struct parser *parser, struct rr_xdr_definition *definition, enum rr_xdr_kind kind)
{
	struct rr_xdr_type *type = rr_xdr_alloc(parser->compiler, sizeof(*type));

	if (!type)
		return;
	definition->what = RR_XDR_TYPE;
	definition->position = parser->token.position;
	definition->name = parse_name(parser, "the name of the type");
	definition->declaration.position = definition->position;
	definition->declaration.name = definition->name;
	definition->declaration.type = type;
	type->kind = kind;
	type->position = definition->position;
	parse_body(parser, type);
}

static void
parse_definition(struct parser *parser, struct rr_xdr_definition *definition)
{
	if (accept(parser, "const"))
		parse_const(parser, definition);
	else if (accept(parser, "typedef"))
		parse_typedef(parser, definition);
	else if (accept(parser, "enum"))
		parse_named_body(parser, definition, RR_XDR_ENUM);
	else if (accept(parser, "struct"))
		parse_named_body(parser, definition, RR_XDR_STRUCT);
	else if (accept(parser, "union"))
		parse_named_body(parser, definition, RR_XDR_UNION);
	else if (accept(parser, "program"))
		parse_program(parser, definition);
	else
		fail(parser, "const, typedef, enum, struct, union or program");
	expect(parser, ";");
}

void
rr_xdr_parse(struct rr_xdr_compiler *compiler, const char *text, size_t length)
{
	struct parser parser = { .compiler = compiler };

	rr_xdr_lexer_init(&parser.lexer, compiler, text, length);
	advance(&parser);
	while (!ended(&parser)) {
		struct rr_xdr_definition *definition = rr_xdr_alloc(compiler, sizeof(*definition));

		if (!definition)
			return;
		parse_definition(&parser, definition);
		*compiler->definitions_end = definition;
		compiler->definitions_end = &definition->next;
	}
}
