/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds the warnings that peers cause: peer_log.h has the rules. */
#include "base/peer_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Ends the window, the minute for which warnings are counted, and begins the next window at `now`: logs for
 * each host how many warnings were left out in the old window, if any, and forgets all hosts. */
static void
log_begin_anew(struct rr_peer_log *log, uint64_t now)
{
	const struct rr_env *env = rr_loop_env(log->loop);

	rr_loop_disarm(log->loop, &log->timer);
	for (uint32_t i = 0; i <= RR_PEER_LOG_HOSTS; i++) {
		struct rr_peer_log_host *host = &log->hosts[i];

		if (host->held > 0)
			rr_log(env, RR_LOG_WARNING,
				"%s: %" PRIu64 " more warnings within a minute were left out", host->name,
				host->held);
		host->lines = 0;
		host->held = 0;
	}
	log->count = 0;
	log->end = now + RR_PEER_LOG_WINDOW;
}

/* Runs at the end of a window in which warnings were left out: logs how many they were, and begins the next
 * window. */
static void
log_expired(struct rr_timer *timer)
{
	struct rr_peer_log *log = rr_container(timer, struct rr_peer_log, timer);

	log_begin_anew(log, rr_now(rr_loop_env(log->loop)));
}

/* Returns the entry of the host to which the peer's address belongs; makes the entry if there
 * is none in the present window. Where all RR_PEER_LOG_HOSTS entries are taken, returns the entry that all
 * further hosts share. */
static struct rr_peer_log_host *
host_of(struct rr_peer_log *log, const char *peer)
{
	char name[RR_HOST_NAME];
	struct rr_peer_log_host *host;

	rr_host_name(peer, name);
	for (uint32_t i = 0; i < log->count; i++) {
		if (strcmp(log->hosts[i].name, name) == 0)
			return &log->hosts[i];
	}
	host = &log->hosts[log->count];
	if (log->count == RR_PEER_LOG_HOSTS)
		return host;
	memcpy(host->name, name, sizeof(name));
	log->count++;
	return host;
}

/* Whether one more warning about the peer may be written: at log level RR_LOG_INFO always, else if fewer than
 * RR_PEER_LOG_LINES warnings were written about the peer's host in the present window. Counts a warning that
 * may not be written, and arms the timer that logs the count at the end of the window. */
static bool
log_may(struct rr_peer_log *log, const char *peer)
{
	const struct rr_env *env = rr_loop_env(log->loop);
	struct rr_peer_log_host *host;
	uint64_t now;

	if (env->log_level >= RR_LOG_INFO)
		return true;
	now = rr_now(env);
	if (now >= log->end)
		log_begin_anew(log, now);
	host = host_of(log, peer);
	if (host->lines < RR_PEER_LOG_LINES) {
		host->lines++;
		return true;
	}
	host->held++;
	if (!rr_timer_armed(&log->timer))
		rr_loop_arm(log->loop, &log->timer, log->end - now);
	return false;
}

void
rr_log_peer(struct rr_peer_log *log, const char *peer, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!log || rr_loop_env(log->loop)->log_level < RR_LOG_WARNING || !log_may(log, peer))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	rr_log(rr_loop_env(log->loop), RR_LOG_WARNING, "%s", line);
}

void
rr_peer_log_init(struct rr_peer_log *log, struct rr_loop *loop)
{
	log->loop = loop;
	rr_timer_init(&log->timer, log_expired);
	snprintf(log->hosts[RR_PEER_LOG_HOSTS].name, RR_HOST_NAME, "other addresses");
}

void
rr_peer_log_end(struct rr_peer_log *log)
{
	log_begin_anew(log, rr_now(rr_loop_env(log->loop)));
}
