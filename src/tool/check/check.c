/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/check/check.h"
#include "base/address.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "carrier/rdma/provider.h"
#include "nfs/lookup.h"

/* The most addresses of the server that are tried; octets of a receive buffer. */
enum { CHECK_ADDRESSES = 8, CHECK_RECEIVE = 65536 };

static int
check_take_only(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_check *check = state;

	if (check->only_count == RR_CHECK_ONLY)
		return rr_tool_usage(tool, "there can be %d of --only at most", RR_CHECK_ONLY);
	check->only[check->only_count++] = argument;
	return RR_EXIT_OK;
}

static const char *const check_formats[] = { "text", "json", "tap", "junit", NULL };

static const struct rr_option check_options[] = {
	{ .name = "destructive",
		.help = "also make cases that change what the server exports",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_check, destructive) },
	{ .name = "format",
		.argument = "KIND",
		.help = "text, json (an object on each line), tap or junit",
		.kind = RR_OPTION_WORD,
		.words = check_formats,
		.at = offsetof(struct rr_check, format) },
	{ .name = "list",
		.help = "list the cases, and make none of them",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_check, list) },
	{ .name = "only",
		.argument = "NAME",
		.help = "only the case of that name, or those of that row, such as B4; may be given several "
			"times",
		.kind = RR_OPTION_CALL,
		.take = check_take_only },
	{ .name = "serve",
		.help = "play a responder, and judge its clients: all that follows is for rpcrdma serve, "
			"which "
			"has --judge then",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_check, serve) },
	{ .name = "timeout",
		.argument = "SECONDS",
		.help = "time to wait for an answer (5)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 3600,
		.at = offsetof(struct rr_check, timeout) },
	{ 0 },
};

static const struct rr_check_case *const check_tables[] = { rr_check_header_cases, rr_check_error_cases,
	rr_check_long_cases, rr_check_data_cases, rr_check_nfs4_cases, rr_check_optional_cases,
	rr_check_reverse_cases, rr_check_change_cases };

enum { CHECK_TABLES = sizeof(check_tables) / sizeof(check_tables[0]) };

/* ---- The server, and its exports ---- */

static struct rr_check_peer
check_peer(struct rr_check *check, uint32_t version)
{
	return (struct rr_check_peer){ .check = check, .version = version };
}

/* Finds an address of the server that accepts a connection: tries each address in turn, and closes the
 * connection again. Stores the address in check->address, and the RDMA provider that reaches it in
 * check->fabric. Returns 0; or an error, with its text, if no address accepts a connection or RDMA cannot be
 * used. */
static int
check_find_server(struct rr_check *check, struct rr_text *text)
{
	struct sockaddr_storage addresses[CHECK_ADDRESSES];
	int count = rr_address_resolve(check->url.host, check->url.port, addresses, CHECK_ADDRESSES, text),
	    error = count;
	struct rr_room *room = rr_room_in(check->engine);

	if (check->url.transport == RR_TRANSPORT_TCP || !room)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "check is for RPC-over-RDMA");
	for (int i = 0; i < count; i++) {
		struct rr_check_peer peer = check_peer(check, 1);
		struct rr_lookup lookup = { .engine = check->engine,
			.address = addresses[i],
			.timeout = check->timeout * RR_SECOND,
			.interrupted = rr_tool_interrupted };
		struct rr_carrier_place place;

		error = rr_lookup_nfs(&lookup, &check->url, text);
		if (error)
			continue;
		check->address = addresses[i] = lookup.address;
		place = (struct rr_carrier_place){ check->url.transport,
			(const struct sockaddr *)&addresses[i], rr_address_size(&addresses[i]) };
		error = rr_provider_to(room, &place, &check->fabric, text);
		if (error)
			continue;
		error = rr_check_connect(&peer, NULL, 0);
		rr_fail(text, 0, "%s", peer.why.text);
		rr_check_close(&peer);
		if (!error)
			return 0;
	}
	return error;
}

/* Tells whether the server answers a NULL call in this version of RPC-over-RDMA. Makes the call on a new
 * connection, and closes that connection. */
