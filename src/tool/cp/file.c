/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "tool/cp/cp.h"

/*
 * The copy of a file or a symbolic link.
 *
 * A new file is made under a temporary name beside its place, and renamed when it is whole, so that nobody
 * ever sees half of it; the temporary file is removed whatever goes wrong. A file that exists is written in
 * place, as cp(1) does: it keeps its owner, mode, access lists and other names, and a user who may not
 * write to the file cannot replace it. If a new file with the old mode would lose nothing of that, as a
 * server can tell, the old file is replaced.
 *
 * A symbolic link at the destination is followed only if the user named it. Below a directory that is copied
 * it is replaced: the source may belong to another user, who could make it lead anywhere.
 */

/*
 * A program that is killed leaves its temporary file behind. So there are only RR_CP_NUMBERS names for each
 * target: the first free name is taken, and the files of the names in front of it are removed if they were
 * not written to for STALE seconds. A temporary name has at most the first KEPT_OF_NAME octets of the
 * target's name, so that it is never too long.
 */
enum { KEPT_OF_NAME = 200, STALE = 3600 };

/* The octets of a file from which on a message tells of --resume. */
enum { WORTH_RESUMING = 32 << 20 };

void
rr_cp_temporary(const char *name, unsigned number, char temporary[RR_CP_TEMPORARY])
{
	snprintf(temporary, RR_CP_TEMPORARY, ".%.*s.rpcrdma-%u", KEPT_OF_NAME, name, number);
}

/* Removes a temporary file. A failure of that is reported and counted, but does not replace the earlier error
 * of the destination, which is still to be reported. */
void
rr_cp_remove_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary)
{
	struct rr_text before = cp->to.text;
	bool fatal = cp->to.fatal, gone = cp->to.gone;

	if (cp->to.ops->remove(&cp->to, to, temporary) < 0 && !cp->to.gone) {
		rr_cp_warn(cp, &cp->to, "the temporary file %s beside it stays behind: %s", temporary,
			cp->to.text.text);
		cp->sums.failed++;
	}
	cp->to.text = before;
	cp->to.fatal = fatal;
	cp->to.gone = gone;
}

void
rr_cp_forget_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary)
{
	struct rr_info made;
	int error;

	if (!cp->to.unsure)
		return;
	/* After an interruption, calls to a server go on only between these two. */
	if (cp->to.nfs)
		rr_nfs_cleaning(cp->to.nfs, true);
	error = cp->to.ops->look(&cp->to, to, temporary, &made);
	if (cp->to.nfs)
		rr_nfs_cleaning(cp->to.nfs, false);
	/* A file that has octets, and no other name, is that of another copy. */
	if (error || made.kind == RR_KIND_NONE || made.kind == RR_KIND_DIRECTORY ||
		(made.kind == RR_KIND_FILE && made.size > 0 && made.links == 1))
		return;
	rr_cp_remove_temporary(cp, to, temporary);
}

int
rr_cp_fail_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *temporary, int error)
{
	if (error == 1)
		return rr_cp_fail_because(cp, &cp->to, "too many copies to it are under way");
	rr_cp_fail(cp, &cp->to);
	rr_cp_forget_temporary(cp, to, temporary);
	return -1;
}

/* Removes the temporary files and symbolic links of the target to_name that have a number below `number`, and
 * to which nothing was written for an hour: interrupted copies left them. made is the time, by the clock of
 * the destination, at which the present temporary object was made. */
static void
file_remove_stale(struct rr_cp *cp, const struct rr_directory *to, const char *to_name, unsigned number,
	struct timespec made)
{
	char temporary[RR_CP_TEMPORARY];
	struct rr_info old;

	while (number-- > 0) {
		rr_cp_temporary(to_name, number, temporary);
		if (cp->to.ops->look(&cp->to, to, temporary, &old) == 0 &&
			(old.kind == RR_KIND_FILE || old.kind == RR_KIND_LINK) &&
			old.mtime.tv_sec + STALE < made.tv_sec)
			cp->to.ops->remove(&cp->to, to, temporary);
	}
}

/* Stores in *there the file that the destination has under the name to_name. If the command line names the
 * source itself (cp->depth is 0), follows a symbolic link of the name to_name; a link that leads nowhere is
 * an error. Returns 0; -1 after an error, which was reported. */
