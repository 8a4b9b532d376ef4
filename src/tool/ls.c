/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "tool/attributes.h"
#include "tool/catalog.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* Lists one directory whole, sorted by name, those that begin with a dot too; or shows one file. */

enum { OPT_HELP = 256, OPT_JSON };

static const struct option long_options[] = {
	{ "long", no_argument, NULL, 'l' },
	{ "json", no_argument, NULL, OPT_JSON },
	RR_VERBOSE_OPTION,
	RR_TRANSPORT_OPTION,
	RR_CALL_OPTION,
	RR_FILTER_OPTIONS,
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

const char rr_tool_ls_options[] =
	"  -l, --long   with mode, links, owner, group, size, time, and where links lead\n"
	"      --json   print a JSON array\n" RR_VERBOSE_HELP RR_TRANSPORT_HELP RR_FILTER_HELP RR_CALL_HELP;

enum format { FORMAT_NAMES, FORMAT_LONG, FORMAT_JSON };

struct ls {
	const struct rr_tool *tool;
	struct rr_remote remote;
	struct rr_catalog catalog;
	enum format format;
	size_t printed;
};

static int
fail(struct ls *ls, const char *name)
{
	return rr_tool_fail(ls->tool, "%s%s%s: %s", ls->remote.name, name ? "/" : "", name ? name : "",
		rr_nfs_error(ls->remote.nfs));
}

static void
print_long(const struct rr_catalog_entry *entry, const char *target)
{
	const fattr3 *attributes = &entry->object.attributes;
	char mode[11], time[48];

	rr_attributes_mode(attributes, mode);
	rr_attributes_time(attributes->mtime, true, time);
	printf("%s %3" PRIu32 " %5" PRIu32 " %5" PRIu32 " %12" PRIu64 " %s ", mode, attributes->nlink,
		attributes->uid, attributes->gid, attributes->size, time);
	rr_tool_put_name(stdout, entry->name);
	if (target[0])
		printf(" -> ");
	rr_tool_put_name(stdout, target);
	printf("\n");
}

static void
print_json(struct ls *ls, const struct rr_catalog_entry *entry, const char *target)
{
	printf("%s{\"name\":", ls->printed++ ? ",\n" : "");
	rr_tool_json_string(stdout, entry->name);
	printf(",");
	rr_attributes_json(stdout, &entry->object.attributes);
	if (target[0])
		printf(",\"target\":");
	if (target[0])
		rr_tool_json_string(stdout, target);
	printf("}");
}

static int
print_entry(struct ls *ls, const struct rr_catalog_entry *entry)
{
	char target[RR_NFS_PATH] = "";

	if (!entry->known && ls->format != FORMAT_NAMES)
		return RR_EXIT_OK;
	if (ls->format == FORMAT_NAMES) {
		rr_tool_put_name(stdout, entry->name);
		printf("\n");
		return RR_EXIT_OK;
	}
	if (entry->object.attributes.type == NF3LNK &&
		rr_nfs_readlink(ls->remote.nfs, &entry->object.handle, target) != 0)
		return fail(ls, entry->name);
	if (ls->format == FORMAT_LONG)
		print_long(entry, target);
	else
		print_json(ls, entry, target);
	return RR_EXIT_OK;
}

/* Asks for what READDIRPLUS left out. An entry that is gone meanwhile stays unknown. */
static int
complete(struct ls *ls, const struct rr_nfs_handle *directory)
{
	for (size_t i = 0; i < ls->catalog.count; i++) {
		struct rr_catalog_entry *entry = &ls->catalog.entries[i];
		int error = entry->known
				    ? 0
				    : rr_nfs_lookup(ls->remote.nfs, directory, entry->name, &entry->object);

		if (error && error != NFS3ERR_NOENT)
			return fail(ls, entry->name);
		entry->known = !error;
	}
	return RR_EXIT_OK;
}

static int
gather(struct ls *ls)
{
	struct rr_nfs *nfs = ls->remote.nfs;
	const char *slash = strrchr(ls->remote.url.path, '/');
	struct rr_nfs_object object;

	if (rr_nfs_walk(nfs, rr_nfs_rest(nfs), ls->format == FORMAT_NAMES, &object) != 0)
		return fail(ls, NULL);
	if (object.attributes.type != NF3DIR) {
		if (rr_catalog_add(&ls->catalog, slash[1] ? slash + 1 : ls->remote.url.path, &object) == 0)
			return RR_EXIT_OK;
		return rr_tool_fail(ls->tool, "out of memory");
	}
	if (rr_nfs_readdir(nfs, &object.handle, rr_catalog_take, &ls->catalog) != 0)
		return fail(ls, NULL);
	rr_catalog_sort(&ls->catalog);
	return ls->format == FORMAT_NAMES ? RR_EXIT_OK : complete(ls, &object.handle);
}

static int
list(struct ls *ls)
{
	int result = gather(ls);

	if (result != RR_EXIT_OK)
		return result;
	if (ls->format == FORMAT_JSON)
		printf("[");
	for (size_t i = 0; i < ls->catalog.count && result == RR_EXIT_OK; i++)
		result = print_entry(ls, &ls->catalog.entries[i]);
	if (ls->format == FORMAT_JSON)
		printf("]\n");
	return rr_tool_end_output(ls->tool, result);
}

int
rr_tool_ls(const struct rr_tool *tool, int argc, char **argv)
{
	struct ls ls = { .tool = tool };
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_filters filters = { 0 };
	struct rr_engine *engine;
	struct rr_text text;
	int option, result;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":lv", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		if (option == '?' || option == ':')
			return rr_tool_bad_option(tool, option, argv[optind - 1]);
		if (option == 'v')
			ls.remote.verbose = true;
		else if (!rr_filters_is_option(option))
			ls.format = option == OPT_JSON ? FORMAT_JSON : FORMAT_LONG;
		else if (rr_filters_option(tool, &filters, option, optarg))
			return RR_EXIT_USAGE;
	}
	if (argc - optind != 1 || !rr_url_is(argv[optind]))
		return rr_tool_usage(tool, "one URL is wanted: nfs://HOST[:PORT]/PATH");
	rr_tool_catch_signals();
	if (rr_filters_start(tool, &filters, &config))
		return RR_EXIT_FAILED;
	ls.remote.tcp = filters.tcp;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(tool, &filters, rr_tool_fail(tool, "%s", text.text));
	if (rr_remote_open(engine, argv[optind], &ls.remote, &text) == 0)
		result = list(&ls);
	else
		result = rr_tool_fail(tool, "%s: %s", ls.remote.name, text.text);
	rr_catalog_free(&ls.catalog);
	rr_remote_close(&ls.remote);
	rr_engine_free(engine);
	return rr_filters_end(tool, &filters, result);
}
