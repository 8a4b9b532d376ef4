/* SPDX-License-Identifier: BSD-3-Clause */
/* This file brings the objects of a batch of jobs to stable storage, for a storer (storer.h): each object
 * once, or the whole file system. */
#include "vfs/posix/store/batch.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A target is one object to be stored, of one job. Several targets may be the same object. */
struct batch_target {
	const struct rr_store *store;
	dev_t device; /* 0 and 0 where there is no descriptor */
	ino_t inode;
	struct batch_target *same; /* a later target that is the same object and is stored instead; or NULL */
	int error;                 /* 0, or the errno with which fstat(2) or storing failed */
};

/* Returns the first of the targets that is the same object as "wanted" and is to be stored in the same way,
 * or NULL if there is none. */
static struct batch_target *
batch_target_find(struct batch_target *targets, uint32_t count, const struct batch_target *wanted)
{
	for (uint32_t i = 0; i < count; i++)
		if (targets[i].inode == wanted->inode && targets[i].device == wanted->device &&
			targets[i].store->how == wanted->store->how)
			return &targets[i];
	return NULL;
}

/* Makes a target of each object that the jobs of the batch have to store, in the order of the jobs. Where
 * fstat(2) of an object fails, stores the errno in its target. Returns the number of targets. */
static uint32_t
batch_targets(struct rr_list *batch, struct batch_target targets[RR_STORE_BATCH * RR_STORES])
{
	uint32_t count = 0;

	for (struct rr_list *link = batch->next; link != batch; link = link->next) {
		const struct rr_store_job *job = rr_container(link, struct rr_store_job, link);

		for (uint32_t i = 0; i < job->stores.count; i++) {
			struct batch_target *target = &targets[count++];
			struct stat st = { 0 };

			*target = (struct batch_target){ .store = &job->stores.list[i] };
			if (target->store->fd >= 0 && fstat(target->store->fd, &st) < 0)
				target->error = errno;
			target->device = st.st_dev;
			target->inode = st.st_ino;
		}
	}
	return count;
}

/* Marks each target whose object is listed again later: its "same" points to the next target of that object.
 * So each object is stored once, at its last place in the list. A rename lists the directory of the new name
 * before that of the old name; this order is kept unless the former is listed again later. Returns how many
 * targets are not marked. */
static uint32_t
batch_unite(struct batch_target *targets, uint32_t count)
{
	uint32_t left = count;

	for (uint32_t i = 0; i < count; i++) {
		targets[i].same = batch_target_find(targets + i + 1, count - i - 1, &targets[i]);
		left -= targets[i].same != NULL;
	}
	return left;
}

/* Brings the object of a target to stable storage, by the system call that "how" names. Returns 0 or an
 * errno. Where fstat(2) of the object failed before, only returns that errno. */
static int
batch_target_store(const struct batch_target *target, enum rr_store_how how)
{
	int fd = target->store->fd, result = 0;

	if (target->error)
		return target->error;
	switch (how) {
	case RR_STORE_FILE: result = fsync(fd); break;
	case RR_STORE_DATA: result = fdatasync(fd); break;
	case RR_STORE_FILE_SYSTEM: result = syncfs(fd); break;
	case RR_STORE_EVERYTHING: sync(); break;
	}
	return result < 0 ? errno : 0;
}

/* Stores each file system that has targets once, as a whole, and gives the result, 0 or an errno, to all
 * targets in that file system. The first target of each device does this for the others. Targets without a
 * descriptor have the device 0, and sync(2) stores all file systems for them. */
static void
batch_store_whole(struct batch_target *targets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool everything = targets[i].store->how == RR_STORE_EVERYTHING;
		uint32_t first = 0;

		while (targets[first].device != targets[i].device)
			first++;
		targets[i].same = NULL;
		targets[i].error = first < i
					   ? targets[first].error
					   : batch_target_store(&targets[i],
						     everything ? RR_STORE_EVERYTHING : RR_STORE_FILE_SYSTEM);
	}
}

/* Stores each target that is not marked as the same as a later target. A marked target gets the error of the
 * later one. */
static void
batch_store(struct batch_target *targets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!targets[i].same)
			targets[i].error = batch_target_store(&targets[i], targets[i].store->how);
	for (uint32_t i = count; i-- > 0;)
		if (targets[i].same)
			targets[i].error = targets[i].same->error;
}

/* united is the number of different objects in the batch: storing one by one takes a system call for each. */
void
rr_store_batch(struct rr_list *batch, struct rr_store_pace *pace, const struct rr_env *env)
{
	struct batch_target targets[RR_STORE_BATCH * RR_STORES], *next = targets;
	uint32_t count = batch_targets(batch, targets), united = batch_unite(targets, count);
	bool whole = rr_store_pace_is_whole(pace, united);
	uint64_t start = rr_now(env);

	if (whole)
		batch_store_whole(targets, count);
	else
		batch_store(targets, count);
	if (united > 0)
		rr_store_pace_learn(pace, whole, united, rr_now(env) - start);
	/* The targets are in the order of the jobs and their objects. A job gets the first error of its own
	 * objects. */
	for (struct rr_list *link = batch->next; link != batch; link = link->next) {
		struct rr_store_job *job = rr_container(link, struct rr_store_job, link);

		for (uint32_t i = 0; i < job->stores.count; i++, next++)
			job->error = job->error ? job->error : next->error;
		rr_stores_drop(&job->stores);
	}
}
