/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_NFS_H
#define RPCRDMA_NFS_H

#include <rpcrdma/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A client of an NFS server: one export, reached through RPC-over-RDMA or TCP. File data goes straight from
 * and into the caller's memory, by RDMA where the transport has it.
 *
 * The functions are the same for each version of NFS. This library speaks versions 3 (RFC 1813), 4.1 (RFC
 * 8881) and 4.2 (RFC 7862). Over version 4, files are opened at the server when something is read from them
 * or written to them, and closed when they were not used for a while, and in rpcrdma_nfs_close(). A session
 * that the server ends is made again; after a restart of the server, open files are reclaimed. Version 3
 * holds times from 1970-01-01 to 2106-02-07 alone: another one that is to be set there is an error (NOTSUP).
 *
 * Each function that has a parameter `then` can be used in two ways:
 *   then NULL   The function turns the engine's loop until the server has answered, and returns the result.
 *               Not inside a callback: INVAL.
 *   else        The function starts the operation and returns 0, or a negative error where it cannot be
 *               started; then->done() is called later, from rpcrdma_engine_turn(), with the result.
 *
 * *then is copied. Until done() is called, or rpcrdma_nfs_cancel() or rpcrdma_nfs_close() returns, the memory
 * for results and data belongs to the library; handles, names and changes are copied at once. Many operations
 * may be under way at a time.
 *
 * Results: 0; a negative enum rpcrdma_error where the operation failed on this side or on the way; a positive
 * enum rpcrdma_nfs_status where the server refused it. rpcrdma_nfs_error() has the text of the last failure.
 *
 * A busy server (RPCRDMA_NFS_DELAY) is asked again, for as long as config->retry says. A call whose answer
 * was lost with the connection is sent again. If the server had executed it already, the second answer counts
 * as success: EXIST for a new object, if an object of that type exists; EXIST for a link, if the name is one
 * of the same file; NOENT for a name to remove; NOENT for a name to change, if the new name exists.
 *
 * Threads: those of the engine.
 */
struct rpcrdma_nfs;

/* The statuses of a server, by the numbers that NFS versions 3 and 4 share (RFC 1813, section 2.6; RFC 8881,
 * section 15.1). A server may answer other numbers: rpcrdma_nfs_status_text() has a text for each. */
enum rpcrdma_nfs_status {
	RPCRDMA_NFS_OK = 0,
	RPCRDMA_NFS_PERM = 1,         /* the caller is not the owner */
	RPCRDMA_NFS_NOENT = 2,        /* there is no such name */
	RPCRDMA_NFS_IO = 5,           /* input or output failed on the server */
	RPCRDMA_NFS_NXIO = 6,         /* there is no such device */
	RPCRDMA_NFS_ACCESS = 13,      /* permission denied */
	RPCRDMA_NFS_EXIST = 17,       /* the name exists already */
	RPCRDMA_NFS_XDEV = 18,        /* the two names are on different file systems */
	RPCRDMA_NFS_NOTDIR = 20,      /* not a directory */
	RPCRDMA_NFS_ISDIR = 21,       /* a directory */
	RPCRDMA_NFS_INVAL = 22,       /* invalid argument */
	RPCRDMA_NFS_FBIG = 27,        /* the file would be too large */
	RPCRDMA_NFS_NOSPC = 28,       /* no space left on the server's device */
	RPCRDMA_NFS_ROFS = 30,        /* the export is read-only */
	RPCRDMA_NFS_MLINK = 31,       /* too many hard links */
	RPCRDMA_NFS_NAMETOOLONG = 63, /* the name is too long */
	RPCRDMA_NFS_NOTEMPTY = 66,    /* the directory is not empty */
	RPCRDMA_NFS_DQUOT = 69,       /* the quota is used up */
	RPCRDMA_NFS_STALE = 70,       /* the object is gone */
	RPCRDMA_NFS_BADHANDLE = 10001,
	RPCRDMA_NFS_NOTSUPP = 10004,
	RPCRDMA_NFS_SERVERFAULT = 10006,
	RPCRDMA_NFS_DELAY = 10008 /* the server still asks to come back later, after config->retry */
};

