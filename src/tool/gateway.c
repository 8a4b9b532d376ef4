/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "gateway/gateway.h"
#include "nfs/secure.h"
#include "nfs/url.h"
#include "tool/address.h"
#include "tool/advice.h"
#include "tool/filters.h"
#include "tool/report.h"
#include "tool/rpcbind.h"
#include "tool/sandbox.h"
#include "tool/schemas.h"
#include "tool/secure.h"
#include "tool/tool.h"
#include "tool/workers.h"

/* `rpcrdma gateway`: its options, and a gateway (gateway/gateway.h) in each of its threads (workers.h). */

enum { ADDRESSES = 16 }; /* the most addresses to listen at */

/* The time that an engine looks for events before it sleeps: waking up would add 5 to 25 us to a call, in
 * each direction, and up to 100 us on some virtual machines. A server that has to wake up first answers later
 * than that, so that with half of this time a gateway before such a server always slept. */
enum { POLL_DEFAULT = 100 }; /* microseconds */

/* MESSAGE_*: MiB of data that a message can have; BESIDE_DATA: octets beside the data. The payload memory
 * suffices for MESSAGES messages of that size, but is never less than the engine's default. */
enum { MESSAGE_DEFAULT = 4, MESSAGE_MOST = 64, BESIDE_DATA = 65536, MESSAGES = 32 };

/* An address to listen at. */
struct address {
	bool tcp;
	struct sockaddr_storage address;
	socklen_t size;
};

/* The options of the gateway, and its state. */
struct gateway_run {
	const struct rr_tool *tool;
	struct rr_option_config file;
	struct address addresses[ADDRESSES];
	uint32_t address_count;
	struct rr_gateway_config config;
	struct rr_url url;                 /* of the server: --to */
	uint16_t ports[RR_GATEWAY_ROUTES]; /* of the routes: the TCP ports at the server's host */
	struct rr_workers workers;
	struct rr_rpcbind rpcbind;
	struct rr_tool_secure secure; /* of the clients over TCP */
	bool plain_refused;           /* --tls-only */
	struct rr_secure to;          /* of the server */
	struct rr_worker_service service;
	uint32_t message_max; /* MiB */
	struct rr_filters filters;
	struct rr_schemas schemas;
};

/* ---- Options ---- */

/* Returns the text behind the prefix; NULL if the text does not begin with the prefix. */
static const char *
gateway_after_prefix(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Adds the address in an argument of --listen to the addresses at which the gateway listens: for TCP if the
 * argument begins with tcp://, otherwise for RDMA (rdma:// may stand in front). Returns an exit status, after
 * a message if it is not OK.
 * The port for RDMA is 20049 unless the user gives another one. RFC 8267, 6.3: for NFS version 4, a server
 * "MUST use the alternative well-known port number for its RPC-over-RDMA service". */
static int
gateway_take_listen(const struct rr_tool *tool, void *state, const char *spec)
{
	struct gateway_run *run = state;
	struct address *address = &run->addresses[run->address_count];
	const char *tcp = gateway_after_prefix(spec, "tcp://"), *rdma = gateway_after_prefix(spec, "rdma://");
	struct rr_text text;

	if (run->address_count == ADDRESSES)
		return rr_tool_usage(tool, "at most %d addresses can be listened at", ADDRESSES);
	address->tcp = tcp;
	if (rr_tool_listen_address(tcp    ? tcp
				   : rdma ? rdma
					  : spec,
		    tcp ? RR_URL_TCP_PORT : RR_URL_RDMA_PORT, &address->address, &address->size, &text) < 0)
		return rr_tool_usage(tool, "--listen: %s", text.text);
	run->address_count++;
	return RR_EXIT_OK;
}

/* Takes the URL of --to. Refuses a URL that names a path, or that asks for rpcbind. Returns an exit status,
 * after a message if it is not OK. */
static int
gateway_take_to(const struct rr_tool *tool, void *state, const char *url)
{
	struct gateway_run *run = state;
	struct rr_text text;

	if (rr_url_parse(url, &run->url, &text) < 0)
		return rr_tool_usage(tool, "--to: %s", text.text);
	if (run->url.rpcbind)
		return rr_tool_usage(
			tool, "--to: a gateway does not ask rpcbind; give the port of the server");
	if (strcmp(run->url.path, "/") != 0)
		return rr_tool_usage(
			tool, "--to: clients choose what they mount; leave out '%s'", run->url.path);
	return RR_EXIT_OK;
}

/* Adds a route: calls of the program go to this TCP port of the server's host, whose addresses are resolved
 * later. Returns an exit status, after a message if there are too many routes. */
static int
gateway_add_route(struct gateway_run *run, uint32_t prog, uint16_t port)
{
	struct rr_gateway_config *config = &run->config;

	if (config->route_count == RR_GATEWAY_ROUTES)
		return rr_tool_usage(run->tool, "at most %d programs can go elsewhere", RR_GATEWAY_ROUTES);
	run->ports[config->route_count] = port;
	config->routes[config->route_count++].prog = prog;
	return RR_EXIT_OK;
}

enum { MOUNT_PROGRAM = 100005 };

/* Stores in *prog the number of an RPC program. name is the name of the program, such as "nfs", or its number
 * in decimal. Returns 0; or -RPCRDMA_ERR_INVAL if name is neither. */
static int
gateway_program_number(const char *name, uint32_t *prog)
{
	static const struct {
		const char *name;
		uint32_t prog;
	} names[] = {
		{ "nfs", 100003 },
		{ "mount", MOUNT_PROGRAM },
		{ "nlm", 100021 },
		{ "nsm", 100024 },
		{ "nfsacl", 100227 },
	};
	unsigned long number;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i].name) == 0) {
			*prog = names[i].prog;
			return 0;
		}
	}
	if (rr_options_number(name, UINT32_MAX, &number) < 0)
		return -RPCRDMA_ERR_INVAL;
	*prog = (uint32_t)number;
	return 0;
}

