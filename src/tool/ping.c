/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "nfs/lookup.h"
#include "nfs/sec.h"
#include "nfs/secure.h"
#include "nfs/url.h"
#include "rpc/client.h"
#include "tool/advice.h"
#include "tool/filters.h"
#include "tool/report.h"
#include "tool/tool.h"
#include "ulb/nfs3.h"

/* `rpcrdma ping` makes NULL calls, and prints their times and what both sides of the connection
 * negotiated. */

enum { ADDRESSES = 16 }; /* the most addresses of the server that are tried */

#define CALL_TIMEOUT (10 * RR_SECOND)

struct ping {
	const struct rr_tool *tool;
	uint32_t count;    /* calls to make */
	uint64_t interval; /* ns */
	bool json;
	struct rr_url url;
	uint16_t port; /* of the service that answers */
	struct rr_filters filters;
	struct rr_secure secure;
	struct rr_gss_client *gss;       /* of sec= in the URL; NULL: without Kerberos */
	const struct rr_secure *secured; /* &secure, or NULL: without TLS */
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	unsigned long done;        /* calls that were answered */
	bool unwritten;            /* standard output takes no more */
	uint64_t least, most, sum; /* the times of these calls, ns */
};

/* Takes the argument of --interval, a number of seconds, which may have a fraction. */
static int
ping_take_interval(const struct rr_tool *tool, void *state, const char *text)
{
	struct ping *ping = state;
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0 && seconds <= 3600))
		return rr_tool_usage(tool, "--interval takes a number from 0 to 3600, not '%s'", text);
	ping->interval = (uint64_t)(seconds * (double)RR_SECOND);
	return RR_EXIT_OK;
}

static const struct rr_option ping_options[] = {
	{ .letter = 'c',
		.name = "count",
		.argument = "N",
		.help = "calls to make (5)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = 1000000000,
		.at = offsetof(struct ping, count) },
	{ .letter = 'i',
		.name = "interval",
		.argument = "SECONDS",
		.help = "time between calls (0.2)",
		.kind = RR_OPTION_CALL,
		.take = ping_take_interval },
	{ .name = "json",
		.help = "print one JSON object",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct ping, json) },
	{ 0 },
};

/* Connects to the server at this address, and waits until the connection is up. If the URL asks for that,
 * first asks rpcbind at this address for the port. Returns 0; or an error, with its text. */
static int
ping_connect_to(struct ping *ping, const struct sockaddr_storage *address, struct rr_text *text)
{
	struct rr_lookup lookup = { .engine = ping->engine,
		.address = *address,
		.timeout = CALL_TIMEOUT,
		.interrupted = rr_tool_interrupted };
	int error = rr_lookup_nfs(&lookup, &ping->url, text);
	const struct rr_client_config config = {
		.transport = ping->url.transport,
		.address = lookup.address,
		.address_size = rr_address_size(address),
		.auth = ping->gss ? rr_gss_client_auth(ping->gss) : &rr_auth_none,
		.secure = ping->secured,
	};

	if (!error)
		error = rr_client_new(ping->engine, &config, &ping->client, text);
	if (error)
		return error;
	ping->port = rr_address_port((const struct sockaddr *)&lookup.address);
	error = rr_client_wait_connected(ping->client, rr_tool_interrupted, NULL);
	if (!error)
		return 0;
	rr_fail(text, 0, "%s", rr_client_error(ping->client));
	rr_client_free(ping->client);
	ping->client = NULL;
	return error;
}

/* Connects to the first address of the server that accepts the connection. Returns an exit status, after a
 * message if it is not OK. */
static int
ping_connect(struct ping *ping)
{
	struct sockaddr_storage addresses[ADDRESSES];
	struct rr_text text = { "interrupted" };
	int count = rr_address_resolve(ping->url.host, ping->url.port, addresses, ADDRESSES, &text);
	/* A signal may have come before the first attempt to connect. */
	int error = count < 0 ? count : -RPCRDMA_ERR_CANCELLED;

	for (int i = 0; i < count && !rr_tool_interrupted(NULL); i++) {
		error = ping_connect_to(ping, &addresses[i], &text);
		if (error == 0)
			return RR_EXIT_OK;
	}
	return rr_advice_fail(ping->tool, &ping->url, ping->url.host, error, &text);
}

/* Prints by whom the calls are made, if Kerberos proves that. */
static void
ping_print_flavor(const struct rpcrdma_negotiated *n)
{
	if (!n->principal)
		return;
	printf("  calls by ");
	rr_report_flavor(stdout, n);
	putchar('\n');
}

/* Prints what both sides negotiated: the first lines, or the beginning of the JSON object, up to the list of
 * the calls' times. */
