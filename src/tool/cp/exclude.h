/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_EXCLUDE_H
#define RR_TOOL_CP_EXCLUDE_H

#include "tool/tool.h"

/*
 * The option --exclude: names that a copy leaves out, by some of the rules of rsync(1). In a pattern, "*"
 * stands for any octets but a slash, "**" for any octets, "?" for one octet but a slash, and all else for
 * itself. A pattern that begins with a slash is compared with the whole path below the source; any other
 * pattern with the end of the path, from the beginning of a name on. A slash at the end of a pattern leaves
 * it to directories alone.
 */
enum { RR_EXCLUDES_MAX = 64, RR_EXCLUDE_LENGTH = 255 };

struct rr_excludes {
	const char *patterns[RR_EXCLUDES_MAX]; /* in argv */
	unsigned count;
};

/* The table of options (--exclude), whose state is a struct rr_excludes. */
extern const struct rr_option rr_exclude_options[];

/* Tells whether one of the patterns matches a path, "/name/name", of a directory or of something else. The
 * work is bounded by the length of the path times that of the pattern. */
bool rr_exclude_has(const struct rr_excludes *excludes, const char *path, bool directory);

#endif
