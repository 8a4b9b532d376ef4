/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file runs the operations of a COMPOUND: RFC 8881, sections 2.10.6, 15.1 and 16.2; RFC 7530, 15.2. An
 * operation whose reply may not fit is refused before it is executed.
 */
#include "server/nfs4/compound.h"

#include <string.h>

#include "base/checked.h"
#include "rpc/latency.h"
#include "server/nfs4/errors.h"
#include "server/nfs4/identify.h"
#include "server/nfs4/names.h"
#include "server/nfs4/recall.h"
#include "server/nfs4/size.h"
#include "server/nfs4/utf8.h"

/* The most spare compounds whose memory a server keeps for the next calls. */
enum { COMPOUND_SPARE = 16 };

/* More octets than an operation that changes something takes from the arena, beside its result. */
enum { COMPOUND_MEMORY = 4096 };

/* The time between two looks whether another request of an owner has ended, and the time after which the
 * operation gives up. */
#define COMPOUND_LOOK_EVERY (5 * RR_MILLISECOND)
#define COMPOUND_LOOK_FOR   (10 * RR_SECOND)

/* Stands for an operation that is unknown or was not decoded. */
static const struct rr_nfs4_operation compound_illegal = { .size = RR_NFS4_ERROR_SIZE };

/* Returns the memory for a compound: a spare compound if there is one, else new memory. Of a spare compound,
 * only the members in front of `current` are zeroed; compound_init() and the operations set the others before
 * they read them. Returns NULL if there is no memory. */
static struct rr_nfs4_compound *
compound_new(struct rr_nfs4_server *server)
{
	struct rr_list *link = rr_list_pop(&server->spare);
	struct rr_nfs4_compound *c;

	if (!link)
		return rr_alloc(server->env, sizeof(*c));
	server->spare_count--;
	c = rr_container(link, struct rr_nfs4_compound, link);
	memset(c, 0, offsetof(struct rr_nfs4_compound, current));
	return c;
}

/* Keeps the memory of a compound that has ended as a spare, or frees it if there are enough spare ones. */
static void
compound_free(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_server *server = c->server;

	rr_list_remove(&c->link);
	if (server->spare_count == COMPOUND_SPARE) {
		rr_free(server->env, c);
	} else {
		server->spare_count++;
		rr_list_append(&server->spare, &c->link);
	}
	/* No turn of the loop comes in which the housekeeping would close what the compound had open. */
	if (server->ends)
		rr_nfs4_house_end(server);
}

/* Stores the results that are encoded so far, with the items (data that lies outside the encoded results), in
 * c->result->message. */
static void
compound_collect(struct rr_nfs4_compound *c)
{
	c->result->message = rpcrdma_xdr_written(&c->writer);
	c->result->message.items = c->result->items;
	c->result->message.item_count = c->writer.item_count;
}

/* Releases the opens and the state that the operation held. The caller holds the lock of the tables. */
static void
compound_release(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_tables *tables = &c->server->shared->tables;

	for (uint32_t i = 0; i < 2; i++) {
		if (c->opened[i])
			rr_nfs4_opened_release(tables, c->opened[i]);
		c->opened[i] = NULL;
	}
	if (c->state)
		rr_nfs4_state_release(c->state);
	c->state = NULL;
}

/* Returns a copy of the result for the reply cache of the session's slot, in memory of `size` octets that the
 * caller frees. Returns NULL if the client has not asked to cache the reply, if there is no session, if the
 * result has more octets than the session keeps, or if there is no memory. The answer to a retry of a
 * SEQUENCE alone needs no copy: it is made of the slot's result of SEQUENCE. */
static void *
compound_copy(const struct rr_nfs4_compound *c, uint32_t size)
{
	void *copy;

	if (!c->turn.session || !c->turn.cache || size > c->turn.session->fore.ca_maxresponsesize_cached)
		return NULL;
	copy = c->server->env->realloc(c->server->env->ctx, NULL, size);
	if (!copy || rr_nfs4_result_copy(c->result, copy, size))
		return copy;
	rr_free(c->server->env, copy);
	return NULL;
}

