/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_CLIENT_H
#define RR_NFS_CLIENT_H

#include <rpcrdma/nfs.h>

#include "nfs/url.h"
#include "nfs/v4/newer.h"
#include "nfs/version.h"
#include "rpc/client.h"
#include "ulb/limits.h"
#include "ulb/nfs3.h"
#include "vfs/nfs/v3/work.h"
#include "vfs/nfs/v4/work.h"

/*
 * This is an NFS client of one export of one server, by version 3 (RFC 1813), or of the root of a server by
 * versions 4.1 and 4.2.
 *
 * These are functions beside those of <rpcrdma/nfs.h>. Some are asynchronous: many operations are under way
 * at a time, and the caller runs the engine's loop. All others wait for their answer, running the loop
 * meanwhile.
 *
 * Results: 0; a negative enum rpcrdma_error if no valid answer came; or, positive, the nfsstat3 that the
 * server answered. After a failure rpcrdma_nfs_error() returns a text for people.
 */
struct rr_nfs_config {
	struct rr_client_config rpc; /* with the address of the NFS service */
	const char *server;          /* the server's name, for messages */
	const char *path;            /* an export, or an object in one: begins with '/' */
	uint16_t mount_port;         /* the port of MOUNT over TCP; 0: see rr_nfs_open() */
	uint16_t rpcbind;            /* the port of rpcbind; 0: 111 */
	enum rr_nfs_version version;
	/* Where the flavors are noted that the server names for the path, by MOUNT, or by SECINFO when it
	 * refuses that of rpc; NULL: nowhere. */
	struct rr_sec_offer *offer;
	uint64_t timeout; /* ns to wait for the first answer of an RPC server; 0: without limit */
	bool (*interrupted)(void *ctx); /* NULL, or asked while a function waits: true ends the wait */
	void *interrupted_ctx;
};

enum {
	RR_NFS_NAME = 255,  /* most octets of a file name that this client accepts */
	RR_NFS_PATH = 4096, /* octets of a path or of a symbolic link's target, with the closing zero */
	RR_NFS_LINKS = 40,  /* symbolic links followed in one path */
};

/*
 * Connects, finds the export that path is in, and mounts it.
 *
 * Without a version in config, the client uses the highest version that the server has; but version 3 if
 * the tree of version 4 has no object of the first name in the path, and version 3 has an export of it.
 *
 * Over version 3, MOUNT is asked for path, then for the directories above it, up to "/", until the server
 * accepts one: that is the root. MOUNT is asked on the connection itself; if the server does not offer
 * MOUNT there (Linux over RDMA and TCP), over TCP at mount_port, or, if that is 0, at the port that the
 * server's rpcbind names.
 *
 * Errors (text says more): ADDRESS, REFUSED, UNREACHABLE, TIMEDOUT, REJECTED, PEER, PROG_UNAVAIL (no NFS
 * there), CANCELLED, NOMEM; positive: the server exports nothing there.
 */
int rr_nfs_open(struct rpcrdma_engine *engine, const struct rr_nfs_config *config, struct rpcrdma_nfs **nfs,
	struct rr_text *text);

/* Opens an export by a parsed URL; path is the path of the URL, or one above it. */
int rr_nfs_open_url(struct rpcrdma_engine *engine, const struct rpcrdma_nfs_config *config,
	const struct rr_url *url, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text);

/* Returns the text of a status, with the name that the client's version of NFS has for it. */
const char *rr_nfs_status_text(const struct rpcrdma_nfs *nfs, int status);

/* Tells whether the client uses version 4.2, whose procedures (nfs/v4/newer.h) can be called then. */
bool rr_nfs_is_newer(const struct rpcrdma_nfs *nfs);

/* Returns the RPC client, for its counters and what was negotiated. */
struct rpcrdma_client *rr_nfs_rpc(const struct rpcrdma_nfs *nfs);

/* Returns the configuration of the RPC client of the NFS service, with the address that was found. */
const struct rr_client_config *rr_nfs_service(const struct rpcrdma_nfs *nfs);

/* Returns the path that was mounted. */
const char *rr_nfs_export(const struct rpcrdma_nfs *nfs);
/* Returns the rest of config.path below the path that was mounted: "" if nothing is left. */
const char *rr_nfs_rest(const struct rpcrdma_nfs *nfs);
/* Returns the handle of the mounted root. */
const struct rpcrdma_nfs_handle *rr_nfs_root(const struct rpcrdma_nfs *nfs);

/* Returns the most octets of a READ: FSINFO's rtmax, within RR_NFS_IO_MAX. */
uint32_t rr_nfs_read_max(const struct rpcrdma_nfs *nfs);
/* Returns the most octets of a WRITE: FSINFO's wtmax, within RR_NFS_IO_MAX. */
uint32_t rr_nfs_write_max(const struct rpcrdma_nfs *nfs);
/* Returns the most octets of a file. */
uint64_t rr_nfs_file_max(const struct rpcrdma_nfs *nfs);

/* This text explains that rr_nfs_has_time() is false. */
#define RR_NFS_TIMES "NFS version 3 holds times from 1970 to 2106: use version 4.2"
/* Tells whether two descriptions are of one object of a server. RFC 1813, 2.6: "Fileid is a number which
 * uniquely identifies the file within its file system". */
bool rr_nfs_is_same(const struct rpcrdma_nfs_object *a, const struct rpcrdma_nfs_object *b);

/* Tells whether the version of NFS that the client uses can set this time. */
bool rr_nfs_has_time(const struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_time time);

/* Switches cleaning on or off. While it is on, interruption is ignored, and every call ends after at most
 * five seconds: for removing files that should not stay behind. A call that the server answers with
 * NFS3ERR_JUKEBOX is repeated for as long, because a server whose connection was lost during such a call may
 * answer so when the call is repeated. */
