/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind of carriers over UDP: they share nothing. */
#include "carrier/udp/udp_private.h"

static int
kind_begin(struct rpcrdma_engine *engine, struct rr_carriers **carriers)
{
	*carriers = rr_alloc(engine->env, sizeof(**carriers));
	if (!*carriers)
		return -RPCRDMA_ERR_NOMEM;
	(*carriers)->engine = engine;
	return 0;
}

static void
kind_end(struct rr_carriers *carriers)
{
	rr_free(carriers->engine->env, carriers);
}

static int
kind_connect(struct rr_carriers *carriers, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	(void)carriers, (void)to, (void)events, (void)ctx, (void)carrier;
	return rr_fail(text, -RPCRDMA_ERR_INVAL, "nobody is called over UDP");
}

static const char *
kind_providers(const struct rr_acceptor *acceptor)
{
	(void)acceptor;
	return "udp";
}

static bool
kind_at_work(const struct rr_carriers *carriers, enum rr_transport transport)
{
	(void)carriers, (void)transport;
	return true;
}

const struct rr_carriers_ops rr_udp_carriers = {
	.transports = RR_TRANSPORT_BIT(RR_TRANSPORT_UDP),
	.begin = kind_begin,
	.end = kind_end,
	.connect = kind_connect,
	.listen = rr_udp_listen,
	.address = rr_udp_address,
	.providers = kind_providers,
	.unlisten = rr_udp_unlisten,
	.at_work = kind_at_work,
};
