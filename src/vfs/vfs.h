/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_VFS_H
#define RR_VFS_VFS_H

#include <rpcrdma/xdr.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/text.h"

/*
 * What is exported: the interface between servers of files (NFS version 3, version 4) and the providers that
 * store them.
 *
 *   provider  exports directory trees, for the loop of one thread: struct rr_vfs
 *   handle    opaque octets that name an object. They contain a keyed check, so that nobody can make one up;
 *             they stay valid over restarts and renamings; they lead to nothing outside of the exports
 *   call      one operation under way, in memory that belongs to the caller
 *   open      an object that is held open, with a share reservation
 *
 * How a call goes. The caller fills the input of the operation's structure ("in"), and calls the function of
 * that name in door.h: rr_vfs_read() for struct rr_vfs_read. It returns
 *   - RR_VFS_PENDING: the operation has begun. call.done() is called exactly once, from rr_loop_turn() of the
 *     provider's loop, never from inside a function of this interface; call.status says how it went.
 *   - any other status: the operation has ended with that status. done() is not called.
 * In both cases the output ("out") is complete by then. After a failure, only these outputs are set: each
 * struct rr_vfs_known and struct rr_vfs_change, and those whose comment says so. A provider may answer at
 * once or later, and may choose anew for each call.
 *
 * Who owns what. The structure, and all memory that its input points to (handles, names, data, buffers, the
 * caller's groups), stay the caller's, and must stay as they are from the beginning of the operation until
 * its end. The provider does not touch them after the end. An operation may have other callbacks than done()
 * as input: they are called in the thread of the loop, and not after the end (except recall() of a lease).
 *
 * Cancelling. rr_vfs_cancel() says that nobody waits for the answer any more. done() is still called, as
 * soon as nothing uses the memory of the call any more: with RR_VFS_CANCELLED where the operation had no
 * effect, with any other status where it was executed. Where the storage does not answer, an operation ends
 * only when the storage answers again. Until then only those operations wait for it that have to come after
 * it (see "Order").
 *
 * Order. An operation sees the effects of all operations that had ended before it began. Operations under way
 * at the same time have no order, with two exceptions within one provider: commit covers all writes to the
 * same object that began before it, and changes of the entries of one directory happen in the order in which
 * they began.
 *
 * Stable storage. An operation that changes anything does not end before the change is on stable storage,
 * with two exceptions: write does what its member "stable" says, and copy leaves this to a later commit. RFC
 * 1813, 4.7: "any data associated with the request is now on stable storage".
 *
 * Threads. All functions are called in the thread of the provider's loop. Several threads may export the same
 * trees, each with a provider of its own. Such providers are kin (rr_vfs.reserve is equal): a handle or an
 * open that one of them made may be used with any of them, and any of them can close the open.
 */

struct rr_vfs;
struct rr_vfs_call;
struct rr_vfs_open; /* the provider's; begins with a struct rr_reservation (reserve.h) */
struct rr_reserve;

enum { RR_VFS_HANDLE_MAX = 64, RR_VFS_NAME_MAX = 255, RR_VFS_TARGET_MAX = 4095, RR_VFS_VERIFIER = 8 };

/* Statuses say how an operation ended. Their numbers are those of no protocol and of no system. */
enum rr_vfs_status {
	RR_VFS_OK,
	RR_VFS_PENDING,    /* the operation has not ended: a return value only, never in call.status */
	RR_VFS_PERM,       /* only the owner, or a privileged user, may do that */
	RR_VFS_ACCESS,     /* the permissions forbid it */
	RR_VFS_NOENT,      /* no entry of that name */
	RR_VFS_EXIST,      /* there is an entry of that name */
	RR_VFS_IO,         /* the storage failed */
	RR_VFS_NXIO,       /* no such device; of seek: the offset is not within the file */
	RR_VFS_XDEV,       /* the two are not in one file system, or not in one export */
	RR_VFS_NODEV,      /* no such device */
	RR_VFS_NOTDIR,     /* a directory is wanted */
	RR_VFS_ISDIR,      /* a directory is not wanted */
	RR_VFS_SYMLINK,    /* a symbolic link is not wanted */
	RR_VFS_WRONG_TYPE, /* the operation makes no sense for an object of this type */
	RR_VFS_INVAL,      /* the arguments make no sense */
	RR_VFS_BAD_NAME,   /* "." or "..", where an entry is to be made, changed or removed */
	RR_VFS_BAD_CHAR,   /* the name is empty, or has a '/' or a zero octet */
	RR_VFS_NAME_TOO_LONG,
	RR_VFS_FBIG,       /* larger than a file can be */
	RR_VFS_NOSPC,      /* the storage is full */
	RR_VFS_DQUOT,      /* the user's quota is used up */
	RR_VFS_ROFS,       /* exported, or mounted, for reading only */
	RR_VFS_MLINK,      /* too many names of one object */
	RR_VFS_NOTEMPTY,   /* the directory has entries */
	RR_VFS_TEXT_BUSY,  /* in use: a running program, or a directory that something is mounted on */
	RR_VFS_STALE,      /* the object that the handle names is gone */
	RR_VFS_BAD_HANDLE, /* this handle was not made with this key */
	RR_VFS_BAD_COOKIE, /* the cookie is no position of this directory */
	RR_VFS_NOT_SYNC,   /* setattr: the guard does not hold */
	RR_VFS_NOTSUPP,    /* the provider, or the file system, cannot do that */
	RR_VFS_BUSY, /* not now, the caller should try again; also: no memory, no descriptor, or a lease is
			being recalled */
	RR_VFS_NO_BUFFER, /* read: memory() returned NULL; nothing was done */
	RR_VFS_SHARE,     /* open: another open denies this access, or has access that this open would deny */
	RR_VFS_LOCKED,    /* another owner's open denies this */
	RR_VFS_OPEN_MODE, /* the open was not made for this */
	RR_VFS_LOCK,      /* lock: another owner holds a lock there */
	RR_VFS_NO_XATTR,  /* no extended attribute of that name */
	RR_VFS_XATTR_SIZE, /* too large: for the file system, or for the caller's memory */
	RR_VFS_CANCELLED,  /* see rr_vfs_cancel() */
	RR_VFS_FAULT       /* a defect of the server, or of the system below it */
};

