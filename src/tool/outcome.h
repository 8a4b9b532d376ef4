/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_OUTCOME_H
#define RR_TOOL_OUTCOME_H

#include <stdint.h>
#include <stdio.h>

#include "tool/tool.h"

/* What became of one operand of a command: with --json, an object on a line of its own. Messages go to
 * standard error all the same, as with each command. */

struct rr_outcome {
	bool json;
	uint64_t began;              /* when work on the operand did */
	uint64_t files, directories; /* that were removed, made, moved, linked or written out */
	uint64_t octets;             /* of those files */
	uint32_t failed;             /* messages about this operand */
	char first[512];             /* the first one of them */
};

/* Table of options (--json); its state is a struct rr_outcome. */
extern const struct rr_option rr_outcome_options[];

/* The next operand. */
void rr_outcome_begin(struct rr_outcome *outcome);

/* rr_tool_fail(), whose message becomes a part of the outcome. */
int rr_outcome_fail(struct rr_outcome *outcome, const struct rr_tool *tool, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a message that was written already. */
void rr_outcome_note(struct rr_outcome *outcome, const char *name, const char *why);

/* Prints the object where --json was given. to: where the operand went, a directory and a name in it ("" for
 * the directory itself); NULL: nowhere. */
struct rr_outcome_to {
	const char *directory, *name;
};
void rr_outcome_end(const struct rr_outcome *outcome, FILE *out, int status, const char *url,
	const struct rr_outcome_to *to);

#endif
