/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_REMOTE_H
#define RR_TOOL_REMOTE_H

#include "nfs/client.h"
#include "nfs/url.h"
#include "tool/advice.h"
#include "tool/option.h"

/* The server that a URL names, mounted. */
struct rr_remote {
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_handle root; /* of what is mounted */
	const char *rest;               /* of the URL's path, below it */
	struct rr_url url;
	char name[512];       /* the URL without its options, for messages */
	bool beside;          /* what is mounted is to be above the URL's last name */
	bool tcp;             /* a URL that names no transport is for TCP */
	bool version_3;       /* a URL that names no version of NFS is for version 3 */
	uint32_t connections; /* over which calls are spread; 0: one */
	bool verbose;         /* says on standard error what the connection goes over, once it is there */
};

/* Table of options (--verbose); its state is a struct rr_remote. */
extern const struct rr_option rr_remote_options[];

/* An engine as the sub-commands want it; config is the default but for its filters. */
int rr_remote_engine(
	const struct rr_engine_config *config, struct rpcrdma_engine **engine, struct rr_text *text);

/*
 * Takes the URL apart, resolves its host, connects (to each of its addresses, until one answers) and mounts.
 * Signals that rr_tool_catch_signals() caught interrupt. name is set in any case.
 */
int rr_remote_open(
	struct rpcrdma_engine *engine, const char *url, struct rr_remote *remote, struct rr_text *text);

/* Where the last name of the URL's path begins; there is none in "/". */
size_t rr_remote_last(const struct rr_url *url);

/* Also after a failed or no rr_remote_open() of a zeroed one. */
void rr_remote_close(struct rr_remote *remote);

#endif
