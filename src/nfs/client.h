/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_CLIENT_H
#define RR_NFS_CLIENT_H

#include <rpcrdma/nfs.h>

#include "nfs/limits.h"
#include "nfs/url.h"
#include "nfs/v4/newer.h"
#include "nfs/version.h"
#include "rpc/client.h"
#include "ulb/nfs3.h"

/*
 * An NFS client: one export of one server, by version 3 (RFC 1813), or the root of one by versions 4.1
 * and 4.2.
 *
 * Two kinds of functions. Those that move file data are asynchronous: many
 * are outstanding at a time, and the caller runs the engine's loop. All others
 * wait for their answer, running the loop meanwhile.
 *
 * Results: 0; a negative enum rpcrdma_error where no answer came or it was no
 * good; or, positive, the nfsstat3 that the server answered. In both latter
 * cases rpcrdma_nfs_error() tells what it means, for people.
 *
 * A call that is not idempotent may have been executed by a server that was
 * then restarted, so that the answer was lost and the same call, sent again,
 * finds its own work done. Where the connection was made again during a call,
 * such an outcome counts as success: NFS3ERR_EXIST of mkdir, symlink, link and
 * create, if what exists is of the right kind; NFS3ERR_NOENT of remove, rmdir,
 * and of rename if the new name exists.
 */
struct rr_nfs_config {
	struct rr_client_config rpc; /* address: of the NFS service */
	const char *server;          /* the server's name, for messages */
	const char *path;            /* an export, or something in one: begins with '/' */
	uint16_t mount_port;         /* where MOUNT is served over TCP; 0: see rr_nfs_open() */
	uint16_t rpcbind;            /* the port of rpcbind; 0: 111 */
	enum rr_nfs_version version;
	uint64_t timeout; /* ns to wait for a first sign of life of an RPC server; 0: for ever */
	bool (*interrupted)(void *ctx); /* NULL, or asked while waiting: true ends what is waited for */
	void *interrupted_ctx;
};

/* A file system object: its handle, and its attributes when it was looked up. */
struct rr_nfs_object {
	struct rpcrdma_nfs_handle handle;
	fattr3 attributes;
};

enum {
	RR_NFS_NAME = 255,  /* octets of a file name that this side takes */
	RR_NFS_PATH = 4096, /* octets of a path or of a symbolic link's target, with the closing zero */
	RR_NFS_LINKS = 40,  /* symbolic links followed in one path */
};

/*
 * Connects, finds the export that path is in, and mounts it.
 *
 * Without a version in config, the highest that the server speaks is spoken, but version 3 where the tree of
 * version 4 has nothing of the first name in the path, and version 3 an export of its own.
 *
 * Over version 3, MOUNT is asked for path, then for what is above it, up to "/", until the server accepts:
 * that is the root. It is asked on the connection itself; where the server does not offer MOUNT there (Linux
 * over RDMA and TCP), over TCP at mount_port, or, if that is 0, at the port that the server's rpcbind
 * names.
 *
 * Errors (text says more): ADDRESS, REFUSED, UNREACHABLE, TIMEDOUT, REJECTED, PEER, PROG_UNAVAIL (no NFS
 * there), CANCELLED, NOMEM; positive: the server exports nothing there.
 */
int rr_nfs_open(struct rpcrdma_engine *engine, const struct rr_nfs_config *config, struct rpcrdma_nfs **nfs,
	struct rr_text *text);

/* Opens an export by a URL that was taken apart; path is that of the URL, or one above it. */
int rr_nfs_open_url(struct rpcrdma_engine *engine, const struct rpcrdma_nfs_config *config,
	const struct rr_url *url, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text);

/* True where version 4.2 is spoken, whose procedures (nfs/v4/newer.h) are there then. */
bool rr_nfs_is_newer(const struct rpcrdma_nfs *nfs);

/* The connection, for counters and what was negotiated. */
struct rpcrdma_client *rr_nfs_rpc(const struct rpcrdma_nfs *nfs);

/* What was mounted, and the rest of config.path below it ("" where there is none). */
const char *rr_nfs_export(const struct rpcrdma_nfs *nfs);
const char *rr_nfs_rest(const struct rpcrdma_nfs *nfs);
const struct rpcrdma_nfs_handle *rr_nfs_root(const struct rpcrdma_nfs *nfs);

/* The most that one READ and one WRITE may have (FSINFO's rtmax and wtmax, within RR_NFS_IO_MAX), and a file.
 */