/* Releases the opens and the state that the last operation and the filehandle held, and ends the call in the
 * slot of its session, if it has a session. The slot keeps a copy of the result if compound_copy() made one.
 * All this is done while the lock of the tables is held once. */
static void
compound_end_turn(struct rr_nfs4_compound *c)
{
	uint32_t size = rr_nfs4_result_size(c->result);
	void *copy = compound_copy(c, size);
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);

	compound_release(c);
	if (c->pinned)
		rr_nfs4_opened_release(tables, c->pinned);
	if (c->turn.session)
		rr_nfs4_sequence_end(&c->turn, copy, size);
	if (!c->args->minor->sessions)
		rr_nfs4_identify_release(c);
	rr_nfs4_unlock_tables(c->server);
	rr_free(c->server->env, copy);
}

/* Ends the compound when its answer is complete: stores the result, ends the call in its slot and frees the
 * compound. If the request was kept for a later answer, the answer is sent now; else it is sent when
 * rr_nfs4_compound() returns. */
static void
compound_end(struct rr_nfs4_compound *c)
{
	struct rpcrdma_request *request = c->request;
	bool kept = c->kept;

	compound_collect(c);
	compound_end_turn(c);
	/* The results stay in the arena until the reply is sent; the arena is free behind them. */
	request->arena.next = c->writer.next;
	compound_free(c);
	if (kept)
		rr_request_end(request, RPCRDMA_HANDLED);
}

/* Writes the number and the status of an operation at `start`, in place of what the operation has written.
 * items: the number of items (data that lies outside the encoded results) that the writer had before the
 * operation. */
static void
compound_put_error(struct rr_nfs4_compound *c, uint8_t *start, uint32_t items, nfsstat4 status)
{
	uint32_t number = c->operation == &compound_illegal ? c->args->fault_op : c->op->argop;

	c->writer.next = start;
	/* Nothing of the operation's memory is needed any more: the error may overwrite that memory. */
	c->writer.end = c->arena_end;
	c->writer.item_count = items;
	c->writer.failed = false;
	rpcrdma_put_u32(&c->writer, number);
	rpcrdma_put_u32(&c->writer, status);
	/* SETATTR4res has "attrsset" with any status. */
	if (number == OP_SETATTR)
		rpcrdma_put_u32(&c->writer, 0);
}

/*
 * Encodes the result of an operation that has ended, unless the operation did so itself. If the result does
 * not fit into the reply, an error takes its place and becomes the status of the compound. start: the place
 * of the writer before the operation; items: the number of its items (data that lies outside the encoded
 * results) at that time.
 */
static void
compound_put(struct rr_nfs4_compound *c, uint8_t *start, uint32_t items, uint32_t status)
{
	nfsstat4 size_status;

	if (c->operation == &compound_illegal) {
		compound_put_error(c, start, items, status);
		return;
	}
	if (!c->encoded) {
		c->writer.next = start;
		c->writer.item_count = items;
		c->res.resop = c->op->argop;
		/* Each result of an operation begins with its status. */
		memcpy(&c->res.u, &status, sizeof(status));
		nfs42_put_nfs_resop4(&c->writer, &c->res);
	}
	size_status = c->writer.failed ? NFS4ERR_REP_TOO_BIG : rr_nfs4_check_size(c, rr_nfs4_size(c));
	if (size_status == NFS4_OK)
		return;
	size_status = rr_nfs4_status_for(c->args->minor->number, c->op->argop, size_status);
	c->result->status = size_status;
	compound_put_error(c, start, items, size_status);
}

/* Tells whether no operation is executed after the one that has just ended, because it failed or is the
 * last. */
static bool
compound_is_last(const struct rr_nfs4_compound *c)
{
	return c->result->status != NFS4_OK || c->index + 1 >= c->args->count;
}

