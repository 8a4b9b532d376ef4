/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/exclude.h"

#include <string.h>

/* Takes the argument of --exclude. Returns an exit status, after a message if it is not OK. */
static int
exclude_take(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_excludes *excludes = state;
	size_t length = strlen(argument);

	if (length == 0 || length > RR_EXCLUDE_LENGTH)
		return rr_tool_usage(
			tool, "--exclude takes a pattern of 1 to %d octets", (int)RR_EXCLUDE_LENGTH);
	if (excludes->count == RR_EXCLUDES_MAX)
		return rr_tool_usage(tool, "--exclude can be given %d times at most", (int)RR_EXCLUDES_MAX);
	excludes->patterns[excludes->count++] = argument;
	return RR_EXIT_OK;
}

const struct rr_option rr_exclude_options[] = {
	{ .name = "exclude",
		.argument = "PATTERN",
		.help = "leave out names that the pattern matches; it can be given several times",
		.kind = RR_OPTION_CALL,
		.take = exclude_take },
	{ 0 },
};

/* Which positions of a pattern the octets so far can have led to; the last one is its end. */
struct exclude_reached {
	bool at[RR_EXCLUDE_LENGTH + 1];
};

/* Adds a position, and those that follow it without an octet, as a star may stand for none. */
static void
exclude_reach(struct exclude_reached *reached, const char *pattern, size_t length, size_t at)
{
	while (!reached->at[at]) {
		reached->at[at] = true;
		if (at == length || pattern[at] != '*')
			return;
		at++;
	}
}

/* Goes on from all positions by one octet of the path. All of them are followed at the same time, and so no
 * position is tried twice. */
static void
exclude_step(const struct exclude_reached *before, struct exclude_reached *after, const char *pattern,
	size_t length, char octet)
{
	memset(after, 0, sizeof(*after));
	for (size_t at = 0; at < length; at++) {
		bool doubled =
			pattern[at] == '*' && ((at > 0 && pattern[at - 1] == '*') || pattern[at + 1] == '*');

		if (!before->at[at])
			continue;
		if (pattern[at] == '*' && (octet != '/' || doubled))
			exclude_reach(after, pattern, length, at);
		else if (pattern[at] == octet || (pattern[at] == '?' && octet != '/'))
			exclude_reach(after, pattern, length, at + 1);
	}
}

/* Tells whether the first `length` octets of the pattern match a path. If anchored is false, the match may
 * begin at any name of the path. */
static bool
exclude_matches(const char *pattern, size_t length, const char *path, bool anchored)
{
	struct exclude_reached sets[2] = { 0 };
	unsigned now = 0;

	exclude_reach(&sets[0], pattern, length, 0);
	for (; *path; path++) {
		exclude_step(&sets[now], &sets[!now], pattern, length, *path);
		now = !now;
		if (*path == '/' && !anchored)
			exclude_reach(&sets[now], pattern, length, 0);
	}
	return sets[now].at[length];
}

bool
rr_exclude_has(const struct rr_excludes *excludes, const char *path, bool directory)
{
	for (unsigned i = 0; i < excludes->count; i++) {
		const char *pattern = excludes->patterns[i];
		size_t length = strlen(pattern);

		if (pattern[length - 1] == '/') {
			if (!directory)
				continue;
			length--;
		}
		/* An anchored pattern keeps its slash, which is the first octet of the path. */
		if (exclude_matches(pattern, length, pattern[0] == '/' ? path : path + 1, pattern[0] == '/'))
			return true;
	}
	return false;
}
