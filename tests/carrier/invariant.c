/* SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include "../list.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/room.h"
#include "carrier/rdma/requester/requester.h"
#include "carrier/rdma/responder/responder.h"

#define CHECK(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			return #condition;                                                                   \
	} while (0)

/* ---- The requester ---- */

/* Checks an outbound in use: its call is found by its XID, and the memory that the peer may access is
 * registered. */
static const char *
outbound_broken(const struct rr_requester *requester, const struct rr_outbound *outbound)
{
	CHECK(rr_map_find(&requester->by_xid, outbound->by_xid.key) == &outbound->by_xid);
	CHECK(outbound->region_count <= RR_OUTBOUND_REGIONS);
	CHECK(outbound->write_count + outbound->has_reply <= outbound->region_count);
	CHECK(outbound->state != RR_OUTBOUND_FREE);
	CHECK((outbound->state == RR_OUTBOUND_HELD) == (outbound->held.receive != NULL));
	CHECK((outbound->state == RR_OUTBOUND_DUE || outbound->state == RR_OUTBOUND_PULLING) ==
		(outbound->pull != NULL));
	if (outbound->transaction) {
		CHECK(outbound->transaction->outbound == outbound);
		CHECK(outbound->transaction->xid == outbound->by_xid.key);
		CHECK(!outbound->revoked);
	} else {
		CHECK(outbound->revoked);
		CHECK(!outbound->reply_memory);
	}
	return NULL;
}

/* Checks a free outbound. RFC 8166, 4.4.1: memory that belongs to no transaction any more is out of the
 * peer's reach. A free outbound holds no memory. */
static const char *
free_slot_broken(const struct rr_outbound *outbound)
{
	CHECK(!outbound->transaction);
	CHECK(!outbound->reply_memory);
	CHECK(outbound->state == RR_OUTBOUND_FREE && !outbound->held.receive);
	for (uint32_t i = 0; i < outbound->region_count; i++)
		CHECK(outbound->regions[i].handle == 0);
	return NULL;
}

/* Checks the outbounds on each of the requester's lists. Returns the condition that does not hold, or NULL.
 */
static const char *
slots_broken(const struct rr_requester *requester)
{
	const char *broken = NULL;

	rr_list_for_each (link, &requester->outstanding) {
		const struct rr_outbound *outbound = rr_container(link, struct rr_outbound, link);

		CHECK(outbound->transaction);
		broken = broken ? broken : outbound_broken(requester, outbound);
	}
	rr_list_for_each (link, &requester->cancelled) {
		const struct rr_outbound *outbound = rr_container(link, struct rr_outbound, link);

		CHECK(!outbound->transaction);
		broken = broken ? broken : outbound_broken(requester, outbound);
	}
	rr_list_for_each (link, &requester->free)
		broken = broken ? broken : free_slot_broken(rr_container(link, struct rr_outbound, link));
	return broken;
}

/* Checks the credits. B1: "a requester never exceeds its last grant and takes 0 as 1". Credits that were
 * in use when the grant fell stay in use. */
static const char *
credits_broken(const struct rr_connection *connection)
{
	const struct rr_requester *requester = &connection->requester;
	const struct rr_credits *credits = &requester->credits;
	uint32_t outbounds = list_length(&requester->outstanding) + list_length(&requester->cancelled);

	CHECK(credits->asked > 0);
	CHECK(credits->limit > 0 && credits->limit <= credits->asked);
	CHECK(credits->used == outbounds + connection->features.sent);
	CHECK(credits->used <= (credits->max > 0 ? credits->max : 1));
	CHECK(credits->max <= credits->asked && credits->min <= credits->max);
	CHECK(!requester->outbounds || outbounds + list_length(&requester->free) == credits->asked);
	return NULL;
}

static const char *
waiting_broken(const struct rr_requester *requester)
{
	rr_list_for_each (link, &requester->waiting)
		CHECK(!rr_container(link, struct rr_transaction, link)->outbound);
	rr_list_for_each (link, &requester->failed)
		CHECK(!rr_container(link, struct rr_transaction, link)->outbound);
	return NULL;
}

/* ---- The responder ---- */

/* Checks a message that was received and is still worked on. Returns the condition that does not hold, or
 * NULL. */
static const char *
inbound_broken(const struct rr_connection *connection, const struct rr_inbound *inbound)
{
	CHECK(inbound->connection == connection);
	CHECK(inbound->receive ||
		inbound->plan.form == RR_REPLY_OPTION); /* a message of this side came in no receive */
	CHECK(inbound->lists.read_count <= inbound->lists.read_max);
	CHECK(inbound->lists.segment_count <= inbound->lists.segment_max);
	CHECK(inbound->lists.write_count <= inbound->lists.write_max);
	if (inbound->state == RR_INBOUND_DELIVERED) {
		CHECK(inbound->base.carrier == &connection->base);
		CHECK(inbound->unanswered);
		CHECK(inbound->chunks.memory == 0 || inbound->memory);
	}
	CHECK(inbound->state != RR_INBOUND_POSTED || !inbound->unanswered);
	return NULL;
}

/* Checks the exchanges. B1: "a responder grants 1 to its posted Receives". */
static const char *
exchanges_broken(const struct rr_connection *connection)
{
	uint32_t unanswered = 0;
	const char *broken = NULL;

	rr_list_for_each (link, &connection->exchanges) {
		const struct rr_inbound *inbound = rr_container(link, struct rr_inbound, link);

		unanswered += inbound->unanswered;
		broken = broken ? broken : inbound_broken(connection, inbound);
	}
	CHECK(connection->unanswered == unanswered);
	CHECK(connection->granted_max <=
		(connection->is_active ? RR_REVERSE_CREDITS : connection->base.engine->config.credits));
	CHECK(connection->granted_min <= connection->granted_max);
	CHECK(connection->granted == 0 || connection->granted_min > 0);
	return broken;
}

/* ---- The whole ---- */

/* Checks the pools. B11: the memory in use is below its bound, except for a single piece that is larger. */
static const char *
memory_broken(const struct rpcrdma_engine *engine)
{
	size_t max = engine->config.memory_max / 2, most = 2 * (size_t)engine->config.message_max;

	CHECK(rr_pool_used(engine->pool) <= (max > most ? max : most));
	CHECK(rr_pool_used(engine->arrivals) <= (max > most ? max : most));
	CHECK(rr_pool_used(engine->results) <= (max > most ? max : most));
	return NULL;
}

const char *
invariant_broken(const struct rr_carrier *carrier)
{
	const struct rr_connection *connection = (const void *)carrier;
	const struct rr_requester *requester = &connection->requester;
	const char *broken = memory_broken(carrier->engine);

	CHECK(connection->inside == 0 && !connection->closed);
	CHECK(connection->posted <= rr_fabric_config(rr_room_in(carrier->engine)->fabric)->work_max);
	CHECK(connection->endpoint || rr_list_empty(&connection->chains));
	CHECK(connection->state != RR_CONNECTION_ENDED || rr_requester_idle(connection));
	broken = broken ? broken : credits_broken(connection);
	broken = broken ? broken : slots_broken(requester);
	broken = broken ? broken : waiting_broken(requester);
	/* After the end, exchanges that were delivered live on without the connection. */
	if (connection->state < RR_CONNECTION_ABORTED)
		broken = broken ? broken : exchanges_broken(connection);
	return broken;
}
