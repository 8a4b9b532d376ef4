/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ADVICE_H
#define RR_TOOL_ADVICE_H

#include "base/text.h"
#include "nfs/url.h"
#include "tool/tool.h"

/* Advice for a server that cannot be used: one text for each cause, for `rpcrdma doctor` and for the messages
 * of the other commands. */

/* Returns what a user can do about an error of this library, or about RPCRDMA_NFS_ACCESS for an export; NULL
 * if there is no general advice for it. */
const char *rr_advice(int error);

/* Returns the same for a server over TCP. The texts differ where rr_advice() speaks of RDMA alone. */
const char *rr_advice_tcp(int error);

/* Prints that the server of a URL could not be used, as in "rpcrdma ls: NAME: TEXT", and on the next line the
 * advice for this error and the transport of the URL, if there is any. Returns RR_EXIT_FAILED. */
int rr_advice_fail(const struct rr_tool *tool, const struct rr_url *url, const char *name, int error,
	const struct rr_text *text);

#endif
