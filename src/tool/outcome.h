/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OUTCOME_H
#define RR_TOOL_OUTCOME_H

#include <stdint.h>
#include <stdio.h>

#include "tool/tool.h"

/* The outcome of the work on one operand of a command, such as a URL. With --json it is printed as an object
 * on its own line. Messages go to standard error all the same, as with each command. */

struct rr_outcome {
	bool json;                   /* the option --json */
	uint64_t began;              /* when the work on the operand began: ns of rr_now() */
	uint64_t files, directories; /* numbers that were removed, made, moved, linked or written out */
	uint64_t octets;             /* of those files */
	uint32_t failed;             /* number of messages about this operand */
	char first[8192];            /* the first of these messages */
};

/* The table of options (--json), whose state is a struct rr_outcome. */
extern const struct rr_option rr_outcome_options[];

/* Begins the outcome of the next operand: sets all counts to 0, and notes the time. */
void rr_outcome_begin(struct rr_outcome *outcome);

/* Reports an error as rr_tool_fail() does, and notes its message in the outcome. Returns RR_EXIT_FAILED. */
int rr_outcome_fail(struct rr_outcome *outcome, const struct rr_tool *tool, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Notes in the outcome the message "NAME: WHY", which was printed already. */
void rr_outcome_note(struct rr_outcome *outcome, const char *name, const char *why);

/* The place that the operand went to: a directory and a name in it ("" for the directory itself). */
struct rr_outcome_to {
	const char *directory, *name;
};
/* With --json, prints the outcome of the operand `url` as an object; without it, prints nothing. status: the
 * exit status of the work. to: the place that the operand went to; NULL if it went nowhere. */
void rr_outcome_end(const struct rr_outcome *outcome, FILE *out, int status, const char *url,
	const struct rr_outcome_to *to);

#endif
