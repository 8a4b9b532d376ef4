/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "../list.h"
#include "carrier/rdma/requester/requester.h"
#include "carrier/rdma/responder/provided.h"
#include "carrier/rdma/responder/responder.h"

/* What must hold after each step, whatever happened. */

/* Receives beyond the credits of both directions. */
enum { MARGIN = 2 };

/* ---- The requester ---- */

static void
check_outstanding(const struct end *end, const struct rr_requester *requester)
{
	rr_list_for_each (link, &requester->outstanding) {
		const struct rr_outbound *outbound = rr_container(link, const struct rr_outbound, link);
		const struct call *call = rr_container(outbound->transaction, const struct call, transaction);

		model_require(
			end->model, outbound->transaction && outbound->transaction->outbound == outbound);
		model_require(
			end->model, call->state == CALL_PENDING && call->end == end && !outbound->revoked);
	}
	rr_list_for_each (link, &requester->cancelled) {
		const struct rr_outbound *outbound = rr_container(link, const struct rr_outbound, link);

		model_require(end->model, !outbound->transaction && !outbound->reply_memory);
	}
}

/* An outbound that is free has nothing of anybody's, and nobody has anything of its. */
static void
check_free(const struct end *end, const struct rr_requester *requester)
{
	bool is_open = rr_connection_of(end->carrier)->endpoint;

	rr_list_for_each (link, &requester->free) {
		const struct rr_outbound *outbound = rr_container(link, const struct rr_outbound, link);

		model_require(end->model,
			!outbound->transaction && !outbound->reply_memory && !outbound->held.receive);
		model_require(end->model, !outbound->pull && !outbound->pulled_memory);
		model_require(end->model, !is_open || outbound->state == RR_OUTBOUND_FREE);
		for (uint32_t i = 0; i < outbound->region_count; i++)
			model_require(end->model, outbound->regions[i].handle == 0);
	}
}

/*
 * A credit is used for each call that was posted and not answered, and for a request of a feature. RFC
 * 8166, 3.3.1: "A Requester MUST NOT send unacknowledged requests in excess of the Responder's granted credit
 * limit."
 */
static void
check_credits(const struct end *end, const struct rr_requester *requester)
{
	const struct rr_connection *connection = rr_connection_of(end->carrier);
	const struct rr_credits *credits = &requester->credits;
	uint32_t used = list_length(&requester->outstanding) + list_length(&requester->cancelled);

	model_require(end->model, credits->used == used + connection->features.sent);
	model_require(end->model, credits->used <= (credits->max > 0 ? credits->max : 1));
	model_require(end->model, credits->limit >= 1 && credits->limit <= credits->asked);
	model_require(
		end->model, !requester->outbounds || list_length(&requester->free) + used == credits->asked);
	model_require(end->model, requester->by_xid.count == used);
}

/* Each call of ours is in exactly one place. */
static void
check_requester(const struct end *end, const struct rr_requester *requester)
{
	model_require(end->model, list_length(&end->calls) == list_length(&requester->waiting) +
								      list_length(&requester->failed) +
								      list_length(&requester->outstanding));
	check_outstanding(end, requester);
	check_free(end, requester);
	check_credits(end, requester);
}

/* ---- Memory that the peer can reach ---- */

static bool
is_of_call(const struct call *call, const uint8_t *from, uint32_t length, unsigned access)
{
	const uint8_t *memory = call->memory->memory;
	uint32_t size = call->memory->size;

	if (from < memory || from + length > memory + size)
		return false;
	return from >= memory + call->sinks_at
		       ? access == RR_REMOTE_WRITE
		       : access == RR_REMOTE_READ && from + length <= memory + call->sinks_at;
}

/* A Reply chunk, or sinks, in memory of the pool. */
static bool
is_of_outbound(const struct rr_outbound *outbound, const uint8_t *from, uint32_t length, unsigned access)
{
	const uint8_t *memory = outbound->reply_memory;

	return memory && access == RR_REMOTE_WRITE && from >= memory &&
	       from + length <= memory + 4 * MODEL_MESSAGE_MAX;
}

