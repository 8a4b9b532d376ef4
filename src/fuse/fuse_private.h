/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_FUSE_PRIVATE_H
#define RR_FUSE_FUSE_PRIVATE_H

#include "base/crew.h"
#include "base/loop.h"
#include "fuse/file.h"
#include "fuse/fuse.h"
#include "fuse/node.h"
#include "fuse/request.h"

/* Octets of a READ and of a WRITE of the kernel: 256 pages. A request has at most so much and its header. */
enum { RR_FUSE_IO = 1 << 20, RR_FUSE_BUFFER = RR_FUSE_IO + 4096 };

/* The groups of a process, for a second: the kernel does not send them. */
struct rr_fuse_groups {
	uint32_t pid, count;
	uint64_t until; /* 0: none are kept */
	uint32_t groups[RR_VFS_GROUPS];
};

enum { RR_FUSE_PROCESSES = 64 };

struct rr_fuse {
	const struct rr_env *env;
	struct rr_fuse_config config;
	struct rr_loop *loop;
	struct rr_watch watch; /* of config.fd */
	struct rr_fuse_nodes nodes;
	struct rr_fuse_node *root;
	struct rr_fuse_files files;
	struct rr_map requests; /* under way, by the kernel's number, for FUSE_INTERRUPT */
	struct rr_list spare;   /* memory of requests that have ended */
	uint32_t under_way, spare_count;
	/* Octets that are behind in all nodes, the requests that wait until there are fewer, and the timer
	 * that has sent what has waited long. */
	uint64_t behind;
	struct rr_list throttled;
	struct rr_list behind_nodes;
	struct rr_timer age;
	/* Notifications that may wait for locks of the kernel are written by a thread. */
	struct rr_crew *notifier;
	struct rr_fuse_counters counters;
	uint64_t silly; /* the last name that a removed file got */
	bool begun;     /* the kernel has sent FUSE_INIT */
	bool watched;   /* the descriptor */
	bool over;      /* the kernel has ended the mount */
	bool ends;      /* rr_fuse_free() was called */
	struct rr_fuse_groups groups[RR_FUSE_PROCESSES];
	uint8_t *buffer; /* for the request that is read */
};

/* Tells whether what began at that time may wait still for a server that does not answer. */
static inline bool
rr_fuse_is_patient(const struct rr_fuse *fuse, uint64_t since)
{
	return fuse->config.patience == 0 || rr_loop_now(fuse->loop) - since < fuse->config.patience;
}

/* ---- notify.c ---- */

/* Has the kernel drop the attributes that it keeps of a node: it waits for nothing. */
void rr_fuse_drop_attributes(struct rr_fuse *fuse, const struct rr_fuse_node *node);
/* Has the kernel drop the pages of a file. It may wait for pages that are being read, which the loop brings:
 * only a thread of its own calls this. */
void rr_fuse_drop_pages(const struct rr_fuse *fuse, const struct rr_fuse_node *node);

/* ---- attributes.c ---- */

struct fuse_attr;
struct fuse_entry_out;
struct fuse_attr_out;

/* Returns the errno of a status that is not RR_VFS_OK. */
int rr_fuse_errno(enum rr_vfs_status status);
/* Converts attributes, and notes in the node that the kernel has them now. */
void rr_fuse_tell(
	struct rr_fuse_node *node, const struct rr_vfs_attributes *attributes, struct fuse_attr_out *out);
/* The same for an entry, which counts as a look-up; directory is where it was found. */
void rr_fuse_tell_entry(struct rr_fuse_node *directory, struct rr_fuse_node *node,
	const struct rr_vfs_attributes *attributes, struct fuse_entry_out *out);

#endif