/* Returns the text of a status, for example "permission denied (NFS4ERR_ACCESS)"; never NULL. The name in it
 * is that of NFS version 4, if version 4 has this status; rpcrdma_nfs_error() uses the name of the version
 * that the client speaks. Any thread may call it. */
RPCRDMA_API const char *rpcrdma_nfs_status_text(int status);

enum {
	RPCRDMA_NFS_HANDLE_MAX = 128, /* octets of a file handle (RFC 8881: NFS4_FHSIZE) */
	RPCRDMA_NFS_NAME_MAX = 255,   /* octets of a file name */
	RPCRDMA_NFS_PATH_MAX = 4095,  /* octets of a path, and of the target of a symbolic link */
	RPCRDMA_NFS_OWNER_MAX = 127   /* octets of the name of a user or a group: "user@domain" */
};

/* A file handle, which names an object of the server as long as the object exists. A value: it may be copied
 * and compared. The layout is final. */
struct rpcrdma_nfs_handle {
	uint32_t length;
	uint8_t data[RPCRDMA_NFS_HANDLE_MAX];
};

enum rpcrdma_nfs_type {
	RPCRDMA_NFS_FILE = 1,
	RPCRDMA_NFS_DIRECTORY,
	RPCRDMA_NFS_BLOCK_DEVICE,
	RPCRDMA_NFS_CHARACTER_DEVICE,
	RPCRDMA_NFS_SYMLINK,
	RPCRDMA_NFS_SOCKET,
	RPCRDMA_NFS_FIFO
};

/* The number of a user or a group of which a server of version 4 sent a name alone. */
enum { RPCRDMA_NFS_NOBODY = 65534 };

/* A time, since 1970-01-01 00:00 UTC; before that, seconds is negative, and nanoseconds still count forward.
 * The layout is final. */
struct rpcrdma_nfs_time {
	int64_t seconds;
	uint32_t nanoseconds;
};

/* The identity of a file system on its server. Over version 3, minor is 0. The layout is final. */
struct rpcrdma_nfs_filesystem {
	uint64_t major, minor;
};

/* An object of the server: its handle, and its attributes when they were asked for. */
struct rpcrdma_nfs_object {
	size_t size; /* set by the caller: see api.h */
	struct rpcrdma_nfs_handle handle;
	enum rpcrdma_nfs_type type;
	uint32_t mode; /* permission bits, set-user-ID and the like: 07777 */
	uint32_t links;
	uint32_t uid, gid; /* the owner and the group, or RPCRDMA_NFS_NOBODY: see owner and group below */
	uint64_t length;   /* octets of a file */
	uint64_t used;     /* octets of storage */
	struct rpcrdma_nfs_filesystem filesystem; /* this and the number identify the object on its server */
	uint64_t number;
	uint64_t change; /* another number after each change of the object; over version 3 always 0 */
	uint32_t device_major, device_minor;                 /* of a device */
	struct rpcrdma_nfs_time accessed, modified, changed; /* changed: data or attributes */
	/* The names of the owner and of the group, where the server sent names that are no numbers; else "".
	 * A name that is longer than RPCRDMA_NFS_OWNER_MAX is left out, too. */
	char owner[RPCRDMA_NFS_OWNER_MAX + 1], group[RPCRDMA_NFS_OWNER_MAX + 1];
};

/* The function that is called when an operation is done. */
struct rpcrdma_nfs_then {
	void (*done)(void *ctx, int error); /* may start further operations, and may close the client */
	void *ctx;
};

/* ---- The client ---- */

/* The server and export of a client, and how it connects. Zero is the default, everywhere: a comment that
 * ends with a bare value names it. */
