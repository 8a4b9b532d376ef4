/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/requester.h"

#include <string.h>

#include "base/checked.h"
#include "wire/rpc.h"

/*
 * The requester's calls, from rr_carrier_call() to their end.
 *
 * Who owns what: a transaction is ours from call to done() or cancel, and is all that time in exactly one
 * place: waiting (no credit or no memory yet), a slot, or failed (done() is due). A slot is in one of free,
 * outstanding and cancelled. What a slot registered is invalidated before the transaction goes back to its
 * owner. The stream of a call is copied behind its header into the slot's buffer, items are gathered from
 * where they lie: a transaction that is cancelled while the provider may still read such items takes the
 * connection with it.
 */

static int
make_slots(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;
	const struct rr_env *env = connection->base.engine->env;
	const struct rr_engine_config *config = &connection->base.engine->config;

	requester->slots = rr_alloc_array(env, config->credits, sizeof(*requester->slots));
	requester->buffers = rr_alloc_array(env, config->credits, config->inline_send);
	if (!requester->slots || !requester->buffers || rr_map_init(&requester->by_xid, env, config->credits))
		return -RPCRDMA_ERR_NOMEM;
	for (uint32_t i = 0; i < config->credits; i++) {
		struct rr_slot *slot = &requester->slots[i];

		slot->connection = connection;
		slot->buffer = requester->buffers + (size_t)i * config->inline_send;
		rr_list_init(&slot->link);
		rr_list_init(&slot->job.link);
		rr_list_append(&requester->free, &slot->link);
	}
	return 0;
}

int
rr_requester_init(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;

	rr_list_init(&requester->waiting);
	rr_list_init(&requester->failed);
	rr_list_init(&requester->outstanding);
	rr_list_init(&requester->cancelled);
	rr_list_init(&requester->free);
	rr_list_init(&requester->memory.link);
	rr_credits_init(&requester->credits, connection->base.engine->config.credits);
	/* An accepted connection does no more with its requester than to refuse calls. */
	return connection->is_requester ? make_slots(connection) : 0;
}

void
rr_requester_destroy(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;
	const struct rr_env *env = connection->base.engine->env;

	rr_map_free(&requester->by_xid, env);
	rr_free(env, requester->buffers);
	rr_free(env, requester->slots);
}

bool
rr_requester_idle(const struct rr_connection *connection)
{
	const struct rr_requester *requester = &connection->requester;

	return rr_list_empty(&requester->waiting) && rr_list_empty(&requester->failed) &&
	       rr_list_empty(&requester->outstanding);
}

/* ---- Endings ---- */

