/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_PRIVATE_H
#define RR_TOOL_MONITOR_PRIVATE_H

#include <sys/un.h>

#include "tool/monitor.h"

/* The parts of the monitor: monitor.c has the thread, monitor_listen.c the sockets, and monitor_answer.c the
 * requests and answers. */

enum rr_monitor_kind { RR_MONITOR_UNIX, RR_MONITOR_HTTP, RR_MONITOR_KINDS };

/* Each kind of peer has its own places, so that no kind takes the places of the other. */
enum {
	RR_MONITOR_OF_A_KIND = 8,
	RR_MONITOR_PEERS = RR_MONITOR_KINDS * RR_MONITOR_OF_A_KIND,
	RR_MONITOR_REQUEST = 2048
};

struct rr_monitor_peer {
	int fd; /* -1: there is no peer */
	enum rr_monitor_kind kind;
	uint64_t deadline; /* ns of rr_now() */
	char request[RR_MONITOR_REQUEST];
	size_t got;
	char *reply; /* NULL: the request is not whole yet */
	size_t size, at;
};

struct rr_monitor_listeners {
	int fds[RR_MONITOR_KINDS]; /* -1: there is no such socket */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* ---- monitor_listen.c ---- */

int rr_monitor_listen(
	struct rr_monitor_listeners *listeners, const struct rr_monitor_config *config, struct rr_text *text);
void rr_monitor_unlisten(struct rr_monitor_listeners *listeners);

/* Tells whether the peer that has connected to a socket of this kind is allowed to ask. */
bool rr_monitor_may(int fd, enum rr_monitor_kind kind);

/* ---- monitor_answer.c ---- */

/* Tells whether the peer's request has come completely. */
bool rr_monitor_is_whole(const struct rr_monitor_peer *peer);

/* Makes the reply to the peer's request from the measure. Returns false if there is no memory. */
bool rr_monitor_answer(struct rr_monitor_peer *peer, const struct rr_measure *measure);

#endif
