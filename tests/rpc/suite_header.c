/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose RPC header cannot be read: each call is answered, and no call is executed. */
#include "suite.h"

#include <string.h>

#include "base/endian.h"
#include "carrier/carrier.h"

enum { XID = 77, MESSAGE = 2048 };

struct sending {
	struct rr_carrier *carrier;
	struct rr_transaction transaction;
	struct rr_reply_header reply;
	int error;
	bool done;
};

/* Keeps how the call ended, and the header of its reply. */
static void
ended(struct rr_transaction *transaction, int error)
{
	struct sending *sending = rr_container(transaction, struct sending, transaction);
	struct rpcrdma_xdr_reader reader;

	sending->done = true;
	sending->error = error;
	if (error)
		return;
	rpcrdma_xdr_reader_init(&reader, &transaction->reply, NULL);
	assert_true(rr_rpc_get_reply(&reader, &sending->reply));
	assert_int_equal(sending->reply.xid, XID);
}

/* Sends the message on a connection of its own, and returns its answer. */
static struct sending
send_message(struct world *world, const struct rpcrdma_message *message)
{
	static const struct rr_carrier_events no_events;
	const struct sockaddr *address = (const struct sockaddr *)&world->address;
	struct sending sending = { .transaction = { .xid = XID, .reply_max = 512, .done = ended } };
	struct rr_text why;
	int error;

	sending.transaction.call = *message;
	if (world_provider)
		error = rr_carrier_connect(world->stage.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_AUTO, address, sizeof(world->address) },
			&no_events, NULL, &sending.carrier, &why);
	else
		error = rr_carrier_connect(world->stage.engine,
			&(struct rr_carrier_place){ RR_TRANSPORT_TCP, address, sizeof(world->address) },
			&no_events, NULL, &sending.carrier, &why);
	assert_int_equal(error, 0);
	rr_carrier_call(sending.carrier, &sending.transaction);
	world_until(world, sending.done);
	rr_carrier_close(sending.carrier);
	world_settle(world);
	return sending;
}

/* ---- Headers that are not whole, or too large ---- */

struct row {
	const char *what;
	uint32_t octets;     /* octets of the message */
	uint32_t rpcvers;    /* 0 stands for 2 */
	uint32_t cred, verf; /* the values of their length words */
	struct rr_reply_header reply;
};

#define GARBAGE                                                                                              \
	{                                                                                                    \
		.reply_stat = RR_MSG_ACCEPTED, .accept_stat = RR_GARBAGE_ARGS                                \
	}
#define AUTH(stat)                                                                                           \
	{                                                                                                    \
		.reply_stat = RR_MSG_DENIED, .reject_stat = RR_AUTH_ERROR, .auth_stat = stat                 \
	}
#define MISMATCH                                                                                             \
	{                                                                                                    \
		.reply_stat = RR_MSG_DENIED, .reject_stat = RR_RPC_MISMATCH, .low = 2, .high = 2             \
	}

/* clang-format off */
static const struct row rows[] = {
	{ "nothing behind the type", 8, 0, 0, 0, GARBAGE },
	{ "no procedure", 20, 0, 0, 0, GARBAGE },
	{ "no credential", 24, 0, 0, 0, GARBAGE },
	{ "the flavor of a credential alone", 28, 0, 0, 0, GARBAGE },
	{ "half a credential", 100, 0, 400, 0, GARBAGE },
	{ "no verifier", 32, 0, 0, 0, GARBAGE },
	{ "half a verifier", 60, 0, 0, 400, GARBAGE },
	{ "a credential that is too long", 1000, 0, 401, 0, AUTH(RR_AUTH_BADCRED) },
	{ "one with a machine name of 1000 octets", 1200, 0, 1024, 0, AUTH(RR_AUTH_BADCRED) },
	{ "one that is too long, and not there", 32, 0, UINT32_MAX, 0, AUTH(RR_AUTH_BADCRED) },
	{ "a verifier that is too long", 1000, 0, 0, 401, AUTH(RR_AUTH_BADVERF) },
	{ "another version of RPC, and nothing else", 12, 3, 0, 0, MISMATCH },
	{ "another version of RPC", 1000, 1, 401, 401, MISMATCH },
};
/* clang-format on */