static void
fail(struct rr_connection *connection, struct rr_transaction *transaction, int error)
{
	transaction->slot = NULL;
	transaction->error = error;
	rr_list_append(&connection->requester.failed, &transaction->link);
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

void
rr_requester_tell(struct rr_connection *connection)
{
	struct rr_list *link;

	while (!connection->closed && (link = rr_list_pop(&connection->requester.failed))) {
		struct rr_transaction *transaction = rr_container(link, struct rr_transaction, link);

		transaction->done(transaction, transaction->error);
	}
}

void
rr_slot_invalidate(struct rr_slot *slot)
{
	for (uint32_t i = 0; i < slot->region_count; i++) {
		if (slot->regions[i].handle == 0)
			continue;
		slot->connection->base.counters.invalidations++;
		rr_driver_invalidate(slot->connection, &slot->regions[i]);
	}
}

/* What a slot held goes back; the slot is free. */
static void
release(struct rr_slot *slot)
{
	struct rr_requester *requester = &slot->connection->requester;

	rr_slot_invalidate(slot);
	rr_list_remove(&slot->job.link);
	rr_map_remove(&requester->by_xid, &slot->by_xid);
	rr_list_remove(&slot->link);
	rr_list_append(&requester->free, &slot->link);
	rr_credits_return(&requester->credits);
}

void
rr_slot_finish(struct rr_slot *slot, int error, const struct rr_event *event)
{
	struct rr_connection *connection = slot->connection;
	struct rr_engine *engine = connection->base.engine;
	struct rr_transaction *transaction = slot->transaction;
	void *memory = slot->reply_memory;
	uint8_t *receive = event->data; /* event may lie in the slot */

	slot->transaction = NULL;
	slot->reply_memory = NULL;
	slot->held.data = NULL;
	release(slot);
	if (transaction) {
		transaction->slot = NULL;
		transaction->done(transaction, error);
	}
	rr_driver_release(engine, receive);
	rr_pool_put(engine->pool, memory);
	if (connection->closed)
		return;
	rr_requester_pump(connection);
	rr_connection_check_idle(connection);
}

/* ---- Sending ---- */

static int
offer(struct rr_slot *slot, const void *data, uint32_t length, enum rr_access access)
{
	struct rr_region *region = &slot->regions[slot->region_count];
	int error = rr_driver_register(slot->connection, data, length, access, region);

	if (error)
		return error;
	slot->segments[slot->region_count++] = (struct rr_segment){ region->handle, length, region->offset };
	return 0;
}

static int
offer_results(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	const struct rr_transaction *transaction = slot->transaction;
	int error = 0;

	for (uint32_t i = 0; i < plan->write_chunks && !error; i++)
		error = offer(
			slot, transaction->sinks[i].data, transaction->sinks[i].length, RR_REMOTE_WRITE);
	slot->write_count = plan->write_chunks;
	slot->has_reply = plan->reply_chunk > 0;
	if (!error && slot->has_reply)
		error = offer(slot, slot->reply_memory, plan->reply_chunk, RR_REMOTE_WRITE);
	return error;
}

/* Registers what the peer is to read, and lists it: the reduced items, or all of the message. */
static int
offer_arguments(struct rr_slot *slot, const struct rr_call_plan *plan, struct rr_read_segment *reads)
{
	const struct rpcrdma_message *call = &slot->transaction->call;
	struct rr_piece pieces[RR_PIECES_MAX];
	uint32_t count = 0, positions[RR_PIECES_MAX] = { 0 };

	if (plan->long_call)
		count = rr_pieces(call, 0, pieces);
	for (uint32_t i = 0; i < call->item_count; i++) {
		if (plan->reduced & UINT32_C(1) << i) {
			pieces[count] = (struct rr_piece){ call->items[i].data, call->items[i].length, true };
			positions[count++] = rr_item_position(call, i);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		int error = offer(slot, pieces[i].data, pieces[i].length, RR_REMOTE_READ);

		if (error)
			return error;
		reads[i].position = positions[i];
		reads[i].target = slot->segments[slot->region_count - 1];
		slot->read_octets += pieces[i].length;
	}
	return 0;
}

static void
put_header(struct rr_slot *slot, const struct rr_call_plan *plan, struct rr_read_segment *reads)
{
	struct rr_chunk writes[RR_TRANSACTION_SINKS];
	struct rr_rdma_header header = {
		.xid = slot->transaction->xid,
		.vers = RR_RPCRDMA_VERSION_1,
		.credit = slot->connection->requester.credits.asked,
		.proc = plan->long_call ? RR_RDMA_NOMSG : RR_RDMA_MSG,
	};
	struct rr_chunk_lists lists = {
		.reads = reads,
		.writes = writes,
		.read_count = plan->segments,
		.write_count = slot->write_count,
		.reply = { &slot->segments[slot->write_count], slot->has_reply },
		.has_reply = slot->has_reply,
	};
	struct rpcrdma_xdr_writer writer;

	for (uint32_t i = 0; i < slot->write_count; i++)
		writes[i] = (struct rr_chunk){ &slot->segments[i], 1 };
	rpcrdma_xdr_writer_init(
		&writer, slot->buffer, slot->connection->base.engine->config.inline_send, NULL, 0);
	rr_rdma_put_header(&writer, &header, &lists);
	slot->buffer_used = (uint32_t)rpcrdma_xdr_length(&writer);
	slot->sges[0] = (struct rr_sge){ slot->buffer, slot->buffer_used };
	slot->sge_count = 1;
}

/* Puts the stream behind the header, and refers to the items between its parts. */
static void
put_body(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	struct rr_piece pieces[RR_PIECES_MAX];
	uint32_t count = plan->long_call ? 0 : rr_pieces(&slot->transaction->call, plan->reduced, pieces);
	uint32_t sge_max = rr_driver_sge_max(slot->connection->base.engine);
	bool extends = true;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *to = slot->buffer + slot->buffer_used;

		/* A provider that gathers little gets the item copied: it is a small one. */
		if (pieces[i].item && slot->sge_count + 2 <= sge_max) {
			slot->sges[slot->sge_count++] = (struct rr_sge){ pieces[i].data, pieces[i].length };
			extends = false;
			continue;
		}
		memcpy(to, pieces[i].data, pieces[i].length);
		slot->buffer_used += pieces[i].length;
		if (extends)
			slot->sges[slot->sge_count - 1].length += pieces[i].length;
		else
			slot->sges[slot->sge_count++] = (struct rr_sge){ to, pieces[i].length };
		extends = true;
	}
}

static bool
next_work(struct rr_job *job, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	struct rr_slot *slot = rr_container(job, struct rr_slot, job);

	(void)sges;
	(void)sge_max;
	if (slot->posted)
		return false;
	slot->posted = true;
	work->kind = RR_WORK_SEND;
	work->sges = slot->sges;
	work->sge_count = slot->sge_count;
	return true;
}

static void
completed(struct rr_job *job, enum rr_work_kind kind, int status)
{
	struct rr_slot *slot = rr_container(job, struct rr_slot, job);

	(void)kind;
	if (status)
		return; /* the connection ends */
	slot->sent = true;
	if (slot->held.data)
		rr_slot_answer(slot, &slot->held);
}

static void
count_call(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	struct rr_counters *counters = &slot->connection->base.counters;

	counters->calls++;
	counters->long_calls += plan->long_call;
	counters->inline_messages += plan->segments == 0;
	counters->read_chunks += plan->long_call ? 0 : plan->segments;
	counters->octets_inline += plan->body;
	counters->octets_rdma_read += slot->read_octets;
}

/* Gives the transaction a slot, registers, and sends. An error leaves it without one. */
static int
send_call(struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void *reply_memory)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_slot *slot = rr_container(rr_list_pop(&requester->free), struct rr_slot, link);
	struct rr_read_segment reads[RR_PIECES_MAX];
	int error;

	slot->transaction = transaction;
	slot->posted = slot->sent = false;
	slot->held.data = NULL;
	slot->job.next = next_work;
	slot->job.completed = completed;
	slot->reply_memory = reply_memory;
	slot->region_count = slot->read_octets = 0;
	rr_list_append(&requester->outstanding, &slot->link);
	rr_map_add(&requester->by_xid, &slot->by_xid, transaction->xid);
	error = offer_results(slot, plan);
	if (!error)
		error = offer_arguments(slot, plan, reads);
	if (error) {
		slot->transaction = NULL;
		slot->reply_memory = NULL;
		release(slot);
		return error;
	}
	put_header(slot, plan, reads);
	put_body(slot, plan);
	transaction->slot = slot;
	count_call(slot, plan);
	rr_driver_submit(connection, &slot->job);
	rr_driver_watch_first_reply(connection);
	return 0;
}

