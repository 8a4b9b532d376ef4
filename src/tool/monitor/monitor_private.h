/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_MONITOR_PRIVATE_H
#define RR_TOOL_MONITOR_MONITOR_PRIVATE_H

#include <netinet/in.h>
#include <sys/un.h>

#include "tool/monitor/monitor.h"

/* The parts of the monitor: monitor.c has the thread, listen.c the sockets, and answer.c the
 * requests and answers. */

enum rr_monitor_kind { RR_MONITOR_UNIX, RR_MONITOR_HTTP, RR_MONITOR_KINDS };

/* Each kind of peer has its own places, so that no kind takes the places of the other. */
enum {
	RR_MONITOR_OF_A_KIND = 8, /* the most peers of a kind at a time */
	RR_MONITOR_OF_A_HOST = 4, /* the most of them over HTTP from one address */
	RR_MONITOR_PEERS = RR_MONITOR_KINDS * RR_MONITOR_OF_A_KIND,
	RR_MONITOR_REQUEST = 2048 /* octets of memory for a request */
};

/* A program that has connected to ask for the counts. */
struct rr_monitor_peer {
	int fd; /* -1: there is no peer */
	enum rr_monitor_kind kind;
	struct in6_addr host; /* over HTTP: its address, of IPv4 in the first word; else zeros */
	uint64_t deadline;    /* when the connection is closed at the latest: ns of rr_now() */
	char request[RR_MONITOR_REQUEST];
	size_t got;      /* octets of the request that have come */
	char *reply;     /* NULL: the request is not whole yet */
	size_t size, at; /* octets of the reply; those that were sent */
};

/* The sockets at which the monitor listens. */
struct rr_monitor_listeners {
	int fds[RR_MONITOR_KINDS];                              /* -1: there is no such socket */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the Unix socket; "": there is none */
};

/* ---- listen.c ---- */

/* Makes the sockets that config asks for, and listens at them. Returns 0; or, with a text, an error of
 * rr_monitor_new(). rr_monitor_unlisten() is to be called in any case. */
int rr_monitor_listen(
	struct rr_monitor_listeners *listeners, const struct rr_monitor_config *config, struct rr_text *text);
/* Closes the sockets, and removes the file of the Unix socket. */
void rr_monitor_unlisten(struct rr_monitor_listeners *listeners);

/* Tells whether the peer that has connected to a socket of this kind is allowed to ask: at the Unix socket
 * only this user and root, over HTTP everybody. */
bool rr_monitor_may(int fd, enum rr_monitor_kind kind);

/* ---- places.c ---- */

/* Returns a place for a new peer of this kind from this address, among the RR_MONITOR_OF_A_KIND places. If
 * there is none, or if the address has its share over HTTP already, that is the place of the peer that has
 * been silent for the longest time, which the caller closes. Returns NULL if there is none of these either.
 */
struct rr_monitor_peer *rr_monitor_place(
	struct rr_monitor_peer *places, enum rr_monitor_kind kind, const struct in6_addr *host);
/* Returns the address of a peer, as rr_monitor_place() compares it. */
struct in6_addr rr_monitor_host(const struct sockaddr *address);

/* ---- answer.c ---- */

/* Tells whether the peer's request has come completely: at the Unix socket a line, over HTTP the lines up to
 * an empty line. */
bool rr_monitor_is_whole(const struct rr_monitor_peer *peer);

/* Makes the reply to the peer's request from the measure, and stores it in peer->reply, which the caller
 * frees. Returns false if there is no memory. */
bool rr_monitor_answer(struct rr_monitor_peer *peer, const struct rr_measure *measure);

#endif
