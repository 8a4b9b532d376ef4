/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_CP_H
#define RR_TOOL_CP_CP_H

#include "tool/cp/exclude.h"
#include "tool/cp/pump.h"
#include "tool/cp/side.h"
#include "tool/cp/trail.h"
#include "tool/filters.h"
#include "tool/progress.h"
#include "tool/remote.h"
#include "tool/tool.h"

/*
 * `rpcrdma cp`: cp.c takes the options and opens both ends; fail.c reports failures; top.c finds out
 * what is copied to where; entry.c and tree.c walk through directories; file.c copies a file or link; pump.c
 * moves data, and within.c has a server move data by itself; local.c and remote.c are the ends.
 */

/* What was copied, for the summary. */
struct rr_cp_sums {
	uint64_t files, links, octets;
	uint64_t specials;    /* named pipes and devices */
	uint64_t directories; /* those that were made, or whose attributes were changed */
	uint64_t skipped;     /* files that the destination has already, by --update and --checksum */
	uint64_t names;       /* hard links to files that were copied */
	uint64_t within;      /* octets that a server copied by itself */
	uint64_t removed;     /* files and directories that the source does not have */
	uint64_t resumed;     /* octets that earlier copies had written */
	uint64_t vanished;    /* entries of the source that were removed while they were copied */
	uint64_t failed;      /* entries that could not be copied, or are no file, directory or link */
};

/* A copy: its options, its ends and its progress. */
struct rr_cp {
	const struct rr_tool *tool;
	bool recursive, quiet, json;
	bool preserve;  /* owners are kept, and modes whatever the umask is */
	bool keep;      /* files that are there are left, whatever they are */
	bool ask;       /* before a file that is there is written over */
	bool force;     /* a file that cannot be written is replaced */
	bool archive;   /* owners, hard links and extended attributes are kept, too */
	bool sync;      /* `rpcrdma sync`: the destination is made equal to the source */
	bool remove;    /* entries that the source does not have are removed */
	bool dry;       /* nothing is changed: the actions are printed only */
	bool absent;    /* in a dry run: the destination does not have the directory that is copied to now */
	bool resume;    /* partial files of an earlier copy are continued, and left for a later copy */
	bool update;    /* files that are not older at the destination are left as they are */
	bool checksum;  /* files with the same contents are left as they are, too */
	bool streamed;  /* data was written into a device or pipe, which may be standard output */
	uint32_t umask; /* mode bits that a new file or directory does not get without -a */
	enum rr_sparse sparse;
	uint32_t connections; /* to each server */
	uint64_t limit;       /* of pump.rate */
	struct rr_excludes excludes;
	uint64_t spared; /* entries of the destination that were not removed, as they are excluded */
	struct rr_filters filters;
	struct rpcrdma_engine *engine;
	struct rr_remote remotes[2]; /* of the present source and of the destination */
	struct rr_side from, to;
	struct rr_progress progress;
	struct rr_pump pump;
	struct rr_cp_sums sums;
	struct rpcrdma_counters counters; /* of connections that were closed; at the end of all connections */
	uint32_t reconnects;              /* likewise */
	bool several;                     /* sources: the destination must be a directory */
	bool stop;                        /* nothing more can be copied */
	struct rr_directory to_top;       /* the directory that the present tree is copied to */
	uint64_t to_top_number;           /* the fileid of to_top */
	uint64_t from_top_number;         /* the fileid of the present source */
	const char *from_path;            /* the path of the present source, for find() */
	void *archived;         /* files with several names that were copied: a tree of tsearch(3) */
	uint64_t archived_size; /* octets of memory that these take */
	int64_t times_unit;     /* ns: in which the file system times_fsid keeps times; 0: not known */
	struct rpcrdma_nfs_filesystem times_fsid; /* of the destination */
	uint64_t listed;                          /* with -a: objects whose access list is not kept */
	struct rr_cp_lists lists; /* with -a: those of the source; memory for lists.c, as the next */
	struct rr_cp_lists lists_there;
	bool inherits; /* with -a: what is made in the directory that is copied to now gets an access list */
	uint64_t unowned;        /* with -a: objects whose owner or group is a name that nobody has here */
	bool no_xattrs;          /* the destination takes no extended attributes */
	char xattr_names[65536]; /* memory for archive.c */
	uint8_t xattr_value[RPCRDMA_NFS_XATTR_MAX];
	struct rr_cp_small *small; /* the jobs of small.c */
	bool fresh;                /* the directory that is copied to now was made by this copy */
	struct rr_cp_there *there; /* the list of that directory: there.c; NULL: at the top */
	uint64_t there_octets;     /* memory that such lists take, of all directories on the way */
	char to_path[RR_NFS_PATH]; /* the path that the present source is copied to, for find() */
	char from_name[RR_REMOTE_NAME], to_name[RR_REMOTE_NAME]; /* the top of either side, for messages */
	char path[RR_TRAIL_PATH]; /* from there down to the entry that is copied now: "", "/name" or
				   * "/name/name" */
	unsigned depth;           /* of the entry that is copied now; 0: the command line names it */
	struct rr_trail trail;    /* of the source's directories that are being copied */
};

