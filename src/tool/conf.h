/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CONF_H
#define RR_TOOL_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * The words of a configuration file. A line is words with blanks between them; "#" at the beginning of a word
 * makes the rest of the line a comment, and a backslash at the end of a line joins it with the next one.
 * "..." keeps blanks in a word, and \040 stands for the octet of that octal number, as in exports(5).
 *
 * Who owns what: the words lie in the text of the file, which rr_conf_free() frees.
 */

enum { RR_CONF_MAX = 1 << 20 }; /* octets of a file */

struct rr_conf {
	char *text;
	size_t size, at;
	unsigned line;   /* where the last word began, from 1 */
	unsigned next;   /* line of text + at */
	bool ended;      /* the line of the last word has ended */
	const char *bad; /* what is wrong in this line; NULL: nothing */
};

/* Reads the file. Errors, with a text: SYSTEM, LIMIT (larger than RR_CONF_MAX), INVAL (a zero octet), NOMEM.
 */
int rr_conf_read(const char *path, struct rr_conf *conf, struct rr_text *why);

/* Takes a copy of size octets instead. */
int rr_conf_take(const char *text, size_t size, struct rr_conf *conf, struct rr_text *why);

/* The first word of the next line that has words, or what was left of the last line is skipped; NULL: there
 * is no more. Where conf->bad is set, the line is not to be used. */
char *rr_conf_first(struct rr_conf *conf);

/* The next word of the same line; NULL: there is no more, or conf->bad is set. */
char *rr_conf_word(struct rr_conf *conf);

void rr_conf_free(struct rr_conf *conf);

#endif
