/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_SIDE_H
#define RR_TOOL_CP_SIDE_H

#include <time.h>

#include "base/loop.h"
#include "nfs/client.h"
#include "tool/cp/catalog.h"
#include "tool/owners.h"

/*
 * An end of a copy: the local file system (local.c) or an NFS server (remote.c), both behind the same
 * operations.
 *
 * An operation returns 0, or a negative number after an error; rr_side.text then has the reason, and
 * rr_side.fatal is true if going on with other files would be of no use. Where an operation returns 1, its
 * comment says what that means. Names are single names in a directory; where there is no
 * directory, a name is a path, as the command line has it. Symbolic links are not followed, except in such
 * paths, and by find() only if the caller says so.
 */

/* A stream is a local device or pipe, or "-"; OTHER is a socket, and on a server devices and pipes, too. */
enum rr_kind { RR_KIND_NONE, RR_KIND_FILE, RR_KIND_DIRECTORY, RR_KIND_LINK, RR_KIND_STREAM, RR_KIND_OTHER };

/* The mode bits without set-user-ID and set-group-ID, which are not carried to another owner. */
enum { RR_MODE_KEPT = 01777 };

/* The size of a stream whose end was not reached yet. */
#define RR_SIZE_UNKNOWN UINT64_MAX

/* The attributes of an object. Members marked "local" or "remote" have a meaning only for an object of the
 * local file system, or only for one of a server; so in the structures below. */
struct rr_info {
	enum rr_kind kind;
	/* It has an access list, or is a directory with one for what is made in it. Of an object of a server,
	 * this is known when its lists were read. */
	bool listed;
	uint32_t mode;
	uint32_t type;         /* of a STREAM or OTHER: S_IFIFO, S_IFCHR, S_IFBLK or S_IFSOCK; 0: "-" */
	uint32_t major, minor; /* of a device */
	uint32_t uid, gid;     /* RR_OWNERS_NOBODY: nobody here has the name that the server gave */
	uint32_t links;
	uint64_t size, used; /* octets; used: octets of storage, fewer than size if the file has holes */
	struct rpcrdma_nfs_filesystem fsid;
	uint64_t fileid;
	struct timespec atime, mtime, ctime;
	struct rpcrdma_nfs_handle handle; /* remote */
};

/* Tells whether the owner and the group are known here. */
static inline bool
rr_cp_is_owned(const struct rr_info *info)
{
	return info->uid != RR_OWNERS_NOBODY && info->gid != RR_OWNERS_NOBODY;
}

/* A directory: a descriptor (local), or a file handle (remote). */
struct rr_directory {
	int fd;
	bool parked, lost;       /* by park(); leave() could not open it again */
	uint64_t device, number; /* local, of a parked directory */
	struct rpcrdma_nfs_handle handle;
};

/* A file under the first of its names, to which further names are to be linked. */
struct rr_first {
	struct rr_directory top;          /* the directory that the whole tree is copied to */
	const char *path;                 /* local: below top */
	struct rpcrdma_nfs_handle handle; /* remote */
	struct rpcrdma_nfs_filesystem fsid;
	uint64_t fileid;
};

/* The access lists of a file or directory; the inherited one has no entries if there is none. */
struct rr_cp_lists {
	struct rpcrdma_nfs_acl access, inherited; /* with the entries */
	struct rpcrdma_nfs_acl_entry entries[2][RPCRDMA_NFS_ACL_MAX];
};

enum { RR_CP_LIST_LEAST = 3 }; /* entries of the list that says no more than a mode */

/* local_lists.c: makes that list; acl has room for it. */
void rr_cp_lists_of_mode(uint32_t mode, struct rpcrdma_nfs_acl *acl);
/* Return the rights (0 to 7) of the mask of an access list, 7 without one; and those that the list gives the
 * group: those of its entry that the mask allows. */
uint32_t rr_cp_lists_mask(const struct rpcrdma_nfs_acl *acl);
uint32_t rr_cp_lists_group(const struct rpcrdma_nfs_acl *acl);

struct rr_side;
struct rr_side_ops;
struct rr_cp_piece;

/*
 * A file that is open for reading or for writing. A stream is a device, a pipe, or standard input or output:
 * its octets are read or written in order, it has no size, and its mode and times are not set.
 */
struct rr_file {
	struct rr_side *side;
	bool stream;
	uint64_t kept;    /* octets at its beginning that are right already */
	bool in_place;    /* the file existed before: it keeps its mode, and is not removed after a failure */
	bool empty_first; /* its old octets go when the first new octets are written, or at finish() */
	bool short_end;   /* finish() sets the size: the last octets are a hole, and not written */
	struct timespec made;             /* after create(): the time, by the clock of its side */
	uint32_t uid, gid;                /* after create() and go_on() on a server: the owner and group */
	int fd;                           /* local, as the next two */
	struct rr_watch watch;            /* of a stream that is read */
	struct rr_cp_piece *awaited;      /* the piece of the stream that waits for data; or NULL */
	struct rpcrdma_nfs_handle handle; /* remote, as all below */
	stable_how stable;                /* how data is written */
	bool has_verifier;                /* unstable octets were written, and not committed since */
	uint8_t verifier[NFS3_WRITEVERFSIZE]; /* of the last unstable WRITE */
	uint64_t written_end;                 /* unstable octets lie in front of this */
	uint64_t lost_end;                    /* octets in front of this must be written again */
};

