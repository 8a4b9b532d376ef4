/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from TCP. The socket is read into the staging buffer, which all carriers of an engine share. If a
 * large record is arriving, which has pool memory already, one read fills that memory first, and puts only
 * the octets behind the record into staging. A record gets pool memory when enough of it has come. At the end
 * of a carrier's turn the octets that are left in staging are copied into memory of the carrier's own, as the
 * next carrier reads into staging, too. They are the beginning of a record, or calls that wait because the
 * peer has as many calls under way as it may have.
 *
 * A record that is longer than a record may be is taken off the stream piece by piece and dropped. Only the
 * call that it contained, or answered, fails.
 *
 * A client that shuts down its sending side ("half close") still gets the replies to its calls. The end of
 * the stream therefore ends a server's connection only when no call of that client is unanswered.
 *
 * Reading stops if a record needs pool memory and there is none, and if the peer has as many calls under way
 * as it may have. It goes on from the waiter for pool memory, or from the carrier's task. The memory of a
 * record grows with the octets that come, unless the peer has proved to use up the memory that it gets
 * (base/share/pool.h), or there is plenty of memory (rr_pool_step()). A carrier that waits for more memory
 * keeps what it has. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/peer_log.h"
#include "carrier/tcp/tcp_private.h"
#include "wire/rpc.h"

enum {
	READS = 4, /* reads in one turn: a busy peer must not starve the others */
	/* If at least BULK_MIN octets of a record are still to come, only BULK_TAIL octets are read into
	 * staging behind the record: the next record is likely to be large, too, and would have to be
	 * copied. */
	BULK_MIN = 16384,
	BULK_TAIL = 1024,
};

bool
rr_tcp_may_read(const struct rr_tcp *tcp)
{
	return tcp->state == RR_TCP_OPEN && !tcp->starved && !tcp->whole.data &&
	       tcp->exchange_count < tcp->base.engine->config.credits;
}

bool
rr_tcp_in_record(const struct rr_tcp *tcp)
{
	return tcp->record.fragments > 0 || tcp->in_end > tcp->in_start;
}

void
rr_tcp_discard_input(struct rr_tcp *tcp)
{
	rr_pool_put(tcp->pool, tcp->record.data);
	tcp->record = (struct rr_record){ 0 };
	if (tcp->whole_pooled)
		rr_pool_put(tcp->pool, (void *)(uintptr_t)tcp->whole.data);
	tcp->whole = (struct rpcrdma_bytes){ 0 };
	tcp->whole_pooled = false;
	tcp->in_start = tcp->in_end = 0;
}

/* ---- Staging ---- */

/* Tells whether the octets that were read and not handled yet lie in the staging buffer, into which all TCP
 * carriers of the engine read. */
static bool
read_staging_is_in(const struct rr_tcp *tcp)
{
	return tcp->in == tcp->staging;
}

void
rr_tcp_free_input(struct rr_tcp *tcp)
{
	if (!read_staging_is_in(tcp))
		rr_free(tcp->base.engine->env, tcp->in);
	tcp->in = NULL;
}

/* Moves the octets that were read and not handled yet to the front of the staging buffer, into which all TCP
 * carriers of the engine read. The next octets then have room behind them. */
static void
read_staging_open(struct rr_tcp *tcp)
{
	uint8_t *staging = tcp->staging;
	uint32_t size = tcp->in_end - tcp->in_start;

	if (size > 0)
		memmove(staging, tcp->in + tcp->in_start, size);
	rr_tcp_free_input(tcp);
	tcp->in = staging;
	tcp->in_start = 0;
	tcp->in_end = size;
}

/* Copies the octets that are left in the staging buffer into memory of the carrier's own, as other carriers
 * use the staging buffer next. If the record tcp->whole lies there and waits, it is copied, too. Does nothing
 * if the octets lie in the carrier's own memory already. Without memory for the copy, the connection ends. */
