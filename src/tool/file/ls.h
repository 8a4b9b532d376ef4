/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_FILE_LS_H
#define RR_TOOL_FILE_LS_H

#include "tool/cp/catalog.h"
#include "tool/cp/trail.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* `rpcrdma ls`: ls.c walks through URLs and directories, ls_print.c prints names. */

/* The most octets of the name of a directory in a message. */
enum { RR_LS_WHERE = 4096 };

/* `rpcrdma ls` at work. */
struct rr_ls {
	const struct rr_tool *tool;
	struct rr_remote how;    /* how each URL is opened */
	struct rr_remote remote; /* the server of the current URL */
	struct rr_trail trail;   /* from the URL's directory down to the directory that is listed */
	uint64_t octets;         /* octets of memory for the names of the directories on the trail */
	struct rr_filters filters;
	bool by_time, one;                          /* the options -t and -1, which changes nothing */
	bool is_long, all, recursive, human, json;  /* the options -l, -a, -R, -h and --json */
	bool headed;                                /* each directory has a line with its name */
	size_t printed;                             /* lines, or objects of JSON */
	char where[RR_TRAIL_PATH + RR_REMOTE_NAME]; /* the name of the directory that is listed: that of the
						     * URL, and the names below it */
	bool cut_off; /* a call got no answer: the other entries of the directory are left out */
};

/* Tells whether the options ask for names alone, so that no attributes are needed. */
bool rr_ls_only_names(const struct rr_ls *ls);

/* Tells whether an entry is not shown, as its name begins with a dot and -a was not given. The name of a URL
 * itself is always shown. */
bool rr_ls_is_hidden(const struct rr_ls *ls, const struct rr_catalog_entry *entry);

/* Reports the server's last error as "WHERE/NAME: TEXT": where is a directory, and name a name in it, or
 * NULL. Returns RR_EXIT_FAILED. */
int rr_ls_fail(const struct rr_ls *ls, const char *where, const char *name);

/* Does the same for a call about an entry that has ended with `error`. Sets ls->cut_off if the server has not
 * answered the call; otherwise other entries may still be listed. */
int rr_ls_fail_entry(struct rr_ls *ls, const char *where, const char *name, int error);

/* Tells whether `error`, of a call about the entry `name` of the directory `where`, or about this directory
 * itself if name is NULL, comes from the removal of that object since it was listed: nothing has its path any
 * more, but what the URL names is still there. */
bool rr_ls_has_vanished(struct rr_ls *ls, const char *where, const char *name, int error);

/* Prints the line of an entry of the directory `where`, unless the entry is hidden. Returns an exit status,
 * after a message if it is not OK. */
int rr_ls_print(struct rr_ls *ls, const char *where, const struct rr_catalog_entry *entry);

/* Prints a line with the name of the directory `where`, which stands above its entries; in front of that, an
 * empty line if something was printed before. Prints nothing with --json, or if only one directory is
 * listed. */
void rr_ls_print_head(struct rr_ls *ls, const char *where);

#endif
