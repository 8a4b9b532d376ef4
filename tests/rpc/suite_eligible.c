/* SPDX-License-Identifier: BSD-3-Clause */
/* Items that are placed although the binding does not mark them, and marked items that are not placed (RFC
 * 8166, 6.1). */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "carrier/carrier.h"

enum { XID = 77, LENGTH = 8000 };

/* ---- Calls ---- */

/* Keeps the header of the reply that came. */
static void
keep_error(struct rr_transaction *transaction, int error)
{
	struct rr_reply_header *reply = transaction->ctx;
	struct rpcrdma_xdr_reader reader;

	assert_int_equal(error, 0);
	rpcrdma_xdr_reader_init(&reader, &transaction->reply, NULL);
	assert_true(rr_rpc_get_reply(&reader, reply));
	reply->xid = 1;
}

/* Makes a call of proc in which LENGTH octets behind its first word travel as a Read chunk. */
static enum rr_accept_stat
call_reduced(struct world *world, uint32_t proc, uint32_t count, uint32_t behind)
{
	static const struct rr_carrier_events no_events;
	const struct rr_call_header header = {
		.xid = XID, .prog = ECHO_PROGRAM, .vers = ECHO_V3, .proc = proc
	};
	uint8_t stream[200], *data = calloc(1, LENGTH);
	struct rr_reply_header reply = { 0 };
	struct rpcrdma_xdr_writer writer;
	struct rr_carrier *carrier;
	struct rr_text why;
	struct rpcrdma_item item = { data, LENGTH, 0 };
	struct rr_transaction transaction = {
		.xid = XID, .reply_max = 1000, .done = keep_error, .ctx = &reply
	};

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rpcrdma_put_u32(&writer, count);
	item.offset = (uint32_t)rpcrdma_xdr_length(&writer);
	for (uint32_t i = 0; i < behind; i++)
		rpcrdma_put_u32(&writer, 0);
	transaction.call = rpcrdma_xdr_written(&writer);
	transaction.call.item_count = 1;
	transaction.call.items = &item;
	assert_int_equal(rr_carrier_connect(world->stage.engine,
				 &(struct rr_carrier_place){
					 RR_TRANSPORT_AUTO, (void *)&world->address, sizeof(world->address) },
				 &no_events, NULL, &carrier, &why),
		0);
	rr_carrier_call(carrier, &transaction);
	world_until(world, reply.xid == 1);
	assert_int_equal(carrier->counters.read_chunks, 1);
	rr_carrier_close(carrier);
	world_settle(world);
	free(data);
	return reply.accept_stat;
}

/* RFC 8166, 6.1: "A Requester reduces a non-DDP-eligible argument data item. The Responder MUST NOT process
 * this RPC Call message and MUST report the violation as described in Section 4.5.2", where it says
 * GARBAGE_ARGS. */
static void
a_call_that_reduces_what_is_not_marked_is_not_processed(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_UNHANDLED);

	assert_int_equal(call_reduced(world, ECHO_SUM, LENGTH / 4, 0), RR_GARBAGE_ARGS);
	assert_int_equal(call_reduced(world, ECHO_ECHO, 8, 0), RR_GARBAGE_ARGS);
	/* The stream decodes without the item, which is left over. */
	assert_int_equal(call_reduced(world, ECHO_ECHO, 8, 2), RR_GARBAGE_ARGS);
	assert_int_equal(world->handled, 0);
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_PROC_UNAVAIL); /* the server still works */
	call_free(call);
}

/* ---- Replies ---- */

/* A server that answers each call with `results`. */
struct liar {
	struct rr_acceptor *acceptor;
	struct rr_carrier *carrier;
	struct rpcrdma_message results; /* without the RPC header */
	uint8_t stream[1024];
	struct rpcrdma_item item;
	uint32_t calls;
};