/* Returns a constant text for people that describes the status. */
const char *rr_vfs_status_text(enum rr_vfs_status status);

/* The user on whose behalf the provider acts: gate.h makes it of the credential and the rules of the export.
 * RR_VFS_NOBODY is the number of a user or group for callers without a credential and for squashed users,
 * where the rules name no other. */
enum { RR_VFS_NOBODY = 65534 };

struct rr_vfs_caller {
	uint32_t uid, gid;
	uint32_t group_count;
	const uint32_t *groups;
	bool read_only; /* RR_VFS_ROFS for all changes, also for an open for writing */
	bool no_acl;    /* RR_VFS_NOTSUPP for access lists */
};

/* A handle as a value. Comparing two handles does not tell whether they name one object, as an object may
 * have several handles. See struct rr_vfs_id. */
struct rr_vfs_handle {
	uint32_t length;
	uint8_t data[RR_VFS_HANDLE_MAX];
};

/* An object that an operation works on, named by its handle: any octets of any length, as a peer sent
 * them. */
struct rr_vfs_object {
	struct rpcrdma_bytes handle;
	/* NULL, or an open of this object. With an open, the handle is not used: the operation works on the
	 * opened object, even after its last name was removed, and does not check again the rights that the
	 * open gives. */
	struct rr_vfs_open *open;
	/* Without an open: an open of the caller's client reserves the access that the call needs, so that no
	 * other open denies it. The rights of the caller are checked. */
	bool reserved;
};

enum rr_vfs_type {
	RR_VFS_FILE = 1,
	RR_VFS_DIRECTORY,
	RR_VFS_BLOCK_DEVICE,
	RR_VFS_CHARACTER_DEVICE,
	RR_VFS_LINK,
	RR_VFS_SOCKET,
	RR_VFS_FIFO
};

struct rr_vfs_time {
	int64_t seconds;
	uint32_t nanoseconds;
};

/* The identity of an object, which no other object has, now or later. */
struct rr_vfs_id {
	uint64_t fsid[2]; /* the file system; the same after restarts */
	uint64_t number;  /* within the file system; never 0 */
	uint64_t birth; /* differs where several objects had one number, one after the other; 0: not known */
};

struct rr_vfs_attributes {
	enum rr_vfs_type type;
	uint32_t mode; /* 07777 */
	uint32_t links, uid, gid;
	uint32_t device[2];  /* major and minor, of a device */
	uint32_t block_size; /* a good size for reading and writing */
	uint64_t size, used; /* octets */
	struct rr_vfs_id id;
	/* At the root of a file system, the number of the directory on which it is mounted, if the provider
	 * knows that; else id.number. RFC 8881, 5.8.2.23: "the server SHOULD provide it if possible". A
	 * provider that would have to list the directory above, at each call, need not know it. */
	uint64_t mounted_on;
	/* A number that is another one after each change of the object. It may be compared with
	 * rr_vfs_change.before.change. */
	uint64_t change;
	struct rr_vfs_time access_time, modify_time, change_time;
	struct rr_vfs_time birth_time; /* 0 where id.birth is 0 */
};

/* Attributes as they were at some time during the operation, or at its end. valid: the attributes are known.
 * They may be known after a failure, too. */
