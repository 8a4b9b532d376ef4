/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RULES_H
#define RR_VFS_RULES_H

#include "base/address.h"
#include "base/env.h"
#include "base/text.h"

/*
 * Which clients may use an export, and how: the rules of exports(5). A rule is "CLIENT(OPTION,...)". Of the
 * rules of an export whose client is the caller, that of a single host counts before that of a network, and
 * that before "*"; of two of one kind, the first one counts. A caller without a rule may do nothing.
 *
 * Rules are made by one thread and do not change afterwards. Each thread that uses them holds a reference,
 * and takes new ones as a whole.
 */

enum rr_squash { RR_SQUASH_ROOT, RR_SQUASH_NONE, RR_SQUASH_ALL };

enum { RR_RIGHT_SYS = 1, RR_RIGHT_NONE = 2 }; /* flavors: AUTH_SYS, AUTH_NONE */
enum { RR_RIGHT_V3 = 1, RR_RIGHT_V4 = 2 };    /* versions of NFS */

/* How a caller may use an export. */
struct rr_right {
	enum rr_squash squash;
	uint32_t anon_uid, anon_gid; /* of those who are squashed, and of AUTH_NONE */
	bool read_only;
	bool secure;      /* callers over TCP have a port below 1024 */
	uint8_t flavors;  /* RR_RIGHT_SYS, RR_RIGHT_NONE */
	uint8_t versions; /* RR_RIGHT_V3, RR_RIGHT_V4 */
};

/* As exports(5) has it: read-only, root squashed to 65534, secure, AUTH_SYS; both versions. */
extern const struct rr_right rr_right_default;

enum rr_rule_kind { RR_RULE_HOST, RR_RULE_NETWORK, RR_RULE_ALL };

struct rr_rule {
	enum rr_rule_kind kind;
	uint8_t address[16]; /* as in struct rr_source; behind the prefix: zeros */
	uint8_t prefix;      /* bits of address that count */
	struct rr_right right;
	const char *client; /* as it was written; several rules may share it */
};

struct rr_rules;

enum { RR_RULES_MAX = 4096, RR_RULES_CLIENT = 255 };

/* The rules of count exports, of which nobody may use any yet; one reference. Errors: NOMEM. */
int rr_rules_new(const struct rr_env *env, uint32_t count, struct rr_rules **rules);

struct rr_rules *rr_rules_hold(struct rr_rules *rules);
void rr_rules_release(struct rr_rules *rules); /* rules may be NULL */

/*
 * Adds what text says ("192.0.2.0/24(rw,no_root_squash)") to the rules of an export. defaults: what counts
 * for what the text does not say. Names of hosts are looked up now, and stand for the addresses that they
 * have now. Errors, with a text: INVAL; ADDRESS (a name that has no address); LIMIT; NOMEM.
 */
int rr_rules_add(struct rr_rules *rules, uint32_t number, const char *text, const struct rr_right *defaults,
	struct rr_text *why);

/* Adds words of options, "rw,sync", to right: for what counts for several clients. Errors: INVAL. */
int rr_rules_options(const char *words, struct rr_right *right, struct rr_text *why);

/* The rule that counts for a caller; NULL: it may do nothing. */
const struct rr_rule *rr_rules_find(
	const struct rr_rules *rules, uint32_t number, const struct rr_source *source);

#endif
