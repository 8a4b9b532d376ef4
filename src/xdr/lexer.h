/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_LEXER_H
#define RR_XDR_LEXER_H

#include "xdr/compiler.h"

/* Divides a schema into tokens: RFC 4506, section 6.2. */

enum rr_xdr_token_kind {
	RR_XDR_TOKEN_END,  /* also after an error */
	RR_XDR_TOKEN_NAME, /* keywords, too */
	RR_XDR_TOKEN_NUMBER,
	RR_XDR_TOKEN_TEXT, /* in double quotes, which are part of the text */
	RR_XDR_TOKEN_MARK  /* one character of punctuation: text[0] */
};

/* A token, and where it stands. */
struct rr_xdr_token {
	enum rr_xdr_token_kind kind;
	struct rr_xdr_position position;
	const char *text;
	struct rr_xdr_number number;
};

/* The place in the text. */
struct rr_xdr_lexer {
	struct rr_xdr_compiler *compiler;
	const char *next, *end;
	const char *line; /* where the current line begins */
	unsigned line_number;
	const char *file; /* the file that the last line marker named; NULL: the file that is compiled */
};

/* Prepares the lexer to read the text of length octets, behind which a zero must stand. */
void rr_xdr_lexer_init(
	struct rr_xdr_lexer *lexer, struct rr_xdr_compiler *compiler, const char *text, size_t length);

/* Returns the file, the line and the column at which the lexer stands, for messages. */
struct rr_xdr_position rr_xdr_lexer_position(const struct rr_xdr_lexer *lexer);

/* Returns a copy of the text from `from` to `to`. The memory is freed at the end of the run. */
const char *rr_xdr_lexer_copy(struct rr_xdr_lexer *lexer, const char *from, const char *to);
/* Returns the end of the line in which the lexer stands: its line feed, or the end of the text. */
const char *rr_xdr_lexer_end_of_line(const struct rr_xdr_lexer *lexer);
/* Whether the character may be part of a name or a number. */
bool rr_xdr_lexer_is_word(char c);

/* lexer_lines.c: keeps the line in which the lexer stands, which begins with %, as a line for the header, and
 * moves to its end. */
void rr_xdr_lexer_pass_line(struct rr_xdr_lexer *lexer);
/* Handles the line in which the lexer stands, which begins with # (a directive), and moves to its end. */
void rr_xdr_lexer_directive(struct rr_xdr_lexer *lexer);

/* Moves to the next token and returns it. Pragmas, and lines for the header, that stand in front of the token
 * are noted in the compiler. */
struct rr_xdr_token rr_xdr_next_token(struct rr_xdr_lexer *lexer);

#endif