static bool
check_speaks(struct rr_check *check, uint32_t version)
{
	struct rr_check_peer peer = check_peer(check, version);
	struct rr_text why;
	bool speaks = rr_check_connect(&peer, NULL, 0) == 0 && rr_check_null(&peer, &why) == RR_CHECK_PASS;

	rr_check_close(&peer);
	return speaks;
}

/* Stores the handle and the path of a file for the test cases, if the entry is a file of at least
 * RR_CHECK_FILE_LEAST (5000) octets. Returns 1 then, which ends the listing; otherwise 0. rpcrdma_nfs_list()
 * calls this function for each entry of a directory. */
static int
check_take_entry(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	struct rr_check *check = ctx;

	if (!entry->object || entry->object->type != RPCRDMA_NFS_FILE ||
		entry->object->length < RR_CHECK_FILE_LEAST)
		return 0;
	check->file = entry->object->handle;
	check->has_file = true;
	snprintf(check->file_path, sizeof(check->file_path), "%s/%s", check->url.path, entry->name);
	return 1;
}

/* Asks by ACCESS whether the user may read the object; a directory must also be one in which names may be
 * looked up. If not, check->no_right gets the reason. RFC 1813, 3.3.4: "the results are advisory", so a
 * server that fails here is not believed to refuse. */
static void
check_rights(struct rr_check *check, struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *object)
{
	bool is_directory = object->type == RPCRDMA_NFS_DIRECTORY;
	uint32_t wanted = ACCESS3_READ | (is_directory ? ACCESS3_LOOKUP : 0), granted = 0;
	const char *what = "";

	if (rpcrdma_nfs_access(nfs, &object->handle, wanted, &granted, NULL) != 0 ||
		(granted & wanted) == wanted)
		return;
	if (!is_directory)
		what = "read the file";
	else if (granted & ACCESS3_READ)
		what = "look up names in the directory";
	else
		what = "list the directory";
	if (check->principal[0])
		rr_fail(&check->no_right, 0, "%.100s may not %s %.100s", check->principal, what,
			check->url.path);
	else
		rr_fail(&check->no_right, 0, "user %u, group %u may not %s %.100s", check->cred.uid,
			check->cred.gid, what, check->url.path);
}

/* Notes what protects the connection of the client. */
static void
check_note_security(struct rr_check *check, const struct rpcrdma_nfs *nfs)
{
	struct rpcrdma_negotiated negotiated;

	rr_client_negotiated(rr_nfs_rpc(nfs), &negotiated);
	check->tls = negotiated.tls;
	check->tls_cipher = negotiated.tls_cipher;
	check->flavor = negotiated.flavor;
	if (negotiated.principal)
		snprintf(check->principal, sizeof(check->principal), "%s", negotiated.principal);
}

/* Finds the objects that test cases use. If the URL names a directory, they are that directory and its first
 * file of at least 5000 octets. If the URL names a file, they are that file, if it is large enough, and the
 * directory that was mounted. The test cases call NFS version 3, so the file handles are fetched by version
 * 3, too. */
void
rr_check_find_objects(struct rr_check *check, const char *url)
{
	struct rr_remote remote = { .version_3 = true };
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	int error = rr_remote_open(check->engine, url, &remote, &check->no_objects);

	if (error == 0)
		check_note_security(check, remote.nfs);
	if (error == 0)
		error = rr_nfs_find(remote.nfs, remote.rest, true, &object);
	if (error && remote.nfs)
		rr_fail(&check->no_objects, 0, "%s", rr_nfs_explain(remote.nfs));
	if (error == 0)
		check_rights(check, remote.nfs, &object);
	if (error == 0 && object.type == RPCRDMA_NFS_DIRECTORY) {
		check->directory = object.handle;
		check->has_directory = true;
		rpcrdma_nfs_list(remote.nfs, &object.handle, check_take_entry, check);
	}
	if (error == 0 && object.type == RPCRDMA_NFS_FILE) {
		check->file = object.handle;
		check->has_file = object.length >= RR_CHECK_FILE_LEAST && !check->no_right.text[0];
		snprintf(check->file_path, sizeof(check->file_path), "%s", check->url.path);
		check->directory = remote.root;
		check->has_directory = true;
	}
	rr_remote_close(&remote);
}

