/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_H
#define RR_TOOL_MONITOR_H

#include "base/text.h"
#include "tool/measure.h"

/*
 * Answers, in a thread of its own, those who want to know what a server does: `rpcrdma top` on a Unix socket,
 * which only its owner may use, with "json\n" or "prometheus\n" for a request, and scrapers by HTTP. Peers
 * are few, have little time and little memory, and are waited for by nobody.
 */
struct rr_monitor;

/* The directory of the sockets of one user. The directories of services begin with the same word. */
#define RR_MONITOR_DIRECTORY "rpcrdma"

struct rr_monitor_config {
	const char *command;
	/* The path of the Unix socket. NULL: the default, if a socket can be made there, which is
	 * PID.sock in the directory that a service manager made ($RUNTIME_DIRECTORY), else in
	 * RR_MONITOR_DIRECTORY below $XDG_RUNTIME_DIR, or for root below /run. */
	const char *socket;
	const char *metrics; /* ADDR:PORT, or PORT of the loopback; NULL: no HTTP */
	/* Has all threads add what they counted to measure, in the monitor's thread; false: it is not known
	 * how. */
	void (*collect)(void *ctx, struct rr_measure *measure);
	void *ctx;
};

/* Listens, and starts. config is copied, the texts are not. Errors: SYSTEM, INVAL, ADDRESS, NOMEM; with text.
 */
int rr_monitor_new(const struct rr_monitor_config *config, struct rr_monitor **monitor, struct rr_text *text);

/* monitor may be NULL. */
void rr_monitor_free(struct rr_monitor *monitor);

#endif
