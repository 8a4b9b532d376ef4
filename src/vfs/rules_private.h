/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RULES_PRIVATE_H
#define RR_VFS_RULES_PRIVATE_H

#include "vfs/rules.h"

enum { RR_RULE_ADDRESSES = 64 }; /* at most so many addresses of one host count */

/* A draft is a rule as its text describes it, with all addresses of its client. rr_rules_add() makes one rule
 * of it for each address. */
struct rr_rule_draft {
	struct rr_rule rule; /* without its address and client */
	char client[RR_RULES_CLIENT + 1];
	/* Of addresses; more than one where a host has several. "*" counts as one, of zeros. */
	uint32_t count;
	uint8_t addresses[RR_RULE_ADDRESSES][16];
};

/* Parses "CLIENT" or "CLIENT(OPTION,...)" into draft. Before the call, draft->rule.right contains the
 * defaults, which the options change. Errors: as rr_rules_add(). */
int rr_rule_parse(const char *text, struct rr_rule_draft *draft, struct rr_text *why);

/* rules_name.c: tells whether the text of this length matches the pattern: '*' stands for any characters, '?'
 * for one, "[a-z]" for one of these, "[!a-z]" for another one; capitals count as small letters. */
bool rr_rule_pattern_matches(const char *pattern, const char *text, size_t length);

/* Parses draft->client into the kind, the prefix and the addresses of the rule. A name of a host is looked
 * up. Errors: INVAL, ADDRESS. */
int rr_rule_client(struct rr_rule_draft *draft, struct rr_text *why);

#endif