struct rr_vfs_known {
	bool valid;
	struct rr_vfs_attributes attributes;
};

/*
 * The state of an object before and after an operation. "before" is valid only where nothing else changed the
 * object between "before" and "after". RFC 1813, 2.6: "If there is a window for the object to get modified
 * between the operation and either of the get attributes operations, then the client will not be able to
 * determine whether it was the only entity to modify the object."
 */
struct rr_vfs_change {
	bool exact; /* "before" is valid */
	struct {
		uint64_t size, change;
		struct rr_vfs_time modify_time, change_time;
	} before;
	struct rr_vfs_known after;
};

/* Bits that say which attributes are to be set. */
enum {
	/* A symbolic link keeps its mode, without an error: the bit is then not among the applied ones. */
	RR_VFS_SET_MODE = 1,
	RR_VFS_SET_UID = 2,
	RR_VFS_SET_GID = 4,
	RR_VFS_SET_SIZE = 8,
	RR_VFS_SET_ACCESS_TIME = 16, /* to access_time */
	/* To the present time, which those who may write may set, too. If a caller who is not the owner sets
	 * one of the two times so, the other one may become the present time as well. */
	RR_VFS_SET_ACCESS_NOW = 32,
	RR_VFS_SET_MODIFY_TIME = 64,
	RR_VFS_SET_MODIFY_NOW = 128,
	RR_VFS_SET_UMASK = 256 /* create only: clears the bits of umask in mode, unless the directory has a
				  default ACL */
};

struct rr_vfs_set {
	uint32_t mask; /* RR_VFS_SET_* bits: the members that count */
	uint32_t mode, uid, gid, umask;
	uint64_t size;
	struct rr_vfs_time access_time, modify_time;
};

/* Each operation's structure begins with this. */
struct rr_vfs_call {
	const struct rr_vfs_caller *caller; /* in */
	/* in: numbers that stand for the client's address and for its connection. The provider divides the
	 * time of its threads fairly among hosts, and among the owners of a host (crew_queue.h). */
	uint64_t host, owner;
	void (*done)(struct rr_vfs_call *call); /* in: see the top of this file */
	/* out, when done() is called. At the beginning of an operation, the front door sets it for the
	 * provider: RR_VFS_OK, or the status with which the operation is to end because it is refused. */
	enum rr_vfs_status status;
	/* These two belong to the provider until the operation ends. job is NULL at its beginning. */
	struct rr_list link;
	void *job;
};

/* ---- objects ---- */

struct rr_vfs_getattr {
	struct rr_vfs_call call;
	struct rr_vfs_object object;         /* in */
	struct rr_vfs_attributes attributes; /* out */
};

/* Sets the attributes in the order size, owner, mode, times, until one of these fails. */
struct rr_vfs_setattr {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as the next three; the size may be set by an open for writing, or
					by a caller who may write the file */
	struct rr_vfs_set set;
	bool guarded; /* the operation ends with RR_VFS_NOT_SYNC unless the object's change_time is guard */
	struct rr_vfs_time guard;
	uint32_t applied; /* out: RR_VFS_SET_* bits of what was set, also after a failure */
	struct rr_vfs_change change;
};

/* Bits of rights, numbered as in ACCESS of RFC 1813, 3.3.4 and of RFC 8276, 8.5. */
enum {
	RR_VFS_MAY_READ = 0x001,
	RR_VFS_MAY_LOOKUP = 0x002,
	RR_VFS_MAY_MODIFY = 0x004,
	RR_VFS_MAY_EXTEND = 0x008,
	RR_VFS_MAY_DELETE = 0x010,
	RR_VFS_MAY_EXECUTE = 0x020,
	RR_VFS_MAY_XATTR_READ = 0x040,
	RR_VFS_MAY_XATTR_WRITE = 0x080,
	RR_VFS_MAY_XATTR_LIST = 0x100
};

struct rr_vfs_access {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint32_t asked;              /* in */
	uint32_t supported;          /* out: of those asked, the rights that make sense for the type */
	uint32_t granted;            /* out: of those supported, the rights that the caller has */
	struct rr_vfs_known object_after;
};

/* Reads the target of a symbolic link. RR_VFS_TARGET_MAX octets are enough for any target. Error for an
 * object of another type: RR_VFS_WRONG_TYPE. */
struct rr_vfs_readlink {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	char *target;                /* in: memory for the text, which is not terminated by a zero */
	uint32_t size;               /* in: octets of that memory */
	uint32_t length;             /* out */
	struct rr_vfs_known object_after;
};

/* ---- data ---- */

/* Reads until size octets are there or the file ends. Where data is NULL, the provider calls memory() at most
 * once, from the loop or from inside the function, as soon as it knows how many octets there can be (size, or
 * what is left of the file; never 0). memory() returns the memory for the data, and may lower read->size to
 * the size of that memory. NULL from memory() ends the operation with RR_VFS_NO_BUFFER. */
