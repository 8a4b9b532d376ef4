/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/address.h"
#include "gateway/gateway.h"
#include "tool/address.h"
#include "tool/filters.h"
#include "tool/report.h"
#include "tool/schemas.h"
#include "tool/tool.h"
#include "tool/url.h"
#include "tool/workers.h"

enum { ADDRESSES = 16 };

/* Being woken takes 5 to 25 us of a call's time, each way. */
enum { POLL_DEFAULT = 50, POLL_MAX = 1000 }; /* us */

/* MiB of data that one message can have; beside the data, there are BESIDE_DATA octets. Payload memory is for
 * that many messages, but never less than the engine's default. */
enum { MESSAGE_DEFAULT = 4, MESSAGE_MOST = 64, BESIDE_DATA = 65536, MESSAGES = 32 };

enum option_value {
	OPT_CREDITS = 256,
	OPT_HELP,
	OPT_INLINE,
	OPT_MESSAGE_MAX,
	OPT_POLL,
	OPT_PROGRAM,
	OPT_PROVIDED,
	OPT_NO_PROVIDED,
	OPT_SCHEMA,
	OPT_TO
};

const char rr_tool_gateway_options[] =
	"  -l, --listen [rdma://|tcp://]ADDR[:PORT]\n"
	"                            where clients connect (over RDMA, ports 20049 and 2049); one or more\n"
	"      --to URL              the server: "
	"nfs://HOST[:PORT]/[?transport=auto|iwarp|verbs|tcp&mountport=N]\n"
	"      --transport KIND      RDMA, of listeners and of a URL without one: verbs (adapters), iwarp "
	"(TCP\n"
	"                            sockets), or auto: verbs at an address of an adapter, both at '*' "
	"(auto)\n"
	"      --program PROG=PORT   calls of this program go to this TCP port of the server, more than "
	"once\n"
	"                            if wanted; PROG is nfs, mount, nlm, nsm, nfsacl, or a number\n"
	"      --schema FILE.x       place the data that this schema marks in programs besides NFS; more "
	"than\n"
	"                            once if wanted\n"
	"  -n, --threads N           threads, each with connections of its own (1)\n"
	"      --credits N           calls that a connection may have outstanding (64)\n"
	"      --inline N            inline threshold to offer, octets (4096)\n"
	"      --message-max MIB     data that one message can have; clients are told so (4)\n"
	"      --poll US             look so long for what comes next before sleeping, while that pays (50)\n"
	"      --provided N          large replies that a connection may keep in Read chunks (as "
	"--credits)\n"
	"      --no-provided         never expose a large reply in Read chunks: one without room becomes an "
	"error\n" RR_FILTER_HELP RR_CALL_HELP "  -v, --verbose             log what happens to connections\n"
	"SIGTERM and Ctrl-C answer what was received, then end.\n";

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "to", required_argument, NULL, OPT_TO },
	{ "program", required_argument, NULL, OPT_PROGRAM },
	{ "schema", required_argument, NULL, OPT_SCHEMA },
	{ "threads", required_argument, NULL, 'n' },
	{ "credits", required_argument, NULL, OPT_CREDITS },
	{ "inline", required_argument, NULL, OPT_INLINE },
	{ "message-max", required_argument, NULL, OPT_MESSAGE_MAX },
	{ "provided", required_argument, NULL, OPT_PROVIDED },
	{ "no-provided", no_argument, NULL, OPT_NO_PROVIDED },
	{ "poll", required_argument, NULL, OPT_POLL },
	RR_TRANSPORT_OPTION,
	RR_CALL_OPTION,
	RR_FILTER_OPTIONS,
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

struct address {
	bool tcp;
	struct sockaddr_storage address;
	socklen_t size;
};

struct run {
	const struct rr_tool *tool;
	struct address addresses[ADDRESSES];
	uint32_t address_count;
	struct rr_gateway_config config;
	struct rr_url url;
	bool has_url;
	uint16_t ports[RR_GATEWAY_ROUTES]; /* of the routes */
	struct rr_workers workers;
	uint32_t poll;        /* us */
	uint32_t message_max; /* MiB */
	struct rr_filters filters;
	struct rr_schemas schemas;
};

/* ---- Options ---- */

static const char *
after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* RFC 8267, 6.3: for NFS version 4, a server "MUST use the alternative well-known port number for its
 * RPC-over-RDMA service": unless another one is given. */