/* Forgets the attributes of the objects of both filehandles, because the operation may have changed them. If
 * the storage returned the attributes after the change (c->after), the current filehandle has these now. */
static void
compound_forget(struct rr_nfs4_compound *c)
{
	c->saved.known = false;
	c->current.known = c->after && c->after->valid;
	if (c->current.known)
		c->current.attributes = c->after->attributes;
}

/* Counts the operation that has ended, with its time and its status, which is that of the compound so far.
 * For a brief operation the clock is not read, and no time is counted. */
static void
compound_count(const struct rr_nfs4_compound *c)
{
	struct rr_nfs4_server *server = c->server;
	uint32_t number = c->operation == &compound_illegal ? c->args->fault_op : c->op->argop;
	bool failed = c->result->status != NFS4_OK;
	struct rpcrdma_latency *latency;

	if (number >= RR_NFS4_COUNTS)
		number = RR_NFS4_UNKNOWN;
	latency = &server->operations[number];
	if (c->operation->flags & RR_NFS4_OP_BRIEF) {
		rr_latency_add_brief(latency, failed);
		return;
	}
	rr_latency_add(latency, rr_loop_clock(server->loop) - c->begun, failed);
	c->request->is_timed = true;
}

/* Ends the request of owners that the operation was, with its result, which is the last one encoded. */
static void
compound_end_request(struct rr_nfs4_compound *c)
{
	const uint8_t *start = c->writer.start + c->result->message.length;

	rr_nfs4_lock_tables(c->server);
	rr_nfs4_identify_end(c, (struct rpcrdma_bytes){ start, (uint32_t)(c->writer.next - start) });
	rr_nfs4_unlock_tables(c->server);
}

/* Ends the operation that runs: encodes its result with this status (or the nearest status that the operation
 * may answer with), releases what the operation held, and counts up c->index. The status becomes that of the
 * compound, so an error ends the compound. After the last operation, compound_end_turn() releases what was
 * held, as it takes the lock of the tables anyway. */
static void
compound_end_operation(struct rr_nfs4_compound *c, uint32_t status)
{
	if (status != NFS4_OK && c->operation != &compound_illegal)
		status = rr_nfs4_status_for(c->args->minor->number, c->op->argop, status);
	c->result->status = status;
	if ((c->state || c->opened[0] || c->opened[1]) && !compound_is_last(c)) {
		rr_nfs4_lock_tables(c->server);
		compound_release(c);
		rr_nfs4_unlock_tables(c->server);
	}
	/* message.length is the end of the previous result: this operation alone may have written behind
	 * it. */
	compound_put(c, c->writer.start + c->result->message.length, c->result->message.item_count, status);
	if (c->owners[0])
		compound_end_request(c);
	compound_count(c);
	/* The result has been encoded from the operation's memory: nobody needs that memory any more. */
	c->writer.end = c->arena_end;
	c->result->count++;
	c->result->message.length = (uint32_t)(c->writer.next - c->writer.start);
	c->result->message.item_count = c->writer.item_count;
	if (c->operation->flags & RR_NFS4_OP_CHANGES)
		compound_forget(c);
	c->index++;
}

/* Asks the gate about the filehandles that the operation needs. The identity of the compound becomes that of
 * the caller in the export of the last of them. So an operation with two filehandles needs one identity for
 * both: else a file of one export would be used with the rights that the rule of another export gives.
 * RFC 8881, 15.1.4.12: "an operation, such as linking, that inappropriately crosses a boundary"
 */
static nfsstat4
compound_admit(struct rr_nfs4_compound *c)
{
	uint32_t flags = c->operation->flags;
	nfsstat4 status = flags & RR_NFS4_OP_SAVED ? rr_nfs4_admit(c, &c->saved) : NFS4_OK;
	struct rr_vfs_identity saved;

	if (status != NFS4_OK || !(flags & RR_NFS4_OP_FH))
		return status;
	if (!(flags & RR_NFS4_OP_SAVED) || c->saved.kind != RR_NFS4_FH_VFS)
		return rr_nfs4_admit(c, &c->current);
	saved = c->identity;
	status = rr_nfs4_admit(c, &c->current);
	if (status != NFS4_OK || c->current.kind != RR_NFS4_FH_VFS)
		return status;
	return rr_gate_same_user(&saved, &c->identity) ? NFS4_OK : NFS4ERR_XDEV;
}

