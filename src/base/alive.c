/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches whether the peer of a TCP socket still lives: alive.h. The system sends the probes, and a timer
 * looks how long the peer has been silent. */
#include "base/alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { PROBES = 3 }; /* of a silent peer, within the limit */

/* Sets *silent to the nanoseconds since the peer's TCP last sent data or an acknowledgement. Returns whether
 * the peer owes an acknowledgement: octets or probes were sent, and it has not answered yet. If the kernel
 * gives no information, returns false and leaves *silent as it is. */
static bool
alive_silent_for(int fd, uint64_t *silent)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);
	uint32_t ms;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return false;
	ms = info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv
								: info.tcpi_last_data_recv;
	*silent = ms * RR_MILLISECOND;
	/* An acknowledgement sets tcpi_retransmits and tcpi_probes back to 0. */
	return info.tcpi_retransmits > 0 || info.tcpi_probes > 0;
}

/* Calls dead() if the peer owes an acknowledgement and has been silent for alive->limit; else arms the timer
 * for the next look at the peer. */
static void
alive_look(struct rr_timer *timer)
{
	struct rr_alive *alive = rr_container(timer, struct rr_alive, timer);
	uint64_t silent = 0, least = alive->limit / PROBES;

	if (alive_silent_for(alive->fd, &silent) && silent >= alive->limit) {
		alive->dead(alive);
		return;
	}
	/* If the peer stays silent, it reaches the limit in limit - silent nanoseconds: the next look is
	 * then. At least `least` lies between two looks. */
	rr_loop_arm(alive->loop, timer, silent + least < alive->limit ? alive->limit - silent : least);
}

void
rr_alive_init(struct rr_alive *alive, void (*dead)(struct rr_alive *alive))
{
	alive->dead = dead;
	alive->fd = -1;
	rr_timer_init(&alive->timer, alive_look);
}

void
rr_alive_start(struct rr_alive *alive, struct rr_loop *loop, int fd, uint64_t limit)
{
	const int on = 1, most = 127;
	int seconds = (int)(limit / PROBES / RR_SECOND);

	alive->loop = loop;
	alive->fd = fd;
	alive->limit = limit;
	seconds = seconds > 0 ? seconds : 1;
	/* As many probes take the system much longer than the limit, so that the timer, and not the system,
	 * decides whether the peer is dead: the system would also end the connection of a peer that lives,
	 * but takes nothing for a while. */
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof(most));
	rr_loop_arm(loop, &alive->timer, limit);
}

void
rr_alive_stop(struct rr_alive *alive)
{
	if (alive->fd >= 0)
		rr_loop_disarm(alive->loop, &alive->timer);
	alive->fd = -1;
}
