/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_LS_H
#define RR_TOOL_LS_H

#include "tool/catalog.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"
#include "tool/trail.h"

/* `rpcrdma ls`: ls.c walks through URLs and directories, ls_print.c prints names. */

struct rr_ls {
	const struct rr_tool *tool;
	struct rr_remote how;    /* how each URL is opened */
	struct rr_remote remote; /* the server of the present URL */
	struct rr_trail trail;   /* from the URL's directory down to the directory that is listed */
	uint64_t octets;         /* octets of memory for the names of the directories on the trail */
	struct rr_filters filters;
	bool is_long, all, recursive, human, json;
	bool headed;    /* each directory has a line with its name */
	size_t printed; /* lines, or objects of JSON */
};

/* Tells whether names alone are printed, which need no attributes. */
bool rr_ls_only_names(const struct rr_ls *ls);

/* Tells whether an entry is left out, as its name begins with a dot. A name in the URL is always shown. */
bool rr_ls_is_hidden(const struct rr_ls *ls, const struct rr_catalog_entry *entry);

/* Reports the server's error: "WHERE/NAME: TEXT"; where is a directory, and name, which may be NULL, a name
 * in it. Returns RR_EXIT_FAILED. */
int rr_ls_fail(const struct rr_ls *ls, const char *where, const char *name);

/* Prints a name in the directory `where`, unless it is hidden. Returns an exit status, after a message if it
 * is not OK. */
int rr_ls_print(struct rr_ls *ls, const char *where, const struct rr_catalog_entry *entry);

/* Prints the line above the names of a directory, if there are several directories. */
void rr_ls_print_head(struct rr_ls *ls, const char *where);

#endif
