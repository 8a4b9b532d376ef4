/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_FUSE_H
#define RR_FUSE_FUSE_H

#include "vfs/vfs.h"

/*
 * A mount: the kernel's FUSE protocol (linux/fuse.h) in front of an exported tree of vfs.h. The protocol is
 * spoken here and not by libfuse, whose versions before 3.17 tell the kernel nothing of FUSE_PARALLEL_DIROPS:
 * one round trip at a time for all names of a directory.
 *
 *   node      an object that the kernel knows, until it forgets it: node.h
 *   file      an open file or directory of the kernel: file.h
 *   request   what the kernel asks, until it is answered: request.h
 *   behind    the octets that were written and are not yet at the server, or not yet stable there: behind.h
 *
 * Consistency is close-to-open: what was written is at the server when close(2) returns, and open(2) asks the
 * server whether the file has changed. Attributes and names are kept by the kernel for the times of the
 * configuration.
 *
 * A mount belongs to the loop of its provider, and to that thread.
 */

struct rr_fuse;

struct rr_fuse_config {
	struct rr_vfs *vfs;
	uint32_t export;               /* its number */
	struct rr_vfs_attributes root; /* of the root of the export */
	int fd; /* of /dev/fuse, as rr_fuse_device_mount() gives it; it stays the caller's */
	/* For how long the kernel keeps attributes, in nanoseconds: the least at first, and twice as long
	 * each time that they have not changed, up to the most. Those of directories are the times of names,
	 * too. 0: not at all. */
	uint64_t file_least, file_most, directory_least, directory_most;
	bool no_names, no_absent; /* the kernel keeps no names; none of what is not there */
	uint64_t patience;   /* so long a server may not answer, in nanoseconds, before programs see an error;
				0: for ever */
	uint32_t write_max;  /* octets of a WRITE to the server */
	uint64_t behind_max; /* octets that may be behind (behind.h); a writer waits where there are more */
	bool locks; /* locks are those of the server; false: the kernel's own, which no other machine sees */
	bool no_lists; /* programs get and set no access lists */
	bool callers;  /* true: the server sees the user of each request; false: always this one: */
	uint32_t uid, gid, group_count;
	uint32_t groups[RR_VFS_GROUPS];
	void (*begun)(void *ctx); /* called once, when the kernel has begun to use the mount; or NULL */
	void (*ended)(void *ctx); /* called once, when the kernel has ended the mount */
	void *ctx;
};

/* What a mount has done. */
struct rr_fuse_counters {
	uint64_t requests;        /* of the kernel */
	uint64_t nodes;           /* now */
	uint64_t behind;          /* octets, now */
	uint64_t writes, commits; /* operations of the storage */
};

/* Begins to serve. Errors: NOMEM; SYSTEM. */
int rr_fuse_new(const struct rr_env *env, const struct rr_fuse_config *config, struct rr_fuse **fuse);

/* Ends all that is under way. Requests without an answer end in the kernel when the descriptor is closed.
 * Octets that are behind are lost: rr_fuse_drain() comes first. The loop is run until the storage has ended
 * all calls. */
void rr_fuse_free(struct rr_fuse *fuse);

/* Has all that was written brought to the server, to stable storage there. Returns true where nothing is left
 * to be brought there; the loop has to be run until then. */
bool rr_fuse_drain(struct rr_fuse *fuse);

void rr_fuse_counters(const struct rr_fuse *fuse, struct rr_fuse_counters *counters);

#endif