static void
read_staging_close(struct rr_tcp *tcp)
{
	const struct rr_env *env = tcp->base.engine->env;
	bool keeps_whole = tcp->whole.data && !tcp->whole_pooled;
	uint32_t start = keeps_whole ? (uint32_t)((const uint8_t *)tcp->whole.data - tcp->in) : tcp->in_start;
	uint32_t size = tcp->in_end - start;
	uint8_t *copy = NULL;

	if (size > 0 && !read_staging_is_in(tcp))
		return;
	if (size > 0) {
		copy = env->realloc(env->ctx, NULL, size);
		if (!copy) {
			rr_tcp_fail(
				tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for what arrives", tcp->base.peer);
			return;
		}
		memcpy(copy, tcp->in + start, size);
	}
	rr_tcp_free_input(tcp);
	tcp->in = copy;
	tcp->in_start -= start;
	tcp->in_end -= start;
	if (keeps_whole)
		tcp->whole.data = copy;
}

/* ---- Records ---- */

/* Stops reading until the pool has memory. If no other user of the pool could give memory back, ends the
 * connection instead. */
static void
read_starve(struct rr_tcp *tcp)
{
	struct rr_pool *pool = tcp->pool;

	if (rr_pool_is_idle(pool) || rr_pool_is_alone(pool, tcp->record.data)) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for a record", tcp->base.peer);
		return;
	}
	tcp->starved = true;
	rr_pool_wait(pool, tcp->base.party, &tcp->waiter);
}

/* Returns after how many messages the answers to them are sent, so that neither side is idle while the other
 * side works. If this side waits for its events, the peer does so, too, most likely: small batches then keep
 * both sides from falling asleep. Two sides that do not wait are faster with fewer system calls. */
static uint32_t
read_batch(const struct rr_tcp *tcp)
{
	return rr_loop_waits(tcp->base.engine->loop) ? RR_TCP_BATCH : RR_TCP_BATCH_SPIN;
}

/* Hands the complete record tcp->whole on, as a call or as a reply. Returns false if there is no pool memory
 * for a call, so that the record has to wait, or if the connection ended. */
static bool
read_deliver(struct rr_tcp *tcp)
{
	struct rpcrdma_bytes whole = tcp->whole;
	bool pooled = tcp->whole_pooled;
	uint32_t xid, type;

	if (!rr_rpc_peek(whole.data, whole.length, &xid, &type) || type > RR_REPLY) {
		rr_tcp_fail(
			tcp, -RPCRDMA_ERR_PEER, "%s sent a record that is no RPC message", tcp->base.peer);
		return false;
	}
	tcp->whole = (struct rpcrdma_bytes){ 0 };
	tcp->whole_pooled = false;
	if (tcp->guarded && type == RR_CALL && rr_tcp_starttls_called(tcp, xid, whole)) {
		tcp->delivered++;
		if (pooled)
			rr_pool_put(tcp->pool, (void *)(uintptr_t)whole.data);
		return rr_tcp_alive(tcp);
	}
	/* Without pool memory for the call, the record stays in tcp->whole, and is handed on when there is
	 * memory. */
	if (type == RR_CALL && !rr_tcp_called(tcp, xid, whole, pooled)) {
		tcp->whole = whole;
		tcp->whole_pooled = pooled;
		read_starve(tcp);
		return false;
	}
	tcp->base.counters.inline_messages++;
	tcp->base.counters.octets_inline += whole.length;
	if (type == RR_REPLY)
		rr_tcp_replied(tcp, xid, whole, pooled);
	tcp->delivered++;
	if (rr_tcp_alive(tcp) && !tcp->blocked && tcp->delivered % read_batch(tcp) == 0)
		rr_tcp_flush(tcp);
	return rr_tcp_alive(tcp);
}

/* Acts on a record that was too long and was skipped; head has its first octets. A call is answered with
 * SYSTEM_ERR, and a reply ends its call with an error. The connection goes on, as other calls are under way
 * on it. */
static void
read_skipped(struct rr_tcp *tcp, struct rpcrdma_bytes head)
{
	uint32_t xid, type;

	if (!rr_rpc_peek(head.data, head.length, &xid, &type))
		return;
	rr_log_peer(rr_loop_peer_log(tcp->base.engine->loop), tcp->base.peer,
		"%s: XID 0x%08x: a record of more than %u octets was skipped", tcp->base.peer, xid,
		rr_tcp_record_max(tcp));
	if (type == RR_CALL)
		rr_tcp_refuse(tcp, xid);
	else
		rr_tcp_replied_too_long(tcp, xid);
}

/* Tells whether a record that is being skipped begins with octets that are not those of an RPC message. The
 * caller then ends the connection at once, without waiting for the end of the record. */
