/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/serve.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tool/address.h"
#include "tool/tool.h"
#include "tool/workers.h"

enum { RDMA_PORT = 20049, TCP_PORT = 2049 };

enum option_value {
	OPT_CREDITS = 256,
	OPT_HELP,
	OPT_INLINE,
	OPT_KEY,
	OPT_NO_ROOT_SQUASH,
	OPT_PROVIDED,
	OPT_NO_PROVIDED,
	OPT_TCP_PORT
};

const char rr_tool_serve_options[] =
	"  -l, --listen ADDR[:PORT]  address to serve at, more than once if wanted (127.0.0.1:20049)\n"
	"      --tcp-port N          port for NFS over TCP at the same addresses; 0: none (2049)\n"
	"  -t, --transport KIND      verbs (RDMA adapters), iwarp (TCP sockets), or auto: verbs at an "
	"address of\n"
	"                            an adapter, both at '*', iwarp at others (auto)\n"
	"  -r, --read-only           refuse every change\n"
	"      --no-root-squash      let remote root act as root\n"
	"  -n, --threads N           threads, each with connections of its own (1)\n"
	"      --key FILE            where the key of file handles is kept\n"
	"      --credits N           calls that a connection may have outstanding (64)\n"
	"      --inline N            inline threshold to offer, octets: a multiple of 1024 (4096)\n"
	"      --provided N          large replies that a connection may keep in Read chunks (as --credits)\n"
	"      --no-provided         never expose a large reply in Read chunks: one without room becomes an "
	"error\n"
	"  -v, --verbose             log what happens to connections\n" RR_FILTER_HELP
	"An only DIR without NAME is served as /, one of several as / and its last component.\n"
	"SIGTERM and Ctrl-C answer what was received, then end.\n";

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "transport", required_argument, NULL, 't' },
	{ "tcp-port", required_argument, NULL, OPT_TCP_PORT },
	{ "read-only", no_argument, NULL, 'r' },
	{ "no-root-squash", no_argument, NULL, OPT_NO_ROOT_SQUASH },
	{ "threads", required_argument, NULL, 'n' },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "credits", required_argument, NULL, OPT_CREDITS },
	{ "inline", required_argument, NULL, OPT_INLINE },
	{ "provided", required_argument, NULL, OPT_PROVIDED },
	{ "no-provided", no_argument, NULL, OPT_NO_PROVIDED },
	{ "verbose", no_argument, NULL, 'v' },
	RR_FILTER_OPTIONS,
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int
parse_listen(const struct rr_tool *tool, struct rr_serve *serve, const char *spec)
{
	struct rr_serve_address *address = &serve->addresses[serve->address_count];
	struct rr_text text;

	if (serve->address_count == RR_SERVE_ADDRESSES)
		return rr_tool_usage(tool, "at most %d addresses can be listened at", RR_SERVE_ADDRESSES);
	if (rr_tool_listen_address(spec, RDMA_PORT, &address->rdma, &address->size, &text) < 0)
		return rr_tool_usage(tool, "--listen: %s", text.text);
	serve->address_count++;
	return RR_EXIT_OK;
}

static int
parse_number(const struct rr_tool *tool, const char *name, unsigned long low, unsigned long high,
	unsigned long *number)
{
	if (rr_tool_number(optarg, high, number) < 0 || *number < low)
		return rr_tool_usage(
			tool, "--%s takes a number from %lu to %lu, not '%s'", name, low, high, optarg);
	return RR_EXIT_OK;
}

