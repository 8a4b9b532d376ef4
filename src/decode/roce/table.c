/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/roce/table.h"

#include <string.h>

enum { PSN_NEAR = 4096 }; /* PSNs that are farther apart are taken for those of two connections */

void
rr_roce_table_init(struct rr_roce_table *table, struct rr_decode_connections *shared, uint32_t max)
{
	*table = (struct rr_roce_table){ .shared = shared, .max = max };
	rr_list_init(&table->connections);
}

/* ---- Connections ---- */

/* Frees a connection, and removes it from the table. Packets that are held are not decoded. */
static void
table_end(struct rr_roce_table *table, struct rr_roce_connection *connection)
{
	rr_roce_connection_end(table->shared, connection);
	rr_list_remove(&connection->link);
	rr_decode_free(table->shared->memory, connection, sizeof(*connection));
	table->count--;
}

/* Makes room: decodes what is left of the connection whose last packet is the oldest, and frees the
 * connection. */
static void
table_evict(struct rr_roce_table *table)
{
	struct rr_roce_connection *oldest =
		rr_container(table->connections.prev, struct rr_roce_connection, link);

	table->shared->counters.evicted_connections++;
	rr_roce_connection_finish(table->shared, oldest);
	table_end(table, oldest);
}

/* Makes a connection between the two addresses of the packet. The sender of the packet becomes side "from" (0
 * or 1). If there are too many connections or too little memory, the connection whose last packet is the
 * oldest is ended first. Returns NULL if there is no memory. */
static struct rr_roce_connection *
table_begin(struct rr_roce_table *table, const struct rr_packet *packet, uint8_t from)
{
	struct rr_roce_connection *connection;

	if (table->count > 0 && table->count >= table->max)
		table_evict(table);
	connection = rr_decode_alloc(table->shared->memory, sizeof(*connection));
	if (!connection && table->count > 0) {
		table_evict(table);
		connection = rr_decode_alloc(table->shared->memory, sizeof(*connection));
	}
	if (!connection)
		return NULL;
	connection->ends[from] = packet->source;
	connection->ends[!from] = packet->destination;
	/* The source port of a datagram means nothing: it spreads packets over paths. */
	connection->ends[from].port = connection->ends[!from].port = RR_ROCE_PORT;
	/* The keys of maps have room for numbers of 31 bits. */
	connection->number = (uint32_t)(table->shared->counters.connections++ & INT32_MAX);
	rr_list_prepend(&table->connections, &connection->link);
	table->count++;
	return connection;
}

