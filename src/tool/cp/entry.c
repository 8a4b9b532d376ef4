/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "tool/cp/cp.h"

/* Copies an entry of a directory, or what the command line names, by what it is. */

/* Counts a file that is not copied, as the destination has it already. Also adds its size to the progress,
 * unless the command line names the file itself (cp->depth is 0). */
static void
entry_skip(struct rr_cp *cp, const struct rr_info *info)
{
	cp->sums.skipped++;
	if (cp->depth > 0)
		rr_progress_add(&cp->progress, info->size);
}

/* Copies a file, unless the destination has it already. A file that was copied under another name becomes a
 * hard link to that copy. Small files are copied by small.c, many at a time. In a dry run, the action is
 * only printed. */
static void
entry_copy_file(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	if (!cp->dry && rr_cp_archive_link(cp, pair->info, pair->to, pair->to_name) <= 0)
		return;
	if (cp->sync ? rr_cp_sync_same(cp, pair) : rr_cp_same(cp, pair)) {
		entry_skip(cp, pair->info);
		rr_cp_archive_note(cp, pair->info, pair->to, pair->to_name);
		return;
	}
	if (rr_cp_sync_say(cp, "copy")) {
		cp->sums.files++;
		cp->sums.octets += pair->info->size;
		return;
	}
	if (rr_cp_small(cp, pair->from, pair->name, pair->info, pair->to))
		return;
	if (rr_cp_file(cp, pair->from, pair->name, pair->info, pair->to, pair->to_name) == 0)
		rr_cp_archive_note(cp, pair->info, pair->to, pair->to_name);
}

/* Copies a symbolic link, unless `rpcrdma sync` finds that the destination has the same link already. In a
 * dry run, the action is only printed and counted. */
static void
entry_copy_link(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	if (cp->sync && rr_cp_sync_same(cp, pair))
		entry_skip(cp, pair->info);
	else if (rr_cp_sync_say(cp, "copy"))
		cp->sums.links++;
	else
		rr_cp_link(cp, pair->from, pair->name, pair->info, pair->to, pair->to_name);
}

/* With -a, makes a named pipe or device anew at the destination, unless `rpcrdma sync` finds that there is
 * the same already. A socket belongs to the process that made it, so it is left out, and so is everything
 * without -a; a message says so, which counts as a failure. */
static void
entry_copy_special(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	uint32_t type = pair->info->type;

	if (type != S_IFIFO && type != S_IFCHR && type != S_IFBLK)
		rr_cp_fail_because(cp, &cp->from, "left out: it is a socket, which only a program can make");
	else if (!cp->archive)
		rr_cp_fail_because(cp, &cp->from,
			type == S_IFIFO ? "left out: it is a named pipe; -a makes it anew"
					: "left out: it is a device; -a makes it anew");
	else if (cp->sync && rr_cp_sync_same(cp, pair))
		entry_skip(cp, pair->info);
	else if (rr_cp_sync_say(cp, "copy"))
		cp->sums.specials++;
	else
		rr_cp_link(cp, pair->from, pair->name, pair->info, pair->to, pair->to_name);
}

void
rr_cp_entry(struct rr_cp *cp, struct rr_directory *from, const char *name, const struct rr_info *info,
	struct rr_directory *to, const char *to_name)
{
	const struct rr_cp_pair pair = { from, name, info, to, to_name };

	if (rr_tool_interrupted(NULL)) {
		rr_cp_fail_because(cp, &cp->to, "interrupted");
		cp->stop = true;
		return;
	}
	if (cp->sync && rr_cp_sync_clear(cp, &pair) < 0)
		return;
	if (info->kind != RR_KIND_DIRECTORY && info->kind != RR_KIND_NONE && rr_cp_is_kept(cp, &pair)) {
		entry_skip(cp, info);
		return;
	}
	/* Only those of files and directories are kept. */
	cp->listed +=
		cp->preserve && info->listed && info->kind != RR_KIND_FILE && info->kind != RR_KIND_DIRECTORY;
	cp->unowned += cp->archive && !rr_cp_is_owned(info);
	switch (info->kind) {
	case RR_KIND_FILE: entry_copy_file(cp, &pair); break;
	case RR_KIND_LINK: entry_copy_link(cp, &pair); break;
	case RR_KIND_DIRECTORY: rr_cp_directory(cp, from, name, info, to, to_name); break;
	/* The object is gone meanwhile, which is no error. */
	case RR_KIND_NONE: break;
	case RR_KIND_STREAM:
	case RR_KIND_OTHER:
		/* A device or pipe that the command line names is read to its end. With -r, only "-" is. */
		if (info->kind == RR_KIND_STREAM && from == NULL && (!cp->recursive || info->type == 0))
			rr_cp_file(cp, from, name, info, to, to_name);
		else
			entry_copy_special(cp, &pair);
		break;
	}
}