void
rr_check_identify(struct rr_check *check)
{
	gethostname(check->cred.machine, sizeof(check->cred.machine) - 1);
	check->cred.uid = check->url.has_uid ? check->url.uid : (uint32_t)geteuid();
	check->cred.gid = check->url.has_gid ? check->url.gid : (uint32_t)getegid();
}

/* ---- Cases ---- */

/* Tells whether the user wants the test case: it is wanted if an option --only has its name or its row of
 * docs/conformance.md, or if there is no --only. */
static bool
check_is_wanted(const struct rr_check *check, const struct rr_check_case *which)
{
	for (uint32_t i = 0; i < check->only_count; i++)
		if (strcmp(check->only[i], which->name) == 0 || strcmp(check->only[i], which->row) == 0)
			return true;
	return check->only_count == 0;
}

/* Returns the reason why a test case cannot be run: the case needs a directory, a file or the option
 * --destructive, and that is missing. Returns NULL if the case can be run. */
static const char *
check_obstacle(const struct rr_check *check, const struct rr_check_case *which)
{
	if (which->needs_directory && !check->has_directory)
		return check->no_objects.text[0] ? check->no_objects.text : "the URL names no directory";
	if (which->needs_file && !check->has_file && check->no_right.text[0])
		return check->no_right.text;
	if (which->needs_file && !check->has_file)
		return check->no_objects.text[0] ? check->no_objects.text
						 : "there is no file of 5000 octets where the URL points";
	return which->destructive && !check->destructive ? "needs --destructive" : NULL;
}

enum rr_check_verdict
rr_check_make(
	struct rr_check *check, const struct rr_check_case *which, uint32_t version, struct rr_text *why)
{
	struct rr_check_peer peer = check_peer(check, version);
	const char *obstacle = check_obstacle(check, which);
	enum rr_check_verdict verdict;

	if (obstacle)
		return rr_check_skip(why, "%s", obstacle);
	if (!which->connects && rr_check_connect(&peer, NULL, 0) < 0)
		verdict = rr_check_fail(why, "no connection: %.200s", peer.why.text);
	else
		verdict = which->run(&peer, why);
	/* Many cases end without a reason of their own if a call cannot be sent. */
	if (verdict == RR_CHECK_FAIL && !why->text[0])
		rr_check_fail(
			why, "a call cannot be sent%s%.200s", peer.why.text[0] ? ": " : "", peer.why.text);
	rr_check_close(&peer);
	return verdict;
}

/* Runs a test case in this version of RPC-over-RDMA, and adds its result to check->results. */
static void
check_case(struct rr_check *check, const struct rr_check_case *which, uint32_t version)
{
	struct rr_check_result *result = &check->results[check->result_count++];
	uint64_t start = rr_now(&rr_env_system);

	result->which = which;
	result->version = version;
	result->verdict = rr_check_make(check, which, version, &result->why);
	result->took = rr_now(&rr_env_system) - start;
}

/* Runs all test cases that the user wants, each in those versions of RPC-over-RDMA that the case is made for,
 * the user allows and the server speaks. */
static void
check_all(struct rr_check *check)
{
	bool with_1 = check->filters.versions != RR_VERSIONS_2;
	bool with_2 = check->filters.versions != RR_VERSIONS_1 && check_speaks(check, 2);

	for (size_t table = 0; table < CHECK_TABLES; table++) {
		for (const struct rr_check_case *each = check_tables[table]; each->name; each++) {
			if (!check_is_wanted(check, each) || rr_tool_interrupted(NULL))
				continue;
			if (each->version_1 && with_1)
				check_case(check, each, 1);
			if (each->version_2 && with_2)
				check_case(check, each, 2);
		}
	}
}

static void
check_list(const struct rr_check *check)
{
	for (size_t table = 0; table < CHECK_TABLES; table++)
		for (const struct rr_check_case *each = check_tables[table]; each->name; each++)
			if (check_is_wanted(check, each))
				printf("%-26s %s%s %s (%s)\n", each->name, each->version_1 ? "1" : " ",
					each->version_2 ? "2" : " ", each->text, each->section);
}

/* ---- The whole command ---- */

