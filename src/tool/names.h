/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_NAMES_H
#define RR_TOOL_NAMES_H

#include "tool/cp/trail.h"
#include "tool/filters.h"
#include "tool/outcome.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* The common part of sub-commands that change names on a server (mkdir, rm): options, and URLs. Each URL
 * names an object by its last name, in a directory that is mounted. */

struct rr_names {
	const struct rr_tool *tool;
	bool flag;     /* the option that only this sub-command has: rm --recursive, mkdir --parents */
	bool force;    /* rm --force */
	bool ask;      /* rm --interactive */
	uint64_t kept; /* rm: objects of the current URL that the user did not want to be removed */
	char *below;   /* rm: the name of the current object, for -i and -v */
	bool has_mode; /* mkdir --mode */
	uint32_t mode;
	struct rr_outcome outcome; /* of the current URL */
	struct rr_filters filters;
	struct rr_trail trail;   /* rm: from the URL's object down to the directory that is being emptied */
	struct rr_remote remote; /* the server of the current URL */
	char path[RR_URL_PATH + 16]; /* path of the last name's directory, below the mounted directory */
	char last[RR_NFS_NAME + 1];  /* "": the URL names "/" */
};

/* Connects to the server of the URL, mounts the directory above the URL's last name, and sets names->path and
 * names->last. Returns an exit status, after a message if it is not OK; in any case, the caller closes
 * names->remote. */
int rr_names_open(struct rr_names *names, struct rpcrdma_engine *engine, const char *url);

/* Reports the server's last error for the current URL: "NAME: TEXT". Returns RR_EXIT_FAILED. */
int rr_names_fail(struct rr_names *names);

/* Runs a sub-command: reads its command line, opens each URL, and calls each() for it. Returns an exit
 * status. */
int rr_names_run(const struct rr_tool *tool, int argc, char **argv, int (*each)(struct rr_names *names));

#endif