struct rpcrdma_nfs_config {
	size_t size; /* sizeof(struct rpcrdma_nfs_config): see api.h */
	/*
	 * nfs://HOST[:PORT]/PATH[?NAME=VALUE[&NAME=VALUE]...], must be set. Names: version (3, 4.1, 4.2; else
	 * the highest that the server speaks, but 3 where the server exports PATH by version 3 alone),
	 * transport (auto, iwarp, verbs, tcp), mountport, port, rpcbind (alone, or with a value: the port of
	 * rpcbind, which is asked for the port of NFS), uid, gid; sec (sys, krb5, krb5i, krb5p: with a flavor
	 * of Kerberos, the user is that of the ticket that kinit(1) got, and the server is nfs@HOST; else
	 * sys, but a flavor of Kerberos if the server refuses sys, or prefers the other, and there is a
	 * ticket); for TLS xprtsec (none, tls, mtls, auto), tls-ca, tls-cert, tls-key, fingerprint: see
	 * rpcrdma(1). Over version 3, the client finds the export that PATH is in by asking the server for
	 * PATH, and then for the directories above it. Or
	 * HOST:/PATH, as it stands, at the standard port. Copied.
	 */
	const char *url;
	bool tcp; /* a URL that names no transport is for TCP, not for RDMA */
	/* The user and groups that calls are made for (AUTH_SYS). Copied. NULL: the effective user and groups
	 * of this process, or uid and gid of the URL where that has them. */
	const struct rpcrdma_auth_sys *auth_sys;
	uint64_t timeout; /* ns until the client gives up a server that does not answer at all. 20 s */
	/* ns for which a lost connection is tried again, a server that asks to come back later is asked
	 * again, and, over version 3, a server that answers no call on an open connection is waited for. 120
	 * s; UINT64_MAX: a connection is not made again, and an answer is waited for without limit. */
	uint64_t retry;
	/* Called now and then while a function waits; if interrupted() returns true, the function ends with
	 * CANCELLED. NULL: the function waits to the end. */
	bool (*interrupted)(void *ctx);
	void *ctx; /* for interrupted and trust */
	/* Connections over which calls are spread: see struct rpcrdma_client_config. Over version 4, all of
	 * them are of one session. At most RPCRDMA_CONNECTIONS_MAX. 1 */
	uint32_t connections;
	/* Called, where the URL demands TLS and names neither an authority nor a fingerprint, if nobody here
	 * knows who signed the server's certificate. server: HOST:PORT; fingerprint: of its key, as text,
	 * both for the call alone. If trust() returns true, the key goes into the user's list of known
	 * servers, and the server must have it from now on. NULL: such servers are refused. */
	bool (*trust)(void *ctx, const char *server, const char *fingerprint);
};

/*
 * Connects, tries each address of the host, finds the export and mounts it. Turns the engine's loop, and may
 * block in the name service: not inside a callback. Free the client with rpcrdma_nfs_close().
 *
 * Errors, with their text on the engine: INVAL (config, URL, called inside a callback), NOTSUP (config, the
 * NFS version, no RDMA adapter), ADDRESS, REFUSED, UNREACHABLE, TIMEDOUT, REJECTED, PEER, DISCONNECTED,
 * PROG_UNAVAIL (no NFS there), RPC_DENIED, CANCELLED, NOMEM, SYSTEM; positive: the server exports nothing
 * there, or not to this host.
 */
RPCRDMA_API int rpcrdma_nfs_open(
	struct rpcrdma_engine *engine, const struct rpcrdma_nfs_config *config, struct rpcrdma_nfs **nfs);

/* Cancels the operations under way without calling their done(), closes the connection and frees nfs. Over
 * version 4, the function first closes the files at the server and ends the session, which takes five seconds
 * at most; inside a callback it does not, and the server notices when the lease ends. May be called inside a
 * done(), but not while another function of this client waits. nfs may be NULL. */
RPCRDMA_API void rpcrdma_nfs_close(struct rpcrdma_nfs *nfs);

