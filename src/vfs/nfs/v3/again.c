/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges are locked again after a lost connection, one by one, as the other server may have started anew. One
 * that did not grants what it has granted before. One that did, and is in its grace period, wants a reclaim.
 */
#include "vfs/nfs/v3/v3_private.h"

static void again_next(struct rr_v3_vfs *vfs);

/* Returns the first range of the owner that is not locked again yet, or NULL. */
static const struct rr_range *
again_range(struct rr_v3_owner *owner)
{
	const struct rr_range *range = rr_range_from(&owner->ranges, owner->relocked);

	if (!range)
		owner->relocks = false;
	return range;
}

/* Where a range is refused, somebody else may have the lock: the owner gets errors. */
static void
again_take(struct rr_v3_locks *locks, struct rr_v3_owner *owner, nlm4_stats stat)
{
	const struct rr_range *range = again_range(owner);

	if (stat == NLM4_DENIED_GRACE_PERIOD && !locks->reclaim) {
		locks->reclaim = true;
		return;
	}
	locks->reclaim = false;
	if (stat != NLM4_GRANTED) {
		owner->broken = true;
		owner->relocks = false;
	} else if (range && range->span.last < UINT64_MAX) {
		owner->relocked = range->span.last + 1;
	} else {
		owner->relocks = false;
	}
}

static void
again_done(struct rr_call *call, int error)
{
	struct rr_v3_vfs *vfs = call->ctx;
	struct rr_v3_locks *locks = &vfs->locks;
	struct rr_v3_owner *owner = locks->relocking;

	locks->asked = false;
	locks->relocking = NULL;
	/* Without an answer, the watch looks again. */
	if (error)
		return;
	if (owner)
		again_take(locks, owner,
			rr_v3_nlm_status(&locks->nlm, 0, NLM4_GRANTED) == RR_VFS_OK
				? locks->nlm.result.res.stat.stat
				: NLM4_FAILED);
	rr_v3_locks_look(vfs);
	again_next(vfs);
}

static void
again_lock(struct rr_v3_vfs *vfs, struct rr_v3_owner *owner, const struct rr_range *range)
{
	struct rr_v3_locks *locks = &vfs->locks;

	locks->asked = true;
	locks->relocking = owner;
	locks->nlm.args.lock = (nlm4_lockargs){ .exclusive = range->write,
		.alock = rr_v3_nlm_lock(owner, range->span.first, rr_span_length(range->span)),
		.reclaim = locks->reclaim };
	locks->again = (struct rr_call){ .user = &owner->user, .done = again_done, .ctx = vfs };
	rr_v3_nlm_call(vfs, &locks->nlm, &locks->again, NLMPROC4_LOCK);
}

static void
again_next(struct rr_v3_vfs *vfs)
{
	if (vfs->locks.asked)
		return;
	rr_list_for_each (link, &vfs->locks.owners) {
		struct rr_v3_owner *owner = rr_container(link, struct rr_v3_owner, link);
		const struct rr_range *range = owner->relocks ? again_range(owner) : NULL;

		if (range) {
			again_lock(vfs, owner, range);
			return;
		}
	}
}

void
rr_v3_locks_look(struct rr_v3_vfs *vfs)
{
	struct rr_v3_locks *locks = &vfs->locks;
	uint32_t reconnects = rr_client_reconnects(locks->client);

	if (reconnects == locks->reconnects)
		return;
	locks->reconnects = reconnects;
	locks->reclaim = false;
	rr_list_for_each (link, &locks->owners) {
		struct rr_v3_owner *owner = rr_container(link, struct rr_v3_owner, link);

		owner->relocks = !owner->broken;
		owner->relocked = 0;
	}
	again_next(vfs);
}

static void
again_watched(struct rr_call *call, int error)
{
	struct rr_v3_vfs *vfs = call->ctx;

	vfs->locks.asked = false;
	if (error)
		return;
	rr_v3_locks_look(vfs);
	again_next(vfs);
}

/* Tells whether an owner has a range. */
static bool
again_is_wanted(const struct rr_v3_locks *locks)
{
	rr_list_for_each (link, &locks->owners)
		if (rr_container(link, struct rr_v3_owner, link)->ranges.count > 0)
			return true;
	return false;
}

void
rr_v3_locks_watch(struct rr_timer *timer)
{
	struct rr_v3_vfs *vfs = rr_container(timer, struct rr_v3_vfs, locks.watch);
	struct rr_v3_locks *locks = &vfs->locks;

	if (!again_is_wanted(locks))
		return;
	rr_loop_arm(vfs->base.base.loop, timer, RR_V3_WATCH);
	if (locks->asked)
		return;
	locks->asked = true;
	locks->again = (struct rr_call){ .done = again_watched, .ctx = vfs };
	rr_v3_nlm_call(vfs, &locks->nlm, &locks->again, NLMPROC4_NULL);
}