struct rr_vfs_read {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as all up to data */
	uint64_t offset;
	uint32_t size;
	void *(*memory)(struct rr_vfs_read *read, uint32_t size);
	void *data;      /* in, or from memory() */
	uint32_t length; /* out */
	bool eof;        /* out: the file ends here */
	struct rr_vfs_known object_after;
};

enum rr_vfs_stable { RR_VFS_UNSTABLE, RR_VFS_DATA_SYNC, RR_VFS_FILE_SYNC };

/* Writes length octets at offset: all of them, or as many as there is space for. verifier (RFC 1813, 3.3.7)
 * is a value that changes when the server may have lost data that was written and not yet stable. write reads
 * the verifier before it writes the data, and commit reads it after the data was stored: so the two differ
 * where data was lost in between. All kin have the same verifier. */
struct rr_vfs_write {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as all up to stable */
	uint64_t offset;
	const void *data;
	uint32_t length;
	enum rr_vfs_stable stable;
	uint32_t count;               /* out: octets written */
	enum rr_vfs_stable committed; /* out: as stable asked, or better */
	uint64_t verifier;            /* out */
	struct rr_vfs_change change;  /* out: never exact, because others may write at the same time */
};

/* Brings written data to stable storage. A commit needs no permission, because the writes had it. length 0:
 * to the end of the file. */
struct rr_vfs_commit {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t offset, length;     /* in */
	uint64_t verifier;           /* out */
	struct rr_vfs_change change;
};

/* Finds the next data at or behind offset where the member data is true, else the next hole; the end of the
 * file counts as a hole. RR_VFS_NXIO: offset is not within the file. Where data is wanted and there is none
 * up to the end of the file, the status is RR_VFS_OK, eof is true, and found is the size of the file. An open
 * for writing is enough, as for lseek(2). */
struct rr_vfs_seek {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t offset;             /* in */
	bool data;                   /* in */
	uint64_t found;              /* out */
	bool eof;                    /* out */
};

/* allocate: reserves space for the range, and extends the file to the end of the range. deallocate: makes the
 * range a hole; the size stays. */
struct rr_vfs_space {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t offset, length;     /* in */
	struct rr_vfs_change change; /* out: never exact */
};

/* Copies a range of one file into another. length 0: to the end of the source. The operation copy may stop
 * early (copied says how many octets were copied), and does not bring the data to stable storage. The
 * operation clone makes the two files share the storage of the whole range, or does nothing; RR_VFS_INVAL
 * where the range does not have the boundaries that the file system wants (rr_vfs_limits.clone_block). */
struct rr_vfs_copy {
	struct rr_vfs_call call;
	struct rr_vfs_object from, to; /* in, as the next two */
	uint64_t from_offset, to_offset, length;
	uint64_t copied;             /* out */
	uint64_t verifier;           /* out, as in struct rr_vfs_write */
	struct rr_vfs_change change; /* out, of the file "to": never exact */
};

/* ---- opens ---- */

/* Bits of the access that an open has, or denies to others. */
enum { RR_VFS_SHARE_READ = 1, RR_VFS_SHARE_WRITE = 2 };

/*
 * Opens a regular file. Errors for other objects: RR_VFS_ISDIR, RR_VFS_SYMLINK, RR_VFS_WRONG_TYPE. The owner
 * of a file may open it whatever its mode says, so that a file that was made with mode 0 can be written.
 *
 * deny keeps others from opening the file with that access (RR_VFS_SHARE), and from reading or writing the
 * file without an open (RR_VFS_LOCKED). object.open is NULL or an earlier open of the same object: the rights
 * that it gives are not checked again, and relation says what becomes of its share reservation.
 */
enum rr_vfs_relation {
	RR_VFS_ANOTHER,  /* the two opens have nothing in common */
	RR_VFS_REPLACES, /* the new open replaces object.open, for other access or another deny. The
			    reservation of object.open is no obstacle, and ends when the operation succeeds;
			    the caller still closes object.open. */
	RR_VFS_BESIDE    /* the reservation of object.open counts for both opens, and deny is not used: for
			    lock-owners and delegations, as each of them needs an open of its own. access is
			    within that of object.open. After object.open is closed, the caller must not rely on
			    the reservation. */
};

struct rr_vfs_opening {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as all up to relation */
	uint32_t access, deny;       /* RR_VFS_SHARE_*; access is not 0 */
	enum rr_vfs_relation relation;
	struct rr_vfs_open *open; /* out: belongs to the caller, who gives it to rr_vfs_close() */
	struct rr_vfs_known object_after;
};

