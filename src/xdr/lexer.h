/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_LEXER_H
#define RR_XDR_LEXER_H

#include "xdr/compiler.h"

/* RFC 4506, section 6.2. */

enum rr_xdr_token_kind {
	RR_XDR_TOKEN_END,  /* also after an error */
	RR_XDR_TOKEN_NAME, /* keywords, too */
	RR_XDR_TOKEN_NUMBER,
	RR_XDR_TOKEN_MARK /* one character: text[0] */
};

struct rr_xdr_token {
	enum rr_xdr_token_kind kind;
	struct rr_xdr_position position;
	const char *text;
	struct rr_xdr_number number;
};

struct rr_xdr_lexer {
	struct rr_xdr_compiler *compiler;
	const char *next, *end;
	const char *line; /* where the current one begins */
	unsigned line_number;
};

void rr_xdr_lexer_init(
	struct rr_xdr_lexer *lexer, struct rr_xdr_compiler *compiler, const char *text, size_t length);

/* The next token. Lines for the header and pragmas go to the compiler on the way. */
struct rr_xdr_token rr_xdr_next_token(struct rr_xdr_lexer *lexer);

#endif
