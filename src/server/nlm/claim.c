/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims: what an owner of a host has of a file. */
#include <string.h>

#include "server/nlm/wait.h"

/* The most ranges that a lock may add: it may cut a range in two and put another range between. */
enum { CLAIM_ADDS = 2 };

/* ---- What there may be of all things ---- */

bool
rr_nlm_take(struct rr_nlm_host *host, enum rr_nlm_bounded what, uint32_t count)
{
	struct rr_nlm_bound *bound = &host->tables->bounds[what];
	uint32_t held = host->held[what];

	if (count > bound->free || (held + count > bound->own && held + count > bound->free))
		return false;
	bound->free -= count;
	host->held[what] += count;
	return true;
}

void
rr_nlm_give(struct rr_nlm_host *host, enum rr_nlm_bounded what, uint32_t count)
{
	host->tables->bounds[what].free += count;
	host->held[what] -= count;
}

/* ---- As the owners of other protocols see a claim ---- */

bool
rr_nlm_claim_is_stale(const struct rr_nlm_claim *claim)
{
	return claim->host->swept && claim->epoch != claim->host->epoch;
}

static enum rr_locks_yield
claim_yields(struct rr_ranges *ranges, const void *asker)
{
	const struct rr_nlm_claim *claim = rr_container(ranges, struct rr_nlm_claim, ranges);

	(void)asker;
	return rr_nlm_claim_is_stale(claim) ? RR_LOCKS_ENDS : RR_LOCKS_STAYS;
}

/* Whether the storage grants what it is being asked for is known soon. */
static enum rr_locks_yield
claim_intends(struct rr_ranges *ranges, const void *asker)
{
	(void)ranges, (void)asker;
	return RR_LOCKS_ENDS;
}

static void
claim_describe(struct rr_ranges *ranges, struct rr_locks_holder *holder)
{
	const struct rr_nlm_claim *claim = rr_container(ranges, struct rr_nlm_claim, ranges);

	holder->client = 0;
	holder->svid = claim->svid;
	holder->owner_length = claim->oh_length;
	memcpy(holder->owner, claim->octets + claim->fh_length, claim->oh_length);
}

static const struct rr_locks_kind claim_kind = { claim_yields, NULL, claim_describe },
				  claim_intent_kind = { claim_intends, NULL, NULL };

/* ---- Claims ---- */

static uint64_t
claim_key(const struct rr_nlm_host *host, const struct rr_nlm_owner *owner)
{
	uint8_t tag[RR_SIPHASH_TAG];
	struct rr_siphash hash;
	uint64_t key;

	rr_siphash_init(&hash, host->tables->secret);
	rr_siphash_add(&hash, &host->number, sizeof(host->number));
	rr_siphash_add(&hash, &owner->svid, sizeof(owner->svid));
	rr_siphash_add(&hash, &owner->share, sizeof(owner->share));
	rr_siphash_add(&hash, &owner->fh.length, sizeof(owner->fh.length));
	rr_siphash_add(&hash, owner->fh.data, owner->fh.length);
	rr_siphash_add(&hash, owner->oh.data, owner->oh.length);
	rr_siphash_end(&hash, tag);
	memcpy(&key, tag, sizeof(key));
	return key;
}

static bool
claim_is_of(
	const struct rr_nlm_claim *claim, const struct rr_nlm_host *host, const struct rr_nlm_owner *owner)
{
	return claim->host == host && claim->svid == owner->svid && claim->share == owner->share &&
	       claim->fh_length == owner->fh.length && claim->oh_length == owner->oh.length &&
	       memcmp(claim->octets, owner->fh.data, owner->fh.length) == 0 &&
	       memcmp(claim->octets + claim->fh_length, owner->oh.data, owner->oh.length) == 0;
}

struct rr_nlm_claim *
rr_nlm_claim_find(const struct rr_nlm_host *host, const struct rr_nlm_owner *owner)
{
	struct rr_map_link *link = rr_map_find(&host->tables->claims, claim_key(host, owner));

	for (; link; link = rr_map_next(link)) {
		struct rr_nlm_claim *claim = rr_container(link, struct rr_nlm_claim, by_owner);

		if (claim_is_of(claim, host, owner))
			return claim;
	}
	return NULL;
}

/* Takes what a new claim needs of what is bounded. */
static bool
claim_take(struct rr_nlm_host *host, uint32_t octets)
{
	if (!rr_nlm_take(host, RR_NLM_CLAIMS, 1))
		return false;
	if (rr_nlm_take(host, RR_NLM_OCTETS, octets))
		return true;
	rr_nlm_give(host, RR_NLM_CLAIMS, 1);
	return false;
}

static void
claim_give(struct rr_nlm_host *host, uint32_t octets)
{
	rr_nlm_give(host, RR_NLM_CLAIMS, 1);
	rr_nlm_give(host, RR_NLM_OCTETS, octets);
}