uint32_t rr_nfs_read_max(const struct rpcrdma_nfs *nfs);
uint32_t rr_nfs_write_max(const struct rpcrdma_nfs *nfs);
uint64_t rr_nfs_file_max(const struct rpcrdma_nfs *nfs);

/*
 * While clean is true, interruption is not looked at, and every call ends after at most five seconds: for
 * removing what should not stay behind. NFS3ERR_JUKEBOX is waited out for as long: a server whose connection
 * was lost during such a call may answer so when the call is repeated.
 */
void rr_nfs_cleaning(struct rpcrdma_nfs *nfs, bool clean);

/* ---- Names (client_path.c) ---- */

/* One name in a directory; a symbolic link is not followed. The attributes are asked for where LOOKUP had
 * none. */
int rr_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rr_nfs_object *object);

/*
 * A path of many names, from the root of what is mounted. Symbolic links on the way are followed on this
 * side, the last one only if follow is set. ".." is left to the server. A relative target is read from the
 * link's directory. An absolute target names a path of the server: where it leads into what is mounted (it
 * begins with rr_nfs_export()), it is followed from the root; else the walk fails with NOTSUP.
 */
int rr_nfs_walk(struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rr_nfs_object *object);

/* ---- One procedure each (client_ops.c) ---- */

int rr_nfs_getattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, fattr3 *attributes);
int rr_nfs_setattr(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const sattr3 *attributes);

/* access: ACCESS3_READ, ...; granted: those of them that the server allows. */
int rr_nfs_access(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, uint32_t access, uint32_t *granted);

/* target: RR_NFS_PATH octets, closed by a zero. A target with a zero in it, or too long a one: PEER. */
int rr_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, char *target);

/* A new regular file, GUARDED (it must not exist yet), or UNCHECKED. */
int rr_nfs_create(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	bool guarded, const sattr3 *attributes, struct rr_nfs_object *object);
int rr_nfs_mkdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const sattr3 *attributes, struct rr_nfs_object *object);
int rr_nfs_symlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const char *target);
int rr_nfs_link(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	const struct rpcrdma_nfs_handle *directory, const char *name);
int rr_nfs_remove(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name);
int rr_nfs_rmdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name);
int rr_nfs_rename(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *from, const char *from_name,
	const struct rpcrdma_nfs_handle *to, const char *to_name);
int rr_nfs_fsstat(struct rpcrdma_nfs *nfs, FSSTAT3resok *status);

/* Everything of the file; verifier is to be compared with those of the WRITEs (RFC 1813, 3.3.21). */
int rr_nfs_commit(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file, uint8_t verifier[NFS3_WRITEVERFSIZE]);

/* ---- Directories (client_dir.c) ---- */

struct rr_nfs_entry {
	const char *name; /* no '/' in it, and neither "." nor ".."; at most RR_NFS_NAME octets */
	uint64_t fileid;
	const struct rr_nfs_object *object; /* NULL where the server did not say */
};

/* The most that a directory may have: one that never ends must not be read for ever. */
enum { RR_NFS_ENTRIES = 10000000 };

/* Calls each(ctx, entry) for all entries; what that returns other than 0 ends it and is returned. each may
 * call other functions of this client. READDIRPLUS, or READDIR where the server has no such thing. */
int rr_nfs_readdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	int (*each)(void *ctx, const struct rr_nfs_entry *entry), void *ctx);

/* A call that a busy server wants to have again later: the client's own. */
struct rr_nfs_retry {
	struct rr_timer later;
	uint64_t until; /* from then on, NFS3ERR_JUKEBOX is a status as any other */
};

/* ---- File data (client_io.c) ---- */

/*
 * One piece of file data on its way. The caller owns it, and data, until done() or until rr_nfs_io_cancel()
 * returns. A piece may be larger than one READ or WRITE: then several follow each other. So do they where the
 * server takes or gives less than it was asked for.
 */
struct rr_nfs_io {
	/* Set by the caller. */
	const struct rpcrdma_nfs_handle *file;
	void *data; /* only read from by rr_nfs_write() */
	uint64_t offset;
	uint32_t length;
	stable_how stable; /* WRITE */
	bool once; /* READ: of a file that nothing else is read from; version 4 closes it by the same call */
	void (*done)(struct rr_nfs_io *io, int error); /* from the loop: 0, negative, or positive as above */
	void *ctx;