/* Makes a call with the header that a row describes. */
static struct rpcrdma_message
message_of(const struct row *row, uint8_t *octets)
{
	const uint32_t words[] = { XID, RR_CALL, row->rpcvers ? row->rpcvers : 2, ECHO_PROGRAM, ECHO_V3,
		ECHO_NULL, RR_AUTH_SYS, row->cred, RR_AUTH_NONE, row->verf };

	memset(octets, 0, MESSAGE);
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rr_put_be32(octets + 4 * i, words[i]);
	return (struct rpcrdma_message){ .stream = octets, .length = row->octets };
}

/* RFC 5531, 8.2: "up to 400 bytes that are opaque to" the protocol; 9: RPC_MISMATCH, AUTH_BADCRED,
 * AUTH_BADVERF, GARBAGE_ARGS. RFC 8166, 4.5.4: a requester is not left without an answer. */
static void
what_cannot_be_read_is_answered(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_NULL);

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rr_reply_header *expected = &rows[i].reply;
		uint8_t octets[MESSAGE];
		struct rpcrdma_message message = message_of(&rows[i], octets);
		struct sending sending = send_message(world, &message);
		const struct rr_reply_header *reply = &sending.reply;

		if (sending.error || reply->reply_stat != expected->reply_stat ||
			reply->accept_stat != expected->accept_stat ||
			reply->reject_stat != expected->reject_stat ||
			reply->auth_stat != expected->auth_stat || reply->low != expected->low ||
			reply->high != expected->high)
			fail_msg("%s: error %d, reply_stat %d accept_stat %d reject_stat %d auth_stat %d",
				rows[i].what, sending.error, reply->reply_stat, reply->accept_stat,
				reply->reject_stat, reply->auth_stat);
	}
	assert_int_equal(world->handled, 0);
	assert_int_equal(call_run(world, call), 0);
	call_free(call);
}

/* ---- Headers of which a part is an item ---- */

/* Makes an ECHO_ECHO call of 900 octets whose credential or verifier, of 340 octets, is an item. */
static struct rpcrdma_message
reduced(uint8_t *octets, bool is_verifier, struct rpcrdma_item *item)
{
	enum { BODY = 340, TEXT = 900 };
	static const uint8_t zeroes[1000];
	const uint32_t words[] = { XID, RR_CALL, 2, ECHO_PROGRAM, ECHO_V3, ECHO_ECHO, RR_AUTH_SYS,
		is_verifier ? 0 : BODY, RR_AUTH_SYS, is_verifier ? BODY : 0 };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message message;

	rpcrdma_xdr_writer_init(&writer, octets, MESSAGE, NULL, 0);
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rpcrdma_put_u32(&writer, words[i]);
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ zeroes, TEXT }, TEXT);
	*item = (struct rpcrdma_item){ zeroes, BODY, is_verifier ? 40 : 32 };
	message = rpcrdma_xdr_written(&writer);
	message.items = item;
	message.item_count = 1;
	return message;
}

/* RFC 8166, 6.1: the item is not eligible: "The Responder MUST NOT process this RPC Call message and MUST
 * report the violation as described in Section 4.5.2." */
static void
a_header_that_is_reduced_is_not_processed(void **state)
{
	struct world *world = *state;

	if (!world_provider)
		return; /* items are not reduced over TCP */
	world->stage.engine->config.versions = RR_VERSIONS_1;
	world->stage.engine->config.inline_send = world->stage.engine->config.inline_receive = 1024;
	for (int is_verifier = 0; is_verifier <= 1; is_verifier++) {
		uint8_t octets[MESSAGE];
		struct rpcrdma_item item;
		struct rpcrdma_message message = reduced(octets, is_verifier, &item);

		assert_int_equal(send_message(world, &message).error, -RPCRDMA_ERR_CHUNK);
		/* The same holds if the rest is shorter than a header. */
		message.length = 100;
		item.length = 1000;
		assert_int_equal(send_message(world, &message).error, -RPCRDMA_ERR_CHUNK);
	}
	assert_int_equal(world->handled, 0);
}

int
suite_header(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(what_cannot_be_read_is_answered),
		suite_test(a_header_that_is_reduced_is_not_processed),
	};

	return cmocka_run_group_tests_name("header", tests, NULL, NULL);
}
