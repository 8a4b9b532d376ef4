/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/monitor/monitor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool/monitor/monitor_private.h"

/* The descriptors for poll(): MONITOR_LISTENERS listening sockets, then at MONITOR_END the eventfd that ends
 * the thread, and from MONITOR_FIRST on the peers. */
enum { MONITOR_LISTENERS = RR_MONITOR_KINDS, MONITOR_END = MONITOR_LISTENERS, MONITOR_FIRST };

#define MONITOR_PATIENCE (2 * RR_SECOND)        /* the time of a peer, to the end of the answer */
#define MONITOR_FRESH    (100 * RR_MILLISECOND) /* a measurement answers further requests for this time */

struct rr_monitor {
	struct rr_monitor_config config;
	struct rr_monitor_listeners listeners;
	struct rr_monitor_peer peers[RR_MONITOR_PEERS];
	struct rr_measure measure; /* the last measurement */
	uint64_t deaf;             /* ns: no connections are accepted until then */
	uint64_t began, measured;  /* ns: the beginning of service; the last measurement, 0: there is none */
	int end;                   /* an eventfd that ends the thread */
	pthread_t thread;
	bool runs; /* the thread was started, and must be joined */
};

/* ---- Peers ---- */

static void
monitor_close(struct rr_monitor_peer *peer)
{
	close(peer->fd);
	free(peer->reply);
	*peer = (struct rr_monitor_peer){ .fd = -1 };
}

/* Accepts a connection at the monitor's socket of this kind. Closes the connection at once if the peer is not
 * allowed to ask, or if there is no place for it. If no connection can be accepted, for example as the
 * process has too many descriptors, the sockets are left alone for MONITOR_FRESH: poll() would return at
 * once. */
static void
monitor_accept(struct rr_monitor *monitor, enum rr_monitor_kind kind)
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);
	int fd = accept4(monitor->listeners.fds[kind], (struct sockaddr *)&address, &size,
		SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct in6_addr host = rr_monitor_host((const struct sockaddr *)&address);
	struct rr_monitor_peer *peer;

	if (fd < 0) {
		monitor->deaf = rr_now(&rr_env_system) + MONITOR_FRESH;
		return;
	}
	peer = rr_monitor_may(fd, kind)
		       ? rr_monitor_place(&monitor->peers[(size_t)kind * RR_MONITOR_OF_A_KIND], kind, &host)
		       : NULL;
	if (!peer) {
		close(fd);
		return;
	}
	if (peer->fd >= 0)
		monitor_close(peer);
	*peer = (struct rr_monitor_peer){
		.fd = fd, .kind = kind, .host = host, .deadline = rr_now(&rr_env_system) + MONITOR_PATIENCE
	};
}

/* Collects the counts from all threads into monitor->measure, unless the last collection is younger than
 * MONITOR_FRESH. */
static void
monitor_measure(struct rr_monitor *monitor)
{
	uint64_t now = rr_now(&rr_env_system);

	if (monitor->measured && now - monitor->measured < MONITOR_FRESH)
		return;
	memset(&monitor->measure, 0, sizeof(monitor->measure));
	monitor->measure.command = monitor->config.command;
	monitor->measure.up = now - monitor->began;
	monitor->config.collect(monitor->config.ctx, &monitor->measure);
	monitor->measured = rr_now(&rr_env_system);
}

/* Reads more of the peer's request, and makes the answer when the request is complete. Returns false if the
 * connection is to be closed, as the peer has closed it, the request is too long, or there is no memory. */