/* A piece of a file's data that is read or written. */
struct rr_cp_piece {
	struct rr_file *file; /* set by read() and write(), for cancel() and done() */
	void *data;
	uint64_t offset;        /* in the file */
	uint32_t length, moved; /* octets that are wanted; octets that were read or written */
	struct rr_nfs_io io;    /* remote */
	void (*done)(struct rr_cp_piece *piece, int error); /* called if read() or write() returned 0 */
	void *ctx;
};

/* The next octets of a file that are in no hole. */
struct rr_extent {
	/* These members are set by the caller. */
	struct rr_file *file;
	uint64_t offset;
	void (*done)(struct rr_extent *extent, int error); /* called if extent() returned 0 */
	void *ctx;

	/* These members are the answer: the octets from start to end, at or behind offset. At the end of the
	 * file both are its size, or more than any file has. */
	uint64_t start, end;
	bool unknown;   /* this server cannot tell: start and end are not set */
	uint64_t found; /* remote: the answer of the server */
};

/* An end of the copy. */
struct rr_side {
	const struct rr_side_ops *ops;
	struct rpcrdma_nfs *nfs; /* remote */
	struct rr_loop *loop;
	uint32_t piece_max;      /* the most octets of a piece that the copy reads, or writes, here */
	uint32_t hole_unit;      /* octets of zeroes that become a hole: a power of two */
	struct rr_text text;     /* of the last error */
	bool fatal;              /* after that error, going on with other files would be of no use */
	bool unsure;             /* that error is of a call that may have been executed: no answer came */
	bool gone;               /* that error says that the object does not exist any more */
	bool source;             /* this is the end that is copied from */
	bool archive;            /* owners are kept, where that is allowed */
	struct rr_owners owners; /* remote: whom the server names */
	bool keep_uid, keep_gid; /* owner and group can be set, as far as this is known */
	bool listless;           /* remote: the file system listless_on keeps no access lists */
	struct rpcrdma_nfs_filesystem listless_on;
};

/* Tells whether it is known that the file system of the object keeps no access lists. */
static inline bool
rr_cp_is_listless(const struct rr_side *side, const struct rr_info *info)
{
	return side->listless && side->listless_on.major == info->fsid.major &&
	       side->listless_on.minor == info->fsid.minor;
}