/* Returns NFS4_OK if the operation may stand at its place in a compound of a version with sessions. */
static nfsstat4
compound_check_place(const struct rr_nfs4_compound *c)
{
	uint32_t flags = c->operation->flags;

	if (c->index == 0 && !(flags & RR_NFS4_OP_FIRST))
		return NFS4ERR_OP_NOT_IN_SESSION;
	if (c->index == 0 && c->args->count > 1)
		return NFS4ERR_NOT_ONLY_OP;
	return flags & RR_NFS4_OP_PLAIN ? NFS4ERR_NOTSUPP : NFS4_OK;
}

/* The same for version 4.0: nothing of a compound of too many operations is executed. */
static nfsstat4
compound_check_plain(const struct rr_nfs4_compound *c)
{
	return c->index == 0 && c->args->count > RR_NFS4_OPERATIONS ? NFS4ERR_RESOURCE : NFS4_OK;
}

/* Returns NFS4_OK if the operation may be executed at its place in the compound, the filehandles that it
 * needs are set, and the gate lets the caller use them; else the error that the operation fails with. An
 * operation that changes something fails here if its result may not fit into the reply or the arena; any
 * other operation may run first, as compound_put() can still replace its result by an error. */
static nfsstat4
compound_check(struct rr_nfs4_compound *c)
{
	uint32_t flags = c->operation->flags;
	uint64_t estimate = c->operation->estimate ? c->operation->estimate(c->op) : c->operation->size;
	nfsstat4 status;

	if (c->late)
		return NFS4ERR_DELAY;
	if (c->op->argop == OP_SEQUENCE)
		return c->index == 0 ? NFS4_OK : NFS4ERR_SEQUENCE_POS;
	status = c->args->minor->sessions ? compound_check_place(c) : compound_check_plain(c);
	if (status != NFS4_OK)
		return status;
	if (!c->operation->run)
		return NFS4ERR_NOTSUPP;
	/* RFC 8881, 2.10.6.1.3: a retry of a call whose reply was not cached is not executed again. */
	if (c->turn.kind == RR_NFS4_UNCACHED)
		return NFS4ERR_RETRY_UNCACHED_REP;
	if (flags & RR_NFS4_OP_FH && c->current.kind == RR_NFS4_FH_NONE)
		return NFS4ERR_NOFILEHANDLE;
	if (flags & RR_NFS4_OP_SAVED && c->saved.kind == RR_NFS4_FH_NONE)
		return NFS4ERR_NOFILEHANDLE;
	status = flags & RR_NFS4_OP_CHANGES ? rr_nfs4_check_size(c, rr_nfs4_size(c) + estimate) : NFS4_OK;
	if (status != NFS4_OK)
		return status;
	if (flags & RR_NFS4_OP_CHANGES && rr_nfs4_left(c) < estimate + COMPOUND_MEMORY)
		return NFS4ERR_REP_TOO_BIG;
	if (flags & RR_NFS4_OP_VFS && c->current.kind == RR_NFS4_FH_PSEUDO)
		return c->operation->pseudo;
	return compound_admit(c);
}

/* Checks whether the operation may be executed, and runs its first step. */
static uint32_t
compound_execute(struct rr_nfs4_compound *c)
{
	nfsstat4 status = compound_check(c);

	if (status != NFS4_OK)
		return status;
	return c->operation->flags & RR_NFS4_OP_RECALLS ? rr_nfs4_recall_first(c) : c->operation->run(c);
}

/* In version 4.0, finds the client of the operation, and executes the operation unless it was answered
 * before. While another request of the same owner is under way, this one waits: the client does not count
 * NFS4ERR_RESOURCE, which it gets if that takes too long. */
