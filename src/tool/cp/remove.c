/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cp/cp.h"

/* `rpcrdma sync` removes what the source does not have (--delete), and what is in the way of its entries. */

static void remove_entry(struct rr_cp *cp, struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_trail *trail);

/* Tells whether the removal of files can go on: no error or signal has stopped the copy, and the tree does
 * not seem to be endless. */
static bool
remove_goes_on(const struct rr_cp *cp, const struct rr_trail *trail)
{
	return !cp->stop && !trail->endless && !rr_tool_interrupted(NULL);
}

/* Reports a failure at what is to be removed, unless the error says that it does not exist any more, as
 * another process has removed it. */
static void
remove_fail(struct rr_cp *cp)
{
	if (!cp->to.gone)
		rr_cp_fail(cp, &cp->to);
}

/* Removes an entry of the directory, unless it is excluded. cp->path has the path of the directory,
 * which is so long, and that of the entry meanwhile. Failures are reported and counted. */
static void
remove_listed(struct rr_cp *cp, struct rr_directory *directory, const struct rr_catalog_entry *entry,
	size_t length, struct rr_trail *trail)
{
	size_t room = sizeof(cp->path) - length;
	struct rr_info info;

	if ((size_t)snprintf(cp->path + length, room, "/%s", entry->name) >= room)
		rr_cp_fail_because(cp, &cp->to, "the path of what is to be removed is too long");
	else if (cp->to.ops->examine(&cp->to, directory, entry, &info) < 0)
		remove_fail(cp);
	else if (rr_exclude_has(&cp->excludes, cp->path, info.kind == RR_KIND_DIRECTORY))
		cp->spared++;
	else if (info.kind != RR_KIND_NONE)
		remove_entry(cp, directory, entry->name, &info, trail);
	cp->path[length] = '\0';
}

/* Removes the entries of the directory, whose path is in cp->path, as `catalog` has them, but not
 * those whose names are in `keep`. keep must be sorted; if it is NULL, all entries are removed. */
static void
remove_catalog(struct rr_cp *cp, struct rr_directory *directory, const struct rr_catalog *keep,
	const struct rr_catalog *catalog, struct rr_trail *trail)
{
	const char *endless = rr_trail_count(trail, catalog->count);
	size_t length = strlen(cp->path);

	if (endless)
		rr_cp_fail_because(cp, &cp->to, endless);
	for (size_t i = 0; i < catalog->count && !directory->lost && remove_goes_on(cp, trail); i++)
		if (!keep || !rr_catalog_find(keep, catalog->entries[i].name))
			remove_listed(cp, directory, &catalog->entries[i], length, trail);
}

/* Lists the directory, and does what remove_catalog() does. If it cannot be read completely, the
 * entries that were read are removed. */
static void
remove_all(struct rr_cp *cp, struct rr_directory *directory, const struct rr_catalog *keep,
	struct rr_trail *trail)
{
	const uint64_t before = trail->octets;
	struct rr_catalog catalog = { .octets = before };

	if (cp->to.ops->list(&cp->to, directory, &catalog) < 0)
		keep ? (void)rr_cp_fail(cp, &cp->to) : remove_fail(cp);
	trail->octets = catalog.octets;
	remove_catalog(cp, directory, keep, &catalog, trail);
	rr_catalog_free(&catalog);
	trail->octets = before;
}

/* Removes all entries of the directory `name`, which is in `directory`. Returns false if that
 * failed or was interrupted, or an excluded entry is among them, so that the directory must stay. */
static bool
remove_contents(struct rr_cp *cp, struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_trail *trail)
{
	const char *endless = rr_trail_enter(trail, info->fsid, info->fileid);
	uint64_t failed = cp->sums.failed, spared = cp->spared;
	struct rr_directory inside;

	if (endless) {
		rr_cp_fail_because(cp, &cp->to, endless);
		return false;
	}
	if (cp->to.ops->enter(&cp->to, directory, name, info, &inside) < 0) {
		remove_fail(cp);
	} else {
		rr_cp_park(cp, &cp->to, directory, trail->depth);
		remove_all(cp, &inside, NULL, trail);
		rr_cp_leave(cp, &cp->to, &inside, directory);
	}
	rr_trail_leave(trail);
	return failed == cp->sums.failed && spared == cp->spared && remove_goes_on(cp, trail);
}

