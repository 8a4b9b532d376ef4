/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that does not use the Write chunks that a gateway offers it. */
#include "../rpc/raw.h"

#include <string.h>
#include <unistd.h>

#include "carrier/carrier.h"
#include "gateway/gateway.h"
#include "ulb/nfs3.h"
#include "wire/rpc.h"

enum { XID = 900, NFS = 100003, DATA = 3900, MESSAGE_MAX = 8192 };

/* A client over TCP, a gateway, and a server over RDMA that answers every call with `reply`. */
struct beside {
	struct world *world;
	struct rr_acceptor *acceptor;
	struct rr_carrier *server;
	struct rr_gateway *gateway;
	int client;
	uint8_t stream[MESSAGE_MAX];
	struct rpcrdma_item items[1];
	struct rpcrdma_message reply;
};

/* Closes the server's connection that has ended. */
static void
closed(void *ctx, int error, const char *why)
{
	struct beside *beside = ctx;

	(void)error;
	(void)why;
	rr_carrier_close(beside->server);
	beside->server = NULL;
}

static void
called(void *ctx, struct rr_exchange *exchange)
{
	struct beside *beside = ctx;

	rr_exchange_reply(exchange, &beside->reply, NULL, NULL);
}

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	static const struct rr_carrier_events events = { .closed = closed, .call = called };
	struct beside *beside = ctx;

	beside->server = carrier;
	rr_carrier_attach(carrier, &events, beside);
}

static int
setup(void **state)
{
	static struct beside beside;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_gateway_config config = { .server = { .address_count = 1 } };
	struct world *world = world_new(NULL);
	struct rr_text why;

	beside = (struct beside){ .world = world };
	/* The first call in version 2 would ask for a Reply chunk instead. */
	world->stage.engine->config.versions = RR_VERSIONS_1;
	assert_int_equal(rr_carrier_listen(world->stage.engine,
				 &(struct rr_carrier_place){
					 RR_TRANSPORT_AUTO, (struct sockaddr *)&address, sizeof(address) },
				 accepted, &beside, &beside.acceptor, &why),
		0);
	assert_int_equal(rr_acceptor_address(beside.acceptor, &config.server.addresses[0]), 0);
	assert_int_equal(rr_gateway_new(world->stage.engine, &config, &beside.gateway), 0);
	world->address = address;
	assert_int_equal(rr_gateway_listen(beside.gateway, RR_TRANSPORT_TCP,
				 (struct sockaddr *)&world->address, sizeof(world->address), &why),
		0);
	beside.client = raw_connect(world);
	*state = &beside;
	return 0;
}

static int
teardown(void **state)
{
	struct beside *beside = *state;

	close(beside->client);
	world_until(beside->world, !beside->server);
	rr_gateway_free(beside->gateway);
	rr_acceptor_close(beside->acceptor);
	world_settle(beside->world);
	world_free(beside->world);
	return 0;
}

/* Sets the answer to a READ, with its data apart from the stream, or beside the Write chunk that is there
 * for the data. */
static void
set_reply(struct beside *beside, bool apart)
{
	static const uint8_t data[DATA] = { 1, 2, 3 };
	const struct rr_reply_header header = { .xid = XID };
	const READ3res result = { .status = NFS3_OK, .u.resok = { .count = DATA, .data = { data, DATA } } };
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, beside->stream, sizeof(beside->stream), beside->items, apart);
	rr_rpc_put_reply(&writer, &header);
	xdr_put_READ3res(&writer, &result);
	assert_false(writer.failed);
	beside->reply = rpcrdma_xdr_written(&writer);
	assert_int_equal(beside->reply.item_count, apart);
}

/* Sends a READ; sets accept_stat from its reply, and returns the octets of the reply. */
static size_t
call_read(struct beside *beside, uint32_t *accept_stat)
{
	static const uint8_t handle[8];
	const struct rr_call_header header = { .xid = XID, .prog = NFS, .vers = 3, .proc = NFSPROC3_READ };
	const READ3args args = { .file.data = { handle, sizeof(handle) }, .count = DATA };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_message message = { 0 };
	struct rr_reply_header reply;
	uint8_t octets[MESSAGE_MAX];

	rpcrdma_xdr_writer_init(&writer, octets, sizeof(octets), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	xdr_put_READ3args(&writer, &args);
	message = rpcrdma_xdr_written(&writer);
	raw_send_record(beside->world, beside->client, octets, message.length);
	message = (struct rpcrdma_message){ .stream = octets };
	message.length = (uint32_t)raw_receive(beside->world, beside->client, octets, sizeof(octets));
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_true(rr_rpc_get_reply(&reader, &reply));
	*accept_stat = reply.accept_stat;
	return message.length;
}

/*
 * RFC 8166, 6.1: "A Responder does not reduce a DDP-eligible result data item into an available Write chunk.
 * The Requester MUST terminate the pending RPC transaction and report an appropriate permanent error to the
 * RPC consumer."
 */
static void
data_beside_its_write_chunk_is_not_passed_on(void **state)
{
	struct beside *beside = *state;
	struct rr_gateway_counters counters;
	uint32_t accept_stat;

	set_reply(beside, true);
	assert_int_equal(call_read(beside, &accept_stat), beside->reply.length + DATA);
	assert_int_equal(accept_stat, RR_SUCCESS);
	set_reply(beside, false);
	call_read(beside, &accept_stat);
	assert_int_equal(accept_stat, RR_SYSTEM_ERR);
	rr_gateway_counters(beside->gateway, &counters);
	assert_int_equal(counters.failed, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			data_beside_its_write_chunk_is_not_passed_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