enum rr_vfs_lock_kind { RR_VFS_UNLOCK, RR_VFS_LOCK_READ, RR_VFS_LOCK_WRITE };

/* Sets, removes or tests a lock of a byte range, as fcntl(2) does: a new lock of an open replaces, splits or
 * merges the older locks of that open. Each open is one owner of locks: a caller with several lock-owners
 * makes an open for each. length UINT64_MAX: to the end, however far the file grows. The operation never
 * waits for a lock. Local programs see the lock, where the storage can do that. Closing an open removes its
 * locks. */
struct rr_vfs_lock {
	struct rr_vfs_call call;
	struct rr_vfs_open *open;   /* in, as all up to test */
	enum rr_vfs_lock_kind kind; /* LOCK_READ needs access to read, LOCK_WRITE to write */
	uint64_t offset, length;
	bool test; /* only tells whether the lock could be had */
	struct {
		enum rr_vfs_lock_kind kind;
		uint64_t offset, length;
	} conflict; /* out, with RR_VFS_LOCK */
};

/* Asks for a lease: the provider calls recall() before anyone else, local programs among them, opens the file
 * for writing or truncates it. RR_VFS_NOTSUPP or RR_VFS_BUSY where there can be no lease. recall() is called
 * at most once, from the loop of the provider that was asked; from then on the programs that want to open or
 * truncate the file wait until the lease is given back or the open is closed. */
struct rr_vfs_lease {
	struct rr_vfs_call call;
	struct rr_vfs_open *open;  /* in, as the next two; an open for reading */
	void (*recall)(void *ctx); /* NULL: the lease is given back */
	void *ctx;
};

/* ---- directories ---- */

/* Finds an entry of a directory. "." is the directory itself, ".." the directory above it, and at the root of
 * an export the root itself. A symbolic link is not followed. */
struct rr_vfs_lookup {
	struct rr_vfs_call call;
	struct rr_vfs_object directory;      /* in */
	struct rpcrdma_bytes name;           /* in */
	struct rr_vfs_handle handle;         /* out */
	struct rr_vfs_attributes attributes; /* out */
	struct rr_vfs_known directory_after; /* out */
};

/* Stores in times[0] and times[1] the times of access and of modification that an exclusive creation gives to
 * a new file: they contain all bits of the verifier. RFC 1813, 3.3.8: "the expected storage location for the
 * verifier on creation is the metadata (time stamps) of the file". */
void rr_vfs_verifier_times(const uint8_t verifier[RR_VFS_VERIFIER], struct rr_vfs_time times[2]);

enum rr_vfs_how {
	RR_VFS_UNCHECKED, /* an existing regular file is no error; of set, only the size is set then */
	RR_VFS_GUARDED,   /* RR_VFS_EXIST where the entry exists */
	RR_VFS_EXCLUSIVE  /* RR_VFS_EXIST where the entry exists, unless it is a file that was made with the
			     same verifier. The verifier is kept in the file's times, so the times of set are
			     not set. */
};

/* Makes an entry of any type (RR_VFS_WRONG_TYPE for a number that is no type). how is for regular files;
 * entries of all other types are made as RR_VFS_GUARDED says. Without RR_VFS_SET_MODE the mode is 0600, of a
 * directory 0700. Where the caller may not set the owner, the object keeps the owner it was made with, unless
 * must_own is true; when any other step fails, the object is removed again. */
struct rr_vfs_create {
	struct rr_vfs_call call;
	struct rr_vfs_object directory; /* in, as all up to set */
	struct rpcrdma_bytes name;
	enum rr_vfs_type type;
	enum rr_vfs_how how;
	uint8_t verifier[RR_VFS_VERIFIER];
	uint32_t device[2];          /* of a device */
	struct rpcrdma_bytes target; /* of a symbolic link */
	struct rr_vfs_set set;
	bool must_own;    /* in: RR_VFS_PERM, and no object, where the caller may not set the owner of set */
	bool created;     /* out: false: the file existed before */
	uint32_t applied; /* out: RR_VFS_SET_* */
	struct rr_vfs_handle handle; /* out */
	struct rr_vfs_known object_after;
	struct rr_vfs_change directory_change; /* out, also after a failure */
};

/* Makes another name of file, which must not be a directory (RR_VFS_ISDIR). */
struct rr_vfs_link {
	struct rr_vfs_call call;
	struct rr_vfs_object file, directory; /* in */
	struct rpcrdma_bytes name;            /* in */
	struct rr_vfs_known file_after;       /* out */
	struct rr_vfs_change directory_change;
};

enum rr_vfs_remove_what { RR_VFS_REMOVE_ANY, RR_VFS_REMOVE_FILE, RR_VFS_REMOVE_DIRECTORY };

