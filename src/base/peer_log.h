/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_PEER_LOG_H
#define RR_BASE_PEER_LOG_H

#include "base/host.h"
#include "base/loop.h"

/*
 * Warnings that peers cause. A peer can connect as often as it likes, and each of its connections can
 * misbehave: so the lines are bounded for each host (host.h), whatever the number of its connections. A host
 * gets RR_PEER_LOG_LINES lines in a minute. Further lines are held back, and a line at the end of the minute
 * says how many they were. Where the log wants RR_LOG_INFO, every line is written.
 */
enum {
	RR_PEER_LOG_LINES = 16,
	RR_PEER_LOG_HOSTS = 64 /* hosts that have lines of their own in one minute; all other hosts together
				  have the lines of one host */
};

#define RR_PEER_LOG_WINDOW (60 * RR_SECOND)

/* A host and its lines in this minute. */
struct rr_peer_log_host {
	char name[RR_HOST_NAME];
	uint32_t lines;
	uint64_t held; /* lines that were held back */
};

/* Private: it belongs to its loop, see rr_loop_peer_log(). */
struct rr_peer_log {
	struct rr_loop *loop;
	struct rr_timer timer; /* armed while something is held back */
	uint64_t end;          /* of the minute */
	uint32_t count;
	struct rr_peer_log_host hosts[RR_PEER_LOG_HOSTS + 1]; /* the last one: of all others */
};

void rr_peer_log_init(struct rr_peer_log *log, struct rr_loop *loop);

/* Logs, for each host, how many warnings were held back in this minute, and disarms the timer. */
void rr_peer_log_end(struct rr_peer_log *log);

/* Writes a line of level RR_LOG_WARNING about a peer, unless the peer's host has had RR_PEER_LOG_LINES lines
 * in this minute. peer is the peer's address as text, or "" if no single peer is the cause; the line itself
 * has to name the peer. Does nothing if log is NULL. */
void rr_log_peer(struct rr_peer_log *log, const char *peer, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