/* ---- Calling ---- */

static int
plan_call(const struct rr_connection *connection, const struct rr_transaction *transaction,
	struct rr_call_plan *plan)
{
	const struct rr_thresholds *thresholds = &connection->thresholds;
	const struct rr_call_limits limits = {
		.call_threshold = thresholds->call,
		.reply_threshold = thresholds->reply,
		/* A version 1 peer may not understand more than one chunk in a list. */
		.read_chunks = 1,
		.write_chunks = 1,
		.message_max = connection->base.engine->config.message_max,
	};
	uint32_t xid, type;

	/* RFC 8166, 4.2.1: "This XID MUST be the same as the XID in the RPC message." */
	if (!rr_rpc_peek(transaction->call.stream, transaction->call.length, &xid, &type) ||
		xid != transaction->xid || rr_map_find(&connection->requester.by_xid, xid))
		return -RPCRDMA_ERR_INVAL;
	return rr_plan_call(&limits, transaction, plan);
}

enum start { STARTED, FAILED, NO_CREDIT, NO_POOL_MEMORY };

static enum start
start(struct rr_connection *connection, struct rr_transaction *transaction, int *error)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_pool *pool = connection->base.engine->pool;
	struct rr_call_plan plan;
	void *memory = NULL;

	if (!rr_credits_take(&requester->credits))
		return NO_CREDIT;
	*error = plan_call(connection, transaction, &plan);
	if (!*error && plan.reply_chunk > 0) {
		memory = rr_pool_get(pool, plan.reply_chunk);
		*error = memory ? 0 : -RPCRDMA_ERR_NOMEM;
	}
	if (*error) {
		rr_credits_return(&requester->credits);
		return *error == -RPCRDMA_ERR_NOMEM && rr_pool_used(pool) > 0 ? NO_POOL_MEMORY : FAILED;
	}
	*error = send_call(connection, transaction, &plan, memory);
	if (*error)
		rr_pool_put(pool, memory);
	return *error ? FAILED : STARTED;
}

