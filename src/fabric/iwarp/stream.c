/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fabric/iwarp/endpoint.h"
#include "fabric/iwarp/socket.h"

/*
 * The octets of an endpoint between its iWARP connection and its socket. The socket is read when it has
 * octets, and written at the end of the turn, so that all messages of the turn leave together. In a turn with
 * many messages, the first ones leave earlier, as the peer would be idle otherwise.
 */

enum {
	READS_PER_TURN = 16,
	WRITES_PER_TURN = 4,
	EMSS_INTERVAL = 1 << 18, /* octets after which TCP is asked for its segment size again */
	/* Sends that are handed on before the requests that they brought about leave, if the loop does not
	 * wait. If it does, these are RR_IWARP_FLUSH_EACH: with small batches neither side falls asleep. */
	FLUSH_EACH_SPIN = 2 * RR_IWARP_FLUSH_EACH,
};

void
rr_iwarp_stream_lost(struct rr_iwarp_endpoint *endpoint, int error)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	/* A peer that does not understand the request may close the socket before it has read the request,
	 * and TCP then sends a reset. */
	if (iwarp->state == RR_IWARP_REPLY && error == ECONNRESET)
		rr_iwarp_eof(iwarp);
	else
		rr_iwarp_over(
			iwarp, -RPCRDMA_ERR_DISCONNECTED, "the connection was lost: %s", strerror(error));
}

/* Reads from the socket once and handles the octets. Returns true if the read filled all the memory that was
 * offered: the socket may then have more octets. */
static bool
stream_read_once(struct rr_iwarp_endpoint *endpoint)
{
	struct iovec vectors[2];
	int count = rr_iwarp_space(&endpoint->iwarp, vectors);
	size_t wanted = 0;
	ssize_t n;

	if (!count)
		return false;
	for (int i = 0; i < count; i++)
		wanted += vectors[i].iov_len;
	n = endpoint->session ? rr_iwarp_secure_read(endpoint, vectors, count)
			      : rr_socket_read(endpoint->fd, vectors, count);
	if (n == -EAGAIN)
		return false;
	if (n > 0)
		endpoint->iwarp.base.moved += (uint64_t)n;
	if (n < 0)
		rr_iwarp_stream_lost(endpoint, (int)-n);
	else if (n == 0)
		rr_iwarp_eof(&endpoint->iwarp);
	else
		rr_iwarp_received(&endpoint->iwarp, (size_t)n);
	return n > 0 && (size_t)n == wanted;
}

void
rr_iwarp_stream_read(struct rr_iwarp_endpoint *endpoint)
{
	for (int i = 0; i < READS_PER_TURN && stream_read_once(endpoint); i++)
		;
}

/* Asks TCP for its present segment size, each time EMSS_INTERVAL further octets were put into FPDUs. An FPDU
 * is to fit into one TCP segment, and the segment size changes. Inside of TLS no segment has a whole FPDU, so
 * that FPDUs are as large as they may be. Does nothing while this side may not send FPDUs yet. */
static void
stream_follow_emss(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	if (iwarp->tx.gathered < endpoint->next_emss || !iwarp->may_send)
		return;
	rr_iwarp_set_emss(iwarp, endpoint->session ? UINT16_MAX : rr_socket_emss(endpoint->fd));
	endpoint->next_emss = iwarp->tx.gathered + EMSS_INTERVAL;
}

void
rr_iwarp_stream_moved(struct rr_iwarp_endpoint *endpoint, uint64_t octets)
{
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	iwarp->base.moved += octets;
	if (iwarp->draining && endpoint->state < RR_IWARP_ENDPOINT_CLOSING &&
		rr_now(iwarp->shared->env) < endpoint->drained_by)
		rr_loop_arm(iwarp->base.fabric->loop, &endpoint->timer, RR_IWARP_DRAINING_LIMIT);
}

/* Writes to the socket once, or to the session of TLS, which writes to the socket. Returns true if octets
 * were taken, so that more may be. */
static bool
stream_write_once(struct rr_iwarp_endpoint *endpoint)
{
	const struct iovec *vectors;
	uint32_t count;
	ssize_t n;

	if (endpoint->session && !rr_iwarp_secure_push(endpoint))
		return false;
	stream_follow_emss(endpoint);
	count = rr_iwarp_output(&endpoint->iwarp, &vectors);
	if (!count)
		return false;
	n = endpoint->session ? rr_iwarp_secure_write(endpoint, vectors, count)
			      : rr_socket_write(endpoint->fd, vectors, count);
	if (n == -EAGAIN) {
		endpoint->full = true;
		return false;
	}
	if (n < 0)
		rr_iwarp_stream_lost(endpoint, (int)-n);
	else
		rr_iwarp_taken(&endpoint->iwarp, (size_t)n);
	/* The handler of a completion may have closed the endpoint. */
	if (n < 0 || endpoint->iwarp.state >= RR_IWARP_OVER)
		return false;
	if (n > 0 && !endpoint->session)
		rr_iwarp_stream_moved(endpoint, (uint64_t)n);
	return n > 0;
}

void
rr_iwarp_stream_write(struct rr_iwarp_endpoint *endpoint)
{
	for (int i = 0; i < WRITES_PER_TURN; i++)
		if (!stream_write_once(endpoint))
			return;
	/* The other endpoints have their turn first: this one goes on when the loop reports its socket as
	 * writable. */
	endpoint->full = true;
}

void
rr_iwarp_stream_flush(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_endpoint *endpoint = rr_container(iwarp, struct rr_iwarp_endpoint, iwarp);

	if (!rr_loop_waits(iwarp->base.fabric->loop) && iwarp->rx.send_msn % FLUSH_EACH_SPIN != 0)
		return;
	if (endpoint->state == RR_IWARP_ENDPOINT_UP && !endpoint->full)
		stream_write_once(endpoint);
}
