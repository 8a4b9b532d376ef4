/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_FILTERS_H
#define RR_TOOL_FILTERS_H

#include "carrier/engine.h"
#include "fabric/filter/script.h"
#include "tool/judging.h"

/*
 * Options of connections, which each sub-command with an engine has: the provider (--transport), the filters
 * before it (--fault, --record, --capture, --flight, --judge), CRCs (--crc), versions of RPC-over-RDMA
 * (--rpcrdma-version), and how large replies come (--reply-chunks). A program has one struct rr_filters; it
 * lives longer than its engines.
 */

struct rr_filters {
	enum rr_transport transport; /* TCP: of URLs that name no transport */
	struct rr_fault_script script;
	bool has_script;
	const char *path;
	struct rr_record *record;
	const char *capture_path;
	struct rr_capture *capture;
	const char *flight_path;
	struct rr_flight *flight;
	bool judge;
	struct rr_judging *judging;
	struct rr_capture *judged;
	bool crc; /* asked for with iWARP */
	enum rr_versions versions;
	enum rr_reply_chunks reply_chunks;
};

/* Tables of options; their state is a struct rr_filters. The words are those of --transport. */
extern const struct rr_option rr_filters_options[], rr_filters_transport[], rr_filters_calls[];
extern const char *const rr_filters_transports[];

/* Makes the record, if there is to be one, and puts the provider and the filters into config. An exit status.
 */
int rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config);

/* Ends the record, after all engines. status, or RR_EXIT_FAILED with a message where it could not be written.
 */
int rr_filters_end(const struct rr_tool *tool, struct rr_filters *filters, int status);

#endif
