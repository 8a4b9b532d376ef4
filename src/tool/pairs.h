/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_PAIRS_H
#define RR_TOOL_PAIRS_H

#include "tool/names.h"

/*
 * For sub-commands that take sources and a destination on one server: each source gets a name in the
 * directory that the destination is, or, where that is no directory, the destination's own name.
 */
struct rr_pairs {
	const struct rr_tool *tool;
	bool keep;     /* a name that exists is left alone */
	bool replace;  /* a name that exists is replaced, where it would be an error */
	bool symbolic; /* sources are texts, and not URLs */
	struct rr_filters filters;
	struct rr_remote to;                 /* the destination */
	struct rpcrdma_nfs_object directory; /* the new name is in it */
	char name[RR_NFS_NAME + 1];          /* "": the source's own last name */
	struct rr_names source; /* the present one, which is open unless symbolic is set; its outcome */
	const char *text;       /* the present source as the command line has it */
};

/* "SOURCE: why"; returns RR_EXIT_FAILED. */
int rr_pairs_fail(struct rr_pairs *pairs, const char *why);

/* Takes the command line, and calls each for every source with the new name. An exit status. */
int rr_pairs_run(const struct rr_tool *tool, int argc, char **argv,
	int (*each)(struct rr_pairs *pairs, const char *name));

#endif