void rr_nfs_cleaning(struct rpcrdma_nfs *nfs, bool clean);

/* ---- Names (client_path.c) ---- */

/* Looks up a path of many names, from the root of the mounted export. Symbolic links on the way are followed
 * by this client, a link at the end only if follow is set. ".." is resolved by the server. A relative target
 * is resolved from the link's directory. An absolute target names a path of the server: if it leads into
 * the mounted export (it begins with rr_nfs_export()), it is followed from the root; else the walk fails with
 * NOTSUP. */
int rr_nfs_walk(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object);
/* Does the same from what config.path names, and does not leave that directory: a ".." that leads out of it
 * fails with INVAL, or with NOTSUP if it is in a link; an absolute target begins with config.path. */
int rr_nfs_walk_below(
	struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object);
/* Does what rpcrdma_nfs_find() does, but by rr_nfs_walk(): path begins at the mounted directory. */
int rr_nfs_find(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object);

/* Returns the text of rpcrdma_nfs_error(), for a message that a person reads. If that text is of a name that
 * rr_nfs_walk() did not find, or was refused, where the server of version 4 could have an export, it also
 * lists the exports. Then the server is asked for them, once, unless the caller is called by the loop; so
 * this is not for a name that may well be missing. */
const char *rr_nfs_explain(struct rpcrdma_nfs *nfs);

/* Explains that the server has refused a change with this status: if config.path leads into no export, but to
 * a directory above them, which nobody may change, the error text says so and lists the exports. Returns
 * status. Asks the server, unless the caller is called by the loop. */
int rr_nfs_explain_change(struct rpcrdma_nfs *nfs, int status);

/* ---- One procedure each (nfs_name.c) ---- */

/* Asks for the attributes of an object. */
int rr_nfs_getattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_object *object);
/* Looks up one name in a directory; a symbolic link is not followed. The attributes are fetched by GETATTR if
 * LOOKUP gave no attributes. */
int rr_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object);
/* Looks up several names, with '/' between them, each in the directory of the one before it, by one call of
 * version 4 (RR_V4_NAMES): the object is that of the last one. No octets: the directory itself. */
int rr_nfs_lookup_names(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	struct rpcrdma_bytes names, struct rpcrdma_nfs_object *object);
/* Reads the target of a symbolic link into target, which has RR_NFS_PATH octets; the text ends with a zero.
 * Error PEER: the target has a zero in it, or is too long. */
int rr_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target);

/* ---- Directories (client_dir.c) ---- */

/* The most entries of a directory, so that a directory without an end is not read for ever. */
enum { RR_NFS_ENTRIES = 10000000 };

/* Calls each(ctx, entry) for all entries of a directory; a result other than 0 ends the listing and is
 * returned. each may call other functions of this client. Entries are read by READDIRPLUS, or by READDIR if
 * the server does not have the former. */
int rr_nfs_readdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	int (*each)(void *ctx, const struct rpcrdma_nfs_entry *entry), void *ctx);

/* The state of a call that a busy server wants to be sent again later. It is used by the client only. */
struct rr_nfs_retry {
	struct rr_timer later;
	uint64_t until; /* from then on, NFS3ERR_JUKEBOX is treated as any other status */
};

/* ---- File data (client_io.c) ---- */

/* A piece of file data that is being read or written. The caller owns it, and data, until done() or until
 * rr_nfs_io_cancel() returns. A piece may be larger than one READ or WRITE, and the server may return or
 * accept fewer octets than the call had: then several calls follow each other. */
struct rr_nfs_io {
	/* Set by the caller. */
	const struct rpcrdma_nfs_handle *file;
	void *data; /* rr_nfs_write() does not change it */
	uint64_t offset;
	uint32_t length;
	stable_how stable; /* of WRITE */
	bool once;         /* of READ: version 4 opens, reads and closes the file by one call */
	void (*done)(struct rr_nfs_io *io, int error); /* called from the loop: 0, negative, or an nfsstat3 */
	void *ctx;

	/* Set before done(0). */
	uint32_t moved;                       /* of READ: less than length only at the end of the file */
	bool eof;                             /* of READ: the file ends behind this piece */
	stable_how committed;                 /* of WRITE: the least that the server did */
	uint8_t verifier[NFS3_WRITEVERFSIZE]; /* of WRITE: of the last WRITE */
	bool verifier_changed;                /* of WRITE: the WRITEs had different verifiers */

	/* The members below belong to the client. */
	struct rpcrdma_nfs *nfs;
	struct rr_nfs_retry retry;
	uint32_t answers;            /* READs or WRITEs that were answered so far */
	struct rpcrdma_bytes opened; /* the handle of the file that the work needs open */
	union {                      /* the input and the output of the work */
		struct rr_vfs_call call;
		struct rr_vfs_read read;
		struct rr_vfs_write write;
	} op;
	union { /* the work, as each version of NFS carries it out */
		struct rr_remote_job base;
		struct rr_v3_job v3;
		struct rr_v4_job v4;
	} job;
};

/* Starts to read a piece. Its data is placed in io->data: by the server's RDMA Writes, or by a copy if it
 * came inline. */
void rr_nfs_read(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io);
/* Starts to write a piece. */
void rr_nfs_write(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io);

/* Cancels the transfer of a piece without calling done(). Has no effect if the piece is zeroed, or is not
 * under way. */
void rr_nfs_io_cancel(struct rr_nfs_io *io);

/* Tells whether the user has interrupted the client; false while rr_nfs_cleaning() is on. A caller that runs
 * the loop itself is to end its wait then. */
bool rr_nfs_interrupted(const struct rpcrdma_nfs *nfs);

#endif
