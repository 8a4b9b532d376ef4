/* SPDX-License-Identifier: BSD-3-Clause */
/* This file parses the text of a rule, "CLIENT(OPTION,...)": it separates the client from the options, and
 * applies the options to the rights of the rule. rules_client.c parses the client. */
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "vfs/idmap/idmap.h"
#include "vfs/rules_private.h"

enum { OPTION_WORD = 256, OPTION_LIST = 1024 }; /* octets for one option, and for a list of options */

/* A word that may be in a list of options. */
struct option_word {
	const char *name;
	/* Applies the word to right; returns false where the value is invalid. NULL: the word is accepted and
	 * has no effect. */
	bool (*take)(struct rr_right *right, const char *value);
	const char *value; /* describes a valid value, for messages; NULL: the word takes no value */
	const char *note;  /* what this server does instead of what the word asks for; NULL: the same */
};

static bool
option_rw(struct rr_right *right, const char *value)
{
	(void)value;
	right->read_only = false;
	return true;
}

static bool
option_ro(struct rr_right *right, const char *value)
{
	(void)value;
	right->read_only = true;
	return true;
}

static bool
option_root_squash(struct rr_right *right, const char *value)
{
	(void)value;
	right->squash = RR_SQUASH_ROOT;
	return true;
}

static bool
option_no_root_squash(struct rr_right *right, const char *value)
{
	(void)value;
	right->squash = RR_SQUASH_NONE;
	return true;
}

static bool
option_all_squash(struct rr_right *right, const char *value)
{
	(void)value;
	right->squash = RR_SQUASH_ALL;
	return true;
}

static bool
option_secure(struct rr_right *right, const char *value)
{
	(void)value;
	right->secure = true;
	return true;
}

static bool
option_insecure(struct rr_right *right, const char *value)
{
	(void)value;
	right->secure = false;
	return true;
}

static bool
option_acl(struct rr_right *right, const char *value)
{
	(void)value;
	right->no_acl = false;
	return true;
}

static bool
option_refuse_unknown(struct rr_right *right, const char *value)
{
	(void)value;
	right->refuse_unknown = true;
	return true;
}

/* exports(5): "this option tells nfsd not to reveal ACLs to clients". */
static bool
option_no_acl(struct rr_right *right, const char *value)
{
	(void)value;
	right->no_acl = true;
	return true;
}

/* Parses value as the number of a user or group into *id. Returns false for any other text, and for numbers
 * from UINT32_MAX on: in system calls, UINT32_MAX means no user. */
static bool
option_id(const char *value, uint32_t *id)
{
	uint64_t number = 0;

	for (const char *at = value; *at; at++) {
		if (*at < '0' || *at > '9' || at - value >= 10)
			return false;
		number = 10 * number + (uint64_t)(*at - '0');
	}
	*id = (uint32_t)number;
	return *value && number < UINT32_MAX;
}

static bool
option_anonuid(struct rr_right *right, const char *value)
{
	return option_id(value, &right->anon_uid);
}

static bool
option_anongid(struct rr_right *right, const char *value)
{
	return option_id(value, &right->anon_gid);
}

/* Parses a list of words with colons between them, such as "sys:none", and sets one bit of *bits for each
 * word: bit 0 for the word names[0], bit 1 for names[1]. NULL is behind the last name. order: as many octets
 * as there are names, which get the bits in the order of the words, and 0 behind them; NULL: the order does
 * not count. Returns false if the list has any other word. */
static bool
option_bits(const char *value, const char *const *names, uint8_t *bits, uint8_t *order)
{
	*bits = 0;
	for (unsigned i = 0; order && names[i]; i++)
		order[i] = 0;
	for (;;) {
		size_t length = strcspn(value, ":");
		uint8_t bit = 0;

		for (unsigned i = 0; names[i]; i++)
			if (strlen(names[i]) == length && memcmp(names[i], value, length) == 0)
				bit = (uint8_t)(1u << i);
		if (order && !(*bits & bit))
			*order++ = bit;
		*bits |= bit;
		if (!bit || !value[length])
			return bit != 0;
		value += length + 1;
	}
}

static bool
option_sec(struct rr_right *right, const char *value)
{
	static const char *const names[] = { "sys", "none", "krb5", "krb5i", "krb5p", NULL };

	return option_bits(value, names, &right->flavors, right->order);
}