/* Cancels the operations under way whose then had this done and this ctx, without calling done(): the memory
 * for their results and data is the caller's again. The server may execute such an operation all the same.
 * Does nothing if there is no such operation. May be called inside a callback. */
RPCRDMA_API void rpcrdma_nfs_cancel(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then);

/* Returns a text that says why the last operation failed. The text is valid until the next operation fails.
 */
RPCRDMA_API const char *rpcrdma_nfs_error(const struct rpcrdma_nfs *nfs);

/* Sets *root to the handle of the directory that is mounted, and *rest (rest may be NULL) to the part of the
 * URL's path below that directory, or "". Over version 4, the root of the server's tree is mounted, which may
 * lie far above what the URL names: rpcrdma_nfs_find() with the path "" finds that. The text of *rest is
 * valid as long as the client exists. Errors: INVAL. */
RPCRDMA_API int rpcrdma_nfs_root(
	const struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_handle *root, const char **rest);

/* Sets *read_max and *write_max to the most octets that one READ and one WRITE of this server carry. A read
 * or a write of this library may be larger: it then takes several READs or WRITEs. Either pointer may be
 * NULL. */
RPCRDMA_API void rpcrdma_nfs_limits(const struct rpcrdma_nfs *nfs, uint32_t *read_max, uint32_t *write_max);

/* Fills in counters, summed over all connections of this client. Errors: INVAL (counters->size). */
RPCRDMA_API int rpcrdma_nfs_counters(const struct rpcrdma_nfs *nfs, struct rpcrdma_counters *counters);

/* ---- Names ---- */

/* Fills in object, which path names below the directory that the URL names, in every version of NFS; "", "/"
 * and "." name that directory itself (or the file, if the URL names a file). Symbolic links on the way are
 * followed by this library, at most 40; the last name of path only if follow is set. An absolute link is a
 * path of the server, which has to begin with that of the URL. Always blocks. Errors besides those of any
 * operation: INVAL (a ".." in path leads out of the directory that the URL names), NOTSUP (a link does),
 * LIMIT (too many links). */
RPCRDMA_API int rpcrdma_nfs_find(
	struct rpcrdma_nfs *nfs, const char *path, bool follow, struct rpcrdma_nfs_object *object);

/* Looks up a name in a directory, and fills in object. A symbolic link is not followed. */
RPCRDMA_API int rpcrdma_nfs_lookup(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then);

/* Fills in object with the attributes of the object with this handle. */
RPCRDMA_API int rpcrdma_nfs_stat(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then);

/* Rights on an object, with the numbers that NFS has for them (RFC 1813, section 3.3.4; RFC 8881,
 * section 18.1.1). */
enum rpcrdma_nfs_right {
	RPCRDMA_NFS_MAY_READ = 0x01,    /* the data of a file, or the names in a directory */
	RPCRDMA_NFS_MAY_LOOKUP = 0x02,  /* a name in a directory */
	RPCRDMA_NFS_MAY_MODIFY = 0x04,  /* the data of a file, or the names in a directory */
	RPCRDMA_NFS_MAY_EXTEND = 0x08,  /* a file, or a directory by further names */
	RPCRDMA_NFS_MAY_DELETE = 0x10,  /* names in a directory */
	RPCRDMA_NFS_MAY_EXECUTE = 0x20, /* a file */
};

/* Sets *granted to those of the rights in asked, flags of enum rpcrdma_nfs_right, that the server says the
 * user has. An operation may fail all the same. */
RPCRDMA_API int rpcrdma_nfs_access(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	uint32_t asked, uint32_t *granted, const struct rpcrdma_nfs_then *then);

/* The size of a file system. A number that the server does not say is 0. */
struct rpcrdma_nfs_space {
	size_t size;                            /* set by the caller: see api.h */
	uint64_t total, free, available;        /* octets; available: the free ones that the caller may use */
	uint64_t files, files_free, files_left; /* objects; left: the free ones that the caller may make */
};

/* Fills in space with the size of the file system that the object with this handle is on. */
RPCRDMA_API int rpcrdma_nfs_statfs(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_space *space, const struct rpcrdma_nfs_then *then);