static bool
monitor_read(struct rr_monitor *monitor, struct rr_monitor_peer *peer)
{
	ssize_t got = recv(peer->fd, peer->request + peer->got, sizeof(peer->request) - 1 - peer->got, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	peer->got += (size_t)got;
	peer->request[peer->got] = '\0';
	if (!rr_monitor_is_whole(peer))
		return peer->got < sizeof(peer->request) - 1;
	monitor_measure(monitor);
	return rr_monitor_answer(peer, &monitor->measure);
}

/* Sends more of the answer. Returns false if the connection is to be closed, as all is sent, or sending has
 * failed. */
static bool
monitor_write(struct rr_monitor_peer *peer)
{
	ssize_t sent = send(peer->fd, peer->reply + peer->at, peer->size - peer->at, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	peer->at += (size_t)sent;
	return peer->at < peer->size;
}

/* Goes on with a peer for which poll() has returned `events`, perhaps none: reads its request or writes its
 * reply. Closes the connection when that is done, has failed, or takes too long. */
static void
monitor_serve(struct rr_monitor *monitor, struct rr_monitor_peer *peer, short events)
{
	bool stays = rr_now(&rr_env_system) < peer->deadline;

	if (stays && events)
		stays = peer->reply ? monitor_write(peer) : monitor_read(monitor, peer);
	if (!stays)
		monitor_close(peer);
}

/* ---- The thread ---- */

/* Fills in fds with the listening sockets, the descriptor that ends the thread, and the peers, for poll().
 * Returns the milliseconds until the first deadline of a peer, or until connections are accepted again; -1 if
 * there is neither. */
static int
monitor_prepare(struct rr_monitor *monitor, struct pollfd *fds)
{
	uint64_t now = rr_now(&rr_env_system);
	bool is_deaf = now < monitor->deaf;
	int timeout = is_deaf ? (int)((monitor->deaf - now) / RR_MILLISECOND) + 1 : -1;

	for (uint32_t i = 0; i < MONITOR_LISTENERS; i++)
		fds[i] = (struct pollfd){ is_deaf ? -1 : monitor->listeners.fds[i], POLLIN, 0 };
	fds[MONITOR_END] = (struct pollfd){ monitor->end, POLLIN, 0 };
	for (uint32_t i = 0; i < RR_MONITOR_PEERS; i++) {
		const struct rr_monitor_peer *peer = &monitor->peers[i];
		int left = peer->deadline > now ? (int)((peer->deadline - now) / RR_MILLISECOND) + 1 : 0;

		fds[MONITOR_FIRST + i] = (struct pollfd){ peer->fd, peer->reply ? POLLOUT : POLLIN, 0 };
		if (peer->fd >= 0 && (timeout < 0 || left < timeout))
			timeout = left;
	}
	return timeout;
}

/* The thread of the monitor: accepts peers and serves them until the eventfd `end` is written to. */
static void *
monitor_run(void *ctx)
{
	struct rr_monitor *monitor = ctx;
	struct pollfd fds[MONITOR_FIRST + RR_MONITOR_PEERS];

	for (;;) {
		int timeout = monitor_prepare(monitor, fds);

		if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout) < 0 && errno != EINTR)
			return NULL;
		if (fds[MONITOR_END].revents)
			return NULL;
		for (uint32_t i = 0; i < RR_MONITOR_PEERS; i++)
			if (monitor->peers[i].fd >= 0)
				monitor_serve(monitor, &monitor->peers[i], fds[MONITOR_FIRST + i].revents);
		for (uint32_t i = 0; i < MONITOR_LISTENERS; i++)
			if (fds[i].revents)
				monitor_accept(monitor, (enum rr_monitor_kind)i);
	}
}

/* ---- Beginning and end ---- */

/* Makes the eventfd that ends the thread, and starts the thread. Returns 0; or the error SYSTEM, with a
 * text. */
static int
monitor_start(struct rr_monitor *monitor, struct rr_text *text)
{
	sigset_t all, before;

	monitor->end = eventfd(0, EFD_CLOEXEC);
	if (monitor->end < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the monitor: %s", strerror(errno));
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&monitor->thread, NULL, monitor_run, monitor);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	monitor->runs = errno == 0;
	return monitor->runs
		       ? 0
		       : rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the monitor's thread: %s", strerror(errno));
}

int
rr_monitor_new(const struct rr_monitor_config *config, struct rr_monitor **result, struct rr_text *text)
{
	struct rr_monitor *monitor = calloc(1, sizeof(*monitor));
	int error;

	if (!monitor)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	monitor->config = *config;
	monitor->began = rr_now(&rr_env_system);
	monitor->end = -1;
	for (uint32_t i = 0; i < RR_MONITOR_PEERS; i++)
		monitor->peers[i].fd = -1;
	error = rr_monitor_listen(&monitor->listeners, config, text);
	if (!error)
		error = monitor_start(monitor, text);
	if (error)
		rr_monitor_free(monitor);
	else
		*result = monitor;
	return error;
}

void
rr_monitor_free(struct rr_monitor *monitor)
{
	if (!monitor)
		return;
	if (monitor->runs) {
		(void)eventfd_write(monitor->end, 1);
		pthread_join(monitor->thread, NULL);
	}
	for (uint32_t i = 0; i < RR_MONITOR_PEERS; i++)
		if (monitor->peers[i].fd >= 0)
			monitor_close(&monitor->peers[i]);
	rr_monitor_unlisten(&monitor->listeners);
	if (monitor->end >= 0)
		close(monitor->end);
	free(monitor);
}
