/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_NAMES_H
#define RR_TOOL_NAMES_H

#include "tool/filters.h"
#include "tool/outcome.h"
#include "tool/remote.h"
#include "tool/tool.h"
#include "tool/trail.h"

/* What sub-commands that change names on a server have in common: one option, and URLs. */

struct rr_names {
	const struct rr_tool *tool;
	bool flag;                 /* the one option that each has: --recursive, --parents */
	struct rr_outcome outcome; /* of the present URL */
	struct rr_filters filters;
	struct rr_trail trail;
	struct rr_remote remote;
	char path[RR_URL_PATH + 16]; /* of the last name's directory, below what is mounted */
	char last[RR_NFS_NAME + 1];  /* "": the URL is that of "/" */
};

/* Opens what the URL's last name is in. Returns an exit status, after a message if it is not OK; in any case,
 * names->remote is to be closed. */
int rr_names_open(struct rr_names *names, struct rpcrdma_engine *engine, const char *url);

/* "NAME: what the server says"; returns RR_EXIT_FAILED. */
int rr_names_fail(struct rr_names *names);

/* Takes the command line, and calls each for every URL, with what its last name is in mounted. An exit
 * status.
 */
int rr_names_run(const struct rr_tool *tool, int argc, char **argv, int (*each)(struct rr_names *names));

#endif
