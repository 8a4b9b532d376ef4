/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/lexer.h"

#include <ctype.h>
#include <string.h>

void
rr_xdr_lexer_init(
	struct rr_xdr_lexer *lexer, struct rr_xdr_compiler *compiler, const char *text, size_t length)
{
	*lexer = (struct rr_xdr_lexer){
		.compiler = compiler,
		.next = text,
		.end = text + length,
		.line = text,
		.line_number = 1,
	};
}

struct rr_xdr_position
rr_xdr_lexer_position(const struct rr_xdr_lexer *lexer)
{
	return (struct rr_xdr_position){ lexer->line_number, (unsigned)(lexer->next - lexer->line) + 1,
		lexer->file };
}

/* Whether the text begins with word where the lexer stands. The comparison cannot run past the text, which
 * ends in a zero. */
static bool
lexer_at(const struct rr_xdr_lexer *lexer, const char *word)
{
	return strncmp(lexer->next, word, strlen(word)) == 0;
}

const char *
rr_xdr_lexer_copy(struct rr_xdr_lexer *lexer, const char *from, const char *to)
{
	return rr_xdr_format(lexer->compiler, "%.*s", (int)(to - from), from);
}

/* Moves to the next character, and notes the beginning and the number of each new line. */
static void
lexer_advance(struct rr_xdr_lexer *lexer)
{
	if (*lexer->next++ != '\n')
		return;
	lexer->line = lexer->next;
	lexer->line_number++;
}

const char *
rr_xdr_lexer_end_of_line(const struct rr_xdr_lexer *lexer)
{
	const char *end = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));

	return end ? end : lexer->end;
}

/* Moves behind a comment; the lexer stands at the comment's first character. Reports a comment without an
 * end. */
static void
lexer_skip_comment(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_position start = rr_xdr_lexer_position(lexer);

	for (lexer->next += 2; lexer->next < lexer->end; lexer_advance(lexer)) {
		if (!lexer_at(lexer, "*/"))
			continue;
		lexer->next += 2;
		return;
	}
	rr_xdr_error(lexer->compiler, start, "this comment has no end, expected */");
}

bool
rr_xdr_lexer_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether only blanks stand between the beginning of the line and the place where the lexer stands. */
static bool
lexer_is_first(const struct rr_xdr_lexer *lexer)
{
	for (const char *before = lexer->line; before < lexer->next; before++) {
		if (*before != ' ' && *before != '\t')
			return false;
	}
	return true;
}

/* Moves to the next token: skips blanks and comments, and handles the lines that are no tokens: those with #
 * (directives), and those with % (which are copied to the generated header). */
static void
lexer_skip_to_token(struct rr_xdr_lexer *lexer)
{
	while (lexer->next < lexer->end && !lexer->compiler->error) {
		if (isspace((unsigned char)*lexer->next))
			lexer_advance(lexer);
		else if (lexer_at(lexer, "/*"))
			lexer_skip_comment(lexer);
		else if (lexer_at(lexer, "//"))
			lexer->next = rr_xdr_lexer_end_of_line(lexer);
		else if (*lexer->next == '%' && lexer_is_first(lexer))
			rr_xdr_lexer_pass_line(lexer);
		else if (*lexer->next == '#' && lexer_is_first(lexer))
			rr_xdr_lexer_directive(lexer);
		else
			return;
	}
}

/* Returns the value of a decimal or hexadecimal digit, or 99 if the character is no digit. */
static int
lexer_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static void
lexer_bad_number(struct rr_xdr_lexer *lexer, const struct rr_xdr_token *token, const char *why)
{
	rr_xdr_error(lexer->compiler, token->position, "%s is not a number: %s", token->text, why);
}

/* Sets the magnitude of the token's number from digits in the given base. Reports a character that is no
 * digit in this base, and a number that does not fit into 64 bits. */
static void
lexer_convert(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token, const char *digits, int base)
{
	uint64_t *magnitude = &token->number.magnitude;

	if (!*digits)
		lexer_bad_number(lexer, token, "digits are missing");
	for (; *digits; digits++) {
		if (lexer_digit(*digits) >= base) {
			lexer_bad_number(lexer, token,
				base == 8 ? "the digits of an octal number are 0 to 7"
					  : "unexpected letter or digit");
			return;
		}
		if (__builtin_mul_overflow(*magnitude, (uint64_t)base, magnitude) ||
			__builtin_add_overflow(*magnitude, (uint64_t)lexer_digit(*digits), magnitude)) {
			lexer_bad_number(lexer, token, "it does not fit into 64 bits");
			return;
		}
	}
	if (token->number.negative && *magnitude > (uint64_t)INT64_MAX + 1)
		lexer_bad_number(lexer, token, "it does not fit into 64 bits");
	if (*magnitude == 0)
		token->number.negative = false;
}

