/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "tool/file/attributes.h"
#include "tool/file/ls.h"
#include "tool/progress.h"

bool
rr_ls_only_names(const struct rr_ls *ls)
{
	return !ls->is_long && !ls->json;
}

bool
rr_ls_is_hidden(const struct rr_ls *ls, const struct rr_catalog_entry *entry)
{
	/* At depth 0, the entry is the object that the URL names. */
	return entry->name[0] == '.' && !ls->all && ls->trail.depth > 0;
}

int
rr_ls_fail(const struct rr_ls *ls, const char *where, const char *name)
{
	return rr_tool_fail(ls->tool, "%.*s%s%s: %s", RR_LS_WHERE, where, name ? "/" : "", name ? name : "",
		rr_nfs_explain(ls->remote.nfs));
}

int
rr_ls_fail_entry(struct rr_ls *ls, const char *where, const char *name, int error)
{
	/* Positive errors are those of NFS, which the server answers. */
	ls->cut_off |= error < 0;
	return rr_ls_fail(ls, where, name);
}

bool
rr_ls_has_vanished(struct rr_ls *ls, const char *where, const char *name, int error)
{
	const char *rest = ls->remote.rest, *below = where + strlen(ls->remote.name);
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	char path[RR_NFS_PATH];

	/* RFC 1813, 2.6: NFS3ERR_STALE: "The file referred to by that file handle no longer exists". */
	if ((error != RPCRDMA_NFS_NOENT && error != RPCRDMA_NFS_STALE) || ls->trail.depth == 0 ||
		(!name && *below == '\0') ||
		(size_t)snprintf(path, sizeof(path), "%s/%s/%s", rest, below, name ? name : "") >=
			sizeof(path))
		return false;
	return rr_nfs_find(ls->remote.nfs, path, false, &object) == RPCRDMA_NFS_NOENT &&
	       rr_nfs_find(ls->remote.nfs, rest, true, &object) == 0;
}

static void
ls_print_name(const char *name)
{
	rr_tool_put_name(stdout, name);
	printf("\n");
}

static void
ls_print_long(const struct rr_ls *ls, const struct rr_catalog_entry *entry, const char *target)
{
	const struct rpcrdma_nfs_object object = rr_catalog_object(entry);
	char mode[11], time[48], size[24];

	rr_attributes_mode(&object, mode);
	rr_attributes_time(object.modified, true, time);
	if (ls->human)
		rr_progress_octets(object.length, size, sizeof(size));
	else
		snprintf(size, sizeof(size), "%" PRIu64, object.length);
	printf("%s %3" PRIu32 " ", mode, object.links);
	rr_attributes_who(object.owner, object.uid, 5);
	printf(" ");
	rr_attributes_who(object.group, object.gid, 5);
	printf(" %12s %s ", size, time);
	rr_tool_put_name(stdout, entry->name);
	if (target[0])
		printf(" -> ");
	rr_tool_put_name(stdout, target);
	printf("\n");
}

/* Prints an entry as an element of the JSON array. If several directories are listed (ls->headed), the
 * element says which directory the entry is in. */
static void
ls_print_json(struct rr_ls *ls, const char *where, const struct rr_catalog_entry *entry, const char *target)
{
	const struct rpcrdma_nfs_object object = rr_catalog_object(entry);

	printf("%s{", ls->printed ? ",\n" : "");
	rr_tool_json_name(stdout, "name", entry->name);
	if (ls->headed) {
		printf(",");
		rr_tool_json_name(stdout, "directory", where);
	}
	printf(",");
	rr_attributes_json(stdout, &object);
	if (target[0]) {
		printf(",");
		rr_tool_json_name(stdout, "target", target);
	}
	printf("}");
}

int
rr_ls_print(struct rr_ls *ls, const char *where, const struct rr_catalog_entry *entry)
{
	char target[RPCRDMA_NFS_PATH_MAX + 1] = "";
	int error = 0;

	/* An entry without attributes, if they are to be printed, was removed meanwhile. */
	if (rr_ls_is_hidden(ls, entry) || (!entry->object && !rr_ls_only_names(ls)))
		return RR_EXIT_OK;
	if (!rr_ls_only_names(ls) && entry->object->type == RPCRDMA_NFS_SYMLINK)
		error = rpcrdma_nfs_readlink(
			ls->remote.nfs, &entry->object->handle, target, sizeof(target), NULL);
	if (rr_ls_has_vanished(ls, where, entry->name, error))
		return RR_EXIT_OK;
	if (error)
		return rr_ls_fail_entry(ls, where, entry->name, error);
	if (ls->json)
		ls_print_json(ls, where, entry, target);
	else if (ls->is_long)
		ls_print_long(ls, entry, target);
	else
		ls_print_name(entry->name);
	ls->printed++;
	return RR_EXIT_OK;
}

void
rr_ls_print_head(struct rr_ls *ls, const char *where)
{
	if (!ls->headed || ls->json)
		return;
	if (ls->printed++)
		printf("\n");
	rr_tool_put_name(stdout, where);
	printf(":\n");
}
