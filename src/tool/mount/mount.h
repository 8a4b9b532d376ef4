/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MOUNT_MOUNT_H
#define RR_TOOL_MOUNT_MOUNT_H

#include "fuse/device.h"
#include "fuse/fuse.h"
#include "tool/filters.h"
#include "tool/tool.h"

enum { RR_MOUNT_QUERY = 256 };

/* The options of `rpcrdma mount`. */
struct rr_mount {
	struct rr_filters filters;
	struct rr_fuse_device device;
	struct rr_fuse_config config;
	char query[RR_MOUNT_QUERY]; /* what the URL gets: "&version=3&port=20049" */
	bool foreground, soft;
	uint32_t timeo, retrans; /* tenths of a second; how often */
	bool has_other, no_other, no_lock;
};

/* options.c: takes the argument of an option -o, a list of options as in nfs(5) and mount(8). Returns an exit
 * status, after a message if it is not OK. */
int rr_mount_take(const struct rr_tool *tool, void *state, const char *argument);

/* helper.c: tells whether the program was called by the name of the helper of mount(8); then this is what it
 * does, with all arguments of main(). Returns the exit status. */
bool rr_mount_is_helper(const char *name);
int rr_mount_helper(int argc, char **argv);

#endif
