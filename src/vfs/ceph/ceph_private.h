/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CEPH_CEPH_PRIVATE_H
#define RR_VFS_CEPH_CEPH_PRIVATE_H

#include "vfs/ceph/ceph.h"
#include "vfs/ceph/library.h"
#include "vfs/crewed.h"
#include "vfs/system.h"

/* Each operation is a job of a crew (crewed.h), whose thread calls libcephfs, which may wait for any time. Of
 * struct rr_ceph it uses only members that never change, the verifier, and the reservations. */

/* The snapshot number of objects that are in no snapshot. */
#define RR_CEPH_HEAD (UINT64_MAX - 1)

/* The root directory of an export. */
struct rr_ceph_root {
	uint64_t number; /* inode number */
	uint32_t hash;   /* of the export's name: it stands for the export in handles, because the numbers of
			    exports   may change at a restart */
};

struct rr_ceph {
	const struct rr_env *env;
	struct rr_ceph_library lib;
	struct ceph_mount_info *mount;
	bool mounted;
	struct rr_ceph_config config;
	struct rr_vfs_export *exports;
	struct rr_ceph_root *roots;
	UserPerm *self;    /* user 0: the identity for what needs no permission of the caller */
	uint8_t check[16]; /* the key of the check in handles */
	uint64_t fsid[2];  /* the identity of the file system for clients */
	/* RFC 1813, 3.3.7: the verifier of writes, a random number that is made at the start and changes
	 * where data could not be stored. */
	_Atomic uint64_t verifier;
	struct rr_reserve reserve;
};

struct rr_vfs_open {
	struct rr_crewed_open base;
	struct rr_ceph *ceph;
	struct Inode *inode;
	struct Fh *file;
	uint64_t number, snapshot;
	uint32_t export; /* hash of the export's name */
};

/* A provider. */
struct rr_ceph_vfs {
	struct rr_crewed base;
	struct rr_ceph *ceph;
};

/* An object of an operation. */
struct rr_ceph_object {
	uint64_t number, snapshot;
	uint32_t export;
	struct Inode *inode;      /* NULL: not found, or not looked for yet */
	struct rr_vfs_open *open; /* the open by which the call names the object, or NULL */
	bool reserved;            /* see struct rr_vfs_object */
	bool mine;                /* the job has a reference to inode and gives it back (ll_put) */
};

/* An operation under way. */
struct rr_ceph_job {
	struct rr_crewed_job base;
	struct rr_ceph *ceph;
	struct rr_ceph_object object, second;
	UserPerm *caller; /* the caller's identity for libcephfs, while a thread executes the job */
};

extern const struct rr_vfs_ops rr_ceph_ops;
extern const struct rr_crewed_steps rr_ceph_steps;

/* ---- handle.c ---- */
/* Derives the keys and hashes for handles, and the file system's identity. Errors: INVAL: two exports have
 * one hash. */
int rr_ceph_keys(struct rr_ceph *ceph);
/* Writes the handle of an object. export: the hash of the export's name (struct rr_ceph_root), not its
 * number. */
void rr_ceph_handle(const struct rr_ceph *ceph, uint32_t export, const struct ceph_statx *st,
	uint64_t snapshot, struct rr_vfs_handle *handle);
/* Fills in *object from a handle. Returns false if the handle has another length or
 * version, or was not made with the server's key. */
bool rr_ceph_decode(const struct rr_ceph *ceph, struct rpcrdma_bytes handle, struct rr_ceph_object *object);
/* Returns the number of the export that a handle names, or export_count if it names no export of this server.
 * A forged handle is not detected here. */
uint32_t rr_ceph_export_of(const struct rr_ceph *ceph, struct rpcrdma_bytes handle);

/* Translates a result of libcephfs into a status: negative results are errors. */
static inline enum rr_vfs_status
rr_ceph_status(int64_t result)
{
	return rr_vfs_errno(result < 0 ? (int)-result : 0);
}

/* ---- names.c ---- */
/* Tells whether the object is the root directory of its export. */
bool rr_ceph_is_root(const struct rr_ceph *ceph, const struct rr_ceph_object *object);

/* ---- attributes.c ---- */
/* Translates the attributes in st for clients. */
void rr_ceph_attributes(
	const struct rr_ceph *ceph, const struct ceph_statx *st, struct rr_vfs_attributes *attributes);
/* Gets the attributes of inode from the cluster. */
enum rr_vfs_status rr_ceph_stat(struct rr_ceph_job *job, struct Inode *inode, struct ceph_statx *st);
/* Tells whether the caller has these permissions: 4 read, 2 write, 1 execute. */
bool rr_ceph_may(const struct ceph_statx *st, const struct rr_vfs_caller *caller, unsigned bits);
/* Sets the attributes that set asks for, except the size, in the order owner, mode, times, until one fails.
 * Adds the bits of those that were set to *applied. Where lenient is true, an owner that the caller may not
 * set is left as it is, without an error. */
enum rr_vfs_status rr_ceph_set(struct rr_ceph_job *job, struct Inode *inode, const struct rr_vfs_set *set,
	bool lenient, uint32_t *applied);
/* Sets the size as the server itself: the caller's permission is not checked. */
enum rr_vfs_status rr_ceph_set_size(struct rr_ceph_job *job, struct Inode *inode, uint64_t size);

/* ---- open.c ---- */
/* Checks rr_ceph_may_use(), and stores in *file an open file of the job's object for this access
 * (RR_VFS_SHARE_*): the file of the object's open, or a new one. After success the caller gives the file back
 * by rr_ceph_done(). */
enum rr_vfs_status rr_ceph_use(struct rr_ceph_job *job, uint32_t access, struct Fh **file);
/* Gives back a file that rr_ceph_use() stored: closes it, unless it is the file of the object's open. */
void rr_ceph_done(struct rr_ceph_job *job, struct Fh *file);
/* Returns RR_VFS_OK where the caller may read or write the data of the job's object, because of the object's
 * open or by permission; else the status that says why not. */
enum rr_vfs_status rr_ceph_may_use(struct rr_ceph_job *job, uint32_t access);
/* Returns RR_VFS_OK where the caller may read or write the data of a regular file by permission; else the
 * status that says why not. It is for a file that the job has found by its name, and so has no open for. st:
 * the file's attributes. */
enum rr_vfs_status rr_ceph_may_use_found(
	struct rr_ceph_job *job, const struct ceph_statx *st, uint32_t access);
/* Close the file of an open, and free the open (struct rr_crewed_steps). */
void rr_ceph_close_file(struct rr_vfs_open *open);
void rr_ceph_free_open(struct rr_vfs_open *open);

/* ---- data.c ---- */
/* Brings what was written to a file or directory to stable storage; where data_only is true, without those
 * attributes that are not needed to read the data. After an error, changes the write verifier. */
enum rr_vfs_status rr_ceph_sync(struct rr_ceph_job *job, struct Inode *inode, bool data_only);

/* ---- the operations ---- */
enum rr_vfs_status rr_ceph_getattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_setattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_access(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_readlink(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_read(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_write(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_commit(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_deallocate(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_absent(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_open(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_lock(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_lookup(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_create(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_link(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_remove(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_rename(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_readdir(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_getxattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_setxattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_listxattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_removexattr(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_statfs(struct rr_ceph_job *job);
enum rr_vfs_status rr_ceph_limits(struct rr_ceph_job *job);

#endif
