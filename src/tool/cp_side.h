/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_SIDE_H
#define RR_TOOL_CP_SIDE_H

#include <time.h>

#include "base/loop.h"
#include "nfs/client.h"
#include "tool/catalog.h"

/*
 * One end of a copy: the local file system (cp_local.c) or an NFS server
 * (cp_remote.c), both behind the same operations.
 *
 * All of them return 0 or a negative number; rr_side.text then says why, and
 * rr_side.fatal whether going on with other files would be of no use. Names
 * are single names in a directory (a "place"), except for those of find(), which
 * are paths. Symbolic links are never followed, but by find() where asked to.
 */

/* A stream is a local device or pipe, or "-"; OTHER is a socket, and on a server devices and pipes, too. */
enum rr_kind { RR_KIND_NONE, RR_KIND_FILE, RR_KIND_DIRECTORY, RR_KIND_LINK, RR_KIND_STREAM, RR_KIND_OTHER };

/* Set-user-ID and set-group-ID are not carried to another owner. */
enum { RR_MODE_KEPT = 01777 };

/* The size of what has none before its end was read. */
#define RR_SIZE_UNKNOWN UINT64_MAX

/* What a name stands for. */
struct rr_info {
	enum rr_kind kind;
	uint32_t mode;
	uint32_t uid, gid, links;
	uint64_t size, used; /* octets; used: of storage, less than size where the file has holes */
	uint64_t fsid, fileid;
	struct timespec atime, mtime, ctime;
	struct rpcrdma_nfs_handle handle; /* remote */
};

/* A directory: a descriptor, or a file handle. */
struct rr_place {
	int fd;
	struct rpcrdma_nfs_handle handle;
};

/* A file under the first of its names, which is to have more of them. */
struct rr_first {
	struct rr_place top;
	const char *path;                 /* local: below top */
	struct rpcrdma_nfs_handle handle; /* remote */
	uint64_t fsid, fileid;
};

struct rr_side;
struct rr_side_ops;
struct rr_piece;

/*
 * A file that is open for reading or for writing. A stream is a device, a pipe, or what "-" names: its octets
 * are read or written one after the other, it has no size, and neither mode nor times are set.
 */
struct rr_file {
	struct rr_side *side;
	bool stream;
	uint64_t kept;         /* octets at its beginning that are as they are to be */
	bool in_place;         /* it was there before: it keeps its mode, and what fails does not remove it */
	bool empty_first;      /* its old octets go when the first new ones are written, or at finish() */
	bool short_end;        /* finish() sets the size: the last octets were a hole, and not written */
	struct timespec made;  /* after create(): when, by the clock of its side */
	uint32_t uid, gid;     /* after create() on a server: who owns it */
	int fd;                /* local, as the next two */
	struct rr_watch watch; /* of a stream that is read */
	struct rr_piece *awaited;
	struct rpcrdma_nfs_handle handle; /* remote, as all below */
	stable_how stable;                /* how to write */
	bool has_verifier;
	uint8_t verifier[NFS3_WRITEVERFSIZE]; /* of the last unstable WRITE */
	uint64_t written_end;                 /* unstable data lies in front of this */
	uint64_t lost_end;                    /* and what lies in front of this must be sent again */
};

/* A piece of a file's data on its way. */
struct rr_piece {
	struct rr_file *file; /* while a remote operation is under way */
	void *data;
	uint64_t offset;
	uint32_t length, moved;
	struct rr_nfs_io io;
	void (*done)(struct rr_piece *piece, int error); /* where read() or write() returned 0 */
	void *ctx;
};

/* The next octets of a file that are in no hole. */
struct rr_extent {
	/* Set by the caller. */
	struct rr_file *file;
	uint64_t offset;
	void (*done)(struct rr_extent *extent, int error); /* where extent() returned 0 */
	void *ctx;

	/* Set before the end: from start to end, at or behind offset. At the end of the file both are its
	 * size, or more than any file has. */
	uint64_t start, end;
	bool unknown;        /* this server cannot say: there is neither start nor end */
	struct rr_nfs_op op; /* remote */
};

struct rr_side {
	const struct rr_side_ops *ops;
	struct rpcrdma_nfs *nfs; /* remote */
	struct rr_loop *loop;
	const char *name;   /* the argument of the command, for messages */
	uint32_t piece_max; /* octets of a piece */
	uint32_t hole_unit; /* octets of zeroes that are worth a hole: a power of two */
	struct rr_text text;
	bool fatal;
	bool archive;            /* owners are kept, where that is allowed */
	bool keep_uid, keep_gid; /* as far as is known, it is */
};