static uint32_t
compound_identified(struct rr_nfs4_compound *c)
{
	uint32_t status = rr_nfs4_identify(c);

	if (status == NFS4_OK && !c->encoded)
		return compound_execute(c);
	if (status != RR_NFS4_PENDING)
		return status;
	if (!c->connection || rr_loop_now(c->server->loop) >= c->own.look_until)
		return NFS4ERR_RESOURCE;
	rr_loop_arm(c->server->loop, &c->look, COMPOUND_LOOK_EVERY);
	return RR_NFS4_PENDING;
}

/* Runs when the timer c->look is due. */
static void
compound_look(struct rr_timer *timer)
{
	struct rr_nfs4_compound *c = rr_container(timer, struct rr_nfs4_compound, look);

	c->resume(c, compound_identified);
}

/* Sets up the next operation, checks whether it may be executed, and runs its first step. Returns the status
 * of the operation, or RR_NFS4_PENDING if it ends later. */
static uint32_t
compound_begin_operation(struct rr_nfs4_compound *c)
{
	c->encoded = false;
	c->reserved[0] = c->reserved[1] = false;
	c->after = NULL;
	c->then = NULL;
	c->awaited = NULL;
	c->vfs_pending = false;
	c->op_memory = NULL;
	if (c->index >= c->args->decoded) {
		/* RFC 8881, 15.1.1.1: an operation that does not decode gets its error in its own place. */
		c->operation = &compound_illegal;
		c->begun = rr_loop_now(c->server->loop);
		return c->args->fault;
	}
	c->op = &c->args->ops[c->index];
	c->operation = &rr_nfs4_operations[c->op->argop];
	if (!(c->operation->flags & RR_NFS4_OP_BRIEF))
		c->begun = rr_loop_now(c->server->loop);
	if (!(c->operation->flags & RR_NFS4_OP_FILLS))
		memset(&c->res, 0, sizeof(c->res));
	if (c->args->minor->sessions)
		return compound_execute(c);
	rr_timer_init(&c->look, compound_look);
	c->own.look_until = rr_loop_now(c->server->loop) + COMPOUND_LOOK_FOR;
	return compound_identified(c);
}

static void compound_go_on(void *above, struct rpcrdma_request *request);

/* Runs operations until the compound ends, or has to wait for an operation or for its next turn: a compound
 * may have many operations, and each may take long, so a compound that has taken long pauses for others. It
 * ends after its last operation, after an error, or if SEQUENCE has found the reply to a retry. Returns false
 * if it waits, and true if the answer is complete and the compound has been freed. */
static bool
compound_run(struct rr_nfs4_compound *c)
{
	if (!c->is_known && !rr_nfs4_know_caller(c))
		return false;
	while (c->index < c->args->count && c->result->status == NFS4_OK && !c->result->replay) {
		uint32_t status;

		if (rr_request_is_long(c->request)) {
			c->step = NULL;
			rr_request_pause(c->request, compound_go_on);
			return false;
		}
		status = compound_begin_operation(c);
		if (status == RR_NFS4_PENDING)
			return false;
		compound_end_operation(c, status);
	}
	compound_end(c);
	return true;
}

/* Goes on with the compound when its turn has come: with the step of its operation that is next, or with its
 * next operation. */
static void
compound_go_on(void *above, struct rpcrdma_request *request)
{
	struct rr_nfs4_compound *c = above;
	uint32_t status = c->step ? c->step(c) : NFS4_OK;

	(void)request;
	if (status == RR_NFS4_PENDING)
		return;
	if (c->step)
		compound_end_operation(c, status);
	compound_run(c);
}

/* Continues the compound, whose operation could not end at once; c->resume points here. */
static void
compound_resume(struct rr_nfs4_compound *c, rr_nfs4_step *step)
{
	c->step = step;
	rr_request_go_on(c->request, compound_go_on);
}