/* Takes the mode bits of the umask out of info, which describes a source. Does nothing with -a or -p. POSIX,
 * cp: the mode of a new file is that of the source, "modified by the file creation mask of the user if the -p
 * option was not specified". */
static inline void
rr_cp_mask(const struct rr_cp *cp, struct rr_info *info)
{
	if (!cp->preserve)
		info->mode &= ~cp->umask;
}

/* fail.c: reports the error of `side`, with the text in side->text and the path that is being copied, and
 * counts the failure. If the entry has vanished from the source meanwhile, warns of that instead, and counts
 * it as vanished. If side->fatal is set, also sets cp->stop, which ends the copy of other files. Returns -1.
 */
int rr_cp_fail(struct rr_cp *cp, struct rr_side *side);

/* fail.c: prints a warning about the path that is being copied, as it is on `side`. */
void rr_cp_warn(struct rr_cp *cp, const struct rr_side *side, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports a failure of `side` at the path that is being copied with the text `why`, and counts it; the copy
 * of other files goes on. Returns -1. */
int rr_cp_fail_because(struct rr_cp *cp, struct rr_side *side, const char *why);

/* summary.c: adds the connection's counters to those of the summary, before the connection is closed. */
void rr_cp_count(struct rr_cp *cp, const struct rr_remote *remote);

/* summary.c: prints what was copied, for people or as JSON. Prints nothing for people if all that there
 * was to copy has failed. */
void rr_cp_summary(struct rr_cp *cp);

/* top.c: copies source to destination, as both are named on the command line. Failures are reported and
 * counted. */
void rr_cp_top(struct rr_cp *cp, const char *source, const char *destination);

/* entry.c: copies the entry `name` of the directory `from`, of any kind, to the name to_name in the
 * directory `to`. At the top of the copy, from is NULL and name is a path. Failures are reported and
 * counted. */
void rr_cp_entry(struct rr_cp *cp, struct rr_directory *from, const char *name, const struct rr_info *info,
	struct rr_directory *to, const char *to_name);

/* A file, and its name at the destination; the members are as the parameters of rr_cp_entry(). */
struct rr_cp_pair {
	const struct rr_directory *from;
	const char *name;
	const struct rr_info *info;
	const struct rr_directory *to;
	const char *to_name;
};

/* cp.c: options of `rpcrdma cp` and of `rpcrdma sync`: --connections and --bwlimit. */
extern const struct rr_option rr_cp_both[];

/* cp.c: runs the command line of `rpcrdma cp`, or of `rpcrdma sync`. Returns an exit status. */
int rr_cp_run(const struct rr_tool *tool, int argc, char **argv, bool sync);

/* sync.c and remove.c, for `rpcrdma sync`. In a dry run, these functions change nothing, and print their
 * actions. */

/* Tells whether the destination has the same file or symbolic link already, so that it is not copied. If it
 * is a file, also sets its mode, owner and times. */
bool rr_cp_sync_same(struct rr_cp *cp, const struct rr_cp_pair *pair);
/* remove.c: if cp->remove is set, removes a directory of the destination that is in the way of a file, or a
 * file that is in the way of a directory. Returns 0, also if nothing had to be removed; -1 after a failure,
 * which was reported, or a signal. */
int rr_cp_sync_clear(struct rr_cp *cp, const struct rr_cp_pair *pair);
/* remove.c: removes the entries of the directory `to` of the destination, which rr_cp_there_begin() was
 * called for, that are not in catalog, which has the entries of the source and is sorted. Failures are
 * reported and counted. */
void rr_cp_sync_remove(struct rr_cp *cp, struct rr_directory *to, const struct rr_catalog *catalog);
/* In a dry run, prints the action ("copy") and the path of the current entry, and returns true: the caller
 * leaves the action out. Otherwise prints nothing, and returns false. */
bool rr_cp_sync_say(const struct rr_cp *cp, const char *action);
/* With --verbose, prints the action that was done, and the path of the current entry. Not for a dry run. */
void rr_cp_say_done(struct rr_cp *cp, const char *action);
/* Does the same for the entry `name` of the directory whose path is the first `length` octets of cp->path. */
void rr_cp_say_done_in(struct rr_cp *cp, const char *action, size_t length, const char *name);
/* Tells whether the object `there` of the destination has the mode, owner, group and time of modification of
 * the source already, as far as the destination lets them be set. to: a directory, for rr_cp_times_same(). */
bool rr_cp_same_attributes(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	const struct rr_info *there);

/* lists.c: access lists, with -a or -p; without, these functions do nothing. */

/* Reads the lists of an object of the source, whose fd or handle is set, for rr_cp_lists_write(). Sets
 * info->listed and, in info->mode, the rights that the group really has. Returns 0; -1 after an error, which
 * was reported. */
int rr_cp_lists_read(struct rr_cp *cp, const struct rr_directory *object, struct rr_info *info);
/* Does the same for a file that is not open. */
int rr_cp_lists_open(struct rr_cp *cp, const struct rr_cp_pair *pair, struct rr_info *info);
/* Gives a copy, which has the mode of info, the lists that were read. may_have: it may have lists that are to
 * be taken away. Returns 0, also if the destination takes no lists, which is counted; -1 after an error,
 * which was reported. */
int rr_cp_lists_write(
	struct rr_cp *cp, const struct rr_directory *object, const struct rr_info *info, bool may_have);
/* Called for a directory that is copied to, before its contents: finds out whether it gives them lists. Of
 * one that was made, takes the lists away that it was given itself. Returns as above. */
int rr_cp_lists_enter(struct rr_cp *cp, const struct rr_directory *object, bool made);
/* Tell whether the lists of a file, or of an open directory, differ from those of the copy `there`. Those of
 * a file are looked at if one of the two is known to have a list, or the rights of their groups differ, or
 * with --checksum. Sets info->listed and info->mode as rr_cp_lists_read() does. */
bool rr_cp_lists_differ(
	struct rr_cp *cp, const struct rr_cp_pair *pair, struct rr_info *info, const struct rr_info *there);
bool rr_cp_lists_differ_here(struct rr_cp *cp, const struct rr_directory *from, struct rr_info *info,
	const struct rr_directory *to, const struct rr_info *there);

/* there.c: the list of a directory of a server that is copied to. The members belong to there.c; only
 * rr_cp_sync_remove() reads the list. */
struct rr_cp_there {
	struct rr_cp_there *above; /* that of the directory above */
	const struct rr_directory *directory;
	bool listed; /* the catalog has all entries, and is sorted */
	struct rr_catalog catalog;
	uint64_t octets; /* its memory */
};
/* Called when the entries of a directory, which are in `source`, are about to be copied into the directory
 * `to`: lists what is in `to`, if that is of use. The list counts until rr_cp_there_end(). */
void rr_cp_there_begin(struct rr_cp *cp, const struct rr_directory *to, const struct rr_catalog *source,
	struct rr_cp_there *there);
void rr_cp_there_end(struct rr_cp *cp, struct rr_cp_there *there);
/* Does what look() of the destination does: asks the list, where there is one, or else the destination. */
int rr_cp_there_look(struct rr_cp *cp, const struct rr_directory *to, const char *name, struct rr_info *info);
/* Called when this copy has removed an object: the next look asks the destination. */
void rr_cp_there_forget(struct rr_cp *cp, const struct rr_directory *to, const char *name);

/* times.c: tells whether the object `there` of the destination has the time of modification of the source,
 * as its file system keeps it. May make a file in the directory `to`, and remove it. */
bool rr_cp_times_same(struct rr_cp *cp, const struct rr_directory *to, const struct rr_info *info,
	const struct rr_info *there);

/* times.c: called when mode and times of the source were set at the destination. If the version of NFS that
 * is spoken there does not hold a time of the source, which was left out then, reports that, and counts it as
 * a failure. */
void rr_cp_times_check(struct rr_cp *cp, const struct rr_info *info);
/* times.c: tells whether the version of NFS that is spoken at the destination holds the times. */
bool rr_cp_times_held(const struct rr_cp *cp, const struct rr_info *info);

/* same.c: tells whether a and b describe the same file, or the same directory: number, owner, and the
 * times of modification and change are equal; of a file the size, too. The file systems are not compared: one
 * side may see the object on a server, and the other side may see it locally, and the two name the file
 * system differently. */
bool rr_cp_same_object(const struct rr_info *a, const struct rr_info *b);

/* same.c: tells whether the directory `name` of a place of `side` is the directory at `path` of the other
 * side. Looks at both anew. Returns 1 if it is, 0 if not, and -1 after a failure, which was reported. */
int rr_cp_same_directory(struct rr_cp *cp, struct rr_side *side, const struct rr_directory *directory,
	const char *name, const char *path);

/* same.c: compares the open source with the file `there` of the destination, in whole pieces. Returns how
 * many octets at the beginning of both are equal; 0 also if the file of the destination cannot be opened. */
uint64_t rr_cp_same_beginning(struct rr_cp *cp, const struct rr_file *from, const struct rr_cp_pair *pair,
	const struct rr_info *there);

/* same.c: tells whether the source and the file `there` of the destination have the same octets. */
bool rr_cp_same_contents(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there);

/* same.c: tells whether what has the name of the copy at the destination is to be left because of -n, or
 * because the user answers the question of -i so. Asks that question. Returns false if there is nothing of
 * that name, or neither option was given. */
bool rr_cp_is_kept(struct rr_cp *cp, const struct rr_cp_pair *pair);

/* same.c: tells whether the file at the destination is to be left as it is: with --update, if it is not
 * older than the source; with --checksum, also if it has the same octets. Returns false if neither option was
 * given, or the destination has no such file. */
bool rr_cp_same(struct rr_cp *cp, const struct rr_cp_pair *pair);

/* tree.c: called for a directory `there` that the destination had before the copy, and which is open as
 * `into`; that of the source is open as `from`. If attributes are kept (cp->archive) and differ from those of
 * the source, counts the directory as copied, and in a dry run prints the action. Sets no attributes:
 * rr_cp_directory_end() does that later. */
void rr_cp_directory_there(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *into,
	const struct rr_info *info, const struct rr_info *there);

/* tree.c: gives the copy of a directory its extended attributes, mode, times and access lists, after its
 * entries were copied. made: this copy has made it. */
void rr_cp_directory_end(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to,
	const struct rr_info *info, bool made);

/* tree.c: copies a directory with all that is in it. The parameters are those of rr_cp_entry(). */
void rr_cp_directory(struct rr_cp *cp, struct rr_directory *from, const char *name,
	const struct rr_info *info, struct rr_directory *to, const char *to_name);

/* tree.c: copies the entries of the directory `from` into the directory `to`. If cp->remove is set, first
 * removes the entries of `to` that `from` does not have. If cp->absent is set (a dry run), `to` is not used.
 * Failures are reported and counted. */
void rr_cp_contents(struct rr_cp *cp, struct rr_directory *from, struct rr_directory *to);

/* tree.c: called when a directory below `directory` was entered. If depth, the level of the directory, is a
 * deep one, closes the descriptor of the directory, which may be NULL, until rr_cp_leave(). */
void rr_cp_park(struct rr_cp *cp, struct rr_side *side, struct rr_directory *directory, unsigned depth);
/* tree.c: closes the directory, and opens the directory `above`, which it was entered from, again if
 * it was parked. If that fails, above->lost is set, and the failure is reported, unless it follows from one
 * that was: directory->lost. */
void rr_cp_leave(
	struct rr_cp *cp, struct rr_side *side, struct rr_directory *directory, struct rr_directory *above);

/* small.c: copies of small files, many at a time. RR_CP_SMALL: the most octets of such a file;
 * RR_CP_SMALL_ROOM: the memory of each copy. */
enum { RR_CP_SMALL = 64 << 10, RR_CP_SMALL_ROOM = RR_CP_SMALL + 4096 };
/* Makes the memory for all copies. Returns 0, or -RPCRDMA_ERR_NOMEM. rr_cp_small_free() frees it, and may be
 * called after a failure, too. */
int rr_cp_small_init(struct rr_cp *cp);
void rr_cp_small_free(struct rr_cp *cp);
/* Begins to copy a file of a directory, under the same name; waits if too many copies are under way. Returns
 * false if rr_cp_file() must copy the file instead, for example if the file is too large. After true, the
 * caller keeps from, to and name until rr_cp_small_end(). */
bool rr_cp_small(struct rr_cp *cp, const struct rr_directory *from, const char *name,
	const struct rr_info *info, const struct rr_directory *to);
/* Waits until all files are copied into the directory `to`, those that only rr_cp_file() could copy as well.
 * After a signal, waits a few seconds at most. */
void rr_cp_small_end(struct rr_cp *cp, const struct rr_directory *to);

/* file.c: a file is made under a temporary name, and renamed when it is whole. Each target has
 * RR_CP_NUMBERS temporary names, which differ in a number from 0; the caller takes the first that is free.
 */
enum { RR_CP_TEMPORARY = 256, RR_CP_NUMBERS = 16 };
/* Stores in temporary the temporary name that a file called name has with this number. */
void rr_cp_temporary(const char *name, unsigned number, char temporary[RR_CP_TEMPORARY]);
/* Removes a temporary file. If that fails, and the file is not gone already, a message says that it stays
 * behind, and that counts as a failure. */
void rr_cp_remove_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary);
/* Called after an error of the call that was to make a temporary file or link: if no answer came (unsure),
 * the server may have made it, and it is removed. */
