/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes to TCP. Messages queue up during a turn of the loop and are sent together at its end, gathered from
 * where they lie. A message belongs to the function that queued it; its memory is needed until written(). */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/checked.h"
#include "base/endian.h"
#include "carrier/tcp/tcp_private.h"
#include "wire/rpc.h"

enum {
	IOVS = 256,                            /* elements of iov in one write */
	PIECES_MAX = 2 + 3 * RR_MESSAGE_ITEMS, /* the most elements of iov that one message needs */
	SHORT_MAX = 512                        /* the most octets of a write that are copied into one piece */
};

/* Returns the most elements of iov that a message can need: for the record mark, the parts of the stream,
 * and each data item with its padding. */
static uint32_t
write_pieces_of(const struct rr_tcp_out *out)
{
	return 2 + 3 * out->message.item_count;
}

/* A copy of the rest of a message whose owner took it back after a part was sent. It frees itself when it was
 * written. */
struct write_tail {
	struct rr_tcp_out out;
	uint8_t octets[];
};

/* Is the written() of a struct write_tail, the copy of the rest of a message: frees the copy. */
static void
write_tail_written(struct rr_tcp *tcp, struct rr_tcp_out *out)
{
	rr_free(tcp->base.engine->env, rr_container(out, struct write_tail, out));
}

bool
rr_tcp_send(struct rr_tcp *tcp, struct rr_tcp_out *out, const struct rpcrdma_message *message,
	void (*written)(struct rr_tcp *tcp, struct rr_tcp_out *out))
{
	uint64_t length = rr_record_length(message);

	rr_list_init(&out->link);
	if (length > rr_tcp_record_max(tcp) || message->item_count > RR_MESSAGE_ITEMS)
		return false;
	out->message = *message;
	out->message.items = out->items;
	if (message->item_count > 0)
		memcpy(out->items, message->items, message->item_count * sizeof(*message->items));
	out->done = 0;
	out->total = RR_RECORD_MARK_SIZE + length;
	out->written = written;
	rr_put_be32(out->mark, rr_record_mark((uint32_t)length, true));
	rr_list_append(&tcp->out, &out->link);
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
	tcp->base.counters.inline_messages++;
	tcp->base.counters.octets_inline += length;
	return true;
}

/* Describes the messages at the front of the queue in iov, as far as they fit. Returns how many elements of
 * iov are in use, and adds the number of their octets to *octets. */
static uint32_t
write_gather(struct rr_tcp *tcp, struct iovec *iov, uint64_t *octets)
{
	uint32_t count = 0;

	rr_list_for_each (link, &tcp->out) {
		struct rr_tcp_out *out = rr_container(link, struct rr_tcp_out, link);

		if (count + write_pieces_of(out) > IOVS)
			break;
		count += rr_record_gather(
			out->mark, &out->message, out->done, iov + count, IOVS - count, octets);
	}
	return count;
}

/* Copies the octets that iov describes, one piece behind the other. */
static void
write_copy(uint8_t *to, const struct iovec *iov, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
}

/* Counts the octets of tcp->uncounted as octets of the messages in the queue, from its front on. */
static void
write_count(struct rr_tcp *tcp)
{
	rr_list_for_each (link, &tcp->out) {
		struct rr_tcp_out *out = rr_container(link, struct rr_tcp_out, link);
		uint64_t part = rr_min(tcp->uncounted, out->total - out->done);

		out->done += part;
		tcp->uncounted -= part;
	}
}

/* Is called when octets were written to the socket: removes the messages that are complete from the queue,
 * and calls written() of each. written() may take messages back by rr_tcp_unsend(), which first counts the
 * octets that were not counted yet: so a message can be complete before this function comes to it. */
static void
write_advance(struct rr_tcp *tcp, uint64_t octets)
{
	tcp->uncounted = octets;
	while (rr_tcp_alive(tcp) && !rr_list_empty(&tcp->out)) {
		struct rr_tcp_out *out = rr_container(tcp->out.next, struct rr_tcp_out, link);
		uint64_t left = out->total - out->done;

		if (tcp->uncounted < left) {
			out->done += tcp->uncounted;
			tcp->uncounted = 0;
			return;
		}
		tcp->uncounted -= left;
		rr_list_remove(&out->link);
		out->written(tcp, out);
	}
}