/* Takes the argument of --program, "PROG=PORT": a program whose calls go to that TCP port of the server's
 * host. Returns an exit status, after a message if it is not OK. */
static int
gateway_take_program(const struct rr_tool *tool, void *state, const char *spec)
{
	struct gateway_run *run = state;
	const char *equals = strchr(spec, '=');
	char name[16] = "";
	unsigned long port;
	uint32_t prog;

	if (equals && (size_t)(equals - spec) < sizeof(name))
		memcpy(name, spec, (size_t)(equals - spec));
	if (!name[0] || gateway_program_number(name, &prog) < 0 ||
		rr_options_number(equals + 1, 65535, &port) < 0 || port == 0)
		return rr_tool_usage(tool, "--program takes PROG=PORT, not '%s'", spec);
	return gateway_add_route(run, prog, (uint16_t)port);
}

/* Takes the argument of --schema, the path of a schema. */
static int
gateway_take_schema(const struct rr_tool *tool, void *state, const char *path)
{
	struct gateway_run *run = state;

	return rr_schemas_option(tool, &run->schemas, path, &run->config);
}

static const struct rr_option gateway_options[] = {
	{ .letter = 'l',
		.name = "listen",
		.argument = "[rdma://|tcp://]ADDR[:PORT]",
		.help = "where clients connect (over RDMA, ports 20049 and 2049); one or more",
		.kind = RR_OPTION_CALL,
		.required = true,
		.take = gateway_take_listen },
	{ .name = "to",
		.argument = "URL",
		.help = "the URL of the server: nfs://HOST[:PORT]/, with transport= and mountport= where "
			"needed",
		.kind = RR_OPTION_CALL,
		.required = true,
		.take = gateway_take_to },
	{ .name = "transport",
		.argument = "KIND",
		.help = "RDMA, of listeners and of a URL without one: verbs (adapters), iwarp (TCP sockets), "
			"or "
			"auto: verbs at an address of an adapter, both at '*' (auto)",
		.kind = RR_OPTION_WORD,
		.words = rr_filters_transports,
		.at = offsetof(struct gateway_run, filters.transport) },
	{ .name = "program",
		.argument = "PROG=PORT",
		.help = "calls of this program go to this TCP port of the server, more than once if wanted; "
			"PROG "
			"is nfs, mount, nlm, nsm, nfsacl, or a number",
		.kind = RR_OPTION_CALL,
		.take = gateway_take_program },
	{ .name = "schema",
		.argument = "FILE.x",
		.help = "place the data that this schema marks in programs besides NFS; more than once if "
			"wanted",
		.kind = RR_OPTION_CALL,
		.take = gateway_take_schema },
	{ .name = "message-max",
		.argument = "MIB",
		.help = "data that one message can have; clients are told so (4)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = MESSAGE_MOST,
		.at = offsetof(struct gateway_run, message_max) },
	{ .name = "tls-only",
		.help = "with --tls-cert or --tls: refuse what comes without TLS, over TCP and over RDMA",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct gateway_run, plain_refused) },
	{ 0 },
};

