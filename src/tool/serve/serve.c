/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/auth/gss_server.h"
#include "tool/address.h"
#include "tool/guard.h"
#include "tool/tool.h"
#include "tool/workers.h"

enum { RDMA_PORT = 20049, TCP_PORT = 2049 };

/* The minor versions of version 4 that are served. */
enum { SERVE_MINORS = RR_NFS4_MINOR_0 | RR_NFS4_MINOR_1 | RR_NFS4_MINOR_2 };

/* Takes the argument of --listen, an address for RDMA; the server listens there over TCP, too, at the port of
 * --tcp-port. */
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

/* The versions that --nfs names: version 3, or minor versions of version 4, as bits RR_NFS4_MINOR_*. */
static const struct {
	const char *name;
	bool version3;
	uint32_t minors;
} serve_versions[] = {
	{ "3", true, 0 },
	{ "4", false, SERVE_MINORS },
	{ "4.0", false, RR_NFS4_MINOR_0 },
	{ "4.1", false, RR_NFS4_MINOR_1 },
	{ "4.2", false, RR_NFS4_MINOR_2 },
};

/* Adds the version of that name to those that are served. Returns false if there is no such version. */
static bool
serve_add_version(struct rr_serve *serve, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(serve_versions) / sizeof(*serve_versions); i++) {
		if (strlen(serve_versions[i].name) != length ||
			memcmp(serve_versions[i].name, name, length) != 0)
			continue;
		serve->version3 |= serve_versions[i].version3;
		serve->minors |= serve_versions[i].minors;
		return true;
	}
	return false;
}

/* Stores which versions of NFS are to be served. The argument of --nfs lists them, with commas between.
 * Returns an exit status, after a message if it is not OK. */
static int
serve_take_nfs(const struct rr_tool *tool, void *state, const char *list)
{
	struct rr_serve *serve = state;
	const char *name = list;
	bool known = true;

	serve->version3 = false;
	serve->minors = 0;
	while (known && name) {
		size_t length = strcspn(name, ",");

		known = serve_add_version(serve, name, length);
		name = name[length] ? name + length + 1 : NULL;
	}
	serve->version4 = serve->minors != 0;
	if (!known)
		return rr_tool_usage(
			tool, "--nfs takes 3, 4, 4.0, 4.1 and 4.2, with commas between, not '%s'", list);
	return RR_EXIT_OK;
}

/* Takes the option --no-root-squash, for clients that no rule of the configuration file describes. */
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
		.at = offsetof(struct rr_serve, tree.read_only) },
	{ .name = "allow",
		.argument = "CLIENT[(OPTIONS)]",
		.help = "only this client may use the directories: an address, a network or a host; more "
			"than once if wanted (*)",
		.kind = RR_OPTION_CALL,
		.take = rr_serve_take_allow },
	{ .name = "no-root-squash",
		.help = "let remote root act as root",
		.kind = RR_OPTION_CALL,
		.take = serve_take_no_root_squash },
	{ .name = "manage-gids",
		.help = "look up the groups of each user here, instead of believing the at most 16 groups "
			"that a client sends",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_serve, manage_gids) },
	{ .name = "idmap-domain",
		.argument = "DOMAIN",
		.help = "of version 4: the domain of names of users, USER@DOMAIN (that of /etc/idmapd.conf, "
			"else the DNS domain of this machine)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, idmap_domain) },
	{ .name = "nfs",
		.argument = "VERSIONS",
		.help = "versions of NFS to serve, with commas between: 3, 4.0, 4.1, 4.2, or 4, which is all "
			"of 4 (3,4)",
		.kind = RR_OPTION_CALL,
		.take = serve_take_nfs },
	{ .name = "lease",
		.argument = "SECONDS",
		.help = "of version 4: how long a client that is silent keeps its opens and locks, and how "
			"long "
			"clients may reclaim them after a restart (90)",
		.kind = RR_OPTION_NUMBER,
		.low = 10,
		.high = 3600,
		.at = offsetof(struct rr_serve, lease) },
	{ .name = "key",
		.argument = "FILE",
		.help = "where the key of file handles is kept",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, key_path) },
	{ .name = "keytab",
		.argument = "FILE",
		.help = "take Kerberos, with the key of nfs/HOST in this keytab",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, keytab) },
	{ .name = "state",
		.argument = "DIR",
		.help = "where it is kept which clients may reclaim locks after a restart",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve, state_path) },
	{ 0 },
};

/* The argument of serve_go(). */
struct serve_serving {
	const struct rr_tool *tool;
	struct rr_serve *serve;
};

/* Starts the filters, serves until a signal ends that, and ends the filters. Runs in this process, or in the
 * child process of the guard. Returns the exit status. */