/* Removes an entry. REMOVE_FILE removes any object except a directory (RR_VFS_ISDIR). */
struct rr_vfs_remove {
	struct rr_vfs_call call;
	struct rr_vfs_object directory; /* in */
	struct rpcrdma_bytes name;      /* in */
	enum rr_vfs_remove_what what;   /* in */
	struct rr_vfs_change directory_change;
};

/* Renames an entry atomically; an object that has the new name is replaced. RR_VFS_XDEV: not within one
 * export. RR_VFS_EXIST: only one of the two objects is a directory. RR_VFS_NOTEMPTY: the object to be
 * replaced is a directory with entries. */
struct rr_vfs_rename {
	struct rr_vfs_call call;
	struct rr_vfs_object from, to;           /* in: directories, maybe the same */
	struct rpcrdma_bytes old_name, new_name; /* in */
	struct rr_vfs_change from_change, to_change;
};

/* An entry of a directory. Memory that it points to is valid during take(). "." and ".." are among the
 * entries. */
struct rr_vfs_entry {
	struct rpcrdma_bytes name;
	uint64_t cookie; /* the position behind the entry: greater than 0, below 2^63 */
	uint64_t number; /* as rr_vfs_attributes.mounted_on */
	/* The attributes and the handle, where they were asked for. Where they are NULL, status says why the
	 * caller may not look at the object; RR_VFS_OK: the object is gone by now; RR_VFS_XDEV: a file system
	 * that may hang is mounted there, so that the provider has not looked at it. */
	enum rr_vfs_status status;
	const struct rr_vfs_attributes *attributes;
	const struct rr_vfs_handle *handle;
};

/* Octets of the entries of a listing in the largest reply. */
enum { RR_VFS_LISTING_MAX = 1 << 20 };

/* How much of a listing a caller wants: names and the reply each have a number of octets left, of which an
 * entry takes those of its name, padded as XDR pads, and "entry" octets more. A provider ends the listing
 * where no octets of one of them are left (rr_vfs_readdir_wants()), and does not look up entries behind that.
 */
struct rr_vfs_readdir_room {
	struct {
		uint32_t octets, entry;
	} names, reply;
};

/* Lists a directory from a cookie on: 0 for the beginning, or a cookie that came with an entry, however long
 * ago. take() is called for one entry after the other, from the loop or from inside the function. take()
 * returns false where it has no room for the entry: the listing then ends in front of that entry. If that is
 * the first entry, count is 0 and eof is false. An entry that is neither made nor removed while a client
 * lists the directory is listed exactly once. */
struct rr_vfs_readdir {
	struct rr_vfs_call call;
	struct rr_vfs_object directory; /* in, as all up to take */
	uint64_t cookie;
	bool attributes;                 /* the attributes and the handle of each entry are wanted */
	struct rr_vfs_readdir_room room; /* what is wanted; take() may want less */
	bool (*take)(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry);
	uint32_t count; /* out: entries taken */
	bool eof;       /* out: the last entry of the directory is among them */
	struct rr_vfs_known directory_after;
};

/* ---- extended attributes: in the user's name space, named without its prefix; on regular files and
 * directories ---- */

enum rr_vfs_xattr_how { RR_VFS_XATTR_EITHER, RR_VFS_XATTR_CREATE, RR_VFS_XATTR_REPLACE };

/* getxattr: value is memory of size octets. setxattr: value has size octets. listxattr: value is memory of
 * size octets for the names, each with a zero octet behind it; name is not used. removexattr: value is not
 * used. RR_VFS_XATTR_SIZE: value is too small, and length says how large it must be. */
struct rr_vfs_xattr {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as all up to how */
	struct rpcrdma_bytes name;
	void *value;
	uint32_t size;
	enum rr_vfs_xattr_how how;   /* setxattr */
	uint32_t length;             /* out */
	struct rr_vfs_change change; /* out, of setxattr and removexattr */
};

/* ---- access lists: those of POSIX 1003.1e, acl(5); lists of version 4 are made of them (acl/) ---- */

/* The most entries of a list, and the tags of entries: the numbers are those of NFSACL and of Linux. */
enum { RR_VFS_ACL_MAX = 1024 };
enum rr_vfs_acl_tag {
	RR_VFS_ACL_USER_OBJ = 0x01,
	RR_VFS_ACL_USER = 0x02,
	RR_VFS_ACL_GROUP_OBJ = 0x04,
	RR_VFS_ACL_GROUP = 0x08,
	RR_VFS_ACL_MASK = 0x10,
	RR_VFS_ACL_OTHER = 0x20
};

struct rr_vfs_ace {
	uint8_t tag, perm; /* perm: 4 read, 2 write, 1 execute */
	uint32_t id;       /* of the user or group that the tag USER or GROUP names; else 0 */
};