static void
woken(struct rr_pool_waiter *waiter)
{
	struct rr_requester *requester = rr_container(waiter, struct rr_requester, memory);

	rr_requester_pump(rr_container(requester, struct rr_connection, requester));
}

void
rr_requester_pump(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;

	if (!connection->established)
		return;
	while (connection->endpoint && !rr_list_empty(&requester->waiting)) {
		struct rr_transaction *transaction =
			rr_container(requester->waiting.next, struct rr_transaction, link);
		int error;

		switch (start(connection, transaction, &error)) {
		case STARTED: rr_list_remove(&transaction->link); break;
		case FAILED:
			rr_list_remove(&transaction->link);
			fail(connection, transaction, error);
			break;
		case NO_POOL_MEMORY:
			requester->memory.wake = woken;
			rr_pool_wait(connection->base.engine->pool, &requester->memory);
			return;
		case NO_CREDIT: return;
		}
	}
}

void
rr_requester_call(struct rr_connection *connection, struct rr_transaction *transaction)
{
	transaction->slot = NULL;
	rr_list_init(&transaction->link);
	if (!connection->is_requester || connection->state >= RR_CONNECTION_STOPPING) {
		fail(connection, transaction,
			connection->is_requester ? -RPCRDMA_ERR_DISCONNECTED : -RPCRDMA_ERR_NOTSUP);
		return;
	}
	rr_list_append(&connection->requester.waiting, &transaction->link);
	/* From the task: a cancel in the same turn then costs nothing. */
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

/* The provider may still read items of the transaction. */
static bool
is_being_read(const struct rr_slot *slot)
{
	return slot->posted && !slot->sent && slot->sge_count > 1;
}

void
rr_requester_cancel(struct rr_connection *connection, struct rr_transaction *transaction)
{
	struct rr_slot *slot = transaction->slot;
	struct rr_engine *engine = connection->base.engine;
	void *memory;

	if (!slot) {
		rr_list_remove(&transaction->link);
		return;
	}
	slot->transaction = NULL;
	transaction->slot = NULL;
	/* RFC 8166, 4.4.1: the "Requester endpoint must ensure that memory regions associated with each RPC
	 * transaction are protected from Responder access", those "that are associated with canceled RPCs"
	 * too. */
	rr_slot_invalidate(slot);
	memory = slot->reply_memory;
	slot->reply_memory = NULL;
	rr_list_remove(&slot->link);
	rr_list_append(&connection->requester.cancelled, &slot->link);
	if (is_being_read(slot))
		rr_driver_abort(connection, -RPCRDMA_ERR_CANCELLED,
			"%s: a call was cancelled that the peer did not take", connection->base.peer);
	else if (!slot->posted)
		release(slot);
	rr_pool_put(engine->pool, memory);
	if (connection->state == RR_CONNECTION_STOPPING)
		rr_loop_defer(engine->loop, &connection->task);
}

static void
end_slots(struct rr_connection *connection, struct rr_list *slots, bool forget)
{
	struct rr_engine *engine = connection->base.engine;

	while (!rr_list_empty(slots)) {
		struct rr_slot *slot = rr_container(slots->next, struct rr_slot, link);
		void *memory = slot->reply_memory;

		if (slot->transaction && !forget)
			fail(connection, slot->transaction, -RPCRDMA_ERR_DISCONNECTED);
		slot->transaction = NULL;
		slot->reply_memory = NULL;
		rr_driver_release(engine, slot->held.data);
		slot->held.data = NULL;
		release(slot);
		rr_pool_put(engine->pool, memory);
	}
}

void
rr_requester_end(struct rr_connection *connection, bool forget)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_list *link;

	rr_list_remove(&requester->memory.link);
	end_slots(connection, &requester->outstanding, forget);
	end_slots(connection, &requester->cancelled, true);
	while ((link = rr_list_pop(&requester->waiting))) {
		if (!forget)
			fail(connection, rr_container(link, struct rr_transaction, link),
				-RPCRDMA_ERR_DISCONNECTED);
	}
	while (forget && rr_list_pop(&requester->failed))
		;
}
