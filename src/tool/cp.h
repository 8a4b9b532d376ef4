/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_H
#define RR_TOOL_CP_H

#include "tool/cp_pump.h"
#include "tool/cp_side.h"
#include "tool/filters.h"
#include "tool/progress.h"
#include "tool/remote.h"
#include "tool/tool.h"
#include "tool/trail.h"

/*
 * `rpcrdma cp`: cp.c takes the options and opens both ends; cp_top.c
 * finds out what is copied to where; cp_tree.c walks; cp_file.c copies one
 * file or link; cp_pump.c moves data, and cp_within.c has a server move it; cp_local.c and cp_remote.c are
 * the ends.
 */

struct rr_cp_sums {
	uint64_t files, directories, links, octets;
	uint64_t skipped; /* files that the destination has, as --update and --checksum want them */
	uint64_t names;   /* hard links to files that were copied */
	uint64_t within;  /* octets that a server copied by itself */
	uint64_t removed; /* files and directories that the source does not have */
	uint64_t resumed; /* octets that earlier copies had written */
	uint64_t failed;  /* what could not be copied, or was not as it is no file, directory or link */
};

struct rr_cp {
	const struct rr_tool *tool;
	bool recursive, quiet, json;
	bool archive;   /* owners, hard links and extended attributes are kept, too */
	bool sync;      /* `rpcrdma sync`: the destination is to become what the source is */
	bool remove;    /* what the source has not is removed */
	bool dry;       /* nothing is changed: what would be done is printed */
	bool absent;    /* of a dry run: the destination does not have the present directory */
	bool resume;    /* what an earlier copy left is gone on with, and left for a later one */
	bool update;    /* files that are not older at the destination are left as they are */
	bool checksum;  /* so are files with the same contents */
	bool streamed;  /* data was written into a device or pipe, which may be standard output */
	uint32_t umask; /* what a file gets that is made of a stream is kept from others by */
	enum rr_sparse sparse;
	uint32_t connections; /* to each server */
	struct rr_filters filters;
	struct rpcrdma_engine *engine;
	struct rr_remote remotes[2]; /* of the present source and of the destination */
	struct rr_side from, to;
	struct rr_progress progress;
	struct rr_pump pump;
	struct rr_cp_sums sums;
	struct rpcrdma_counters counters; /* of connections that were closed, and at the end of all */
	uint32_t reconnects;              /* so here */
	bool several;                     /* sources: the destination must be a directory */
	bool stop;                        /* nothing more can be copied */
	struct rr_place to_top;           /* the directory that the tree is copied to */
	void *archived;                   /* files of several names that were copied: a tree of tsearch(3) */
	bool no_xattrs;                   /* the destination takes no extended attributes */
	char xattr_names[65536];
	uint8_t xattr_value[RPCRDMA_NFS_XATTR_MAX];
	struct rr_cp_small *small;
	bool fresh;                /* the directory that is copied to was made by this copy */
	char to_path[RR_NFS_PATH]; /* of what the source is copied to, while depth is 0 */
	char from_name[RR_URL_PATH + 512],
		to_name[RR_URL_PATH + 512]; /* the top of either side, for messages */
	char path[RR_NFS_PATH]; /* from there down to what is copied now: "", "/name", "/name/name" */
	unsigned depth;
	struct rr_trail trail; /* of the source */
};

/* Says what failed on side, on whose copy of the present path; notes that it did. Returns -1. */
int rr_cp_fail(struct rr_cp *cp, struct rr_side *side);

/* The same with a text of the caller's, which does not end the work on other files. */
int rr_cp_fail_because(struct rr_cp *cp, struct rr_side *side, const char *why);

/* cp_summary.c: adds to what the summary says of connections, before the end of this one. */
void rr_cp_count(struct rr_cp *cp, const struct rr_remote *remote);

/* cp_summary.c: prints what was copied, for people or as JSON. */
void rr_cp_summary(struct rr_cp *cp);

/* cp_top.c: copies source to destination, as the command line has them. Failures were reported and counted.
 */
void rr_cp_top(struct rr_cp *cp, const char *source, const char *destination);

/* cp_tree.c: one entry, of whatever kind, under a name in a directory. from is NULL at the top, name is a
 * path then. */
void rr_cp_entry(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to, const char *to_name);

