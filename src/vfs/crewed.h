/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CREWED_H
#define RR_VFS_CREWED_H

#include <stdatomic.h>

#include "base/crew.h"
#include "vfs/door.h"
#include "vfs/gather.h"
#include "vfs/reserve.h"

/*
 * This is a provider whose operations are functions that may wait. Each operation is a job of a crew
 * (crew.h): it waits until the jobs that have to come before it have ended; then a thread finds its objects,
 * calls the function of the operation, and fills in the attributes in its output; then the loop's thread ends
 * it. The table of door.h describes the operations. A provider gives the functions
 * below.
 *
 *   struct rr_crewed        is the beginning of the provider's own structure
 *   struct rr_crewed_job    is the beginning of its structure for an operation under way
 *   struct rr_crewed_open   is the beginning of its struct rr_vfs_open
 *
 * A thread uses the job, the call's structure with the memory that it points to, and of all else what never
 * changes or has a lock.
 */

struct rr_crewed {
	struct rr_vfs vfs;
	const struct rr_env *env;
	const struct rr_crewed_steps *steps;
	struct rr_crew *crew;
};

struct rr_crewed_job {
	struct rr_crew_job crew;
	struct rr_crewed *vfs;
	struct rr_vfs_call *call;
	enum rr_vfs_operation operation;
	const struct rr_vfs_row *row; /* of the operation */
	/* By which the call names its objects, held until the job ends. Of a call that names an open and no
	 * object, opens[0] is that one. */
	struct rr_vfs_open *opens[2];
	bool found[2];            /* whether find() has found the object */
	struct rr_gather *gather; /* for the entries of a listing, else NULL */
	enum rr_vfs_status status;
};

struct rr_crewed_open {
	struct rr_reservation reservation;
	_Atomic uint32_t holders; /* the caller, and the jobs that use the open */
	struct {
		struct rr_crew_job job;
		struct rr_crewed *vfs;    /* the provider whose crew closes the file */
		struct rr_vfs_call *call; /* ends when the file is closed; may be NULL */
	} closing;
};

struct rr_crewed_steps {
	size_t job_size; /* of the provider's structure for an operation */

	/* Notes, in the loop's thread, what the object of this index is: that of the open job->opens[index],
	 * if there is one, else that of the handle in object. object is NULL for a call that names an open
	 * only. Stores a number that stands for the object in *key; it is not 0. Returns RR_VFS_OK, or why
	 * there is no such object. */
	enum rr_vfs_status (*note)(
		struct rr_crewed_job *job, int index, const struct rr_vfs_object *object, uint64_t *key);

	/* From here on, the functions are called in a thread of the crew. begin() takes on the identity of
	 * the caller. end() gives back all that the job has; it is called also where begin() or find() has
	 * failed. */
	enum rr_vfs_status (*begin)(struct rr_crewed_job *job);
	void (*end)(struct rr_crewed_job *job);
	/* Finds an object that was noted. */
	enum rr_vfs_status (*find)(struct rr_crewed_job *job, int index);
	/* Does the operation. A listing gives its entries to job->gather. */
	enum rr_vfs_status (*run)(struct rr_crewed_job *job);
	/* Brings a directory, whose entries the operation has changed, to stable storage. */
	enum rr_vfs_status (*store)(struct rr_crewed_job *job, int index);
	/* Gets the present attributes of an object. */
	enum rr_vfs_status (*attributes)(
		struct rr_crewed_job *job, int index, struct rr_vfs_attributes *attributes);
	/* Closes the file of an open. */
	void (*close_file)(struct rr_vfs_open *open);

	/* Frees an open whose file is closed, in the loop's thread. */
	void (*free_open)(struct rr_vfs_open *open);
};

/* Begins the crew, of at most so many threads, of a provider whose other members are set. Errors: as
 * rr_crew_new(). */
int rr_crewed_start(struct rr_crewed *crewed, uint32_t threads);
/* Waits for all jobs, and ends the crew. */
void rr_crewed_stop(struct rr_crewed *crewed);

/* What the provider puts into its struct rr_vfs_ops. */
enum rr_vfs_status rr_crewed_begin(
	struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
/* Cancels an operation that no thread has begun: it then ends with RR_VFS_CANCELLED. Any other operation goes
 * on to its end. */
void rr_crewed_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);
enum rr_vfs_status rr_crewed_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);

/* ---- for providers that have a crew, but jobs of their own ---- */

/* Tells whether the crew orders operations of this kind, by the keys of the objects that they change, and
 * stores how: a change of entries waits for earlier changes of the same directory, and a commit for earlier
 * writes to the same file. */
bool rr_crewed_order(const struct rr_vfs_row *row, enum rr_crew_order *order);

/* Gets the memory that a job needs, in the loop's thread: for the data of a read from the call's memory(), or
 * for the entries of a listing, in *gather. Returns RR_VFS_NO_BUFFER for a read, or RR_VFS_BUSY for a
 * listing, if there is no memory. */
enum rr_vfs_status rr_crewed_equip(const struct rr_env *env, const struct rr_vfs_row *row,
	struct rr_vfs_call *call, struct rr_gather **gather);

#endif