/* Runs when the connection of the client has ended, so that the answer cannot be sent any more: cancels the
 * storage operation that is under way, if there is one. The compound itself ends later, as any other. */
static void
compound_lost(void *above, struct rpcrdma_request *request)
{
	struct rr_nfs4_compound *c = above;

	(void)request;
	if (c->vfs_pending)
		rr_vfs_cancel(c->server->vfs, &c->vfs.call);
}

/* Returns the most octets that the reply may have: the room in its stream, and the room in Write chunks if
 * data may be placed there. SEQUENCE lowers this limit to that of the session. */
static uint32_t
compound_limit(const struct rpcrdma_request *request)
{
	uint64_t most = request->stream_room;

	if (request->exchange->write_chunks > 0 && request->places)
		most += request->item_room;
	return (uint32_t)rr_min(most, UINT32_MAX);
}

/* Begins the compound for the request: sets all members that an operation may read before it sets them
 * itself. The results are written from the beginning of the request's arena; data for which the reply has no
 * item any more is written among them. */
static void
compound_init(struct rr_nfs4_compound *c, struct rr_nfs4_server *server, struct rpcrdma_request *request)
{
	struct rr_nfs4_result *result = request->result;

	c->server = server;
	c->request = request;
	c->args = request->args;
	c->result = result;
	c->current.kind = c->saved.kind = RR_NFS4_FH_NONE;
	c->current.known = c->saved.known = c->current.has_stateid = false;
	c->limit = compound_limit(request);
	c->front = rr_nfs4_size_in_front(c);
	c->resume = compound_resume;
	c->caller = (struct rr_gate_caller){ request->source, &request->caller, RR_RIGHT_V4 };
	/* Until the gate is asked about a filehandle, the caller is nobody. */
	rr_gate_identify(NULL, &rr_right_default, &c->identity);
	c->counted = UINT32_MAX;
	rr_list_init(&c->waiter.link);
	rr_nfs4_names_init(c);
	rr_timer_init(&c->look, NULL);
	rr_list_append(&server->compounds, &c->link);
	result->tag = c->args->tag;
	c->arena_end = request->arena.end;
	/* Where the flavor forbids that data travels outside of the stream, rr_nfs4_put_result() copies it
	 * there: the arena is too small for it. */
	rpcrdma_xdr_writer_init(&c->writer, request->arena.next, (size_t)(c->arena_end - request->arena.next),
		result->items, request->places ? rr_request_item_max(request) : RR_MESSAGE_ITEMS);
}

enum rpcrdma_handled
rr_nfs4_compound(void *ctx, struct rpcrdma_request *request, const void *arguments, void *value)
{
	struct rr_nfs4_server *server = ctx;
	const struct rr_nfs4_args *args = arguments;
	struct rr_nfs4_result *result = value;
	struct rr_nfs4_connection *connection;
	struct rr_nfs4_compound *c;

	result->tag = args->tag;
	/* RFC 8881, 16.2.3: "the server MUST return an error of NFS4ERR_MINOR_VERS_MISMATCH and a zero-length
	 * resultdata array." */
	if (!args->minor || !(server->minors & UINT32_C(1) << args->minor->number)) {
		result->status = NFS4ERR_MINOR_VERS_MISMATCH;
		return RPCRDMA_HANDLED;
	}
	/* RFC 8881, 16.2.4: "The tag argument is not in UTF-8 encoding." */
	if (!rr_utf8(args->tag)) {
		result->status = NFS4ERR_INVAL;
		return RPCRDMA_HANDLED;
	}
	/* A COMPOUND of no operation succeeds. */
	if (args->count == 0)
		return RPCRDMA_HANDLED;
	connection = rr_nfs4_connection(server, request);
	c = connection ? compound_new(server) : NULL;
	if (!c)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	compound_init(c, server, request);
	c->connection = connection;
	request->lost = compound_lost;
	request->above = c;
	if (compound_run(c))
		return RPCRDMA_HANDLED;
	c->kept = true;
	return RPCRDMA_HANDLE_KEPT;
}
