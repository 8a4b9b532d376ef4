/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_POSIX_PRIVATE_H
#define RR_VFS_POSIX_POSIX_PRIVATE_H

#include "vfs/crewed.h"
#include "vfs/posix/open.h"
#include "vfs/posix/posix.h"
#include "vfs/posix/ring.h"
#include "vfs/posix/store/storer.h"

/* This header has the parts that the files of the provider share: the provider, operations at work, and steps
 * that many operations take. An operation is done by the loop's thread or by a thread of the crew, each with
 * its own tree (tree.h); job.c decides by which. */

/* At most so many storers, and so many reads by io_uring at a time. */
enum { RR_POSIX_STORERS = 8, RR_POSIX_RING = 256 };

struct rr_posix {
	struct rr_vfs vfs;
	const struct rr_env *env;
	struct rr_tree *tree; /* of the loop's thread */
	struct rr_crew *crew; /* does operations that may wait; NULL: the loop's thread does all */
	struct rr_ring *ring; /* reads data that a disk has to bring; NULL: the crew does that, too */
	bool apart;           /* the loop's thread takes on no caller's identity */
	struct rr_posix_shared *shared;
	struct rr_gather *gather; /* for a listing that the loop's thread does at once; or NULL */
	/* A storer (storer.h) for each file system, which "place" stands for. Where there are more file
	 * systems, the others have no storer: the thread that does an operation there also stores its
	 * changes. */
	struct {
		uint64_t place;
		struct rr_storer *storer;
	} storers[RR_POSIX_STORERS];
	uint32_t storer_count;
	/* Of attend.c: the timer begins the job "attend", which continues a search and closes idle
	 * descriptors. */
	struct rr_timer timer;
	struct rr_crew_job attend;
	struct rr_list
		far; /* descriptors (struct rr_far_fd) that "attend" has found, and that are to be closed */
	bool attending;              /* the job "attend" is under way */
	uint64_t delay;              /* for which the timer was armed last */
	struct rr_list leases;       /* leases that lease.c looks at; protected by shared->leases_lock */
	struct rr_timer lease_timer; /* for the next look at the leases */
	struct rr_vfs_export *exports;
};

struct rr_posix_work;

/* Does the operation of this call from beginning to end, except that it only notes in work->stores which
 * objects have to be brought to stable storage. The thread acts as the caller. */
typedef enum rr_vfs_status rr_posix_operation(struct rr_posix_work *work, struct rr_vfs_call *call);

/* A subject is an object that an operation works on. */
struct rr_posix_subject {
	struct rr_object object;
	struct rr_vfs_open *open;     /* the open by which the call names the object, or NULL */
	bool reserved;                /* see struct rr_vfs_object */
	struct rr_vfs_change *change; /* the call's output for changes of this object, if it has one */
};

/* A read in work. Where the loop's thread could not read all data without waiting, this is the rest, for the
 * ring or a thread of the crew: all checks are done, the subject is held, and fd is open, so that only the
 * data is to be read. */
struct rr_posix_rest {
	bool waits;          /* there is such a rest, and the subject is to be given back */
	int fd;              /* belongs to the tree or to the open */
	uint32_t size, done; /* octets to be read in all, and octets read so far */
	struct rr_posix_subject subject;
};

/* An operation that is being done. */
struct rr_posix_work {
	struct rr_posix *posix;
	struct rr_tree *tree; /* of the thread that does the operation */
	struct rr_vfs_call *call;
	const struct rr_vfs_row *row; /* of the operation */
	rr_posix_operation *run;
	enum rr_vfs_status status;
	struct rr_stores stores;         /* the objects that are to be stored before the operation ends */
	struct rr_posix_rest rest;       /* of a read */
	struct rr_vfs_readdir_room room; /* that is left of a readdir's */
	/* For an operation that the loop's thread does not do itself. */
	struct rr_gather *gather;     /* the entries of a readdir, or NULL */
	struct rr_vfs_open *opens[2]; /* opens that the call names, held until the operation ends; or NULL */
};