/* A list, with its entries in the order of their tags and numbers. */
struct rr_vfs_acl {
	uint32_t count;
	struct rr_vfs_ace *entries;
};

/* Reads the lists of an object: that of the object itself, which of an object without a list is made of its
 * mode, and the one that objects inherit that are made in it. The latter has no entries where there is none,
 * and for objects that are no directories. Needs no permission. */
struct rr_vfs_getacl {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	/* entries: in: memory for RR_VFS_ACL_MAX of them; NULL: the list is not wanted. */
	struct rr_vfs_acl access, inherited;
	bool is_supported; /* out: the file system keeps lists */
	struct rr_vfs_known object_after;
};

/* Sets lists, which must be valid (acl/list.h), as the owner of the object may do. The list of the object
 * changes its mode. NULL: the list stays as it is. An inherited list without entries removes the list. Either
 * both lists are set, or none, as far as the storage has it. RR_VFS_NOTSUPP: the file system keeps no lists.
 * RR_VFS_INVAL: a list to be inherited, of an object that is no directory. */
struct rr_vfs_setacl {
	struct rr_vfs_call call;
	struct rr_vfs_object object;                 /* in, as the next two */
	const struct rr_vfs_acl *access, *inherited; /* also the entries stay the caller's */
	struct rr_vfs_change change;                 /* out */
};

/* ---- file systems ---- */

struct rr_vfs_statfs {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	/* out: the size of the file system, its free space, and the part of the free space that is not
	 * reserved for privileged users */
	uint64_t octets, octets_free, octets_for_all;
	uint64_t files, files_free, files_for_all; /* out: the same, as numbers of objects */
	struct rr_vfs_known object_after;
};

/* What a user or a group may use of something, and uses. */
struct rr_vfs_quota_of {
	uint64_t hard, soft, used; /* limits: 0: there is none */
	/* Seconds until the soft limit becomes a hard one; negative: that time has passed; 0: no time runs.
	 */
	int64_t left;
};

/* Tells what the user or the group of this number may use of the object's file system. Whether the caller may
 * know it is for who asks to find out. RR_VFS_NOTSUPP: the file system keeps no quotas, or none of this kind
 * are on. */
struct rr_vfs_quota {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as the next two */
	bool group;                  /* id is that of a group */
	uint32_t id;
	struct rr_vfs_quota_of octets, files; /* out */
};

/* The properties of an object's file system. The operation needs no permission. */
struct rr_vfs_limits {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t file_max;           /* out, as all below: octets of a file */
	uint32_t link_max, name_max;
	uint32_t clone_block;          /* the boundaries that clone wants; 0: the file system cannot clone */
	struct rr_vfs_time time_delta; /* the unit in which times are kept */
	bool xattrs;                   /* extended attributes can be set */
	bool acls;                     /* access lists can be set */
	bool case_insensitive, case_preserving;
	struct rr_vfs_known object_after;
};

/* ---- providers ---- */

struct rr_vfs_counters {
	uint64_t begun;                     /* operations */
	uint64_t later;                     /* of these, operations that ended later (RR_VFS_PENDING) */
	uint64_t cancelled;                 /* of these, operations that ended with RR_VFS_CANCELLED */
	uint32_t under_way, under_way_peak; /* operations that have not ended */
	uint32_t opens;                     /* open objects, held by callers */
	uint32_t descriptors; /* all open descriptors, or what a provider without descriptors has instead */
};

/* The operations. Each has a structure above, and a row in the table of door.h. */
enum rr_vfs_operation {
	RR_VFS_OP_GETATTR,
	RR_VFS_OP_SETATTR,
	RR_VFS_OP_ACCESS,
	RR_VFS_OP_READLINK,
	RR_VFS_OP_READ,
	RR_VFS_OP_WRITE,
	RR_VFS_OP_COMMIT,
	RR_VFS_OP_SEEK,
	RR_VFS_OP_ALLOCATE,
	RR_VFS_OP_DEALLOCATE,
	RR_VFS_OP_COPY,
	RR_VFS_OP_CLONE,
	RR_VFS_OP_OPEN,
	RR_VFS_OP_LOCK,
	RR_VFS_OP_LEASE,
	RR_VFS_OP_LOOKUP,
	RR_VFS_OP_CREATE,
	RR_VFS_OP_LINK,
	RR_VFS_OP_REMOVE,
	RR_VFS_OP_RENAME,
	RR_VFS_OP_READDIR,
	RR_VFS_OP_GETXATTR,
	RR_VFS_OP_SETXATTR,
	RR_VFS_OP_LISTXATTR,
	RR_VFS_OP_REMOVEXATTR,
	RR_VFS_OP_GETACL,
	RR_VFS_OP_SETACL,
	RR_VFS_OP_STATFS,
	RR_VFS_OP_QUOTA,
	RR_VFS_OP_LIMITS,
	RR_VFS_OPERATIONS /* the number of operations */
};

