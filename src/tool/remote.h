/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_REMOTE_H
#define RR_TOOL_REMOTE_H

#include "nfs/client.h"
#include "nfs/url.h"
#include "tool/advice.h"
#include "tool/option/option.h"

/* Room for a URL without its options. */
enum { RR_REMOTE_NAME = RR_URL_PATH + 512 };

/* The server that a URL names, mounted. The caller sets the members from `beside` on before rr_remote_open(),
 * which sets the others. */
struct rr_remote {
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_handle root; /* of the mounted directory */
	const char *rest;               /* the rest of the URL's path, below the mounted directory */
	struct rr_url url;
	char name[RR_REMOTE_NAME]; /* the URL without its options, for messages */
	bool beside;               /* the mounted directory is to be above the URL's last name */
	bool tcp;                  /* a URL that names no transport is for TCP */
	bool version_3;            /* a URL that names no version of NFS is for version 3 */
	uint32_t connections;      /* over which calls are spread; 0: a single one */
	uint32_t verbose;          /* how often --verbose was given */
	bool lists;                /* --verbose lists names, and only twice prints the fabric, too */
};

/* The tables of options (--verbose), whose state is a struct rr_remote: of commands that print the fabric of
 * the connection on standard error, and of those that list what they do, and print the fabric if the option
 * is given twice. */
extern const struct rr_option rr_remote_options[], rr_remote_list_options[];

/* Makes an engine for a sub-command; config is the default configuration with the sub-command's filters.
 * Returns 0; or an error, with a text. */
int rr_remote_engine(
	const struct rr_engine_config *config, struct rpcrdma_engine **engine, struct rr_text *text);

/*
 * Parses the URL, resolves its host, connects (to each of its addresses, until one answers) and mounts the
 * directory. Signals that rr_tool_catch_signals() remembers interrupt this. Returns 0; or an error, with a
 * text. remote->name is set in any case.
 */
int rr_remote_open(
	struct rpcrdma_engine *engine, const char *url, struct rr_remote *remote, struct rr_text *text);

/* Returns the offset in the URL's path at which its last name begins; slashes may follow the name. Of the
 * path "/", which has no last name, the offset is 1. */
size_t rr_remote_last(const struct rr_url *url);

/* Tells whether the URL's path ends with a slash, so that it names a directory. */
bool rr_remote_has_slash(const struct rr_remote *remote);

/* Closes the connection. It may also be called after rr_remote_open() has failed, or for a zeroed struct. */
void rr_remote_close(struct rr_remote *remote);

#endif
