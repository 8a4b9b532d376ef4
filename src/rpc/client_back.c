/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that call over a connection of a server, in the reverse direction (RFC 8167). */
#include <string.h>

#include "rpc/client_private.h"

/* Is called when the connection of the reverse direction is lost: cancels the calls that were sent, puts
 * them among the calls that wait, and has all of these fail with error. */
static void
client_back_lose(struct rr_server_back *back, int error, const char *text)
{
	struct rpcrdma_client *client = rr_container(back, struct rpcrdma_client, back);

	rr_list_for_each (link, &client->outstanding) {
		struct rr_call *call = rr_container(link, struct rr_call, link);

		rr_carrier_cancel(client->carrier, &call->transaction);
		call->sent = false;
		rr_list_remove(link);
		rr_list_append(&client->waiting, link);
	}
	rr_client_closed(client, error, text);
}

int
rr_request_client(struct rpcrdma_request *request, const struct rr_client_config *config,
	struct rpcrdma_client **result, struct rr_text *text)
{
	struct rr_server_way_back way;
	struct rpcrdma_client *client;
	int error = rr_server_way_back(request, &way, text);

	if (!error)
		error = rr_client_make(way.carrier->engine, config, &client, text);
	if (error < 0)
		return error;
	/* A connection that the peer made cannot be made again here: its end ends all calls. */
	client->config.retry = 0;
	memcpy(client->peer, way.carrier->peer, sizeof(client->peer));
	client->carrier = way.carrier;
	client->xid = way.xid;
	client->state = RR_CLIENT_UP;
	client->back.lose = client_back_lose;
	rr_list_append(way.clients, &client->back.link);
	*result = client;
	return 0;
}