static bool
read_is_no_message(const struct rr_record *record)
{
	uint32_t xid, type;

	return record->skipping && record->head_length == RR_RECORD_HEAD &&
	       (!rr_rpc_peek(record->head, record->head_length, &xid, &type) || type > RR_REPLY);
}

/* Gives the record memory for the octets that have come, and maybe for more. Returns false if there is no
 * memory: the carrier then waits for memory, or ends if none can come back. */
static bool
read_make_room(struct rr_tcp *tcp)
{
	struct rr_record *record = &tcp->record;
	struct rr_party *party = tcp->base.party;
	uint32_t come = record->length + (uint32_t)rr_min(tcp->in_end - tcp->in_start, record->left);
	size_t size = rr_pool_step(tcp->pool, party, record->data, come, record->wanted);
	void *memory = rr_pool_grow(tcp->pool, party, record->data, record->length, size);

	if (!memory) {
		read_starve(tcp);
		return false;
	}
	rr_record_room(record, memory, (uint32_t)size);
	return true;
}

/* Acts on the result of one step of rr_record_take(): hands a whole record on, gives the record memory, goes
 * on to skip it, or ends the connection. taken has the octets of a whole record, or the first octets of a
 * record that was skipped. pooled tells whether the whole record lies in memory of the pool. Returns true if
 * the next step may follow at once. Returns false if more octets or pool memory are needed first, or if the
 * connection ended. */
static bool
read_took(struct rr_tcp *tcp, enum rr_record_result result, struct rpcrdma_bytes taken, bool pooled)
{
	switch (result) {
	case RR_RECORD_MORE: break;
	case RR_RECORD_ROOM: return read_make_room(tcp);
	case RR_RECORD_WHOLE:
		rr_loop_disarm(tcp->base.engine->loop, &tcp->timer);
		tcp->whole = taken;
		tcp->whole_pooled = pooled;
		return read_deliver(tcp);
	case RR_RECORD_LARGE:
		rr_pool_put(tcp->pool, tcp->record.data);
		tcp->record.data = NULL;
		return true;
	case RR_RECORD_SKIPPED:
		rr_loop_disarm(tcp->base.engine->loop, &tcp->timer);
		read_skipped(tcp, taken);
		return rr_tcp_alive(tcp);
	case RR_RECORD_SHREDDED:
		rr_tcp_fail(tcp, -RPCRDMA_ERR_PEER, "%s sent a record of more than %u fragments",
			tcp->base.peer, RR_RECORD_FRAGMENTS);
		break;
	}
	return false;
}

/* Tells whether the record at the front of `in` may get memory now, or has it already. A peer that has not
 * yet proved that it uses up the memory it holds (base/share/share.h) must first have sent RR_TCP_BEGUN
 * octets of the record, as fewer octets cost the peer next to nothing. */
static bool
read_may_begin(const struct rr_tcp *tcp, struct rpcrdma_bytes in)
{
	const struct rr_record *record = &tcp->record;

	return record->fragments > 0 || record->skipping || rr_pool_has_proved(tcp->pool, tcp->base.party) ||
	       rr_record_has_begun(in, RR_TCP_BEGUN, rr_tcp_record_max(tcp));
}

/* Handles the octets that were read: hands on the record that waits, and then each record that they complete.
 * Returns true if more octets are to be read; false if reading has to stop, or the connection ended. */
static bool
read_process(struct rr_tcp *tcp)
{
	if (tcp->whole.data && !read_deliver(tcp))
		return false;
	while (tcp->in && rr_tcp_may_read(tcp)) {
		struct rpcrdma_bytes in = { tcp->in + tcp->in_start, tcp->in_end - tcp->in_start },
				     taken = { 0 };
		const uint8_t *gathered = tcp->record.data;
		enum rr_record_result result;

		if (!read_may_begin(tcp, in))
			return true;
		result = rr_record_take(&tcp->record, &in, RR_TCP_IN_PLACE, rr_tcp_record_max(tcp), &taken);
		tcp->in_start = tcp->in_end - in.length;
		if (read_is_no_message(&tcp->record)) {
			rr_tcp_fail(tcp, -RPCRDMA_ERR_PEER, "%s sent a record that is no RPC message",
				tcp->base.peer);
			return false;
		}
		if (result == RR_RECORD_MORE)
			return true;
		/* A whole record lies in pool memory if it was gathered, and in `in` otherwise. */
		if (!read_took(tcp, result, taken, gathered && taken.data == gathered))
			return false;
	}
	return false;
}

