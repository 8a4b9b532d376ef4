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

static struct rr_xdr_position
position(const struct rr_xdr_lexer *lexer)
{
	return (struct rr_xdr_position){ lexer->line_number, (unsigned)(lexer->next - lexer->line) + 1 };
}

/* The text ends in a zero, so that one octet may always be looked at. */
static bool
at(const struct rr_xdr_lexer *lexer, const char *word)
{
	return strncmp(lexer->next, word, strlen(word)) == 0;
}

static const char *
copy(struct rr_xdr_lexer *lexer, const char *from, const char *to)
{
	return rr_xdr_format(lexer->compiler, "%.*s", (int)(to - from), from);
}

static void
advance(struct rr_xdr_lexer *lexer)
{
	if (*lexer->next++ != '\n')
		return;
	lexer->line = lexer->next;
	lexer->line_number++;
}

static const char *
end_of_line(const struct rr_xdr_lexer *lexer)
{
	const char *end = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));

	return end ? end : lexer->end;
}

static void
skip_comment(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_position start = position(lexer);

	for (lexer->next += 2; lexer->next < lexer->end; advance(lexer)) {
		if (!at(lexer, "*/"))
			continue;
		lexer->next += 2;
		return;
	}
	rr_xdr_error(lexer->compiler, start, "this comment has no end, expected */");
}

