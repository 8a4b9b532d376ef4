/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of operations: the other server may execute calls in any order. Changes of the entries of one
 * directory are made one after the other; a commit waits for the writes to its file that began before it.
 * Each object that operations under way change has a queue of them, in the order in which they began.
 */
#include "vfs/nfs/remote/remote.h"

/* The queue of an object. Ownership: it lives as long as there is a job in it. */
struct rr_remote_queue {
	struct rr_map_link by_object;
	uint64_t object; /* a hash of its handle */
	struct rr_list jobs;
};

static struct rr_remote_queue *
order_queue(struct rr_remote_vfs *vfs, const struct rr_remote_handle *handle)
{
	uint64_t object = rr_siphash_64(vfs->shared->handles.check, handle->data, handle->length);
	struct rr_map_link *link = rr_map_find(&vfs->queues, object);
	struct rr_remote_queue *queue;

	if (link)
		return rr_container(link, struct rr_remote_queue, by_object);
	queue = rr_alloc(vfs->env, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->object = object;
	rr_list_init(&queue->jobs);
	rr_map_add(&vfs->queues, &queue->by_object, object);
	return queue;
}

/* Tells whether the job may go on: writes wait for nothing; all others until they are the first in their
 * queues. */
static bool
order_is_turn(const struct rr_remote_job *job)
{
	for (int i = 0; i < 2; i++) {
		const struct rr_remote_place *place = &job->places[i];

		if (place->queue && place->kind != RR_REMOTE_WRITES &&
			place->queue->jobs.next != &place->link)
			return false;
	}
	return true;
}

/* Has the job begin whose turn it is now. A commit that has begun is in nobody's way, and leaves: then it is
 * the turn of the next one. */
static void
order_next(struct rr_remote_queue *queue)
{
	struct rr_remote_place *place = rr_container(queue->jobs.next, struct rr_remote_place, link);

	if (!rr_remote_is_waiting(place->job) || !order_is_turn(place->job))
		return;
	if (place->kind == RR_REMOTE_COMMITS)
		rr_remote_leave(place->job);
	rr_remote_go(place->job);
}

bool
rr_remote_order(struct rr_remote_job *job, enum rr_vfs_status *status)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	enum rr_remote_kind kind = row->flags & RR_VFS_ENTRIES  ? RR_REMOTE_CHANGES
				   : row->flags & RR_VFS_WRITES ? RR_REMOTE_WRITES
								: RR_REMOTE_COMMITS;

	if (!(row->flags & (RR_VFS_ENTRIES | RR_VFS_WRITES | RR_VFS_COMMITS)))
		return true;
	for (int i = 0; i < 2; i++) {
		struct rr_remote_place *place = &job->places[i];

		if (!row->changes[i] ||
			(i == 1 && row->changes[0] && rr_remote_same(&job->objects[0], &job->objects[1])))
			continue;
		place->queue = order_queue(job->vfs, &job->objects[i]);
		if (!place->queue) {
			*status = RR_VFS_BUSY;
			return false;
		}
		place->job = job;
		place->kind = kind;
		rr_list_append(&place->queue->jobs, &place->link);
	}
	*status = RR_VFS_PENDING;
	if (!order_is_turn(job))
		return false;
	if (kind == RR_REMOTE_COMMITS)
		rr_remote_leave(job);
	return true;
}

void
rr_remote_leave(struct rr_remote_job *job)
{
	for (int i = 0; i < 2; i++) {
		struct rr_remote_queue *queue = job->places[i].queue;

		job->places[i].queue = NULL;
		if (!queue)
			continue;
		rr_list_remove(&job->places[i].link);
		if (!rr_list_empty(&queue->jobs)) {
			order_next(queue);
			continue;
		}
		rr_map_remove(&job->vfs->queues, &queue->by_object);
		rr_free(job->vfs->env, queue);
	}
}
