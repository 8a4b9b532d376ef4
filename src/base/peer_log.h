/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_PEER_LOG_H
#define RR_BASE_PEER_LOG_H

#include "base/host.h"
#include "base/loop.h"

/*
 * Warnings that peers cause. A peer can connect as often as it likes, and each of its connections can
 * misbehave: so the lines are bounded for each host (host.h), whatever the number of its connections. A host
 * gets RR_PEER_LOG_LINES lines in a window of one minute. Further lines are held back, and a line at the end
 * of the window says how many they were. A window begins when the one before it ends with lines held back, or
 * else with the next warning. Where the log wants RR_LOG_INFO, every line is written.
 */
enum {
	RR_PEER_LOG_LINES = 16,
	RR_PEER_LOG_HOSTS = 64 /* hosts that have lines of their own in one window; all other hosts together
				  have the lines of one host */
};

#define RR_PEER_LOG_WINDOW (60 * RR_SECOND)

/* A host and its lines in the present window. */
struct rr_peer_log_host {
	char name[RR_HOST_NAME];
	uint32_t lines; /* lines that were written */
	uint64_t held;  /* lines that were held back */
};

/* The log of one loop: a member of the loop, which rr_loop_peer_log() returns. Its members are private. */
struct rr_peer_log {
	struct rr_loop *loop;
	struct rr_timer timer; /* armed while something is held back */
	uint64_t end;          /* the time at which the present window ends */
	uint32_t count;        /* hosts that have an entry of their own in this window */
	struct rr_peer_log_host hosts[RR_PEER_LOG_HOSTS + 1]; /* the last one: of all others */
};

/* Initialises the log, which must be zeroed before. */
void rr_peer_log_init(struct rr_peer_log *log, struct rr_loop *loop);

/* Logs, for each host, how many warnings were held back in the present window, and disarms the timer. */
void rr_peer_log_end(struct rr_peer_log *log);

/* Writes a line of level RR_LOG_WARNING about a peer, unless the peer's host has had RR_PEER_LOG_LINES lines
 * in the present window: such a line is only counted. peer is the peer's address as text, or "" if no single
 * peer is the cause; the line itself has to name the peer. Does nothing if log is NULL. */
void rr_log_peer(struct rr_peer_log *log, const char *peer, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
