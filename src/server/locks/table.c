/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of which ranges are locked, and the conflicts between owners of all protocols. */
#include "server/locks/table.h"

#include <rpcrdma/error.h>

/* Buckets of the table of files; and the most ranges in the way of a lock that are looked at for one whose
 * owner does not cede it. */
enum { LOCKS_BUCKETS = 4096, LOCKS_LOOKS = 32 };

int
rr_locks_new(const struct rr_env *env, struct rr_locks **result)
{
	struct rr_locks *locks = rr_alloc(env, sizeof(*locks));

	if (!locks || rr_map_init(&locks->files, env, LOCKS_BUCKETS) < 0) {
		rr_free(env, locks);
		return -RPCRDMA_ERR_NOMEM;
	}
	locks->env = env;
	pthread_mutex_init(&locks->mutex, NULL);
	env->random(env->ctx, &locks->secret, sizeof(locks->secret));
	rr_list_init(&locks->to_look);
	*result = locks;
	return 0;
}

void
rr_locks_free(struct rr_locks *locks)
{
	if (!locks)
		return;
	rr_map_free(&locks->files, locks->env);
	pthread_mutex_destroy(&locks->mutex);
	rr_free(locks->env, locks);
}

bool
rr_locks_is_same(const struct rr_vfs_id *a, const struct rr_vfs_id *b)
{
	return a->fsid[0] == b->fsid[0] && a->fsid[1] == b->fsid[1] && a->number == b->number &&
	       a->birth == b->birth;
}

uint64_t
rr_locks_hash(uint64_t secret, const struct rr_vfs_id *id)
{
	uint64_t hash = secret;

	hash = (hash ^ id->fsid[0]) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ id->fsid[1]) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ id->number) * UINT64_C(0x9e3779b97f4a7c15);
	return (hash ^ hash >> 29 ^ id->birth) * UINT64_C(0x9e3779b97f4a7c15);
}

struct rr_locks_file *
rr_locks_find(const struct rr_locks *locks, const struct rr_vfs_id *id)
{
	struct rr_map_link *link = rr_map_find(&locks->files, rr_locks_hash(locks->secret, id));

	for (; link; link = rr_map_next(link)) {
		struct rr_locks_file *file = rr_container(link, struct rr_locks_file, by_id);

		if (rr_locks_is_same(&file->id, id))
			return file;
	}
	return NULL;
}

struct rr_locks_file *
rr_locks_use(struct rr_locks *locks, const struct rr_vfs_id *id)
{
	struct rr_locks_file *file = rr_locks_find(locks, id);

	if (!file) {
		file = rr_alloc(locks->env, sizeof(*file));
		if (!file)
			return NULL;
		file->locks = locks;
		file->id = *id;
		rr_locked_init(&file->locked);
		rr_list_init(&file->waits);
		rr_list_init(&file->to_look);
		rr_map_add(&locks->files, &file->by_id, rr_locks_hash(locks->secret, id));
	}
	file->users++;
	return file;
}

void
rr_locks_leave(struct rr_locks_file *file)
{
	if (!file || --file->users > 0)
		return;
	rr_list_remove(&file->to_look);
	rr_map_remove(&file->locks->files, &file->by_id);
	rr_free(file->locks->env, file);
}

/* Returns a locked range of another owner that conflicts with the wanted lock. A range whose owner gives way
 * is returned only if the first LOCKS_LOOKS ranges that conflict are all such. Returns NULL if there is no
 * conflict. */
static const struct rr_range *
locks_in_the_way(struct rr_locked *locked, const struct rr_range_wanted *wanted, const void *asker)
{
	const struct rr_range *first = rr_range_conflict(locked, wanted), *range = first;

	for (int looks = 0; range && looks < LOCKS_LOOKS; looks++) {
		if (range->owner->kind->yields(range->owner, asker) == RR_LOCKS_STAYS)
			return range;
		range = rr_range_conflict_next(locked, wanted, range);
	}
	return first;
}

enum rr_locks_answer
rr_locks_ask(struct rr_locks *locks, const struct rr_vfs_id *id, const struct rr_range_wanted *wanted,
	const void *asker, struct rr_locks_holder *holder)
{
	for (;;) {
		/* An owner that ends may take the entry of the file with it: so it is found anew. */
		struct rr_locks_file *file = rr_locks_find(locks, id);
		const struct rr_range *range = file ? locks_in_the_way(&file->locked, wanted, asker) : NULL;

		if (!range)
			return RR_LOCKS_FREE;
		switch (range->owner->kind->yields(range->owner, asker)) {
		case RR_LOCKS_CEDES: range->owner->kind->end(range->owner); break;
		case RR_LOCKS_ENDS: return RR_LOCKS_SOON;
		case RR_LOCKS_STAYS:
			holder->span = range->span;
			holder->write = range->write;
			range->owner->kind->describe(range->owner, holder);
			return RR_LOCKS_HELD;
		}
	}
}
