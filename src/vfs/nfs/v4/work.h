/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_WORK_H
#define RR_VFS_NFS_V4_WORK_H

#include <rpcrdma/engine.h>

#include "vfs/nfs/remote/remote.h"
#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/v4.h"

/*
 * The operations of vfs.h as COMPOUNDs of version 4: each work (slot.h) appends the operations to the
 * COMPOUND, and takes their results into the output of the operation. The provider sends them, and so does
 * the client of <rpcrdma/nfs.h>, whose job has no provider (struct rr_remote_job.lean).
 */

struct rr_v4_vfs;
struct rr_v4_held;

/* The structure of the operation that the job is for. */
#define RR_V4_INPUT(job, type) rr_container((job)->base.call, struct rr_vfs_##type, call)

struct rr_v4_job {
	struct rr_remote_job base;
	/* The provider in whose session the operation goes on: that of the thread which has made the open
	 * that the call names. */
	struct rr_v4_vfs *on;
	struct rr_list of_guests;                          /* in on->guests, if that is another thread's */
	struct rpcrdma_post post;                          /* there, and back */
	enum rr_vfs_status outcome;                        /* on the way back */
	enum rr_vfs_status (*step)(struct rr_v4_job *job); /* its first step */
	void (*then)(struct rr_v4_job *job, enum rr_vfs_status status);
	const struct rr_v4_work *work; /* the COMPOUND under way */
	nfsstat4 status;               /* its result */
	/* The verdict of the work's take() on a COMPOUND that succeeded; RR_VFS_OK at first. */
	enum rr_vfs_status verdict;
	/* The places of operations in the COMPOUND. 0: it is not there, as SEQUENCE is. */
	struct {
		uint8_t before[2], after[2]; /* GETATTR of the objects that the operation changes */
		uint8_t object;              /* GETATTR of the object that is found or made */
	} at;
	struct rr_v4_held *held; /* by OPEN: what is opened; by others: the state that the call has used */
	bool again;              /* that state was lost, and was made again */
	struct rr_vfs_open *relocking; /* the open whose range is locked again after that */
	struct {                       /* the COMPOUND that found it lost */
		const struct rr_v4_work *work;
		void (*then)(struct rr_v4_job *job, enum rr_vfs_status status);
	} lost;
	bool listed;           /* of a listing: the part was taken, though its COMPOUND failed */
	uint8_t guard[12];     /* of SETATTR: the time or number of change that it wants, as VERIFY has it */
	struct rr_vfs_set set; /* attributes to be set */
	struct rr_vfs_known above;    /* an object that the call does not name */
	bool commit;                  /* of COPY: a COMMIT is to follow in the COMPOUND */
	enum rr_vfs_stable committed; /* of COPY: how stable the copy is */
	/* The names of the owner and the group of the object, of which the other server sent no numbers;
	 * valid until the call's done() returns. */
	struct rpcrdma_bytes owner, group;
};

/* Returns the job that a slot works for. */
static inline struct rr_v4_job *
rr_v4_job(const struct rr_v4_slot *slot)
{
	return slot->outer->ctx;
}

/* Appends PUTFH of an object of the job. */
static inline void
rr_v4_put_object(struct rr_v4_slot *slot, int index)
{
	rr_v4_putfh(slot, rr_remote_fh(&rr_v4_job(slot)->base.objects[index]));
}

/* Appends the READ of the next piece of the job, whose data is to be placed where the job wants it; and takes
 * its result. RR_VFS_IO: it makes no sense. */
void rr_v4_read_op(struct rr_v4_slot *slot, stateid4 stateid);
enum rr_vfs_status rr_v4_read_take(const struct rr_v4_slot *slot);

/* All that struct rr_vfs_attributes has; the same with what an entry of a directory has besides; the same
 * with the access list; with what struct rr_vfs_statfs has; with what struct rr_vfs_limits has, of minor
 * versions 1 and 2. */
extern const bitmap4 rr_v4_ask_object, rr_v4_ask_entry, rr_v4_ask_acl, rr_v4_ask_space, rr_v4_ask_limits[2];

extern const struct rr_v4_work rr_v4_work_lookup, rr_v4_work_create, rr_v4_work_getattr, rr_v4_work_setattr,
	rr_v4_work_access, rr_v4_work_readlink, rr_v4_work_statfs, rr_v4_work_limits, rr_v4_work_link,
	rr_v4_work_remove, rr_v4_work_rename, rr_v4_work_read, rr_v4_work_write, rr_v4_work_commit,
	rr_v4_work_seek, rr_v4_work_copy, rr_v4_work_clone, rr_v4_work_allocate, rr_v4_work_getxattr,
	rr_v4_work_setxattr, rr_v4_work_listxattr;

#endif
