/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <string.h>

#include "xdr/lexer.h"

/* Reads lines of a schema that do not belong to its language: lines for the header, for the compiler, and
 * of the preprocessor. */

void
rr_xdr_lexer_pass_line(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_passed *passed = rr_xdr_alloc(lexer->compiler, sizeof(*passed));
	const char *end = rr_xdr_lexer_end_of_line(lexer);

	if (!passed)
		return;
	/* Old source code control systems wrote such marks; compilers warn of them, so they are dropped. */
	if (strncmp(lexer->next, "%#pragma ident", strlen("%#pragma ident")) == 0) {
		lexer->next = end;
		return;
	}
	passed->place = ++lexer->compiler->places;
	passed->line = rr_xdr_lexer_copy(lexer, lexer->next + 1, end);
	*lexer->compiler->passed_end = passed;
	lexer->compiler->passed_end = &passed->next;
	lexer->next = end;
}

static void
lines_skip_blanks(struct rr_xdr_lexer *lexer)
{
	while (*lexer->next == ' ' || *lexer->next == '\t' || *lexer->next == '\r')
		lexer->next++;
}

/* Returns the word at the place where the lexer stands, and moves behind the word and the blanks that follow.
 * Returns "" if there is no word at this place. */
static const char *
lines_word(struct rr_xdr_lexer *lexer)
{
	const char *start = lexer->next, *text;

	while (rr_xdr_lexer_is_word(*lexer->next))
		lexer->next++;
	text = rr_xdr_lexer_copy(lexer, start, lexer->next);
	lines_skip_blanks(lexer);
	return text;
}

/* Reads the rest of `#pragma rpcrdma place TYPE.FIELD`, which says that the field may travel in a chunk, and
 * adds TYPE and FIELD to the list compiler->marks. */
static void
read_mark(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_mark *mark = rr_xdr_alloc(lexer->compiler, sizeof(*mark));

	if (!mark)
		return;
	mark->position = rr_xdr_lexer_position(lexer);
	mark->type = lines_word(lexer);
	if (*lexer->next == '.') {
		lexer->next++;
		mark->field = lines_word(lexer);
	}
	if (!*mark->type || !mark->field || !*mark->field || lexer->next != rr_xdr_lexer_end_of_line(lexer)) {
		rr_xdr_error(lexer->compiler, mark->position,
			"expected TYPE.FIELD, the opaque or string to place");
		return;
	}
	*lexer->compiler->marks_end = mark;
	lexer->compiler->marks_end = &mark->next;
}

/* Reads the rest of `#pragma rpcrdma prefix NAME`, and sets the prefix with which the names of generated
 * functions and tables begin. */
static void
read_prefix(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_position where = rr_xdr_lexer_position(lexer);
	const char *name = lines_word(lexer);

	if (!*name || isdigit((unsigned char)*name) || lexer->next != rr_xdr_lexer_end_of_line(lexer)) {
		rr_xdr_error(lexer->compiler, where, "expected a name that the functions' names begin with");
		return;
	}
	lexer->compiler->codec_prefix = rr_xdr_format(lexer->compiler, "%s_", name);
	lexer->compiler->program_prefix = lexer->compiler->codec_prefix;
}

/* Reads the rest of a #pragma, behind the word pragma. Ignores pragmas of other programs, and reports those
 * pragmas of rpcrdma that are unknown. */
static void
read_pragma(struct rr_xdr_lexer *lexer)
{
	const char *end = rr_xdr_lexer_end_of_line(lexer);
	struct rr_xdr_position where;
	const char *kind;

	if (strcmp(lines_word(lexer), "rpcrdma") != 0) {
		lexer->next = end;
		return;
	}
	where = rr_xdr_lexer_position(lexer);
	kind = lines_word(lexer);
	if (strcmp(kind, "place") == 0)
		read_mark(lexer);
	else if (strcmp(kind, "prefix") == 0)
		read_prefix(lexer);
	else
		rr_xdr_error(lexer->compiler, where,
			"unknown pragma, expected: #pragma rpcrdma place TYPE.FIELD, or prefix NAME");
}

/* Reads the rest of a line marker of the C preprocessor, behind the #: the line number and the file name that
 * messages give for the next line. */
static void
read_marker(struct rr_xdr_lexer *lexer)
{
	const char *end = rr_xdr_lexer_end_of_line(lexer), *name, *quote;
	unsigned number = 0;

	for (; isdigit((unsigned char)*lexer->next) && number < UINT32_MAX / 10 - 1; lexer->next++)
		number = 10 * number + (unsigned)(*lexer->next - '0');
	lines_skip_blanks(lexer);
	/* The end of this line adds 1. */
	lexer->line_number = number > 0 ? number - 1 : 0;
	name = lexer->next + 1;
	quote = *lexer->next == '"' ? memchr(name, '"', (size_t)(end - name)) : NULL;
	if (quote)
		lexer->file = rr_xdr_lexer_copy(lexer, name, quote);
	lexer->next = end;
}

void
rr_xdr_lexer_directive(struct rr_xdr_lexer *lexer)
{
	struct rr_xdr_position where = rr_xdr_lexer_position(lexer);
	const char *kind, *unprocessed = lexer->compiler->unprocessed;

	lexer->next++;
	lines_skip_blanks(lexer);
	if (isdigit((unsigned char)*lexer->next)) {
		read_marker(lexer);
		return;
	}
	kind = lines_word(lexer);
	if (strcmp(kind, "pragma") == 0) {
		read_pragma(lexer);
		return;
	}
	/* Such a line is an error, as the text between #if and #endif would become part of the schema. A line
	 * that the C preprocessor has left, once it has run, is ignored. */
	if (unprocessed)
		rr_xdr_error(
			lexer->compiler, where, "#%s is for the C preprocessor, which %s", kind, unprocessed);
	lexer->next = rr_xdr_lexer_end_of_line(lexer);
}
