/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_FILTERS_H
#define RR_TOOL_FILTERS_H

#include "carrier/engine.h"
#include "fabric/filter/script.h"
#include "tool/judging.h"

/*
 * Options of connections, for each sub-command with an engine: the provider (--transport), the filters before
 * it (--fault, --record, --capture, --flight, --judge), CRCs (--crc), secrets of TLS (--keylog), versions of
 * RPC-over-RDMA
 * (--rpcrdma-version), and the way of large replies (--reply-chunks). A program has one struct rr_filters,
 * which lives longer than its engines.
 */

/* The values of these options, and the filters that rr_filters_start() makes of them. A filter is NULL if its
 * option was not given. */
struct rr_filters {
	enum rr_transport transport;   /* of URLs that name none */
	struct rr_fault_script script; /* --fault */
	bool has_script;
	const char *path; /* --record */
	struct rr_recording *recording;
	const char *capture_path; /* --capture */
	struct rr_capture *capture;
	const char *flight_path; /* --flight */
	struct rr_flight *flight;
	bool judge; /* --judge */
	struct rr_judging *judging;
	struct rr_capture *judged; /* the capture that the judge reads */
	const char *keylog_path;   /* --keylog */
	bool crc;                  /* to be asked for with iWARP */
	enum rr_versions versions;
	enum rr_reply_chunks reply_chunks;
};

/* Tables of options, whose state is a struct rr_filters; and the words of --transport. */
extern const struct rr_option rr_filters_options[], rr_filters_transport[], rr_filters_calls[];
extern const char *const rr_filters_transports[];

/* Opens the files of the filters that the user asked for, and sets in config the filters and the user's other
 * choices for RDMA, such as its provider. Returns an exit status, after a message if it is not OK. */
int rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config);

/* Ends the filters; all engines must have been freed before. Returns status; or RR_EXIT_FAILED, after a
 * message, if a file could not be written, or the judge of --judge has found that a MUST is broken. */
int rr_filters_end(const struct rr_tool *tool, struct rr_filters *filters, int status);

#endif
