/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tool/cp/cp.h"

/* The top of a copy: finds the source that the command line names, and the directory and name that it goes
 * to. */

/* Stores the last name of a path in name: "a" of "/x/a//". The name becomes empty if it is too long, or if
 * the path is "/" or ends with "." or "..", so that it means a directory itself. */
static void
top_last_name(const char *path, char name[RR_NFS_NAME + 1])
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	if (end - start > RR_NFS_NAME)
		end = start;
	snprintf(name, RR_NFS_NAME + 1, "%.*s", (int)(end - start), path + start);
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		name[0] = '\0';
}

/* Stores in out the part of a path in front of its last name: "/x/" of "/x/a". If the path is a name alone,
 * such as "a", out becomes "." for a local path, and otherwise empty. */
static void
top_directory(const char *path, bool local, char out[RR_NFS_PATH])
{
	size_t end = strlen(path);

	while (end > 0 && path[end - 1] == '/')
		end--;
	while (end > 0 && path[end - 1] != '/')
		end--;
	snprintf(out, RR_NFS_PATH, "%.*s", (int)end, path);
	if (end == 0 && local)
		strcpy(out, ".");
}

/* Appends the name to the path, behind a slash. The result is cut off if it has no room in `size` octets. */
static void
top_append_name(char *path, size_t size, const char *name)
{
	size_t length = strlen(path);

	snprintf(
		path + length, size - length, "%s%s", length > 0 && path[length - 1] == '/' ? "" : "/", name);
}

/* The directory that the source goes to, and its name there. */
struct top_target {
	struct rr_directory directory;
	struct rr_info info;        /* of the directory, if it is the destination itself */
	char name[RR_NFS_NAME + 1]; /* empty: the entries of the source go into the directory */
};

/* Checks a destination that is no directory. If its path ends with a slash, it names a directory: then only a
 * directory can be copied to it, and only if nothing has that name yet. kind is that of the source, and
 * there_kind that of the destination. Returns 0; -1 after an error, which was reported. */
static int
top_check_slash(struct rr_cp *cp, const char *path, enum rr_kind kind, enum rr_kind there_kind)
{
	size_t length = strlen(path);

	if (length == 0 || path[length - 1] != '/')
		return 0;
	if (there_kind != RR_KIND_NONE)
		return rr_cp_fail_because(cp, &cp->to, "it is no directory");
	if (kind != RR_KIND_DIRECTORY)
		return rr_cp_fail_because(cp, &cp->to, "there is no such directory");
	return 0;
}

/* Finds the target of the copy if `path`, the destination, is no directory: opens the directory that is to
 * contain the target, and stores the last name of path as the name of the target. Returns 0; -1 after an
 * error, which was reported. */
static int
top_target_beside(struct rr_cp *cp, const char *path, struct top_target *target)
{
	char parent[RR_NFS_PATH];
	struct rr_info info;

	top_last_name(path, target->name);
	if (target->name[0] == '\0')
		return rr_cp_fail_because(cp, &cp->to, "there is no such directory, or its name is too long");
	top_directory(path, !cp->to.nfs, parent);
	if (cp->to.ops->find(&cp->to, parent, true, &info) < 0)
		return rr_cp_fail(cp, &cp->to);
	if (info.kind == RR_KIND_NONE)
		return rr_cp_fail_because(cp, &cp->to, "the directory that it is to be in does not exist");
	if (info.kind != RR_KIND_DIRECTORY)
		return rr_cp_fail_because(cp, &cp->to, "what it is to be in is no directory");
	if (cp->to.ops->enter(&cp->to, NULL, parent, &info, &target->directory) < 0)
		return rr_cp_fail(cp, &cp->to);
	return 0;
}

/* Stores in *target the directory into which the source is copied, and the name of the copy. `source` is the
 * whole path of the source; `path` is that of the destination, for find(). If `path` is a directory, the copy
 * goes into it, under the last name of the source; without a name if `rpcrdma sync` copies a directory.
 * Otherwise the copy goes into the directory above path, under the last name of path. Also sets cp->to_path
 * and cp->to_name. Returns 0; -1 after an error, which was reported. */
static int
top_find_target(
	struct rr_cp *cp, const char *source, enum rr_kind kind, const char *path, struct top_target *target)
{
	struct rr_info info;

