/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RULES_H
#define RR_VFS_RULES_H

#include "base/address.h"
#include "base/env.h"
#include "base/text.h"

/*
 * Rules say which clients may use an export, and how; they are written as in exports(5). A rule is
 * "CLIENT(OPTION,...)". Where several rules of an export match the caller, one of them counts: the rule of a
 * single host before the rule of a network, and the rule of a network before "*". Of two rules of one kind,
 * the first rule counts. A caller without a rule may do nothing.
 *
 * One thread makes the rules of all exports (struct rr_rules); they do not change afterwards. Each thread
 * that uses them holds a reference. Where the rules are to change, new ones are made, and each thread
 * replaces its reference.
 */

enum rr_squash { RR_SQUASH_ROOT, RR_SQUASH_NONE, RR_SQUASH_ALL };

/* Flavors: AUTH_SYS, AUTH_NONE, and RPCSEC_GSS with Kerberos and the services none, integrity and privacy. */
enum {
	RR_RIGHT_SYS = 1,
	RR_RIGHT_NONE = 2,
	RR_RIGHT_KRB5 = 4,
	RR_RIGHT_KRB5I = 8,
	RR_RIGHT_KRB5P = 16,
	RR_RIGHT_KERBEROS = RR_RIGHT_KRB5 | RR_RIGHT_KRB5I | RR_RIGHT_KRB5P,
	RR_RIGHT_FLAVORS = 5 /* how many there are */
};
enum { RR_RIGHT_V3 = 1, RR_RIGHT_V4 = 2 }; /* versions of NFS */
/* What protects the connection: bit s for the enum rr_security s. */
enum { RR_RIGHT_PLAIN = 1, RR_RIGHT_TLS = 2, RR_RIGHT_MTLS = 4, RR_RIGHT_SECURITIES = 7 };

/* The rights that a rule gives to its callers. */
struct rr_right {
	enum rr_squash squash;
	uint32_t anon_uid, anon_gid; /* the user and group of squashed callers, and of AUTH_NONE */
	bool read_only;
	bool secure;     /* callers over TCP must have a port below 1024 */
	uint8_t flavors; /* RR_RIGHT_SYS, ... */
	/* The flavors that a rule tells clients first, in this order; 0 behind them. */
	uint8_t order[RR_RIGHT_FLAVORS];
	uint8_t versions; /* RR_RIGHT_V3, RR_RIGHT_V4 */
	uint8_t xprtsec;  /* RR_RIGHT_PLAIN, RR_RIGHT_TLS, RR_RIGHT_MTLS */
};

/* The rights that exports(5) gives by default: read-only, root squashed to 65534, secure, AUTH_SYS; both
 * versions. */
extern const struct rr_right rr_right_default;

enum rr_rule_kind { RR_RULE_HOST, RR_RULE_NETWORK, RR_RULE_ALL };

struct rr_rule {
	enum rr_rule_kind kind;
	uint8_t address[16]; /* as in struct rr_source; the bits behind the prefix are 0 */
	uint8_t prefix;      /* bits of address that count */
	struct rr_right right;
	const char *client; /* as it was written; several rules may share the text */
};

struct rr_rules;

/* At most so many rules, of all exports together; and the longest text of a client, in octets. */
enum { RR_RULES_MAX = 4096, RR_RULES_CLIENT = 255 };

/* Makes rules for count exports, with one reference. There are no rules at first, so that no client may use
 * any export. Errors: NOMEM. */
int rr_rules_new(const struct rr_env *env, uint32_t count, struct rr_rules **rules);

/* Takes a reference to rules, and returns rules. */
struct rr_rules *rr_rules_hold(struct rr_rules *rules);
/* Gives a reference to rules back, and frees the rules with the last reference. */
void rr_rules_release(struct rr_rules *rules); /* rules may be NULL */

/* Adds the rule that text describes ("192.0.2.0/24(rw,no_root_squash)") to the rules of the export of this
 * number. The rule has the rights in defaults, as the options of text change them. The name of a host is
 * looked up now, and one rule is added for each of its addresses. Errors, with the reason in why: INVAL;
 * ADDRESS (a name that has no address); LIMIT; NOMEM. */
int rr_rules_add(struct rr_rules *rules, uint32_t number, const char *text, const struct rr_right *defaults,
	struct rr_text *why);

/* Applies a list of options ("rw,sync") to right, which can then be the defaults of several clients. The list
 * may be empty. Errors: INVAL, with the reason in why. */
int rr_rules_options(const char *words, struct rr_right *right, struct rr_text *why);

/* Lists the flavors of a right in their order, as MOUNT names them (RFC 2623, 2.2.2: the pseudo-flavors of
 * Kerberos). Returns how many there are. */
uint32_t rr_right_flavors(const struct rr_right *right, uint32_t flavors[RR_RIGHT_FLAVORS]);

/* Tells whether a rule has flavors of Kerberos. */
bool rr_rules_want_kerberos(const struct rr_rules *rules);

/* Tells whether each rule admits connections with some protection of those that are offered (RR_RIGHT_PLAIN,
 * ...). If not, writes into why which client could never come in. */
bool rr_rules_are_met(const struct rr_rules *rules, uint8_t offered, struct rr_text *why);

/* Returns the rule that counts for a caller at this source in the export of this number, or NULL if there is
 * none, so that the caller may do nothing. */
const struct rr_rule *rr_rules_find(
	const struct rr_rules *rules, uint32_t number, const struct rr_source *source);

#endif
