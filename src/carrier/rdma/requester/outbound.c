/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/probe.h"
#include "carrier/rdma/requester/requester.h"

/* Makes and ends outbounds, with their contents: the memory that a call offers to the peer, and the memory
 * that a outbound holds for its transaction. */

int
rr_outbounds_make(struct rr_connection *connection, rr_outbound_completed_function *completed)
{
	struct rr_requester *requester = &connection->requester;
	const struct rr_env *env = connection->base.engine->env;
	uint32_t size = rr_room_send_size(connection->room), count = requester->credits.asked;
	struct rr_outbound *outbounds = rr_alloc_array(env, count, sizeof(*outbounds));

	requester->buffers = rr_alloc_array(env, count, size);
	if (!outbounds || !requester->buffers || rr_map_init(&requester->by_xid, env, count)) {
		rr_free(env, outbounds);
		rr_free(env, requester->buffers);
		requester->buffers = NULL;
		return -RPCRDMA_ERR_NOMEM;
	}
	requester->outbounds = outbounds;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_outbound *outbound = &requester->outbounds[i];

		outbound->connection = connection;
		outbound->chain.completed = completed;
		outbound->chain.calls_nobody = true;
		outbound->buffer = requester->buffers + (size_t)i * size;
		outbound->held.lists = (struct rr_chunk_lists){
			.writes = outbound->held_writes,
			.write_max = RPCRDMA_SINKS_MAX,
			.segments = outbound->held_segments,
			.segment_max = RR_OUTBOUND_OFFERS,
		};
		rr_list_init(&outbound->link);
		rr_list_init(&outbound->chain.link);
		rr_list_append(&requester->free, &outbound->link);
	}
	return 0;
}

void
rr_outbound_invalidate(struct rr_outbound *outbound)
{
	for (uint32_t i = 0; i < outbound->region_count; i++) {
		if (outbound->regions[i].handle == 0)
			continue;
		/* rr_outbound_revoke() has counted the region already. */
		outbound->connection->base.counters.invalidations += !outbound->revoked;
		if (!outbound->revoked)
			RR_PROBE(
				invalidated, outbound->connection->base.peer, outbound->regions[i].handle, 0);
		rr_driver_invalidate(outbound->connection, &outbound->regions[i]);
	}
}

void
rr_outbound_revoke(struct rr_outbound *outbound)
{
	outbound->revoked = true;
	for (uint32_t i = 0; i < outbound->region_count; i++) {
		outbound->connection->base.counters.invalidations += outbound->regions[i].handle != 0;
		if (outbound->regions[i].handle != 0)
			RR_PROBE(
				invalidated, outbound->connection->base.peer, outbound->regions[i].handle, 0);
		rr_driver_revoke(outbound->connection, &outbound->regions[i]);
	}
}

void
rr_outbound_release(struct rr_outbound *outbound)
{
	struct rr_requester *requester = &outbound->connection->requester;

	rr_outbound_set_state(outbound, RR_OUTBOUND_FREE);
	if (outbound->region_count > 0)
		rr_outbound_invalidate(outbound);
	rr_driver_release(outbound->connection->fabric, outbound->held.receive);
	outbound->held.receive = NULL;
	rr_list_remove(&outbound->chain.link);
	rr_map_remove(&requester->by_xid, &outbound->by_xid);
	rr_list_unlink(&outbound->link);
	rr_list_append(&requester->free, &outbound->link);
	rr_credits_return(&requester->credits);
}

/* The contents that an outbound had for its transaction. */
struct outbound_contents {
	struct rr_transaction *transaction; /* NULL: the call was cancelled */
	void *memory, *pulled;
};

/* Makes the outbound free, and returns the transaction and the memory that it held. */
static struct outbound_contents
outbound_empty(struct rr_outbound *outbound)
{
	struct outbound_contents contents = { outbound->transaction, outbound->reply_memory,
		outbound->pulled_memory };

	outbound->transaction = NULL;
	outbound->reply_memory = outbound->pulled_memory = NULL;
	rr_outbound_release(outbound);
	return contents;
}

/* Gives the pool memory of an outbound's contents back, without what done() has kept. */
static void
outbound_put_memory(struct rpcrdma_engine *engine, const struct outbound_contents *contents)
{
	rr_pool_put(engine->pool, contents->memory);
	rr_pool_put(engine->pool, contents->pulled);
}

void
rr_outbound_finish(struct rr_outbound *outbound, int error, uint8_t *receive)
{
	struct rr_connection *connection = outbound->connection;
	struct rpcrdma_engine *engine = connection->base.engine;
	struct rr_fabric *fabric = connection->fabric;
	struct outbound_contents contents;
	struct rr_transaction *transaction;

	outbound->held.receive = NULL; /* receive may be that of the held answer; it is released below */
	contents = outbound_empty(outbound);
	transaction = contents.transaction;
	if (transaction) {
		transaction->outbound = NULL;
		/* done() may keep this memory, by setting the pointer to NULL. What it leaves is put back
		 * below. */
		transaction->reply_memory = contents.memory ? &contents.memory : NULL;
		transaction->pulled_memory = contents.pulled ? &contents.pulled : NULL;
		transaction->done(transaction, error);
	}
	rr_driver_release(fabric, receive);
	outbound_put_memory(engine, &contents);
}

/* Takes the pool memory away from those sinks (memory for results) that got it for this attempt to send the
 * call, as that memory goes back to the pool. The next attempt gives them memory anew. */
static void
outbound_take_back_sinks(const struct rr_outbound *outbound, struct rr_transaction *transaction)
{
	for (uint32_t i = 0; i < transaction->sink_count; i++) {
		if (outbound->provided & UINT32_C(1) << i)
			transaction->sinks[i].data = NULL;
	}
}

void
rr_outbound_retry(struct rr_outbound *outbound, uint8_t *receive)
{
	struct rr_connection *connection = outbound->connection;
	struct outbound_contents contents;

	outbound->held.receive = NULL; /* receive may be that of the held answer; it is released below */
	contents = outbound_empty(outbound);
	if (contents.transaction) {
		contents.transaction->outbound = NULL;
		outbound_take_back_sinks(outbound, contents.transaction);
		rr_list_prepend(&connection->requester.waiting, &contents.transaction->link);
	}
	rr_driver_release(connection->fabric, receive);
	outbound_put_memory(connection->base.engine, &contents);
}

void
rr_requester_fail(struct rr_connection *connection, struct rr_transaction *transaction, int error)
{
	transaction->outbound = NULL;
	transaction->error = error;
	rr_list_append(&connection->requester.failed, &transaction->link);
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

void
rr_outbounds_end(struct rr_connection *connection, struct rr_list *outbounds, bool forget)
{
	while (!rr_list_empty(outbounds)) {
		struct rr_outbound *outbound = rr_container(outbounds->next, struct rr_outbound, link);
		struct outbound_contents contents;

		contents = outbound_empty(outbound);
		if (contents.transaction && !forget) {
			outbound_take_back_sinks(outbound, contents.transaction);
			rr_requester_fail(connection, contents.transaction, -RPCRDMA_ERR_DISCONNECTED);
		}
		outbound_put_memory(connection->base.engine, &contents);
	}
}
