/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the rules of all exports, and finds the rule that counts for a caller. rules_option.c and
 * rules_client.c parse the text of rules. */
#include "vfs/rules.h"

#include <rpcrdma/error.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "vfs/rules_private.h"
#include "vfs/vfs.h"
#include "wire/gss.h"

/* The rules of one export, sorted: of the rules that match a caller, the first one counts. */
struct rules_of_export {
	struct rr_rule *rules;
	uint32_t count, room; /* rules in the array, and for how many it has memory */
};

/* The text of a client, which all rules made from that text share. */
struct rules_client {
	struct rules_client *next;
	char text[];
};

struct rr_rules {
	const struct rr_env *env;
	atomic_uint references;
	uint32_t export_count, rule_count;
	struct rules_client *clients;
	struct rules_of_export exports[];
};

const struct rr_right rr_right_default = {
	.squash = RR_SQUASH_ROOT,
	.anon_uid = RR_VFS_NOBODY,
	.anon_gid = RR_VFS_NOBODY,
	.read_only = true,
	.secure = true,
	.flavors = RR_RIGHT_SYS,
	.versions = RR_RIGHT_V3 | RR_RIGHT_V4,
	.xprtsec = RR_RIGHT_SECURITIES,
};

int
rr_rules_new(const struct rr_env *env, uint32_t count, struct rr_rules **rules)
{
	struct rr_rules *made = rr_alloc(env, sizeof(*made) + count * sizeof(made->exports[0]));

	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	made->env = env;
	made->export_count = count;
	atomic_init(&made->references, 1);
	*rules = made;
	return 0;
}

struct rr_rules *
rr_rules_hold(struct rr_rules *rules)
{
	atomic_fetch_add(&rules->references, 1);
	return rules;
}

void
rr_rules_release(struct rr_rules *rules)
{
	struct rules_client *next;

	if (!rules || atomic_fetch_sub(&rules->references, 1) > 1)
		return;
	for (uint32_t i = 0; i < rules->export_count; i++)
		rr_free(rules->env, rules->exports[i].rules);
	for (struct rules_client *client = rules->clients; client; client = next) {
		next = client->next;
		rr_free(rules->env, client);
	}
	rr_free(rules->env, rules);
}

/* Copies the text that names a client of a rule into memory that lives as long as the rules. Returns the
 * copy, or NULL if there is no memory. */
static const char *
rules_keep(struct rr_rules *rules, const char *text)
{
	size_t size = strlen(text) + 1;
	struct rules_client *client = rr_alloc(rules->env, sizeof(*client) + size);

	if (!client)
		return NULL;
	memcpy(client->text, text, size);
	client->next = rules->clients;
	rules->clients = client;
	return client->text;
}

/* Makes sure that the array of an export's rules has room for one more rule. Returns false if there is no
 * memory. */
static bool
rules_grow(struct rr_rules *rules, struct rules_of_export *of)
{
	uint32_t room = of->room ? 2 * of->room : 8;
	struct rr_rule *grown;

	if (of->count < of->room)
		return true;
	grown = rules->env->realloc(rules->env->ctx, of->rules, room * sizeof(*grown));
	if (!grown)
		return false;
	of->rules = grown;
	of->room = room;
	return true;
}

/* Inserts the rule among the rules of the export of this number, which are sorted by kind. The rule goes
 * behind all rules of its own kind. Returns 0, LIMIT or NOMEM. */
static int
rules_insert(struct rr_rules *rules, uint32_t number, const struct rr_rule *rule)
{
	struct rules_of_export *of = &rules->exports[number];
	uint32_t at;

	if (rules->rule_count == RR_RULES_MAX)
		return -RPCRDMA_ERR_LIMIT;
	if (!rules_grow(rules, of))
		return -RPCRDMA_ERR_NOMEM;
	for (at = of->count; at > 0 && of->rules[at - 1].kind > rule->kind; at--)
		of->rules[at] = of->rules[at - 1];
	of->rules[at] = *rule;
	of->count++;
	rules->rule_count++;
	return 0;
}

int
rr_rules_add(struct rr_rules *rules, uint32_t number, const char *text, const struct rr_right *defaults,
	struct rr_text *why)
{
	struct rr_rule_draft draft = { .rule.right = *defaults };
	int error = rr_rule_parse(text, &draft, why);

	if (error)
		return error;
	draft.rule.client = rules_keep(rules, draft.client);
	if (!draft.rule.client)
		return rr_fail(why, -RPCRDMA_ERR_NOMEM, "no memory for rules");
	for (uint32_t i = 0; i < draft.count && !error; i++) {
		memcpy(draft.rule.address, draft.addresses[i], sizeof(draft.rule.address));
		error = rules_insert(rules, number, &draft.rule);
	}
	if (error == -RPCRDMA_ERR_LIMIT)
		return rr_fail(why, error, "there are more than %d rules", RR_RULES_MAX);
	return error ? rr_fail(why, error, "no memory for rules") : 0;
}

int
rr_rules_keep(struct rr_rules *rules, uint32_t number, const struct rr_rules *from)
{
	const struct rules_of_export *old = &from->exports[number];
	struct rules_of_export *of = &rules->exports[number];
	int error = 0;

	rules->rule_count -= of->count;
	of->count = 0;
	for (uint32_t i = 0; i < old->count && !error; i++) {
		struct rr_rule rule = old->rules[i];

		rule.client = rules_keep(rules, rule.client);
		error = rule.client ? rules_insert(rules, number, &rule) : -RPCRDMA_ERR_NOMEM;
	}
	return error;
}

