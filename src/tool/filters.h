/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_FILTERS_H
#define RR_TOOL_FILTERS_H

#include "carrier/engine.h"
#include "fabric/filter/script.h"
#include "tool/tool.h"

/*
 * What each sub-command with an engine can be told of its connections: which provider (--transport), which
 * filters are before it (--fault, --record), whether its frames are checked (--crc), which versions of
 * RPC-over-RDMA (--rpcrdma-version), and how large replies come (--reply-chunks). A program has one of these;
 * it lives longer than its engines.
 */
struct rr_filters {
	enum rr_provider provider;
	bool tcp; /* URLs that do not say are for TCP */
	struct rr_fault_script script;
	bool has_script;
	const char *path;
	struct rr_record *record;
	bool crc; /* asked for with iWARP */
	enum rr_versions versions;
	enum rr_reply_chunks reply_chunks;
};

enum { RR_OPT_FAULT = 512, RR_OPT_RECORD, RR_OPT_TRANSPORT, RR_OPT_CRC, RR_OPT_VERSION, RR_OPT_REPLY_CHUNKS };

/* Rows of a sub-command's table of options, and lines of its --help. */
#define RR_TRANSPORT_OPTION                                                                                  \
	{                                                                                                    \
		"transport", required_argument, NULL, RR_OPT_TRANSPORT                                       \
	}
#define RR_TRANSPORT_HELP                                                                                    \
	"      --transport KIND      of URLs without one: verbs (RDMA adapters), iwarp (TCP sockets),\n"     \
	"                            tcp (no RDMA), or auto: an adapter if the route to the server\n"        \
	"                            begins there (auto)\n"
#define RR_FILTER_OPTIONS                                                                                    \
	{ "crc", no_argument, NULL, RR_OPT_CRC }, { "fault", required_argument, NULL, RR_OPT_FAULT },        \
		{ "rpcrdma-version", required_argument, NULL, RR_OPT_VERSION },                              \
	{                                                                                                    \
		"record", required_argument, NULL, RR_OPT_RECORD                                             \
	}
#define RR_FILTER_HELP                                                                                       \
	"      --crc                 ask for CRC32c on each frame of iWARP\n"                                \
	"      --fault SCRIPT        bring about faults; see rpcrdma-fault(7)\n"                             \
	"      --record FILE         write down every RDMA operation; see rpcrdma-record(5)\n"               \
	"      --rpcrdma-version 1|2|auto\n"                                                                 \
	"                            versions of RPC-over-RDMA to speak (auto: both)\n"

/* Of those that call. */
#define RR_CALL_OPTION                                                                                       \
	{                                                                                                    \
		"reply-chunks", required_argument, NULL, RR_OPT_REPLY_CHUNKS                                 \
	}
#define RR_CALL_HELP                                                                                         \
	"      --reply-chunks auto|always|never\n"                                                           \
	"                            offer memory for a reply that may be large to a server that can\n"      \
	"                            provide Read chunks (auto: where it will be large)\n"

static inline bool
rr_filters_is_option(int option)
{
	return option >= RR_OPT_FAULT && option <= RR_OPT_REPLY_CHUNKS;
}

/* Takes one of these options, with its argument (NULL where it has none). An exit status. */
int rr_filters_option(
	const struct rr_tool *tool, struct rr_filters *filters, int option, const char *argument);

/* Makes the record, if there is to be one, and puts the provider and the filters into config. An exit status.
 */
int rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config);

/* Ends the record, after all engines. status, or RR_EXIT_FAILED with a message where it could not be written.
 */
int rr_filters_end(const struct rr_tool *tool, struct rr_filters *filters, int status);

#endif