/* A file, and its name at the destination; as rr_cp_entry() takes them. */
struct rr_cp_pair {
	const struct rr_place *from;
	const char *name;
	const struct rr_info *info;
	const struct rr_place *to;
	const char *to_name;
};

/* cp.c: the option --connections, of `rpcrdma cp` and of `rpcrdma sync`. */
extern const struct rr_option rr_cp_connections[];

/* cp.c: the command line of `rpcrdma cp`, or of `rpcrdma sync`. An exit status. */
int rr_cp_run(const struct rr_tool *tool, int argc, char **argv, bool sync);

/*
 * cp_sync.c, for `rpcrdma sync`. rr_cp_sync_same(): true where the destination has the file, or the symbolic
 * link, as it is, apart from mode, owner and times, which are set then. rr_cp_sync_clear(): removes what is
 * in the way of an entry, if it may; -1 with the failure reported. rr_cp_sync_remove(): removes what the
 * source does not have; catalog: what the source has. rr_cp_sync_say(): true of a dry run, whose action is
 * printed.
 */
bool rr_cp_sync_same(struct rr_cp *cp, const struct rr_cp_pair *pair);
int rr_cp_sync_clear(struct rr_cp *cp, const struct rr_cp_pair *pair);
void rr_cp_sync_remove(struct rr_cp *cp, const struct rr_place *to, const struct rr_catalog *catalog);
bool rr_cp_sync_say(const struct rr_cp *cp, const char *action);

/* cp_same.c: how many octets the open source and the file there begin with alike. */
uint64_t rr_cp_same_beginning(struct rr_cp *cp, const struct rr_file *from, const struct rr_cp_pair *pair,
	const struct rr_info *there);

/* cp_same.c: the files have the same octets. */
bool rr_cp_same_contents(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there);

/* cp_same.c: true: the options want the file that is at the destination left as it is. */
bool rr_cp_same(struct rr_cp *cp, const struct rr_cp_pair *pair);

/* cp_tree.c: gives a directory its extended attributes, mode and times, when all that is in it was copied. */
void rr_cp_directory_end(
	struct rr_cp *cp, const struct rr_place *from, const struct rr_place *to, const struct rr_info *info);

/* cp_tree.c: what is in a directory, into another one. */
void rr_cp_contents(struct rr_cp *cp, const struct rr_place *from, const struct rr_place *to);

/*
 * cp_small.c: copies of small files, many at a time. rr_cp_small() begins that of an entry of a directory
 * (false: it is none that is quick to copy); from, to and name stay until rr_cp_small_end() of that
 * directory, which waits for all of them.
 */
enum { RR_CP_SMALL = 64 << 10, RR_CP_SMALL_ROOM = RR_CP_SMALL + 4096 };
int rr_cp_small_init(struct rr_cp *cp); /* -RPCRDMA_ERR_NOMEM */
void rr_cp_small_free(struct rr_cp *cp);
bool rr_cp_small(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to);
void rr_cp_small_end(struct rr_cp *cp, const struct rr_place *to);

/* cp_file.c: the temporary name of this number for name; and its end, with a warning where it stays. */
enum { RR_CP_TEMPORARY = 256, RR_CP_NUMBERS = 16 };
void rr_cp_temporary(const char *name, unsigned number, char temporary[RR_CP_TEMPORARY]);
void rr_cp_remove_temporary(struct rr_cp *cp, const struct rr_place *to, const char *temporary);

/* cp_archive.c, with -a: gives the copy of a file that was copied under another name one more name. 1: it was
 * not copied yet; or -1 with the failure reported. */
int rr_cp_archive_link(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_place *to, const char *to_name);
/* Notes a file that was copied under a name. */
void rr_cp_archive_note(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_place *to, const char *to_name);
void rr_cp_archive_end(struct rr_cp *cp);
/* Copies extended attributes of a file or a directory: 0, or -1 with the failure reported. */
int rr_cp_archive_xattrs(struct rr_cp *cp, const struct rr_place *from, const struct rr_place *to);

/* cp_file.c: 0, or -1 with the failure reported. */
int rr_cp_file(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to, const char *to_name);
int rr_cp_link(struct rr_cp *cp, const struct rr_place *from, const char *name, const struct rr_info *info,
	const struct rr_place *to, const char *to_name);

#endif