static int
serve_go(void *ctx)
{
	const struct serve_serving *serving = ctx;
	struct rr_serve *serve = serving->serve;
	int status;

	if (serve->kerberos)
		rr_tool_keep_core();
	status = rr_tool_secure_begin(serving->tool, &serve->secure, &serve->workers.engine);
	if (status == RR_EXIT_OK)
		status = rr_filters_start(serving->tool, &serve->filters, &serve->workers.engine);
	if (status == RR_EXIT_OK) {
		rr_tool_secure_mind(serving->tool, &serve->secure);
		status = rr_filters_end(serving->tool, &serve->filters, rr_serve_run(serving->tool, serve));
	}
	rr_tool_secure_end(&serve->secure);
	return status;
}

/* Tells whether a directory that is served is in a file system whose system calls may hang: then the server
 * runs in a child process (guard.h), so that it can be ended nevertheless. */
static bool
serve_storage_may_hang(const struct rr_serve *serve)
{
	bool may = false;

	for (uint32_t i = 0; i < serve->tree.export_count; i++)
		may |= serve->provider->may_hang && serve->provider->may_hang(serve->exports[i].path);
	return may;
}

/* Reads the key of file handles, and serves, in a child process if the storage may hang (guard.h). Returns
 * the exit status. */
static int
serve_start(const struct rr_tool *tool, struct rr_serve *serve)
{
	struct serve_serving serving = { tool, serve };
	struct rr_text text;
	int status;

	if (rr_vfs_key(&rr_env_system, serve->key_path, serve->tree.key, &text) < 0)
		return rr_tool_fail(tool, "%s; --key names another file", text.text);
	status = rr_tool_secure_make(tool, &serve->secure);
	if (status != RR_EXIT_OK)
		return status;
	if (serve->kerberos && rr_gss_shared_new(&rr_env_system, serve->keytab, &serve->gss, &text) < 0)
		return rr_tool_fail(tool, "%s", text.text);
	umask(0); /* the clients choose the modes of files */
	/* Both processes are confined where there are two: a thread of the second one is made at once. */
	status = rr_serve_confine(tool, serve);
	if (status != RR_EXIT_OK)
		return status;
	/* With a configuration file or a certificate, SIGHUP has it read again, and does not end the server.
	 */
	return serve_storage_may_hang(serve)
		       ? rr_guard_run(serve_go, &serving, serve->config.path || serve->secure.files.cert)
		       : serve_go(&serving);
}

/* ---- The command line and the configuration file ---- */

void
rr_serve_free(struct rr_serve *serve)
{
	if (!serve)
		return;
	for (size_t i = 0; i < RR_SERVE_EXPORTS; i++) {
		char *path;

		/* The member is a pointer to const, as others only read the path. */
		memcpy(&path, &serve->exports[i].path, sizeof(path));
		free(path);
		free(serve->texts[i]);
	}
	rr_gss_shared_free(serve->gss);
	rr_rules_release(serve->rules);
	rr_conf_free(&serve->config.conf);
	free(serve);
}

/* Adds the directories that the operands of the command line name to those that are served. If an operand is
 * the only directory of all, that directory is served as "/". Returns an exit status, after a message if it
 * is not OK. */
static int
serve_operands(const struct rr_tool *tool, struct rr_serve *serve, int argc, char **argv)
{
	bool only = argc == 1;
	int status = RR_EXIT_OK;

	for (size_t i = 0; i < RR_SERVE_EXPORTS; i++)
		only &= !serve->texts[i];
	for (int i = 0; i < argc && status == RR_EXIT_OK; i++) {
		uint32_t number;

		status = rr_serve_add(
			tool, serve, argv[i], only ? RR_SERVE_AS_ROOT : RR_SERVE_BY_COMPONENT, &number);
	}
	return status;
}

/* Called when all options were read: checks them, adds the directories of the operands, and gives rules to
 * the directories that have none of their own. If no address was given, the server is to listen at 127.0.0.1.
 * Returns RR_OPTIONS_GO_ON, or an exit status after a message. */
static int
serve_complete(const struct rr_tool *tool, struct rr_serve *serve, int argc, char **argv)
{
	struct rr_text text;
	int status;

	if (serve->filters.transport == RR_TRANSPORT_TCP)
		return rr_tool_usage(tool, "--transport is of RDMA; --tcp-port is where TCP is served");
	if (serve->rpcbind.socket && serve->tcp_port == 0 && !serve->rpcbind.rdma)
		return rr_tool_usage(
			tool, "--rpcbind registers TCP, and there is none; --rpcbind-rdma registers RDMA");
	if (serve->keytab)
		serve->right.flavors |= RR_RIGHT_KERBEROS;
	status = rr_tool_secure_name(tool, &serve->secure, serve->key_path);
	if (status == RR_EXIT_OK)
		status = serve_operands(tool, serve, argc, argv);
	if (status == RR_EXIT_OK)
		status = rr_serve_rules(tool, serve);
	/* The rules of a server that runs count for the certificates that it began with. */
	if (status == RR_EXIT_OK &&
		!rr_rules_are_met(serve->rules,
			rr_tool_secure_offers(serve->running ? &serve->running->secure : &serve->secure),
			&text))
		return rr_tool_usage(tool, "%s", text.text);
	serve->kerberos = serve->keytab || rr_rules_want_kerberos(serve->rules);
	if (status == RR_EXIT_OK && serve->kerberos && serve->running && !serve->running->kerberos)
		return rr_tool_usage(
			tool, "sec=krb5 needs a server that was started with --keytab, or with such a rule");
	/* If a server is running, the exports of the new configuration stand at the indices that they have
	 * there, and export_count stays 0. */
	if (status == RR_EXIT_OK && serve->tree.export_count == 0 && !serve->running)
		return rr_tool_usage(tool,
			"an argument is missing: DIRECTORY[=/NAME]..., or --config FILE with directories");
	if (status == RR_EXIT_OK && serve->address_count == 0)
		status = serve_take_listen(tool, serve, "127.0.0.1");
	if (status != RR_EXIT_OK)
		return status;
	serve->tree.exports = serve->exports;
	return RR_OPTIONS_GO_ON;
}

