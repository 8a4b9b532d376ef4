/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RULES_PRIVATE_H
#define RR_VFS_RULES_PRIVATE_H

#include "vfs/rules.h"

enum { RR_RULE_ADDRESSES = 64 };

/* What the text of a rule says. */
struct rr_rule_draft {
	struct rr_rule rule; /* without its address and client */
	char client[RR_RULES_CLIENT + 1];
	uint32_t count; /* of a host that has several addresses, more than one */
	uint8_t addresses[RR_RULE_ADDRESSES][16];
};

/* Takes "CLIENT" or "CLIENT(OPTION,...)"; the draft's right has the defaults. Errors: as rr_rules_add(). */
int rr_rule_parse(const char *text, struct rr_rule_draft *draft, struct rr_text *why);

/* Takes the client in draft->client: its kind, prefix and addresses. Errors: INVAL, ADDRESS. */
int rr_rule_client(struct rr_rule_draft *draft, struct rr_text *why);

#endif
