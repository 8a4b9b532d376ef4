/* SPDX-License-Identifier: BSD-3-Clause */
/* A gateway that takes calls over TCP and passes them on over iWARP. */
#include <err.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "between.h"
#include "gateway/gateway.h"

struct between {
	struct rpcrdma_engine *engine;
	struct rr_gateway *gateway;
};

struct between *
between_begin(const struct rpcrdma_engine_config *engine, struct rpcrdma_client_config *client)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_gateway_config config = { .server = {
						    .transport = RR_TRANSPORT_IWARP, .address_count = 1 } };
	struct between *between = calloc(1, sizeof(*between));
	struct rr_text text = { "no memory" };

	address.sin_port = htons(client->port);
	memcpy(config.server.addresses, &address, sizeof(address));
	address.sin_port = 0;
	if (!between || rpcrdma_engine_new(engine, &between->engine) < 0 ||
		rr_gateway_new(between->engine, &config, &between->gateway) < 0 ||
		rr_gateway_listen(between->gateway, RR_TRANSPORT_TCP, (struct sockaddr *)&address,
			sizeof(address), &text) < 0)
		errx(1, "the gateway: %s", text.text);
	client->transport = RPCRDMA_TRANSPORT_TCP;
	client->port = ntohs(address.sin_port);
	return between;
}

void
between_turn(struct between *between)
{
	if (rpcrdma_engine_turn(between->engine, 0) < 0)
		errx(1, "%s", rpcrdma_engine_error(between->engine));
}

void
between_end(struct between *between)
{
	rr_gateway_free(between->gateway);
	rpcrdma_engine_free(between->engine);
	free(between);
}
