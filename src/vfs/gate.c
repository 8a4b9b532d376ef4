/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements the gate (gate.h), with a cache of the rules that were found last. */
#include "vfs/gate.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "vfs/door.h"

_Static_assert((int)RR_VFS_GROUPS >= (int)RR_AUTH_SYS_GIDS, "room for all groups of a credential");

/* A process needs a privilege for the ports below this number. */
enum { GATE_PRIVILEGED = 1024 };

void
rr_gate_init(struct rr_gate *gate, struct rr_vfs *vfs, struct rr_rules *rules, struct rr_peer_log *log)
{
	*gate = (struct rr_gate){ .vfs = vfs, .rules = rr_rules_hold(rules), .log = log };
}

void
rr_gate_end(struct rr_gate *gate)
{
	rr_rules_release(gate->rules);
	gate->rules = NULL;
}

void
rr_gate_take(struct rr_gate *gate, struct rr_rules *rules)
{
	rr_rules_hold(rules);
	rr_gate_end(gate);
	*gate = (struct rr_gate){ .vfs = gate->vfs,
		.rules = rules,
		.log = gate->log,
		.idmap = gate->idmap,
		.hosts = gate->hosts,
		.counts = gate->counts };
}

/* Tells whether the same rules match both sources: only the address counts for that, not the port. */
static bool
gate_same_source(const struct rr_source *a, const struct rr_source *b)
{
	return a->known == b->known && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* Returns the entry of the cache in which the rule of this source address and the export of this number
 * belongs. The entry may hold another client's rule. The last two octets of the address choose the entry,
 * because most clients differ in them. */
static struct rr_gate_memory *
gate_memory(struct rr_gate *gate, const struct rr_source *source, uint32_t number)
{
	uint32_t hash = number * 31 + source->address[15] + source->address[14] * 7u;

	return &gate->memory[hash % RR_GATE_MEMORY];
}

/* How long the cache keeps what the names of a host have decided. */
#define GATE_NAMED_TIME (60 * RR_SECOND)

/* Writes the address of a caller as text, without a port. */
static void
gate_address(const struct rr_source *source, char text[INET6_ADDRSTRLEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(source->address, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, source->address + sizeof(mapped), text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, source->address, text, INET6_ADDRSTRLEN);
}

/* Finds out whether a rule about names applies to a caller at this source. RR_IDMAP_FOUND: it does.
 * RR_IDMAP_NONE: it does not. */
static enum rr_idmap_status
gate_ask_name(struct rr_gate *gate, const struct rr_rule *rule, const struct rr_source *source,
	struct rr_idmap_waiter *waiter)
{
	bool member = rule->kind == RR_RULE_GROUP;
	struct rr_idmap_question question = { .kind = member ? RR_IDMAP_MEMBER : RR_IDMAP_HOST };
	char text[RR_RULES_CLIENT + INET6_ADDRSTRLEN + 2], address[INET6_ADDRSTRLEN];
	struct rr_idmap_answer answer;
	enum rr_idmap_status status;

	if (!gate->hosts)
		return RR_IDMAP_NONE;
	gate_address(source, address);
	snprintf(text, sizeof(text), "%s%s%s", member ? rule->client + 1 : "", member ? " " : "", address);
	question.name = (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
	memcpy(&question.host, source->address + sizeof(source->address) - sizeof(question.host),
		sizeof(question.host));
	status = rr_idmap_ask(gate->hosts, &question, waiter, &answer);
	if (status == RR_IDMAP_FOUND && !member && !rr_rule_names_match(rule, answer.name))
		return RR_IDMAP_NONE;
	return status;
}

/* Fills in the rule of an entry of the cache, or notes that it is not known yet: RR_IDMAP_WAIT,
 * RR_IDMAP_BUSY. */
static enum rr_idmap_status
gate_decide(struct rr_gate *gate, struct rr_gate_memory *memory, struct rr_idmap_waiter *waiter)
{
	enum rr_idmap_status status = RR_IDMAP_NONE;
	const struct rr_rule *rule;
	uint32_t at = 0;

	if (memory->number >= gate->vfs->export_count)
		return RR_IDMAP_FOUND;
	while (status == RR_IDMAP_NONE &&
		(rule = rr_rules_next(gate->rules, memory->number, &memory->source, &at))) {
		memory->named |= rule->by_name;
		status = rule->by_name ? gate_ask_name(gate, rule, &memory->source, waiter) : RR_IDMAP_FOUND;
		if (status == RR_IDMAP_FOUND)
			memory->rule = rule;
	}
	memory->waits = status == RR_IDMAP_WAIT || status == RR_IDMAP_BUSY;
	return memory->waits ? status : RR_IDMAP_FOUND;
}

/* Tells whether the entry of the cache still says which rule counts. */
static bool
gate_counts(const struct rr_gate *gate, const struct rr_gate_memory *memory)
{
	return !memory->waits && (!memory->named || rr_loop_now(gate->vfs->loop) < memory->until);
}

/* Stores in *found the entry of the cache for a source address and the export of this number. Its rule is
 * NULL if there is none for them, or if that is not known yet. An answer that is not in the cache comes from
 * the gate's rules, and replaces what was in its entry of the cache. Returns as rr_gate_know(). */
static enum rr_idmap_status
gate_look(struct rr_gate *gate, const struct rr_source *source, uint32_t number,
	struct rr_idmap_waiter *waiter, struct rr_gate_memory **found)
{
	struct rr_gate_memory *memory = *found = gate_memory(gate, source, number);
	bool same = memory->used && memory->number == number && gate_same_source(&memory->source, source);
	enum rr_idmap_status status;

	if (same && gate_counts(gate, memory))
		return RR_IDMAP_FOUND;
	*memory = (struct rr_gate_memory){
		.number = number,
		.source = *source,
		.used = true,
		.logged = same && memory->logged,
	};
	status = gate_decide(gate, memory, waiter);
	if (memory->named)
		memory->until = rr_loop_now(gate->vfs->loop) + GATE_NAMED_TIME;
	return status;
}

static struct rr_gate_memory *
gate_find(struct rr_gate *gate, const struct rr_source *source, uint32_t number)
{
	struct rr_gate_memory *memory;

	gate_look(gate, source, number, NULL, &memory);
	return memory;
}

enum rr_idmap_status
rr_gate_know(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_idmap_waiter *waiter)
{
	struct rr_gate_memory *memory;

	return gate_look(gate, &caller->source, number, waiter, &memory);
}

/* Tells whether the caller is a principal of Kerberos that stands for no user of this machine. */
static bool
gate_is_unknown(const struct rr_caller *who)
{
	return who && who->flavor == RR_RPCSEC_GSS && !who->named;
}

/* Returns why the rule, which counts for the caller's address, does not let the caller in; NULL if it does.
 */
static const char *
gate_objection(const struct rr_rule *rule, const struct rr_gate_caller *caller)
{
	if (!rule)
		return "there is no rule for this address at";
	if (!(rule->right.versions & caller->version))
		return caller->version == RR_RIGHT_V3 ? "the rule for this address has no NFS version 3 at"
						      : "the rule for this address has no NFS version 4 at";
	if (rule->right.secure && caller->source.tcp && caller->source.port >= GATE_PRIVILEGED)
		return "the rule for this address has the option secure, which wants a port below 1024, at";
	if (rule->right.refuse_unknown && gate_is_unknown(caller->who))
		return "the rule for this address has the option refuse_unknown, and the principal is no "
		       "user of this machine, at";
	return NULL;
}

const struct rr_rule *
rr_gate_rule(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number)
{
	const struct rr_rule *rule = gate_find(gate, &caller->source, number)->rule;

	return gate_objection(rule, caller) ? NULL : rule;
}

/* Returns the number of an export that has a rule for the caller's address; export_count if none has. */
static uint32_t
gate_with_rule(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	uint32_t number = 0;

	while (number < gate->vfs->export_count && !gate_find(gate, &caller->source, number)->rule)
		number++;
	return number;
}

void
rr_gate_log_refusal(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number)
{
	const uint32_t count = gate->vfs->export_count;
	struct rr_gate_memory *memory = gate_find(gate, &caller->source, number);
	const char *objection;
	char peer[RR_ADDRESS_TEXT];

	if (memory->logged || !gate->log)
		return;
	memory->logged = true;
	if (number == count)
		number = gate_with_rule(gate, caller);
	rr_address_source_text(&caller->source, peer);
	objection = number < count ? gate_objection(gate_find(gate, &caller->source, number)->rule, caller)
				   : NULL;
	if (number == count)
		rr_log_peer(gate->log, peer, "%s: refused: no export has a rule for this address", peer);
	else
		rr_log_peer(gate->log, peer, "%s: refused: %s %s", peer,
			objection ? objection
				  : "the rule for this address wants another protection (xprtsec) at",
			gate->vfs->exports[number].name);
}

bool
rr_gate_all_open(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	uint32_t number = 0;

	while (number < gate->vfs->export_count && rr_gate_rule(gate, caller, number))
		number++;
	return number == gate->vfs->export_count;
}

bool
rr_gate_some_open(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	for (uint32_t i = 0; i < gate->vfs->export_count; i++)
		if (rr_gate_rule(gate, caller, i))
			return true;
	return false;
}

bool
rr_gate_undecided(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	for (uint32_t i = 0; i < gate->vfs->export_count; i++)
		if (gate_find(gate, &caller->source, i)->waits)
			return true;
	return false;
}

/* Returns the number of the user or group with which the provider acts for a caller that has the number id:
 * "anonymous" for 0 where squash is set, and for UINT32_MAX, which means no user in system calls; else id.
 * RFC 1813, 4.4: "A UNIX server by default maps uid 0 to a distinguished value (UID_NOBODY), as well as
 * mapping the groups list, before doing its access checking." */
static uint32_t
gate_id(uint32_t id, uint32_t anonymous, bool squash)
{
	return (id == 0 && squash) || id == UINT32_MAX ? anonymous : id;
}

/* Gives a caller the groups of a long list, which came from the directory of users: in rising order, and
 * without UINT32_MAX. Where squash is set, group 0 stands first, if at all, and is left out. */
static void
gate_many_groups(const struct rr_caller *who, bool squash, struct rr_vfs_caller *caller)
{
	uint32_t skip = squash && who->groups[0] == 0;

	caller->groups = who->groups + skip;
	caller->group_count = who->group_count - skip;
}

/* Tells whether the caller is the user that the rule has for clients with a certificate. RFC 9289, 4.2: a
 * server has "no way [...] to know whether that identity represents one RPC user on that client or is shared
 * amongst many RPC users": it is the rule that says so. Kerberos has proved a user of its own. */
static bool
gate_is_tls_user(const struct rr_gate_caller *from, const struct rr_right *right)
{
	return right->tls_user.given && from->who->flavor != RR_RPCSEC_GSS &&
	       RR_RIGHT_MTLS & 1u << from->source.security;
}

_Static_assert(
	(int)RR_RIGHT_GROUPS <= (int)RR_VFS_GROUPS, "an identity has room for the groups of a rule's user");

void
rr_gate_identify(
	const struct rr_gate_caller *from, const struct rr_right *right, struct rr_vfs_identity *identity)
{
	const struct rr_caller *who = from ? from->who : NULL;
	struct rr_vfs_caller *caller = &identity->caller;
	bool squash = right->squash != RR_SQUASH_NONE;

	identity->export = UINT32_MAX;
	*caller = (struct rr_vfs_caller){ right->anon_uid, right->anon_gid, 0, identity->groups,
		right->read_only, right->no_acl };
	if (who && gate_is_tls_user(from, right)) {
		const struct rr_right_user *user = &right->tls_user;

		caller->uid = user->uid;
		caller->gid = user->gid;
		caller->group_count = user->group_count;
		memcpy(identity->groups, user->groups, sizeof(user->groups));
		return;
	}
	if (!who || !who->named || right->squash == RR_SQUASH_ALL)
		return;
	caller->uid = gate_id(who->uid, right->anon_uid, squash);
	caller->gid = gate_id(who->gid, right->anon_gid, squash);
	if (who->group_count > RR_VFS_GROUPS) {
		gate_many_groups(who, squash, caller);
		return;
	}
	caller->group_count = who->group_count;
	for (uint32_t i = 0; i < caller->group_count; i++)
		identity->groups[i] = gate_id(who->groups[i], right->anon_gid, squash);
}

bool
rr_gate_same_user(const struct rr_vfs_identity *a, const struct rr_vfs_identity *b)
{
	return a->caller.uid == b->caller.uid && a->caller.gid == b->caller.gid &&
	       a->caller.group_count == b->caller.group_count &&
	       (a->caller.group_count == 0 ||
		       memcmp(a->caller.groups, b->caller.groups,
			       a->caller.group_count * sizeof(a->caller.groups[0])) == 0);
}

/* Returns the flavor by which the caller was authenticated, as rules name it (RR_RIGHT_SYS, ...);
 * 0 if no rule can name it. */
static uint8_t
gate_flavor(const struct rr_caller *who)
{
	switch (who->flavor) {
	case RR_AUTH_SYS: return RR_RIGHT_SYS;
	case RR_AUTH_NONE: return RR_RIGHT_NONE;
	case RR_RPCSEC_GSS:
		return who->protection == RR_CALLER_PRIVACY     ? RR_RIGHT_KRB5P
		       : who->protection == RR_CALLER_INTEGRITY ? RR_RIGHT_KRB5I
								: RR_RIGHT_KRB5;
	default: return 0;
	}
}

/* Logs the refusal, and returns the answer for the caller. */
static enum rr_gate_answer
gate_refuse(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number)
{
	rr_gate_log_refusal(gate, caller, rr_min(number, gate->vfs->export_count));
	return RR_GATE_CLOSED;
}

enum rr_gate_answer
rr_gate_ask(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_vfs_identity *identity)
{
	const struct rr_rule *rule;

	if (number >= gate->vfs->export_count) {
		rr_gate_identify(NULL, &rr_right_default, identity);
		if (rr_gate_some_open(gate, caller))
			return RR_GATE_OPEN;
		return rr_gate_undecided(gate, caller) ? RR_GATE_LATER : gate_refuse(gate, caller, number);
	}
	if (gate_find(gate, &caller->source, number)->waits)
		return RR_GATE_LATER;
	rule = rr_gate_rule(gate, caller, number);
	if (!rule)
		return gate_refuse(gate, caller, number);
	if (!(rule->right.xprtsec & 1u << caller->source.security)) {
		rr_gate_log_refusal(gate, caller, number);
		return RR_GATE_FLAVOR;
	}
	if (!(rule->right.flavors & gate_flavor(caller->who)))
		return RR_GATE_FLAVOR;
	rr_gate_identify(caller, &rule->right, identity);
	identity->export = number;
	return RR_GATE_OPEN;
}

enum rr_gate_answer
rr_gate_ask_handle(struct rr_gate *gate, const struct rr_gate_caller *caller, struct rpcrdma_bytes handle,
	struct rr_vfs_identity *identity)
{
	return rr_gate_ask(gate, caller, rr_vfs_export_of(gate->vfs, handle), identity);
}
