/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_SERVE_PROVIDER_H
#define RR_TOOL_SERVE_PROVIDER_H

#include <stdbool.h>

#include "tool/option/option.h"
#include "vfs/vfs.h"

struct rr_confine;
struct rr_serve;
struct rpcrdma_engine;

/*
 * A kind of storage that `rpcrdma serve` knows. A server serves directories of one kind. The kind of a
 * directory is the word in front of its path; a directory of this machine has none.
 */
struct rr_serve_provider {
	const char *word; /* "ceph:"; "" is the last row of the table */
	const char *what; /* what its directories are, in messages */
	/* Checks an argument for a directory, in which "=/NAME" was cut off; the function may cut off more,
	 * and keep that in *serve. Returns the path by which the directory is known, which the caller frees;
	 * NULL: after a message, with *status set. */
	char *(*path)(const struct rr_tool *tool, struct rr_serve *serve, char *argument, int *status);
	/* Returns the part of such a path that clients can have as its name. NULL: what is behind the word.
	 */
	const char *(*named)(const char *path);
	/* Tells whether system calls for the directory may never return: the server then runs in a child
	 * process (guard.h). NULL: no directory of this kind is so. */
	bool (*may_hang)(const char *path);
	/* Makes what the providers of all threads share, in *shared. Returns 0; or an error, with a text. */
	int (*begin)(struct rr_serve *serve, void **shared, struct rr_text *text);
	/* Makes the provider of the calling thread. Returns 0; or an error, with a text. */
	int (*provide)(void *shared, const struct rr_serve *serve, struct rpcrdma_engine *engine,
		struct rr_vfs **vfs, struct rr_text *text);
	/* Has the provider act with no other credentials in this thread, as a thread that uses RDMA adapters
	 * must not change its own: the kernel then refuses its commands for an adapter. NULL: it never
	 * does. */
	void (*apart)(struct rr_vfs *vfs);
	void (*end)(void *shared); /* shared may be NULL */
	/* Adds rules for the files that the provider opens while it serves (base/confine/). */
	void (*confine)(const struct rr_serve *serve, struct rr_confine *confine);
	bool connects; /* it connects to other machines, at ports that are known later */
};

/* Returns the kind of storage that an argument for a directory names by the word in front. */
const struct rr_serve_provider *rr_serve_provider(const char *argument);

extern const struct rr_serve_provider rr_serve_posix, rr_serve_ceph, rr_serve_nfs;
/* The options of directories in CephFS, whose state is a struct rr_serve_ceph. */
extern const struct rr_option rr_serve_ceph_options[];

struct rr_serve_ceph {
	const char *conf, *user; /* NULL: not given */
	char file_system[256];   /* "": the cluster's default */
};

/* Of directories of another NFS server. */
struct rr_serve_nfs {
	char query[512]; /* of the URLs, with the '?'; "": there is none */
	/* In: by version 3, locks are to be those of the other server, which one thread alone may have. Out
	 * of begin(): they are. Of the other versions, they always are. */
	bool locks;
};

/* What kinds of storage keep of options and arguments. */
union rr_serve_storage {
	struct rr_serve_ceph ceph;
	struct rr_serve_nfs nfs;
};

#endif