/* Acts on the end of the peer's stream. The side that connected ends the connection at once, as the peer
 * answers no more calls. The side that accepted first answers the calls that are under way: RFC 9293, 3.6:
 * "The user who CLOSEs may continue to RECEIVE until the TCP receiver is told that the remote peer has CLOSED
 * also." If the peer has closed its receiving side as well, a reset ends the connection when a reply is
 * written. All whole records were handed on before; the beginning of a record is dropped. */
static void
read_ended(struct rr_tcp *tcp)
{
	/* Only carriers of the accepting side take memory from this pool. */
	bool accepted = tcp->pool == tcp->base.engine->arrivals;

	if (!accepted || tcp->exchange_count == 0) {
		rr_tcp_fail(
			tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: the peer closed the connection", tcp->base.peer);
		return;
	}
	rr_tcp_discard_input(tcp);
	tcp->state = RR_TCP_DRAINING;
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
}

/* Reads from the socket, or through TLS, into the pieces of iov, and returns what readv(2) returns. */
static ssize_t
read_socket(struct rr_tcp *tcp, const struct iovec *iov, int count)
{
	if (tcp->secure)
		return rr_tcp_secure_read(tcp, iov, count);
	/* For one vector, recv(2) is cheaper than readv(2). */
	return count == 1 ? recv(tcp->watch.fd, iov->iov_base, iov->iov_len, 0)
			  : readv(tcp->watch.fd, iov, count);
}

/* Reads from the socket once, into the record's memory and into the staging buffer. Returns true if more
 * octets may wait in the socket, as the octets that came filled all of this memory. Also returns true,
 * without reading, if enough unhandled octets are in memory already. */
static bool
read_receive(struct rr_tcp *tcp)
{
	struct iovec iov[2];
	uint32_t direct = 0;
	size_t room;
	int count = 0;
	ssize_t got;

	/* Staging holds whole records that had to wait. They are handled before more is read. */
	if (tcp->in_end - tcp->in_start > RR_TCP_BEGUN)
		return true;
	read_staging_open(tcp);
	iov[0].iov_base = rr_record_direct(&tcp->record, &direct);
	if (iov[0].iov_base)
		iov[count++].iov_len = direct;
	iov[count].iov_base = tcp->in + tcp->in_end;
	/* While a large record arrives, little is read behind it: see BULK_TAIL. */
	room = direct >= BULK_MIN ? BULK_TAIL : RR_TCP_STAGING - tcp->in_end;
	iov[count++].iov_len = room;
	got = read_socket(tcp, iov, count);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got < 0)
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: %s", tcp->base.peer, strerror(errno));
	if (got == 0)
		read_ended(tcp);
	if (got <= 0)
		return false;
	tcp->moved += (uint64_t)got;
	if (direct > 0) {
		uint32_t filled = (uint32_t)rr_min((size_t)got, direct);

		rr_record_filled(&tcp->record, filled);
		got -= filled;
	}
	tcp->in_end += (uint32_t)got;
	return (size_t)got == room;
}

/* Reads and drops the octets that the peer still sends after this side's FIN. Ends the connection at the
 * peer's FIN, or at an error. */
static void
read_drain(struct rr_tcp *tcp)
{
	ssize_t got = read(tcp->watch.fd, tcp->staging, RR_TCP_STAGING);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: shut down", tcp->base.peer);
}

void
rr_tcp_read(struct rr_tcp *tcp)
{
	if (tcp->state == RR_TCP_LINGERING) {
		read_drain(tcp);
		return;
	}
	/* `filled` is false if the socket has no more octets for now, or the stream has ended. */
	for (int i = 0; i < READS; i++) {
		bool filled = read_receive(tcp);

		if (!rr_tcp_alive(tcp) || !read_process(tcp) || !filled)
			break;
	}
	read_staging_close(tcp);
}

void
rr_tcp_resume(struct rr_tcp *tcp)
{
	if (tcp->state != RR_TCP_OPEN || tcp->starved)
		return;
	read_process(tcp);
	read_staging_close(tcp);
}