rr_posix_operation rr_posix_getattr, rr_posix_setattr, rr_posix_access, rr_posix_readlink, rr_posix_read,
	rr_posix_write, rr_posix_commit, rr_posix_seek, rr_posix_allocate, rr_posix_deallocate, rr_posix_copy,
	rr_posix_clone, rr_posix_open, rr_posix_lock_range, rr_posix_lease, rr_posix_lookup, rr_posix_create,
	rr_posix_link, rr_posix_remove, rr_posix_rename, rr_posix_readdir, rr_posix_getxattr,
	rr_posix_setxattr, rr_posix_listxattr, rr_posix_removexattr, rr_posix_getacl, rr_posix_setacl,
	rr_posix_statfs, rr_posix_quota, rr_posix_limits;

/* Returns the unit of times in a file system of this type (f_type of statfs(2)); born: its objects have a
 * time of birth. */
struct rr_vfs_time rr_posix_time_delta(uint32_t type, bool born);
/* Returns the unit of times in the object's file system. */
struct rr_vfs_time rr_posix_time_unit(const struct rr_object *object);

/* ---- lease.c ---- */

/* Prepares the list of leases that the provider looks at, and the timer for that. */
void rr_posix_leases_init(struct rr_posix *posix);
void rr_posix_leases_end(struct rr_posix *posix);

/* ---- op/data.c ---- */

/* Reads the rest of a read (work->rest), waiting for the disk, fills in the read's output, and gives the
 * subject back. Returns the read's status. */
enum rr_vfs_status rr_posix_read_rest(struct rr_posix_work *work);

/* Ends a read whose rest the ring (io_uring) has read (error is 0) or failed to read (error is an errno).
 * Fills in the read's output, gives the subject back, and returns the read's status. An error counts only
 * where no octet was read. */
enum rr_vfs_status rr_posix_read_came(struct rr_posix_work *work, int error);

/* ---- job.c ---- */

/* Says whether the loop's thread may try to do an operation itself. */
enum rr_posix_quick {
	RR_POSIX_SLOW,      /* never: the operation may take long even where nothing waits */
	RR_POSIX_IN_MEMORY, /* only where the file system lies in memory as a whole */
	RR_POSIX_QUICK,     /* yes: all data that it needs may be in memory */
	RR_POSIX_AT_ONCE    /* always, as the server itself: it uses no storage */
};

/* Describes a kind of operation: the function that does it, and who may do it. */
struct rr_posix_kind {
	rr_posix_operation *run;
	enum rr_posix_quick quick;
};

/* posix.c */
extern const struct rr_posix_kind rr_posix_kinds[RR_VFS_OPERATIONS];

/* Begins an operation, and cancels it (struct rr_vfs_ops). */
enum rr_vfs_status rr_posix_begin(
	struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
void rr_posix_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);

/* ---- attend.c ---- */

/* Prepares the timer and the job "attend". */
void rr_posix_attend_init(struct rr_posix *posix);
/* Arms the timer after which the provider continues a search and closes idle descriptors. Does nothing where
 * it is armed already. */
void rr_posix_attend_later(struct rr_posix *posix);

/* close.c: has the descriptors in posix->far closed, by a job for each. */
void rr_posix_close_far(struct rr_posix *posix);

/* ---- attributes.c ---- */

/* Translates the attributes in object->st into *attributes, as vfs.h describes them. */
void rr_posix_attributes(
	const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_attributes *attributes);

/* Fills "known" with the attributes in object->st. */
void rr_posix_known(const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_known *known);
/* Gets the present attributes of the object into object->st, and fills "known" with them. Where that fails,
 * known->valid is false. */
void rr_posix_know(const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known);
/* Does the same as rr_posix_know(), and counts a change of the object (change.h). It must be called instead
 * where this process has changed the object since object->st was taken. */
void rr_posix_know_changed(
	const struct rr_posix *posix, struct rr_object *object, struct rr_vfs_known *known);

/* Fills in "change" for an object that was not changed: "before" and "after" both come from object->st. An
 * operation calls this at its beginning, for the case that it fails before it changes the object. */
