/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/rdma.h"

#include "base/checked.h"
#include "carrier/rdma/acceptor.h"
#include "carrier/rdma/core/connection.h"

/* RDMA as a kind of carriers: its data in an engine, and how connections begin on the active side. */

enum { INLINE_MIN = 1024, INLINE_MAX = 262144, PROVIDED_MAX = 4096, CHUNKS_MAX = 1024 };

/* Tells whether the private data of a connection can announce this size (RFC 8797): as a multiple of 1024. */
static bool
rdma_is_inline_size(uint32_t size)
{
	return size >= INLINE_MIN && size <= INLINE_MAX && size % 1024 == 0;
}

/* Tells whether those values of the engine's configuration that only RDMA connections use are in their
 * bounds. */
static bool
rdma_config_is_good(const struct rr_engine_config *config)
{
	return config->versions <= RR_VERSIONS_2 && config->reply_chunks <= RR_REPLY_CHUNKS_NEVER &&
	       config->provided_max <= PROVIDED_MAX && rdma_is_inline_size(config->inline_send) &&
	       rdma_is_inline_size(config->inline_receive) && config->segment_max > 0 &&
	       config->chunk_max > 0 && config->chunk_max <= CHUNKS_MAX;
}

/* Sets how many replies, and how many octets of them, a connection may expose in Read chunks. By default
 * these are as many replies as there are credits: a requester that sends its RDMA_DONE before it uses the
 * credit for the next call never has more replies exposed. The default of the octets is half of memory_max,
 * but at least one message of the largest size. */
static void
rdma_set_bounds(struct rr_room *room, const struct rr_engine_config *config)
{
	room->provided_max = config->provided_max;
	if (room->provided_max == 0)
		room->provided_max = (uint32_t)rr_min(config->credits, PROVIDED_MAX);
	room->provided_octets_max = config->provided_octets;
	if (room->provided_octets_max > 0)
		return;
	room->provided_octets_max = config->memory_max / 2;
	if (room->provided_octets_max < config->message_max)
		room->provided_octets_max = config->message_max;
}

/* Makes the room of an engine (the data that its RDMA connections share), and the engine's first fabric.
 * Stores the room in *carriers. Returns 0 or an error. */
static int
rdma_begin(struct rpcrdma_engine *engine, struct rr_carriers **carriers)
{
	struct rr_room *room;
	int error;

	if (!rdma_config_is_good(&engine->config))
		return -RPCRDMA_ERR_INVAL;
	room = rr_alloc(engine->env, sizeof(*room));
	if (!room)
		return -RPCRDMA_ERR_NOMEM;
	room->base.engine = engine;
	rr_list_init(&room->exchanges);
	rr_traces_init(&room->traces, engine->env, RR_TRACE_BLOCKS);
	rdma_set_bounds(room, &engine->config);
	error = rr_provider_begin(room, engine);
	if (error) {
		rr_provider_end(room);
		rr_free(engine->env, room);
		return error;
	}
	*carriers = &room->base;
	return 0;
}

/* Frees the room of an engine (the data that its RDMA connections share), with the fabrics and all memory
 * that was kept for reuse. */
static void
rdma_end(struct rr_carriers *carriers)
{
	struct rr_room *room = rr_room_of(carriers);

	rr_responder_trim(room);
	rr_cache_end(&room->dones);
	rr_cache_end(&room->pulls);
	rr_cache_end(&room->provided);
	rr_arrival_unprepare(room);
	rr_provider_end(room);
	rr_free(carriers->engine->env, room);
}

/* Makes a connection over the fabric that suits the address, and begins to connect. Stores the connection in
 * *carrier. Returns 0 or an error. */
static int
rdma_connect(struct rr_carriers *carriers, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	struct rr_room *room = rr_room_of(carriers);
	struct rr_connection *connection;
	struct rr_fabric *fabric;
	char peer[RR_ADDRESS_TEXT];
	int error = rr_provider_to(room, to, &fabric, text);

	if (error)
		return error;
	rr_address_text(to->address, peer, sizeof(peer));
	connection = rr_rdma_new(room, fabric, peer, true);
	if (!connection)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a connection");
	rr_carrier_attach(&connection->base, events, ctx);
	rr_negotiation_init(connection, to->address, to->size);
	error = rr_driver_connect(connection, to, text);
	if (error) {
		rr_rdma_free(connection);
		return error;
	}
	*carrier = &connection->base;
	return 0;
}

/* Tells whether the engine has a fabric for the transport: the RDMA adapters if it is VERBS, else the fabric
 * that the engine has from its beginning. */
static bool
rdma_at_work(const struct rr_carriers *carriers, enum rr_transport transport)
{
	/* rr_room_of() does not take a const pointer. carriers is the first member of its room. */
	const struct rr_room *room = (const void *)carriers;

	return transport == RR_TRANSPORT_VERBS ? room->adapters != NULL : room->fabric != NULL;
}

const struct rr_carriers_ops rr_rdma_carriers = {
	.transports = RR_TRANSPORT_BIT(RR_TRANSPORT_AUTO) | RR_TRANSPORT_BIT(RR_TRANSPORT_IWARP) |
		      RR_TRANSPORT_BIT(RR_TRANSPORT_VERBS),
	.begin = rdma_begin,
	.end = rdma_end,
	.connect = rdma_connect,
	.listen = rr_acceptor_rdma_listen,
	.address = rr_acceptor_rdma_address,
	.providers = rr_acceptor_rdma_providers,
	.unlisten = rr_acceptor_rdma_close,
	.at_work = rdma_at_work,
};
