/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ADVICE_H
#define RR_TOOL_ADVICE_H

#include "base/text.h"
#include "nfs/url.h"
#include "tool/tool.h"

/* What to do about a server that cannot be used: one text for each cause, for `rpcrdma doctor` and for the
 * messages of the other commands. */

/* The text for an error of this library; NULL: there is nothing general to say. */
const char *rr_advice(int error);

/* Reports that the server of a URL could not be used: "rpcrdma ls: NAME: TEXT", and below it what to do.
 * Returns RR_EXIT_FAILED. */
int rr_advice_fail(const struct rr_tool *tool, const char *name, int error, const struct rr_text *text);

#endif
