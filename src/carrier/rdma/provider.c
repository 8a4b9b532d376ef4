/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the fabrics of an engine, and chooses between them: provider.h. */
#include "carrier/rdma/provider.h"

#include "base/checked.h"
#include "carrier/rdma/requester/requester.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"

enum {
	RECEIVE_LEAST = 4096, /* octets of a Receive; some peers Send more than was announced */
	WORK_LEAST = 256,     /* work requests that an endpoint may have outstanding */
	READS_AT_A_TIME = 32, /* RDMA Reads that an endpoint may have outstanding */
};

/* ---- Making fabrics ---- */

static uint32_t
provider_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Returns the configuration of a fabric that suits the connections of the engine: sizes and numbers of
 * Receives, work requests and regions. */
static struct rr_fabric_config
provider_config(const struct rr_room *room, const struct rpcrdma_engine *engine)
{
	const struct rr_engine_config *config = &engine->config;
	struct rr_fabric_config fabric = rr_fabric_config_default;
	size_t receives;

	/* RFC 8166, 3.3.3: "Receiver implementations MUST support inline thresholds of 1024 bytes".
	 * draft-cel-nfsv4-rpcrdma-version-two-00, 2.3: those of version 2 "MUST support an inline threshold
	 * of 4096 bytes". */
	fabric.receive_size = provider_larger(config->inline_receive, RECEIVE_LEAST);
	/* Receives are made as they are needed. A quarter of the payload memory bounds them, but four busy
	 * connections must be able to use all of their credits. */
	receives = config->memory_max / 4 / fabric.receive_size;
	fabric.receive_max =
		provider_larger(receives < UINT32_MAX ? (uint32_t)receives : UINT32_MAX, config->credits * 4);
	fabric.work_max = provider_larger(WORK_LEAST, config->credits * 2);
	fabric.read_max = READS_AT_A_TIME;
	fabric.region_max = config->credits * RR_OUTBOUND_REGIONS + room->provided_max * RR_PIECES_MAX;
	fabric.crc = config->crc;
	fabric.reuse_port = config->reuse_port;
	fabric.spread = engine->spread;
	fabric.tls = &config->tls;
	fabric.handshakes = &room->base.engine->handshakes;
	return fabric;
}

/* Puts the filters that the configuration names, if any, before the fabric, and sets *fabric to the first of
 * them. Returns 0 or an error. */
static int
provider_add_filters(const struct rr_engine_config *config, struct rr_fabric **fabric)
{
	return config->filter ? config->filter(config->filter_ctx, fabric) : 0;
}

int
rr_provider_begin(struct rr_room *room, const struct rpcrdma_engine *engine)
{
	const struct rr_fabric_config config = provider_config(room, engine);
	rr_fabric_new *make = engine->config.make ? engine->config.make : rr_iwarp_fabric_new;
	int error = make(engine->loop, &config, &room->fabric);
	room->receive_size = config.receive_size;
	room->only = make != rr_iwarp_fabric_new;
	return error ? error : provider_add_filters(&engine->config, &room->fabric);
}

void
rr_provider_end(struct rr_room *room)
{
	rr_fabric_destroy(room->adapters);
	rr_fabric_destroy(room->fabric);
}

int
rr_provider_adapters(struct rr_room *room, struct rr_fabric **fabric, struct rr_text *text)
{
	const struct rpcrdma_engine *engine = room->base.engine;
	const struct rr_fabric_config config = provider_config(room, engine);
	int error;

	if (!room->adapters) {
		error = rr_verbs_fabric_open(engine->loop, &config, &room->adapters, text);
		if (error)
			return error;
		error = provider_add_filters(&engine->config, &room->adapters);
		if (error) {
			rr_fabric_destroy(room->adapters);
			room->adapters = NULL;
			return rr_fail(
				text, error, "the filters of RDMA adapters: %s", rpcrdma_strerror(error));
		}
	}
	*fabric = room->adapters;
	return 0;
}

/* ---- Choosing ---- */

/* Returns the kind of provider to use for the transport: for AUTO, the kind that the engine's configuration
 * names, which may be AUTO again. In an engine of a test, which has only one fabric, the result is always
 * IWARP, which then means that fabric. */
