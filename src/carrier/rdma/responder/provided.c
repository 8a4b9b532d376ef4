/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/responder/provided.h"

#include "base/checked.h"
#include "base/peer_log.h"
#include "base/probe.h"
#include "wire/rpcrdma2.h"

/* Read chunks that this responder provides. Ownership: a struct rr_provided is in its connection's list from
 * the registration of its pieces until its RDMA_DONE arrived or the connection ended. Its exchange, and with
 * it the memory of the reply, is kept as long, but not beyond the timeout. After a timeout the requester can
 * no longer read, but the handles stay known, as the requester may still invalidate a handle with its
 * RDMA_DONE.
 *
 * Receives: each entry of the list has a posted Receive for its RDMA_DONE, beside those for which credits are
 * granted. An RDMA_DONE that matches no entry has used up another Receive, which is posted again. */

/* ---- Bounds ---- */

/* Returns how many octets of replies all connections of the engine together may expose in Read chunks. There
 * is a bound, as the memory of exposed replies cannot be used for other replies. */
static uint64_t
provided_room_octets_max(const struct rr_room *room)
{
	uint64_t memory_max = room->base.engine->config.memory_max;

	return memory_max > room->provided_octets_max ? memory_max : room->provided_octets_max;
}

/* Only in version 2, in the forward direction, and if both sides announced that they support it.
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, 6: "responder-provided Read chunks MUST be used only when both
 * peers support them". RFC 8166, 4.3.1, does not allow such chunks in version 1, and RFC 8167 does not allow
 * any chunks in the reverse direction. */
bool
rr_provided_allowed(const struct rr_connection *connection, uint32_t version)
{
	return version >= RR_RPCRDMA_VERSION_2 && !connection->is_active &&
	       rr_connection_read_chunks(connection);
}

uint32_t
rr_provided_room(const struct rr_connection *connection, uint32_t version)
{
	const struct rr_room *room = connection->room;
	const struct rr_provided_table *table = &connection->provided;
	uint64_t own, all;

	if (!rr_provided_allowed(connection, version) || table->count >= room->provided_max)
		return 0;
	own = room->provided_octets_max - table->octets;
	all = provided_room_octets_max(room) - room->provided_octets;
	return (uint32_t)rr_min(rr_min(own, all), room->base.engine->config.message_max);
}

/* ---- The table ---- */

/* Adds the chunk (a Read chunk with a reply of this side) to the table of its connection, and its octets to
 * those that the connection and the engine expose. */
static void
provided_account(struct rr_provided *provided)
{
	struct rr_provided_table *table = &provided->connection->provided;

	rr_list_append(&table->list, &provided->link);
	rr_map_add(&table->by_xid, &provided->by_xid, provided->xid);
	table->count++;
	table->octets += provided->octets;
	provided->connection->room->provided_octets += provided->octets;
	if (++table->exposed > table->peak)
		table->peak = table->exposed;
}

/* Ends the inbound call whose reply lies in the Read chunk, and so frees the memory of the reply, as the
 * reply is no longer needed. The chunk no longer counts as exposed. Only stops the timer if this was done
 * before. The sent() of the reply is called, in which the owner may close the connection. */
static void
provided_let_go(struct rr_provided *provided)
{
	struct rr_provided_table *table = &provided->connection->provided;
	struct rr_inbound *inbound = provided->inbound;

	rr_loop_disarm(provided->connection->base.engine->loop, &provided->timer);
	if (!inbound)
		return;
	table->exposed--;
	table->octets -= provided->octets;
	provided->connection->room->provided_octets -= provided->octets;
	provided->inbound = NULL;
	inbound->provided = NULL;
	rr_inbound_event(inbound, RR_INBOUND_PULLED);
}

/* Frees the chunk (a Read chunk with a reply of this side). Before this, ends the peer's access to the chunk,
 * takes the chunk out of the table, and ends the inbound call whose reply the chunk holds. */
