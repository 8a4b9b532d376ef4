/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tool/cp/cp.h"

/* Copies directories, entry by entry. A failure is reported, and the other entries are copied
 * nevertheless. */

/* Appends the name of an entry to cp->path, the path of its directory, which is so long. Returns false, and
 * leaves the path as it is, if there is no room for the name. */
static bool
tree_name_entry(struct rr_cp *cp, size_t length, const char *name)
{
	size_t room = sizeof(cp->path) - length;

	if ((size_t)snprintf(cp->path + length, room, "/%s", name) < room)
		return true;
	cp->path[length] = '\0';
	return false;
}

/* Adds the sizes of the files of this directory to the total that the progress line shows, but for those that
 * are excluded. The total grows with each directory that is read. A file of a server is left out if the list
 * of the directory has no attributes of it. */
static void
tree_expect_all(struct rr_cp *cp, const struct rr_directory *from, const struct rr_catalog *catalog)
{
	size_t length = strlen(cp->path);

	for (size_t i = 0; i < catalog->count && cp->progress.enabled; i++) {
		const struct rr_catalog_entry *entry = &catalog->entries[i];
		struct rr_info info;

		if (cp->from.nfs && !entry->object)
			continue;
		if (cp->from.ops->examine(&cp->from, from, entry, &info) < 0 || info.kind != RR_KIND_FILE)
			continue;
		if (tree_name_entry(cp, length, entry->name) &&
			!rr_exclude_has(&cp->excludes, cp->path, false))
			rr_progress_expect(&cp->progress, info.size);
		cp->path[length] = '\0';
	}
}

/* Reads the names of the directory `from` into the catalog. Returns false, after a message, if the directory
 * could not be read completely, or the tree seems to be endless. */
static bool
tree_list_directory(struct rr_cp *cp, const struct rr_directory *from, struct rr_catalog *catalog)
{
	bool whole = cp->from.ops->list(&cp->from, from, catalog) == 0;
	const char *endless;

	if (!whole)
		rr_cp_fail(cp, &cp->from);
	endless = rr_trail_count(&cp->trail, catalog->count);
	if (!endless)
		return whole;
	rr_cp_fail_because(cp, &cp->from, endless);
	cp->stop = true;
	return false;
}

/* Called before an entry of the directories `from` and `to` is copied that is a directory itself. At a level
 * whose directories are parked meanwhile, waits for the jobs that copy files between the two. cp->path has
 * the entry, whose name begins at `length`. */
static void
tree_await_jobs(struct rr_cp *cp, const struct rr_directory *to, size_t length)
{
	if (cp->depth <= RR_TRAIL_OPEN)
		return;
	cp->path[length] = '\0';
	rr_cp_small_end(cp, to);
	cp->path[length] = '/';
}

void
rr_cp_contents(struct rr_cp *cp, struct rr_directory *from, struct rr_directory *to)
{
	const uint64_t before = cp->trail.octets;
	struct rr_catalog catalog = { .octets = before };
	struct rr_cp_there there;
	size_t length = strlen(cp->path);
	bool whole = tree_list_directory(cp, from, &catalog);

	cp->trail.octets = catalog.octets;
	rr_catalog_sort(&catalog);
	rr_cp_there_begin(cp, to, &catalog, &there);
	/* An entry is removed only if the source was read whole: otherwise the source may still have it. */
	if (cp->remove && whole && !cp->absent)
		rr_cp_sync_remove(cp, to, &catalog);
	tree_expect_all(cp, from, &catalog);
	for (size_t i = 0; i < catalog.count && !cp->stop && !from->lost && !to->lost; i++) {
		const struct rr_catalog_entry *entry = &catalog.entries[i];
		struct rr_info info = { .kind = RR_KIND_NONE };

		if (!tree_name_entry(cp, length, entry->name)) {
			rr_cp_fail_because(cp, &cp->from, "the path of what is in it is too long");
			continue;
		}
		if (cp->from.ops->examine(&cp->from, from, entry, &info) < 0)
			rr_cp_fail(cp, &cp->from);
		else if (info.kind == RR_KIND_DIRECTORY)
			tree_await_jobs(cp, to, length);
		/* NONE: the entry is gone since the directory was read, or the error was reported. */
		if (info.kind != RR_KIND_NONE &&
			!rr_exclude_has(&cp->excludes, cp->path, info.kind == RR_KIND_DIRECTORY))
			rr_cp_entry(cp, from, entry->name, &info, to, entry->name);
		cp->path[length] = '\0';
	}
	rr_cp_small_end(cp, to);
	rr_cp_there_end(cp, &there);
	rr_catalog_free(&catalog);
	cp->trail.octets = before;
}

