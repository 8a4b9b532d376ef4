/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_POSIX_PRIVATE_H
#define RR_VFS_POSIX_POSIX_PRIVATE_H

#include "vfs/crew.h"
#include "vfs/posix/open.h"
#include "vfs/posix/posix.h"
#include "vfs/posix/ring.h"
#include "vfs/posix/storer.h"

/* This header has the parts that the files of the provider share: the provider, operations at work, and steps
 * that many operations take. */

/* RR_POSIX_RING: the number of reads that io_uring does at a time. */
enum { RR_POSIX_STORERS = 8, RR_POSIX_RING = 256 };

struct rr_posix_gather;

struct rr_posix {
	struct rr_vfs vfs;
	const struct rr_env *env;
	struct rr_tree *tree;
	struct rr_crew *crew; /* does operations that may wait; NULL: the loop's thread does all */
	struct rr_ring *ring; /* reads data that a disk has to bring; NULL: the crew does that, too */
	bool apart;           /* the loop's thread takes on no caller's identity */
	struct rr_posix_shared *shared;
	struct {
		uint64_t place;
		struct rr_storer *storer;
	} storers[RR_POSIX_STORERS]; /* of each file system; further file systems have no storer, and
					operations store their changes */
	uint32_t storer_count;
	struct rr_timer timer;     /* begins "attend" */
	struct rr_crew_job attend; /* looks after the tree: searches, idle descriptors */
	bool attending;
	bool slice_due;              /* a slice of a search is due: the timer is armed for it */
	struct rr_list leases;       /* leases that are looked at; protected by rr_posix_shared.leases_lock */
	struct rr_timer lease_timer; /* looks at the leases */
	struct rr_vfs_export *exports;
	struct rr_vfs_counters counters;
};

struct rr_posix_work;

/* Does the whole operation that call begins, with the caller's identity, and notes in work->stores what has
 * to be stored. */
typedef enum rr_vfs_status rr_posix_operation(struct rr_posix_work *work, struct rr_vfs_call *call);

/* An object of an operation, and the change that the operation makes to it. */
struct rr_posix_subject {
	struct rr_object object;
	struct rr_vfs_open *open; /* or NULL */
	struct rr_vfs_change *change;
};

/* The rest of a read whose data was not all in memory. Everything else has been checked: the object is held
 * and fd is open for the caller, so that a thread only has to read. */
struct rr_posix_rest {
	bool waits;
	int fd;
	uint32_t size, done; /* octets to be read, and octets read */
	struct rr_posix_subject subject;
};

/* An operation at work. */
struct rr_posix_work {
	struct rr_posix *posix;
	struct rr_tree *tree;
	struct rr_vfs_call *call;
	rr_posix_operation *operation;
	enum rr_vfs_status status;
	struct rr_stores stores; /* to be stored before the operation ends */
	struct rr_posix_rest rest;
	/* For an operation in a thread of the crew. */
	struct rr_posix_gather *gather; /* the entries of a readdir, or NULL */
	struct rr_vfs_open *opens[2];   /* held while the operation runs */
};

rr_posix_operation rr_posix_getattr, rr_posix_setattr, rr_posix_access, rr_posix_readlink, rr_posix_read,
	rr_posix_write, rr_posix_commit, rr_posix_seek, rr_posix_allocate, rr_posix_deallocate, rr_posix_copy,
	rr_posix_clone, rr_posix_open, rr_posix_lock_range, rr_posix_lookup, rr_posix_create, rr_posix_link,
	rr_posix_remove, rr_posix_rename, rr_posix_readdir, rr_posix_getxattr, rr_posix_setxattr,
	rr_posix_listxattr, rr_posix_removexattr, rr_posix_statfs, rr_posix_limits;

/* ---- lease.c ---- */

void rr_posix_leases_init(struct rr_posix *posix);
void rr_posix_leases_end(struct rr_posix *posix);
enum rr_vfs_status rr_posix_lease(struct rr_vfs *vfs, struct rr_vfs_lease *lease);

/* Reads the rest of a read that waits for a disk, and ends the read. Returns its status. */
enum rr_vfs_status rr_posix_read_rest(struct rr_posix_work *work);

/* Ends a read whose rest the ring (io_uring) has read (error is 0) or failed to read (error is an errno).
 * Fills in the read's output and returns its status. */
enum rr_vfs_status rr_posix_read_came(struct rr_posix_work *work, int error);

/* Makes memory for the entries of a listing. The caller frees it by rr_free(). Returns NULL if there is no
 * memory. */
struct rr_posix_gather *rr_posix_gather_new(const struct rr_env *env);

/* Passes the entries that a thread has gathered to the caller's take(), in the loop's thread. */
void rr_posix_readdir_deliver(struct rr_posix_gather *gather, struct rr_vfs_readdir *readdir);

/* ---- job.c ---- */

/* Says whether the loop's thread may try to do an operation itself. */
enum rr_posix_quick {
	RR_POSIX_SLOW,      /* never: the operation may take long even where nothing waits */
	RR_POSIX_IN_MEMORY, /* only where the file system lies in memory as a whole */
	RR_POSIX_QUICK      /* yes: all data that it needs may be in memory */
};

