/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_PROGRESS_H
#define RR_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line on the terminal (standard error) that shows the progress of a long work. If standard error is no
 * terminal, there is no line. */
struct rr_progress {
	bool enabled, shown; /* the line may be drawn; it is on the terminal now */
	const char *name;    /* of the file that is copied now */
	/* Octets: of the current file; of all files known so far; and of those, the octets that are done. */
	uint64_t size, expected, total;
	uint64_t start, last; /* when the work began, and when the line was drawn last: ns of rr_now() */
};

/* Begins the work. wanted: the user has not switched the line off. */
void rr_progress_init(struct rr_progress *progress, bool wanted);

/* Adds the octets of a file that will be copied to the total that is expected. */
void rr_progress_expect(struct rr_progress *progress, uint64_t octets);

/* Begins the next file, which has that name and size; the name must live until the next call of this
 * function. For a large file, draws the line of progress at once. */
void rr_progress_file(struct rr_progress *progress, const char *name, uint64_t size);

/* Adds octets that have been copied to those that are done. */
void rr_progress_add(struct rr_progress *progress, uint64_t octets);

/* Draws the line of progress anew, a few times in a second at most, and not in the first second unless the
 * file is large. */
void rr_progress_show(struct rr_progress *progress);

/* Removes the line of progress from the terminal, before other output is written. */
void rr_progress_hide(struct rr_progress *progress);

/* Writes a number of octets as "12.3 MB" into text, and returns text. */
const char *rr_progress_octets(uint64_t octets, char *text, size_t size);

/* Writes the time that the rest takes, if `done` octets of `all` took `took` ns: "0:07", "1:02:03", or "-:--"
 * if that is not known, or is 100 hours or more. Returns text. */
const char *rr_progress_left(uint64_t done, uint64_t all, uint64_t took, char *text, size_t size);

#endif