/* Writes the octets that iov describes to the socket. Returns the result of send(2) or sendmsg(2). */
static ssize_t
write_socket(struct rr_tcp *tcp, struct iovec *iov, uint32_t count, uint64_t octets)
{
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = count };
	uint8_t copy[SHORT_MAX];

	if (octets > SHORT_MAX)
		return sendmsg(tcp->watch.fd, &message, MSG_NOSIGNAL);
	/* To copy few octets costs less than the system takes to read and check the elements of iov. */
	write_copy(copy, iov, count);
	return send(tcp->watch.fd, copy, octets, MSG_NOSIGNAL);
}

/* Does what rr_tcp_flush() says inside of TLS. A message counts as written when it was encrypted. As a part
 * of its only caller, the function would make the stack of each flush larger. */
static __attribute__((noinline)) void
write_secured(struct rr_tcp *tcp)
{
	while (rr_tcp_alive(tcp) && rr_tcp_secure_push(tcp) && !rr_list_empty(&tcp->out)) {
		struct iovec iov[IOVS];
		uint64_t octets = 0;
		uint32_t count = write_gather(tcp, iov, &octets);
		ssize_t taken = rr_tcp_secure_write(tcp, iov, count);

		if (taken < 0)
			return;
		write_advance(tcp, (uint64_t)taken);
	}
}

void
rr_tcp_flush(struct rr_tcp *tcp)
{
	if (tcp->secure) {
		write_secured(tcp);
		return;
	}
	while (rr_tcp_alive(tcp) && !rr_list_empty(&tcp->out)) {
		struct iovec iov[IOVS];
		uint64_t octets = 0;
		uint32_t count = write_gather(tcp, iov, &octets);
		ssize_t sent = write_socket(tcp, iov, count, octets);

		if (sent < 0 && errno != EAGAIN && errno != EINTR) {
			rr_tcp_fail(
				tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: %s", tcp->base.peer, strerror(errno));
			return;
		}
		tcp->blocked = sent < 0 || (uint64_t)sent < octets;
		if (sent > 0) {
			tcp->moved += (uint64_t)sent;
			write_advance(tcp, (uint64_t)sent);
		}
		if (tcp->closed || tcp->blocked)
			return;
	}
	tcp->blocked = false;
}

void
rr_tcp_unsend(struct rr_tcp *tcp, struct rr_tcp_out *out)
{
	struct iovec iov[PIECES_MAX];
	uint64_t octets = 0;
	uint32_t count;
	struct rr_list *next = out->link.next;
	struct write_tail *tail;

	if (rr_list_empty(&out->link))
		return;
	write_count(tcp);
	/* A message that was sent as a whole is in the queue only while written() of an earlier one runs. */
	if (out->done == 0 || out->done == out->total) {
		rr_list_remove(&out->link);
		return;
	}
	count = rr_record_gather(out->mark, &out->message, out->done, iov, PIECES_MAX, &octets);
	tail = rr_alloc(tcp->base.engine->env, sizeof(*tail) + octets);
	rr_list_remove(&out->link);
	if (!tail) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory to finish a call that was cancelled",
			tcp->base.peer);
		return;
	}
	write_copy(tail->octets, iov, count);
	/* In the copy, the mark counts as sent; if a part of the mark was not sent, it is among the octets.
	 * The copy takes the place that the message had in the queue: in front of the link that followed it.
	 */
	tail->out.message = (struct rpcrdma_message){ .stream = tail->octets, .length = (uint32_t)octets };
	tail->out.done = RR_RECORD_MARK_SIZE;
	tail->out.total = RR_RECORD_MARK_SIZE + octets;
	tail->out.written = write_tail_written;
	rr_list_append(next, &tail->out.link);
}

void
rr_tcp_discard_output(struct rr_tcp *tcp)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&tcp->out))) {
		struct rr_tcp_out *out = rr_container(link, struct rr_tcp_out, link);

		/* Only copies are freed: all other messages belong to the functions that queued them. */
		if (out->written == write_tail_written)
			write_tail_written(tcp, out);
	}
}