static int
parse_listen(struct run *run, const char *spec)
{
	struct address *address = &run->addresses[run->address_count];
	const char *tcp = after(spec, "tcp://"), *rdma = after(spec, "rdma://");
	struct rr_text text;

	if (run->address_count == ADDRESSES)
		return rr_tool_usage(run->tool, "at most %d addresses can be listened at", ADDRESSES);
	address->tcp = tcp;
	if (rr_tool_listen_address(tcp    ? tcp
				   : rdma ? rdma
					  : spec,
		    tcp ? RR_URL_TCP_PORT : RR_URL_RDMA_PORT, &address->address, &address->size, &text) < 0)
		return rr_tool_usage(run->tool, "--listen: %s", text.text);
	run->address_count++;
	return RR_EXIT_OK;
}

static int
parse_to(struct run *run, const char *url)
{
	struct rr_text text;

	if (rr_url_parse(url, &run->url, &text) < 0)
		return rr_tool_usage(run->tool, "--to: %s", text.text);
	if (strcmp(run->url.path, "/") != 0)
		return rr_tool_usage(
			run->tool, "--to: clients choose what they mount; leave out '%s'", run->url.path);
	run->has_url = true;
	return RR_EXIT_OK;
}

static int
add_route(struct run *run, uint32_t prog, uint16_t port)
{
	struct rr_gateway_config *config = &run->config;

	if (config->route_count == RR_GATEWAY_ROUTES)
		return rr_tool_usage(run->tool, "at most %d programs can go elsewhere", RR_GATEWAY_ROUTES);
	run->ports[config->route_count] = port;
	config->routes[config->route_count++].prog = prog;
	return RR_EXIT_OK;
}

enum { MOUNT_PROGRAM = 100005 };

static int
program_number(const char *name, uint32_t *prog)
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
	if (rr_tool_number(name, UINT32_MAX, &number) < 0)
		return -RPCRDMA_ERR_INVAL;
	*prog = (uint32_t)number;
	return 0;
}

static int
parse_program(struct run *run, const char *spec)
{
	const char *equals = strchr(spec, '=');
	char name[16] = "";
	unsigned long port;
	uint32_t prog;

	if (equals && (size_t)(equals - spec) < sizeof(name))
		memcpy(name, spec, (size_t)(equals - spec));
	if (!name[0] || program_number(name, &prog) < 0 || rr_tool_number(equals + 1, 65535, &port) < 0 ||
		port == 0)
		return rr_tool_usage(run->tool, "--program takes PROG=PORT, not '%s'", spec);
	return add_route(run, prog, (uint16_t)port);
}

static int
parse_number(const struct run *run, const char *name, unsigned long low, unsigned long high, uint32_t *result)
{
	unsigned long number;

	if (rr_tool_number(optarg, high, &number) < 0 || number < low)
		return rr_tool_usage(
			run->tool, "--%s takes a number from %lu to %lu, not '%s'", name, low, high, optarg);
	*result = (uint32_t)number;
	return RR_EXIT_OK;
}

static int
parse_option(struct run *run, int option)
{
	struct rr_engine_config *engine = &run->workers.engine;
	int status;

	switch (option) {
	case 'l': return parse_listen(run, optarg);
	case OPT_TO: return parse_to(run, optarg);
	case OPT_PROGRAM: return parse_program(run, optarg);
	case OPT_SCHEMA: return rr_schemas_option(run->tool, &run->schemas, optarg, &run->config);
	case 'n': return parse_number(run, "threads", 1, RR_WORKERS_MAX, &run->workers.count);
	case OPT_CREDITS: return parse_number(run, "credits", 1, 1024, &engine->credits);
	case OPT_MESSAGE_MAX: return parse_number(run, "message-max", 1, MESSAGE_MOST, &run->message_max);
	case OPT_PROVIDED: return parse_number(run, "provided", 1, 4096, &engine->provided_max);
	case OPT_NO_PROVIDED: engine->read_chunks = false; return RR_EXIT_OK;
	case OPT_POLL: return parse_number(run, "poll", 0, POLL_MAX, &run->poll);
	case 'v': run->workers.verbose = true; return RR_EXIT_OK;
	case OPT_INLINE:
		status = parse_number(run, "inline", 1024, 262144, &engine->inline_send);
		engine->inline_receive = engine->inline_send &= ~UINT32_C(1023);
		return status;
	}
	if (rr_filters_is_option(option))
		return rr_filters_option(run->tool, &run->filters, option, optarg);
	return rr_tool_usage(run->tool, "see `rpcrdma gateway --help`");
}

/* ---- Addresses of the server ---- */

static int
resolve(struct run *run, const struct rr_url *url, struct rr_gateway_target *target)
{
	struct rr_text text;
	int count = rr_url_resolve(url, target->addresses, RR_GATEWAY_ADDRESSES, &text);

	if (count < 0)
		return rr_tool_fail(run->tool, "--to: %s", text.text);
	target->tcp = url->transport == RR_URL_TCP;
	target->provider = rr_url_provider(url);
	target->address_count = (uint32_t)count;
	return RR_EXIT_OK;
}