static void
ping_print_negotiated(const struct ping *ping)
{
	struct rpcrdma_negotiated n;

	rr_client_negotiated(ping->client, &n);
	if (ping->json) {
		printf("{\"host\":");
		rr_tool_json_string(stdout, ping->url.host);
		rr_report_security_json(stdout, &n);
		printf(",\"port\":%u,\"fabric\":\"%s\",\"version\":%u,\"private_data\":%s,\"own_send\":%u,"
		       "\"own_receive\":%u,\"peer_send\":%u,\"peer_receive\":%u,\"rtt_us\":[",
			ping->port, n.fabric, n.version, n.private_data ? "true" : "false", n.own_send,
			n.own_receive, n.peer_send, n.peer_receive);
		return;
	}
	if (n.version == 0) {
		printf("%s port %u: ONC RPC over TCP, ", ping->url.host, ping->port);
		rr_report_security(stdout, &n);
		putchar('\n');
		ping_print_flavor(&n);
		return;
	}
	printf("%s port %u: RPC-over-RDMA version %u on %s", ping->url.host, ping->port, n.version, n.fabric);
	if (n.tls) {
		printf(", ");
		rr_report_security(stdout, &n);
	}
	putchar('\n');
	if (n.private_data)
		printf("  peer's private data: sends %u, receives %u octets\n", n.peer_send, n.peer_receive);
	else
		printf("  peer sent no private data\n");
	printf("  inline thresholds: calls %u, replies %u octets; remote invalidation: %s\n", n.inline_call,
		n.inline_reply, n.remote_invalidation ? "yes" : "no");
	ping_print_flavor(&n);
}

/* Prints the properties of version 2. In their keys, blanks and hyphens of the names become underscores. */
static void
ping_print_properties_json(const struct rpcrdma_negotiated *n)
{
	printf(",\"properties\":{");
	for (uint32_t i = 0; i < RPCRDMA_PROPERTIES; i++) {
		printf("%s\"", i > 0 ? "," : "");
		for (const char *c = rpcrdma_property_name(i); *c; c++)
			putchar(*c == ' ' || *c == '-' ? '_' : *c);
		printf("\":{\"own\":%u,\"peer\":%u}", n->own_properties[i], n->peer_properties[i]);
	}
	printf("}");
}

/* Prints the limits that are in force now; as text, only the properties of RPC-over-RDMA version 2. With that
 * version, messages may have changed the limits since the connection began. */
static void
ping_print_in_force(const struct ping *ping, const struct rpcrdma_negotiated *n)
{
	if (ping->json)
		printf(",\"inline_call\":%u,\"inline_reply\":%u,\"remote_invalidation\":%s", n->inline_call,
			n->inline_reply, n->remote_invalidation ? "true" : "false");
	if (n->properties && ping->json)
		ping_print_properties_json(n);
	if (!n->properties || ping->json)
		return;
	printf("properties in force:\n");
	for (uint32_t i = 0; i < RPCRDMA_PROPERTIES; i++)
		printf("  %s: ours %u, the server's %u\n", rpcrdma_property_name(i), n->own_properties[i],
			n->peer_properties[i]);
}

/* Prints the last lines, or the end of the JSON object: what is in force at the end, and the statistics of
 * the calls. */
static void
ping_print_summary(const struct ping *ping)
{
	struct rpcrdma_counters counters;
	struct rpcrdma_negotiated n;

	rr_client_negotiated(ping->client, &n);
	if (ping->json) {
		printf("]");
		ping_print_in_force(ping, &n);
		printf(",\"credits_asked\":%u,\"credits_granted\":%u,\"credits_min\":%u,\"credits_max\":%u,"
		       "\"calls\":%lu,\"reconnects\":%u,\"counters\":",
			n.credits_asked, n.credits_granted, n.credits_min, n.credits_max, ping->done,
			rr_client_reconnects(ping->client));
		rr_client_counters(ping->client, &counters);
		rr_report_counters_json(stdout, &counters);
		printf(",\"latency\":{\"NULL\":");
		rr_report_latency_json(
			stdout, rr_client_latency(ping->client, &NFS_V3_program, NFSPROC3_NULL));
		printf("}}\n");
		return;
	}
	ping_print_in_force(ping, &n);
	if (n.version)
		printf("credits: asked %u, granted %u\n", n.credits_asked, n.credits_granted);
	if (ping->done)
		printf("%lu answers: %.3f / %.3f / %.3f ms (least / mean / most)\n", ping->done,
			(double)ping->least / 1e6, (double)ping->sum / (double)ping->done / 1e6,
			(double)ping->most / 1e6);
}

/* Makes a NULL call, stores its time in *took, and adds that time to the statistics. Returns 0, or an
 * error. */
static int
ping_call(struct ping *ping, uint64_t *took)
{
	struct rr_call call = { .program = &NFS_V3_program, .proc = NFSPROC3_NULL, .timeout = CALL_TIMEOUT };
	uint64_t start = rr_now(ping->engine->env);
	int error = rr_client_call_and_wait(ping->client, &call, rr_tool_interrupted, NULL);

	if (error < 0)
		return error;
	*took = rr_now(ping->engine->env) - start;
	ping->least = ping->done == 0 || *took < ping->least ? *took : ping->least;
	ping->most = *took > ping->most ? *took : ping->most;
	ping->sum += *took;
	ping->done++;
	return 0;
}