/* Tells, for a dry run, whether the destination has no directory to_name. Returns true also if the
 * destination cannot be examined. */
static bool
tree_is_absent(struct rr_cp *cp, const struct rr_directory *to, const char *to_name)
{
	struct rr_info there;

	return cp->absent || rr_cp_there_look(cp, to, to_name, &there) < 0 || there.kind != RR_KIND_DIRECTORY;
}

/* Notes the directory into which the whole tree is copied: `into`, which tree_prepare() has just opened.
 * *there describes what had the name to_name before. Returns 0; -1 after an error, which was reported. */
static int
tree_note_top(struct rr_cp *cp, const struct rr_directory *to, const char *to_name,
	const struct rr_directory *into, const struct rr_info *there)
{
	struct rr_info top = *there;

	if (there->kind == RR_KIND_NONE && cp->to.ops->look(&cp->to, to, to_name, &top) < 0)
		return rr_cp_fail(cp, &cp->to);
	cp->to_top = *into;
	cp->to_top_number = top.fileid;
	return 0;
}

void
rr_cp_park(struct rr_cp *cp, struct rr_side *side, struct rr_directory *directory, unsigned depth)
{
	(void)cp;
	if (directory && depth > RR_TRAIL_OPEN)
		side->ops->park(side, directory);
}

void
rr_cp_leave(
	struct rr_cp *cp, struct rr_side *side, struct rr_directory *directory, struct rr_directory *above)
{
	bool lost = directory->lost;

	if (side->ops->leave(side, directory, above) < 0 && !lost)
		rr_cp_fail(cp, side);
}

/* Makes the directory to_name at the destination, or opens it if it exists already, and stores it in *into.
 * *there describes what was there before: nothing if the directory was made. Returns 0; -1 after an error,
 * which was reported. */
static int
tree_prepare(struct rr_cp *cp, const struct rr_directory *to, const char *to_name, struct rr_directory *into,
	struct rr_info *there)
{
	const struct rr_side_ops *ops = cp->to.ops;

