/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel is told without having asked. */
#include <errno.h>
#include <linux/fuse.h>
#include <unistd.h>

#include "fuse/fuse_private.h"

void
rr_fuse_drop_attributes(struct rr_fuse *fuse, const struct rr_fuse_node *node)
{
	/* off below 0: the attributes alone. */
	const struct {
		struct fuse_out_header header;
		struct fuse_notify_inval_inode_out what;
	} out = { .header = { .len = sizeof(out), .error = FUSE_NOTIFY_INVAL_INODE },
		.what = { .ino = node == fuse->root ? FUSE_ROOT_ID : node->number, .off = -1 } };

	if (!fuse->over && write(fuse->config.fd, &out, sizeof(out)) < 0)
		rr_log(fuse->env, RR_LOG_DEBUG, "the kernel does not know a node");
}

void
rr_fuse_drop_pages(const struct rr_fuse *fuse, const struct rr_fuse_node *node)
{
	const struct {
		struct fuse_out_header header;
		struct fuse_notify_inval_inode_out what;
	} out = { .header = { .len = sizeof(out), .error = FUSE_NOTIFY_INVAL_INODE },
		.what = { .ino = node->number } };

	/* ENOENT: the kernel has forgotten the node, and its pages with it. */
	if (write(fuse->config.fd, &out, sizeof(out)) < 0 && errno != ENOENT)
		rr_log(fuse->env, RR_LOG_DEBUG, "the kernel does not drop the pages of a file");
}