static void
provided_forget(struct rr_provided *provided)
{
	struct rr_connection *connection = provided->connection;

	for (uint32_t i = 0; i < provided->count; i++) {
		connection->base.counters.invalidations += provided->regions[i].handle != 0;
		rr_driver_invalidate(connection, &provided->regions[i]);
	}
	rr_list_remove(&provided->link);
	rr_map_remove(&connection->provided.by_xid, &provided->by_xid);
	connection->provided.count--;
	provided_let_go(provided);
	rr_cache_put(&connection->room->provided, provided);
}

/* Is called when the peer did not pull a reply in time: ends the peer's access and frees the reply. The
 * chunk stays in the table, as its RDMA_DONE may still come. draft-cel-nfsv4-rpcrdma-reliable-reply-02,
 * 4.1.3: "To prevent exhaustion of responder resources, a responder can choose to invalidate its Read chunks
 * after waiting for a short period." */
static void
provided_expired(struct rr_timer *timer)
{
	struct rr_provided *provided = rr_container(timer, struct rr_provided, timer);
	struct rr_connection *connection = provided->connection;

	rr_connection_enter(connection);
	RR_PROBE(chunk_withdrawn, connection->base.peer, provided->xid, provided->octets);
	connection->base.counters.provided_timeouts++;
	rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
		"%s: did not say that it has pulled the reply to XID 0x%08x", connection->base.peer,
		provided->xid);
	for (uint32_t i = 0; i < provided->count; i++)
		rr_driver_revoke(connection, &provided->regions[i]);
	provided_let_go(provided);
	if (!connection->closed)
		rr_connection_check_idle(connection);
	rr_connection_leave(connection);
}

/* ---- Exposing ---- */

/* Registers each part of the reply in memory for RDMA Read by the peer, as one segment of the chunk. Returns
 * 0 or an error; parts that were registered before the error then still are.
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1: "a Position Zero Read chunk comprised of one or more RDMA
 * segments"; section 7 of the draft: exposed "for read-only access". */
static int
provided_register_pieces(struct rr_provided *provided, const struct rr_inbound *inbound)
{
	for (uint32_t i = 0; i < inbound->plan.piece_count; i++) {
		const struct rr_piece *piece = &inbound->plan.pieces[i];
		struct rr_region *region = &provided->regions[i];
		int error = rr_driver_register(
			provided->connection, piece->data, piece->length, RR_REMOTE_READ, region);

		if (error)
			return error;
		provided->segments[i] = (struct rr_read_segment){
			.target = { region->handle, piece->length, region->offset },
		};
		provided->count++;
	}
	return 0;
}

/* Makes the connection's map of exposed chunks by XID, if it does not exist yet. Returns false if there is no
 * memory. */
static bool
provided_make_table(struct rr_connection *connection)
{
	struct rr_map *by_xid = &connection->provided.by_xid;

	return by_xid->buckets ||
	       rr_map_init(by_xid, connection->base.engine->env, connection->room->provided_max) == 0;
}

int
rr_provided_expose(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	struct rr_room *room = connection->room;
	struct rr_provided *provided = NULL;
	int error = -RPCRDMA_ERR_LIMIT;

	if (inbound->plan.body <= rr_provided_room(connection, inbound->header.vers) &&
		provided_make_table(connection)) {
		provided = rr_room_get(room, &room->provided, sizeof(*provided));
		error = provided ? 0 : -RPCRDMA_ERR_NOMEM;
	}
	if (error) {
		connection->base.counters.provided_refused++;
		return error;
	}
	provided->connection = connection;
	provided->inbound = inbound;
	provided->xid = inbound->header.xid;
	provided->octets = inbound->plan.body;
	provided->count = 0;
	rr_list_init(&provided->link);
	rr_timer_init(&provided->timer, provided_expired);
	provided_account(provided);
	inbound->provided = provided;
	error = provided_register_pieces(provided, inbound);
	if (error) {
		connection->base.counters.provided_refused++;
		provided_forget(provided);
		return error;
	}
	RR_PROBE(chunk_exposed, connection->base.peer, provided->xid, provided->octets, provided->count);
	rr_driver_allow(connection, 1);
	return 0;
}

void
rr_provided_named(struct rr_provided *provided)
{
	/* The requester gets one second more for each MiB of the reply. */
	rr_loop_arm(provided->connection->base.engine->loop, &provided->timer,
		RR_PROVIDED_TIMEOUT + (provided->octets >> 20) * RR_SECOND);
}

