/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_PROGRESS_H
#define RR_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line on the terminal (standard error) that tells how far a long work is. Nothing where that is no
 * terminal. */
struct rr_progress {
	bool enabled, shown;
	const char *name; /* of the file that is copied now */
	/* Octets: of this file, of all files that are known of, and of those how many are done. */
	uint64_t size, expected, total;
	uint64_t start, last; /* times, ns */
};

void rr_progress_init(struct rr_progress *progress, bool wanted);

/* Octets of a file that is to be copied: what total grows to, as far as is known. */
void rr_progress_expect(struct rr_progress *progress, uint64_t octets);

/* The next file. The line of a large one is drawn at once. */
void rr_progress_file(struct rr_progress *progress, const char *name, uint64_t size);

/* Octets more of it. */
void rr_progress_add(struct rr_progress *progress, uint64_t octets);

/* Draws the line anew, a few times in a second at most, and not in the first one unless a file is large. */
void rr_progress_show(struct rr_progress *progress);

/* Wipes the line out, before other output. */
void rr_progress_hide(struct rr_progress *progress);

/* "12.3 MB"; returns text. */
const char *rr_progress_octets(uint64_t octets, char *text, size_t size);

/* The time that is left, where so many octets of all of them took that many ns: "0:07", "1:02:03", or "-:--"
 * where it is not known, or is 100 hours or more; returns text. */
const char *rr_progress_left(uint64_t done, uint64_t all, uint64_t took, char *text, size_t size);

#endif