	if (rr_cp_there_look(cp, to, to_name, there) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (there->kind != RR_KIND_NONE && there->kind != RR_KIND_DIRECTORY)
		return rr_cp_fail_because(cp, &cp->to, "it exists already, and is no directory");
	if (there->kind == RR_KIND_NONE ? ops->make_directory(&cp->to, to, to_name, into) < 0
					: ops->enter(&cp->to, to, to_name, there, into) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (cp->depth > 0 || tree_note_top(cp, to, to_name, into, there) == 0)
		return 0;
	ops->leave(&cp->to, into, NULL);
	return -1;
}

void
rr_cp_directory_there(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *into,
	const struct rr_info *info, const struct rr_info *there)
{
	struct rr_info mine = *info;

	if (!cp->preserve || (!rr_cp_lists_differ_here(cp, from, &mine, into, there) &&
				     rr_cp_same_attributes(cp, into, &mine, there)))
		return;
	rr_cp_sync_say(cp, "set");
	rr_cp_say_done(cp, "set");
	cp->sums.directories++;
}

/* This comes after the entries, as the mode may forbid writing, and each new entry changes the times. Does
 * nothing in a dry run, or if the copy has stopped. */
void
rr_cp_directory_end(struct rr_cp *cp, const struct rr_directory *from, const struct rr_directory *to,
	const struct rr_info *info, bool made)
{
	struct rr_info masked = *info;

	if (cp->dry || cp->stop)
		return;
	rr_cp_mask(cp, &masked);
	rr_cp_archive_xattrs(cp, from, to);
	if (cp->stop || rr_cp_lists_read(cp, from, &masked) < 0)
		return;
	if (cp->to.ops->set(&cp->to, to, &masked) < 0)
		rr_cp_fail(cp, &cp->to);
	else if (rr_cp_lists_write(cp, to, &masked, !made) == 0)
		rr_cp_times_check(cp, info);
}

/* In a dry run, prints the actions for a directory that the destination does not have: the directory and all
 * that is in it would be copied. */
static void
tree_say_all(struct rr_cp *cp, struct rr_directory *inside)
{
	bool absent = cp->absent;

	rr_cp_sync_say(cp, "make");
	cp->absent = true;
	cp->depth++;
	rr_cp_contents(cp, inside, &(struct rr_directory){ .fd = -1 });
	cp->depth--;
	cp->absent = absent;
	cp->sums.directories++;
}

/* Copies the entries of the source directory `inside` into the directory to_name of the destination, which is
 * made if it does not exist. Afterwards, a new directory gets the attributes `info` of the source directory;
 * with -a, an existing directory gets them, too. If a dry run finds no such directory at the destination, it
 * only prints the names that would be copied. Failures are reported and counted. */
static void
tree_copy_into(struct rr_cp *cp, struct rr_directory *inside, const struct rr_info *info,
	struct rr_directory *to, const char *to_name)
{
	struct rr_directory into = { .fd = -1 };
	bool made, fresh = cp->fresh, inherits = cp->inherits;
	struct rr_info there;

	if (cp->dry && tree_is_absent(cp, to, to_name)) {
		tree_say_all(cp, inside);
		return;
	}
	if (tree_prepare(cp, to, to_name, &into, &there) < 0)
		return;
	made = there.kind == RR_KIND_NONE;
	if (made) {
		cp->sums.directories++;
		rr_cp_say_done(cp, "make");
	} else {
		rr_cp_directory_there(cp, inside, &into, info, &there);
	}
	if (!cp->dry)
		rr_cp_lists_enter(cp, &into, made);
	rr_cp_park(cp, &cp->to, to, cp->depth);
	cp->depth++;
	cp->fresh = made;
	rr_cp_contents(cp, inside, &into);
	cp->fresh = fresh;
	cp->inherits = inherits;
	cp->depth--;
	if ((made || cp->preserve) && !inside->lost && !into.lost)
		rr_cp_directory_end(cp, inside, &into, info, made);
	rr_cp_leave(cp, &cp->to, &into, to);
}

/* Opens the source directory and copies what is in it, unless the tree seems to be endless. Failures are
 * reported and counted. */
static void
tree_enter_and_copy(struct rr_cp *cp, struct rr_directory *from, const char *name, const struct rr_info *info,
	struct rr_directory *to, const char *to_name)
{
	const char *endless = rr_trail_enter(&cp->trail, info->fsid, info->fileid);
	struct rr_directory inside;

	if (endless) {
		rr_cp_fail_because(cp, &cp->from, endless);
		return;
	}
	if (cp->from.ops->enter(&cp->from, from, name, info, &inside) < 0) {
		rr_cp_fail(cp, &cp->from);
	} else {
		rr_cp_park(cp, &cp->from, from, cp->depth);
		tree_copy_into(cp, &inside, info, to, to_name);
		rr_cp_leave(cp, &cp->from, &inside, from);
	}
	rr_trail_leave(&cp->trail);
}

/* Tells whether this source directory is the directory into which the tree is copied. A copy of this
 * directory would go into itself without an end. Returns 1 if it is; 0 if not, and for the directory that the
 * command line names (depth 0), whose target is not made yet; -1 after an error, which was reported. */
static int
tree_is_target(
	struct rr_cp *cp, const struct rr_directory *from, const char *name, const struct rr_info *info)
{
	if (cp->depth == 0 || info->fileid != cp->to_top_number)
		return 0;
	return rr_cp_same_directory(cp, &cp->from, from, name, cp->to_path);
}

void
rr_cp_directory(struct rr_cp *cp, struct rr_directory *from, const char *name, const struct rr_info *info,
	struct rr_directory *to, const char *to_name)
{
	int is_target;

	if (!cp->recursive) {
		rr_cp_fail_because(cp, &cp->from, "it is a directory; copy it with -r");
		return;
	}
	is_target = tree_is_target(cp, from, name, info);
	if (is_target > 0)
		rr_cp_fail_because(cp, &cp->from, "a directory cannot be copied into itself");
	else if (is_target == 0)
		tree_enter_and_copy(cp, from, name, info, to, to_name);
}
