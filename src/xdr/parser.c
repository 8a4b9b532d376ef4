/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/parser.h"

#include <string.h>

/* ---- Tokens ---- */

void
rr_xdr_advance(struct rr_xdr_parser *parser)
{
	parser->token = rr_xdr_next_token(&parser->lexer);
}

void
rr_xdr_expected(struct rr_xdr_parser *parser, const char *expected)
{
	rr_xdr_error(parser->compiler, parser->token.position, "expected %s before %s", expected,
		parser->token.text);
	parser->token.kind = RR_XDR_TOKEN_END;
}

bool
rr_xdr_ended(const struct rr_xdr_parser *parser)
{
	return parser->compiler->error || parser->token.kind == RR_XDR_TOKEN_END;
}

bool
rr_xdr_sees(const struct rr_xdr_parser *parser, const char *text)
{
	return !rr_xdr_ended(parser) &&
	       (parser->token.kind == RR_XDR_TOKEN_NAME || parser->token.kind == RR_XDR_TOKEN_MARK) &&
	       strcmp(parser->token.text, text) == 0;
}

bool
rr_xdr_accept(struct rr_xdr_parser *parser, const char *text)
{
	if (!rr_xdr_sees(parser, text))
		return false;
	rr_xdr_advance(parser);
	return true;
}

void
rr_xdr_expect(struct rr_xdr_parser *parser, const char *text)
{
	if (!rr_xdr_accept(parser, text))
		rr_xdr_expected(parser, text);
}

/* Whether a name is a word that the grammar reserves. */
static bool
parser_is_keyword(const char *name)
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

const char *
rr_xdr_parse_name(struct rr_xdr_parser *parser, const char *of_what)
{
	const char *name = parser->token.text;

	if (rr_xdr_ended(parser) || parser->token.kind != RR_XDR_TOKEN_NAME || parser_is_keyword(name)) {
		rr_xdr_expected(parser, of_what);
		return "";
	}
	rr_xdr_advance(parser);
	return name;
}

struct rr_xdr_value
rr_xdr_parse_value(struct rr_xdr_parser *parser)
{
	struct rr_xdr_value value = {
		.position = parser->token.position,
		.text = parser->token.text,
		.is_name = parser->token.kind == RR_XDR_TOKEN_NAME,
		.number = parser->token.number,
	};

	if (!rr_xdr_ended(parser) && parser->token.kind == RR_XDR_TOKEN_NUMBER)
		rr_xdr_advance(parser);
	else
		rr_xdr_parse_name(parser, "a number or the name of a constant");
	return value;
}

/* ---- Definitions ---- */

/* Parses `NAME = VALUE`, behind the word const. The value may be a text, as rpcgen allows. */
static void
parser_parse_const(struct rr_xdr_parser *parser, struct rr_xdr_definition *definition)
{
	definition->what = RR_XDR_CONST;
	definition->position = parser->token.position;
	definition->name = rr_xdr_parse_name(parser, "the name of the constant");
	rr_xdr_expect(parser, "=");
	if (!rr_xdr_ended(parser) && parser->token.kind == RR_XDR_TOKEN_TEXT) {
		definition->value.position = parser->token.position;
		definition->value.text = parser->token.text;
		definition->value.is_text = true;
		rr_xdr_advance(parser);
		return;
	}
	definition->value = rr_xdr_parse_value(parser);
}

/* Parses the declaration behind the word typedef, and makes it the definition of a type. Reports a typedef of
 * void. */
static void
parser_parse_typedef(struct rr_xdr_parser *parser, struct rr_xdr_definition *definition)
{
	struct rr_xdr_declaration *declaration = &definition->declaration;

	definition->what = RR_XDR_TYPE;
	rr_xdr_parse_declaration(parser, declaration);
	definition->position = declaration->position;
	definition->name = declaration->name;
	if (declaration->type && declaration->type->kind == RR_XDR_VOID)
		rr_xdr_error(parser->compiler, declaration->position, "void cannot have another name");
}

/* Parses the name and the body of an enum, struct or union, behind the word that says which of these it is.
 * The result is stored as a typedef would be. A second name behind the body is ignored with a warning. */
static void
parser_parse_named_body(
	struct rr_xdr_parser *parser, struct rr_xdr_definition *definition, enum rr_xdr_kind kind)
{
	struct rr_xdr_type *type = rr_xdr_alloc(parser->compiler, sizeof(*type));

	if (!type)
		return;
	definition->what = RR_XDR_TYPE;
	definition->position = parser->token.position;
	definition->name = rr_xdr_parse_name(parser, "the name of the type");
	definition->declaration.position = definition->position;
	definition->declaration.name = definition->name;
	definition->declaration.type = type;
	type->kind = kind;
	type->position = definition->position;
	rr_xdr_parse_body(parser, type);
	/* RFC 5531, section 9: "union reply_body switch (reply_stat stat) { ... } reply;" */
	if (parser->token.kind != RR_XDR_TOKEN_NAME || parser->compiler->error)
		return;
	rr_xdr_warn(parser->compiler, parser->token.position, "%s is ignored: the name of the type is %s",
		parser->token.text, definition->name);
	rr_xdr_advance(parser);
}

/* Parses one definition of the schema, with its semicolon. The first word says whether it is a constant, a
 * type or a program. */
static void
parser_parse_definition(struct rr_xdr_parser *parser, struct rr_xdr_definition *definition)
{
	if (rr_xdr_accept(parser, "const"))
		parser_parse_const(parser, definition);
	else if (rr_xdr_accept(parser, "typedef"))
		parser_parse_typedef(parser, definition);
	else if (rr_xdr_accept(parser, "enum"))
		parser_parse_named_body(parser, definition, RR_XDR_ENUM);
	else if (rr_xdr_accept(parser, "struct"))
		parser_parse_named_body(parser, definition, RR_XDR_STRUCT);
	else if (rr_xdr_accept(parser, "union"))
		parser_parse_named_body(parser, definition, RR_XDR_UNION);
	else if (rr_xdr_accept(parser, "program"))
		rr_xdr_parse_program(parser, definition);
	else
		rr_xdr_expected(parser, "const, typedef, enum, struct, union or program");
	rr_xdr_expect(parser, ";");
}

void
rr_xdr_parse(struct rr_xdr_compiler *compiler, const char *text, size_t length)
{
	struct rr_xdr_parser parser = { .compiler = compiler };

	rr_xdr_lexer_init(&parser.lexer, compiler, text, length);
	rr_xdr_advance(&parser);
	while (!rr_xdr_ended(&parser)) {
		struct rr_xdr_definition *definition = rr_xdr_alloc(compiler, sizeof(*definition));

		if (!definition)
			return;
		definition->place = ++compiler->places;
		parser_parse_definition(&parser, definition);
		*compiler->definitions_end = definition;
		compiler->definitions_end = &definition->next;
	}
}