struct rr_nlm_claim *
rr_nlm_claim_make(struct rr_nlm_host *host, const struct rr_nlm_owner *owner, const struct rr_vfs_id *id)
{
	struct rr_nlm_claim *claim = rr_nlm_claim_find(host, owner);
	struct rr_nlm_tables *tables = host->tables;
	uint32_t octets = owner->fh.length + owner->oh.length;

	if (claim)
		return claim;
	if (!claim_take(host, octets))
		return NULL;
	claim = rr_alloc(tables->env, sizeof(*claim) + octets);
	if (claim && id)
		claim->file = rr_locks_use(tables->locks, id);
	if (!claim || (id && !claim->file)) {
		rr_free(tables->env, claim);
		claim_give(host, octets);
		return NULL;
	}
	claim->host = host;
	claim->share = owner->share;
	claim->svid = owner->svid;
	claim->epoch = host->epoch;
	claim->fh_length = owner->fh.length;
	claim->oh_length = owner->oh.length;
	memcpy(claim->octets, owner->fh.data, owner->fh.length);
	memcpy(claim->octets + owner->fh.length, owner->oh.data, owner->oh.length);
	rr_list_init(&claim->waits);
	rr_ranges_init(&claim->ranges, claim->file ? &claim->file->locked : NULL);
	rr_ranges_init(&claim->intent, claim->file ? &claim->file->locked : NULL);
	claim->ranges.kind = &claim_kind;
	claim->intent.kind = &claim_intent_kind;
	rr_map_add(&tables->claims, &claim->by_owner, claim_key(host, owner));
	rr_list_append(&host->claims, &claim->link);
	return claim;
}

/* Unlocks all ranges. Those who wait for a lock of the file are looked at. */
static void
claim_unlock_all(struct rr_nlm_claim *claim)
{
	uint32_t freed;

	if (!claim->file)
		return;
	freed = rr_ranges_free(&claim->ranges, claim->host->tables->env, UINT32_MAX);
	rr_nlm_give(claim->host, RR_NLM_RANGES, freed);
	if (freed > 0)
		rr_locks_look(claim->file);
}

void
rr_nlm_claim_end(struct rr_nlm_claim *claim)
{
	struct rr_nlm_host *host = claim->host;
	struct rr_nlm_tables *tables = host->tables;

	if (!claim->dead) {
		claim->dead = true;
		while (!rr_list_empty(&claim->waits))
			rr_nlm_wait_end(rr_container(claim->waits.next, struct rr_nlm_wait, of_claim));
		claim_unlock_all(claim);
		rr_map_remove(&tables->claims, &claim->by_owner);
		rr_list_remove(&claim->link);
		claim_give(host, claim->fh_length + claim->oh_length);
	}
	if (claim->busy)
		return;
	if (claim->file)
		rr_nlm_claim_forget(claim);
	rr_locks_leave(claim->file);
	claim->file = NULL;
	claim->host = NULL;
	rr_list_append(&tables->unused, &claim->link);
}

void
rr_nlm_claim_leave(struct rr_nlm_claim *claim)
{
	claim->busy = false;
	if (claim->dead ||
		(claim->share ? !claim->open : claim->ranges.count == 0 && rr_list_empty(&claim->waits)))
		rr_nlm_claim_end(claim);
}

bool
rr_nlm_claim_lock(struct rr_nlm_claim *claim, struct rr_span span, bool write)
{
	const struct rr_env *env = claim->host->tables->env;
	uint32_t before = claim->ranges.count;
	int error;

	if (claim->ranges.count + CLAIM_ADDS > RR_NLM_OWNER_RANGES ||
		!rr_nlm_take(claim->host, RR_NLM_RANGES, CLAIM_ADDS))
		return false;
	error = rr_range_lock(&claim->ranges, env, span, write);
	rr_nlm_give(claim->host, RR_NLM_RANGES, CLAIM_ADDS + before - claim->ranges.count);
	/* A lock to write may have become a lock to read, which lets waiting readers in. */
	if (error == 0 && !write)
		rr_locks_look(claim->file);
	return error == 0;
}

bool
rr_nlm_claim_unlock(struct rr_nlm_claim *claim, struct rr_span span)
{
	const struct rr_env *env = claim->host->tables->env;
	uint32_t before = claim->ranges.count, adds = rr_range_is_cut(&claim->ranges, span) ? 1 : 0;
	int error;

	if (adds > 0 &&
		(before + adds > RR_NLM_OWNER_RANGES || !rr_nlm_take(claim->host, RR_NLM_RANGES, adds)))
		return false;
	error = rr_range_unlock(&claim->ranges, env, span);
	rr_nlm_give(claim->host, RR_NLM_RANGES, adds + before - claim->ranges.count);
	if (error == 0)
		rr_locks_look(claim->file);
	return error == 0;
}

bool
rr_nlm_claim_intend(struct rr_nlm_claim *claim, struct rr_span span, bool write)
{
	return rr_range_lock(&claim->intent, claim->host->tables->env, span, write) == 0;
}

void
rr_nlm_claim_forget(struct rr_nlm_claim *claim)
{
	if (rr_ranges_free(&claim->intent, claim->file->locks->env, UINT32_MAX) > 0)
		rr_locks_look(claim->file);
}