/* Answers a call with the results that the test chose, whatever the call asked for. */
static void
lie(void *ctx, struct rr_exchange *exchange)
{
	struct liar *liar = ctx;
	struct rr_reply_header header = { .xid = exchange->xid };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message reply;

	rpcrdma_xdr_writer_init(&writer, liar->stream, sizeof(liar->stream), NULL, 0);
	rr_rpc_put_reply(&writer, &header);
	memcpy(writer.next, liar->results.stream, liar->results.length);
	reply = rpcrdma_xdr_written(&writer);
	if (liar->results.item_count > 0) {
		liar->item = liar->results.items[0];
		liar->item.offset += reply.length;
		reply.item_count = 1;
		reply.items = &liar->item;
	}
	reply.length += liar->results.length;
	liar->calls++;
	rr_exchange_reply(exchange, &reply, NULL, NULL);
}

static const struct rr_carrier_events liar_events = { .call = lie };

static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	((struct liar *)ctx)->carrier = carrier;
	rr_carrier_attach(carrier, &liar_events, ctx);
}

/* Returns the error of the call if the server answers it with results. */
static int
run_against(struct world *world, struct liar *liar, struct call *call)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage address;
	struct rr_client_config config;
	struct rpcrdma_client *good = world->client;
	struct rr_text why;
	int error;

	assert_int_equal(rr_carrier_listen(world->stage.engine,
				 &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) },
				 accepted, liar, &liar->acceptor, &why),
		0);
	assert_int_equal(rr_acceptor_address(liar->acceptor, &address), 0);
	/* The first call in version 2 would ask for a Reply chunk instead. */
	world->stage.engine->config.versions = RR_VERSIONS_1;
	world_client_config(world, &config);
	config.address = address;
	world->client = world_connect(world, &config);
	error = call_run(world, call);
	assert_int_equal(liar->calls, 1);
	rr_client_free(world->client);
	world->client = good;
	rr_carrier_close(liar->carrier);
	rr_acceptor_close(liar->acceptor);
	world_settle(world);
	return error;
}

/* RFC 8166, 6.1: "A Responder reduces a non-DDP-eligible result data item. The Requester MUST terminate the
 * pending RPC transaction and report an appropriate permanent error to the RPC consumer." */
static void
a_result_that_is_placed_and_not_marked_is_an_error(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_item item = { "eight oc", 8, 4 };
	struct liar liar = { .results = { "\0\0\0\10", 4, 1, &item } };
	struct call *call = call_new(ECHO_ECHO);
	uint8_t *sink = calloc(1, LENGTH);

	call->base.sinks[0] = (struct rpcrdma_sink){ sink, LENGTH };
	call->base.sink_count = 1;
	assert_int_equal(run_against(world, &liar, call), -RPCRDMA_ERR_XDR);
	assert_memory_equal(sink, "eight oc", 8); /* the data was placed */
	call_free(call);
	free(sink);
}

/* RFC 8166, 6.1: "A Responder does not reduce a DDP-eligible result data item into an available Write chunk.
 * The Requester MUST terminate the pending RPC transaction and report an appropriate permanent error". */
static void
a_marked_result_beside_its_write_chunk_is_an_error(void **state)
{
	struct world *world = *state;
	struct liar liar = { .results = { "\0\0\0\1"
					  "\0\0\0\4"
					  "data"
					  "\0\0\0\2",
				     16, 0, NULL } };
	struct call *call = fetch_new(LENGTH);

	assert_int_equal(run_against(world, &liar, call), -RPCRDMA_ERR_PEER);
	call_free(call);
}

/* An empty result is no violation. */
static void
an_empty_result_leaves_its_write_chunk_unused(void **state)
{
	struct world *world = *state;
	struct liar liar = { .results = { "\0\0\0\1"
					  "\0\0\0\0"
					  "\0\0\0\2",
				     12, 0, NULL } };
	struct call *call = fetch_new(LENGTH);

	assert_int_equal(run_against(world, &liar, call), 0);
	assert_int_equal(call->result.blob.data.length, 0);
	assert_int_equal(call->result.blob.after, 2);
	call_free(call);
}

int
suite_eligible(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_call_that_reduces_what_is_not_marked_is_not_processed),
		suite_test(a_result_that_is_placed_and_not_marked_is_an_error),
		suite_test(a_marked_result_beside_its_write_chunk_is_an_error),
		suite_test(an_empty_result_leaves_its_write_chunk_unused),
	};

	/* Items are not placed over TCP. */
	return world_provider ? cmocka_run_group_tests_name("eligible", tests, NULL, NULL) : 0;
}
