/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/carrier.h"

/* Connects and listens by the kind of carriers to which the transport belongs. */

/* Returns the part of the engine (for TCP or for RDMA) that makes connections over the transport. Returns
 * NULL if the engine has no such part. */
static struct rr_carriers *
carrier_kind(const struct rpcrdma_engine *engine, enum rr_transport transport)
{
	for (struct rr_list *link = engine->carriers.next; link != &engine->carriers; link = link->next) {
		struct rr_carriers *carriers = rr_container(link, struct rr_carriers, link);

		if (carriers->ops->transports & RR_TRANSPORT_BIT(transport))
			return carriers;
	}
	return NULL;
}

int
rr_carrier_connect(struct rpcrdma_engine *engine, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	struct rr_carriers *carriers = carrier_kind(engine, to->transport);

	if (!carriers)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "there is no transport %d", (int)to->transport);
	return carriers->ops->connect(carriers, to, events, ctx, carrier, text);
}

int
rr_carrier_listen(struct rpcrdma_engine *engine, const struct rr_carrier_place *at,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text)
{
	struct rr_carriers *carriers = carrier_kind(engine, at->transport);
	int error;

	if (!carriers)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "there is no transport %d", (int)at->transport);
	error = carriers->ops->listen(carriers, at, acceptor, text);
	if (error)
		return error;
	**acceptor = (struct rr_acceptor){
		.ops = carriers->ops, .engine = engine, .handler = handler, .ctx = ctx
	};
	return 0;
}

bool
rr_carrier_at_work(const struct rpcrdma_engine *engine, enum rr_transport transport)
{
	const struct rr_carriers *carriers = carrier_kind(engine, transport);

	return carriers && carriers->ops->at_work(carriers, transport);
}

int
rr_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address)
{
	return acceptor->ops->address(acceptor, address);
}

const char *
rr_acceptor_providers(const struct rr_acceptor *acceptor)
{
	return acceptor->ops->providers(acceptor);
}

void
rr_acceptor_close(struct rr_acceptor *acceptor)
{
	acceptor->ops->unlisten(acceptor);
}