/* Copies the target of a symbolic link, closed by a zero, to target, which has room for size octets;
 * RPCRDMA_NFS_PATH_MAX + 1 suffice. Errors besides those of any operation: LIMIT (the target has no room
 * there). */
RPCRDMA_API int rpcrdma_nfs_readlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	char *target, size_t size, const struct rpcrdma_nfs_then *then);

/* Attributes to be set. Each member counts where its set_... is true. */
struct rpcrdma_nfs_changes {
	size_t size; /* sizeof(struct rpcrdma_nfs_changes): see api.h */
	bool set_mode, set_uid, set_gid, set_length, set_accessed, set_modified;
	uint32_t mode, uid, gid;
	uint64_t length; /* cuts a file off, or makes it longer with zeroes */
	struct rpcrdma_nfs_time accessed, modified;
};

/* Changes the attributes of an object that changes names by its set_ members. Errors besides those of any
 * operation: NOTSUP (version 3 does not hold the time). */
RPCRDMA_API int rpcrdma_nfs_change(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_changes *changes, const struct rpcrdma_nfs_then *then);

/* Makes a regular file with the attributes of changes (NULL: mode 0644), and fills in object. Fails with
 * EXIST if the name exists. */
RPCRDMA_API int rpcrdma_nfs_create(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then);

/* A new regular file with all of its data. */
struct rpcrdma_nfs_whole {
	size_t size; /* set by the caller: see api.h */
	/* Set by the caller. */
	struct rpcrdma_nfs_handle directory;
	const char *temporary, *name;              /* names in the directory */
	const struct rpcrdma_nfs_changes *changes; /* NULL: mode 0600 */
	const void *data;
	uint32_t length; /* octets: as much as one write may have */

	/* Set by the library: the file may be there under its temporary name, although the operation failed.
	 */
	bool made;
};

/* Makes a file under its temporary name, writes its data to stable storage, sets its attributes, and renames
 * it, where all of that is one call. An object that has the name is replaced. Fails with EXIST if the
 * temporary name exists. put is the library's until the operation is done. Errors besides those of any
 * operation: NOTSUP (version 3 is spoken, or the server takes too few operations in one call: the caller does
 * this by several calls). */
RPCRDMA_API int rpcrdma_nfs_put(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_whole *put, const struct rpcrdma_nfs_then *then);

/* Makes a directory with the attributes of changes (NULL: mode 0755), and fills in object. Fails with EXIST
 * if the name exists. */
RPCRDMA_API int rpcrdma_nfs_mkdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then);

/* Removes a name from a directory; the object must not be a directory. */
RPCRDMA_API int rpcrdma_nfs_remove(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_then *then);

/* Removes an empty directory. */
RPCRDMA_API int rpcrdma_nfs_rmdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_then *then);

/* Makes a symbolic link to target, a path, which the server does not look up, and fills in object. target is
 * copied at once. Fails with EXIST if the name exists, with INVAL if target is empty, with NAMETOOLONG if it
 * has more than RPCRDMA_NFS_PATH_MAX octets. */
RPCRDMA_API int rpcrdma_nfs_symlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const char *target, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then);

/* Makes a named pipe, a socket, or a device, with the attributes of changes (NULL: mode 0644), and fills in
 * object. Its type, and the device_major and device_minor of a device, are those that the caller has set in
 * object. Fails with EXIST if the name exists, with INVAL for another type. */
RPCRDMA_API int rpcrdma_nfs_mknod(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then);

/* Gives file, which is not a directory, a further name (a hard link) in directory. Fails with EXIST if the
 * name exists, with XDEV if directory is on another file system. */
RPCRDMA_API int rpcrdma_nfs_link(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	const struct rpcrdma_nfs_handle *directory, const char *name, const struct rpcrdma_nfs_then *then);

/* Gives the object from_name in the directory `from` the name to_name in the directory `to`. If an object had
 * that name, it is replaced. */