static int
file_find_target(struct rr_cp *cp, const struct rr_directory *to, const char *to_name, struct rr_info *there)
{
	struct rr_info link;

	if (cp->depth > 0)
		return cp->to.ops->look(&cp->to, to, to_name, there) < 0 ? rr_cp_fail(cp, &cp->to) : 0;
	if (cp->to.ops->find(&cp->to, cp->to_path, true, there) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (there->kind != RR_KIND_NONE)
		return 0;
	if (cp->to.ops->look(&cp->to, to, to_name, &link) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (link.kind == RR_KIND_LINK)
		return rr_cp_fail_because(
			cp, &cp->to, "it is a symbolic link to what does not exist, and is not followed");
	return 0;
}

/* Tells whether the copy replaces a device or pipe of its name, rather than writes into it: `rpcrdma sync`
 * does below the directory that the command line names. */
static bool
file_replaces(const struct rr_cp *cp)
{
	return cp->sync && cp->depth > 0;
}

/* Checks that `there`, the object that the destination has under the name of the copy, may be written or
 * replaced. Returns 0; -1 if not, after a message with the reason. */
static int
file_check_target(struct rr_cp *cp, const struct rr_info *info, const struct rr_info *there)
{
	bool replaces = file_replaces(cp);
	const char *why = NULL;

	if (there->kind == RR_KIND_DIRECTORY)
		why = "there is a directory of this name, which will not be replaced";
	if (there->kind == RR_KIND_OTHER && !replaces)
		why = "it is a socket, or a device or named pipe of the server: nothing can be written to it";
	if (there->kind == RR_KIND_STREAM && info->kind == RR_KIND_LINK && !replaces)
		why = "it is a device or a named pipe, which will not be replaced by a link";
	if (rr_cp_same_object(info, there))
		why = "the source and the destination are the same file";
	return why ? rr_cp_fail_because(cp, &cp->to, why) : 0;
}

/* Renames the temporary file to to_name, its name at the destination, so that it replaces an old file of that
 * name. Returns 0; -1 after an error, which was reported. */
static int
file_put_in_place(struct rr_cp *cp, const struct rr_directory *to, const char *temporary, const char *to_name)
{
	if (cp->to.ops->rename(&cp->to, to, temporary, to_name) == 0)
		return 0;
	return rr_cp_fail(cp, &cp->to);
}

/* The copy of a file. */
struct file_copying {
	struct rr_cp *cp;
	const struct rr_directory *to; /* the directory of the target, and its name there */
	const char *to_name;
	struct rr_info info, there; /* of the source; of the object that the destination has under to_name */
	struct rr_file source, target;
	char temporary[RR_CP_TEMPORARY]; /* "": the target is written in place */
};

/* Copies the extended attributes (cp -a) of the open source to the open target; does nothing if one of them
 * is a stream. Returns 0; -1 after an error, which was reported. */
static int
file_copy_xattrs(const struct file_copying *copying)
{
	const struct rr_file *source = &copying->source, *target = &copying->target;

	if (source->stream || target->stream)
		return 0;
	return rr_cp_archive_xattrs(copying->cp,
		&(struct rr_directory){ .fd = source->fd, .handle = source->handle },
		&(struct rr_directory){ .fd = target->fd, .handle = target->handle });
}

/* Sets mode, times and access lists of the target, which has all its data. Returns 0; -1 after an error,
 * which was reported. */
static int
file_finish(struct file_copying *copying)
{
	struct rr_side *to = &copying->cp->to;
	struct rr_file *target = &copying->target;

	if (to->ops->finish(target, &copying->info) < 0)
		return rr_cp_fail(copying->cp, to);
	if (!copying->source.stream && !target->stream &&
		rr_cp_lists_write(copying->cp,
			&(struct rr_directory){ .fd = target->fd, .handle = target->handle }, &copying->info,
			target->in_place || copying->cp->inherits || copying->cp->depth == 0) < 0)
		return -1;
	rr_cp_times_check(copying->cp, &copying->info);
	return 0;
}

/* Copies data and extended attributes into the target, which is open, and sets its mode and times. After an
 * error, warns if an old file was partly written over; as long as target->empty_first is set, the old file
 * still has all its octets. Returns 0; -1 after an error, which was reported. */
static int
file_fill(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;
	struct rr_file *target = &copying->target;
	int error = rr_pump_copy(&cp->pump, &copying->source, target, &copying->info) < 0
			    ? rr_cp_fail(cp, cp->pump.failed)
			    : file_copy_xattrs(copying);

	if (!error)
		error = file_finish(copying);
	if (error && target->in_place && !target->stream && !target->empty_first)
		rr_cp_warn(cp, &cp->to, "it was written over, and is incomplete");
	return error;
}

/* Creates the target under the first temporary name that is free. Then removes the temporary files of
 * interrupted copies. Returns 0; -1 after an error, which was reported. */
static int
file_create_temporary(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;
	unsigned number = 0;
	int error;

	do {
		rr_cp_temporary(copying->to_name, number, copying->temporary);
		error = cp->to.ops->create(
			&cp->to, copying->to, copying->temporary, copying->info.size, &copying->target);
	} while (error == 1 && ++number < RR_CP_NUMBERS);
	if (error) {
		rr_cp_fail_temporary(cp, copying->to, copying->temporary, error);
		copying->temporary[0] = '\0';
		return -1;
	}
	file_remove_stale(cp, copying->to, copying->to_name, number, copying->target.made);
	return 0;
}

/* With --resume, opens the temporary file that an interrupted copy has left, if it begins with the same
 * octets as the source. Cuts the temporary file off behind these octets, so that the copy goes on there. Does
 * not use a file that has further names (hard links), as these would get the new data, too. Returns 0; 1 if a
 * new temporary file is to be made, as there is no such file, or --resume was not given, or the source is a
 * stream; -1 after an error, which was reported. */
static int
file_go_on(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;
	struct rr_cp_pair pair = { .to = copying->to, .to_name = copying->temporary };
	uint8_t verifier[NFS3_WRITEVERFSIZE];
	struct rr_info old;
	uint64_t kept;

	if (!cp->resume || copying->source.stream)
		return 1;
	rr_cp_temporary(copying->to_name, 0, copying->temporary);
	if (cp->to.ops->look(&cp->to, copying->to, copying->temporary, &old) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (old.kind != RR_KIND_FILE || old.links != 1)
		return 1;
	/* The octets are stored before they are compared, so that no restart of the server takes them away
	 * afterwards. */
	if (cp->to.nfs && rpcrdma_nfs_commit(cp->to.nfs, &old.handle, verifier, NULL) != 0)
		return 1;
	kept = rr_cp_same_beginning(cp, &copying->source, &pair, &old);
	if (kept == 0)
		return 1;
	kept = rr_min(kept, copying->info.size);
	if (cp->to.ops->go_on(&cp->to, copying->to, copying->temporary, &old, kept, &copying->target) < 0)
		return rr_cp_fail(cp, &cp->to);
	cp->sums.resumed += kept;
	return 0;
}

/* Opens the temporary file that an interrupted copy has left (--resume), or else creates a new one. Returns
 * 0; -1 after an error, which was reported. */
static int
file_create_or_go_on(struct file_copying *copying)
{
	int error = file_go_on(copying);

	return error == 1 ? file_create_temporary(copying) : error;
}

/* Creates a temporary file that will replace the old file, or goes on with the one that an interrupted copy
 * has left (--resume). Without -a, the new file is to get the mode of the old file, and must have the same
 * owner and group. If owner or group differ, removes the new file, and opens the old file to be written in
 * place. Returns 0; -1 after an error, which was reported. */
static int
file_create_like(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;
	const struct rr_info *there = &copying->there;

	if (file_create_or_go_on(copying) < 0)
		return -1;
	if (cp->preserve)
		return 0;
	copying->info.mode = there->mode;
	if (copying->target.uid == there->uid && copying->target.gid == there->gid)
		return 0;
	cp->sums.resumed -= copying->target.kept;
	cp->to.ops->close(&copying->target);
	rr_cp_remove_temporary(cp, copying->to, copying->temporary);
	copying->temporary[0] = '\0';
	/* Without a directory, a server's overwrite() never asks for a new file. It uses the handle in
	 * `there`. */
	if (cp->to.ops->overwrite(&cp->to, NULL, copying->to_name, there, &copying->target) < 0)
		return rr_cp_fail(cp, &cp->to);
	return 0;
}

/* Opens the existing target to be written over. If overwrite() returns 1, as nothing of the target is lost if
 * a new file replaces it, creates a temporary file instead. If the command line names the target, and its
 * last name is a symbolic link, the file behind the link is opened by its path. Returns 0; -1 after an error,
 * which was reported. */
static int
file_open_existing(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;
	const struct rr_info *there = &copying->there;
	struct rr_info itself = *there;
	bool through_link;
	int result;

	if (cp->depth == 0 && cp->to.ops->look(&cp->to, copying->to, copying->to_name, &itself) < 0)
		return rr_cp_fail(cp, &cp->to);
	through_link = itself.kind != there->kind;
	result = cp->to.ops->overwrite(&cp->to, through_link ? NULL : copying->to,
		through_link ? cp->to_path : copying->to_name, there, &copying->target);
	/* cp(1), -f: "if an existing destination file cannot be opened, remove it and try again": a new file
	 * takes its place, when it is whole. */
	if (result < 0 && cp->force && !cp->to.fatal && !through_link && there->kind == RR_KIND_FILE)
		return file_create_or_go_on(copying);
	if (result < 0)
		return rr_cp_fail(cp, &cp->to);
	return result == 1 ? file_create_like(copying) : 0;
}

/* Describes a device, a pipe or standard input as the source of a copy: its size is not known, and the copy
 * gets a default mode and the present time. */
static void
file_describe_stream(struct rr_info *info)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*info = (struct rr_info){
		.kind = RR_KIND_STREAM,
		.mode = 0666,
		.size = RR_SIZE_UNKNOWN,
		.atime = now,
		.mtime = now,
	};
}

/* Stores in copying->info what the open source is now: its attributes may have changed since its directory
 * was read. Returns 0; -1 after an error, which was reported: for example, the source is no regular file any
 * more. */
static int
file_describe_source(struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;

	if (copying->source.stream && copying->info.kind != RR_KIND_STREAM)
		return rr_cp_fail_because(cp, &cp->from, "it is no regular file any more");
	if (copying->source.stream)
		file_describe_stream(&copying->info);
	else if (cp->from.ops->describe(&copying->source, &copying->info) < 0)
		return rr_cp_fail(cp, &cp->from);
	rr_cp_mask(cp, &copying->info);
	return copying->source.stream ? 0
				      : rr_cp_lists_read(cp,
						&(struct rr_directory){ .fd = copying->source.fd,
							.handle = copying->source.handle },
						&copying->info);
}

/* Tells whether the temporary file is kept after a failure, so that a later copy with --resume can go on with
 * it. If it is kept, prints a message that says so. */
static bool
file_stays(const struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;

	if (!cp->resume || copying->source.stream)
		return false;
	rr_cp_warn(cp, &cp->to, "what was copied stays in %s beside it, for --resume", copying->temporary);
	return true;
}

/* Tells, after the copy of a large file was interrupted, how the next one could go on: --resume has to be
 * given before. `rpcrdma sync` does not have that option. */
static void
file_tell_of_resume(const struct file_copying *copying)
{
	struct rr_cp *cp = copying->cp;

	if (rr_tool_interrupted(NULL) && !cp->sync && !copying->source.stream &&
		copying->info.size >= WORTH_RESUMING)
		rr_cp_warn(cp, &cp->to,
			"what was copied was removed; a copy with --resume leaves it, and a later one goes "
			"on with it");
}

/* Copies the source, which is open, to its target: opens or creates the target, fills it, and renames it if
 * it has a temporary name. After an error, removes the temporary file, unless --resume keeps it. Returns 0;
 * -1 after an error, which was reported. */
static int
file_copy_open(struct file_copying *copying)
{
	enum rr_kind there = copying->there.kind;
	struct rr_cp *cp = copying->cp;
	int error = file_describe_source(copying);

	if (error)
		return error;
	/* `cp` writes over an existing file; `sync` makes a new file that replaces it. Both make a new file
	 * if a link or nothing has this name, and write to a device or pipe that is not to be replaced. */
	error = (there == RR_KIND_FILE && !cp->sync) || (there == RR_KIND_STREAM && !file_replaces(cp))
			? file_open_existing(copying)
			: file_create_or_go_on(copying);
	if (error)
		return error;
	/* The command line names this file, so its size is that of the whole copy. */
	if (cp->depth == 0 && copying->info.kind == RR_KIND_FILE)
		rr_progress_expect(&cp->progress, copying->info.size);
	rr_progress_file(&cp->progress, cp->path[0] ? cp->path + 1 : copying->to_name, copying->info.size);
	error = file_fill(copying);
	cp->to.ops->close(&copying->target);
	if (!error && copying->temporary[0])
		error = file_put_in_place(cp, copying->to, copying->temporary, copying->to_name);
	if (error && copying->temporary[0] && !file_stays(copying)) {
		rr_cp_remove_temporary(cp, copying->to, copying->temporary);
		file_tell_of_resume(copying);
	}
	if (error)
		return error;
	cp->streamed |= copying->target.stream;
	rr_cp_say_done(cp, "copy");
	cp->sums.files++;
	cp->sums.octets += copying->info.size;
	cp->sums.within += cp->pump.copied_within;
	return 0;
}

int
rr_cp_file(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to, const char *to_name)
{
	struct file_copying copying = { .cp = cp, .to = to, .to_name = to_name, .info = *info };
	int error;

	if (file_find_target(cp, to, to_name, &copying.there) < 0 ||
		file_check_target(cp, info, &copying.there) < 0)
		return -1;
	if (cp->from.ops->open(&cp->from, from, name, info, &copying.source) < 0)
		return rr_cp_fail(cp, &cp->from);
	error = file_copy_open(&copying);
	cp->from.ops->close(&copying.source);
	return error;
}

/* Puts in front of the error of `side` that it was the making of a named pipe or device that failed. */
static void
file_explain_special(struct rr_side *side, const struct rr_info *info)
{
	struct rr_text why = side->text;

	rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s cannot be made there: %s",
		info->type == S_IFIFO ? "a named pipe" : "a device", why.text);
}

/* Makes a symbolic link to `target`, or, if info describes one, a named pipe or device, under the first
 * temporary name that is free, which is stored in temporary. Then, if some of these names were taken, removes
 * what interrupted copies have left under them. Returns 0; -1 after an error, which was reported. */
static int
file_make_temporary(struct rr_cp *cp, const struct rr_directory *to, const char *to_name,
	const struct rr_info *info, const char *target, char temporary[RR_CP_TEMPORARY])
{
	struct rr_info made;
	unsigned number = 0;
	int error;

	do {
		rr_cp_temporary(to_name, number, temporary);
		error = info->kind == RR_KIND_LINK ? cp->to.ops->make_link(&cp->to, to, temporary, target)
						   : cp->to.ops->make_special(&cp->to, to, temporary, info);
	} while (error == 1 && ++number < RR_CP_NUMBERS);
	if (error < 0 && info->kind != RR_KIND_LINK)
		file_explain_special(&cp->to, info);
	if (error)
		return rr_cp_fail_temporary(cp, to, temporary, error);
	if (number > 0 && cp->to.ops->look(&cp->to, to, temporary, &made) == 0)
		file_remove_stale(cp, to, to_name, number, made.mtime);
	return 0;
}

/* Checks that a link, named pipe or device may have the name to_name, and stores the target of a link in
 * target. Returns 0; -1 after a message, if there is a directory of that name, or if a link would replace a
 * device, or after an error, which was reported. */
static int
file_prepare_link(struct rr_cp *cp, const struct rr_cp_pair *pair, char target[RR_NFS_PATH])
{
	const struct rr_info *info = pair->info;
	struct rr_info there;

	if (cp->to.ops->look(&cp->to, pair->to, pair->to_name, &there) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (info->kind != RR_KIND_LINK)
		return there.kind == RR_KIND_DIRECTORY ? file_check_target(cp, info, &there) : 0;
	if (file_check_target(cp, info, &there) < 0)
		return -1;
	if (cp->from.ops->read_link(&cp->from, pair->from, pair->name, info, target) < 0)
		return rr_cp_fail(cp, &cp->from);
	return 0;
}

/* Makes a symbolic link with the target of the source, or a named pipe or device, under a temporary name and,
 * with -a, sets its owner and times. Then renames it to to_name, so that it replaces what has that name.
 * Returns 0; -1 after an error, which was reported. */
int
rr_cp_link(struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info,
	const struct rr_directory *to, const char *to_name)
{
	const struct rr_cp_pair pair = { from, name, info, to, to_name };
	char temporary[RR_CP_TEMPORARY], target[RR_NFS_PATH] = "";
	int error;

	if (file_prepare_link(cp, &pair, target) < 0 ||
		file_make_temporary(cp, to, to_name, info, target, temporary) < 0)
		return -1;
	if (cp->preserve && cp->to.ops->set_link(&cp->to, to, temporary, info) < 0)
		error = rr_cp_fail(cp, &cp->to);
	else
		error = file_put_in_place(cp, to, temporary, to_name);
	if (error) {
		rr_cp_remove_temporary(cp, to, temporary);
		return error;
	}
	if (cp->preserve)
		rr_cp_times_check(cp, info);
	rr_cp_say_done(cp, "copy");
	if (info->kind == RR_KIND_LINK)
		cp->sums.links++;
	else
		cp->sums.specials++;
	return 0;
}