static bool
option_vers(struct rr_right *right, const char *value)
{
	static const char *const names[] = { "3", "4", NULL };

	return option_bits(value, names, &right->versions, NULL);
}

static bool
option_xprtsec(struct rr_right *right, const char *value)
{
	static const char *const names[] = { "none", "tls", "mtls", NULL };

	return option_bits(value, names, &right->xprtsec, NULL);
}

/* Looks the user up, as the name of a host is looked up: now, and with the next look at the rules. */
static bool
option_tlsuser(struct rr_right *right, const char *value)
{
	const struct rr_idmap_question question = { .kind = RR_IDMAP_ACCOUNT,
		.name = { value, strlen(value) } };
	struct rr_right_user *user = &right->tls_user;
	struct rr_idmap_found found = { 0 };

	rr_idmap_system(&rr_env_system, &question, &found);
	user->given = found.status == RR_IDMAP_FOUND;
	user->uid = found.number;
	user->gid = found.gid;
	user->group_count = (uint32_t)rr_min(found.group_count, RR_RIGHT_GROUPS);
	if (user->group_count > 0)
		memcpy(user->groups, found.groups, user->group_count * sizeof(user->groups[0]));
	rr_free(&rr_env_system, found.groups);
	return user->given;
}

/* File handles are made without an fsid. exports(5): "the directory is the root of all exported filesystems"
 * with the values 0 and "root". */
static bool
option_fsid(struct rr_right *right, const char *value)
{
	right->is_root |= *value && (strspn(value, "0") == strlen(value) || strcmp(value, "root") == 0);
	return *value != '\0';
}

static bool
option_no_all_squash(struct rr_right *right, const char *value)
{
	(void)value;
	if (right->squash == RR_SQUASH_ALL)
		right->squash = RR_SQUASH_ROOT;
	return true;
}

static bool
option_mountpoint(struct rr_right *right, const char *value)
{
	(void)value;
	right->mount_point = true;
	return true;
}

/* Accepts any value, without effect. */
static bool
option_any(struct rr_right *right, const char *value)
{
	(void)right;
	return *value != '\0';
}

#define OPTION_CROSSES "file systems mounted below a directory are served with it"
#define OPTION_LAYOUTS "there are no layouts"

/*
 * All options of a client. The words without take() appear in many exports files and change nothing here.
 * Some ask for what this server always does (sync), some permit what it never does (async).
 */
static const struct option_word option_words[] = {
	{ "rw", option_rw, NULL },
	{ "ro", option_ro, NULL },
	{ "root_squash", option_root_squash, NULL },
	{ "no_root_squash", option_no_root_squash, NULL },
	{ "all_squash", option_all_squash, NULL },
	{ "anonuid", option_anonuid, "a number up to 4294967294" },
	{ "anongid", option_anongid, "a number up to 4294967294" },
	{ "sec", option_sec, "sys, none, krb5, krb5i, krb5p, or several of them as krb5:krb5i:krb5p" },
	{ "vers", option_vers, "3, 4, or 3:4" },
	{ "xprtsec", option_xprtsec, "none, tls, mtls, or several of them as none:tls:mtls" },
	{ "tlsuser", option_tlsuser, "the name of a user of this machine" },
	{ "secure", option_secure, NULL },
	{ "insecure", option_insecure, NULL },
	{ "refuse_unknown", option_refuse_unknown, NULL },
	{ "acl", option_acl, NULL },
	{ "no_acl", option_no_acl, NULL },
	{ "fsid", option_fsid, "a number, a UUID, or root" },
	{ "no_all_squash", option_no_all_squash, NULL },
	{ "mp", option_mountpoint, NULL },
	{ "mountpoint", option_mountpoint, NULL },
	{ "sync", NULL, NULL },
	{ "async", NULL, NULL,
		"data is stored before the answer all the same, where a client asks for that" },
	{ "subtree_check", NULL, NULL, "handles are signed, and are of their directory alone" },
	{ "no_subtree_check", NULL, NULL },
	{ "sign_fh", NULL, NULL },
	{ "crossmnt", NULL, NULL },
	{ "nocrossmnt", NULL, NULL, OPTION_CROSSES },
	{ "nohide", NULL, NULL },
	{ "hide", NULL, NULL, OPTION_CROSSES },
	{ "wdelay", NULL, NULL },
	{ "no_wdelay", NULL, NULL },
	{ "auth_nlm", NULL, NULL },
	{ "no_auth_nlm", NULL, NULL },
	{ "secure_locks", NULL, NULL },
	{ "insecure_locks", NULL, NULL },
	{ "nordirplus", NULL, NULL, "READDIRPLUS is answered" },
	{ "security_label", NULL, NULL, "labels are not served" },
	{ "reexport", option_any, "a word", "handles of this server need no table for that" },
	{ "replicas", option_any, "/PATH@HOST[+HOST], with ':' between", "clients are told of no replica" },
	{ "pnfs", NULL, NULL, OPTION_LAYOUTS },
	{ "no_pnfs", NULL, NULL },
};