static int
resolve_all(struct run *run)
{
	struct rr_url url = run->url;
	int status = RR_EXIT_OK;

	if (url.mount_port > 0)
		status = add_route(run, MOUNT_PROGRAM, url.mount_port);
	if (status == RR_EXIT_OK)
		status = resolve(run, &url, &run->config.server);
	url.transport = RR_URL_TCP;
	for (uint32_t i = 0; i < run->config.route_count && status == RR_EXIT_OK; i++) {
		url.port = run->ports[i];
		status = resolve(run, &url, &run->config.routes[i].target);
	}
	return status;
}

/* ---- What each thread runs ---- */

static int
make(void *ctx, struct rr_engine *engine, void **service)
{
	struct run *run = ctx;
	struct rr_gateway *gateway;
	struct rr_text text;

	if (rr_gateway_new(engine, &run->config, &gateway) < 0)
		return rr_tool_fail(run->tool, "out of memory");
	*service = gateway;
	rr_loop_poll(engine->loop, run->poll * RR_MICROSECOND);
	for (uint32_t i = 0; i < run->address_count; i++) {
		struct address *address = &run->addresses[i];

		if (rr_gateway_listen(gateway, address->tcp, (struct sockaddr *)&address->address,
			    address->size, &text) < 0)
			return rr_tool_fail(run->tool, "%s", text.text);
	}
	return RR_EXIT_OK;
}

static void
announce(void *ctx)
{
	const struct run *run = ctx;
	char text[RR_ADDRESS_TEXT], server[RR_ADDRESS_TEXT];

	rr_address_text((const struct sockaddr *)&run->config.server.addresses[0], server, sizeof(server));
	for (uint32_t i = 0; i < run->address_count; i++) {
		rr_address_text((const struct sockaddr *)&run->addresses[i].address, text, sizeof(text));
		printf("passing on from %s over %s to %s over %s\n", text,
			run->addresses[i].tcp ? "TCP" : "RDMA", server,
			run->config.server.tcp ? "TCP" : "RDMA");
	}
}

static void
report(const void *service, uint32_t thread)
{
	rr_report_gateway(stderr, thread, service);
}

static void
shut_down(void *service)
{
	rr_gateway_shutdown(service);
}

static bool
is_idle(const void *service)
{
	return rr_gateway_idle(service);
}

static void
free_service(void *service)
{
	rr_gateway_free(service);
}

static const struct rr_worker_service gateway_service = {
	.make = make,
	.announce = announce,
	.report = report,
	.shutdown = shut_down,
	.idle = is_idle,
	.free = free_service,
};

/* What the option says, or what schemas need if that is more. */
static void
set_message_max(const struct run *run, struct rr_engine_config *engine)
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

static int
run_gateway(struct run *run, int argc, char **argv)
{
	struct rr_engine_config *engine = &run->workers.engine;
	int option, status = RR_EXIT_OK;

	while (status == RR_EXIT_OK &&
		(option = getopt_long(argc, argv, "+l:n:v", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return rr_tool_help(run->tool);
		status = parse_option(run, option);
	}
	if (status == RR_EXIT_OK && optind < argc)
		status = rr_tool_usage(run->tool, "'%s' is one argument too many", argv[optind]);
	if (status == RR_EXIT_OK && (!run->has_url || run->address_count == 0))
		status = rr_tool_usage(run->tool, "%s is missing", run->has_url ? "--listen" : "--to");
	if (status == RR_EXIT_OK && run->filters.tcp)
		rr_url_prefer_tcp(&run->url);
	if (status == RR_EXIT_OK)
		status = resolve_all(run);
	set_message_max(run, engine);
	if (status == RR_EXIT_OK)
		status = rr_filters_start(run->tool, &run->filters, engine);
	if (status != RR_EXIT_OK)
		return status;
	return rr_filters_end(run->tool, &run->filters, rr_workers_run(&run->workers));
}

int
rr_tool_gateway(const struct rr_tool *tool, int argc, char **argv)
{
	struct run run = { .tool = tool,
		.poll = POLL_DEFAULT,
		.message_max = MESSAGE_DEFAULT,
		.workers = { .tool = tool,
			.service = &gateway_service,
			.engine = rr_engine_config_default,
			.count = 1 } };
	int status;

	run.workers.ctx = &run;
	status = run_gateway(&run, argc, argv);
	rr_schemas_free(&run.schemas);
	return status;
}
