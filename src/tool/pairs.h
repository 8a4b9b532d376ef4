/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_PAIRS_H
#define RR_TOOL_PAIRS_H

#include "tool/names.h"

/*
 * The common part of sub-commands that take sources and a destination on one server: each source gets a name
 * in the directory that the destination is, or, if the destination is no directory, the destination's own
 * name.
 */
struct rr_pairs {
	const struct rr_tool *tool;
	bool keep;     /* an existing name is left alone */
	bool replace;  /* an existing name is replaced, where it would be an error otherwise */
	bool symbolic; /* sources are texts, and not URLs */
	struct rr_filters filters;
	struct rr_remote to;                 /* the destination */
	struct rpcrdma_nfs_object directory; /* the directory of the new name */
	char name[RR_NFS_NAME + 1];          /* the new name; "": the source's own last name */
	struct rr_names source; /* the current source, which is open unless symbolic is set; its outcome */
	const char *text;       /* the current source, as on the command line */
};

/* Reports an error of the current source: "SOURCE: WHY". Returns RR_EXIT_FAILED. */
int rr_pairs_fail(struct rr_pairs *pairs, const char *why);

/* Reports an error that the source or the destination can have caused: "SOURCE -> DESTINATION: WHY". Returns
 * RR_EXIT_FAILED. */
int rr_pairs_fail_both(struct rr_pairs *pairs, const char *why);

/* Runs a sub-command: reads its command line, and calls each() for every source with its new name. Returns an
 * exit status. */
int rr_pairs_run(const struct rr_tool *tool, int argc, char **argv,
	int (*each)(struct rr_pairs *pairs, const char *name));

#endif