/* Prints how long the answer took, which is given in nanoseconds: in milliseconds for people, and in
 * microseconds, as the next member of an array, with --json. */
static void
ping_print_answer(const struct ping *ping, uint64_t took)
{
	if (ping->json)
		printf("%s%.1f", ping->done > 1 ? "," : "", (double)took / 1e3);
	else
		printf("NULL %lu: %.3f ms\n", ping->done, (double)took / 1e6);
}

/* The timer of ping_wait_interval() has run out. This function does nothing: the timer is not armed any
 * more. */
static void
ping_pause_over(struct rr_timer *timer)
{
	(void)timer;
}

/* Waits for the interval between two calls, or until a signal comes. The event loop runs meanwhile, so that
 * the end of the connection is noticed. */
static void
ping_wait_interval(struct ping *ping)
{
	struct rr_timer timer;

	rr_timer_init(&timer, ping_pause_over);
	rr_loop_arm(ping->engine->loop, &timer, ping->interval);
	while (rr_timer_armed(&timer) && !rr_tool_interrupted(NULL))
		if (rr_loop_turn(ping->engine->loop, -1) < 0)
			break;
	rr_loop_disarm(ping->engine->loop, &timer);
}

/* Makes the calls one after the other, and prints each time. The negotiated values are printed after the
 * first answer, as they are complete only then. Returns 0, or the error that ended the calls. */
static int
ping_call_all(struct ping *ping)
{
	int error = 0;

	while (ping->done < ping->count && !ping->unwritten && !rr_tool_interrupted(NULL)) {
		uint64_t took;

		if (ping->done)
			ping_wait_interval(ping);
		error = ping_call(ping, &took);
		if (error)
			break;
		if (ping->done == 1)
			ping_print_negotiated(ping);
		ping_print_answer(ping, took);
		ping->unwritten = rr_tool_end_output(ping->tool, RR_EXIT_OK) != RR_EXIT_OK;
	}
	return error;
}

/* Connects, makes the calls, and prints the summary, also after a call that failed. Calls that a signal ended
 * are no failure. Returns an exit status, after a message if it is not OK. If standard output takes no more
 * (ping->unwritten), that was reported already. */
static int
ping_all(struct ping *ping)
{
	int error, status = ping_connect(ping);
	struct rr_text text;

	if (status != RR_EXIT_OK)
		return status;
	error = ping_call_all(ping);
	/* Otherwise, it was printed after the first answer. */
	if (ping->done == 0)
		ping_print_negotiated(ping);
	ping_print_summary(ping);
	if (ping->unwritten)
		return RR_EXIT_FAILED;
	status = rr_tool_end_output(ping->tool, RR_EXIT_OK);
	if (error == 0 || error == -RPCRDMA_ERR_CANCELLED)
		return status;
	rr_fail(&text, 0, "%s", rr_client_error(ping->client));
	return rr_advice_fail(ping->tool, &ping->url, ping->url.host, error, &text);
}

static int
ping_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct ping ping = { .tool = tool, .count = 5, .interval = 200 * RR_MILLISECOND };
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_text text;
	int status = rr_options_parse(tool, &ping, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	if (rr_url_parse(argv[0], &ping.url, &text) < 0)
		return rr_tool_usage(tool, "%s", text.text);
	if (ping.filters.transport == RR_TRANSPORT_TCP)
		rr_url_prefer_tcp(&ping.url);
	if (rr_secure_begin(&ping.url, &ping.secure, &ping.secured, &text) < 0)
		return rr_tool_fail(tool, "%s", text.text);
	rr_tool_catch_signals();
	if (rr_filters_start(tool, &ping.filters, &config))
		return RR_EXIT_FAILED;
	if (rr_engine_new(&rr_env_system, &config, &ping.engine) < 0)
		status = rr_tool_fail(tool, "an event loop cannot be set up: %s", strerror(errno));
	else if (rr_sec_begin(ping.engine, ping.url.host, ping.url.sec, CALL_TIMEOUT, &ping.gss, &text) < 0)
		status = rr_tool_fail(tool, "%s", text.text);
	else
		status = ping_all(&ping);
	if (ping.gss && ping.client)
		rr_gss_client_leave(ping.gss, ping.client, &NFS_V3_program, CALL_TIMEOUT);
	rr_client_free(ping.client);
	rr_gss_client_free(ping.gss);
	rpcrdma_engine_free(ping.engine);
	rr_secure_end(&ping.secure);
	return rr_filters_end(tool, &ping.filters, status);
}

const struct rr_tool rr_tool_ping = {
	.name = "ping",
	.run = ping_run,
	.help = "Call a server's NULL procedure; show what was negotiated.",
	.operands = "URL",
	.least = 1,
	.most = 1,
	.urls = true,
	.groups = {
		{ ping_options, 0 },
		{ rr_filters_transport, offsetof(struct ping, filters) },
		{ rr_filters_options, offsetof(struct ping, filters) },
		{ rr_filters_calls, offsetof(struct ping, filters) },
	},
};