/* The operations of an end. */
struct rr_side_ops {
	/* Finds the object of a path, which the command line names, and describes it in *info. If there is no
	 * such object, info->kind becomes NONE, and that is no error. follow: symbolic links are followed. */
	int (*find)(struct rr_side *side, const char *path, bool follow, struct rr_info *info);
	/* Finds the object with the name `name` in a directory, and describes it in *info. If there is no
	 * such object, info->kind becomes NONE, and that is no error. */
	int (*look)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		struct rr_info *info);
	/* Finds the object of an entry that list() has given, and describes it in *info. If there is no such
	 * object any more, info->kind becomes NONE, and that is no error. */
	int (*examine)(struct rr_side *side, const struct rr_directory *directory,
		const struct rr_catalog_entry *entry, struct rr_info *info);
	/* Opens the directory `name` in `directory`, and stores it in *into; leave() closes it. If
	 * directory is NULL, name is a path. */
	int (*enter)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *info, struct rr_directory *into);
	/* Closes the descriptor of a directory until leave(): a tree may have more levels than a process may
	 * have descriptors. No other operation may use the directory meanwhile. */
	void (*park)(struct rr_side *side, struct rr_directory *directory);
	/* Closes a directory. If `above`, the directory that it was entered from, is parked, opens that again
	 * before; if that fails, as the directory was moved meanwhile, sets above->lost. above: NULL if it is
	 * not parked. */
	int (*leave)(struct rr_side *side, struct rr_directory *directory, struct rr_directory *above);
	/* Adds the entries of the directory to the catalog; a server may give their attributes, too. */
	int (*list)(struct rr_side *side, const struct rr_directory *directory, struct rr_catalog *catalog);
	/* Stores in target the path that a symbolic link contains, with a zero octet behind it. */
	int (*read_link)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *info, char target[RR_NFS_PATH]);
	/* Makes a directory and opens it as enter() does. Only the owner of the directory may use it until
	 * set() sets its mode. */
	int (*make_directory)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		struct rr_directory *into);
	/* Makes a symbolic link. Returns 1 if the name exists already. */
	int (*make_link)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const char *target);
	/* Makes the named pipe or device that info describes, which only its owner may use until set_link()
	 * sets its mode. Returns 1 if the name exists already. */
	int (*make_special)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *info);
	/* Sets the mode and times of the directory to those in info. */
	int (*set)(struct rr_side *side, const struct rr_directory *directory, const struct rr_info *info);
	/* The operations from here to set_lists() are those of cp -a (local_archive.c, local_lists.c,
	 * remote_archive.c). set_link() sets owner, group and times of a symbolic link, and of a
	 * named pipe or device the mode, too. */
	int (*set_link)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *info);
	/* Makes a hard link `name` in the directory to the file `first`. Returns 1 if the name exists
	 * already. */
	int (*make_name)(struct rr_side *side, const struct rr_first *first,
		const struct rr_directory *directory, const char *name);
	/* Lists the names of the extended attributes of `object`, a file or directory whose fd or handle is
	 * set. Each name stands without "user.", and with a zero octet at its end. */
	int (*list_xattrs)(
		struct rr_side *side, const struct rr_directory *object, struct rpcrdma_nfs_value *names);
	/* Copies the value of an extended attribute to value->data, which has room for value->room octets,
	 * and sets value->length. */
	int (*get_xattr)(struct rr_side *side, const struct rr_directory *object, const char *name,
		struct rpcrdma_nfs_value *value);
	/* Sets an extended attribute. Returns 1 if this side supports no extended attributes. */
	int (*set_xattr)(struct rr_side *side, const struct rr_directory *object, const char *name,
		const struct rpcrdma_nfs_value *value);
	/* Reads the access lists of `object`, as above, which info describes. Returns 1 if there are no lists
	 * on its file system, and 2 if its list may not be read, or says what no list can say here. */
	int (*get_lists)(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
		struct rr_cp_lists *lists);
	/* Sets them. Returns 1 if this side does not take them. */
	int (*set_lists)(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
		const struct rr_cp_lists *lists);
	/* Renames an entry of the directory; an entry that has the name `to` already is replaced. */
	int (*rename)(
		struct rr_side *side, const struct rr_directory *directory, const char *from, const char *to);
	/* Removes a file or a link. Does so even after an interruption. */
	int (*remove)(struct rr_side *side, const struct rr_directory *directory, const char *name);
	/* Removes an empty directory. */
	int (*remove_directory)(struct rr_side *side, const struct rr_directory *directory, const char *name);

	/* Opens a file for reading. If directory is NULL, name is a path. */
	int (*open)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *info, struct rr_file *file);
	/* Makes a file for writing, which only its owner may use. size: the octets that will be written.
	 * Returns 1 if the name exists already. */
	int (*create)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		uint64_t size, struct rr_file *file);
	/* Opens the existing object `there`, a regular file or a stream, to be written over. Returns 1, and
	 * opens nothing, if the caller should rather make a new file that replaces it, as nothing of the old
	 * file is lost then. If directory is NULL, name is a path, and symbolic links are followed. */
	int (*overwrite)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *there, struct rr_file *file);
	/* Opens a regular file of the directory for writing, and cuts it off behind its first `kept` octets.
	 */
	int (*go_on)(struct rr_side *side, const struct rr_directory *directory, const char *name,
		const struct rr_info *there, uint64_t kept, struct rr_file *file);
	/* Begins to find the next octets in no hole, for which `extent` asks. Returns 1 if the answer is
	 * there already; 0 if done() of `extent` will be called; or a negative number. */
	int (*extent)(struct rr_extent *extent);
	/* Ends that search without calling done(). */
	void (*cancel_extent)(struct rr_extent *extent);
	/* read() and write() begin to read or write a piece. They return 1 if that is done already, and
	 * piece->moved is set; 0 if done() of the piece will be called; or a negative number. */
	int (*read)(struct rr_file *file, struct rr_cp_piece *piece);
	int (*write)(struct rr_file *file, struct rr_cp_piece *piece);
	/* Ends a read or a write that is under way, without calling done(). */
	void (*cancel)(struct rr_cp_piece *piece);
	/* Makes the server of both files copy `length` octets at `offset` of `from` to the same place of
	 * `to`, or, with clone, clone the whole file. Returns 0; 1 if the server does not do that; or a
	 * negative number. The member is NULL if this side is no server. */
	int (*within)(struct rr_file *from, struct rr_file *to, uint64_t offset, uint64_t length, bool clone);
	/* Makes the data that was written safe against a crash. Stores in *lost how many octets at the
	 * beginning of the file the server may have forgotten in a restart, or 0. If *lost is not 0, the
	 * caller writes these octets again, and then calls commit() again. */
	int (*commit)(struct rr_file *file, uint64_t *lost);
	/* Gives the file the mode and the times in info. Also sets its size if file->short_end is set, and
	 * removes its old octets if file->empty_first is set. */
	int (*finish)(struct rr_file *file, const struct rr_info *info);
	/* Stores the present attributes of the file in *info. */
	int (*describe)(struct rr_file *file, struct rr_info *info);
	void (*close)(struct rr_file *file);
};

extern const struct rr_side_ops rr_side_local, rr_side_remote;

#endif
