/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock-owners, from the first lock to the last unlock. */
#include <string.h>

#include "carrier/engine.h"
#include "vfs/nfs/v3/v3_private.h"

/* For so long, files are unlocked at the end of the provider. */
#define OWNER_PATIENCE (2 * RR_SECOND)

struct rr_v3_owner *
rr_v3_owner(struct rr_v3_vfs *vfs, struct rr_vfs_open *open)
{
	struct rr_v3_owner *owner = open->owner ? open->owner : rr_alloc(vfs->base.env, sizeof(*owner));

	if (open->owner || !owner)
		return owner;
	owner->vfs = vfs;
	owner->file = open->remote.handle;
	owner->user = open->remote.user;
	owner->svid = ++vfs->locks.svids;
	memcpy(owner->oh, vfs->locks.id, sizeof(owner->oh));
	rr_locked_init(&owner->locked);
	rr_ranges_init(&owner->ranges, &owner->locked);
	rr_list_append(&vfs->locks.owners, &owner->link);
	open->owner = owner;
	return owner;
}

static void
owner_free(struct rr_v3_owner *owner)
{
	const struct rr_env *env = owner->vfs->base.env;

	rr_list_remove(&owner->link);
	rr_ranges_free(&owner->ranges, env, UINT32_MAX);
	rr_free(env, owner);
}

static void
owner_ended(struct rr_call *call, int error)
{
	(void)error;
	owner_free(call->ctx);
}

void
rr_v3_owner_end(struct rr_v3_owner *owner)
{
	struct rr_v3_locks *locks = &owner->vfs->locks;

	if (locks->relocking == owner)
		locks->relocking = NULL;
	rr_list_remove(&owner->link);
	rr_list_append(&locks->closings, &owner->link);
	owner->nlm.args.unlock.alock = rr_v3_nlm_lock(owner, 0, UINT64_MAX);
	owner->rpc = (struct rr_call){ .user = &owner->user, .done = owner_ended, .ctx = owner };
	rr_v3_nlm_call(owner->vfs, &owner->nlm, &owner->rpc, NLMPROC4_UNLOCK);
}

int
rr_v3_locks_begin(struct rr_v3_vfs *vfs, struct rpcrdma_engine *engine, struct rr_text *text)
{
	const struct rr_client_config *config = &vfs->base.shared->config.nlm;
	struct rr_v3_locks *locks = &vfs->locks;

	rr_list_init(&locks->owners);
	rr_list_init(&locks->closings);
	rr_timer_init(&locks->watch, rr_v3_locks_watch);
	engine->env->random(engine->env->ctx, locks->id, sizeof(locks->id));
	return config->address_size > 0 ? rr_client_new(engine, config, &locks->client, text) : 0;
}

void
rr_v3_locks_end(struct rr_v3_vfs *vfs)
{
	struct rr_v3_locks *locks = &vfs->locks;
	struct rr_loop *loop = vfs->base.base.loop;
	uint64_t until = rr_loop_now(loop) + OWNER_PATIENCE;

	rr_loop_disarm(loop, &locks->watch);
	while (!rr_list_empty(&locks->closings)) {
		uint64_t now = rr_loop_now(loop);

		if (now >= until || rr_loop_turn(loop, (int64_t)(until - now)) < 0)
			break;
	}
	rr_client_free(locks->client);
	while (!rr_list_empty(&locks->closings))
		owner_free(rr_container(locks->closings.next, struct rr_v3_owner, link));
}