/* The padding in a position-zero chunk. */
static bool
is_padding(const uint8_t *from, uint32_t length, unsigned access)
{
	for (uint32_t i = 0; i < length && length < 4; i++) {
		if (from[i])
			return false;
	}
	return length < 4 && access == RR_REMOTE_READ;
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 7: replies are exposed "for read-only access", until they were
 * pulled. */
static bool
is_provided(const struct rr_provided *provided, const uint8_t *from, uint32_t length, unsigned access)
{
	const struct rr_inbound *inbound = provided->inbound;

	for (uint32_t i = 0; inbound && i < inbound->plan.piece_count; i++) {
		if (inbound->plan.pieces[i].data == from && inbound->plan.pieces[i].length == length)
			return access == RR_REMOTE_READ;
	}
	return false;
}

/* RFC 8166, 4.4.1: "memory regions associated with each RPC transaction are protected from Responder access"
 * once it ended: what can be reached is of calls that are under way, and what they offered it for. */
static void
seen(void *ctx, const uint8_t *from, uint32_t length, unsigned access)
{
	const struct end *end = ctx;
	const struct rr_connection *connection = rr_connection_of(end->carrier);
	const struct rr_requester *requester = &connection->requester;
	bool known = is_padding(from, length, access);

	rr_list_for_each (link, &end->calls)
		known |= is_of_call(rr_container(link, const struct call, link), from, length, access);
	rr_list_for_each (link, &requester->outstanding)
		known |= is_of_outbound(
			rr_container(link, const struct rr_outbound, link), from, length, access);
	rr_list_for_each (link, &connection->provided.list)
		known |=
			is_provided(rr_container(link, const struct rr_provided, link), from, length, access);
	if (!known)
		model_fail(end->model, "the peer can reach %u octets that are of no call under way", length);
}

/* ---- The responder ---- */

static uint32_t
count_state(const struct rr_connection *connection, enum rr_inbound_state state)
{
	uint32_t count = 0;

	rr_list_for_each (link, &connection->exchanges)
		count += rr_container(link, const struct rr_inbound, link)->state == state;
	return count;
}

/* Answers that wait for room among the work requests. */
static uint32_t
count_waiting(const struct rr_connection *connection)
{
	uint32_t count = 0;

	rr_list_for_each (link, &connection->exchanges) {
		const struct rr_inbound *inbound = rr_container(link, const struct rr_inbound, link);

		count += inbound->state == RR_INBOUND_REPLYING && inbound->receive;
	}
	return count;
}

/* Receives that are posted, or used by a call that was not answered. Others were handed on, or are on their
 * way. */
static uint32_t
receives(const struct rr_connection *connection, struct rr_endpoint *under)
{
	return model_posted(under) + count_state(connection, RR_INBOUND_ARRIVING) +
	       count_state(connection, RR_INBOUND_DELIVERED) + count_waiting(connection);
}

static uint32_t
receives_due(const struct end *end)
{
	/* Those for an RDMA_DONE each with them. */
	return end->model->config.credits + RR_REVERSE_CREDITS + MARGIN +
	       rr_connection_of(end->carrier)->provided.count;
}

static void
check_end(const struct end *end)
{
	struct rr_connection *connection = rr_connection_of(end->carrier);
	struct rr_endpoint *under = connection->endpoint ? model_under(connection->endpoint) : NULL;

	check_requester(end, &connection->requester);
	model_require(end->model, connection->inside == 0);
	if (connection->endpoint)
		model_require(end->model,
			count_state(connection, RR_INBOUND_DELIVERED) == list_length(&end->asked));
	if (!under)
		return;
	model_reach(under, seen, (void *)(uintptr_t)end);
	model_require(end->model, receives(connection, under) <= receives_due(end));
}

void
model_check(const struct model *model)
{
	rr_list_for_each (link, &model->ends)
		check_end(rr_container(link, const struct end, link));
}

/* ---- At rest ---- */

/* All was answered and nothing is on its way: no call waits, no credit and no Receive is missing. */
void
model_check_rest(const struct model *model)
{
	rr_list_for_each (link, &model->ends) {
		const struct end *end = rr_container(link, const struct end, link);
		const struct rr_connection *connection = rr_connection_of(end->carrier);
		struct rr_endpoint *under = connection->endpoint ? model_under(connection->endpoint) : NULL;

		if (end->closed || end->starves)
			continue;
		model_require(model, rr_list_empty(&end->calls) && connection->requester.credits.used == 0);
		model_require(model, rr_list_empty(&connection->exchanges) && !end->stopping);
		if (under && end->connected)
			model_require(model, receives(connection, under) == receives_due(end));
	}
}
