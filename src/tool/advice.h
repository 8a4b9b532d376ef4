/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ADVICE_H
#define RR_TOOL_ADVICE_H

#include "base/text.h"
#include "nfs/url.h"
#include "tool/tool.h"

/* Advice for a server that cannot be used: one text for each cause, for `rpcrdma doctor` and for the messages
 * of the other commands. */

/* Returns what a user can do about an error of this library; NULL if there is no general advice for it. */
const char *rr_advice(int error);

/* Prints that the server of a URL could not be used, as in "rpcrdma ls: NAME: TEXT", and on the next line the
 * advice for this error, if there is any. Returns RR_EXIT_FAILED. */
int rr_advice_fail(const struct rr_tool *tool, const char *name, int error, const struct rr_text *text);

#endif