uint32_t
rr_right_flavors(const struct rr_right *right, uint32_t flavors[RR_RIGHT_FLAVORS])
{
	static const struct {
		uint8_t bit;
		uint32_t number;
	} all[RR_RIGHT_FLAVORS] = { { RR_RIGHT_SYS, RR_AUTH_SYS }, { RR_RIGHT_KRB5, RR_FLAVOR_KRB5 },
		{ RR_RIGHT_KRB5I, RR_FLAVOR_KRB5I }, { RR_RIGHT_KRB5P, RR_FLAVOR_KRB5P },
		{ RR_RIGHT_NONE, RR_AUTH_NONE } };
	uint8_t left = right->flavors;
	uint32_t count = 0;

	for (uint32_t i = 0; i < RR_RIGHT_FLAVORS; i++)
		for (uint32_t j = 0; j < RR_RIGHT_FLAVORS; j++)
			if (all[j].bit == right->order[i] && left & all[j].bit) {
				left &= (uint8_t)~all[j].bit;
				flavors[count++] = all[j].number;
			}
	for (uint32_t j = 0; j < RR_RIGHT_FLAVORS; j++)
		if (left & all[j].bit)
			flavors[count++] = all[j].number;
	return count;
}

uint64_t
rr_rules_words(const struct rr_rules *rules)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < rules->export_count; i++)
		for (uint32_t j = 0; j < rules->exports[i].count; j++)
			words |= rules->exports[i].rules[j].right.words;
	return words;
}

bool
rr_rules_want_mount_point(const struct rr_rules *rules, uint32_t number)
{
	const struct rules_of_export *of = &rules->exports[number];
	bool want = false;

	for (uint32_t i = 0; i < of->count; i++)
		want |= of->rules[i].right.mount_point;
	return want;
}

void
rr_rules_drop_mount_points(struct rr_rules *rules, uint32_t number)
{
	struct rules_of_export *of = &rules->exports[number];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < of->count; i++)
		if (!of->rules[i].right.mount_point)
			of->rules[kept++] = of->rules[i];
	rules->rule_count -= of->count - kept;
	of->count = kept;
}

uint32_t
rr_rules_root(const struct rr_rules *rules)
{
	for (uint32_t i = 0; i < rules->export_count; i++)
		for (uint32_t j = 0; j < rules->exports[i].count; j++)
			if (rules->exports[i].rules[j].right.is_root)
				return i;
	return rules->export_count;
}

bool
rr_rules_want_kerberos(const struct rr_rules *rules)
{
	for (uint32_t i = 0; i < rules->export_count; i++)
		for (uint32_t j = 0; j < rules->exports[i].count; j++)
			if (rules->exports[i].rules[j].right.flavors & RR_RIGHT_KERBEROS)
				return true;
	return false;
}

bool
rr_rules_are_met(const struct rr_rules *rules, uint8_t offered, struct rr_text *why)
{
	for (uint32_t i = 0; i < rules->export_count; i++) {
		for (uint32_t j = 0; j < rules->exports[i].count; j++) {
			const struct rr_rule *rule = &rules->exports[i].rules[j];

			bool has_user = rule->right.tls_user.given && !(offered & RR_RIGHT_MTLS);

			if (rule->right.xprtsec & offered && !has_user)
				continue;
			rr_fail(why, 0, "%.80s must come by %s", rule->client,
				rule->right.xprtsec & RR_RIGHT_TLS && !has_user
					? "TLS, which needs --tls-cert"
					: "mutual TLS, which needs --tls-cert and --tls-ca");
			return false;
		}
	}
	return true;
}

/* The first 96 bits of an IPv4 address that is mapped (see struct rr_source). */
static const uint8_t rules_mapped[12] = { [10] = 0xff, [11] = 0xff };

/* Tells whether the text of the caller's address, which is one of IPv4, matches the pattern of the rule. */
static bool
rules_match_text(const struct rr_rule *rule, const struct rr_source *source)
{
	const uint8_t *octets = source->address + sizeof(rules_mapped);
	char text[sizeof("255.255.255.255")];

	if (memcmp(source->address, rules_mapped, sizeof(rules_mapped)) != 0)
		return false;
	snprintf(text, sizeof(text), "%u.%u.%u.%u", octets[0], octets[1], octets[2], octets[3]);
	return rr_rule_pattern_matches(rule->client, text, strlen(text));
}

/* Tells whether the rule applies to a caller at this source, or may apply to it, if the rule is about names:
 * always if the rule is for all clients, else
 * where the first rule->prefix bits of the rule's address and the caller's address are equal. A caller whose
 * address is not known (source->known is false) matches only a rule for all clients. A network of IPv6 that
 * is so large that the mapped IPv4 addresses lie in it, as "::/0", is for IPv6 alone. */
static bool
rules_match(const struct rr_rule *rule, const struct rr_source *source)
{
	unsigned octets = rule->prefix / 8, bits = rule->prefix % 8;

	if (rule->kind == RR_RULE_ALL)
		return true;
	if (rule->kind == RR_RULE_PATTERN || rule->kind == RR_RULE_GROUP)
		return source->known && (rule->by_name || rules_match_text(rule, source));
	if (!source->known || memcmp(rule->address, source->address, octets) != 0)
		return false;
	if (octets < sizeof(rules_mapped) && memcmp(source->address, rules_mapped, sizeof(rules_mapped)) == 0)
		return false;
	return bits == 0 || (rule->address[octets] ^ source->address[octets]) >> (8 - bits) == 0;
}

const struct rr_rule *
rr_rules_next(const struct rr_rules *rules, uint32_t number, const struct rr_source *source, uint32_t *at)
{
	const struct rules_of_export *of = &rules->exports[number];

	/* The rules are sorted (rules_insert()), so the first rule that matches counts. */
	while (*at < of->count)
		if (rules_match(&of->rules[(*at)++], source))
			return &of->rules[*at - 1];
	return NULL;
}