RPCRDMA_API int rpcrdma_nfs_rename(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *from,
	const char *from_name, const struct rpcrdma_nfs_handle *to, const char *to_name,
	const struct rpcrdma_nfs_then *then);

/* An entry of a directory. */
struct rpcrdma_nfs_entry {
	size_t size;      /* set by the library */
	const char *name; /* there is no '/' in it, and it is neither "." nor ".."; valid inside each() */
	uint64_t number;  /* as struct rpcrdma_nfs_object has it */
	/* NULL: the server did not send its attributes; rpcrdma_nfs_lookup() asks for them. */
	const struct rpcrdma_nfs_object *object;
};

/*
 * Calls each(ctx, entry) for every name in a directory, in the order of the server. A result of each() other
 * than 0 ends the list, and becomes the result. Always blocks; each() may call other functions of this
 * client. Errors besides those of any operation: LIMIT (more than ten million names), PEER (a list that goes
 * in a circle, or has a name that no file can have).
 */
RPCRDMA_API int rpcrdma_nfs_list(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	int (*each)(void *ctx, const struct rpcrdma_nfs_entry *entry), void *ctx);

/* ---- File data ---- */

/* How safe the data of a write is when the server answers. */
enum rpcrdma_nfs_stability {
	RPCRDMA_NFS_UNSTABLE,  /* in the server's memory: rpcrdma_nfs_commit() stores it */
	RPCRDMA_NFS_DATA_SYNC, /* stored, with the attributes that are needed to read it */
	RPCRDMA_NFS_FILE_SYNC  /* stored, with all attributes */
};

enum { RPCRDMA_NFS_VERIFIER = 8 };

/* A piece of file data. Where it is larger than a READ or WRITE may be, several follow each other. */
struct rpcrdma_nfs_io {
	size_t size; /* set by the caller: see api.h */
	/* Set by the caller. */
	struct rpcrdma_nfs_handle file;
	uint64_t offset;
	void *data; /* is only read from by rpcrdma_nfs_write() */
	uint32_t length;
	enum rpcrdma_nfs_stability
		stability; /* of a write: the least that the server does before it answers */

	/* Set by the library. */
	uint32_t moved; /* octets. Of a read: less than length only at the end of the file */
	bool eof;       /* of a read: the file ends behind the data */
	enum rpcrdma_nfs_stability stored; /* of a write: the weakest that the server's answers say */
	/*
	 * Of a write that is stored UNSTABLE: if rpcrdma_nfs_commit() gives another verifier later, the
	 * server has lost the data, and the caller writes it again (RFC 1813, section 3.3.21).
	 */
	uint8_t verifier[RPCRDMA_NFS_VERIFIER];
	bool verifier_changed; /* of a write: the verifier changed while the write went on: a part of the data
				  is lost */

	/* Set by the caller, of a read: the file is read only once, so that over version 4 one call opens,
	 * reads and closes it. */
	bool once;
};

/* Reads length octets at offset into data: the server's RDMA Writes place them there, or the library copies
 * them where they came inline or over TCP. io is the library's until the operation is done. */
RPCRDMA_API int rpcrdma_nfs_read(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_io *io, const struct rpcrdma_nfs_then *then);

/* Writes length octets of data at offset. io is the library's until the operation is done. */
RPCRDMA_API int rpcrdma_nfs_write(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_io *io, const struct rpcrdma_nfs_then *then);

/* Makes the server store all data of the file that was written UNSTABLE, and copies the server's verifier,
 * RPCRDMA_NFS_VERIFIER octets, to verifier. The caller compares these with the verifiers of the writes. */
RPCRDMA_API int rpcrdma_nfs_commit(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	uint8_t *verifier, const struct rpcrdma_nfs_then *then);

/* ---- Holes, copies that a server makes, extended attributes: version 4.2 alone ---- */

