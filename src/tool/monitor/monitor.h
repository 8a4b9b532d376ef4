/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_MONITOR_H
#define RR_TOOL_MONITOR_MONITOR_H

#include "base/text.h"
#include "tool/monitor/measure.h"

/*
 * The monitor answers, in its own thread, requests for a server's counts: `rpcrdma top` asks on a Unix
 * socket, which only its owner may use, by "json\n" or "prometheus\n", and scrapers ask by HTTP. Peers are
 * few, have little time and little memory, and never block the server.
 */
struct rr_monitor;

/* The directory of the sockets of a user. The directories of services begin with the same word. */
#define RR_MONITOR_DIRECTORY "rpcrdma"

struct rr_monitor_config {
	const char *command; /* the name of the sub-command, for the measure */
	/* The path of the Unix socket. NULL: the default, if a socket can be made there, which is
	 * PID.sock in the directory that a service manager made ($RUNTIME_DIRECTORY), else in
	 * RR_MONITOR_DIRECTORY below $XDG_RUNTIME_DIR, or for root below /run. */
	const char *socket;
	const char *metrics; /* ADDR:PORT, or PORT of the loopback; NULL: no HTTP */
	/* Has all threads add their counts to measure. The monitor calls this function in its own thread. */
	void (*collect)(void *ctx, struct rr_measure *measure);
	void *ctx;
};

/* Copies into path the directory of the socket if none is given, and makes it if it can. Returns false if
 * there is none. */
bool rr_monitor_directory(char *path, size_t size);

/* Makes the monitor's sockets and starts its thread. config is copied, but its texts are not, and must live
 * on. Returns 0; or, with a text, the error SYSTEM, INVAL, ADDRESS or NOMEM. */
int rr_monitor_new(const struct rr_monitor_config *config, struct rr_monitor **monitor, struct rr_text *text);

/* Ends the thread and closes the sockets. monitor may be NULL. */
void rr_monitor_free(struct rr_monitor *monitor);

#endif
