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

void rr_xdr_advance(struct rr_xdr_parser *parser);

/* Reports that the token is not the expected one. */
void rr_xdr_expected(struct rr_xdr_parser *parser, const char *expected);

bool rr_xdr_ended(const struct rr_xdr_parser *parser);

/* Whether the token is this word or mark. rr_xdr_accept() also goes on to the next token if so;
 * rr_xdr_expect() reports an error if not. */
bool rr_xdr_sees(const struct rr_xdr_parser *parser, const char *text);
bool rr_xdr_accept(struct rr_xdr_parser *parser, const char *text);
void rr_xdr_expect(struct rr_xdr_parser *parser, const char *text);

/* Parses an identifier; of_what names it in the error if there is no identifier. */
const char *rr_xdr_parse_name(struct rr_xdr_parser *parser, const char *of_what);

/* Parses "value" of the grammar, and "constant", for which rpcgen takes names, too. */
struct rr_xdr_value rr_xdr_parse_value(struct rr_xdr_parser *parser);

/* parser_types.c */

/* Parses any type that the grammar allows at some place. */
struct rr_xdr_type *rr_xdr_parse_type(struct rr_xdr_parser *parser);

void rr_xdr_parse_declaration(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration);

/* Parse an argument and a result of a procedure. Their strings need no bound. Only an argument may have a
 * name, a star or a bound. */
struct rr_xdr_declaration *rr_xdr_parse_argument(struct rr_xdr_parser *parser);
struct rr_xdr_declaration *rr_xdr_parse_result(struct rr_xdr_parser *parser);

/* Parses the body of a type whose kind is set. */
void rr_xdr_parse_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type);

/* parser_programs.c: parses the text behind the word program. */
void rr_xdr_parse_program(struct rr_xdr_parser *parser, struct rr_xdr_definition *program);

#endif
