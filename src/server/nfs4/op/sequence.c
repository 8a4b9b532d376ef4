/* SPDX-License-Identifier: BSD-3-Clause */
/* SEQUENCE: RFC 8881, sections 2.10.6 and 18.46. */
#include <string.h>

#include "base/checked.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/size.h"

/* Octets of the result of SEQUENCE, with its number and status. */
enum { SEQUENCE_RESULT = RR_NFS4_ERROR_SIZE + NFS4_SESSIONID_SIZE + 5 * 4 };

/* Returns the number of octets of the call, including data that came in chunks. */
static uint32_t
sequence_call_size(const struct rpcrdma_request *request)
{
	const struct rpcrdma_message *call = &request->exchange->call;
	uint64_t size = call->length;

	for (uint32_t i = 0; i < call->item_count; i++)
		size += call->items[i].length + rr_pad(call->items[i].length);
	return (uint32_t)rr_min(size, UINT32_MAX);
}

/* Answers a retry with the reply that the slot has cached. The octets are copied while the caller holds the
 * lock of the tables, as the slot may be used again after that. Returns NFS4ERR_DELAY if there is no room for
 * the copy. */
static nfsstat4
sequence_replay(struct rr_nfs4_compound *c)
{
	struct rpcrdma_arena arena = { c->writer.next, c->writer.end };
	uint8_t *copy = arena.next;

	if ((size_t)(arena.end - arena.next) < c->turn.reply_length)
		return NFS4ERR_DELAY;
	memcpy(copy, c->turn.reply, c->turn.reply_length);
	/* Behind the copy lies the memory for lists and arrays of the decoded reply, which points into the
	 * copy. */
	arena.next += (c->turn.reply_length + 15) & ~(size_t)15;
	if (!rr_nfs4_result_replay(c->result, copy, c->turn.reply_length, &arena))
		return NFS4ERR_DELAY;
	/* The kept reply has the results of all operations: none is encoded for this call. */
	c->encoded = true;
	return NFS4_OK;
}

/* The time between two looks of a retry whether the call that it repeats has ended, and the time after which
 * the retry gives up. */
#define SEQUENCE_LOOK_EVERY (5 * RR_MILLISECOND)
#define SEQUENCE_LOOK_FOR   (10 * RR_SECOND)

/* Tells whether the caller may use a session by its connection: who may use no export may not, unless the
 * connection was bound to a session before the rules changed; a caller of whom that is not known yet may. The
 * caller holds the lock of the tables. */
static bool
sequence_may_begin(const struct rr_nfs4_compound *c)
{
	return !rr_list_empty(&c->connection->conn.associations) ||
	       rr_gate_some_open(c->server->gate, &c->caller) ||
	       rr_gate_undecided(c->server->gate, &c->caller);
}

/* Begins the call in its slot: takes the slot for a new call, or answers a retry with the cached reply.
 * Returns NFS4ERR_DELAY, with c->turn.kind RR_NFS4_UNDER_WAY, for a retry of a call that has not ended. */
static nfsstat4
sequence_try(struct rr_nfs4_compound *c)
{
	const struct rr_nfs4_call call = {
		.args = &c->op->u.opsequence,
		/* The same operations of another caller have another digest: they are no retry. */
		.digest = c->args->digest ^ rr_caller_mark(c->caller.who),
		.operations = c->args->count,
		.size = sequence_call_size(c->request),
		.least = rr_nfs4_size(c) + SEQUENCE_RESULT,
		.conn = &c->connection->conn,
		.now = rr_loop_now(c->server->loop),
	};
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	nfsstat4 status = sequence_may_begin(c) ? rr_nfs4_sequence_begin(&tables->sessions, &call, &c->turn)
						: NFS4ERR_BADSESSION;

	if (status == NFS4_OK && c->turn.kind == RR_NFS4_REPLAY)
		status = sequence_replay(c);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/*
 * Begins the call in its slot, and stores the client and the limit of the reply's size in the compound. If
 * the call is a retry of a call that has not ended, RFC 8881, 2.10.6.2, lets the server answer NFS4ERR_DELAY,
 * or wait until the first call has ended. Clients repeat a call only many seconds after NFS4ERR_DELAY, so
 * this server waits: a timer repeats this function, for a limited time, as the first call may run in another
 * thread.
 */
static uint32_t
sequence_go_on(struct rr_nfs4_compound *c)
{
	/* Without a connection, no client is there any more to read the answer. */
	nfsstat4 status = c->connection ? sequence_try(c) : NFS4ERR_DELAY;

	if (status == NFS4ERR_DELAY && c->turn.kind == RR_NFS4_UNDER_WAY && c->connection &&
		rr_loop_now(c->server->loop) < c->own.look_until) {
		rr_loop_arm(c->server->loop, &c->look, SEQUENCE_LOOK_EVERY);
		return RR_NFS4_PENDING;
	}
	if (status != NFS4_OK)
		return status;
	c->res.u.opsequence.u.sr_resok4 = c->turn.ok;
	/* A retry has no session: its other operations are not executed. */
	if (c->turn.session) {
		c->client = c->turn.session->client;
		c->limit = (uint32_t)rr_min(c->limit, c->turn.session->fore.ca_maxresponsesize);
	}
	return NFS4_OK;
}

/* Runs when the timer c->look is due, SEQUENCE_LOOK_EVERY after a retry found that the call which it repeats
 * has not ended: tries again to begin the retry in its slot. */
static void
sequence_look(struct rr_timer *timer)
{
	struct rr_nfs4_compound *c = rr_container(timer, struct rr_nfs4_compound, look);

	c->resume(c, sequence_go_on);
}

/* Carries out SEQUENCE. For a retry, look_until is the time when it no longer waits for the call that it
 * repeats. */
uint32_t
rr_op_sequence(struct rr_nfs4_compound *c)
{
	rr_timer_init(&c->look, sequence_look);
	c->own.look_until = rr_loop_now(c->server->loop) + SEQUENCE_LOOK_FOR;
	return sequence_go_on(c);
}
