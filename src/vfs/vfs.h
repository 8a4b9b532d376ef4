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
 *   handle    opaque octets that name an object: keyed, so that nobody can make one up; valid over restarts
 *             and renamings; they lead to nothing outside of the exports
 *   call      one operation under way: the memory of it belongs to the caller
 *   open      an object that is held open, with a share reservation
 *
 * How a call goes. The caller fills the input of the operation's structure ("in"), and calls the function of
 * that name in struct rr_vfs_ops. It returns
 *   - RR_VFS_PENDING: the operation has begun. call.done() is called exactly once, from rr_loop_turn() of the
 *     provider's loop, never from inside a function of this interface; call.status says how it went.
 *   - any other status: the operation has ended with that status. done() is not called.
 * In both cases the output ("out") is complete by then; after a failure, only a struct rr_vfs_known or
 * rr_vfs_change in it, and what is said to be. A provider may answer at once or later, as it likes, and now
 * this way, now that way.
 *
 * Who owns what. The structure, and all memory that its input points to (handles, names, data, buffers, the
 * caller's groups), stay the caller's, and must stay as they are from the beginning of the operation until
 * its end. The provider does not touch them after the end. Callbacks other than done(), which an operation
 * has as input, come before its end only, in the same thread.
 *
 * Cancelling. rr_vfs_ops.cancel() says that nobody waits for the answer any more. done() still comes, as soon
 * as nothing uses the memory of the call any more: with RR_VFS_CANCELLED where the operation had no effect,
 * with any other status where it was executed. An operation that hangs in a storage that does not answer ends
 * when that does; it keeps no other from going on, except those that it stands in front of (see "Order").
 *
 * Order. An operation sees the effects of all that had ended before it began. Operations under way at the
 * same time have no order, with two exceptions for those of one provider: commit covers all writes to the
 * same object that began before it, and changes of the entries of one directory happen in the order in which
 * they began.
 *
 * Stable storage. An operation that changes anything ends when that is on stable storage: write as its
 * "stable" says, copy never (commit does it), all others always. RFC 1813, 4.7: "any data associated with the
 * request is now on stable storage".
 *
 * Threads. All functions are called in the thread of the provider's loop. Providers of several threads that
 * export the same trees (rr_vfs.kin is equal) understand each other's handles, and each other's opens:
 * whoever has an open may use it with any of them, and close it with any of them.
 */

struct rr_vfs;
struct rr_vfs_call;
struct rr_vfs_open; /* the provider's */

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
	RR_VFS_CANCELLED,  /* see cancel() */
	RR_VFS_FAULT       /* a defect of the server, or of the system below it */
};

/* Returns a constant text for people that describes the status. */
const char *rr_vfs_status_text(enum rr_vfs_status status);

/* The user on whose behalf the provider acts, whatever the credential said. RR_VFS_NOBODY stands for users
 * without a name and for squashed users. */
enum { RR_VFS_NOBODY = 65534 };

struct rr_vfs_caller {
	uint32_t uid, gid;
	uint32_t group_count;
	const uint32_t *groups;
	bool read_only; /* RR_VFS_ROFS for all changes, also for an open for writing */
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
	/* NULL, or an open of this object. With an open, the operation works on the object as it was opened,
	 * also when its last name is gone; rights that the open gives are not checked again, and the handle
	 * is not used. */
	struct rr_vfs_open *open;
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
	uint64_t mounted_on; /* id.number of the covered directory, at the root of a file system; else
				id.number */
	/* Differs whenever the object was changed. It comes from the same source in rr_vfs_change.before and
	 * after. */
	uint64_t change;
	struct rr_vfs_time access_time, modify_time, change_time;
	struct rr_vfs_time birth_time; /* 0 where id.birth is 0 */
};

