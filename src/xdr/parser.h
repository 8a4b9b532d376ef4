/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_PARSER_H
#define RR_XDR_PARSER_H

#include "xdr/lexer.h"

/*
 * RFC 4506, section 6.3, and RFC 5531, section 12.2: a function per rule. After an error every token is the
 * end of the file, so that each function runs to its end without looking; its result is then never used, and
 * may be NULL where memory was missing.
 */

struct rr_xdr_parser {
	struct rr_xdr_compiler *compiler;
	struct rr_xdr_lexer lexer;
	struct rr_xdr_token token; /* the one to look at */
	unsigned depth;            /* bodies around it */
};

void rr_xdr_advance(struct rr_xdr_parser *parser);

/* The token is not what was expected. */
void rr_xdr_expected(struct rr_xdr_parser *parser, const char *expected);

bool rr_xdr_ended(const struct rr_xdr_parser *parser);

/* Whether the token is this word or mark; accept also goes on to the next one; expect makes it an error if
 * not. */
bool rr_xdr_sees(const struct rr_xdr_parser *parser, const char *text);
bool rr_xdr_accept(struct rr_xdr_parser *parser, const char *text);
void rr_xdr_expect(struct rr_xdr_parser *parser, const char *text);

/* An identifier; of_what says which one, where there is none. */
const char *rr_xdr_parse_name(struct rr_xdr_parser *parser, const char *of_what);

/* "value" of the grammar; and "constant", for which rpcgen takes names, too. */
struct rr_xdr_value rr_xdr_parse_value(struct rr_xdr_parser *parser);

/* parser_types.c */

/* Any type that the grammar names somewhere. */
struct rr_xdr_type *rr_xdr_parse_type(struct rr_xdr_parser *parser);

void rr_xdr_parse_declaration(struct rr_xdr_parser *parser, struct rr_xdr_declaration *declaration);

/* An argument or a result of a procedure: a string needs no bound. Only an argument may have a name, a star
 * or a bound. */
struct rr_xdr_declaration *rr_xdr_parse_argument(struct rr_xdr_parser *parser);
struct rr_xdr_declaration *rr_xdr_parse_result(struct rr_xdr_parser *parser);

/* The body of a type whose kind is set. */
void rr_xdr_parse_body(struct rr_xdr_parser *parser, struct rr_xdr_type *type);

/* parser_programs.c: what follows the word program. */
void rr_xdr_parse_program(struct rr_xdr_parser *parser, struct rr_xdr_definition *program);

#endif