/*
 * The functions below fail with NOTSUP where version 4.2 is not spoken, and with RPCRDMA_NFS_NOTSUPP, or a
 * status that is not in the list above, where the server has no such operation: the caller reads and writes
 * instead.
 */

enum rpcrdma_nfs_content { RPCRDMA_NFS_DATA, RPCRDMA_NFS_HOLE };

/* Sets *found to the offset of the next data, or of the next hole, at or behind offset (RFC 7862,
 * section 15.11). Each file ends with a hole. Fails with NXIO if no data follow, or offset is behind the end
 * of the file; *found is then not written. */
RPCRDMA_API int rpcrdma_nfs_seek(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	enum rpcrdma_nfs_content what, uint64_t offset, uint64_t *found, const struct rpcrdma_nfs_then *then);

/* A part of a file that the server is to copy into another of its files. */
struct rpcrdma_nfs_range {
	size_t size; /* set by the caller: see api.h */
	/* Set by the caller. Regular files only; RFC 7862 wants two different files for a copy. */
	struct rpcrdma_nfs_handle from, to;
	uint64_t from_offset, to_offset;
	/* Octets, which from must have. rpcrdma_nfs_clone(): 0 is all octets up to its end. */
	uint64_t length;

	/* Set by the library. */
	uint64_t copied;                        /* octets, also where the operation failed */
	enum rpcrdma_nfs_stability stored;      /* the weakest that the server's answers say */
	uint8_t verifier[RPCRDMA_NFS_VERIFIER]; /* as struct rpcrdma_nfs_io has it */
	bool verifier_changed;                  /* likewise */

	/* Set by the caller. rpcrdma_nfs_copy(): the least that the server does before it answers. */
	enum rpcrdma_nfs_stability stability;
};

/* Makes the server copy the data of a range (RFC 7862, section 15.2), with several COPY operations if the
 * server copies less at a time. Holes may become zeroes. Octets that are stored UNSTABLE need
 * rpcrdma_nfs_commit(). range is the library's until the operation is done. */
RPCRDMA_API int rpcrdma_nfs_copy(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_range *range, const struct rpcrdma_nfs_then *then);

/* Makes the two files of a range share its storage until one of them is written to there (RFC 7862,
 * section 15.13), holes included. Fails if the file system cannot do that. A clone is on stable storage.
 * range is the library's until the operation is done. */
RPCRDMA_API int rpcrdma_nfs_clone(
	struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_range *range, const struct rpcrdma_nfs_then *then);

/* ---- Extended attributes (RFC 8276), of regular files and directories ---- */

enum { RPCRDMA_NFS_XATTR_MAX = 65536 }; /* octets of a value */

/* The memory of a value, or of a list of names. The layout is final. */
struct rpcrdma_nfs_value {
	void *data;
	uint32_t room;   /* octets at data that the library may write to */
	uint32_t length; /* octets of the value */
};

/* Statuses that a server may answer besides: there is no attribute of this name, or it is too large for the
 * server. */
enum rpcrdma_nfs_xattr_status { RPCRDMA_NFS_NOXATTR = 10095, RPCRDMA_NFS_XATTR2BIG = 10096 };

/* Names are those of Linux without "user." (RFC 8276, section 4), of at most RPCRDMA_NFS_NAME_MAX octets; "/"
 * is not taken. The memory of value is the library's until the operation is done; value itself only where it
 * is written to. */

/* Reads the value of an extended attribute into value->data, and sets value->length. Fails with LIMIT if the
 * value has no room there. */
RPCRDMA_API int rpcrdma_nfs_get_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const char *name, struct rpcrdma_nfs_value *value, const struct rpcrdma_nfs_then *then);

/* Sets an extended attribute to value, of value->length octets; the attribute is made if it does not exist,
 * else replaced. */
RPCRDMA_API int rpcrdma_nfs_set_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const char *name, const struct rpcrdma_nfs_value *value, const struct rpcrdma_nfs_then *then);

/* Removes an extended attribute. */
RPCRDMA_API int rpcrdma_nfs_remove_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const char *name, const struct rpcrdma_nfs_then *then);

