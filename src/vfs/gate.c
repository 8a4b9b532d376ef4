/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements the gate (gate.h), with a cache of the rules that were found last. */
#include "vfs/gate.h"

#include <string.h>

#include "base/checked.h"
#include "wire/rpc.h"

_Static_assert((int)RR_VFS_GROUPS == (int)RR_AUTH_SYS_GIDS, "room for all groups of a credential");

/* A process needs a privilege for the ports below this number. */
enum { GATE_PRIVILEGED = 1024 };

void
rr_gate_init(struct rr_gate *gate, struct rr_vfs *vfs, struct rr_rules *rules)
{
	*gate = (struct rr_gate){ .vfs = vfs, .rules = rr_rules_hold(rules) };
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
	struct rr_vfs *vfs = gate->vfs;

	rr_rules_hold(rules);
	rr_gate_end(gate);
	*gate = (struct rr_gate){ .vfs = vfs, .rules = rules };
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

/* Returns the rule for a source address and the export of this number, or NULL if there is none. An answer
 * that is not in the cache comes from the gate's rules, and replaces what was in its entry of the cache. */
static const struct rr_rule *
gate_find(struct rr_gate *gate, const struct rr_source *source, uint32_t number)
{
	struct rr_gate_memory *memory = gate_memory(gate, source, number);

	if (!memory->used || memory->number != number || !gate_same_source(&memory->source, source)) {
		memory->rule = rr_rules_find(gate->rules, number, source);
		memory->number = number;
		memory->source = *source;
		memory->used = true;
	}
	return memory->rule;
}

const struct rr_rule *
rr_gate_rule(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number)
{
	const struct rr_rule *rule = gate_find(gate, &caller->source, number);

	if (!rule || !(rule->right.versions & caller->version))
		return NULL;
	if (rule->right.secure && caller->source.tcp && caller->source.port >= GATE_PRIVILEGED)
		return NULL;
	return rule;
}

bool
rr_gate_all_open(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	uint32_t number = 0;

	while (number < gate->vfs->export_count && rr_gate_rule(gate, caller, number))
		number++;
	return number == gate->vfs->export_count;
}

/* Tells whether rr_gate_rule() finds a rule for the caller in at least one export. */
static bool
gate_some_open(struct rr_gate *gate, const struct rr_gate_caller *caller)
{
	for (uint32_t i = 0; i < gate->vfs->export_count; i++)
		if (rr_gate_rule(gate, caller, i))
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

void
rr_gate_identify(
	const struct rr_auth_sys *sys, const struct rr_right *right, struct rr_vfs_identity *identity)
{
	struct rr_vfs_caller *caller = &identity->caller;
	bool squash = right->squash != RR_SQUASH_NONE;

	*caller = (struct rr_vfs_caller){ right->anon_uid, right->anon_gid, 0, identity->groups,
		right->read_only };
	if (!sys || right->squash == RR_SQUASH_ALL)
		return;
	caller->uid = gate_id(sys->uid, right->anon_uid, squash);
	caller->gid = gate_id(sys->gid, right->anon_gid, squash);
	caller->group_count = (uint32_t)rr_min(sys->gid_count, RR_VFS_GROUPS);
	for (uint32_t i = 0; i < caller->group_count; i++)
		identity->groups[i] = gate_id(sys->gids[i], right->anon_gid, squash);
}

enum rr_gate_answer
rr_gate_ask(struct rr_gate *gate, const struct rr_gate_caller *caller, uint32_t number,
	struct rr_vfs_identity *identity)
{
	const struct rr_rule *rule;

	if (number >= gate->vfs->export_count) {
		rr_gate_identify(NULL, &rr_right_default, identity);
		return gate_some_open(gate, caller) ? RR_GATE_OPEN : RR_GATE_CLOSED;
	}
	rule = rr_gate_rule(gate, caller, number);
	if (!rule)
		return RR_GATE_CLOSED;
	if (!(rule->right.flavors & (caller->sys ? RR_RIGHT_SYS : RR_RIGHT_NONE)))
		return RR_GATE_FLAVOR;
	rr_gate_identify(caller->sys, &rule->right, identity);
	return RR_GATE_OPEN;
}

enum rr_gate_answer
rr_gate_ask_handle(struct rr_gate *gate, const struct rr_gate_caller *caller, struct rpcrdma_bytes handle,
	struct rr_vfs_identity *identity)
{
	return rr_gate_ask(gate, caller, gate->vfs->ops->export_of(gate->vfs, handle), identity);
}