/* ---- Addresses of the server ---- */

/* Stores in *target the addresses of the URL's host, with the URL's port, and the URL's transport. Returns an
 * exit status, after a message if it is not OK. */
static int
gateway_resolve(struct gateway_run *run, const struct rr_url *url, struct rr_gateway_target *target)
{
	struct rr_text text;
	int count = rr_address_resolve(url->host, url->port, target->addresses, RR_GATEWAY_ADDRESSES, &text);

	if (count < 0)
		return rr_tool_fail(run->tool, "--to: %s", text.text);
	target->transport = url->transport;
	target->address_count = (uint32_t)count;
	target->secure = run->to.tls ? &run->to : NULL;
	return RR_EXIT_OK;
}

/* Resolves the address of the server and that of each route. (A route leads one program to another TCP port
 * of the same host.) If the URL gives the port of MOUNT, first adds a route for MOUNT. Also chooses which
 * advice is given after errors. Returns an exit status, after a message if it is not OK. */
static int
gateway_resolve_all(struct gateway_run *run)
{
	struct rr_url url = run->url;
	int status = RR_EXIT_OK;

	if (url.mount_port > 0)
		status = gateway_add_route(run, MOUNT_PROGRAM, url.mount_port);
	if (status == RR_EXIT_OK)
		status = gateway_resolve(run, &url, &run->config.server);
	run->config.advice = run->config.server.transport == RR_TRANSPORT_TCP ? rr_advice_tcp : rr_advice;
	url.transport = RR_TRANSPORT_TCP;
	for (uint32_t i = 0; i < run->config.route_count && status == RR_EXIT_OK; i++) {
		url.port = run->ports[i];
		status = gateway_resolve(run, &url, &run->config.routes[i].target);
	}
	return status;
}

/* ---- The service of each thread ---- */

/* Makes the gateway of a thread, and has it listen at all addresses. If the port of an address is 0, the
 * first thread stores the port that the system chose there, so that the next threads take the same port.
 * Returns an exit status, after a message if it is not OK; a gateway in *service is then freed by the
 * caller. */