static void
pass_line(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_passed *passed = rr_xdr_alloc(lexer->compiler, sizeof(*passed));
	const char *end = end_of_line(lexer);

	if (!passed)
		return;
	passed->line = copy(lexer, lexer->next + 1, end);
	*lexer->compiler->passed_end = passed;
	lexer->compiler->passed_end = &passed->next;
	lexer->next = end;
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void
skip_blanks(struct rr_xdr_lexer *lexer)
{
	while (*lexer->next == ' ' || *lexer->next == '\t' || *lexer->next == '\r')
		lexer->next++;
}

/* One word of a line, and the blanks behind it; "" where there is none. */
static const char *
word(struct rr_xdr_lexer *lexer)
{
	const char *start = lexer->next, *text;

	while (is_name(*lexer->next))
		lexer->next++;
	text = copy(lexer, start, lexer->next);
	skip_blanks(lexer);
	return text;
}

static void
read_mark(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_mark *mark = rr_xdr_alloc(lexer->compiler, sizeof(*mark));

	if (!mark)
		return;
	mark->position = position(lexer);
	mark->type = word(lexer);
	if (*lexer->next == '.') {
		lexer->next++;
		mark->field = word(lexer);
	}
	if (!*mark->type || !mark->field || !*mark->field || lexer->next != end_of_line(lexer)) {
		rr_xdr_error(lexer->compiler, mark->position,
			"expected TYPE.FIELD, the opaque or string to place");
		return;
	}
	*lexer->compiler->marks_end = mark;
	lexer->compiler->marks_end = &mark->next;
}

static void
read_prefix(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_position where = position(lexer);
	const char *name = word(lexer);

	if (!*name || isdigit((unsigned char)*name) || lexer->next != end_of_line(lexer)) {
		rr_xdr_error(lexer->compiler, where, "expected a name that the functions' names begin with");
		return;
	}
	lexer->compiler->codec_prefix = rr_xdr_format(lexer->compiler, "%s_", name);
	lexer->compiler->program_prefix = lexer->compiler->codec_prefix;
}

/* A line that begins with #: our pragma, or something that the C preprocessor left. */
static void
read_directive(struct rr_xdr_lexer *lexer)
{
	const char *end = end_of_line(lexer);
	struct rr_xdr_position where;
	const char *kind;

	lexer->next++;
	skip_blanks(lexer);
	if (strcmp(word(lexer), "pragma") != 0 || strcmp(word(lexer), "rpcrdma") != 0) {
		lexer->next = end;
		return;
	}
	where = position(lexer);
	kind = word(lexer);
	if (strcmp(kind, "place") == 0)
		read_mark(lexer);
	else if (strcmp(kind, "prefix") == 0)
		read_prefix(lexer);
	else
		rr_xdr_error(lexer->compiler, where,
			"unknown pragma, expected: #pragma rpcrdma place TYPE.FIELD, or prefix NAME");
}

static void
skip_to_token(struct rr_xdr_lexer *lexer)
{
	while (lexer->next < lexer->end && !lexer->compiler->error) {
		if (isspace((unsigned char)*lexer->next))
			advance(lexer);
		else if (at(lexer, "/*"))
			skip_comment(lexer);
		else if (*lexer->next == '%' && lexer->next == lexer->line)
			pass_line(lexer);
		else if (*lexer->next == '#' && lexer->next == lexer->line)
			read_directive(lexer);
		else
			return;
	}
}

static int
digit(char c)
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
bad_number(struct rr_xdr_lexer *lexer, const struct rr_xdr_token *token, const char *why)
{
	rr_xdr_error(lexer->compiler, token->position, "%s is not a number: %s", token->text, why);
}

/* Sets the token's number from digits, which are a part of its text. */
static void
convert(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token, const char *digits, int base)
{
	uint64_t *magnitude = &token->number.magnitude;

	if (!*digits)
		bad_number(lexer, token, "digits are missing");
	for (; *digits; digits++) {
		if (digit(*digits) >= base) {
			bad_number(lexer, token,
				base == 8 ? "the digits of an octal number are 0 to 7"
					  : "unexpected letter or digit");
			return;
		}
		if (__builtin_mul_overflow(*magnitude, (uint64_t)base, magnitude) ||
			__builtin_add_overflow(*magnitude, (uint64_t)digit(*digits), magnitude)) {
			bad_number(lexer, token, "it does not fit into 64 bits");
			return;
		}
	}
	if (token->number.negative && *magnitude > (uint64_t)INT64_MAX + 1)
		bad_number(lexer, token, "it does not fit into 64 bits");
	if (*magnitude == 0)
		token->number.negative = false;
}

static void
read_number(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	const char *start = lexer->next, *text;

	token->kind = RR_XDR_TOKEN_NUMBER;
	token->number.negative = *start == '-';
	lexer->next++;
	while (is_name(*lexer->next))
		lexer->next++;
	token->text = copy(lexer, start, lexer->next);
	if (lexer->compiler->error)
		return;
	text = token->text + (token->number.negative ? 1 : 0);
	if (text[0] != '0' || !text[1])
		convert(lexer, token, text, 10);
	else if (token->number.negative)
		bad_number(lexer, token, "only decimal numbers may be negative");
	else if (text[1] == 'x' || text[1] == 'X')
		convert(lexer, token, text + 2, 16);
	else
		convert(lexer, token, text + 1, 8);
}

static void
read_name(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	const char *start = lexer->next;

	token->kind = RR_XDR_TOKEN_NAME;
	while (is_name(*lexer->next))
		lexer->next++;
	token->text = copy(lexer, start, lexer->next);
}

static void
read_punctuation(struct rr_xdr_lexer *lexer, struct rr_xdr_token *token)
{
	unsigned char c = (unsigned char)*lexer->next;

	if (c != '\0' && strchr("{}[]<>()=;:,*", c)) {
		token->kind = RR_XDR_TOKEN_MARK;
		token->text = copy(lexer, lexer->next, lexer->next + 1);
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

	skip_to_token(lexer);
	token.position = position(lexer);
	if (lexer->next == lexer->end || lexer->compiler->error)
		return token;
	if (isalpha((unsigned char)*lexer->next))
		read_name(lexer, &token);
	else if (isdigit((unsigned char)*lexer->next) ||
		 (*lexer->next == '-' && isdigit((unsigned char)lexer->next[1])))
		read_number(lexer, &token);
	else
		read_punctuation(lexer, &token);
	if (lexer->compiler->error)
		token.kind = RR_XDR_TOKEN_END;
	return token;
}