/* Reads a decimal, octal or hexadecimal number into token. */
static void
read_number(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	const char *start = lexer->next, *text;

	token->kind = RR_XDR_TOKEN_NUMBER;
	token->number.negative = *start == '-';
	lexer->next++;
	while (rr_xdr_lexer_is_word(*lexer->next))
		lexer->next++;
	token->text = rr_xdr_lexer_copy(lexer, start, lexer->next);
	if (lexer->compiler->error)
		return;
	text = token->text + (token->number.negative ? 1 : 0);
	if (text[0] != '0' || !text[1])
		lexer_convert(lexer, token, text, 10);
	else if (token->number.negative)
		lexer_bad_number(lexer, token, "only decimal numbers may be negative");
	else if (text[1] == 'x' || text[1] == 'X')
		lexer_convert(lexer, token, text + 2, 16);
	else
		lexer_convert(lexer, token, text + 1, 8);
}

/* Reads a name or a keyword into token. */
static void
read_name(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	const char *start = lexer->next;

	token->kind = RR_XDR_TOKEN_NAME;
	while (rr_xdr_lexer_is_word(*lexer->next))
		lexer->next++;
	token->text = rr_xdr_lexer_copy(lexer, start, lexer->next);
}

/* Reads a text in double quotes, or a character in single quotes, into token. A character becomes a token
 * with the number of the character. Only the values of constants are written in this way. */
static void
read_quoted(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	const char *start = lexer->next, *end = rr_xdr_lexer_end_of_line(lexer);
	char quote = *lexer->next++;

	while (lexer->next < end && *lexer->next != quote)
		lexer->next += *lexer->next == '\\' && lexer->next + 1 < end ? 2 : 1;
	if (lexer->next == end) {
		rr_xdr_error(lexer->compiler, token->position, "this text has no end, expected %c", quote);
		return;
	}
	lexer->next++;
	token->text = rr_xdr_lexer_copy(lexer, start, lexer->next);
	token->kind = quote == '"' ? RR_XDR_TOKEN_TEXT : RR_XDR_TOKEN_NUMBER;
	if (quote == '"')
		return;
	token->number.magnitude = (unsigned char)start[1];
	if (lexer->next - start != 3 || start[1] == '\\')
		rr_xdr_error(lexer->compiler, token->position, "expected one character between the quotes");
}

/* Reads one character of punctuation, such as a brace, into token. Reports any other character. */
static void
read_punctuation(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	unsigned char c = (unsigned char)*lexer->next;

	if (c != '\0' && strchr("{}[]<>()=;:,*", c)) {
		token->kind = RR_XDR_TOKEN_MARK;
		token->text = rr_xdr_lexer_copy(lexer, lexer->next, lexer->next + 1);
		lexer->next++;
		return;
	}
	if (isgraph(c))
		rr_xdr_error(lexer->compiler, token->position, "unexpected character '%c'", c);
	else
		rr_xdr_error(lexer->compiler, token->position, "unexpected octet 0x%02x", c);
}

struct rr_xdr_token
rr_xdr_next_token(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_token token = { .kind = RR_XDR_TOKEN_END, .text = "the end of the file" };

	lexer_skip_to_token(lexer);
	token.position = rr_xdr_lexer_position(lexer);
	if (lexer->next == lexer->end || lexer->compiler->error)
		return token;
	if (isalpha((unsigned char)*lexer->next))
		read_name(lexer, &token);
	else if (isdigit((unsigned char)*lexer->next) ||
		 (*lexer->next == '-' && isdigit((unsigned char)lexer->next[1])))
		read_number(lexer, &token);
	else if (*lexer->next == '"' || *lexer->next == '\'')
		read_quoted(lexer, &token);
	else
		read_punctuation(lexer, &token);
	if (lexer->compiler->error)
		token.kind = RR_XDR_TOKEN_END;
	return token;
}
