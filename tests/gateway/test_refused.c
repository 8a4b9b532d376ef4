/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls over RDMA with an item that must not travel apart: a gateway answers them itself. */
#include "../rpc/raw.h"

#include <string.h>
#include <unistd.h>

#include "carrier/carrier.h"
#include "gateway/gateway.h"
#include "ulb/nfs3.h"
#include "wire/rpc.h"

enum { XID = 900, NFS = 100003, LONG = 1001, MESSAGE_MAX = 4096 };

/* A client over RDMA, a gateway, and a server over TCP. The test plays both ends. */
struct refused {
	struct world *world;
	struct rr_gateway *gateway;
	struct rr_carrier *client;
	int listener, server; /* server: -1 until the gateway has called it */
	struct rr_transaction transaction;
	uint8_t stream[MESSAGE_MAX];
	struct rpcrdma_item item;
	struct rr_reply_header reply;
	int error;
	bool done;
};

static int
setup(void **state)
{
	static const struct rr_carrier_events no_events;
	static struct refused refused;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in server;
	struct rr_gateway_config config = { .server = { .transport = RR_TRANSPORT_TCP, .address_count = 1 } };
	struct world *world = world_new(NULL);
	struct rr_text why;

	refused = (struct refused){ .world = world, .listener = raw_listen(&server), .server = -1 };
	world->stage.engine->config.versions = RR_VERSIONS_1;
	/* Larger calls have Read chunks. */
	world->stage.engine->config.inline_send = world->stage.engine->config.inline_receive = 1024;
	memcpy(&config.server.addresses[0], &server, sizeof(server));
	assert_int_equal(rr_gateway_new(world->stage.engine, &config, &refused.gateway), 0);
	assert_int_equal(rr_gateway_listen(refused.gateway, RR_TRANSPORT_AUTO, (struct sockaddr *)&address,
				 sizeof(address), &why),
		0);
	assert_int_equal(rr_carrier_connect(world->stage.engine,
				 &(struct rr_carrier_place){
					 RR_TRANSPORT_AUTO, (struct sockaddr *)&address, sizeof(address) },
				 &no_events, NULL, &refused.client, &why),
		0);
	*state = &refused;
	return 0;
}

static int
teardown(void **state)
{
	struct refused *refused = *state;

	rr_carrier_close(refused->client);
	rr_gateway_free(refused->gateway);
	close(refused->listener);
	if (refused->server >= 0)
		close(refused->server);
	world_settle(refused->world);
	world_free(refused->world);
	return 0;
}

/* ---- Calls ---- */

/* Keeps how the call ended, and the header of its reply. */
static void
ended(struct rr_transaction *transaction, int error)
{
	struct refused *refused = rr_container(transaction, struct refused, transaction);
	struct rpcrdma_xdr_reader reader;

	refused->done = true;
	refused->error = error;
	if (error)
		return;
	rpcrdma_xdr_reader_init(&reader, &transaction->reply, NULL);
	assert_true(rr_rpc_get_reply(&reader, &refused->reply));
}

/* The part of a call that is the item. */
enum part { CREDENTIAL, NAME, DATA };

/* Writes the opaque, or the item in its place. */
static void
put_part(struct refused *refused, struct rpcrdma_xdr_writer *writer, uint32_t length, bool is_item)
{
	static const uint8_t octets[LONG];

	if (!is_item) {
		rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ octets, length }, length);
		return;
	}
	rpcrdma_put_u32(writer, length);
	refused->item = (struct rpcrdma_item){ octets, length, (uint32_t)rpcrdma_xdr_length(writer) };
}

/* Starts a WRITE, or a LOOKUP, whose item is that part and travels as a Read chunk: with the item, the
 * call does not fit inline. */
static void
start_call(struct refused *refused, enum part part)
{
	const uint32_t words[] = { XID, RR_CALL, 2, NFS, 3, part == NAME ? NFSPROC3_LOOKUP : NFSPROC3_WRITE,
		RR_AUTH_SYS };
	const uint32_t data = part == DATA ? LONG : 600;
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, refused->stream, sizeof(refused->stream), NULL, 0);
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rpcrdma_put_u32(&writer, words[i]);
	put_part(refused, &writer, part == CREDENTIAL ? 396 : 200, part == CREDENTIAL);
	rpcrdma_put_u64(&writer, 0); /* an empty verifier */
	put_part(refused, &writer, 64, false);
	if (part == NAME) {
		put_part(refused, &writer, LONG, true);
	} else {
		rpcrdma_put_u64(&writer, 0);
		rpcrdma_put_u32(&writer, data);
		rpcrdma_put_u32(&writer, UNSTABLE);
		put_part(refused, &writer, data, part == DATA);
	}
	assert_false(writer.failed);
	refused->done = false;
	refused->transaction = (struct rr_transaction){ .xid = XID, .reply_max = 500, .done = ended };
	refused->transaction.call = rpcrdma_xdr_written(&writer);
	refused->transaction.call.item_count = 1;
	refused->transaction.call.items = &refused->item;
	rr_carrier_call(refused->client, &refused->transaction);
}

/* ---- Tests ---- */

/* RFC 8166, 8.2.2: "data items that are part of RPCSEC_GSS authentication material" "MUST NOT be reduced";
 * 6.1: "The Responder MUST NOT process this RPC Call message". */
static void
a_call_whose_header_is_reduced_is_not_passed_on(void **state)
{
	struct refused *refused = *state;

	start_call(refused, CREDENTIAL);
	world_until(refused->world, refused->done);
	assert_int_equal(refused->error, -RPCRDMA_ERR_CHUNK);
	world_settle(refused->world); /* no connection to the server was made */
	assert_int_equal(accept4(refused->listener, NULL, NULL, SOCK_NONBLOCK), -1);
}

/* RFC 8166, 6.1: "A Requester reduces a non-DDP-eligible argument data item. The Responder MUST NOT
 * process this RPC Call message and MUST report the violation as described in Section 4.5.2", which has
 * GARBAGE_ARGS; RFC 8267, 6.4.2, has the same for arguments that cannot be decoded. */
static void
a_call_that_reduces_what_is_not_eligible_is_not_passed_on(void **state)
{
	struct refused *refused = *state;
	uint8_t octet;

	start_call(refused, NAME);
	refused->server = raw_accept(refused->world, refused->listener);
	world_until(refused->world, refused->done);
	assert_int_equal(refused->error, 0);
	assert_int_equal(refused->reply.reply_stat, RR_MSG_ACCEPTED);
	assert_int_equal(refused->reply.accept_stat, RR_GARBAGE_ARGS);
	world_settle(refused->world);
	assert_int_equal(recv(refused->server, &octet, 1, MSG_DONTWAIT), -1);
}

static void
a_call_that_reduces_what_is_eligible_is_passed_on_whole(void **state)
{
	struct refused *refused = *state;
	uint8_t call[MESSAGE_MAX];

	start_call(refused, DATA);
	refused->server = raw_accept(refused->world, refused->listener);
	assert_int_equal(raw_receive(refused->world, refused->server, call, sizeof(call)),
		28 + 4 + 200 + 8 + 4 + 64 + 16 + 4 + 1004);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_call_whose_header_is_reduced_is_not_passed_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_reduces_what_is_not_eligible_is_not_passed_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_reduces_what_is_eligible_is_passed_on_whole, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
