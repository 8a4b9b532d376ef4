/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "transport/responder.h"

/* Structures for calls that arrived. They are the engine's: some are kept for reuse, so that connections
 * without work cost nothing. */

enum { KEPT_MAX = 256 };

/* How many elements of size octets can be in a header that fits our receives. */
static uint32_t
header_holds(const struct rr_engine *engine, uint32_t size)
{
	uint32_t receive = rr_fabric_config(engine->fabric)->receive_size;

	return (uint32_t)rr_min(engine->config.segment_max, receive / size);
}

static struct rr_inbound *
make(struct rr_engine *engine)
{
	uint32_t reads = header_holds(engine, RR_READ_SEGMENT_SIZE);
	uint32_t segments = header_holds(engine, RR_SEGMENT_SIZE);
	struct rr_inbound *inbound = rr_alloc(
		engine->env, sizeof(*inbound) + segments * sizeof(struct rr_segment) +
				     engine->config.chunk_max * sizeof(struct rr_chunk) +
				     reads * sizeof(struct rr_read_segment) + rr_engine_send_size(engine));

	if (!inbound)
		return NULL;
	inbound->lists.segments = (struct rr_segment *)(inbound + 1);
	inbound->lists.writes = (struct rr_chunk *)(inbound->lists.segments + segments);
	inbound->lists.reads = (struct rr_read_segment *)(inbound->lists.writes + engine->config.chunk_max);
	inbound->buffer = (uint8_t *)(inbound->lists.reads + reads);
	inbound->lists.segment_max = segments;
	inbound->lists.write_max = engine->config.chunk_max;
	inbound->lists.read_max = reads;
	inbound->engine = engine;
	inbound->base.ops = &rr_rdma_ops;
	rr_list_init(&inbound->link);
	rr_list_init(&inbound->waiter.link);
	rr_list_init(&inbound->job.link);
	return inbound;
}

struct rr_inbound *
rr_inbound_take(struct rr_connection *connection, uint8_t *receive)
{
	struct rr_engine *engine = connection->base.engine;
	struct rr_list *link = rr_list_pop(&engine->exchanges);
	struct rr_inbound *inbound;

	if (link) {
		engine->exchange_count--;
		inbound = rr_container(link, struct rr_inbound, link);
	} else {
		inbound = make(engine);
	}
	if (!inbound)
		return NULL;
	inbound->connection = connection;
	inbound->base.carrier = &connection->base;
	inbound->base.ctx = NULL;
	inbound->state = RR_INBOUND_ARRIVING;
	inbound->fabric = connection->fabric;
	inbound->receive = receive;
	inbound->memory = NULL;
	inbound->sent = NULL;
	inbound->provided = NULL;
	rr_list_append(&connection->exchanges, &inbound->link);
	inbound->unanswered = false;
	return inbound;
}

void
rr_inbound_answered(struct rr_inbound *inbound)
{
	if (inbound->unanswered && inbound->connection)
		inbound->connection->unanswered--;
	inbound->unanswered = false;
}

void
rr_inbound_free(struct rr_inbound *inbound)
{
	struct rr_engine *engine = inbound->engine;
	void *memory = inbound->memory;

	rr_inbound_answered(inbound);
	rr_list_remove(&inbound->link);
	rr_list_remove(&inbound->waiter.link);
	rr_list_remove(&inbound->job.link);
	rr_driver_release(inbound->fabric, inbound->receive);
	if (engine->exchange_count < KEPT_MAX) {
		engine->exchange_count++;
		rr_list_append(&engine->exchanges, &inbound->link);
	} else {
		rr_free(engine->env, inbound);
	}
	rr_pool_put(engine->arrivals, memory); /* last: it wakes others */
}

void
rr_responder_trim(struct rr_engine *engine)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&engine->exchanges)))
		rr_free(engine->env, rr_container(link, struct rr_inbound, link));
	engine->exchange_count = 0;
}