/* Attributes of a moment within the operation, or of its end. valid: the attributes are known, which may be
 * so after a failure, too. */
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
	RR_VFS_SET_MODE = 1,
	RR_VFS_SET_UID = 2,
	RR_VFS_SET_GID = 4,
	RR_VFS_SET_SIZE = 8,
	RR_VFS_SET_ACCESS_TIME = 16, /* to access_time */
	RR_VFS_SET_ACCESS_NOW = 32,  /* to the present time */
	RR_VFS_SET_MODIFY_TIME = 64,
	RR_VFS_SET_MODIFY_NOW = 128,
	RR_VFS_SET_UMASK =
		256 /* create only: umask is taken from mode, unless the directory has a default ACL */
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
	uint64_t owner; /* in: the connection, as a number. Owners take turns by the time that their
			   operations take. */
	void (*done)(struct rr_vfs_call *call); /* in: see the top of this file */
	enum rr_vfs_status status;              /* out, when done() is called */
	/* These belong to the provider until the end. */
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
	struct rr_vfs_object
		object; /* in, as the next three; setting the size needs an open for writing, or permission */
	struct rr_vfs_set set;
	bool guarded; /* set only where the object's change_time is guard: else RR_VFS_NOT_SYNC */
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

/* Reads the target of a symbolic link. RR_VFS_TARGET_MAX octets are enough for it. Error for any other
 * object: RR_VFS_WRONG_TYPE. */
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
 * is a value that changes when the server may have lost data that was written and not yet stable. The
 * verifier of write is that of a moment before the data was written, the verifier of commit that of a moment
 * after the data was stored, so that a loss in between shows. All kin have the same verifier. */
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

/* Brings written data to stable storage. A commit needs no permission, as the writes had it. length 0: to the
 * end. */
struct rr_vfs_commit {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t offset, length;     /* in */
	uint64_t verifier;           /* out */
	struct rr_vfs_change change;
};

/* Finds the next data at or behind offset where data is true, else the next hole; the end of the file counts
 * as a hole. RR_VFS_NXIO: offset is not within the file. Where no data is behind offset: RR_VFS_OK and eof,
 * and found is the size. */
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
 * early (copied says where), and its data is not stable. The operation clone shares the storage, all or
 * nothing; RR_VFS_INVAL where the file system wants other boundaries. */
struct rr_vfs_copy {
	struct rr_vfs_call call;
	struct rr_vfs_object from, to; /* in, as the next two */
	uint64_t from_offset, to_offset, length;
	uint64_t copied;             /* out */
	uint64_t verifier;           /* out, as of write */
	struct rr_vfs_change change; /* out, of to: never exact */
};

/* ---- opens ---- */

enum { RR_VFS_SHARE_READ = 1, RR_VFS_SHARE_WRITE = 2 };

/*
 * Opens a regular file. Errors for other objects: RR_VFS_ISDIR, RR_VFS_SYMLINK, RR_VFS_WRONG_TYPE. The owner
 * of a file may open it whatever its mode says, so that a file that was made with mode 0 can be written.
 *
 * deny keeps others from opening the file with that access, and from reading or writing it without an open
 * (RR_VFS_LOCKED). object.open is NULL or an open of the same object; rights that it gives are not checked
 * again. relation says what becomes of the share reservation of object.open.
 */
enum rr_vfs_relation {
	RR_VFS_ANOTHER,  /* the two opens have nothing in common */
	RR_VFS_REPLACES, /* the new open replaces object.open, whose reservation is no obstacle and ends when
			    the operation succeeds; the caller still closes object.open. An open is widened
			    and narrowed in this way. */
	RR_VFS_BESIDE /* the reservation of object.open holds for both, and deny is not used: for lock-owners,
			 as each of them needs an open of its own */
};

struct rr_vfs_opening {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in, as all up to relation */
	uint32_t access, deny;       /* RR_VFS_SHARE_*; access is not 0 */
	enum rr_vfs_relation relation;
	struct rr_vfs_open *open; /* out: the caller's, until close() */
	struct rr_vfs_known object_after;
};

enum rr_vfs_lock_kind { RR_VFS_UNLOCK, RR_VFS_LOCK_READ, RR_VFS_LOCK_WRITE };