enum { OPTION_WORDS = sizeof(option_words) / sizeof(option_words[0]) };

_Static_assert(OPTION_WORDS <= 64, "a bit for each in the words of a right");

const char *
rr_right_note(const struct rr_right *right, uint32_t *at, const char **word)
{
	while (*at < OPTION_WORDS) {
		const struct option_word *known = &option_words[(*at)++];

		*word = known->name;
		if (known->note && right->words & UINT64_C(1) << (*at - 1))
			return known->note;
	}
	return NULL;
}

/* Writes into why that word is no option, with a list of all options, and returns INVAL. */
static int
option_unknown(const char *word, struct rr_text *why)
{
	char list[sizeof(why->text) - 64] = "", name[OPTION_WORD];
	bool fits = true;

	for (unsigned i = 0; i < OPTION_WORDS && fits; i++) {
		snprintf(name, sizeof(name), "%s%s", option_words[i].name, option_words[i].value ? "=" : "");
		fits = rr_text_list(list, sizeof(list), name);
	}
	return rr_fail(
		why, -RPCRDMA_ERR_INVAL, "'%.24s' is no option of a client; these are: %s", word, list);
}

/* Applies one option, "NAME" or "NAME=VALUE", to the rights of a client, and cuts word at its '='. An option
 * without a function take() is accepted and has no effect. Returns 0, or INVAL with the reason in why. */
static int
option_take(char *word, struct rr_right *right, struct rr_text *why)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (unsigned i = 0; i < OPTION_WORDS; i++) {
		const struct option_word *known = &option_words[i];

		if (strcmp(known->name, word) != 0)
			continue;
		if (!known->value && value)
			return rr_fail(why, -RPCRDMA_ERR_INVAL, "'%s' takes no value", word);
		if (known->value && (!value || !known->take(right, value)))
			return rr_fail(why, -RPCRDMA_ERR_INVAL, "'%s' takes %s, not '%s'", word, known->value,
				value ? value : "");
		if (!known->value && known->take)
			known->take(right, NULL);
		right->words |= UINT64_C(1) << i;
		return 0;
	}
	return option_unknown(word, why);
}

int
rr_rules_options(const char *words, struct rr_right *right, struct rr_text *why)
{
	for (;;) {
		size_t length = strcspn(words, ",");
		char word[OPTION_WORD] = "";
		int error;

		if (length >= sizeof(word))
			return rr_fail(why, -RPCRDMA_ERR_INVAL, "the option '%.24s...' is too long", words);
		memcpy(word, words, length);
		error = length == 0 ? 0 : option_take(word, right, why);
		if (error || !words[length])
			return error;
		words += length + 1;
	}
}

int
rr_rule_parse(const char *text, struct rr_rule_draft *draft, struct rr_text *why)
{
	const char *open = strchr(text, '('), *end = open ? strchr(open, ')') : NULL;
	size_t length = open ? (size_t)(open - text) : strlen(text);
	char words[OPTION_LIST] = "";
	int error;

	if (length == 0)
		return rr_fail(why, -RPCRDMA_ERR_INVAL,
			"'%s' has no client in front: write *%s for everybody, and no space before '('", text,
			text);
	if (length > RR_RULES_CLIENT)
		return rr_fail(why, -RPCRDMA_ERR_INVAL, "the client '%.24s...' is too long", text);
	memcpy(draft->client, text, length);
	if (open && (!end || end[1] || (size_t)(end - open) > sizeof(words)))
		return rr_fail(why, -RPCRDMA_ERR_INVAL,
			"'%.64s': a client is followed by its options in one pair of '(' and ')'", text);
	if (open)
		memcpy(words, open + 1, (size_t)(end - open) - 1);
	error = rr_rules_options(words, &draft->rule.right, why);
	return error ? error : rr_rule_client(draft, why);
}