struct rr_side_ops {
	/* The object of a path: of the top of the copy. kind is NONE where there is none. */
	int (*find)(struct rr_side *side, const char *path, bool follow, struct rr_info *info);
	/* The same of a name in a place. */
	int (*look)(
		struct rr_side *side, const struct rr_place *place, const char *name, struct rr_info *info);
	/* The same of an entry that list() gave. */
	int (*examine)(struct rr_side *side, const struct rr_place *place,
		const struct rr_catalog_entry *entry, struct rr_info *info);
	/* A directory becomes a place, until leave(). place is NULL, and name a path, at the top. */
	int (*enter)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *info, struct rr_place *into);
	void (*leave)(struct rr_side *side, struct rr_place *place);
	int (*list)(struct rr_side *side, const struct rr_place *place, struct rr_catalog *catalog);
	int (*read_link)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *info, char target[RR_NFS_PATH]);
	/* Makes and enters it. Only the owner may use it, until set(). */
	int (*make_directory)(
		struct rr_side *side, const struct rr_place *place, const char *name, struct rr_place *into);
	int (*make_link)(
		struct rr_side *side, const struct rr_place *place, const char *name, const char *target);
	/* Gives the place itself info's mode and times. */
	int (*set)(struct rr_side *side, const struct rr_place *place, const struct rr_info *info);
	/* What cp -a keeps (cp_local_archive.c, cp_remote_archive.c). Owner and times of a symbolic link. */
	int (*set_link)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *info);
	/* One more name for a file. 1: the name is taken. */
	int (*make_name)(struct rr_side *side, const struct rr_first *first, const struct rr_place *place,
		const char *name);
	/* Names of extended attributes without "user.", each closed by a zero: object is a file or a
	 * directory, of which fd or handle is set. */
	int (*list_xattrs)(
		struct rr_side *side, const struct rr_place *object, struct rpcrdma_nfs_value *names);
	int (*get_xattr)(struct rr_side *side, const struct rr_place *object, const char *name,
		struct rpcrdma_nfs_value *value);
	/* 1: this side takes no extended attributes. */
	int (*set_xattr)(struct rr_side *side, const struct rr_place *object, const char *name,
		const struct rpcrdma_nfs_value *value);
	int (*rename)(struct rr_side *side, const struct rr_place *place, const char *from, const char *to);
	/* A file or a link. Interruption does not stop it. */
	int (*remove)(struct rr_side *side, const struct rr_place *place, const char *name);
	/* An empty directory. */
	int (*remove_directory)(struct rr_side *side, const struct rr_place *place, const char *name);

	/* Opens for reading. place may be NULL as for enter(). */
	int (*open)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *info, struct rr_file *file);
	/* A new file for writing, for the owner alone, which size octets will be written to. 1: the name is
	 * taken. So it is with make_link(). */
	int (*create)(struct rr_side *side, const struct rr_place *place, const char *name, uint64_t size,
		struct rr_file *file);
	/*
	 * Opens what exists (there; a regular file, or a stream), for writing over it. 1: it may be written,
	 * but a new file that takes its place, with its mode, would lose nothing of it; nothing is open then.
	 * place may be NULL as for enter(); symbolic links are followed then.
	 */
	int (*overwrite)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *there, struct rr_file *file);
	/* Opens a regular file of place for writing, and cuts off what is behind its first kept octets. */
	int (*go_on)(struct rr_side *side, const struct rr_place *place, const char *name,
		const struct rr_info *there, uint64_t kept, struct rr_file *file);
	/* Begins to find out what extent is to have: 1, it is done; 0, done() will come; or negative. */
	int (*extent)(struct rr_extent *extent);
	void (*cancel_extent)(struct rr_extent *extent);
	/* Begins to read or write a piece: 1, it is done (moved is set); 0, done() will come; or negative. */
	int (*read)(struct rr_file *file, struct rr_piece *piece);
	int (*write)(struct rr_file *file, struct rr_piece *piece);
	void (*cancel)(struct rr_piece *piece);
	/*
	 * Has the server of both files copy length octets at offset of one to the same place of the other; as
	 * a clone, which takes the whole file. 1: the server does not do that; or negative. NULL: this side
	 * is no server.
	 */
	int (*within)(struct rr_file *from, struct rr_file *to, uint64_t offset, uint64_t length, bool clone);
	/*
	 * Makes what was written stay over a crash. *lost: octets at the beginning of the file that the other
	 * side forgot in a restart and that must be written again, before commit() is called again; 0: none.
	 */
	int (*commit)(struct rr_file *file, uint64_t *lost);
	/* Gives the file info's mode and times, and what short_end and empty_first ask for. */
	int (*finish)(struct rr_file *file, const struct rr_info *info);
	/* What the file is now. */
	int (*describe)(struct rr_file *file, struct rr_info *info);
	void (*close)(struct rr_file *file);
};

extern const struct rr_side_ops rr_side_local, rr_side_remote;

#endif
