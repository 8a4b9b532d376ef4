/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/filters.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/tls/tls.h"
#include "fabric/filter/capture.h"
#include "fabric/filter/fault.h"
#include "fabric/filter/flight.h"
#include "fabric/filter/recording.h"

#define FILTERS_HANG (5 * RR_SECOND) /* a call without an answer for this time hangs */

const char *const rr_filters_transports[] = {
	[RR_TRANSPORT_AUTO] = "auto",
	[RR_TRANSPORT_IWARP] = "iwarp",
	[RR_TRANSPORT_VERBS] = "verbs",
	[RR_TRANSPORT_TCP] = "tcp",
	NULL,
};

static const char *const filters_versions[] = {
	[RR_VERSIONS_AUTO] = "auto",
	[RR_VERSIONS_1] = "1",
	[RR_VERSIONS_2] = "2",
	NULL,
};

static const char *const filters_reply_chunks[] = {
	[RR_REPLY_CHUNKS_AUTO] = "auto",
	[RR_REPLY_CHUNKS_ALWAYS] = "always",
	[RR_REPLY_CHUNKS_NEVER] = "never",
	NULL,
};

/* Takes the argument of --fault, a script of faults. */
static int
filters_fault(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_filters *filters = state;
	struct rr_text text;

	if (rr_fault_parse(argument, &filters->script, &text) < 0)
		return rr_tool_usage(tool, "--fault: %s", text.text);
	filters->has_script = true;
	return RR_EXIT_OK;
}

const struct rr_option rr_filters_options[] = {
	{ .name = "capture",
		.argument = "FILE",
		.help = "write what is sent and received as a capture, in the format of pcapng; see "
			"rpcrdma-decode(1)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_filters, capture_path) },
	{ .name = "crc",
		.help = "ask for CRC32c on each frame of iWARP",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_filters, crc) },
	{ .name = "fault",
		.argument = "SCRIPT",
		.help = "bring about faults; see rpcrdma-fault(7)",
		.kind = RR_OPTION_CALL,
		.take = filters_fault },
	{ .name = "flight",
		.argument = "FILE",
		.help = "keep the last 1024 packets, and write them as --capture does on an error of the "
			"protocol, a call without an answer for 5 s, SIGUSR2, or a failure",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_filters, flight_path) },
	{ .name = "judge",
		.help = "hold what is sent and received to the rows of docs/conformance.md, and say what "
			"breaks "
			"them",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_filters, judge) },
	{ .name = "keylog",
		.argument = "FILE",
		.help = "append the secrets of TLS to the file, for Wireshark: who has it can read what was "
			"captured on the way",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_filters, keylog_path) },
	{ .name = "record",
		.argument = "FILE",
		.help = "write down every RDMA operation; see rpcrdma-record(5)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_filters, path) },
	{ .name = "rpcrdma-version",
		.argument = "1|2|auto",
		.help = "versions of RPC-over-RDMA to speak (auto: both)",
		.kind = RR_OPTION_WORD,
		.words = filters_versions,
		.at = offsetof(struct rr_filters, versions) },
	{ 0 },
};

const struct rr_option rr_filters_transport[] = {
	{ .name = "transport",
		.argument = "KIND",
		.help = "of URLs without one: verbs (RDMA adapters), iwarp (TCP sockets), tcp (no RDMA), or "
			"auto: an adapter if the route to the server begins there (auto)",
		.kind = RR_OPTION_WORD,
		.words = rr_filters_transports,
		.at = offsetof(struct rr_filters, transport) },
	{ 0 },
};

const struct rr_option rr_filters_calls[] = {
	{ .name = "reply-chunks",
		.argument = "auto|always|never",
		.help = "offer memory for a reply that may be large to a server that can provide Read chunks "
			"(auto: where it will be large)",
		.kind = RR_OPTION_WORD,
		.words = filters_reply_chunks,
		.at = offsetof(struct rr_filters, reply_chunks) },
	{ 0 },
};

/* Wraps *fabric (the interface to the adapters) into the filters that the user asked for, and stores the
 * outermost filter in *fabric. The capturing filters are innermost, so that they write the packets that
 * really reach the peer. The recording filter is outermost: it also records the calls and events that the
 * fault filter changes. Returns 0, or an error. */
