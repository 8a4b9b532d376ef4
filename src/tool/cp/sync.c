/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/cp/cp.h"

/* `rpcrdma sync` leaves files that are the same, and removes files that the source does not have. */

/* Prints an action and the path that it was done to, on a line. */
static void
sync_print_action(const struct rr_cp *cp, FILE *out, const char *action, const char *path)
{
	if (cp->json) {
		fprintf(out, "{\"action\":\"%s\",", action);
		rr_tool_json_name(out, "path", path);
		fputs("}\n", out);
		return;
	}
	fprintf(out, "%s ", action);
	rr_tool_put_name(out, path);
	putc('\n', out);
}

bool
rr_cp_sync_say(const struct rr_cp *cp, const char *action)
{
	if (cp->dry)
		sync_print_action(cp, stdout, action, cp->path[0] ? cp->path + 1 : ".");
	return cp->dry;
}

/* The path is below the source and the destination; that of an object which the command line names is its
 * name at the destination. */
void
rr_cp_say_done_in(struct rr_cp *cp, const char *action, size_t length, const char *name)
{
	char *path = NULL;

	if (cp->remotes[0].verbose == 0 || cp->dry)
		return;
	rr_progress_hide(&cp->progress);
	if (asprintf(&path, "%.*s%s%s", (int)length, cp->path, name ? "/" : "", name ? name : "") < 0)
		return;
	/* The data may go to standard output. */
	sync_print_action(cp, strcmp(cp->to_name, "-") == 0 ? stderr : stdout, action,
		path[0] ? path + 1 : cp->to_name);
	free(path);
}

void
rr_cp_say_done(struct rr_cp *cp, const char *action)
{
	rr_cp_say_done_in(cp, action, strlen(cp->path), NULL);
}

/* ---- Equal files ---- */

/* If the owner or the group cannot be set, the copy has no set-user-ID and set-group-ID bits: `kept` has the
 * mode bits that the copy gets. */
bool
rr_cp_same_attributes(struct rr_cp *cp, const struct rr_place *to_place, const struct rr_info *info,
	const struct rr_info *there)
{
	const struct rr_side *to = &cp->to;
	uint32_t kept = to->keep_uid && to->keep_gid ? 07777 : RR_MODE_KEPT;

	return (info->mode & kept) == there->mode && (info->uid == there->uid || !to->keep_uid) &&
	       (info->gid == there->gid || !to->keep_gid) && rr_cp_times_same(cp, to_place, info, there);
}

/* Sets mode, times, owner and group of a file of the destination that has the same data as the source
 * already, as far as the destination lets them be set. Does nothing if they are equal. In a dry run, only
 * prints the action. */
static void
sync_attributes(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there)
{
	const struct rr_info *info = pair->info;
	struct rr_side *to = &cp->to;
	struct rr_file file;

	if (rr_cp_same_attributes(cp, pair->to, info, there) || rr_cp_sync_say(cp, "set"))
		return;
	if (to->ops->open(to, pair->to, pair->to_name, there, &file) < 0) {
		rr_cp_fail(cp, to);
		return;
	}
	if (to->ops->set(to, &(struct rr_place){ .fd = file.fd, .handle = file.handle }, info) < 0) {
		rr_cp_fail(cp, to);
	} else {
		rr_cp_say_done(cp, "set");
		rr_cp_times_check(cp, info);
	}
	to->ops->close(&file);
}

/* Tells whether the destination has a symbolic link with the same target. Returns false also if one of the
 * links cannot be read. */
static bool
sync_same_link(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there)
{
	char mine[RR_NFS_PATH], theirs[RR_NFS_PATH];

	return there->kind == RR_KIND_LINK &&
	       cp->from.ops->read_link(&cp->from, pair->from, pair->name, pair->info, mine) == 0 &&
	       cp->to.ops->read_link(&cp->to, pair->to, pair->to_name, there, theirs) == 0 &&
	       strcmp(mine, theirs) == 0;
}

/* Tells whether both are a named pipe, or the same device, with the same attributes. */
static bool
sync_same_special(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there)
{
	const struct rr_info *info = pair->info;

	return there->type == info->type &&
	       (info->type == S_IFIFO || (there->major == info->major && there->minor == info->minor)) &&
	       rr_cp_same_attributes(cp, pair->to, info, there);
}

