/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "tool/file/attributes.h"
#include "tool/filters.h"
#include "tool/owners.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* `rpcrdma stat` shows the attributes of an object. */

struct stat_run {
	struct rr_filters filters;
	struct rr_remote remote;
	bool json;
};

static const struct rr_option stat_options[] = {
	{ .name = "json",
		.help = "print a JSON object",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct stat_run, json) },
	{ 0 },
};

/* ---- Access lists ---- */

/* The access lists of an object, without entries if they say no more than its mode. */
struct stat_lists {
	struct rpcrdma_nfs_acl access, inherited;
	struct rpcrdma_nfs_acl_entry entries[2][RPCRDMA_NFS_ACL_MAX];
	struct rr_owners owners;
};

static bool
stat_number(void *ctx, const char *name, bool is_group, uint32_t *number)
{
	*number = rr_owners_number(ctx, name, is_group);
	return *number != RR_OWNERS_NOBODY;
}

/* Reads the lists. A server that keeps none, or lets nobody see them, is no error. */
static int
stat_read_lists(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *object, struct stat_lists *lists)
{
	enum { LEAST = 3 }; /* entries of the list that says what the mode says */
	const struct rpcrdma_nfs_acl_names names = { stat_number, &lists->owners };
	bool is_directory = object->type == RPCRDMA_NFS_DIRECTORY;
	int error;

	lists->access = (struct rpcrdma_nfs_acl){ lists->entries[0], RPCRDMA_NFS_ACL_MAX, 0 };
	lists->inherited = (struct rpcrdma_nfs_acl){ lists->entries[1], RPCRDMA_NFS_ACL_MAX, 0 };
	if (!is_directory && object->type != RPCRDMA_NFS_FILE)
		return 0;
	error = rpcrdma_nfs_get_acl(
		nfs, &object->handle, &lists->access, is_directory ? &lists->inherited : NULL, &names, NULL);
	if (error || lists->access.count <= LEAST)
		lists->access.count = 0;
	return error == -RPCRDMA_ERR_NOTSUP || error > 0 ? 0 : error;
}

/* Prints the entries as getfacl(1) does. around: what stands in front of and behind each. */
static void
stat_print_list(const struct rpcrdma_nfs_acl *acl, const char *around)
{
	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rpcrdma_nfs_acl_entry *entry = &acl->entries[i];
		bool named = entry->tag == RPCRDMA_NFS_ACL_USER || entry->tag == RPCRDMA_NFS_ACL_GROUP;
		const char *word = entry->tag <= RPCRDMA_NFS_ACL_USER    ? "user"
				   : entry->tag <= RPCRDMA_NFS_ACL_GROUP ? "group"
				   : entry->tag == RPCRDMA_NFS_ACL_MASK  ? "mask"
									 : "other";

		printf("%s%s%s:", i > 0 ? "," : "", around, word);
		if (named)
			printf("%" PRIu32, entry->id);
		printf(":%c%c%c%s", entry->perm & 4 ? 'r' : '-', entry->perm & 2 ? 'w' : '-',
			entry->perm & 1 ? 'x' : '-', around);
	}
}

/* ---- Attributes ---- */

static void
stat_print_handle(const struct rpcrdma_nfs_handle *handle)
{
	for (uint32_t i = 0; i < handle->length; i++)
		printf("%02x", handle->data[i]);
}

static void
stat_print_json(const char *url, const struct rpcrdma_nfs_object *object, const char *target,
	const struct stat_lists *lists)
{
	printf("{");
	rr_tool_json_name(stdout, "url", url);
	printf(",");
	rr_attributes_json(stdout, object);
	if (target[0]) {
		printf(",");
		rr_tool_json_name(stdout, "target", target);
	}
	if (lists->access.count > 0) {
		printf(",\"acl\":[");
		stat_print_list(&lists->access, "\"");
		printf("]");
	}
	if (lists->inherited.count > 0) {
		printf(",\"default_acl\":[");
		stat_print_list(&lists->inherited, "\"");
		printf("]");
	}
	printf(",\"handle\":\"");
	stat_print_handle(&object->handle);
	printf("\"}\n");
}