	/* Set before done(0). */
	uint32_t moved;                       /* READ: less than length only at the end of the file */
	bool eof;                             /* READ: nothing is behind this piece */
	stable_how committed;                 /* WRITE: the least of what the server did */
	uint8_t verifier[NFS3_WRITEVERFSIZE]; /* WRITE: of the last one */
	bool verifier_changed;                /* WRITE: they were not all the same */

	/* The client's. */
	struct rpcrdma_nfs *nfs;
	struct rr_call call;
	struct rr_nfs_retry retry;
	uint32_t answers; /* READs or WRITEs that this piece took so far */
	union {
		READ3args read;
		WRITE3args write;
	} args;
	union {
		READ3res read;
		WRITE3res write;
	} result;
};

/* Data is placed in io->data: by the server's RDMA Writes, or by a copy where it came inline. */
void rr_nfs_read(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io);
void rr_nfs_write(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io);

/* Ends it without done(). No effect on one that is not under way (or zeroed). */
void rr_nfs_io_cancel(struct rr_nfs_io *io);

/* ---- Names of many files at a time (client_async.c) ---- */

/*
 * One procedure under way. The caller owns it, and what its arguments point to, until done() or until
 * rr_nfs_op_cancel() returns. It is made once: neither NFS3ERR_JUKEBOX nor an answer that was lost with a
 * connection is dealt with.
 */
struct rr_nfs_op {
	/* Set by the caller. */
	void (*done)(struct rr_nfs_op *op, int error); /* from the loop: 0, negative, or an nfsstat3 */
	void *ctx;

	/* Set before done(). */
	struct rr_nfs_object object; /* LOOKUP and CREATE, where error is 0 */
	bool again;                  /* the connection was made again: it may have been executed twice */

	/* The client's. */
	struct rpcrdma_nfs *nfs;
	struct rr_call call;
	uint32_t reconnects;
	union {
		LOOKUP3args lookup;
		CREATE3args create;
		SETATTR3args setattr;
		RENAME3args rename;
		struct rr_v4_put_args put;
		struct rr_v4_seek_args seek;
		struct rr_v4_copy_args copy;
		struct rr_v4_xattr_args xattr;
	} args;
	union {
		nfsstat3 status;
		LOOKUP3res lookup;
		CREATE3res create;
		SETATTR3res setattr;
		RENAME3res rename;
		struct rr_v4_seek_result seek;
		struct rr_v4_copy_result copy;
		struct rr_v4_xattr_result xattr;
	} result;
	uint8_t keep[1280]; /* the reply's header, and the largest of the results */
};

void rr_nfs_op_lookup(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op,
	const struct rpcrdma_nfs_handle *directory, const char *name);
/* A new regular file, GUARDED. */
void rr_nfs_op_create(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op,
	const struct rpcrdma_nfs_handle *directory, const char *name, const sattr3 *attributes);
void rr_nfs_op_setattr(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *handle,
	const sattr3 *attributes);
/* A new regular file with all of its data, made under a temporary name of the directory and renamed, by one
 * call: where rr_nfs_can_put() is true. The data stays the caller's until done(). */
struct rr_nfs_put {
	const struct rpcrdma_nfs_handle *directory;
	const char *temporary, *name;
	sattr3 attributes;
	const void *data;
	uint32_t length;
	bool *made; /* set to true where the server refuses something, and the temporary name is there */
};
bool rr_nfs_can_put(const struct rpcrdma_nfs *nfs);
void rr_nfs_op_put(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rr_nfs_put *put);
/* In one directory. */
void rr_nfs_op_rename(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op,
	const struct rpcrdma_nfs_handle *directory, const char *from, const char *to);

/* Over version 4.2 alone: the next data, or the next hole (result.seek.found; NFS3ERR_NXIO: there is no
 * data); and the beginning of a file, copied by the server into another file of it, and stored. handles:
 * until done(). */
void rr_nfs_op_seek(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *file,
	uint64_t offset, bool data);
void rr_nfs_op_copy(struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *from,
	const struct rpcrdma_nfs_handle *to, uint64_t length);
/* Whether there are extended attributes: result.xattr.length is 0 where there are not. */
void rr_nfs_op_list_xattrs(
	struct rpcrdma_nfs *nfs, struct rr_nfs_op *op, const struct rpcrdma_nfs_handle *file);

/* Ends it without done(). No effect on one that is not under way (or zeroed). */
void rr_nfs_op_cancel(struct rr_nfs_op *op);

/* Ends what is waited for in the loop of the caller, too: true once interrupted. */
bool rr_nfs_interrupted(const struct rpcrdma_nfs *nfs);

#endif
