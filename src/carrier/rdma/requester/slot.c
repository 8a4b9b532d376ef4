/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/probe.h"
#include "carrier/rdma/requester/requester.h"

/* Makes and ends slots, with their contents: the memory that a call offers to the peer, and the memory that a
 * slot holds for its transaction. */

int
rr_slots_make(struct rr_connection *connection, rr_slot_completed_function *completed)
{
	struct rr_requester *requester = &connection->requester;
	const struct rr_env *env = connection->base.engine->env;
	uint32_t size = rr_room_send_size(connection->room), count = requester->credits.asked;
	struct rr_slot *slots = rr_alloc_array(env, count, sizeof(*slots));

	requester->buffers = rr_alloc_array(env, count, size);
	if (!slots || !requester->buffers || rr_map_init(&requester->by_xid, env, count)) {
		rr_free(env, slots);
		rr_free(env, requester->buffers);
		requester->buffers = NULL;
		return -RPCRDMA_ERR_NOMEM;
	}
	requester->slots = slots;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_slot *slot = &requester->slots[i];

		slot->connection = connection;
		slot->chain.completed = completed;
		slot->chain.calls_nobody = true;
		slot->buffer = requester->buffers + (size_t)i * size;
		slot->held.lists = (struct rr_chunk_lists){
			.writes = slot->held_writes,
			.write_max = RPCRDMA_SINKS_MAX,
			.segments = slot->held_segments,
			.segment_max = RR_SLOT_OFFERS,
		};
		rr_list_init(&slot->link);
		rr_list_init(&slot->chain.link);
		rr_list_append(&requester->free, &slot->link);
	}
	return 0;
}

void
rr_slot_invalidate(struct rr_slot *slot)
{
	for (uint32_t i = 0; i < slot->region_count; i++) {
		if (slot->regions[i].handle == 0)
			continue;
		/* rr_slot_revoke() has counted the region already. */
		slot->connection->base.counters.invalidations += !slot->revoked;
		if (!slot->revoked)
			RR_PROBE(invalidated, slot->connection->base.peer, slot->regions[i].handle, 0);
		rr_driver_invalidate(slot->connection, &slot->regions[i]);
	}
}

void
rr_slot_revoke(struct rr_slot *slot)
{
	slot->revoked = true;
	for (uint32_t i = 0; i < slot->region_count; i++) {
		slot->connection->base.counters.invalidations += slot->regions[i].handle != 0;
		if (slot->regions[i].handle != 0)
			RR_PROBE(invalidated, slot->connection->base.peer, slot->regions[i].handle, 0);
		rr_driver_revoke(slot->connection, &slot->regions[i]);
	}
}

void
rr_slot_release(struct rr_slot *slot)
{
	struct rr_requester *requester = &slot->connection->requester;

	rr_slot_set_state(slot, RR_SLOT_FREE);
	if (slot->region_count > 0)
		rr_slot_invalidate(slot);
	rr_driver_release(slot->connection->fabric, slot->held.receive);
	slot->held.receive = NULL;
	rr_list_remove(&slot->chain.link);
	rr_map_remove(&requester->by_xid, &slot->by_xid);
	rr_list_unlink(&slot->link);
	rr_list_append(&requester->free, &slot->link);
	rr_credits_return(&requester->credits);
}

/* The contents that a slot had for its transaction. */
struct slot_contents {
	struct rr_transaction *transaction; /* NULL: the call was cancelled */
	void *memory, *pulled;
};

/* Makes the slot free, and returns the transaction and the memory that it held. */
static struct slot_contents
slot_empty(struct rr_slot *slot)
{
	struct slot_contents contents = { slot->transaction, slot->reply_memory, slot->pulled_memory };

	slot->transaction = NULL;
	slot->reply_memory = slot->pulled_memory = NULL;
	rr_slot_release(slot);
	return contents;
}

/* Gives the pool memory of a slot's contents back, without what done() has kept. */
static void
slot_put_memory(struct rpcrdma_engine *engine, const struct slot_contents *contents)
{
	rr_pool_put(engine->pool, contents->memory);
	rr_pool_put(engine->pool, contents->pulled);
}

void
rr_slot_finish(struct rr_slot *slot, int error, uint8_t *receive)
{
	struct rr_connection *connection = slot->connection;
	struct rpcrdma_engine *engine = connection->base.engine;
	struct rr_fabric *fabric = connection->fabric;
	struct slot_contents contents;
	struct rr_transaction *transaction;

	slot->held.receive = NULL; /* receive may be that of the held answer; it is released below */
	contents = slot_empty(slot);
	transaction = contents.transaction;
	if (transaction) {
		transaction->slot = NULL;
		/* done() may keep this memory, by setting the pointer to NULL. What it leaves is put back
		 * below. */
		transaction->reply_memory = contents.memory ? &contents.memory : NULL;
		transaction->pulled_memory = contents.pulled ? &contents.pulled : NULL;
		transaction->done(transaction, error);
	}
	rr_driver_release(fabric, receive);
	slot_put_memory(engine, &contents);
}

/* Takes the pool memory away from those sinks (memory for results) that got it for this attempt to send the
 * call, as that memory goes back to the pool. The next attempt gives them memory anew. */
static void
slot_take_back_sinks(const struct rr_slot *slot, struct rr_transaction *transaction)
{
	for (uint32_t i = 0; i < transaction->sink_count; i++) {
		if (slot->provided & UINT32_C(1) << i)
			transaction->sinks[i].data = NULL;
	}
}

void
rr_slot_retry(struct rr_slot *slot, uint8_t *receive)
{
	struct rr_connection *connection = slot->connection;
	struct slot_contents contents;

	slot->held.receive = NULL; /* receive may be that of the held answer; it is released below */
	contents = slot_empty(slot);
	if (contents.transaction) {
		contents.transaction->slot = NULL;
		slot_take_back_sinks(slot, contents.transaction);
		rr_list_prepend(&connection->requester.waiting, &contents.transaction->link);
	}
	rr_driver_release(connection->fabric, receive);
	slot_put_memory(connection->base.engine, &contents);
}

void
rr_requester_fail(struct rr_connection *connection, struct rr_transaction *transaction, int error)
{
	transaction->slot = NULL;
	transaction->error = error;
	rr_list_append(&connection->requester.failed, &transaction->link);
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

void
rr_slots_end(struct rr_connection *connection, struct rr_list *slots, bool forget)
{
	while (!rr_list_empty(slots)) {
		struct rr_slot *slot = rr_container(slots->next, struct rr_slot, link);
		struct slot_contents contents;

		contents = slot_empty(slot);
		if (contents.transaction && !forget) {
			slot_take_back_sinks(slot, contents.transaction);
			rr_requester_fail(connection, contents.transaction, -RPCRDMA_ERR_DISCONNECTED);
		}
		slot_put_memory(connection->base.engine, &contents);
	}
}