/* Tells whether two ends have the same address, with any port. */
static bool
table_same_host(const struct rr_packet_end *a, const struct rr_packet_end *b)
{
	return a->family == b->family && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* Tells whether the packet is from the host of side "from" to the host of the other side. */
static bool
table_is_between(const struct rr_roce_connection *connection, const struct rr_packet *packet, uint8_t from)
{
	return table_same_host(&connection->ends[from], &packet->source) &&
	       table_same_host(&connection->ends[!from], &packet->destination);
}

/* ---- The connection of a packet ---- */

/* Returns the connection with the queue pair qp that the packet goes to, and sets *from to the side that sent
 * the packet. Returns NULL if there is no such connection. */
static struct rr_roce_connection *
table_find(const struct rr_roce_table *table, const struct rr_packet *packet, uint32_t qp, uint8_t *from)
{
	rr_list_for_each (link, &table->connections) {
		struct rr_roce_connection *connection = rr_container(link, struct rr_roce_connection, link);

		for (*from = 0; *from < 2; ++*from)
			if (connection->sides[!*from].has_qp && connection->sides[!*from].qp == qp &&
				table_is_between(connection, packet, *from))
				return connection;
	}
	return NULL;
}

/* Returns the distance between two PSNs, in the direction in which it is shorter. */
static uint32_t
table_distance(uint32_t a, uint32_t b)
{
	uint32_t ahead = rr_roce_ahead(a, b);

	return ahead < RR_ROCE_PSN_HALF ? ahead : rr_roce_ahead(b, a);
}

/* Guesses the connection of a packet. Only connections are considered in which the queue pair of the packet's
 * sender is known, and that of the receiver is not. First choice is a connection in which PSNs near to the
 * packet's PSN were seen. Otherwise it is the only connection in which no such PSNs were seen at all. Sets
 * *from to the side that sent the packet. Returns NULL if the connection is not clear. */
static struct rr_roce_connection *
table_guess(const struct rr_roce_table *table, const struct rr_packet *packet,
	const struct rr_roce_packet *roce, uint8_t *from)
{
	struct rr_roce_connection *only = NULL;
	uint32_t count = 0;

	rr_list_for_each (link, &table->connections) {
		struct rr_roce_connection *connection = rr_container(link, struct rr_roce_connection, link);

		for (uint8_t side = 0; side < 2; side++) {
			/* PSNs number the requests of a side; an answer has the PSN of the request that it
			 * answers. */
			uint8_t owner = rr_roce_is_request(roce) ? side : !side;
			const struct rr_roce_side *numbers = &connection->sides[owner];

			if (connection->sides[!side].has_qp || !connection->sides[side].has_qp ||
				!table_is_between(connection, packet, side))
				continue;
			*from = side;
			if (numbers->has_seen && table_distance(numbers->seen, roce->psn) < PSN_NEAR)
				return connection;
			if (numbers->has_seen)
				continue;
			only = connection;
			count++;
		}
	}
	if (count == 1)
		*from = only->sides[0].has_qp ? 0 : 1;
	return count == 1 ? only : NULL;
}

/* Decodes a packet of a reliable connection. If no connection is known to have the queue pair that the packet
 * goes to, the packet is the first of its direction: in a known connection, or in a new one, which is then
 * made. */
static void
table_data(struct rr_roce_table *table, const struct rr_packet *packet, const struct rr_roce_packet *roce)
{
	uint64_t refused = table->shared->memory->refused;
	uint8_t from = 0;
	struct rr_roce_connection *connection = table_find(table, packet, roce->qp, &from);
	struct rr_roce_side *owner;

	if (!connection) {
		connection = table_guess(table, packet, roce, &from);
		if (!connection) {
			from = 0;
			connection = table_begin(table, packet, from);
		}
		if (!connection)
			return;
		connection->sides[!from].has_qp = true;
		connection->sides[!from].qp = roce->qp;
	}
	/* The side whose requests the PSN numbers: an answer has the PSN of the request that it answers. */
	owner = &connection->sides[rr_roce_is_request(roce) ? from : !from];
	owner->has_seen = true;
	owner->seen = roce->psn;
	rr_list_remove(&connection->link);
	rr_list_prepend(&table->connections, &connection->link);
	rr_roce_connection_packet(table->shared, connection, from, roce);
	/* If this packet met the limit of memory, an old connection makes room for the next packets. */
	if (table->shared->memory->refused != refused && table->connections.prev != &connection->link)
		table_evict(table);
}

/* ---- Messages of the connection managers ---- */

/* Notes the queue pair and the first PSN of a side. Both come from a message (cm) of that side's connection
 * manager. */
static void
table_open(struct rr_roce_side *side, const struct rr_cm *cm)
{
	side->has_qp = side->has_next = side->has_seen = true;
	side->qp = cm->qp;
	side->next = side->seen = cm->psn;
}

/* Returns the connection that was requested, by a message of a connection manager, with the number id. The
 * packet must be between the two ends of the connection, sent by side "from". Returns NULL if there is no
 * such connection. */
static struct rr_roce_connection *
table_requested(const struct rr_roce_table *table, const struct rr_packet *packet, uint8_t from, uint32_t id)
{
	rr_list_for_each (link, &table->connections) {
		struct rr_roce_connection *connection = rr_container(link, struct rr_roce_connection, link);

		if (connection->is_requested && connection->request_id == id &&
			table_is_between(connection, packet, from))
			return connection;
	}
	return NULL;
}

/* Makes the connection that a connection manager's request asks for. Returns NULL if this request is
 * repeated, as its connection exists already, or if there is no memory. */
static struct rr_roce_connection *
table_request(struct rr_roce_table *table, const struct rr_packet *packet, const struct rr_cm *cm)
{
	struct rr_roce_connection *connection = table_requested(table, packet, 0, cm->local_id);

	if (connection && connection->sides[0].qp == cm->qp)
		return NULL;
	connection = table_begin(table, packet, 0);
	if (!connection)
		return NULL;
	connection->is_requested = true;
	connection->request_id = cm->local_id;
	connection->mtu = cm->mtu;
	table_open(&connection->sides[0], cm);
	if (cm->port) {
		connection->ends[0].port = cm->source_port;
		connection->ends[1].port = cm->port;
	}
	return connection;
}

/* Handles a message of a connection manager: a request makes a connection, and a reply adds the queue pair of
 * side 1, the side that was asked. The sink receives the message, which may also be a rejection, as a
 * handshake. Messages for unknown connections and repeated messages are ignored: a reply, or a rejection, is
 * a repetition if the queue pair of side 1 is known already. */
static void
table_manager(struct rr_roce_table *table, const struct rr_packet *packet, const struct rr_cm *cm)
{
	static const enum rr_handshake_kind kinds[] = { [RR_CM_REQUEST] = RR_HANDSHAKE_REQUEST,
		[RR_CM_REPLY] = RR_HANDSHAKE_REPLY,
		[RR_CM_REJECT] = RR_HANDSHAKE_REJECT };
	const struct rr_handshake handshake = { .kind = kinds[cm->kind],
		.cm = cm,
		.has_depths = cm->kind != RR_CM_REJECT,
		.ird = cm->ird,
		.ord = cm->ord,
		.private_data = cm->private_data };
	bool is_request = cm->kind == RR_CM_REQUEST;
	struct rr_roce_connection *connection = is_request ? table_request(table, packet, cm)
							   : table_requested(table, packet, 1, cm->remote_id);
	struct rr_moment moment;

	if (!connection || (!is_request && connection->sides[1].has_qp))
		return;
	if (cm->kind == RR_CM_REPLY)
		table_open(&connection->sides[1], cm);
	moment = rr_decode_moment(table->shared, connection->number, !is_request, connection->ends);
	table->shared->sink->opened(table->shared->sink->ctx, &moment, &handshake);
}

/* ---- The table ---- */

/* Decodes a datagram that has a packet of a connection, or a message of a connection manager. Ignores any
 * other datagram, and a message of a connection manager of which octets were not captured. packet->length
 * also counts the octets that were not captured (packet->missing). */
static void
table_datagram(struct rr_roce_table *table, const struct rr_packet *packet)
{
	struct rr_roce_packet roce;
	struct rr_cm cm;

	if (!rr_roce_parse(packet->payload, packet->length, packet->length - packet->missing, &roce))
		return;
	if (roce.kind != RR_ROCE_DATAGRAM)
		table_data(table, packet, &roce);
	else if (roce.qp == RR_ROCE_QP_GENERAL && roce.known == roce.payload.length &&
		 rr_cm_parse(roce.payload.data, roce.payload.length, &cm))
		table_manager(table, packet, &cm);
}

void
rr_roce_table_packet(struct rr_roce_table *table, const struct rr_packet *packet)
{
	struct rr_decode_memory *memory = table->shared->memory;
	struct rr_packet whole = *packet;
	size_t size = (size_t)packet->length + packet->missing;
	uint8_t *octets;

	if (packet->missing == 0) {
		table_datagram(table, packet);
		return;
	}
	table->shared->counters.uncaptured += packet->missing;
	octets = rr_decode_alloc(memory, size);
	if (!octets)
		return;
	if (packet->length > 0)
		memcpy(octets, packet->payload, packet->length);
	whole.payload = octets;
	whole.length = (uint32_t)size;
	table_datagram(table, &whole);
	rr_decode_free(memory, octets, size);
}

void
rr_roce_table_finish(struct rr_roce_table *table)
{
	while (table->count > 0) {
		struct rr_roce_connection *oldest =
			rr_container(table->connections.prev, struct rr_roce_connection, link);

		rr_roce_connection_finish(table->shared, oldest);
		table_end(table, oldest);
	}
}

void
rr_roce_table_free(struct rr_roce_table *table)
{
	while (table->count > 0)
		table_end(table, rr_container(table->connections.prev, struct rr_roce_connection, link));
}
