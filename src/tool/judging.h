/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_JUDGING_H
#define RR_TOOL_JUDGING_H

#include "base/text.h"
#include "fabric/filter/capture.h"
#include "tool/tool.h"

/* The option --judge: the messages that a command sends and receives are judged by the rules in
 * docs/conformance.md while the command runs. */
struct rr_judging;

/* Makes the judge, and the capture *capture, to which the filters write all packets until rr_judging_end().
 * Returns 0, or -RPCRDMA_ERR_NOMEM. */
int rr_judging_begin(const struct rr_tool *tool, struct rr_judging **judging, struct rr_capture **capture);

/* Ends the judge, and prints the numbers of messages and of broken rules; all fabrics that write to the
 * capture must have ended before. Returns status, or RR_EXIT_FAILED if a rule with MUST was broken. judging
 * may be NULL. */
int rr_judging_end(struct rr_judging *judging, int status);

#endif
