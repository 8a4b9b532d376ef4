/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/file/ls.h"

#include <stdlib.h>
#include <string.h>

/* `rpcrdma ls` lists directories, each sorted by name, with -R also the directories below; or it shows
 * files. */

static const struct rr_option ls_options[] = {
	{ .letter = 'a',
		.name = "all",
		.help = "also names that begin with a dot",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, all) },
	{ .letter = 'l',
		.name = "long",
		.help = "with mode, links, owner, group, size, time, and where links lead",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, is_long) },
	{ .letter = 'h',
		.name = "human-readable",
		.help = "with -l, print sizes as 12.3 MB, and not in octets",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, human) },
	{ .letter = 't',
		.help = "sort by time of modification, the newest first",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, by_time) },
	{ .letter = '1',
		.help = "a name on each line, as always",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, one) },
	{ .letter = 'R',
		.name = "recursive",
		.help = "list the directories below, too; links are not followed",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, recursive) },
	{ .name = "json",
		.help = "print a JSON array",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_ls, json) },
	{ 0 },
};

/* ---- Directories ---- */

/* Asks the server for the attributes of those entries for which READDIRPLUS gave none. An entry that was
 * removed meanwhile, or for which the server has only an error, stays without attributes. Returns an exit
 * status, after messages if it is not OK. */
static int
ls_complete(struct rr_ls *ls, const char *where, const struct rpcrdma_nfs_handle *directory,
	struct rr_catalog *catalog)
{
	int status = RR_EXIT_OK;

	for (size_t i = 0; i < catalog->count && !ls->cut_off; i++) {
		struct rr_catalog_entry *entry = &catalog->entries[i];
		struct rpcrdma_nfs_object object = { .size = sizeof(object) };
		int error = entry->object ? 0
					  : rpcrdma_nfs_lookup(
						    ls->remote.nfs, directory, entry->name, &object, NULL);

		if (error && error != RPCRDMA_NFS_NOENT && !rr_ls_has_vanished(ls, where, entry->name, error))
			status = rr_ls_fail_entry(ls, where, entry->name, error);
		if (!error && !entry->object && rr_catalog_know(catalog, entry, &object) < 0)
			return rr_tool_fail(ls->tool, "%.*s: there are more names than memory for them",
				RR_LS_WHERE, where);
	}
	return status;
}

/* Compares two entries by their times of modification, the later one first, and then by their names. Entries
 * without attributes come last. */