static void
stat_print_text(const char *url, const struct rpcrdma_nfs_object *object, const char *target,
	const struct stat_lists *lists)
{
	char mode[11], atime[48], mtime[48], ctime[48];

	rr_attributes_mode(object, mode);
	rr_attributes_time(object->accessed, false, atime);
	rr_attributes_time(object->modified, false, mtime);
	rr_attributes_time(object->changed, false, ctime);
	printf("  File: ");
	rr_tool_put_name(stdout, url);
	if (target[0]) {
		printf(" -> ");
		rr_tool_put_name(stdout, target);
	}
	printf("\n  Type: %s\n  Size: %" PRIu64 " octets, %" PRIu64 " of storage used\n",
		rr_attributes_type(object->type), object->length, object->used);
	printf("  Mode: %04" PRIo32 " (%s)   uid: ", object->mode, mode);
	rr_attributes_who(object->owner, object->uid, 0);
	printf("   gid: ");
	rr_attributes_who(object->group, object->gid, 0);
	printf("   links: %" PRIu32 "\n", object->links);
	if (lists->access.count > 0) {
		printf("   ACL: ");
		stat_print_list(&lists->access, "");
		printf("\n");
	}
	if (lists->inherited.count > 0) {
		printf("   ACL of what is made in it: ");
		stat_print_list(&lists->inherited, "");
		printf("\n");
	}
	printf("fileid: %" PRIu64 "   fsid: %" PRIx64 ":%" PRIx64 "\n", object->number,
		object->filesystem.major, object->filesystem.minor);
	printf("Access: %s\nModify: %s\nChange: %s\nHandle: ", atime, mtime, ctime);
	stat_print_handle(&object->handle);
	printf("\n");
}

/* Prints the attributes of the object that the URL names. If the object is a symbolic link, prints the
 * attributes of the link itself, and its target. Returns an exit status, after a message if it is not OK. */
static int
stat_show(const struct rr_tool *tool, struct rr_remote *remote, bool json)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	char target[RPCRDMA_NFS_PATH_MAX + 1] = "";
	struct stat_lists lists = { 0 };
	int error = rr_nfs_find(remote->nfs, remote->rest, false, &object);

	if (!error && object.type == RPCRDMA_NFS_SYMLINK)
		error = rpcrdma_nfs_readlink(remote->nfs, &object.handle, target, sizeof(target), NULL);
	if (!error)
		error = stat_read_lists(remote->nfs, &object, &lists);
	if (error)
		return rr_tool_fail(tool, "%s: %s", remote->name, rr_nfs_explain(remote->nfs));
	(json ? stat_print_json : stat_print_text)(remote->name, &object, target, &lists);
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

static int
stat_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct stat_run run = { .json = false };
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int error, result = rr_options_parse(tool, &run, &argc, &argv);

	if (result != RR_OPTIONS_GO_ON)
		return result;
	rr_tool_catch_signals();
	result = rr_filters_start(tool, &run.filters, &config);
	if (result != RR_EXIT_OK)
		return result;
	run.remote.tcp = run.filters.transport == RR_TRANSPORT_TCP;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(tool, &run.filters, rr_tool_fail(tool, "%s", text.text));
	error = rr_remote_open(engine, argv[0], &run.remote, &text);
	result = error ? rr_advice_fail(tool, &run.remote.url, run.remote.name, error, &text)
		       : stat_show(tool, &run.remote, run.json);
	rr_remote_close(&run.remote);
	rpcrdma_engine_free(engine);
	return rr_filters_end(tool, &run.filters, result);
}

const struct rr_tool rr_tool_stat = {
	.name = "stat",
	.run = stat_run,
	.help = "Show what a server says of a file.",
	.operands = "URL",
	.least = 1,
	.most = 1,
	.urls = true,
	.groups = {
		{ stat_options, 0 },
		{ rr_remote_options, offsetof(struct stat_run, remote) },
		{ rr_filters_transport, offsetof(struct stat_run, filters) },
		{ rr_filters_options, offsetof(struct stat_run, filters) },
		{ rr_filters_calls, offsetof(struct stat_run, filters) },
	},
};
