/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_JUDGING_H
#define RR_TOOL_JUDGING_H

#include "base/text.h"
#include "fabric/filter/capture.h"
#include "tool/tool.h"

/* --judge: the messages that a command sends and receives are judged by the rows of docs/conformance.md while
 * the command runs. */
struct rr_judging;

/* Makes the judge. The filters write to *capture until rr_judging_end(). Errors: -RPCRDMA_ERR_NOMEM. */
int rr_judging_begin(const struct rr_tool *tool, struct rr_judging **judging, struct rr_capture **capture);

/* Ends the judge, after all fabrics that write to the capture, and prints the numbers of messages and
 * findings. Returns status, or RR_EXIT_FAILED if a MUST was broken. judging may be NULL. */
int rr_judging_end(struct rr_judging *judging, int status);

#endif