/* The structure of any operation, for callers whose operation is known only when they run. */
union rr_vfs_any {
	struct rr_vfs_call call;
	struct rr_vfs_getattr getattr;
	struct rr_vfs_setattr setattr;
	struct rr_vfs_access access;
	struct rr_vfs_readlink readlink;
	struct rr_vfs_read read;
	struct rr_vfs_write write;
	struct rr_vfs_commit commit;
	struct rr_vfs_seek seek;
	struct rr_vfs_space space;
	struct rr_vfs_copy copy;
	struct rr_vfs_opening opening;
	struct rr_vfs_lock lock;
	struct rr_vfs_lease lease;
	struct rr_vfs_lookup lookup;
	struct rr_vfs_create create;
	struct rr_vfs_link link;
	struct rr_vfs_remove remove;
	struct rr_vfs_rename rename;
	struct rr_vfs_readdir readdir;
	struct rr_vfs_xattr xattr;
	struct rr_vfs_getacl getacl;
	struct rr_vfs_setacl setacl;
	struct rr_vfs_statfs statfs;
	struct rr_vfs_quota quota;
	struct rr_vfs_limits limits;
};

/* What a provider gives. The front door (door.h) calls these functions and has done its own part before; it
 * says what each of them is for. */
struct rr_vfs_ops {
	const char *name;
	void (*destroy)(struct rr_vfs *vfs);
	/* Fills in the member "descriptors". NULL: each open has one, and there are no others. */
	void (*count)(const struct rr_vfs *vfs, struct rr_vfs_counters *counters);
	void (*root)(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle);
	uint32_t (*export_of)(const struct rr_vfs *vfs, struct rpcrdma_bytes handle);
	/* Begins any operation: call is the first member of its structure. An operation that the provider
	 * cannot do ends with RR_VFS_NOTSUPP. Where call->status is not RR_VFS_OK, the operation is refused:
	 * the provider finds the objects, fills in those outputs that count after a failure, too, and ends
	 * the operation with that status. Where this returns RR_VFS_PENDING, rr_vfs_ended() ends the
	 * operation later. */
	enum rr_vfs_status (*begin)(
		struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
	/* call is under way, and the provider has set call->job. */
	void (*cancel)(struct rr_vfs *vfs, struct rr_vfs_call *call);
	/* open is not NULL, and has no reservation any more; call may be NULL. RR_VFS_PENDING: something goes
	 * on, with a call or without, and ends by rr_vfs_ended(). */
	enum rr_vfs_status (*close)(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);
};

/* An exported tree, as clients see it. */
struct rr_vfs_export {
	const char *name; /* the path that clients mount: begins with '/' and, except "/" itself, does not end
			     with it */
};

/* A provider's own structure begins with this. */
struct rr_vfs {
	const struct rr_vfs_ops *ops;
	struct rr_loop *loop;
	struct rr_reserve
		*reserve; /* the same for kin, the providers of all threads that export these trees */
	const struct rr_vfs_export *exports;
	uint32_t export_count;
	bool read_only;                  /* RR_VFS_ROFS for all changes */
	struct rr_vfs_counters counters; /* kept by the front door */
};

/* ---- what providers and servers share ---- */

/* Copies the name of an entry into a C string. Errors: RR_VFS_BAD_CHAR for an empty name and for a name with
 * a '/' or a zero octet; RR_VFS_NAME_TOO_LONG; RR_VFS_BAD_NAME for "." and "..", which are copied
 * nevertheless, as some operations accept them. */
enum rr_vfs_status rr_vfs_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1]);

/* Tells whether a further entry is wanted, with a name of this length, and takes its octets off what is left.
 */
bool rr_vfs_readdir_wants(struct rr_vfs_readdir_room *left, uint32_t name);

/* Returns the number of the export in which the path of a mount request lies, and stores in *rest the part of
 * the path below the export's root. Of several exports that contain the path, the export with the longest
 * name counts. Returns export_count where the path lies in no export. */
uint32_t rr_vfs_find_export(const struct rr_vfs *vfs, struct rpcrdma_bytes path, struct rpcrdma_bytes *rest);

/* Removes the first component from *path and returns this component. At the end of the path, the returned
 * component has the length 0. */
struct rpcrdma_bytes rr_vfs_next_component(struct rpcrdma_bytes *path);

/* A caller with memory for the groups. */
enum { RR_VFS_GROUPS = 16 };

struct rr_vfs_identity {
	struct rr_vfs_caller caller; /* groups points to the array below */
	uint32_t groups[RR_VFS_GROUPS];
	uint32_t export; /* the number of the export in which the caller acts; UINT32_MAX: in none */
};

#endif
