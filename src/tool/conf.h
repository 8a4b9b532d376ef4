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

/* The reader of a configuration file. */
struct rr_conf {
	char *text;
	size_t size, at; /* octets of text; offset of the character that is read next */
	unsigned line;   /* number of the line in which the last word began, from 1 */
	unsigned next;   /* number of the line of the character at text + at */
	bool ended;      /* the line of the last word has ended */
	const char *bad; /* the error in this line; NULL if there is none */
};

/* Reads the file into conf. Returns 0; or, with a text in `why`, one of the errors SYSTEM, LIMIT (the file is
 * larger than RR_CONF_MAX), INVAL (it has a zero octet) and NOMEM. */
int rr_conf_read(const char *path, struct rr_conf *conf, struct rr_text *why);

/* Copies `size` octets of text into conf, as if they were read from a file. Returns 0; or, with a text in
 * `why`, the error INVAL (there is a zero octet) or NOMEM. */
int rr_conf_take(const char *text, size_t size, struct rr_conf *conf, struct rr_text *why);

/* Skips the rest of the present line, and returns the first word of the next line that has words, or NULL if
 * there is no such line. If conf->bad is set afterwards, the line has an error: the word is then empty, and
 * the line must not be used. */
char *rr_conf_first(struct rr_conf *conf);

/* Returns the next word of the present line, and sets conf->line to the number of the line in which the word
 * begins; NULL if the line has no further word, or if it has an error, which conf->bad then says. */
char *rr_conf_word(struct rr_conf *conf);

void rr_conf_free(struct rr_conf *conf);

#endif
