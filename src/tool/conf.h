/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CONF_H
#define RR_TOOL_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * The words of a configuration file. A line consists of words with blanks between them; "#" at the beginning
 * of a word makes the rest of the line a comment, and a backslash at the end of a line joins it with the next
 * line. "..." keeps blanks in a word, and \040 stands for the octet of that octal number, as in exports(5).
 *
 * Ownership: the words lie in the text of the file, which rr_conf_free() frees.
 */

enum { RR_CONF_MAX = 1 << 20 }; /* the most octets of a file */

struct rr_conf {
	char *text;
	size_t size, at;
	unsigned line;   /* where the last word began, from 1 */
	unsigned next;   /* line of the character at text + at */
	bool ended;      /* the line of the last word has ended */
	const char *bad; /* the error in this line; NULL: there is none */
};

/* Reads the file. Errors, with a text: SYSTEM, LIMIT (larger than RR_CONF_MAX), INVAL (a zero octet),
 * NOMEM. */
int rr_conf_read(const char *path, struct rr_conf *conf, struct rr_text *why);

/* Takes a copy of `size` octets of text in place of a file. Errors: INVAL, NOMEM. */
int rr_conf_take(const char *text, size_t size, struct rr_conf *conf, struct rr_text *why);

/* Returns the first word of the next line that has words; the rest of the last line is skipped. NULL: there
 * are no more lines. If conf->bad is set, the line is not to be used. */
char *rr_conf_first(struct rr_conf *conf);

/* Returns the next word of the same line; NULL: there is no further word, or conf->bad is set. */
char *rr_conf_word(struct rr_conf *conf);

void rr_conf_free(struct rr_conf *conf);

#endif