/* Says why no case was run. Returns RR_EXIT_FAILED after a signal; else RR_EXIT_USAGE. */
static int
check_nothing(const struct rr_check *check)
{
	if (rr_tool_interrupted(NULL))
		return rr_tool_fail(check->tool, "interrupted before the first case");
	for (size_t table = 0; table < CHECK_TABLES; table++)
		for (const struct rr_check_case *each = check_tables[table]; each->name; each++)
			if (check_is_wanted(check, each))
				return rr_tool_usage(check->tool,
					"no case that is wanted is for a version of RPC-over-RDMA that is "
					"allowed and the server speaks; --list shows the versions of each");
	return rr_tool_usage(check->tool, "there is no such case; --list shows them");
}

/* Finds the server, runs the test cases, and prints their results. Returns RR_EXIT_FAILED if a case failed,
 * or no connection could be made; and the status of check_nothing() if no case was run. */
static int
check_server(struct rr_check *check, const char *url)
{
	struct rr_text text = { "" };
	uint32_t failed = 0;
	int error;

	error = check_find_server(check, &text);
	if (error < 0)
		return rr_advice_fail(check->tool, &check->url, check->url.host, error, &text);
	rr_check_identify(check);
	rr_check_find_objects(check, url);
	check_all(check);
	if (check->result_count == 0)
		return check_nothing(check);
	rr_check_report(check);
	for (uint32_t i = 0; i < check->result_count; i++)
		failed += check->results[i].verdict == RR_CHECK_FAIL;
	return failed ? RR_EXIT_FAILED : RR_EXIT_OK;
}

/* Makes the engine, tests the server of the URL, and ends the filters. Returns an exit status. */
static int
check_start(struct rr_check *check, const char *url)
{
	struct rr_engine_config config = rr_engine_config_default;
	int status;

	rr_tool_catch_signals();
	if (rr_filters_start(check->tool, &check->filters, &config))
		return RR_EXIT_FAILED;
	/* The receive buffers are large, so that a responder that sends too much is noticed. */
	config.inline_receive = CHECK_RECEIVE;
	if (rr_engine_new(&rr_env_system, &config, &check->engine) < 0)
		status = rr_tool_fail(check->tool, "an event loop cannot be set up: %s", strerror(errno));
	else
		status = check_server(check, url);
	rpcrdma_engine_free(check->engine);
	return rr_tool_end_output(check->tool, rr_filters_end(check->tool, &check->filters, status));
}

/* Runs `rpcrdma check --serve ARGUMENT...` as `rpcrdma serve --judge ARGUMENT...`: replaces argv[1] and calls
 * the other command. Returns the exit status of that command. */
static int
check_serve(char **argv)
{
	static char judge[] = "--judge";
	int argc = 0;

	argv[1] = judge;
	while (argv[argc])
		argc++;
	return rr_tool_serve.run(&rr_tool_serve, argc, argv);
}

static int
check_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_check check = { .timeout = 5 };
	struct rr_text text;
	int status;

	if (argc > 1 && strcmp(argv[1], "--serve") == 0)
		return check_serve(argv);
	check.tool = tool;
	status = rr_options_parse(tool, &check, &argc, &argv);
	if (status != RR_OPTIONS_GO_ON)
		return status;
	/* Options in front of --serve were taken for those of this command. */
	if (check.serve)
		return rr_tool_usage(tool, "--serve comes first");
	if (check.list) {
		check_list(&check);
		return rr_tool_end_output(tool, RR_EXIT_OK);
	}
	if (argc == 0)
		return rr_tool_usage(tool, "it takes a URL");
	if (rr_url_parse(argv[0], &check.url, &text) < 0)
		return rr_tool_usage(tool, "%s", text.text);
	return check_start(&check, argv[0]);
}

const struct rr_tool rr_tool_check = {
	.name = "check",
	.run = check_run,
	.help = "Test a server's RPC-over-RDMA, row by row.",
	.operands = "[URL]",
	.least = 0,
	.most = 1,
	.urls = true,
	.groups = {
		{ check_options, 0 },
		{ rr_filters_transport, offsetof(struct rr_check, filters) },
		{ rr_filters_options, offsetof(struct rr_check, filters) },
		{ rr_filters_calls, offsetof(struct rr_check, filters) },
	},
};