void rr_posix_unchanged(
	const struct rr_posix *posix, const struct rr_object *object, struct rr_vfs_change *change);

/* Fills in change->after, with the attributes of this moment, and leaves "before" invalid. changed is true
 * where this process has changed the object since object->st was taken. */
void rr_posix_after(
	const struct rr_posix *posix, struct rr_object *object, bool changed, struct rr_vfs_change *change);

/* Is called before the system call that changes one object, or two (two may be NULL). Takes the objects'
 * locks (shared.h), so that no other thread of this process changes the objects until rr_posix_change_end(),
 * and fills in "before" of each subject's change. */
void rr_posix_change_begin(
	struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two);
/* Is called after that system call, with the same subjects. Fills in "after" of each subject's change, and
 * releases the objects' locks. changed tells whether the system call has changed the objects. */
void rr_posix_change_end(
	struct rr_posix *posix, struct rr_posix_subject *one, struct rr_posix_subject *two, bool changed);

/* ---- set.c: these functions set the attributes that their arguments name, with the caller's identity.
 * rr_posix_set() also stores the RR_VFS_SET_* bits of those that were set in *applied ---- */

enum rr_vfs_status rr_posix_set(struct rr_posix_work *work, struct rr_posix_subject *subject,
	const struct rr_vfs_set *set, uint32_t *applied);
enum rr_vfs_status rr_posix_set_size(
	struct rr_posix_work *work, struct rr_posix_subject *subject, uint64_t size);
enum rr_vfs_status rr_posix_set_owner(const struct rr_object *object, const struct rr_vfs_set *set);
enum rr_vfs_status rr_posix_set_mode(const struct rr_object *object, uint32_t mode);
enum rr_vfs_status rr_posix_set_times(const struct rr_object *object, const struct rr_vfs_set *set);

/* ---- work.c ---- */

/* Finds the object that a call names, by its handle or by an open, and fills in subject. After success the
 * caller gives the object back by rr_posix_put(). Errors: as rr_tree_resolve(). */
enum rr_vfs_status rr_posix_find(
	struct rr_posix_work *work, const struct rr_vfs_object *named, struct rr_posix_subject *subject);
/* Does an operation that is refused: fills in the attributes of the objects that the call names, where its
 * output has them, and ends it with the status that the call has. */
rr_posix_operation rr_posix_refuse;
/* Gives back the object of a subject. */
void rr_posix_put(struct rr_posix_work *work, struct rr_posix_subject *subject);

/* Stores in *fd a descriptor for the data of a regular file or a directory; access is O_RDONLY, O_WRONLY or
 * O_RDWR. Where the call names an open, this is the open's descriptor: RR_VFS_OPEN_MODE where the open lacks
 * that access. Else it is the tree's: the caller must have the permission, and no open may deny the access
 * (RR_VFS_LOCKED). *fd is not to be closed, and is valid until rr_posix_put() of the subject. */
enum rr_vfs_status rr_posix_data(
	struct rr_posix_work *work, struct rr_posix_subject *subject, int access, int *fd);

/* Notes in work->stores that the file of fd is to be brought to stable storage before the operation ends: by
 * fdatasync(2) where data is true, else by fsync(2). Notes nothing for an object in a file system in memory,
 * which has no stable storage. */
void rr_posix_store_fd(struct rr_posix_work *work, const struct rr_object *object, int fd, bool data);
/* Does the same for an object of any type, which it opens as the server itself: the thread acts as the server
 * from then on. */
void rr_posix_store(struct rr_posix_work *work, struct rr_object *object);

/* Returns the present write verifier. */
uint64_t rr_posix_verifier(const struct rr_posix *posix);

/* The size of "/proc/self/fd/N", a path that names an O_PATH descriptor for system calls that want a path. */
enum { RR_POSIX_PATH = 32 };
/* Writes that path of the descriptor fd. */
void rr_posix_path(int fd, char path[RR_POSIX_PATH]);

#endif
