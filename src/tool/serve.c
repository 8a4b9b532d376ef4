/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tool/address.h"
#include "tool/guard.h"
#include "tool/tool.h"
#include "tool/workers.h"

enum { RDMA_PORT = 20049, TCP_PORT = 2049 };

static int
serve_take_listen(const struct rr_tool *tool, void *state, const char *spec)
{
	struct rr_serve *serve = state;
	struct rr_serve_address *address = &serve->addresses[serve->address_count];
	struct rr_text text;

	if (serve->address_count == RR_SERVE_ADDRESSES)
		return rr_tool_usage(tool, "at most %d addresses can be listened at", RR_SERVE_ADDRESSES);
	if (rr_tool_listen_address(spec, RDMA_PORT, &address->rdma, &address->size, &text) < 0)
		return rr_tool_usage(tool, "--listen: %s", text.text);
	serve->address_count++;
	return RR_EXIT_OK;
}

/* A list of versions: 3, 4, or both. */
static int
serve_take_nfs(const struct rr_tool *tool, void *state, const char *list)
{
	struct rr_serve *serve = state;
	bool known = strcmp(list, "3") == 0 || strcmp(list, "4") == 0 || strcmp(list, "3,4") == 0;

	if (!known)
		return rr_tool_usage(tool, "--nfs takes 3, 4 or 3,4, not '%s'", list);
	serve->version3 = list[0] == '3';
	serve->version4 = strchr(list, '4') != NULL;
	return RR_EXIT_OK;
}

static int
serve_take_no_root_squash(const struct rr_tool *tool, void *state, const char *argument)
{
	(void)tool, (void)argument;
	((struct rr_serve *)state)->right.squash = RR_SQUASH_NONE;
	return RR_EXIT_OK;
}

static const struct rr_option serve_options[] = {
	{ .letter = 'l',
		.name = "listen",
		.argument = "ADDR[:PORT]",
		.help = "address to serve at, more than once if wanted (127.0.0.1:20049)",
		.kind = RR_OPTION_CALL,
		.take = serve_take_listen },
	{ .name = "tcp-port",
		.argument = "N",
		.help = "port for NFS over TCP at the same addresses; 0: none (2049)",
		.kind = RR_OPTION_NUMBER,
		.high = 65535,
		.at = offsetof(struct rr_serve, tcp_port) },
	{ .letter = 't',
		.name = "transport",
		.argument = "KIND",
		.help = "verbs (RDMA adapters), iwarp (TCP sockets), or auto: verbs at an address of an "
			"adapter, "
			"both at '*', iwarp at others (auto)",
		.kind = RR_OPTION_WORD,
		.words = rr_filters_transports,
		.at = offsetof(struct rr_serve, filters.transport) },
	{ .letter = 'r',
		.name = "read-only",
		.help = "refuse every change",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_serve, right.read_only) },
	{ .name = "no-root-squash",
		.help = "let remote root act as root",
		.kind = RR_OPTION_CALL,
		.take = serve_take_no_root_squash },
	{ .name = "ceph-conf",
		.argument = "FILE",
		.help = "of directories in CephFS: the cluster's configuration",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, ceph_conf) },
	{ .name = "ceph-user",
		.argument = "NAME",
		.help = "of directories in CephFS: the user of the cluster (admin)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, ceph_user) },
	{ .name = "nfs",
		.argument = "VERSIONS",
		.help = "versions of NFS to serve: 3, 4 (which is 4.1 and 4.2), or 3,4 (3,4)",
		.kind = RR_OPTION_CALL,
		.take = serve_take_nfs },
	{ .name = "key",
		.argument = "FILE",
		.help = "where the key of file handles is kept",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, key_path) },
	{ .name = "state",
		.argument = "DIR",
		.help = "where it is kept which clients of version 4 may reclaim locks after a restart",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, state_path) },
	{ 0 },
};

/* PATH, or PATH?fs=NAME, in CephFS. */
static int
serve_parse_ceph(const struct rr_tool *tool, struct rr_serve *serve, char *argument)
{
	static const char query[] = "?fs=";
	char *file_system = strstr(argument, query);

	if (argument[strlen(RR_SERVE_CEPH)] != '/')
		return rr_tool_usage(tool, "%s: a path in CephFS begins with '/'", argument);
	serve->ceph = true;
	if (!file_system)
		return RR_EXIT_OK;
	*file_system = '\0';
	file_system += strlen(query);
	if (serve->file_system && strcmp(serve->file_system, file_system) != 0)
		return rr_tool_usage(tool, "one server serves one file system of a cluster");
	serve->file_system = file_system;
	return RR_EXIT_OK;
}

/* DIR or DIR=/NAME. Without a name, an only directory is "/", one of several "/" and its last component. */
static int
serve_parse_export(const struct rr_tool *tool, struct rr_serve *serve, struct rr_tree_export *export,
	char *argument, bool only)
{
	bool ceph = strncmp(argument, RR_SERVE_CEPH, strlen(RR_SERVE_CEPH)) == 0;
	char *name = strstr(argument, "=/"), *path;

	if (name)
		*name++ = '\0';
	if (ceph && serve_parse_ceph(tool, serve, argument) != RR_EXIT_OK)
		return RR_EXIT_USAGE;
	path = ceph ? strdup(argument) : realpath(argument, NULL); /* lives as long as the program serves */
	if (!path)
		return rr_tool_fail(tool, "%s: %s; name a directory that exists", argument, strerror(errno));
	export->path = path;
	export->name = name ? name : only ? "/" : strrchr(path, '/');
	if (ceph == serve->ceph)
		return RR_EXIT_OK;
	return rr_tool_usage(tool, "directories of this machine and of CephFS want a server each");
}