/* Reads the names of all extended attributes, each closed by a zero, into names->data, and sets
 * names->length. Fails with LIMIT if the names have no room there. */
RPCRDMA_API int rpcrdma_nfs_list_xattrs(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_value *names, const struct rpcrdma_nfs_then *then);

/* ---- Access lists: those of POSIX 1003.1e, acl(5), of regular files and directories ---- */

enum { RPCRDMA_NFS_ACL_MAX = 1024 }; /* entries of a list */

/* Tags say whom an entry is about. The numbers are those of Linux. */
enum rpcrdma_nfs_acl_tag {
	RPCRDMA_NFS_ACL_USER_OBJ = 0x01, /* the owner */
	RPCRDMA_NFS_ACL_USER = 0x02,     /* the user with the number id */
	RPCRDMA_NFS_ACL_GROUP_OBJ = 0x04,
	RPCRDMA_NFS_ACL_GROUP = 0x08, /* the group with the number id */
	RPCRDMA_NFS_ACL_MASK = 0x10,
	RPCRDMA_NFS_ACL_OTHER = 0x20
};

/* An entry. The layout is final. */
struct rpcrdma_nfs_acl_entry {
	uint32_t tag, perm; /* perm: 4 read, 2 write, 1 execute, added up */
	uint32_t id;        /* else 0 */
};

/* A list. The layout is final. */
struct rpcrdma_nfs_acl {
	struct rpcrdma_nfs_acl_entry *entries;
	uint32_t room;  /* entries that the library may write to */
	uint32_t count; /* entries of the list */
};

/* Finds the numbers of users and groups whom a server of version 4 names. The layout is final. */
struct rpcrdma_nfs_acl_names {
	/* Stores the number. Returns false if nobody has that name. name is valid during the call, which is
	 * made by the loop: it must not use the client. */
	bool (*number)(void *ctx, const char *name, bool is_group, uint32_t *number);
	void *ctx;
};

/* Reads the lists of an object: that of the object itself, which of an object without a list has three
 * entries, made of its mode; and, of a directory, the one that objects inherit that are made in it, or no
 * entries. NULL: that list is not wanted. Entries are in the order of their tags and numbers. names: NULL if
 * the server sends numbers, as servers do to users of AUTH_SYS. The memory of the lists is the library's
 * until the operation is done.
 *
 * By version 3, lists are read and set by NFSACL; by version 4, by the attribute acl (RFC 8881,
 * section 6.2.1), from which rights that a mask takes away are not seen. Statuses: NFS3ERR_NOTSUPP, which is
 * 10004: the server keeps no lists of the object. Errors: NOTSUP: the list says what those of POSIX cannot
 * say, or names somebody whom names does not know; LIMIT: there is no room. */
RPCRDMA_API int rpcrdma_nfs_get_acl(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_acl *access, struct rpcrdma_nfs_acl *inherited,
	const struct rpcrdma_nfs_acl_names *names, const struct rpcrdma_nfs_then *then);

/* Sets the lists of an object; the list of the object itself changes its mode. NULL: that list stays as it
 * is. An inherited list without entries removes it; only directories have one. By version 4, one list of a
 * directory is set together with the other one as it was: if the directory has changed meanwhile, nothing is
 * set, and the status is NFS4ERR_NOT_SAME, which is 10027. Error INVAL: a list is not valid (acl(5)). */
RPCRDMA_API int rpcrdma_nfs_set_acl(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_acl *access, const struct rpcrdma_nfs_acl *inherited,
	const struct rpcrdma_nfs_then *then);

/* Whether handles of one client can be used with the other client: both are connected to one address and
 * speak version 4.2, and the servers say that they are the same server (RFC 8881, section 2.10.4). */
RPCRDMA_API bool rpcrdma_nfs_is_same_server(const struct rpcrdma_nfs *a, const struct rpcrdma_nfs *b);

#ifdef __cplusplus
}
#endif

#endif
