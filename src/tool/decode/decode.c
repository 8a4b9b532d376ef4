/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/decode/decode.h"

#include <inttypes.h>
#include <rpcrdma/error.h>

/* Takes the argument of --filter, FIELD=VALUE. */
static int
decode_take_filter(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_text error = { "" };

	if (rr_decode_filter_add(state, argument, &error) < 0)
		return rr_tool_usage(tool, "%s", error.text);
	return RR_EXIT_OK;
}

static const struct rr_option decode_options[] = {
	{ .name = "check",
		.help = "hold the messages to the rows of docs/conformance.md, and print what breaks them "
			"only",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_decode, check) },
	{ .name = "filter",
		.argument = "FIELD=VALUE",
		.help = "only what has it: xid=N, procedure=NAME, procedure=N, connection=N; of several, all "
			"must "
			"hold",
		.kind = RR_OPTION_CALL,
		.take = decode_take_filter },
	{ .name = "json",
		.help = "print a JSON object on each line",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_decode, json) },
	{ .letter = 'v',
		.name = "verbose",
		.help = "print every field, and each RDMA operation",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_decode, verbose) },
	{ 0 },
};

struct decode_remark {
	size_t at; /* offset in struct rr_decode_counters */
	const char *text;
};

/* Messages to the user about packets and octets that were not decoded. */
static const struct decode_remark remarks[] = {
	{ offsetof(struct rr_decode_counters, unread), "packets were not read: broken, fragments of IP "
						       "packets, or of a link type that is not known" },
	{ offsetof(struct rr_decode_counters, lost), "octets of TCP streams are missing in the capture" },
	{ offsetof(struct rr_decode_counters, lost_packets), "packets of RoCE are missing in the capture" },
	{ offsetof(struct rr_decode_counters, uncaptured),
		"octets were cut off when packets were captured, and count as 0" },
	{ offsetof(struct rr_decode_counters, searched),
		"octets were passed over in search of the beginning of an FPDU" },
	{ offsetof(struct rr_decode_counters, wrong_crcs), "FPDUs had a wrong CRC" },
	{ offsetof(struct rr_decode_counters, partial), "Sends were not whole" },
	{ offsetof(struct rr_decode_counters, evicted_connections),
		"connections were given up early: too many at a time" },
	{ offsetof(struct rr_decode_counters, evicted_transactions),
		"calls were given up early: too many without a reply" },
	{ offsetof(struct rr_decode_counters, refused), "times the limit of memory was met" },
};

/* Prints a warning for each kind of data that was not decoded, with the number of its occurrences. */
static void
decode_remark(const struct rr_tool *tool, const struct rr_decode_counters *counters)
{
	for (size_t i = 0; i < sizeof(remarks) / sizeof(*remarks); i++) {
		uint64_t count = *(const uint64_t *)(const void *)((const char *)counters + remarks[i].at);

		if (count > 0)
			rr_tool_warn(tool, "%" PRIu64 " %s", count, remarks[i].text);
	}
}

int
rr_decode_file(const struct rr_tool *tool, struct rr_decode *decode, const struct rr_decode_sink *sink,
	const char *path)
{
	struct rr_decode_counters counters;
	struct rr_text error = { "" };
	struct rr_decoder *decoder;
	int status = RR_EXIT_OK;

	if (rr_decoder_new(&rr_env_system, NULL, sink, &decoder) < 0)
		return rr_tool_fail(tool, "there is not enough memory");
	if (rr_decode_read(decode, path, decoder, &error) < 0)
		status = rr_tool_fail(tool, "%s", error.text);
	rr_decoder_finish(decoder);
	counters = rr_decoder_counters(decoder);
	decode_remark(tool, &counters);
	rr_decoder_free(decoder);
	return status;
}

static int
decode_show(const struct rr_tool *tool, struct rr_decode *decode, const char *path)
{
	struct rr_decode_sink sink = decode->json ? rr_decode_json_sink(decode) : rr_decode_text_sink(decode);

	return rr_tool_end_output(tool, rr_decode_file(tool, decode, &sink, path));
}

static int
decode_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_decode decode = { 0 };
	int status = rr_options_parse(tool, &decode, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	return decode.check ? rr_decode_check(tool, &decode, argv[0]) : decode_show(tool, &decode, argv[0]);
}

const struct rr_tool rr_tool_decode = {
	.name = "decode",
	.run = decode_run,
	.help = "Show, or judge, the messages of a captured file (iWARP, RoCEv2).",
	.operands = "FILE",
	.least = 1,
	.most = 1,
	.groups = { { decode_options, 0 } },
};