/* Sets, removes or tests a lock of a byte range, as fcntl(2) does: a lock of the same open replaces, splits
 * and merges. Each open is one owner of locks: a caller with several lock-owners makes an open for each.
 * length UINT64_MAX: to the end, however far the file grows. The operation never waits for a lock. Local
 * programs see the lock, where the storage can do that. Closing an open removes its locks. */
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
 * at most once, from the loop of the provider that was asked; from then on the others wait until the lease is
 * given back or the open is closed. */
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

enum rr_vfs_how {
	RR_VFS_UNCHECKED, /* an existing regular file is taken as it is; of set, only the size is set then */
	RR_VFS_GUARDED,   /* RR_VFS_EXIST where the entry exists */
	RR_VFS_EXCLUSIVE  /* RR_VFS_EXIST, unless the file was made with the same verifier. The verifier is
			     kept in the file's times, so the times of set are not set. */
};

/* Makes an entry of any type (RR_VFS_WRONG_TYPE for a number that is no type). how is for regular files;
 * entries of all other types are made as RR_VFS_GUARDED says. Without RR_VFS_SET_MODE the mode is 0600, of a
 * directory 0700. An owner that may not be set is left as it is; when any other step fails, the object is
 * removed again. */
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
	bool created;                /* out: false: the file existed before */
	uint32_t applied;            /* out: RR_VFS_SET_* */
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
	uint64_t number; /* as in struct rr_vfs_id */
	/* The attributes and the handle, where they were asked for. Where they are NULL, status says why the
	 * caller may not look at the object; RR_VFS_OK: the object is gone by now. */
	enum rr_vfs_status status;
	const struct rr_vfs_attributes *attributes;
	const struct rr_vfs_handle *handle;
};

/* Lists a directory from a cookie on: 0, or a cookie that came with an entry, at any time. take() is called
 * for one entry after the other, from the loop or from inside the function. take() returns false where it has
 * no room for the entry: the listing then ends in front of that entry. Where the listing ends so at its first
 * entry, count is 0 and eof is false. An entry that is neither made nor removed meanwhile is listed exactly
 * once. */
struct rr_vfs_readdir {
	struct rr_vfs_call call;
	struct rr_vfs_object directory; /* in, as all up to take */
	uint64_t cookie;
	bool attributes; /* the attributes and the handle of each entry are wanted */
	uint32_t limit;  /* octets of names that are wanted at most: a hint */
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

/* ---- file systems ---- */

struct rr_vfs_statfs {
	struct rr_vfs_call call;
	struct rr_vfs_object object;                  /* in */
	uint64_t octets, octets_free, octets_for_all; /* out: the last without reserved space */
	uint64_t files, files_free, files_for_all;
	struct rr_vfs_known object_after;
};

/* The properties of an object's file system. The operation needs no permission. */
struct rr_vfs_limits {
	struct rr_vfs_call call;
	struct rr_vfs_object object; /* in */
	uint64_t file_max;           /* out, as all below: octets of a file */
	uint32_t link_max, name_max;
	uint32_t clone_block; /* the boundaries that clone wants; 0: the file system cannot clone */
	bool xattrs;          /* extended attributes can be set */
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
	uint32_t descriptors; /* all open descriptors, or whatever a provider has in their place */
};

/* The functions of a provider. Each function exists; an operation that the provider cannot do ends with
 * RR_VFS_NOTSUPP. */
struct rr_vfs_ops {
	const char *name;

	/* Waits for the operations under way, calls done() for each, and frees the provider. A caller that
	 * must not wait first asks counters() whether there are any. Every open must have been closed, unless
	 * a provider of the same kin remains, which can close the open. */
	void (*destroy)(struct rr_vfs *vfs);
	void (*counters)(const struct rr_vfs *vfs, struct rr_vfs_counters *counters);

	/* Writes the handle of the root of an export, by its number in rr_vfs.exports. */
	void (*root)(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle);

	/* Returns the number of the export that a handle says it lies in, or rr_vfs.export_count where it
	 * lies in no export of this server. A forged handle is not detected here: operations do that. */
	uint32_t (*export_of)(const struct rr_vfs *vfs, struct rpcrdma_bytes handle);