static int
parse_option(const struct rr_tool *tool, struct rr_serve *serve, int option)
{
	unsigned long number = 0;
	int status;

	switch (option) {
	case 'l': return parse_listen(tool, serve, optarg);
	case 't':
		if (strcmp(optarg, "tcp") == 0)
			return rr_tool_usage(
				tool, "--transport is of RDMA; --tcp-port is where TCP is served");
		return rr_filters_option(tool, &serve->filters, RR_OPT_TRANSPORT, optarg);
	case 'r': serve->tree.read_only = true; return RR_EXIT_OK;
	case 'v': serve->verbose = true; return RR_EXIT_OK;
	case OPT_NO_ROOT_SQUASH: serve->tree.root_squash = false; return RR_EXIT_OK;
	case OPT_KEY: serve->key_path = optarg; return RR_EXIT_OK;
	case OPT_TCP_PORT:
		status = parse_number(tool, "tcp-port", 0, 65535, &number);
		serve->tcp_port = (uint16_t)number;
		return status;
	case 'n':
		status = parse_number(tool, "threads", 1, RR_WORKERS_MAX, &number);
		serve->thread_count = (uint32_t)number;
		return status;
	case OPT_CREDITS:
		status = parse_number(tool, "credits", 1, 1024, &number);
		serve->engine.credits = (uint32_t)number;
		return status;
	case OPT_NO_PROVIDED: serve->engine.read_chunks = false; return RR_EXIT_OK;
	case OPT_PROVIDED:
		status = parse_number(tool, "provided", 1, 4096, &number);
		serve->engine.provided_max = (uint32_t)number;
		return status;
	case OPT_INLINE:
		status = parse_number(tool, "inline", 1024, 262144, &number);
		if (status == RR_EXIT_OK && number % 1024 != 0)
			return rr_tool_usage(tool,
				"--inline takes a multiple of 1024 from 1024 to 262144, not %lu", number);
		serve->engine.inline_send = serve->engine.inline_receive = (uint32_t)number;
		return status;
	}
	if (rr_filters_is_option(option))
		return rr_filters_option(tool, &serve->filters, option, optarg);
	return rr_tool_usage(tool, "see `rpcrdma serve --help`");
}

/* DIR or DIR=/NAME. Without a name, an only directory is "/", one of several "/" and its last component. */
static int
parse_export(const struct rr_tool *tool, struct rr_export *export, char *argument, bool only)
{
	char *name = strstr(argument, "=/"), *path, *last;

	if (name)
		*name++ = '\0';
	path = realpath(argument, NULL); /* lives as long as the program serves */
	if (!path)
		return rr_tool_fail(tool, "%s: %s; name a directory that exists", argument, strerror(errno));
	last = strrchr(path, '/');
	export->path = path;
	export->name = name ? name : only ? "/" : last;
	return RR_EXIT_OK;
}

static int
parse_exports(const struct rr_tool *tool, struct rr_serve *serve, int argc, char **argv)
{
	if (argc == 0)
		return rr_tool_usage(tool, "which directory is to be served?");
	if (argc > RR_SERVE_EXPORTS)
		return rr_tool_usage(tool, "at most %d directories can be served", RR_SERVE_EXPORTS);
	for (int i = 0; i < argc; i++) {
		int status = parse_export(tool, &serve->exports[i], argv[i], argc == 1);

		if (status != RR_EXIT_OK)
			return status;
	}
	serve->tree.exports = serve->exports;
	serve->tree.export_count = (uint32_t)argc;
	return RR_EXIT_OK;
}

/* The server keeps descriptors of hot files: take what the system allows. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void
free_exports(struct rr_serve *serve)
{
	for (size_t i = 0; i < RR_SERVE_EXPORTS; i++) {
		char *path;

		memcpy(&path, &serve->exports[i].path, sizeof(path));
		free(path);
	}
}

int
rr_tool_serve(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_serve serve = {
		.engine = rr_engine_config_default,
		.tree.root_squash = true,
		.tcp_port = TCP_PORT,
		.thread_count = 1,
	};
	int option, status = RR_EXIT_OK;
	struct rr_text text;

	while (status == RR_EXIT_OK &&
		(option = getopt_long(argc, argv, "+l:t:rn:v", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(tool);
		status = parse_option(tool, &serve, option);
	}
	if (status == RR_EXIT_OK)
		status = parse_exports(tool, &serve, argc - optind, argv + optind);
	if (status == RR_EXIT_OK && serve.address_count == 0)
		status = parse_listen(tool, &serve, "127.0.0.1");
	if (status == RR_EXIT_OK && rr_tree_key(&rr_env_system, serve.key_path, serve.tree.key, &text) < 0)
		status = rr_tool_fail(tool, "%s; --key names another file", text.text);
	if (status == RR_EXIT_OK) {
		umask(0); /* modes are the clients' */
		raise_descriptor_limit();
		status = rr_filters_start(tool, &serve.filters, &serve.engine);
		if (status == RR_EXIT_OK)
			status = rr_filters_end(tool, &serve.filters, rr_serve_run(tool, &serve));
	}
	free_exports(&serve);
	return status;
}
