/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of names and of addresses in rules. */
#include <ctype.h>
#include <string.h>

#include "vfs/rules_private.h"

/* Finds the end of the set of characters that begins with the '[' at set: the place of its ']', or NULL. */
static const char *
name_set_end(const char *set)
{
	const char *at = set + 1;

	at += *at == '!' || *at == '^';
	return *at ? strchr(at + 1, ']') : NULL;
}

/* Tells whether the character is in the set between set, its '[', and end, its ']'. */
static bool
name_in_set(const char *set, const char *end, int c)
{
	const char *at = set + 1;
	bool not = *at == '!' || *at == '^', in = false;

	for (at += not ; at < end; at++) {
		if (at + 2 < end && at[1] == '-') {
			in |= c >= tolower((unsigned char)at[0]) && c <= tolower((unsigned char)at[2]);
			at += 2;
		} else {
			in |= c == tolower((unsigned char)*at);
		}
	}
	return in != not ;
}

/* Tells whether the one character c is what stands at the beginning of the pattern, which is not empty and
 * not at a '*'. Stores in *next what follows in the pattern. */
static bool
name_matches_one(const char *pattern, int c, const char **next)
{
	const char *end = *pattern == '[' ? name_set_end(pattern) : NULL;

	*next = (end ? end : pattern) + 1;
	c = tolower((unsigned char)c);
	if (end)
		return name_in_set(pattern, end, c);
	return *pattern == '?' || tolower((unsigned char)*pattern) == c;
}

/* Where the rest does not match, only the last '*' is tried with one character more: no other one can help.
 * So this takes no more steps than the product of both lengths. */
bool
rr_rule_pattern_matches(const char *pattern, const char *text, size_t length)
{
	const char *star = NULL, *end = text + length, *next;
	const char *again = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (*pattern && name_matches_one(pattern, *text, &next)) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool
rr_rule_names_match(const struct rr_rule *rule, struct rpcrdma_bytes names)
{
	const char *at = names.data, *end = at + names.length;

	while (at < end) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));
		size_t length = (size_t)((blank ? blank : end) - at);

		if (rr_rule_pattern_matches(rule->client, at, length))
			return true;
		at += length + 1;
	}
	return false;
}
