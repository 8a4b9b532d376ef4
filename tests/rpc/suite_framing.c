/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that must be executed once comes twice, and travels in different forms: the form makes no
 * difference (RFC 8166, 3.4). */
#include "suite.h"

#include <string.h>

#include "carrier/carrier.h"

enum { XID = 77, LENGTH = 1501, SMALL = 1024, LARGE = 4096 };

enum form { INLINE, READ_CHUNK, LONG_CALL, FORMS };

struct sending {
	struct rr_transaction transaction;
	struct rpcrdma_item item;
	uint8_t stream[LARGE], data[LENGTH], reply[100];
	uint32_t length; /* of the reply; 0: there is no reply yet */
};

/* Keeps a copy of the reply. */
static void
replied(struct rr_transaction *transaction, int error)
{
	struct sending *sending = rr_container(transaction, struct sending, transaction);

	assert_int_equal(error, 0);
	assert_true(transaction->reply.length <= sizeof(sending->reply));
	memcpy(sending->reply, transaction->reply.stream, transaction->reply.length);
	sending->length = transaction->reply.length;
}

/* Makes a call that stores LENGTH octets, which are inline or an item. */
static void
prepare(struct sending *sending, enum form form, uint8_t octet)
{
	const struct rr_call_header header = {
		.xid = XID, .prog = ECHO_PROGRAM, .vers = ECHO_V3, .proc = ECHO_STORE
	};
	const blob args = { 1, { sending->data, LENGTH }, 2 };
	struct rpcrdma_xdr_writer writer;

	memset(sending, 0, sizeof(*sending));
	memset(sending->data, octet, LENGTH);
	rpcrdma_xdr_writer_init(
		&writer, sending->stream, sizeof(sending->stream), &sending->item, form == READ_CHUNK);
	rr_rpc_put_call(&writer, &header);
	xdr_put_blob(&writer, &args);
	assert_false(writer.failed);
	sending->transaction = (struct rr_transaction){
		.xid = XID, .call = rpcrdma_xdr_written(&writer), .reply_max = 100, .done = replied
	};
}

/* Sends the call in that form, on a connection of its own. */
static void
send_as(struct world *world, struct sending *sending, enum form form, uint8_t octet)
{
	static const struct rr_carrier_events no_events;
	struct rr_engine_config *config = &world->stage.engine->config;
	struct rr_carrier *carrier;
	struct rr_text why;

	config->versions = RR_VERSIONS_1;
	config->inline_send = config->inline_receive = form == INLINE ? LARGE : SMALL;
	prepare(sending, form, octet);
	assert_int_equal(rr_carrier_connect(world->stage.engine,
				 &(struct rr_carrier_place){
					 RR_TRANSPORT_AUTO, (void *)&world->address, sizeof(world->address) },
				 &no_events, NULL, &carrier, &why),
		0);
	rr_carrier_call(carrier, &sending->transaction);
	world_until(world, sending->length > 0);
	assert_int_equal(carrier->counters.read_chunks, form == READ_CHUNK);
	assert_int_equal(carrier->counters.long_calls, form == LONG_CALL);
	rr_carrier_close(carrier);
	world_settle(world);
}

/* Checks that a call in the second form is known as the one that came in the first form before. */
static void
a_repeated_call_may_travel_in_another_form(enum form first, enum form second)
{
	struct world *world = world_new(NULL);
	struct sending sent, repeated, other;

	send_as(world, &sent, first, 'x');
	send_as(world, &repeated, second, 'x');
	assert_int_equal(world->handled, 1);
	assert_int_equal(repeated.length, sent.length);
	assert_memory_equal(repeated.reply, sent.reply, sent.length);
	/* Other octets make another call, in whatever form they travel. */
	send_as(world, &other, second, 'y');
	assert_int_equal(world->handled, 2);
	world_free(world);
}

/* RFC 8166, 3.4: the messages are the same. Thresholds may differ after the client connected again. */
static void
row_B7_a_repeated_call_is_known_in_each_form(void **state)
{
	(void)state;
	for (enum form first = 0; first < FORMS; first++)
		for (enum form second = 0; second < FORMS; second++)
			a_repeated_call_may_travel_in_another_form(first, second);
}

int
suite_framing(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B7_a_repeated_call_is_known_in_each_form),
	};

	return world_provider ? cmocka_run_group_tests_name("framing", tests, NULL, NULL) : 0;
}
