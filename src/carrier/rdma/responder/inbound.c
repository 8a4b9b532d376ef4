/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/responder/provided.h"

/* The structures of messages that arrived, and their states. They belong to the engine, which keeps some for
 * reuse, so that connections without work cost no memory. */

enum { KEPT_MAX = 256 }; /* inbounds that an engine keeps for reuse */

/* Ends an inbound call for whose reply no Send completes, as the connection closed. This is a task, so that
 * the owner's sent() is not called inside the function that closes the connection or gives the reply. */
static void
inbound_finish_without_send(struct rr_task *task)
{
	rr_inbound_finish(rr_container(task, struct rr_inbound, task));
}

/* Allocates the structure of an inbound call, with the arrays of its chunk lists and its buffer behind it.
 * Returns NULL if there is no memory. */
static struct rr_inbound *
inbound_make(struct rr_room *room)
{
	const struct rr_arrival_sizes sizes = rr_arrival_sizes(room);
	size_t lists = rr_rdma_lists_size(sizes.reads, sizes.writes, sizes.segments);
	struct rr_inbound *inbound =
		rr_alloc(room->base.engine->env, sizeof(*inbound) + lists + rr_room_send_size(room));

	if (!inbound)
		return NULL;
	rr_rdma_place_lists(&inbound->lists, inbound + 1, sizes.reads, sizes.writes, sizes.segments);
	inbound->buffer = (uint8_t *)(inbound + 1) + lists;
	inbound->room = room;
	inbound->engine = room->base.engine;
	rr_list_init(&inbound->link);
	rr_list_init(&inbound->waiter.link);
	rr_list_init(&inbound->chain.link);
	rr_task_init(&inbound->task, inbound_finish_without_send);
	return inbound;
}

/* Takes over the receive buffer, the header, the chunk lists and the stream of the message that arrived.
 * arrival is NULL if no message arrived: the structure is then used to send a request of this side. */
static void
inbound_take_arrival(struct rr_inbound *inbound, const struct rr_arrival *arrival)
{
	if (!arrival) {
		inbound->receive = NULL;
		return;
	}
	inbound->receive = arrival->receive;
	inbound->header = arrival->header;
	rr_rdma_clear_lists(&inbound->lists);
	/* The arrays of the inbound are as large as those of the arrival. */
	if (rr_rdma_has_lists(&arrival->lists))
		rr_rdma_copy_lists(&inbound->lists, &arrival->lists);
	inbound->base.call.stream = arrival->payload.data;
	inbound->base.call.length = arrival->payload.length;
}

struct rr_inbound *
rr_inbound_take(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_room *room = connection->room;
	struct rr_list *link = rr_list_pop(&room->exchanges);
	struct rr_inbound *inbound;

	if (link) {
		room->exchange_count--;
		inbound = rr_container(link, struct rr_inbound, link);
	} else {
		inbound = inbound_make(room);
	}
	if (!inbound)
		return NULL;
	inbound->connection = connection;
	inbound->base.carrier = &connection->base;
	inbound->base.ops = connection->base.ops;
	inbound->base.ctx = NULL;
	rr_inbound_set_state(inbound, RR_INBOUND_ARRIVING);
	inbound->fabric = connection->fabric;
	inbound->memory = NULL;
	inbound->sent = NULL;
	inbound->provided = NULL;
	rr_list_append(&connection->exchanges, &inbound->link);
	inbound->unanswered = false;
	inbound_take_arrival(inbound, arrival);
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
	struct rpcrdma_engine *engine = inbound->engine;
	struct rr_room *room = inbound->room;
	void *memory = inbound->memory;

	rr_inbound_answered(inbound);
	rr_list_remove(&inbound->link);
	rr_list_remove(&inbound->waiter.link);
	rr_list_remove(&inbound->chain.link);
	rr_driver_release(inbound->fabric, inbound->receive);
	if (room->exchange_count < KEPT_MAX) {
		room->exchange_count++;
		rr_list_append(&room->exchanges, &inbound->link);
	} else {
		rr_free(engine->env, inbound);
	}
	rr_pool_put(engine->arrivals, memory); /* inbound may be freed by now */
}

void
rr_inbound_done(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;

	rr_inbound_free(inbound);
	rr_driver_allow(connection, 1);
}

void
rr_inbound_finish(struct rr_inbound *inbound)
{
	void (*sent)(void *arg) = inbound->sent;

	rr_list_remove(&inbound->link);
	if (sent)
		sent(inbound->arg);
	rr_inbound_free(inbound);
}

void
rr_responder_trim(struct rr_room *room)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&room->exchanges)))
		rr_free(room->base.engine->env, rr_container(link, struct rr_inbound, link));
	room->exchange_count = 0;
}

/* ---- The states of an inbound ---- */

/* Is called when the Send of the answer completed: frees the inbound call, unless its reply lies in a Read
 * chunk that the peer is still to pull. */
static void
inbound_sent(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;

	if (inbound->provided) {
		rr_inbound_set_state(inbound, RR_INBOUND_NAMED);
		rr_provided_named(inbound->provided);
		return;
	}
	rr_inbound_finish(inbound);
	if (!connection->closed)
		rr_connection_check_idle(connection);
}

/* Has the loop end the inbound call later, as the sent() of its reply must not be called inside the function
 * that closes the connection. */
static void
inbound_finish_later(struct rr_inbound *inbound)
{
	rr_loop_defer(inbound->engine->loop, &inbound->task);
}

/* Leaves the inbound call as it is: the event does not matter in this state, as the owner has not answered
 * yet, or the Send has not completed. */
static void
inbound_hold(struct rr_inbound *inbound)
{
	(void)inbound;
}

typedef void inbound_action(struct rr_inbound *inbound);

void
rr_inbound_event(struct rr_inbound *inbound, enum rr_inbound_event event)
{
	/* clang-format off */
	static inbound_action *const table[RR_INBOUND_STATES][RR_INBOUND_EVENTS] = {
		/*                          SENT          PULLED             LOST */
		[RR_INBOUND_ARRIVING] =   { inbound_hold, inbound_hold,      rr_inbound_free },
		[RR_INBOUND_DELIVERED] =  { inbound_hold, inbound_hold,      inbound_hold },
		[RR_INBOUND_REPLYING] =   { inbound_hold, inbound_hold,      inbound_finish_later },
		[RR_INBOUND_POSTED] =     { inbound_sent, inbound_hold,      inbound_finish_later },
		[RR_INBOUND_NAMED] =      { inbound_hold, rr_inbound_finish, inbound_finish_later },
	};
	/* clang-format on */

	table[inbound->state][event](inbound);
}