int
rr_serve_load(const struct rr_tool *tool, const struct rr_serve *running, int argc, char **argv,
	struct rr_serve **result)
{
	struct rr_serve *serve = *result = calloc(1, sizeof(*serve));
	int status;

	if (!serve || rr_rules_new(&rr_env_system, RR_SERVE_EXPORTS, &serve->rules) < 0)
		return rr_tool_fail(tool, "out of memory");
	serve->workers = (struct rr_workers){ .tool = tool, .engine = rr_engine_config_default, .count = 1 };
	serve->version3 = serve->version4 = true;
	serve->minors = SERVE_MINORS;
	serve->right = (struct rr_right){ .anon_uid = RR_VFS_NOBODY,
		.anon_gid = RR_VFS_NOBODY,
		.flavors = RR_RIGHT_SYS | RR_RIGHT_NONE,
		.versions = RR_RIGHT_V3 | RR_RIGHT_V4,
		.xprtsec = RR_RIGHT_SECURITIES };
	serve->tcp_port = TCP_PORT;
	serve->secure.look = RR_TOOL_SECURE_LOOK;
	serve->lease = (uint32_t)(rr_nfs4_tables_config_default.lease / RR_SECOND);
	serve->running = running;
	serve->argc = argc;
	serve->argv = argv;
	status = rr_options_parse(tool, serve, &argc, &argv);
	return status == RR_OPTIONS_GO_ON ? serve_complete(tool, serve, argc, argv) : status;
}

/* Called with --check-config if the options have no errors: prints that, and returns RR_EXIT_OK. The
 * certificates and the keytab must be readable, too. */
static int
serve_checked(const struct rr_tool *tool, struct rr_serve *serve)
{
	/* The certificate of --tls is made when the server starts. */
	int status = serve->secure.made[0]
			     ? RR_EXIT_OK
			     : rr_tool_secure_begin(tool, &serve->secure, &serve->workers.engine);
	struct rr_gss_shared *gss = NULL;
	struct rr_text text;

	rr_tool_secure_end(&serve->secure);
	if (status == RR_EXIT_OK && serve->kerberos &&
		rr_gss_shared_new(&rr_env_system, serve->keytab, &gss, &text) < 0)
		status = rr_tool_fail(tool, "%s", text.text);
	rr_gss_shared_free(gss);
	if (status != RR_EXIT_OK)
		return status;
	printf("%s: no errors; %u %s\n", serve->config.path ? serve->config.path : "the command line",
		serve->tree.export_count, serve->tree.export_count == 1 ? "directory" : "directories");
	return RR_EXIT_OK;
}

static int
serve_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_serve *serve;
	int status = rr_serve_load(tool, NULL, argc, argv, &serve);

	if (status == RR_OPTIONS_GO_ON)
		status = serve->config.check ? serve_checked(tool, serve) : serve_start(tool, serve);
	rr_serve_free(serve);
	return status;
}

static const struct rr_option_file serve_file = {
	.at = offsetof(struct rr_serve, config),
	.line = rr_serve_take_line,
};

const struct rr_tool rr_tool_serve = {
	.name = "serve",
	.run = serve_run,
	.help = "Serve directories over NFS versions 3 and 4, by RDMA and TCP.",
	.operands = "[DIRECTORY[=/NAME]]...",
	.file = &serve_file,
	.most = RR_TOOL_ANY,
	.notes = "A DIRECTORY without NAME is served as /. If there are several, each is served\n"
		 "as / and the last component of its path. A file for --config also has\n"
		 "directories and their clients, as in exports(5); SIGHUP takes the new rules.\n"
		 "SIGTERM and Ctrl-C answer what was received, then end.\n",
	.groups = {
		{ serve_options, 0 },
		{ rr_option_config_options, offsetof(struct rr_serve, config) },
		{ rr_workers_options, offsetof(struct rr_serve, workers) },
		{ rr_serve_ceph_options, offsetof(struct rr_serve, storage.ceph) },
		{ rr_rpcbind_options, offsetof(struct rr_serve, rpcbind) },
		{ rr_tool_secure_options, offsetof(struct rr_serve, secure) },
		{ rr_filters_options, offsetof(struct rr_serve, filters) },
	},
};
