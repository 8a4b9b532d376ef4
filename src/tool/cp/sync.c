/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/cp/cp.h"

/* `rpcrdma sync` leaves files that are the same, and says what it does. */

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
rr_cp_same_attributes(struct rr_cp *cp, const struct rr_directory *to_place, const struct rr_info *info,
	const struct rr_info *there)
{
	const struct rr_side *to = &cp->to;
	uint32_t kept = to->keep_uid && to->keep_gid && rr_cp_is_owned(info) ? 07777 : RR_MODE_KEPT;
	bool uid = to->keep_uid && info->uid != RR_OWNERS_NOBODY;
	bool gid = to->keep_gid && info->gid != RR_OWNERS_NOBODY;

	/* Where there are access lists, stat(2) shows their mask as the rights of the group: lists.c compares
	 * them. */
	if (info->listed)
		kept &= ~070u;
	return (info->mode & kept) == (there->mode & (info->listed ? ~070u : ~0u)) &&
	       (info->uid == there->uid || !uid) && (info->gid == there->gid || !gid) &&
	       rr_cp_times_same(cp, to_place, info, there);
}

/* Gives the open file `to_file` the attributes and access lists of the source. Returns 0; -1 after an error,
 * which was reported. */
static int
sync_set(struct rr_cp *cp, const struct rr_cp_pair *pair, struct rr_info *info, const struct rr_file *to_file)
{
	const struct rr_directory object = { .fd = to_file->fd, .handle = to_file->handle };

	if (rr_cp_lists_open(cp, pair, info) < 0)
		return -1;
	if (cp->to.ops->set(&cp->to, &object, info) < 0)
		return rr_cp_fail(cp, &cp->to);
	return rr_cp_lists_write(cp, &object, info, true);
}

/* Sets mode, times, owner, group and access lists of a file of the destination that has the same data as the
 * source already, as far as the destination lets them be set. Does nothing if they are equal. In a dry run,
 * only prints the action. */
static void
sync_attributes(struct rr_cp *cp, const struct rr_cp_pair *pair, const struct rr_info *there)
{
	struct rr_info info = *pair->info;
	struct rr_side *to = &cp->to;
	bool differ = rr_cp_lists_differ(cp, pair, &info, there);
	struct rr_file file;

	if (!differ && rr_cp_same_attributes(cp, pair->to, &info, there)) {
		cp->listed += info.listed && rr_cp_is_listless(to, there);
		return;
	}
	if (rr_cp_sync_say(cp, "set"))
		return;
	if (to->ops->open(to, pair->to, pair->to_name, there, &file) < 0) {
		rr_cp_fail(cp, to);
		return;
	}
	if (sync_set(cp, pair, &info, &file) == 0) {
		rr_cp_say_done(cp, "set");
		rr_cp_times_check(cp, &info);
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