static enum rr_transport
provider_wanted(const struct rr_room *room, enum rr_transport transport)
{
	if (room->only)
		return RR_TRANSPORT_IWARP;
	return transport == RR_TRANSPORT_AUTO ? room->base.engine->config.provider : transport;
}

/* Logs why the RDMA adapters cannot be used. The line is a warning only if the machine has an adapter. Most
 * machines have none, and the caller did not ask for adapters by name. */
static void
provider_log(const struct rr_room *room, int error, const struct rr_text *why)
{
	bool usual = error == -RPCRDMA_ERR_NOTSUP || error == -RPCRDMA_ERR_UNREACHABLE;

	rr_log(room->base.engine->env, usual ? RR_LOG_DEBUG : RR_LOG_WARNING,
		"iWARP over sockets, no RDMA adapter: %s", why->text);
}

/* Returns the fabric of the RDMA adapters, or NULL if it cannot be made. After a failure the adapters are
 * not tried again, as the obstacle does not disappear by itself. */
static struct rr_fabric *
provider_try_adapters(struct rr_room *room)
{
	struct rr_fabric *fabric = NULL;
	struct rr_text why;
	int error;

	if (room->adapters_failed)
		return NULL;
	error = rr_provider_adapters(room, &fabric, &why);
	if (!error)
		return fabric;
	room->adapters_failed = true;
	provider_log(room, error, &why);
	return NULL;
}

/* Returns the fabric of the RDMA adapters if the local address belongs to an adapter, else NULL. Once the
 * adapters have failed, the address is not looked up any more, and the result is NULL. */
static struct rr_fabric *
provider_adapters_of(struct rr_room *room, const struct sockaddr *local, socklen_t size)
{
	struct rr_text why;
	int error = room->adapters_failed ? 0 : rr_verbs_has_address(local, size, &why);

	if (error) {
		provider_log(room, error, &why);
		return NULL;
	}
	return provider_try_adapters(room);
}

int
rr_provider_to(struct rr_room *room, const struct rr_carrier_place *to, struct rr_fabric **fabric,
	struct rr_text *text)
{
	struct sockaddr_storage source;
	struct rr_fabric *adapters = NULL;

	switch (provider_wanted(room, to->transport)) {
	case RR_TRANSPORT_VERBS: return rr_provider_adapters(room, fabric, text);
	case RR_TRANSPORT_IWARP:
	case RR_TRANSPORT_TCP:
	case RR_TRANSPORT_UDP: break;
	case RR_TRANSPORT_AUTO:
		/* Adapters have no TLS. */
		if (to->secure && !to->secure->optional)
			break;
		if (rr_address_source(to->address, to->size, &source) == 0)
			adapters = provider_adapters_of(room, (struct sockaddr *)&source, sizeof(source));
		break;
	}
	*fabric = adapters ? adapters : room->fabric;
	return 0;
}

int
rr_provider_at(struct rr_room *room, const struct rr_carrier_place *at,
	struct rr_fabric *fabrics[RR_PROVIDER_FABRICS], struct rr_text *text)
{
	/* Another engine listens for this one over the adapters. */
	bool elsewhere = room->base.engine->config.adapters_elsewhere;
	struct rr_fabric *adapters;
	int error;

	fabrics[0] = room->fabric;
	switch (provider_wanted(room, at->transport)) {
	case RR_TRANSPORT_VERBS:
		error = elsewhere ? 0 : rr_provider_adapters(room, &fabrics[0], text);
		return error ? error : !elsewhere;
	case RR_TRANSPORT_IWARP:
	case RR_TRANSPORT_TCP:
	case RR_TRANSPORT_UDP: return 1;
	case RR_TRANSPORT_AUTO: break;
	}
	if (!rr_address_is_any(at->address)) {
		adapters = provider_adapters_of(room, at->address, at->size);
		fabrics[0] = adapters ? adapters : room->fabric;
		return !adapters || !elsewhere;
	}
	fabrics[1] = elsewhere ? NULL : provider_try_adapters(room);
	return fabrics[1] ? 2 : 1;
}
