/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_TRAIL_H
#define RR_TOOL_CP_TRAIL_H

#include <rpcrdma/nfs.h>

/*
 * A trail: the directories from the top of a tree down to the current directory. A server may show a tree
 * that has no end: a directory that contains itself, or levels or entries without number. The functions of a
 * trail notice each of these cases, so that the caller ends the work. A zeroed trail is at the top.
 */

enum {
	/* Each level takes some memory of the stack: see rr_trail_prepare(). It is more than there are names
	 * of one octet in a path that the system takes. */
	RR_TRAIL_LEVELS = 4096,
	/* Octets of a path of so many names, each with a slash, and of the closing zero. */
	RR_TRAIL_PATH = (RR_TRAIL_LEVELS + 1) * 256 + 1,
	RR_TRAIL_OPEN = 64, /* below this level, a directory on the way holds no descriptor open */
	RR_TRAIL_ENTRIES_MAX = 100000000 /* in all directories of a tree together */
};

struct rr_trail {
	struct {
		struct rpcrdma_nfs_filesystem fsid;
		uint64_t fileid;
	} levels[RR_TRAIL_LEVELS];
	unsigned depth;   /* number of levels that are in use */
	uint64_t entries; /* of all directories so far */
	uint64_t octets;  /* memory for the names of the directories on the way: see struct rr_catalog */
	bool endless;     /* there were too many entries: the work on the whole tree must end */
};

/* Called before a tree is walked by functions that call themselves for each level: raises the limit of the
 * stack to what RR_TRAIL_LEVELS levels may need, as far as the user may. */
void rr_trail_prepare(void);

/* Goes down into a directory. Returns NULL; or a text that says why that is refused: the same directory is
 * already above the current one in the tree, or there are too many levels. */
const char *rr_trail_enter(struct rr_trail *trail, struct rpcrdma_nfs_filesystem fsid, uint64_t fileid);

/* Tells whether two identities are of one file system. */
bool rr_trail_is_on(struct rpcrdma_nfs_filesystem a, struct rpcrdma_nfs_filesystem b);

/* Goes up again, out of the directory that was entered last. */
void rr_trail_leave(struct rr_trail *trail);

/* Adds the number of entries of the current directory to that of the whole tree. Returns NULL; or, if the
 * tree has so many entries that it seems to be endless, a text that says so. */
const char *rr_trail_count(struct rr_trail *trail, uint64_t entries);

#endif