	if (cp->to.ops->find(&cp->to, path, true, &info) < 0)
		return rr_cp_fail(cp, &cp->to);
	snprintf(cp->to_path, sizeof(cp->to_path), "%s", path);
	if (info.kind != RR_KIND_DIRECTORY && cp->several)
		return rr_cp_fail_because(cp, &cp->to, "several sources need a directory to go to");
	if (info.kind != RR_KIND_DIRECTORY && top_check_slash(cp, path, kind, info.kind) < 0)
		return -1;
	if (info.kind != RR_KIND_DIRECTORY)
		return top_target_beside(cp, path, target);
	if (!cp->from.nfs && strcmp(source, "-") == 0)
		return rr_cp_fail_because(
			cp, &cp->to, "it is a directory: what comes from standard input needs a name in it");
	/* `rpcrdma sync` makes the directory itself equal to the source. */
	if (!cp->sync || kind != RR_KIND_DIRECTORY)
		top_last_name(source, target->name);
	if (cp->to.ops->enter(&cp->to, NULL, path, &info, &target->directory) < 0)
		return rr_cp_fail(cp, &cp->to);
	target->info = info;
	if (target->name[0]) {
		top_append_name(cp->to_name, sizeof(cp->to_name), target->name);
		top_append_name(cp->to_path, sizeof(cp->to_path), target->name);
	}
	return 0;
}

/* Copies the entries of the source directory into the directory of the target itself, without a new directory
 * for the source: it has no name, such as the root of a server, or `rpcrdma sync` copies it. Failures are
 * reported and counted. */
static void
top_copy_contents(struct rr_cp *cp, const char *path, const struct rr_info *info, struct top_target *target)
{
	struct rr_directory *to = &target->directory;
	struct rr_directory inside;

	if (info->kind != RR_KIND_DIRECTORY || !cp->recursive) {
		rr_cp_fail_because(cp, &cp->from, "it is a directory; copy it with -r");
		return;
	}
	if (cp->from.ops->enter(&cp->from, NULL, path, info, &inside) < 0) {
		rr_cp_fail(cp, &cp->from);
		return;
	}
	cp->to_top = *to;
	cp->to_top_number = target->info.fileid;
	cp->unowned += cp->archive && !rr_cp_is_owned(info);
	if (cp->sync)
		rr_cp_directory_there(cp, &inside, to, info, &target->info);
	rr_cp_lists_enter(cp, to, false);
	cp->depth++;
	/* The trail is empty: the top can always be entered. */
	(void)rr_trail_enter(&cp->trail, info->fsid, info->fileid);
	rr_cp_contents(cp, &inside, to);
	rr_trail_leave(&cp->trail);
	cp->depth--;
	if (cp->sync)
		rr_cp_directory_end(cp, &inside, to, info, false);
	cp->from.ops->leave(&cp->from, &inside, NULL);
}

/* Returns the path for find() of this side: for a URL, the part below the mounted directory; for a local
 * path, the argument itself. */
static const char *
top_path(const struct rr_side *side, const char *argument)
{
	return side->nfs ? rr_nfs_rest(side->nfs) : argument;
}

void
rr_cp_top(struct rr_cp *cp, const char *source, const char *destination)
{
	const char *from = top_path(&cp->from, source), *to = top_path(&cp->to, destination);
	/* The copy can get the last name of this path. If the URL names the mounted directory itself, `from`
	 * is empty and has no last name, but the path of the URL has one. */
	const char *whole = cp->from.nfs ? cp->remotes[0].url.path : source;
	struct top_target target = { .directory.fd = -1 };
	struct rr_info info;

	/* As by cp(1), a symbolic link that the command line names is followed, but not with -r, which copies
	 * the link itself. `rpcrdma sync` always follows it. */
	if (cp->from.ops->find(&cp->from, from, !cp->recursive || cp->sync, &info) < 0) {
		rr_cp_fail(cp, &cp->from);
		return;
	}
	if (info.kind == RR_KIND_NONE) {
		rr_cp_fail_because(cp, &cp->from, "no such file or directory");
		return;
	}
	if (info.kind == RR_KIND_DIRECTORY && !cp->recursive) {
		rr_cp_fail_because(cp, &cp->from, "it is a directory; copy it with -r");
		return;
	}
	cp->from_path = from;
	cp->from_top_number = info.fileid;
	if (top_find_target(cp, whole, info.kind, to, &target) < 0)
		return;
	if (target.name[0])
		rr_cp_entry(cp, NULL, from, &info, &target.directory, target.name);
	else
		top_copy_contents(cp, from, &info, &target);
	cp->to.ops->leave(&cp->to, &target.directory, NULL);
}