static int
ls_compare_times(const void *one, const void *other)
{
	const struct rr_catalog_entry *a = one, *b = other;
	const struct rpcrdma_nfs_object *x = a->object, *y = b->object;

	if (!x != !y)
		return x ? -1 : 1;
	if (x && x->modified.seconds != y->modified.seconds)
		return x->modified.seconds > y->modified.seconds ? -1 : 1;
	if (x && x->modified.nanoseconds != y->modified.nanoseconds)
		return x->modified.nanoseconds > y->modified.nanoseconds ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Reads the entries of a directory into the catalog, sorts them, and completes their attributes if attributes
 * are needed. A directory that was removed meanwhile is not listed, and that is no error. It is an error if
 * the names take too much memory, or if the tree seems to be endless. Sets *gathered if the entries are to be
 * listed, also after errors of single ones. Returns an exit status, after messages if it is not OK. */
static int
ls_gather(struct rr_ls *ls, const char *where, const struct rpcrdma_nfs_handle *directory,
	struct rr_catalog *catalog, bool *gathered)
{
	const char *endless;
	int status, error = rpcrdma_nfs_list(ls->remote.nfs, directory, rr_catalog_take, catalog);

	if (catalog->octets > RR_CATALOG_MAX)
		return rr_tool_fail(
			ls->tool, "%.*s: there are more names than memory for them", RR_LS_WHERE, where);
	if (rr_ls_has_vanished(ls, where, NULL, error))
		return RR_EXIT_OK;
	if (error)
		return rr_ls_fail(ls, where, NULL);
	endless = ls->recursive ? rr_trail_count(&ls->trail, catalog->count) : NULL;
	if (endless)
		return rr_tool_fail(ls->tool, "%.*s: %s", RR_LS_WHERE, where, endless);
	*gathered = true;
	rr_catalog_sort(catalog);
	if (rr_ls_only_names(ls) && !ls->recursive && !ls->by_time)
		return RR_EXIT_OK;
	status = ls_complete(ls, where, directory, catalog);
	if (ls->by_time && catalog->count > 1)
		qsort(catalog->entries, catalog->count, sizeof(catalog->entries[0]), ls_compare_times);
	return status;
}

static int ls_directory(struct rr_ls *ls, const char *where, const struct rpcrdma_nfs_object *directory);

/* Called for each entry with -R: lists the entry if it is a directory that is not hidden; does nothing for
 * other entries, or for an entry without attributes, which was removed meanwhile. ls->where has the name of
 * the directory that the entry is in, and of the entry itself meanwhile. Returns an exit status:
 * RR_EXIT_FAILED also after a signal. */
static int
ls_below(struct rr_ls *ls, const struct rr_catalog_entry *entry)
{
	size_t length = strlen(ls->where), room = sizeof(ls->where) - length;
	const char *slash = ls->where[length - 1] == '/' ? "" : "/";
	int status;

	if (rr_tool_interrupted(NULL))
		return RR_EXIT_FAILED;
	if (!entry->object || entry->object->type != RPCRDMA_NFS_DIRECTORY || rr_ls_is_hidden(ls, entry))
		return RR_EXIT_OK;
	if ((size_t)snprintf(ls->where + length, room, "%s%s", slash, entry->name) >= room)
		status = rr_tool_fail(ls->tool, "%.*s: the path is too long", RR_LS_WHERE, ls->where);
	else
		status = ls_directory(ls, ls->where, entry->object);
	ls->where[length] = '\0';
	return status;
}

/* Lists a directory, and with -R all directories below it. If a directory cannot be listed, that is reported,
 * and the others are listed. The same holds for an entry that the server does not describe, or for a link
 * whose target cannot be read, unless the server has not answered at all. ls->octets grows by the memory for
 * the names while the directories below are listed. Returns an exit status. */
static int
ls_contents(struct rr_ls *ls, const char *where, const struct rpcrdma_nfs_object *directory)
{
	const uint64_t before = ls->octets;
	struct rr_catalog catalog = { .octets = before };
	bool gathered = false;
	int status;

	ls->cut_off = false;
	status = ls_gather(ls, where, &directory->handle, &catalog, &gathered);
	if (gathered)
		rr_ls_print_head(ls, where);
	for (size_t i = 0; gathered && i < catalog.count && !ls->cut_off; i++)
		if (rr_ls_print(ls, where, &catalog.entries[i]) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	ls->octets = catalog.octets;
	for (size_t i = 0; gathered && ls->recursive && i < catalog.count; i++)
		if (ls_below(ls, &catalog.entries[i]) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	ls->octets = before;
	rr_catalog_free(&catalog);
	return status;
}

/* Lists a directory and, with -R, all directories below it, unless the tree seems to be endless. Returns an
 * exit status, after a message if it is not OK. */
static int
ls_directory(struct rr_ls *ls, const char *where, const struct rpcrdma_nfs_object *directory)
{
	const char *endless;
	int status;

	if (ls->trail.endless)
		return RR_EXIT_FAILED;
	endless = rr_trail_enter(&ls->trail, directory->filesystem, directory->number);
	if (endless)
		return rr_tool_fail(ls->tool, "%.*s: %s", RR_LS_WHERE, where, endless);
	status = ls_contents(ls, where, directory);
	rr_trail_leave(&ls->trail);
	return status;
}

/* ---- URLs ---- */

/* Prints the line of the object that the URL names, which is not a directory. The line shows the last name of
 * the URL, or "/" if the URL has no last name. `where`, for messages, is the URL without its last name.
 * Returns an exit status. */
static int
ls_file(struct rr_ls *ls, const struct rpcrdma_nfs_object *object)
{
	const struct rr_url *url = &ls->remote.url;
	const char *last = url->path + rr_remote_last(url);
	char name[RR_URL_PATH], where[sizeof(ls->remote.name)];
	struct rr_catalog catalog = { 0 };
	size_t length = strlen(ls->remote.name);
	int status;

	while (length > 0 && ls->remote.name[length - 1] == '/')
		length--;
	while (length > 0 && ls->remote.name[length - 1] != '/')
		length--;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(last, "/"), last);
	snprintf(where, sizeof(where), "%.*s", (int)length, ls->remote.name);
	if (rr_catalog_add(&catalog, name[0] ? name : url->path, object) < 0)
		return rr_tool_fail(ls->tool, "out of memory");
	status = rr_ls_print(ls, where, &catalog.entries[0]);
	rr_catalog_free(&catalog);
	return status;
}

/* Finds the object that the URL names, and lists it if it is a directory, or else prints its line. Returns an
 * exit status, after a message if it is not OK. */
static int
ls_show(struct rr_ls *ls)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	/* A symbolic link is followed only if no attributes are shown. */
	if (rr_nfs_find(ls->remote.nfs, ls->remote.rest, rr_ls_only_names(ls), &object) != 0)
		return rr_ls_fail(ls, ls->remote.name, NULL);
	if (object.type != RPCRDMA_NFS_DIRECTORY)
		return ls_file(ls, &object);
	snprintf(ls->where, sizeof(ls->where), "%s", ls->remote.name);
	return ls_directory(ls, ls->where, &object);
}

/* Connects to the server of the URL, and lists what the URL names. Returns an exit status, after a message if
 * it is not OK; after a signal, RR_EXIT_FAILED without a message. */
static int
ls_url(struct rr_ls *ls, struct rpcrdma_engine *engine, const char *url)
{
	struct rr_text text;
	int error, status;

	if (rr_tool_interrupted(NULL))
		return RR_EXIT_FAILED;
	ls->remote = ls->how;
	ls->trail = (struct rr_trail){ .depth = 0 };
	error = rr_remote_open(engine, url, &ls->remote, &text);
	status = error ? rr_advice_fail(ls->tool, &ls->remote.url, ls->remote.name, error, &text)
		       : ls_show(ls);
	rr_remote_close(&ls->remote);
	return status;
}

/* Lists each URL. If one fails, that is reported, and the others are listed. Returns an exit status. */
static int
ls_urls(struct rr_ls *ls, struct rpcrdma_engine *engine, int count, char **urls)
{
	int status = RR_EXIT_OK;

	ls->headed = ls->recursive || count > 1;
	if (ls->json)
		printf("[");
	for (int i = 0; i < count; i++)
		if (ls_url(ls, engine, urls[i]) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	if (ls->json)
		printf("]\n");
	return rr_tool_end_output(ls->tool, status);
}

static int
ls_parsed(struct rr_ls *ls, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int status = rr_filters_start(ls->tool, &ls->filters, &config);

	if (status != RR_EXIT_OK)
		return status;
	rr_tool_catch_signals();
	rr_trail_prepare();
	ls->how.tcp = ls->filters.transport == RR_TRANSPORT_TCP;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(ls->tool, &ls->filters, rr_tool_fail(ls->tool, "%s", text.text));
	status = ls_urls(ls, engine, argc, argv);
	rpcrdma_engine_free(engine);
	return rr_filters_end(ls->tool, &ls->filters, status);
}

static int
ls_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_ls *ls = calloc(1, sizeof(*ls));
	int status;

	if (!ls)
		return rr_tool_fail(tool, "out of memory");
	ls->tool = tool;
	status = rr_options_parse(tool, ls, &argc, &argv);
	if (status == RR_OPTIONS_GO_ON)
		status = ls_parsed(ls, argc, argv);
	free(ls);
	return status;
}

const struct rr_tool rr_tool_ls = {
	.name = "ls",
	.run = ls_run,
	.help = "List directories.",
	.operands = "URL...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.urls = true,
	.groups = {
		{ ls_options, 0 },
		{ rr_remote_options, offsetof(struct rr_ls, how) },
		{ rr_filters_transport, offsetof(struct rr_ls, filters) },
		{ rr_filters_options, offsetof(struct rr_ls, filters) },
		{ rr_filters_calls, offsetof(struct rr_ls, filters) },
	},
};