static int
filters_put(void *ctx, struct rr_fabric **fabric)
{
	const struct rr_filters *filters = ctx;
	int error = 0;

	if (filters->capture)
		error = rr_capture_fabric_new(*fabric, filters->capture, fabric);
	if (!error && filters->flight)
		error = rr_capture_fabric_new(*fabric, rr_flight_capture(filters->flight), fabric);
	if (!error && filters->judged)
		error = rr_capture_fabric_new(*fabric, filters->judged, fabric);
	if (error)
		return error;

	if (filters->has_script)
		error = rr_fault_fabric_new(*fabric, &filters->script, fabric);
	if (!error && filters->recording)
		error = rr_recording_fabric_new(*fabric, filters->recording, fabric);
	return error;
}

/* Makes the flight recorder, whose own thread writes the last packets into a file on SIGUSR2 or when a call
 * hangs. This thread, and all threads that it makes later, block SIGUSR2, so that the recorder's thread gets
 * it. Returns 0, or an error. */
static int
filters_start_flight(struct rr_filters *filters)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (rr_flight_new(filters->flight_path, &filters->flight) < 0)
		return -RPCRDMA_ERR_NOMEM;
	return rr_flight_watch(filters->flight, SIGUSR2, FILTERS_HANG);
}

/* Ends the flight recorder, if there is one. If the command failed and the last packets were not written yet,
 * writes them first. */
static void
filters_end_flight(const struct rr_tool *tool, struct rr_filters *filters, int status)
{
	if (!filters->flight)
		return;
	if (status != RR_EXIT_OK && !rr_flight_is_written(filters->flight) &&
		rr_flight_write(filters->flight) < 0)
		rr_tool_warn(tool, "--flight: %s: %s", filters->flight_path, strerror(errno));
	if (rr_flight_is_written(filters->flight))
		rr_tool_warn(tool, "--flight: the last packets are in %s", filters->flight_path);
	rr_flight_free(filters->flight);
	filters->flight = NULL;
}

int
rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config)
{
	struct rr_text text;

	/* TCP is no provider of RDMA: the sub-command chooses it for each URL. */
	if (filters->transport != RR_TRANSPORT_TCP)
		config->provider = filters->transport;
	config->versions = filters->versions;
	config->reply_chunks = filters->reply_chunks;
	config->crc = filters->crc;
	if (filters->keylog_path && rr_tls_keylog(filters->keylog_path, &text) < 0)
		return rr_tool_fail(tool, "--keylog: %s", text.text);
	if (filters->path && rr_recording_open(filters->path, &filters->recording, &text) < 0)
		return rr_tool_fail(tool, "--record: %s", text.text);
	if (filters->capture_path && rr_capture_open(filters->capture_path, &filters->capture, &text) < 0)
		return rr_tool_fail(tool, "--capture: %s", text.text);
	if (filters->flight_path && filters_start_flight(filters) < 0)
		return rr_tool_fail(tool, "--flight: there is not enough memory");
	if (filters->judge && rr_judging_begin(tool, &filters->judging, &filters->judged) < 0)
		return rr_tool_fail(tool, "--judge: there is not enough memory");
	/* Octets that the script corrupts must be noticed. */
	config->crc |= filters->has_script && rr_fault_corrupts(&filters->script);
	if (filters->has_script || filters->recording || filters->capture || filters->flight ||
		filters->judged) {
		config->filter = filters_put;
		config->filter_ctx = filters;
	}
	return RR_EXIT_OK;
}

int
rr_filters_end(const struct rr_tool *tool, struct rr_filters *filters, int status)
{
	struct rr_text text;
	int error = rr_recording_close(filters->recording, &text);

	status = rr_judging_end(filters->judging, status);
	filters->judging = NULL;
	filters->judged = NULL;
	filters->recording = NULL;
	if (error)
		status = rr_tool_fail(tool, "--record: %s", text.text);
	filters_end_flight(tool, filters, status);
	error = rr_capture_close(filters->capture, &text);
	filters->capture = NULL;
	return error ? rr_tool_fail(tool, "--capture: %s", text.text) : status;
}
