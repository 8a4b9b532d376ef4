/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_PAIRS_H
#define RR_TOOL_PAIRS_H

#include "tool/names.h"

/*
 * The common part of sub-commands that take sources and a destination on one server (mv, ln). If the
 * destination is a directory, each source gets a name in it: the source's own last name. Otherwise the only
 * source gets the destination's name.
 */
struct rr_pairs {
	const struct rr_tool *tool;
	bool keep;     /* an existing name is left alone */
	bool ask;      /* mv: before an existing name is replaced */
	bool replace;  /* an existing name is replaced, where it would be an error otherwise */
	bool symbolic; /* sources are texts, and not URLs */
	struct rr_filters filters;
	struct rr_remote to;                 /* the destination */
	struct rpcrdma_nfs_object directory; /* the directory of the new name */
	char name[RR_NFS_NAME + 1];          /* the new name; "": the source's own last name */
	/* The current source, which is open unless symbolic is set, and its outcome; of the members of struct
	 * rr_names, only tool, remote, path, last and outcome are used. */
	struct rr_names source;
	const char *text; /* the current source, as on the command line */
};

/* Reports an error of the current source: "SOURCE: WHY". Returns RR_EXIT_FAILED. */
int rr_pairs_fail(struct rr_pairs *pairs, const char *why);

/* Reports an error of the destination: "DESTINATION: WHY". Returns RR_EXIT_FAILED. */
int rr_pairs_fail_there(struct rr_pairs *pairs, const char *why);

/* Reports an error that the source or the destination can have caused: "SOURCE -> DESTINATION: WHY". Returns
 * RR_EXIT_FAILED. */
int rr_pairs_fail_both(struct rr_pairs *pairs, const char *why);

/* Tells whether the new name is that of the destination, which does not exist and ends with a slash: it can
 * only become the name of a directory. */
bool rr_pairs_want_directory(const struct rr_pairs *pairs);

/* Runs a sub-command: reads its command line, and calls each() for every source with its new name. Returns an
 * exit status. */
int rr_pairs_run(const struct rr_tool *tool, int argc, char **argv,
	int (*each)(struct rr_pairs *pairs, const char *name));

#endif