/* Says how the crew orders an operation: a change waits for earlier changes of the same object, and a commit
 * for earlier writes. */
enum rr_posix_order { RR_POSIX_UNORDERED, RR_POSIX_CHANGE, RR_POSIX_WRITE, RR_POSIX_COMMIT };

/* Describes a kind of operation: the function that does it, and up to two objects that its call names. */
struct rr_posix_kind {
	rr_posix_operation *operation;
	enum rr_posix_quick quick;
	enum rr_posix_order order;
	uint16_t objects[2]; /* offsets of struct rr_vfs_object in the call; 0: there is no object */
};

/* Begins an operation. Returns its status, or RR_VFS_PENDING where it goes on later. */
enum rr_vfs_status rr_posix_begin(
	struct rr_vfs *vfs, struct rr_vfs_call *call, const struct rr_posix_kind *kind);
void rr_posix_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);

/* ---- attend.c ---- */

void rr_posix_attend_init(struct rr_posix *posix);
/* Arms the timer that looks after the tree, where there is work or an idle descriptor. */
void rr_posix_attend_later(struct rr_posix *posix);

/* ---- attributes.c ---- */

/* Translates the attributes in object->st into *attributes, as vfs.h describes them. */
void rr_posix_attributes(
	const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_attributes *attributes);

/* These functions fill "known" with attributes: rr_posix_known() with those in object->st; rr_posix_know()
 * with the present attributes, which it also takes into object->st; rr_posix_know_changed() does the same
 * where this process has changed the object since object->st was taken. */
void rr_posix_known(const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_known *known);
void rr_posix_know(const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known);
void rr_posix_know_changed(
	const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known);

/* Fills in "change" for an object that was not changed: "before" and "after" both come from object->st. */
void rr_posix_unchanged(
	const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_change *change);

/* Fills in only change->after, with the attributes of this moment. changed is true where this process has
 * changed the object since object->st was taken. */
void rr_posix_after(
	const struct rr_posix *posix, struct rr_object *object, bool changed, struct rr_vfs_change *change);

/* These two functions enclose the system call that changes one object, or two (two may be NULL). No other
 * thread of this process changes the objects meanwhile, so that both "before" and "after" of struct
 * rr_vfs_change are known. */
void rr_posix_change_begin(
	struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two);
void rr_posix_change_end(
	struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two, bool changed);

/* ---- set.c: sets the attributes that set asks for, with the caller's identity, and returns their bits in
 * applied ---- */

enum rr_vfs_status rr_posix_set(struct rr_posix_work *work, struct rr_posix_subject *subject,
	const struct rr_vfs_set *set, uint32_t *applied);
enum rr_vfs_status rr_posix_set_size(
	struct rr_posix_work *work, struct rr_posix_subject *subject, uint64_t size);
enum rr_vfs_status rr_posix_set_owner(const struct rr_object *object, const struct rr_vfs_set *set);
enum rr_vfs_status rr_posix_set_mode(const struct rr_object *object, uint32_t mode);
enum rr_vfs_status rr_posix_set_times(const struct rr_object *object, const struct rr_vfs_set *set);

/* ---- work.c ---- */

/* Finds the object that a call names, by its handle or by an open. rr_posix_put() gives it back. */
enum rr_vfs_status rr_posix_find(
	struct rr_posix_work *work, const struct rr_vfs_object *named, struct rr_posix_subject *subject);
void rr_posix_put(struct rr_posix_work *work, struct rr_posix_subject *subject);

/* Tells whether nothing may be changed: the provider or the caller is read-only. */
bool rr_posix_read_only(const struct rr_posix_work *work);

/* Copies the name of an entry that is to be made, changed or removed. Returns RR_VFS_ROFS where nothing may
 * be changed. */
enum rr_vfs_status rr_posix_entry_name(
	const struct rr_posix_work *work, struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1]);

/* Stores in *fd a descriptor for the data of a regular file or a directory; access is O_RDONLY, O_WRONLY or
 * O_RDWR. Where the call names an open, it is the open's descriptor. Else it is the tree's; then the caller
 * must have the permission, and no open may deny the access. The caller does not close *fd, which is valid
 * until the subject is put. */
enum rr_vfs_status rr_posix_data(
	struct rr_posix_work *work, struct rr_posix_subject *subject, int access, int *fd);

/* These two functions note changes that are to reach stable storage before the operation ends:
 * rr_posix_store_fd() those of the file that fd refers to (data: of its data alone), rr_posix_store() those
 * of the object and all that it holds. Nothing is stored for file systems in memory, which have no stable
 * storage. rr_posix_store() leaves the server's own identity in force. */
void rr_posix_store_fd(struct rr_posix_work *work, const struct rr_object *object, int fd, bool data);
void rr_posix_store(struct rr_posix_work *work, struct rr_object *object);

/* Returns the present write verifier. */
uint64_t rr_posix_verifier(const struct rr_posix *posix);

/* The size of "/proc/self/fd/N", a path that names an O_PATH descriptor for system calls that want a path. */
enum { RR_POSIX_PATH = 32 };
void rr_posix_path(int fd, char path[RR_POSIX_PATH]);

#endif
