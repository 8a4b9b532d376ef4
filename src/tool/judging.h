/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_JUDGING_H
#define RR_TOOL_JUDGING_H

#include "base/text.h"
#include "fabric/filter/capture.h"
#include "tool/tool.h"

/* --judge: the messages that a command sends and receives are held to the rows of docs/conformance.md
 * while it runs. */
struct rr_judging;

/* *capture is where filters write to, until rr_judging_end(). -RPCRDMA_ERR_NOMEM. */
int rr_judging_begin(const struct rr_tool *tool, struct rr_judging **judging, struct rr_capture **capture);

/* After all fabrics that write to the capture: says how many messages were judged, and how many findings
 * there were. status, or RR_EXIT_FAILED where a MUST was broken. judging may be NULL. */
int rr_judging_end(struct rr_judging *judging, int status);

#endif