static int
gateway_make(void *ctx, struct rpcrdma_engine *engine, void **service)
{
	struct gateway_run *run = ctx;
	struct rr_gateway *gateway;
	struct rr_text text;

	if (rr_gateway_new(engine, &run->config, &gateway) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	*service = gateway;
	for (uint32_t i = 0; i < run->address_count; i++) {
		struct address *address = &run->addresses[i];

		if (rr_gateway_listen(gateway, address->tcp ? RR_TRANSPORT_TCP : RR_TRANSPORT_AUTO,
			    (struct sockaddr *)&address->address, address->size, &text) < 0)
			return rr_tool_fail(run->tool, "%s", text.text);
	}
	return RR_EXIT_OK;
}

/* Registers NFS, in versions 3 and 4, with rpcbind, if an option asks for that: at the gateway's addresses
 * for TCP and, with --rpcbind-rdma, at those for RDMA. Registers both versions even if the server behind the
 * gateway has only one: a client learns from the server's answers which version it has. */
static void
gateway_register(struct gateway_run *run)
{
	for (uint32_t i = 0; i < run->address_count; i++) {
		const struct address *address = &run->addresses[i];

		if (address->tcp || run->rpcbind.rdma)
			rr_rpcbind_add_nfs(&run->rpcbind, true, true, address->tcp,
				(const struct sockaddr *)&address->address);
	}
	rr_rpcbind_register(run->tool, &run->rpcbind);
}

/* Prints the addresses at which clients connect, and registers them with rpcbind if an option asks for
 * that. */
static void
gateway_announce(void *ctx)
{
	struct gateway_run *run = ctx;
	char text[RR_ADDRESS_TEXT], server[RR_ADDRESS_TEXT];

	rr_address_text((const struct sockaddr *)&run->config.server.addresses[0], server, sizeof(server));
	for (uint32_t i = 0; i < run->address_count; i++) {
		rr_address_text((const struct sockaddr *)&run->addresses[i].address, text, sizeof(text));
		printf("passing on from %s over %s to %s over %s\n", text,
			run->addresses[i].tcp ? "TCP" : "RDMA", server,
			run->config.server.transport == RR_TRANSPORT_TCP ? "TCP" : "RDMA");
	}
	rr_tool_secure_announce(&run->secure);
	gateway_register(run);
}

static void
gateway_report(const void *service, uint32_t thread)
{
	rr_report_gateway(stderr, thread, service);
}

static void
gateway_measure(const void *service, uint32_t thread, struct rr_measure *measure)
{
	(void)thread;
	rr_measure_gateway(measure, service);
}

static void
gateway_shut_down(void *service)
{
	rr_gateway_shutdown(service);
}

static bool
gateway_is_idle(const void *service)
{
	return rr_gateway_idle(service);
}

static void
gateway_free(void *service)
{
	rr_gateway_free(service);
}

static const struct rr_worker_service gateway_service = {
	.make = gateway_make,
	.announce = gateway_announce,
	.report = gateway_report,
	.measure = gateway_measure,
	.shutdown = gateway_shut_down,
	.idle = gateway_is_idle,
	.free = gateway_free,
};

/* Sets the size of the largest message that the engine accepts: the size that --message-max gives, in MiB, or
 * the size that the programs of --schema need if that is larger. Also raises the engine's limit of memory, if
 * necessary, so that MESSAGES messages of the size of --message-max have room. */
static void
gateway_set_message_max(const struct gateway_run *run, struct rr_engine_config *engine)
{
	uint32_t of_schemas = rr_schemas_message_max(&run->config);
	size_t memory;

	engine->message_max = (run->message_max << 20) + BESIDE_DATA;
	memory = (size_t)MESSAGES * engine->message_max;
	if (memory > engine->memory_max)
		engine->memory_max = memory;
	if (of_schemas > engine->message_max)
		engine->message_max = of_schemas;
}

/* Called at SIGHUP, if there is a certificate: reads it again. */
static void
gateway_reload(void *ctx, struct rr_workers_run *workers)
{
	const struct gateway_run *run = ctx;

	(void)workers;
	rr_tool_secure_renew(run->tool, &run->secure);
}

/* Reads the certificates for both sides, as the options and the URL of the server say. Returns an exit
 * status, after a message if it is not OK. */
static int
gateway_secure(struct gateway_run *run)
{
	struct rr_engine_config *engine = &run->workers.engine;
	const struct rr_secure *used;
	struct rr_text text;
	int status = rr_tool_secure_name(run->tool, &run->secure, NULL);

	/* What only checks the options makes nothing. */
	if (status == RR_EXIT_OK && !run->file.check)
		status = rr_tool_secure_make(run->tool, &run->secure);
	if (status == RR_EXIT_OK && !(run->file.check && run->secure.made[0]))
		status = rr_tool_secure_begin(run->tool, &run->secure, engine);
	if (status != RR_EXIT_OK)
		return status;
	if (run->plain_refused && !run->secure.files.cert)
		return rr_tool_usage(run->tool, "--tls-only needs --tls-cert");
	if (run->plain_refused)
		engine->tls_refused = 1u << RR_SECURITY_NONE;
	if (engine->tls)
		run->service.reload = gateway_reload;
	if (rr_secure_begin(&run->url, &run->to, &used, &text) < 0)
		return rr_tool_fail(run->tool, "--to: %s", text.text);
	return RR_EXIT_OK;
}

/* Has a socket to any of these addresses connect, if it is one of TCP, as that for iWARP is. */
static void
gateway_reaches(const struct rr_gateway_target *target, struct rr_confine *confine)
{
	for (uint32_t i = 0; i < target->address_count; i++)
		rr_confine_connects(confine, rr_address_port((const struct sockaddr *)&target->addresses[i]));
}

/* Has this process keep only what a gateway uses, unless --no-sandbox was given. A port of 0 is chosen by the
 * system when the first thread listens. */
static void
gateway_confine(const struct gateway_run *run)
{
	const struct rr_sandbox sandbox = { &run->workers, &run->filters, &run->secure, run->file.path };
	struct rr_confine_tcp tcp = { false, false };
	struct rr_confine confine = { .rules = -1 };

	for (uint32_t i = 0; i < run->address_count; i++)
		tcp.listens_anywhere |=
			rr_address_port((const struct sockaddr *)&run->addresses[i].address) == 0;
	rr_sandbox_begin(&sandbox, &tcp, &confine);
	for (uint32_t i = 0; i < run->address_count; i++)
		rr_confine_listens(
			&confine, rr_address_port((const struct sockaddr *)&run->addresses[i].address));
	gateway_reaches(&run->config.server, &confine);
	for (uint32_t i = 0; i < run->config.route_count; i++)
		gateway_reaches(&run->config.routes[i].target, &confine);
	rr_sandbox_enter(&sandbox, RR_CONFINE_RELAY, &confine);
}

/* Called with --check-config if the options have no errors: prints that, and returns RR_EXIT_OK. */
static int
gateway_checked(const struct gateway_run *run)
{
	printf("%s: no errors\n", run->file.path ? run->file.path : "the command line");
	return RR_EXIT_OK;
}

/* Runs the gateway with the options that were read, until a signal ends it. With --check-config, only checks
 * the options. Returns an exit status. */
static int
gateway_parsed(struct gateway_run *run)
{
	struct rr_engine_config *engine = &run->workers.engine;
	int status;

	if (run->filters.transport == RR_TRANSPORT_TCP)
		rr_url_prefer_tcp(&run->url);
	status = gateway_secure(run);
	if (status == RR_EXIT_OK)
		status = gateway_resolve_all(run);
	gateway_set_message_max(run, engine);
	if (status == RR_EXIT_OK && run->file.check)
		return gateway_checked(run);
	if (status == RR_EXIT_OK)
		gateway_confine(run);
	if (status == RR_EXIT_OK)
		status = rr_filters_start(run->tool, &run->filters, engine);
	if (status != RR_EXIT_OK)
		return status;
	rr_tool_secure_mind(run->tool, &run->secure);
	status = rr_workers_run(&run->workers);
	rr_rpcbind_withdraw(run->tool, &run->rpcbind);
	return rr_filters_end(run->tool, &run->filters, status);
}

static int
gateway_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct gateway_run run = { .tool = tool,
		.message_max = MESSAGE_DEFAULT,
		.secure = { .look = RR_TOOL_SECURE_LOOK },
		.workers = { .tool = tool, .engine = rr_engine_config_default, .count = 1 } };
	int status;

	run.service = gateway_service;
	run.workers.service = &run.service;
	run.workers.ctx = &run;
	run.workers.engine.poll = POLL_DEFAULT;
	status = rr_options_parse(tool, &run, &argc, &argv);
	if (status == RR_OPTIONS_GO_ON)
		status = gateway_parsed(&run);
	rr_tool_secure_end(&run.secure);
	rr_secure_end(&run.to);
	rr_schemas_free(&run.schemas);
	rr_conf_free(&run.file.conf);
	return status;
}

static const struct rr_option_file gateway_file = { .at = offsetof(struct gateway_run, file) };

const struct rr_tool rr_tool_gateway = {
	.name = "gateway",
	.run = gateway_run,
	.file = &gateway_file,
	.help = "Pass NFS on between RDMA and TCP, in either direction.",
	.notes = "SIGTERM and Ctrl-C answer what was received, then end.\n",
	.groups = {
		{ gateway_options, 0 },
		{ rr_option_config_options, offsetof(struct gateway_run, file) },
		{ rr_workers_options, offsetof(struct gateway_run, workers) },
		{ rr_rpcbind_options, offsetof(struct gateway_run, rpcbind) },
		{ rr_tool_secure_options, offsetof(struct gateway_run, secure) },
		{ rr_filters_options, offsetof(struct gateway_run, filters) },
		{ rr_filters_calls, offsetof(struct gateway_run, filters) },
	},
};
