/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "tool/attributes.h"
#include "tool/catalog.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* Lists one directory whole, sorted by name, those that begin with a dot too; or shows one file. */

struct ls {
	const struct rr_tool *tool;
	struct rr_remote remote;
	struct rr_catalog catalog;
	struct rr_filters filters;
	bool is_long, json;
	size_t printed;
};

static const struct rr_option ls_options[] = {
	{ .letter = 'l',
		.name = "long",
		.help = "with mode, links, owner, group, size, time, and where links lead",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct ls, is_long) },
	{ .name = "json",
		.help = "print a JSON array",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct ls, json) },
	{ 0 },
};

/* Names alone need no attributes. */
static bool
ls_only_names(const struct ls *ls)
{
	return !ls->is_long && !ls->json;
}

static int
ls_fail(struct ls *ls, const char *name)
{
	return rr_tool_fail(ls->tool, "%s%s%s: %s", ls->remote.name, name ? "/" : "", name ? name : "",
		rpcrdma_nfs_error(ls->remote.nfs));
}

static void
ls_print_long(const struct rr_catalog_entry *entry, const char *target)
{
	const struct rpcrdma_nfs_object *object = &entry->object;
	char mode[11], time[48];

	rr_attributes_mode(object, mode);
	rr_attributes_time(object->modified, true, time);
	printf("%s %3" PRIu32 " %5" PRIu32 " %5" PRIu32 " %12" PRIu64 " %s ", mode, object->links,
		object->uid, object->gid, object->length, time);
	rr_tool_put_name(stdout, entry->name);
	if (target[0])
		printf(" -> ");
	rr_tool_put_name(stdout, target);
	printf("\n");
}

static void
ls_print_json(struct ls *ls, const struct rr_catalog_entry *entry, const char *target)
{
	printf("%s{\"name\":", ls->printed++ ? ",\n" : "");
	rr_tool_json_string(stdout, entry->name);
	printf(",");
	rr_attributes_json(stdout, &entry->object);
	if (target[0])
		printf(",\"target\":");
	if (target[0])
		rr_tool_json_string(stdout, target);
	printf("}");
}

static int
ls_print_entry(struct ls *ls, const struct rr_catalog_entry *entry)
{
	char target[RPCRDMA_NFS_PATH_MAX + 1] = "";

	if (!entry->known && !ls_only_names(ls))
		return RR_EXIT_OK;
	if (ls_only_names(ls)) {
		rr_tool_put_name(stdout, entry->name);
		printf("\n");
		return RR_EXIT_OK;
	}
	if (entry->object.type == RPCRDMA_NFS_SYMLINK &&
		rpcrdma_nfs_readlink(ls->remote.nfs, &entry->object.handle, target, sizeof(target), NULL) !=
			0)
		return ls_fail(ls, entry->name);
	if (ls->json)
		ls_print_json(ls, entry, target);
	else
		ls_print_long(entry, target);
	return RR_EXIT_OK;
}

/* Asks for what READDIRPLUS left out. An entry that is gone meanwhile stays unknown. */
static int
ls_complete(struct ls *ls, const struct rpcrdma_nfs_handle *directory)
{
	for (size_t i = 0; i < ls->catalog.count; i++) {
		struct rr_catalog_entry *entry = &ls->catalog.entries[i];
		int error = entry->known ? 0
					 : rpcrdma_nfs_lookup(ls->remote.nfs, directory, entry->name,
						   &entry->object, NULL);

		if (error && error != RPCRDMA_NFS_NOENT)
			return ls_fail(ls, entry->name);
		entry->known = !error;
	}
	return RR_EXIT_OK;
}

static int
ls_gather(struct ls *ls)
{
	struct rpcrdma_nfs *nfs = ls->remote.nfs;
	const char *slash = strrchr(ls->remote.url.path, '/');
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	if (rpcrdma_nfs_find(nfs, ls->remote.rest, ls_only_names(ls), &object) != 0)
		return ls_fail(ls, NULL);
	if (object.type != RPCRDMA_NFS_DIRECTORY) {
		if (rr_catalog_add(&ls->catalog, slash[1] ? slash + 1 : ls->remote.url.path, &object) == 0)
			return RR_EXIT_OK;
		return rr_tool_fail(ls->tool, "out of memory");
	}
	if (rpcrdma_nfs_list(nfs, &object.handle, rr_catalog_take, &ls->catalog) != 0)
		return ls_fail(ls, NULL);
	rr_catalog_sort(&ls->catalog);
	return ls_only_names(ls) ? RR_EXIT_OK : ls_complete(ls, &object.handle);
}

static int
ls_list(struct ls *ls)
{
	int result = ls_gather(ls);

	if (result != RR_EXIT_OK)
		return result;
	if (ls->json)
		printf("[");
	for (size_t i = 0; i < ls->catalog.count && result == RR_EXIT_OK; i++)
		result = ls_print_entry(ls, &ls->catalog.entries[i]);
	if (ls->json)
		printf("]\n");
	return rr_tool_end_output(ls->tool, result);
}

static int
ls_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct ls ls = { .tool = tool };
	struct rr_engine_config config = rr_engine_config_default;
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int error, result = rr_options_parse(tool, &ls, &argc, &argv);

	if (result != RR_OPTIONS_GO_ON)
		return result;
	rr_tool_catch_signals();
	result = rr_filters_start(tool, &ls.filters, &config);
	if (result != RR_EXIT_OK)
		return result;
	ls.remote.tcp = ls.filters.transport == RR_TRANSPORT_TCP;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(tool, &ls.filters, rr_tool_fail(tool, "%s", text.text));
	error = rr_remote_open(engine, argv[0], &ls.remote, &text);
	result = error ? rr_advice_fail(tool, ls.remote.name, error, &text) : ls_list(&ls);
	rr_catalog_free(&ls.catalog);
	rr_remote_close(&ls.remote);
	rpcrdma_engine_free(engine);
	return rr_filters_end(tool, &ls.filters, result);
}

const struct rr_tool rr_tool_ls = {
	.name = "ls",
	.run = ls_run,
	.help = "List a directory.",
	.operands = "URL",
	.least = 1,
	.most = 1,
	.urls = true,
	.groups = {
		{ ls_options, 0 },
		{ rr_remote_options, offsetof(struct ls, remote) },
		{ rr_filters_transport, offsetof(struct ls, filters) },
		{ rr_filters_options, offsetof(struct ls, filters) },
		{ rr_filters_calls, offsetof(struct ls, filters) },
	},
};