static int
serve_parse_exports(const struct rr_tool *tool, struct rr_serve *serve, int argc, char **argv)
{
	if (argc > RR_SERVE_EXPORTS)
		return rr_tool_usage(tool, "at most %d directories can be served", RR_SERVE_EXPORTS);
	for (int i = 0; i < argc; i++) {
		int status = serve_parse_export(tool, serve, &serve->exports[i], argv[i], argc == 1);

		if (status != RR_EXIT_OK)
			return status;
	}
	serve->tree.exports = serve->exports;
	serve->tree.export_count = (uint32_t)argc;
	return RR_EXIT_OK;
}

/* Everybody may use all directories, as the options say. */
static int
serve_rules(const struct rr_tool *tool, struct rr_serve *serve)
{
	struct rr_text text;

	if (rr_rules_new(&rr_env_system, serve->tree.export_count, &serve->rules) < 0)
		return rr_tool_fail(tool, "out of memory");
	for (uint32_t i = 0; i < serve->tree.export_count; i++)
		if (rr_rules_add(serve->rules, i, "*", &serve->right, &text) < 0)
			return rr_tool_fail(tool, "%s", text.text);
	return RR_EXIT_OK;
}

/* The server keeps descriptors of hot files: take what the system allows. */
static void
serve_raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void
serve_free_exports(struct rr_serve *serve)
{
	for (size_t i = 0; i < RR_SERVE_EXPORTS; i++) {
		char *path;

		memcpy(&path, &serve->exports[i].path, sizeof(path));
		free(path);
	}
}

struct serving {
	const struct rr_tool *tool;
	struct rr_serve *serve;
};

static int
serve_go(void *ctx)
{
	const struct serving *serving = ctx;
	struct rr_serve *serve = serving->serve;
	int status = rr_filters_start(serving->tool, &serve->filters, &serve->workers.engine);

	return status == RR_EXIT_OK
		       ? rr_filters_end(serving->tool, &serve->filters, rr_serve_run(serving->tool, serve))
		       : status;
}

static bool
serve_storage_may_hang(const struct rr_serve *serve)
{
	bool may = false;

	for (uint32_t i = 0; i < serve->tree.export_count; i++)
		may |= !serve->ceph && rr_guard_wanted(serve->exports[i].path);
	return may;
}

static int
serve_parsed(const struct rr_tool *tool, struct rr_serve *serve, int argc, char **argv)
{
	struct serving serving = { tool, serve };
	struct rr_text text;
	int status;

	if (serve->filters.transport == RR_TRANSPORT_TCP)
		return rr_tool_usage(tool, "--transport is of RDMA; --tcp-port is where TCP is served");
	status = serve_parse_exports(tool, serve, argc, argv);
	if (status == RR_EXIT_OK)
		status = serve_rules(tool, serve);
	if (status == RR_EXIT_OK && serve->address_count == 0)
		status = serve_take_listen(tool, serve, "127.0.0.1");
	if (status != RR_EXIT_OK)
		return status;
	if (rr_vfs_key(&rr_env_system, serve->key_path, serve->tree.key, &text) < 0)
		return rr_tool_fail(tool, "%s; --key names another file", text.text);
	umask(0); /* modes are the clients' */
	serve_raise_descriptor_limit();
	return serve_storage_may_hang(serve) ? rr_guard_run(serve_go, &serving) : serve_go(&serving);
}

static int
serve_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_serve serve = {
		.workers = { .tool = tool, .engine = rr_engine_config_default, .count = 1 },
		.version3 = true,
		.version4 = true,
		.right = { .anon_uid = RR_VFS_NOBODY,
			.anon_gid = RR_VFS_NOBODY,
			.flavors = RR_RIGHT_SYS | RR_RIGHT_NONE,
			.versions = RR_RIGHT_V3 | RR_RIGHT_V4 },
		.tcp_port = TCP_PORT,
	};
	int status = rr_options_parse(tool, &serve, &argc, &argv);

	if (status == RR_OPTIONS_GO_ON)
		status = serve_parsed(tool, &serve, argc, argv);
	rr_rules_release(serve.rules);
	serve_free_exports(&serve);
	return status;
}

const struct rr_tool rr_tool_serve = {
	.name = "serve",
	.run = serve_run,
	.help = "Serve directories over NFS versions 3, 4.1 and 4.2, by RDMA and TCP.",
	.operands = "DIRECTORY[=/NAME]...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.notes = "An only DIRECTORY without NAME is served as /, one of several as / and its last component.\n"
		 "SIGTERM and Ctrl-C answer what was received, then end.\n",
	.groups = {
		{ serve_options, 0 },
		{ rr_workers_options, offsetof(struct rr_serve, workers) },
		{ rr_filters_options, offsetof(struct rr_serve, filters) },
	},
};