/* Checks that the entry `name` of the destination is not the directory that is copied: sync never removes its
 * own source. Returns 0; -1 if it is that directory, after a message, or after another failure, which was
 * reported. */
static int
remove_check_source(
	struct rr_cp *cp, const struct rr_directory *directory, const char *name, const struct rr_info *info)
{
	int same = 0;

	if (info->kind == RR_KIND_DIRECTORY && info->fileid == cp->from_top_number)
		same = rr_cp_same_directory(cp, &cp->to, directory, name, cp->from_path);
	return same > 0 ? rr_cp_fail_because(cp, &cp->to, "it is what is copied, and stays") : same;
}

/* Removes an entry of a directory; if the entry is a directory itself, first removes all that is in it. In a
 * dry run, only prints the actions. A failure is reported and counted. */
static void
remove_entry(struct rr_cp *cp, struct rr_directory *directory, const char *name, const struct rr_info *info,
	struct rr_trail *trail)
{
	bool is_directory = info->kind == RR_KIND_DIRECTORY;
	int error = 0;

	if (remove_check_source(cp, directory, name, info) < 0)
		return;
	if (is_directory && !remove_contents(cp, directory, name, info, trail))
		return;
	if (!rr_cp_sync_say(cp, "remove"))
		error = is_directory ? cp->to.ops->remove_directory(&cp->to, directory, name)
				     : cp->to.ops->remove(&cp->to, directory, name);
	if (error) {
		remove_fail(cp);
		return;
	}
	cp->sums.removed++;
	rr_cp_say_done(cp, "remove");
}

void
rr_cp_sync_remove(struct rr_cp *cp, struct rr_directory *to, const struct rr_catalog *catalog)
{
	struct rr_trail *trail = calloc(1, sizeof(*trail));

	if (!trail) {
		rr_cp_fail_because(cp, &cp->to, "out of memory");
		return;
	}
	if (cp->there->listed)
		remove_catalog(cp, to, catalog, &cp->there->catalog, trail);
	else
		remove_all(cp, to, catalog, trail);
	free(trail);
}

int
rr_cp_sync_clear(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	bool directory = pair->info->kind == RR_KIND_DIRECTORY;
	uint64_t failed = cp->sums.failed;
	struct rr_directory to = *pair->to; /* at level 0 of the removal, where no directory is parked */
	struct rr_trail *trail;
	struct rr_info there;

	/* Nothing is in the way if this copy has made the directory, or a dry run would make it. The object
	 * that the command line names (depth 0) is never removed. */
	if (cp->depth == 0 || cp->absent || cp->fresh || !cp->remove)
		return 0;
	if (rr_cp_there_look(cp, pair->to, pair->to_name, &there) < 0)
		return rr_cp_fail(cp, &cp->to);
	/* The source may have a directory of its own name, whose copy would be the source itself. Its other
	 * entries would then be removed. */
	if (remove_check_source(cp, pair->to, pair->to_name, &there) < 0)
		return -1;
	if (there.kind == RR_KIND_NONE || (there.kind == RR_KIND_DIRECTORY) == directory)
		return 0;
	trail = calloc(1, sizeof(*trail));
	if (!trail)
		return rr_cp_fail_because(cp, &cp->to, "out of memory");
	remove_entry(cp, &to, pair->to_name, &there, trail);
	rr_cp_there_forget(cp, pair->to, pair->to_name);
	free(trail);
	return cp->sums.failed == failed && !rr_tool_interrupted(NULL) ? 0 : -1;
}