void rr_cp_forget_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary);
/* Reports that no file or link could be made under the temporary name, which was the last that was tried:
 * error is 1 if all these names exist, or a negative number. After an error, also does what
 * rr_cp_forget_temporary() does. Returns -1. */
int rr_cp_fail_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary, int error);

/* archive.c, with -a: if the file was copied under another name before, makes to_name a hard link to that
 * copy, unless it is one already. Returns 0; 1 if the file is still to be copied, also without -a; -1 after a
 * failure, which was reported. */
int rr_cp_archive_link(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name);
/* archive.c, with -a: notes that a file was copied to to_name. If rr_cp_archive_link() meets another name
 * of the file later, it makes a hard link to this copy. If there is no memory for the note, the later names
 * become separate copies. Does nothing without -a, or if the file has only one name. */
void rr_cp_archive_note(
	struct rr_cp *cp, const struct rr_info *info, const struct rr_directory *to, const char *to_name);
/* Forgets the files that rr_cp_archive_note() has noted. */
void rr_cp_archive_end(struct rr_cp *cp);
/* Copies the extended attributes of the open file or directory `from` to `to`. Does nothing without -a, or if
 * it is known that the destination takes none. Returns 0; -1 after a failure, which was reported. */
int rr_cp_archive_xattrs(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to);

/* file.c: rr_cp_file() copies a file, and rr_cp_link() a symbolic link. The parameters are those of
 * rr_cp_entry(). Both return 0; or -1 after a failure, which was reported. */
int rr_cp_file(struct rr_cp *cp, const struct rr_directory *from, const char *name,
	const struct rr_info *info, const struct rr_directory *to, const char *to_name);
/* Copies a symbolic link, and counts it, as rr_cp_file() copies a file; or, with -a, makes the named pipe or
 * device that info describes. */
int rr_cp_link(struct rr_cp *cp, const struct rr_directory *from, const char *name,
	const struct rr_info *info, const struct rr_directory *to, const char *to_name);

#endif