/* ---- RDMA_DONE ---- */

static struct rr_provided *
provided_of(struct rr_map_link *link)
{
	return link ? rr_container(link, struct rr_provided, by_xid) : NULL;
}

/* Returns the region with this handle among the regions of the chunk, or NULL if no region has this
 * handle. */
static struct rr_region *
provided_find_region(struct rr_provided *provided, uint32_t handle)
{
	for (uint32_t i = 0; i < provided->count; i++) {
		if (provided->segments[i].target.handle == handle)
			return &provided->regions[i];
	}
	return NULL;
}

/* Returns the chunk that an RDMA_DONE is about, or NULL if there is no such chunk. Two chunks can have the
 * same XID if a requester uses the XID again before it sent the first RDMA_DONE: then the handle that the
 * RDMA_DONE invalidated selects the chunk. Without a handle, the chunk that was exposed last is meant. */
static struct rr_provided *
provided_find(const struct rr_connection *connection, const struct rr_arrival *arrival)
{
	const struct rr_map *by_xid = &connection->provided.by_xid;
	struct rr_map_link *link = by_xid->buckets ? rr_map_find(by_xid, arrival->header.xid) : NULL;

	while (link && arrival->invalidated &&
		!provided_find_region(provided_of(link), arrival->invalidated_handle))
		link = rr_map_next(link);
	return provided_of(link);
}

/* Checks that the handle which the RDMA_DONE invalidated belongs to the chunk. If not, ends the connection
 * and returns false, as memory that is still in use may have been invalidated.
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.4: "the requester MUST present only that R_key when using
 * RDMA Send With Invalidate." */
static bool
provided_check_invalidated(
	struct rr_connection *connection, struct rr_provided *provided, const struct rr_arrival *arrival)
{
	if (!arrival->invalidated)
		return true;
	if (provided) {
		connection->base.counters.remote_invalidations++;
		/* The peer's Send made the handle invalid. The provider still has to free the region. */
		rr_driver_invalidate(connection, provided_find_region(provided, arrival->invalidated_handle));
		return true;
	}
	rr_driver_abort(connection, -RPCRDMA_ERR_PEER,
		"%s: invalidated handle 0x%08x, which is not of the reply that it pulled",
		connection->base.peer, arrival->invalidated_handle);
	return false;
}

void
rr_provided_done(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rpcrdma_counters *counters = &connection->base.counters;
	struct rr_provided *provided = provided_find(connection, arrival);

	RR_PROBE(done_received, connection->base.peer, arrival->header.xid,
		arrival->invalidated ? arrival->invalidated_handle : 0, provided != NULL);
	counters->done_received++;
	rr_driver_release(connection->fabric, arrival->receive);
	if (!provided_check_invalidated(connection, provided, arrival))
		return;
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.3: "Whenever a responder receives a pull completion
	 * notification for an XID for which there is no Read chunk waiting to be invalidated, the responder
	 * MUST silently drop the notification." */
	if (!provided) {
		counters->done_unmatched++;
		rr_driver_allow(connection, 1);
		return;
	}
	/* The Receive that this RDMA_DONE used was an additional one, posted by rr_provided_expose(). */
	provided_forget(provided);
	if (!connection->closed)
		rr_connection_check_idle(connection);
}

void
rr_provided_end(struct rr_connection *connection)
{
	struct rr_list *link;

	while ((link = connection->provided.list.next) != &connection->provided.list) {
		struct rr_provided *provided = rr_container(link, struct rr_provided, link);
		struct rr_inbound *inbound = provided->inbound;

		/* provided_forget() would end an inbound call in the state NAMED, and call the owner's
		 * sent(). The owner must not be called inside the function by which it closes the connection.
		 * In the state POSTED the call is left for rr_responder_end(), which has the loop end it
		 * later. */
		if (inbound && inbound->state == RR_INBOUND_NAMED)
			rr_inbound_set_state(inbound, RR_INBOUND_POSTED);
		provided_forget(provided);
	}
}