/* With --checksum, a file is the same if its octets are; otherwise if its size and its time of modification
 * are. Returns false also if the object at the destination cannot be examined: the caller then tries to copy,
 * and reports the failure. */
bool
rr_cp_sync_same(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	const struct rr_info *info = pair->info;
	struct rr_info there;

	if (cp->absent || cp->fresh || rr_cp_there_look(cp, pair->to, pair->to_name, &there) < 0)
		return false;
	if (info->kind == RR_KIND_LINK)
		return sync_same_link(cp, pair, &there);
	if (info->type != 0)
		return sync_same_special(cp, pair, &there);
	if (there.kind != RR_KIND_FILE || there.size != info->size)
		return false;
	if (cp->checksum ? !rr_cp_same_contents(cp, pair, &there)
			 : !rr_cp_times_same(cp, pair->to, info, &there))
		return false;
	sync_attributes(cp, pair, &there);
	return true;
}

/* ---- Removal ---- */

static void sync_remove_entry(struct rr_cp *cp, struct rr_place *place, const char *name,
	const struct rr_info *info, struct rr_trail *trail);

/* Tells whether the removal of files can go on: no error or signal has stopped the copy, and the tree does
 * not seem to be endless. */
static bool
sync_goes_on(const struct rr_cp *cp, const struct rr_trail *trail)
{
	return !cp->stop && !trail->endless && !rr_tool_interrupted(NULL);
}

/* Reports a failure at what is to be removed, unless the error says that it does not exist any more, as
 * another process has removed it. */
static void
sync_fail(struct rr_cp *cp)
{
	if (!cp->to.gone)
		rr_cp_fail(cp, &cp->to);
}

/* Removes an entry of the directory `place`, unless it is excluded. cp->path has the path of the directory,
 * which is so long, and that of the entry meanwhile. Failures are reported and counted. */
static void
sync_remove_listed(struct rr_cp *cp, struct rr_place *place, const struct rr_catalog_entry *entry,
	size_t length, struct rr_trail *trail)
{
	size_t room = sizeof(cp->path) - length;
	struct rr_info info;

	if ((size_t)snprintf(cp->path + length, room, "/%s", entry->name) >= room)
		rr_cp_fail_because(cp, &cp->to, "the path of what is to be removed is too long");
	else if (cp->to.ops->examine(&cp->to, place, entry, &info) < 0)
		sync_fail(cp);
	else if (rr_exclude_has(&cp->excludes, cp->path, info.kind == RR_KIND_DIRECTORY))
		cp->spared++;
	else if (info.kind != RR_KIND_NONE)
		sync_remove_entry(cp, place, entry->name, &info, trail);
	cp->path[length] = '\0';
}

/* Removes the entries of the directory `place`, whose path is in cp->path, as `catalog` has them, but not
 * those whose names are in `keep`. keep must be sorted; if it is NULL, all entries are removed. */
static void
sync_remove_catalog(struct rr_cp *cp, struct rr_place *place, const struct rr_catalog *keep,
	const struct rr_catalog *catalog, struct rr_trail *trail)
{
	const char *endless = rr_trail_count(trail, catalog->count);
	size_t length = strlen(cp->path);

	if (endless)
		rr_cp_fail_because(cp, &cp->to, endless);
	for (size_t i = 0; i < catalog->count && !place->lost && sync_goes_on(cp, trail); i++)
		if (!keep || !rr_catalog_find(keep, catalog->entries[i].name))
			sync_remove_listed(cp, place, &catalog->entries[i], length, trail);
}

/* Lists the directory `place`, and does what sync_remove_catalog() does. If it cannot be read completely, the
 * entries that were read are removed. */
static void
sync_remove_all(
	struct rr_cp *cp, struct rr_place *place, const struct rr_catalog *keep, struct rr_trail *trail)
{
	const uint64_t before = trail->octets;
	struct rr_catalog catalog = { .octets = before };

	if (cp->to.ops->list(&cp->to, place, &catalog) < 0)
		keep ? (void)rr_cp_fail(cp, &cp->to) : sync_fail(cp);
	trail->octets = catalog.octets;
	sync_remove_catalog(cp, place, keep, &catalog, trail);
	rr_catalog_free(&catalog);
	trail->octets = before;
}

