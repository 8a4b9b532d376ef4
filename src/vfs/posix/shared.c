/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes the structure that the providers of all threads share, and takes and releases the locks of
 * objects (shared.h). */
#include "vfs/posix/shared.h"

#include <rpcrdma/error.h>

enum { LOCKS = (RR_POSIX_DEVICES + 1) * RR_POSIX_LOCKS };

int
rr_posix_shared_new(const struct rr_env *env, uint64_t verifier, struct rr_posix_shared **shared)
{
	struct rr_posix_shared *new = rr_alloc(env, sizeof(*new));

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	new->verifier = verifier;
	new->stored_log = (struct rr_log_limit){ .level = RR_LOG_ERROR, .kind = "what clients wrote" };
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&new->locks[i], NULL);
	rr_reserve_init(&new->reserve);
	pthread_mutex_init(&new->leases_lock, NULL);
	*shared = new;
	return 0;
}

void
rr_posix_shared_free(struct rr_posix_shared *shared)
{
	if (!shared)
		return;
	rr_log_limit_end(&shared->stored_log, shared->env);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&shared->locks[i]);
	rr_reserve_free(&shared->reserve);
	pthread_mutex_destroy(&shared->leases_lock);
	rr_free(shared->env, shared);
}

/* Returns the number of the set of locks of the file system in which the object of st lies. The first object
 * of a file system gives it a set of its own. When RR_POSIX_DEVICES file systems have one, all others share
 * the set of that number. */
static int
shared_set_of(struct rr_posix_shared *shared, const struct statx *st)
{
	uint64_t device = ((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) + 1;
	int set = 0;

	for (; set < RR_POSIX_DEVICES; set++) {
		uint64_t there = atomic_load(&shared->devices[set]);

		/* If another thread is faster, "there" is what that thread has stored. */
		if (there == 0 && atomic_compare_exchange_strong(&shared->devices[set], &there, device))
			break;
		if (there == device)
			break;
	}
	return set;
}

/* Returns the number of the lock of an object: one of the RR_POSIX_LOCKS locks in the set of its file
 * system. */
static int
shared_lock_of(struct rr_posix_shared *shared, const struct statx *st)
{
	uint64_t hash = st->stx_ino * UINT64_C(0x9e3779b97f4a7c15);

	return shared_set_of(shared, st) * RR_POSIX_LOCKS + ((int)(hash >> 32) & (RR_POSIX_LOCKS - 1));
}

/* Stores the numbers of the locks of one object, or of two (two may be NULL), in the order in which the locks
 * are to be taken: the lower number first. *second is -1 where one lock is enough, because two is NULL or
 * both objects have the same lock. */
static void
shared_locks_of(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two, int *first,
	int *second)
{
	int other = shared_lock_of(shared, two ? two : one);

	*first = shared_lock_of(shared, one);
	*second = -1;
	if (other > *first)
		*second = other;
	if (other < *first) {
		*second = *first;
		*first = other;
	}
}

void
rr_posix_lock(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two)
{
	int first, second;

	shared_locks_of(shared, one, two, &first, &second);
	pthread_mutex_lock(&shared->locks[first]);
	if (second >= 0)
		pthread_mutex_lock(&shared->locks[second]);
}

void
rr_posix_unlock(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two)
{
	int first, second;

	shared_locks_of(shared, one, two, &first, &second);
	if (second >= 0)
		pthread_mutex_unlock(&shared->locks[second]);
	pthread_mutex_unlock(&shared->locks[first]);
}