	/* Cancels an operation that is under way: see the top of this file. This has no effect where the
	 * operation cannot be cancelled any more. */
	void (*cancel)(struct rr_vfs *vfs, struct rr_vfs_call *call);

	enum rr_vfs_status (*getattr)(struct rr_vfs *vfs, struct rr_vfs_getattr *getattr);
	enum rr_vfs_status (*setattr)(struct rr_vfs *vfs, struct rr_vfs_setattr *setattr);
	enum rr_vfs_status (*access)(struct rr_vfs *vfs, struct rr_vfs_access *access);
	enum rr_vfs_status (*readlink)(struct rr_vfs *vfs, struct rr_vfs_readlink *readlink);

	enum rr_vfs_status (*read)(struct rr_vfs *vfs, struct rr_vfs_read *read);
	enum rr_vfs_status (*write)(struct rr_vfs *vfs, struct rr_vfs_write *write);
	enum rr_vfs_status (*commit)(struct rr_vfs *vfs, struct rr_vfs_commit *commit);
	enum rr_vfs_status (*seek)(struct rr_vfs *vfs, struct rr_vfs_seek *seek);
	enum rr_vfs_status (*allocate)(struct rr_vfs *vfs, struct rr_vfs_space *space);
	enum rr_vfs_status (*deallocate)(struct rr_vfs *vfs, struct rr_vfs_space *space);
	enum rr_vfs_status (*copy)(struct rr_vfs *vfs, struct rr_vfs_copy *copy);
	enum rr_vfs_status (*clone)(struct rr_vfs *vfs, struct rr_vfs_copy *clone);

	enum rr_vfs_status (*open)(struct rr_vfs *vfs, struct rr_vfs_opening *opening);
	/* Ends an open at once for the caller, with its share reservation, its locks and its lease;
	 * operations that are under way on the open go on. open may be NULL. */
	void (*close)(struct rr_vfs *vfs, struct rr_vfs_open *open);
	enum rr_vfs_status (*lock)(struct rr_vfs *vfs, struct rr_vfs_lock *lock);
	enum rr_vfs_status (*lease)(struct rr_vfs *vfs, struct rr_vfs_lease *lease);

	enum rr_vfs_status (*lookup)(struct rr_vfs *vfs, struct rr_vfs_lookup *lookup);
	enum rr_vfs_status (*create)(struct rr_vfs *vfs, struct rr_vfs_create *create);
	enum rr_vfs_status (*link)(struct rr_vfs *vfs, struct rr_vfs_link *link);
	enum rr_vfs_status (*remove)(struct rr_vfs *vfs, struct rr_vfs_remove *remove);
	enum rr_vfs_status (*rename)(struct rr_vfs *vfs, struct rr_vfs_rename *rename);
	enum rr_vfs_status (*readdir)(struct rr_vfs *vfs, struct rr_vfs_readdir *readdir);

	enum rr_vfs_status (*getxattr)(struct rr_vfs *vfs, struct rr_vfs_xattr *xattr);
	enum rr_vfs_status (*setxattr)(struct rr_vfs *vfs, struct rr_vfs_xattr *xattr);
	enum rr_vfs_status (*listxattr)(struct rr_vfs *vfs, struct rr_vfs_xattr *xattr);
	enum rr_vfs_status (*removexattr)(struct rr_vfs *vfs, struct rr_vfs_xattr *xattr);

	enum rr_vfs_status (*statfs)(struct rr_vfs *vfs, struct rr_vfs_statfs *statfs);
	enum rr_vfs_status (*limits)(struct rr_vfs *vfs, struct rr_vfs_limits *limits);
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
	const void *kin; /* equal among the providers of all threads that export the same trees */
	const struct rr_vfs_export *exports;
	uint32_t export_count;
	bool read_only; /* RR_VFS_ROFS for all changes */
};

/* ---- what providers and servers share ---- */

/* Copies a name into a C string. Errors: RR_VFS_BAD_CHAR, RR_VFS_NAME_TOO_LONG; RR_VFS_BAD_NAME for "." and
 * "..", which are copied nevertheless. */
enum rr_vfs_status rr_vfs_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1]);

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
};

#endif
