/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/decoder.h"

#include <rpcrdma/error.h>
#include <string.h>

#include "decode/connection.h"
#include "decode/roce/table.h"

enum { BUCKETS = 4096, NFS_RDMA_PORT = 20049 };

const struct rr_decode_limits rr_decode_limits = {
	.memory = (size_t)64 << 20,
	.connections = 1024,
	.transactions = 4096,
};

struct rr_decoder {
	const struct rr_env *env;
	struct rr_decode_limits limits;
	struct rr_decode_sink sink;
	struct rr_decode_memory memory;
	struct rr_match match;
	struct rr_decode_connections shared;
	struct rr_map connections; /* of TCP, by decoder_key() */
	struct rr_roce_table roce;
	/* TCP connections; the connection whose last packet is the oldest comes first. */
	struct rr_list ages;
};

/* ---- Connections ---- */

/* Returns a hash (FNV-1a) of an end's address and port. */
static uint64_t
decoder_hash_end(const struct rr_packet_end *end)
{
	uint64_t hash = end->port + UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(end->address); i++)
		hash = (hash ^ end->address[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Returns the key under which the packet's connection is stored. The key is the same for packets of both
 * directions. */
static uint64_t
decoder_key(const struct rr_packet *packet)
{
	return decoder_hash_end(&packet->source) + decoder_hash_end(&packet->destination);
}

static bool
decoder_same_end(const struct rr_packet_end *a, const struct rr_packet_end *b)
{
	return a->port == b->port && a->family == b->family &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* Returns the connection of the packet, and sets *from to the side that sent the packet. Returns NULL if the
 * connection is not known. */
static struct rr_decode_connection *
decoder_find(const struct rr_decoder *decoder, const struct rr_packet *packet, uint8_t *from)
{
	struct rr_map_link *link = rr_map_find(&decoder->connections, decoder_key(packet));

	for (; link; link = rr_map_next(link)) {
		struct rr_decode_connection *connection =
			rr_container(link, struct rr_decode_connection, link);

		for (*from = 0; *from < 2; ++*from)
			if (decoder_same_end(&connection->ends[*from], &packet->source) &&
				decoder_same_end(&connection->ends[!*from], &packet->destination))
				return connection;
	}
	return NULL;
}

/* Frees a TCP connection, and removes it from the decoder. Octets that wait for others are not decoded. */
static void
decoder_end(struct rr_decoder *decoder, struct rr_decode_connection *connection)
{
	rr_decode_connection_end(&decoder->shared, connection);
	rr_map_remove(&decoder->connections, &connection->link);
	rr_list_remove(&connection->age);
	rr_decode_free(&decoder->memory, connection, sizeof(*connection));
}

/* Returns the TCP connection whose last packet is the oldest, or NULL if there is no TCP connection. */
static struct rr_decode_connection *
decoder_oldest(const struct rr_decoder *decoder)
{
	return rr_list_empty(&decoder->ages)
		       ? NULL
		       : rr_container(decoder->ages.next, struct rr_decode_connection, age);
}

/* Makes room for a new connection, or in memory: decodes what is left of the TCP connection whose last packet
 * is the oldest, and frees the connection. */
static void
decoder_evict(struct rr_decoder *decoder)
{
	decoder->shared.counters.evicted_connections++;
	rr_decode_connection_finish(&decoder->shared, decoder_oldest(decoder));
	decoder_end(decoder, decoder_oldest(decoder));
}

/* Returns the side that sent the first captured packet of a connection: side 0 opened the connection, side 1
 * accepted it. A SYN shows the side. Without a SYN, side 1 is the sender of an MPA reply; else the side with
 * the port of NFS; else the side with the lower port. */
static uint8_t
decoder_side(const struct rr_packet *packet)
{
	static const char reply[] = "MPA ID Rep";

	if (packet->flags & RR_TCP_SYN)
		return packet->flags & RR_TCP_ACK ? 1 : 0;
	if (packet->length >= sizeof(reply) - 1 && memcmp(packet->payload, reply, sizeof(reply) - 1) == 0)
		return 1;
	if (packet->source.port == NFS_RDMA_PORT || packet->destination.port == NFS_RDMA_PORT)
		return packet->source.port == NFS_RDMA_PORT;
	return packet->source.port < packet->destination.port;
}

/* Makes a connection, whose first captured packet this is, and sets *from to the side that sent the packet.
 * If there are too many connections or too little memory, the connection whose last packet is the oldest is
 * ended first. Returns NULL if there is no memory. */
static struct rr_decode_connection *
decoder_begin(struct rr_decoder *decoder, const struct rr_packet *packet, uint8_t *from)
{
	struct rr_decode_connection *connection;

	if (decoder->connections.count >= decoder->limits.connections)
		decoder_evict(decoder);
	connection = rr_decode_alloc(&decoder->memory, sizeof(*connection));
	if (!connection && decoder_oldest(decoder)) {
		decoder_evict(decoder);
		connection = rr_decode_alloc(&decoder->memory, sizeof(*connection));
	}
	if (!connection)
		return NULL;
	*from = decoder_side(packet);
	connection->ends[*from] = packet->source;
	connection->ends[!*from] = packet->destination;
	/* The keys of maps have room for numbers of 31 bits. */
	connection->number = (uint32_t)(decoder->shared.counters.connections++ & INT32_MAX);
	rr_map_add(&decoder->connections, &connection->link, decoder_key(packet));
	rr_list_append(&decoder->ages, &connection->age);
	return connection;
}

/* Tells whether a packet is a SYN that begins a new connection between the ports of this connection. Returns
 * false if the packet repeats the first SYN of this connection, or has a SYN and an acknowledgement. If
 * octets of the side came before any SYN, the capture began later than this connection, so that every SYN
 * begins a new connection. */
static bool
decoder_is_anew(const struct rr_decode_connection *connection, uint8_t from, const struct rr_packet *packet)
{
	const struct rr_decode_connection_side *side = &connection->sides[from];

	if ((packet->flags & (RR_TCP_SYN | RR_TCP_ACK)) != RR_TCP_SYN || !side->stream.started)
		return false;
	return !side->fpdus.begun || side->first != packet->sequence + 1;
}

/* Decodes a TCP packet in its connection. If the connection is not known, makes it, unless the packet has
 * neither octets nor a SYN. A SYN for a new connection between the same ports ends the old connection
 * first. */
static void
decoder_tcp(struct rr_decoder *decoder, const struct rr_packet *packet)
{
	uint64_t refused = decoder->memory.refused;
	uint8_t from = 0;
	struct rr_decode_connection *connection = decoder_find(decoder, packet, &from);

	if (connection && decoder_is_anew(connection, from, packet)) {
		rr_decode_connection_finish(&decoder->shared, connection);
		decoder_end(decoder, connection);
		connection = NULL;
	}
	if (!connection && packet->length == 0 && !(packet->flags & RR_TCP_SYN))
		return;
	if (!connection)
		connection = decoder_begin(decoder, packet, &from);
	if (!connection)
		return;
	rr_list_remove(&connection->age);
	rr_list_append(&decoder->ages, &connection->age);
	rr_decode_connection_packet(&decoder->shared, connection, from, packet);
	/* If this packet met the limit of memory, an old connection makes room for the next packets. */
	if (decoder->memory.refused != refused && decoder_oldest(decoder) != connection)
		decoder_evict(decoder);
}

/* ---- Packets ---- */

void
rr_decoder_packet(struct rr_decoder *decoder, int link, uint64_t time, const void *data, size_t size)
{
	struct rr_decode_counters *counters = &decoder->shared.counters;
	struct rr_packet packet;
	enum rr_packet_result result = rr_packet_parse(link, data, size, &packet);

	decoder->shared.frame = ++counters->packets;
	decoder->shared.time = time;
	if (result != RR_PACKET_OK) {
		counters->unread += result != RR_PACKET_FOREIGN;
		return;
	}
	if (packet.protocol == RR_IP_TCP)
		decoder_tcp(decoder, &packet);
	else if (packet.destination.port == RR_ROCE_PORT)
		rr_roce_table_packet(&decoder->roce, &packet);
}

void
rr_decoder_finish(struct rr_decoder *decoder)
{
	while (decoder_oldest(decoder)) {
		rr_decode_connection_finish(&decoder->shared, decoder_oldest(decoder));
		decoder_end(decoder, decoder_oldest(decoder));
	}
	rr_roce_table_finish(&decoder->roce);
}

struct rr_decode_counters
rr_decoder_counters(const struct rr_decoder *decoder)
{
	struct rr_decode_counters counters = decoder->shared.counters;

	counters.evicted_transactions = decoder->match.evicted;
	counters.refused = decoder->memory.refused;
	return counters;
}

/* ---- The decoder ---- */

/* Counts a message that was paired, and passes it on to the sink. */
static void
decoder_emit(void *ctx, const struct rr_message *message)
{
	struct rr_decoder *decoder = ctx;

	decoder->shared.counters.messages++;
	decoder->sink.message(decoder->sink.ctx, message);
}

int
rr_decoder_new(const struct rr_env *env, const struct rr_decode_limits *limits,
	const struct rr_decode_sink *sink, struct rr_decoder **decoder)
{
	struct rr_decoder *made = rr_alloc(env, sizeof(*made));

	*decoder = NULL;
	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	made->env = env;
	made->limits = limits ? *limits : rr_decode_limits;
	made->sink = *sink;
	made->memory = (struct rr_decode_memory){ .env = env, .limit = made->limits.memory };
	rr_list_init(&made->ages);
	made->match.emit = decoder_emit;
	made->match.ctx = made;
	made->shared.memory = &made->memory;
	made->shared.match = &made->match;
	made->shared.sink = &made->sink;
	rr_roce_table_init(&made->roce, &made->shared, made->limits.connections);
	if (rr_match_init(&made->match, &made->memory, made->limits.transactions) < 0 ||
		rr_message_prepare(&made->memory, &made->shared.lists) < 0 ||
		rr_map_init(&made->connections, env, BUCKETS) < 0) {
		rr_decoder_free(made);
		return -RPCRDMA_ERR_NOMEM;
	}
	*decoder = made;
	return 0;
}

void
rr_decoder_free(struct rr_decoder *decoder)
{
	if (!decoder)
		return;
	while (decoder_oldest(decoder))
		decoder_end(decoder, decoder_oldest(decoder));
	rr_roce_table_free(&decoder->roce);
	rr_match_free(&decoder->match);
	rr_map_free(&decoder->connections, decoder->env);
	rr_message_unprepare(&decoder->memory, &decoder->shared.lists);
	rr_free(decoder->env, decoder);
}
