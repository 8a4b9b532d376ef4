/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <inttypes.h>

#include "tool/attributes.h"
#include "tool/filters.h"
#include "tool/remote.h"
#include "tool/tool.h"

enum { OPT_HELP = 256, OPT_JSON };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	RR_VERBOSE_OPTION,
	RR_TRANSPORT_OPTION,
	RR_CALL_OPTION,
	RR_FILTER_OPTIONS,
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

const char rr_tool_stat_options[] =
	"      --json   print a JSON object\n" RR_VERBOSE_HELP RR_TRANSPORT_HELP RR_FILTER_HELP RR_CALL_HELP;

static void
print_handle(const struct rr_nfs_handle *handle)
{
	for (uint32_t i = 0; i < handle->length; i++)
		printf("%02x", handle->data[i]);
}

static void
print_json(const char *url, const struct rr_nfs_object *object, const char *target)
{
	printf("{\"url\":");
	rr_tool_json_string(stdout, url);
	printf(",");
	rr_attributes_json(stdout, &object->attributes);
	if (target[0]) {
		printf(",\"target\":");
		rr_tool_json_string(stdout, target);
	}
	printf(",\"handle\":\"");
	print_handle(&object->handle);
	printf("\"}\n");
}

static void
print_text(const char *url, const struct rr_nfs_object *object, const char *target)
{
	const fattr3 *attributes = &object->attributes;
	char mode[11], atime[48], mtime[48], ctime[48];

	rr_attributes_mode(attributes, mode);
	rr_attributes_time(attributes->atime, false, atime);
	rr_attributes_time(attributes->mtime, false, mtime);
	rr_attributes_time(attributes->ctime, false, ctime);
	printf("  File: ");
	rr_tool_put_name(stdout, url);
	if (target[0]) {
		printf(" -> ");
		rr_tool_put_name(stdout, target);
	}
	printf("\n  Type: %s\n  Size: %" PRIu64 " octets, %" PRIu64 " of storage used\n",
		rr_attributes_type(attributes->type), attributes->size, attributes->used);
	printf("  Mode: %04" PRIo32 " (%s)   uid: %" PRIu32 "   gid: %" PRIu32 "   links: %" PRIu32 "\n",
		attributes->mode & 07777, mode, attributes->uid, attributes->gid, attributes->nlink);
	printf("fileid: %" PRIu64 "   fsid: 0x%" PRIx64 "\n", attributes->fileid, attributes->fsid);
	printf("Access: %s\nModify: %s\nChange: %s\nHandle: ", atime, mtime, ctime);
	print_handle(&object->handle);
	printf("\n");
}

/* The object itself: a symbolic link is not followed. */
static int
show(const struct rr_tool *tool, struct rr_remote *remote, bool json)
{
	struct rr_nfs_object object;
	char target[RR_NFS_PATH] = "";
	int error = rr_nfs_walk(remote->nfs, rr_nfs_rest(remote->nfs), false, &object);

	if (!error && object.attributes.type == NF3LNK)
		error = rr_nfs_readlink(remote->nfs, &object.handle, target);
	if (error)
		return rr_tool_fail(tool, "%s: %s", remote->name, rr_nfs_error(remote->nfs));
	(json ? print_json : print_text)(remote->name, &object, target);
	return rr_tool_end_output(tool, RR_EXIT_OK);
}

int
rr_tool_stat(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_filters filters = { 0 };
	struct rr_engine *engine;
	struct rr_remote remote = { 0 };
	struct rr_text text;
	bool json = false;
	int option, result;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":v", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		if (option == OPT_JSON)
			json = true;
		else if (option == 'v')
			remote.verbose = true;
		else if (!rr_filters_is_option(option))
			return rr_tool_bad_option(tool, option, argv[optind - 1]);
		else if (rr_filters_option(tool, &filters, option, optarg))
			return RR_EXIT_USAGE;
	}
	if (argc - optind != 1 || !rr_url_is(argv[optind]))
		return rr_tool_usage(tool, "one URL is wanted: nfs://HOST[:PORT]/PATH");
	rr_tool_catch_signals();
	if (rr_filters_start(tool, &filters, &config))
		return RR_EXIT_FAILED;
	remote.tcp = filters.tcp;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(tool, &filters, rr_tool_fail(tool, "%s", text.text));
	if (rr_remote_open(engine, argv[optind], &remote, &text) == 0)
		result = show(tool, &remote, json);
	else
		result = rr_tool_fail(tool, "%s: %s", remote.name, text.text);
	rr_remote_close(&remote);
	rr_engine_free(engine);
	return rr_filters_end(tool, &filters, result);
}
