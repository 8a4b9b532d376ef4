/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_WORK_H
#define RR_VFS_NFS_V3_WORK_H

#include "ulb/nfs3.h"
#include "vfs/nfs/v3/lock.h"

/*
 * The operations of vfs.h as calls of version 3: each work sets the arguments of a procedure, and takes its
 * results into the output of the operation. The provider makes the calls, and so does the client of
 * <rpcrdma/nfs.h>, whose job has no provider (struct rr_remote_job.lean).
 */

struct rr_v3_work;

struct rr_v3_job {
	struct rr_remote_job base;
	void (*then)(struct rr_v3_job *job, enum rr_vfs_status status);
	const struct rr_v3_work *work; /* whose call is under way; NULL: it is a call of another kind */
	bool plain;                    /* of a listing: by READDIR */
	bool known;                    /* of LOOKUP: the attributes of the object came with it */
	struct rr_v3_nlm nlm;
	union {
		GETATTR3args getattr;
		SETATTR3args setattr;
		LOOKUP3args lookup;
		ACCESS3args access;
		READLINK3args readlink;
		READ3args read;
		WRITE3args write;
		CREATE3args create;
		MKDIR3args mkdir;
		SYMLINK3args symlink;
		MKNOD3args mknod;
		REMOVE3args remove;
		RMDIR3args rmdir;
		RENAME3args rename;
		LINK3args link;
		READDIR3args readdir;
		READDIRPLUS3args readdirplus;
		FSSTAT3args fsstat;
		FSINFO3args fsinfo;
		PATHCONF3args pathconf;
		COMMIT3args commit;
		GETACL3args getacl;
		SETACL3args setacl;
	} args;
	union {
		nfsstat3 status; /* each result begins with it */
		GETATTR3res getattr;
		SETATTR3res setattr;
		LOOKUP3res lookup;
		ACCESS3res access;
		READLINK3res readlink;
		READ3res read;
		WRITE3res write;
		CREATE3res create;
		MKDIR3res mkdir;
		SYMLINK3res symlink;
		MKNOD3res mknod;
		REMOVE3res remove;
		RMDIR3res rmdir;
		RENAME3res rename;
		LINK3res link;
		READDIR3res readdir;
		READDIRPLUS3res readdirplus;
		FSSTAT3res fsstat;
		FSINFO3res fsinfo;
		PATHCONF3res pathconf;
		COMMIT3res commit;
		GETACL3res getacl;
		SETACL3res setacl;
	} result;
};

struct rr_v3_work {
	uint32_t procedure;
	uint32_t
		more; /* octets that the result may have besides, of marked data for which there is no sink */
	/* Sets job->args. */
	void (*build)(struct rr_v3_job *job);
	/* Takes job->result, also that of a call that failed with the status. Returns the status of the
	 * operation. */
	enum rr_vfs_status (*take)(struct rr_v3_job *job, enum rr_vfs_status status);
};

extern const struct rr_v3_work rr_v3_work_lookup, rr_v3_work_create, rr_v3_work_mkdir, rr_v3_work_symlink,
	rr_v3_work_mknod, rr_v3_work_getattr, rr_v3_work_setattr, rr_v3_work_access, rr_v3_work_readlink,
	rr_v3_work_statfs, rr_v3_work_read, rr_v3_work_write, rr_v3_work_commit, rr_v3_work_link,
	rr_v3_work_remove, rr_v3_work_rmdir, rr_v3_work_rename;

/* NFS version 3 as clients call it. */
extern const struct rpcrdma_program rr_v3_program;

/* Sets the arguments of a work, and the call of the job: all but its user, done and ctx. */
void rr_v3_prepare(struct rr_v3_job *job, const struct rr_v3_work *work);
enum rr_vfs_status rr_v3_status(nfsstat3 status);

/* Returns the handle as an argument of a call. */
static inline nfs_fh3
rr_v3_fh(const struct rr_remote_handle *handle)
{
	return (nfs_fh3){ .data = rr_remote_fh(handle) };
}

#endif
