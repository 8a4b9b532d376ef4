/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RULES_H
#define RR_VFS_RULES_H

#include "base/address.h"
#include "base/env.h"
#include "base/text.h"

#include <rpcrdma/xdr.h>

/*
 * Rules say which clients may use an export, and how; they are written as in exports(5). A rule is
 * "CLIENT(OPTION,...)". Where several rules of an export match the caller, one of them counts: the rule of a
 * single host before the rule of a network, that before a pattern of names, that before a netgroup, and all
 * these before "*". Of two rules of one kind, the first rule counts. A caller without a rule may do nothing.
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

/* The user whom all callers of a client with a certificate are. */
enum { RR_RIGHT_GROUPS = 16 }; /* groups beyond these are left out, as in AUTH_SYS */
struct rr_right_user {
	bool given;
	uint32_t uid, gid, group_count, groups[RR_RIGHT_GROUPS];
};

/* The rights that a rule gives to its callers. */
struct rr_right {
	enum rr_squash squash;
	uint32_t anon_uid, anon_gid; /* the user and group of squashed callers, and of AUTH_NONE */
	bool read_only;
	bool secure;         /* callers over TCP must have a port below 1024 */
	bool refuse_unknown; /* principals of Kerberos that are no user here are refused, not anonymous */
	bool no_acl;         /* callers neither see nor set access lists, which count all the same */
	uint8_t flavors;     /* RR_RIGHT_SYS, ... */
	/* The flavors that a rule tells clients first, in this order; 0 behind them. */
	uint8_t order[RR_RIGHT_FLAVORS];
	uint8_t versions; /* RR_RIGHT_V3, RR_RIGHT_V4 */
	uint8_t xprtsec;  /* RR_RIGHT_PLAIN, RR_RIGHT_TLS, RR_RIGHT_MTLS */
	/* Callers inside of mutual TLS are this user, whatever user their AUTH_SYS names. */
	struct rr_right_user tls_user;
	bool is_root;     /* the directory is the root of version 4 */
	bool mount_point; /* the rule counts only while the directory is one where a file system is mounted */
	uint64_t words;   /* the options that were given, see rr_right_note() */
};

/* The rights that exports(5) gives by default: read-only, root squashed to 65534, secure, AUTH_SYS; both
 * versions. */
extern const struct rr_right rr_right_default;

/* In the order in which they count. A pattern is "*.example.com", or "192.0.2.*", which is about addresses; a
 * group is "@group". */
enum rr_rule_kind { RR_RULE_HOST, RR_RULE_NETWORK, RR_RULE_PATTERN, RR_RULE_GROUP, RR_RULE_ALL };

struct rr_rule {
	enum rr_rule_kind kind;
	uint8_t address[16]; /* as in struct rr_source; the bits behind the prefix are 0 */
	uint8_t prefix;      /* bits of address that count */
	bool by_name;        /* the rule applies to hosts with some name, or in some netgroup */
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

/* Replaces the rules of the export of this number by those that `from` has for it. Errors: LIMIT; NOMEM. */
int rr_rules_keep(struct rr_rules *rules, uint32_t number, const struct rr_rules *from);

/* Applies a list of options ("rw,sync") to right, which can then be the defaults of several clients. The list
 * may be empty. Errors: INVAL, with the reason in why. */
int rr_rules_options(const char *words, struct rr_right *right, struct rr_text *why);

/* Returns what this server does instead of what an option asks for, of the options that were given, and
 * stores the option in *word; NULL: there is no further one. *at is 0 before the first call. */
const char *rr_right_note(const struct rr_right *right, uint32_t *at, const char **word);

/* Lists the flavors of a right in their order, as MOUNT names them (RFC 2623, 2.2.2: the pseudo-flavors of
 * Kerberos). Returns how many there are. */
uint32_t rr_right_flavors(const struct rr_right *right, uint32_t flavors[RR_RIGHT_FLAVORS]);

/* Returns the options that were given in any rule, for rr_right_note(). */
uint64_t rr_rules_words(const struct rr_rules *rules);

/* Tells whether an export has rules with the option mp; and removes these rules. */
bool rr_rules_want_mount_point(const struct rr_rules *rules, uint32_t number);
void rr_rules_drop_mount_points(struct rr_rules *rules, uint32_t number);

/* Returns the number of the export that is the root of version 4; that of all exports if none is. */
uint32_t rr_rules_root(const struct rr_rules *rules);

/* Tells whether a rule has flavors of Kerberos. */
bool rr_rules_want_kerberos(const struct rr_rules *rules);

/* Tells whether each rule admits connections with some protection of those that are offered (RR_RIGHT_PLAIN,
 * ...), and whether mutual TLS is offered where a rule has a user for it. If not, writes into why which
 * client could never come in, or never as that user. */
bool rr_rules_are_met(const struct rr_rules *rules, uint8_t offered, struct rr_text *why);

/* Returns the first rule, from *at on, of the export of this number that applies to a caller at this source,
 * or that may apply to it, as the name of its host decides (rule->by_name). *at becomes the place behind that
 * rule, for the next call; it is 0 before the first one. NULL: there is no further rule. */
const struct rr_rule *rr_rules_next(
	const struct rr_rules *rules, uint32_t number, const struct rr_source *source, uint32_t *at);

/* Tells whether one of the names of a host, which have blanks between them, matches the pattern of a rule. */
bool rr_rule_names_match(const struct rr_rule *rule, struct rpcrdma_bytes names);

#endif
