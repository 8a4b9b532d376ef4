/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements share reservations (reserve.h). */
#include "vfs/reserve.h"

void
rr_reserve_init(struct rr_reserve *reserve)
{
	pthread_mutex_init(&reserve->lock, NULL);
	for (int i = 0; i < RR_RESERVE_SHARDS; i++)
		rr_list_init(&reserve->shards[i]);
}

void
rr_reserve_free(struct rr_reserve *reserve)
{
	pthread_mutex_destroy(&reserve->lock);
}

/* Returns the list in which the reservations of this file are. Other files share the list. */
static struct rr_list *
reserve_shard(struct rr_reserve *reserve, struct rr_reserve_file file)
{
	uint64_t hash = (file.system ^ file.number) * UINT64_C(0x9e3779b97f4a7c15);

	return &reserve->shards[(hash >> 32) % RR_RESERVE_SHARDS];
}

/* Tells whether all reservations of the file allow this access, and have no access that "deny" forbids. The
 * reservation "own", which may be NULL, does not count. RFC 8881, 9.7: of two opens of one file, neither may
 * have an access that the other one denies. The caller holds the lock. */
static bool
reserve_is_free(struct rr_reserve *reserve, struct rr_reserve_file file, uint32_t access, uint32_t deny,
	const struct rr_reservation *own)
{
	rr_list_for_each (link, reserve_shard(reserve, file)) {
		const struct rr_reservation *other = rr_container(link, struct rr_reservation, link);

		if (other == own || other->file.number != file.number || other->file.system != file.system)
			continue;
		if (other->access & deny || other->deny & access)
			return false;
	}
	return true;
}

/* Lets the reservation stand from now on, or ends it, and keeps reserve->denying up to date. The caller holds
 * the lock. */
static void
reserve_set(struct rr_reserve *reserve, struct rr_reservation *reservation, bool stands)
{
	if (reservation->stands == stands)
		return;
	reservation->stands = stands;
	if (reservation->deny && stands)
		atomic_fetch_add(&reserve->denying, 1);
	else if (reservation->deny)
		atomic_fetch_sub(&reserve->denying, 1);
	if (stands)
		rr_list_append(reserve_shard(reserve, reservation->file), &reservation->link);
	else
		rr_list_remove(&reservation->link);
}

enum rr_vfs_status
rr_reserve_open(struct rr_reserve *reserve, const struct rr_vfs_opening *opening, struct rr_reserve_file file,
	struct rr_reservation *made)
{
	struct rr_reservation *other =
		opening->relation == RR_VFS_REPLACES ? rr_reservation(opening->object.open) : NULL;
	/* The reservation of the other open is enough for one beside it. */
	bool beside = opening->object.open && opening->relation == RR_VFS_BESIDE;
	bool is_free = true;

	*made = (struct rr_reservation){
		.file = file, .access = opening->access, .deny = beside ? 0 : opening->deny
	};
	rr_list_init(&made->link);
	pthread_mutex_lock(&reserve->lock);
	if (!beside)
		is_free = reserve_is_free(reserve, file, made->access, made->deny, other);
	if (!beside && is_free)
		reserve_set(reserve, made, true);
	if (other && is_free)
		reserve_set(reserve, other, false);
	pthread_mutex_unlock(&reserve->lock);
	if (is_free)
		atomic_fetch_add(&reserve->opens, 1);
	return is_free ? RR_VFS_OK : RR_VFS_SHARE;
}

void
rr_reserve_close(struct rr_reserve *reserve, struct rr_reservation *reservation)
{
	pthread_mutex_lock(&reserve->lock);
	reserve_set(reserve, reservation, false);
	pthread_mutex_unlock(&reserve->lock);
	atomic_fetch_sub(&reserve->opens, 1);
}

bool
rr_reserve_denies(struct rr_reserve *reserve, struct rr_reserve_file file, uint32_t access)
{
	bool is_free;

	/* Mostly no open denies anything, and then no lock is taken. */
	if (atomic_load_explicit(&reserve->denying, memory_order_relaxed) == 0)
		return false;
	pthread_mutex_lock(&reserve->lock);
	is_free = reserve_is_free(reserve, file, access, 0, NULL);
	pthread_mutex_unlock(&reserve->lock);
	return !is_free;
}
