/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_PARSER_H
#define RR_XDR_PARSER_H

#include "xdr/lexer.h"

/* Parses by RFC 4506, section 6.3, and RFC 5531, section 12.2, with a function for each rule. After an
 * error every token is the end of the file, so each function runs to its end without checks. Its result is
 * then not used; it may be NULL if memory was missing. */

/* The state of the parser. */
struct rr_xdr_parser {
	struct rr_xdr_compiler *compiler;
	struct rr_xdr_lexer lexer;
	struct rr_xdr_token token; /* the next token */
	unsigned depth;            /* how many bodies are around the token */
};

/* Moves behind the next token. */
void rr_xdr_advance(struct rr_xdr_parser *parser);

/* Reports that the next token is not `expected`. */
void rr_xdr_expected(struct rr_xdr_parser *parser, const char *expected);

/* Whether there is no further token, as the text has ended or an error was found. */
bool rr_xdr_ended(const struct rr_xdr_parser *parser);

/* rr_xdr_sees() returns whether the next token is this word or character. rr_xdr_accept() returns the same,
 * and moves behind the token if so. rr_xdr_expect() moves behind the token, or reports an error if it is
 * another one. */
bool rr_xdr_sees(const struct rr_xdr_parser *parser, const char *text);
bool rr_xdr_accept(struct rr_xdr_parser *parser, const char *text);
void rr_xdr_expect(struct rr_xdr_parser *parser, const char *text);

/* Parses an identifier. of_what says for an error message of what the identifier is the name. Reports an
 * error and returns "" if the next token is no identifier, or is a keyword. */
const char *rr_xdr_parse_name(struct rr_xdr_parser *parser, const char *of_what);

/* Parses what the grammar calls "value" or "constant": a number, or the name of a number, which rpcgen allows
 * for both. */
struct rr_xdr_value rr_xdr_parse_value(struct rr_xdr_parser *parser);

/* parser_types.c */

/* Parses a type of any kind that the grammar has. */
struct rr_xdr_type *rr_xdr_parse_type(struct rr_xdr_parser *parser);

void rr_xdr_parse_declaration(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration);

/* Parse an argument, and a result, of a procedure. Strings need no maximum here. Only an argument may have a
 * name, a * or a maximum. */
struct rr_xdr_declaration *rr_xdr_parse_argument(struct rr_xdr_parser *parser);
struct rr_xdr_declaration *rr_xdr_parse_result(struct rr_xdr_parser *parser);

/* Parses the body of an enum, struct or union; type->kind says which of these it is. */
void rr_xdr_parse_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type);

/* parser_programs.c: parses the text behind the word program. */
void rr_xdr_parse_program(struct rr_xdr_parser *parser, struct rr_xdr_definition *program);

#endif
