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

/* Reports that the next token is not `expected`. As after every error, the next token is then the end of the
 * file. */
void rr_xdr_expected(struct rr_xdr_parser *parser, const char *expected);

/* Whether there is no further token, as the text has ended or an error was found. */
bool rr_xdr_ended(const struct rr_xdr_parser *parser);

/* Returns whether the next token is this word or character. */
bool rr_xdr_sees(const struct rr_xdr_parser *parser, const char *text);
/* If the next token is this word or character, moves behind it and returns true; else returns false. */
bool rr_xdr_accept(struct rr_xdr_parser *parser, const char *text);
/* Moves behind the next token if it is this word or character, else reports an error. */
void rr_xdr_expect(struct rr_xdr_parser *parser, const char *text);

/* Parses an identifier. of_what says for an error message of what the identifier is the name. Reports an
 * error and returns "" if the next token is no identifier, or is a keyword. */
const char *rr_xdr_parse_name(struct rr_xdr_parser *parser, const char *of_what);

/* Parses what the grammar calls "value" or "constant": a number, or the name of a number, which rpcgen allows
 * for both. Reports an error if the next token is neither. */
struct rr_xdr_value rr_xdr_parse_value(struct rr_xdr_parser *parser);

/* parser_types.c */

/* Parses a type of any kind that the grammar has. Returns NULL if there is no memory. */
struct rr_xdr_type *rr_xdr_parse_type(struct rr_xdr_parser *parser);

/* Parses a declaration as the grammar of RFC 4506, section 6.3, has it: `void` alone, or a type and a name.
 * Between the type and the name may stand an asterisk, and behind the name a size. */
void rr_xdr_parse_declaration(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration);

/* Parses an argument of a procedure; an empty list stands for void. A string needs no maximum here. The
 * argument may have a name, and a * or a maximum. Returns NULL if there is no memory. */
struct rr_xdr_declaration *rr_xdr_parse_argument(struct rr_xdr_parser *parser);
/* Parses the result of a procedure: a type alone. A string has no maximum here. Returns NULL if there is no
 * memory. */
struct rr_xdr_declaration *rr_xdr_parse_result(struct rr_xdr_parser *parser);

/* Parses the body of an enum, struct or union; type->kind says which of these it is. */
void rr_xdr_parse_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type);

/* parser_programs.c: parses the text behind the word program. */
void rr_xdr_parse_program(struct rr_xdr_parser *parser, struct rr_xdr_definition *program);

#endif