/* Removes all entries of the directory `name`, which is in the directory `place`. Returns false if that
 * failed or was interrupted, or an excluded entry is among them, so that the directory must stay. */
static bool
sync_empty(struct rr_cp *cp, struct rr_place *place, const char *name, const struct rr_info *info,
	struct rr_trail *trail)
{
	const char *endless = rr_trail_enter(trail, info->fsid, info->fileid);
	uint64_t failed = cp->sums.failed, spared = cp->spared;
	struct rr_place inside;

	if (endless) {
		rr_cp_fail_because(cp, &cp->to, endless);
		return false;
	}
	if (cp->to.ops->enter(&cp->to, place, name, info, &inside) < 0) {
		sync_fail(cp);
	} else {
		rr_cp_park(cp, &cp->to, place, trail->depth);
		sync_remove_all(cp, &inside, NULL, trail);
		rr_cp_leave(cp, &cp->to, &inside, place);
	}
	rr_trail_leave(trail);
	return failed == cp->sums.failed && spared == cp->spared && sync_goes_on(cp, trail);
}

/* Checks that the entry `name` of the destination is not the directory that is copied: sync never removes its
 * own source. Returns 0; -1 if it is that directory, after a message, or after another failure, which was
 * reported. */
static int
sync_check_source(
	struct rr_cp *cp, const struct rr_place *place, const char *name, const struct rr_info *info)
{
	int same = 0;

	if (info->kind == RR_KIND_DIRECTORY && info->fileid == cp->from_top_number)
		same = rr_cp_same_directory(cp, &cp->to, place, name, cp->from_path);
	return same > 0 ? rr_cp_fail_because(cp, &cp->to, "it is what is copied, and stays") : same;
}

/* Removes an entry of a directory; if the entry is a directory itself, first removes all that is in it. In a
 * dry run, only prints the actions. A failure is reported and counted. */
static void
sync_remove_entry(struct rr_cp *cp, struct rr_place *place, const char *name, const struct rr_info *info,
	struct rr_trail *trail)
{
	bool directory = info->kind == RR_KIND_DIRECTORY;
	int error = 0;

	if (sync_check_source(cp, place, name, info) < 0)
		return;
	if (directory && !sync_empty(cp, place, name, info, trail))
		return;
	if (!rr_cp_sync_say(cp, "remove"))
		error = directory ? cp->to.ops->remove_directory(&cp->to, place, name)
				  : cp->to.ops->remove(&cp->to, place, name);
	if (error) {
		sync_fail(cp);
		return;
	}
	cp->sums.removed++;
	rr_cp_say_done(cp, "remove");
}

void
rr_cp_sync_remove(struct rr_cp *cp, struct rr_place *to, const struct rr_catalog *catalog)
{
	struct rr_trail *trail = calloc(1, sizeof(*trail));

	if (!trail) {
		rr_cp_fail_because(cp, &cp->to, "out of memory");
		return;
	}
	if (cp->there->listed)
		sync_remove_catalog(cp, to, catalog, &cp->there->catalog, trail);
	else
		sync_remove_all(cp, to, catalog, trail);
	free(trail);
}

int
rr_cp_sync_clear(struct rr_cp *cp, const struct rr_cp_pair *pair)
{
	bool directory = pair->info->kind == RR_KIND_DIRECTORY;
	uint64_t failed = cp->sums.failed;
	struct rr_place to = *pair->to; /* at level 0 of the removal, where no place is parked */
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
	if (sync_check_source(cp, pair->to, pair->to_name, &there) < 0)
		return -1;
	if (there.kind == RR_KIND_NONE || (there.kind == RR_KIND_DIRECTORY) == directory)
		return 0;
	trail = calloc(1, sizeof(*trail));
	if (!trail)
		return rr_cp_fail_because(cp, &cp->to, "out of memory");
	sync_remove_entry(cp, &to, pair->to_name, &there, trail);
	rr_cp_there_forget(cp, pair->to, pair->to_name);
	free(trail);
	return cp->sums.failed == failed && !rr_tool_interrupted(NULL) ? 0 : -1;
}
