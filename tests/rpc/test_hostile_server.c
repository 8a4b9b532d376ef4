/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client does with a hostile server. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "suite.h"

/* The test's own server side of the client's connection. */
struct raw {
	struct world *world;
	int listener, fd;
	uint32_t xid; /* of the call that was started */
	struct call *call;
};

static void
receive_call(struct raw *raw)
{
	uint8_t octets[4096];

	assert_true(raw_receive(raw->world, raw->fd, octets, sizeof(octets)) >= 40);
	raw->xid = rr_get_be32(octets);
}

static int
setup(void **state)
{
	static struct raw raw;
	struct rr_client_config config;
	void *world;

	assert_int_equal(world_setup(&world), 0);
	raw = (struct raw){ .world = world };
	rr_client_free(raw.world->client);
	raw.listener = raw_listen(&raw.world->address);
	world_client_config(raw.world, &config);
	config.retry = 60 * RR_SECOND;
	raw.world->client = world_connect(raw.world, &config);
	raw.fd = raw_accept(raw.world, raw.listener);
	raw.call = call_new(ECHO_LATER);
	call_start(raw.world, raw.call);
	receive_call(&raw);
	*state = &raw;
	return 0;
}

static int
teardown(void **state)
{
	struct raw *raw = *state;

	rr_client_free(raw->world->client);
	raw->world->client = NULL;
	call_free(raw->call);
	if (raw->fd >= 0)
		close(raw->fd);
	close(raw->listener);
	world_free(raw->world);
	return 0;
}

/* Sends a reply that begins with the XID and goes on with hex. */
static void
send_reply(struct raw *raw, uint32_t xid, const char *hex)
{
	struct rr_octets octets = rr_hex(hex);
	uint8_t reply[4 + sizeof(octets.data)];

	rr_put_be32(reply, xid);
	memcpy(reply + 4, octets.data, octets.size);
	raw_send_record(raw->world, raw->fd, reply, 4 + octets.size);
}

#define SUCCESS "00000001 00000000 00000000 00000000 00000000"

static void
finish(struct raw *raw)
{
	send_reply(raw, raw->xid, SUCCESS "00000007");
	world_until(raw->world, raw->call->done);
	assert_int_equal(raw->call->error, 0);
	assert_int_equal(raw->call->result.number, 7);
}

static void
a_reply_to_an_unknown_xid_is_discarded(void **state)
{
	struct raw *raw = *state;
	struct rpcrdma_counters counters;

	send_reply(raw, raw->xid + 1, SUCCESS "00000008");
	world_settle(raw->world);
	assert_false(raw->call->done);
	rr_client_counters(raw->world->client, &counters);
	assert_int_equal(counters.discarded, 1);
	finish(raw);
	send_reply(raw, raw->xid, SUCCESS "00000009"); /* a second reply */
	world_settle(raw->world);
	assert_int_equal(raw->call->times, 1);
}

static void
a_call_to_a_client_is_ignored(void **state)
{
	struct raw *raw = *state;

	send_reply(raw, raw->xid,
		"00000000 00000002 20000099 00000003 00000000 00000000 00000000 00000000 00000000");
	world_settle(raw->world);
	assert_false(raw->call->done);
	finish(raw);
}

/* The server chooses the verifier. */
static void
a_reply_with_the_longest_verifier_is_read(void **state)
{
	struct raw *raw = *state;
	uint8_t reply[24 + 400 + 4] = { 0 };

	rr_put_be32(reply, raw->xid);
	rr_put_be32(reply + 4, 1);
	rr_put_be32(reply + 12, 2); /* AUTH_SHORT */
	rr_put_be32(reply + 16, 400);
	rr_put_be32(reply + 424, 7);
	raw_send_record(raw->world, raw->fd, reply, sizeof(reply));
	world_until(raw->world, raw->call->done);
	assert_int_equal(raw->call->error, 0);
	assert_int_equal(raw->call->result.number, 7);
}

static void
replies_that_are_none_are_errors(void **state)
{
	static const struct {
		const char *reply;
		int error;
		const char *text;
	} cases[] = {
		{ "00000001", -RPCRDMA_ERR_XDR, "no valid RPC header" },
		{ "00000001 00000002", -RPCRDMA_ERR_XDR, "no valid RPC header" },
		{ "00000001 00000000 00000000 00000194", -RPCRDMA_ERR_XDR, "no valid RPC header" },
		{ "00000001 00000000 00000000 00000000 00000006", -RPCRDMA_ERR_XDR, "no valid RPC header" },
		{ SUCCESS, -RPCRDMA_ERR_XDR, "ECHO_LATER" },
		{ SUCCESS "00000001 00000002", -RPCRDMA_ERR_XDR, "ECHO_LATER" },
		{ "00000001 00000001 00000000 00000003 00000004", -RPCRDMA_ERR_RPC_DENIED,
			"versions 3 to 4" },
		{ "00000001 00000001 00000001 00000001", -RPCRDMA_ERR_RPC_DENIED, "credential" },
		{ "00000001 00000001 00000001 0000000e", -RPCRDMA_ERR_RPC_DENIED, "the context of the call" },
		{ "00000001 00000001 00000001 0000000f", -RPCRDMA_ERR_RPC_DENIED, "status 15" },
	};
	struct raw *raw = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		send_reply(raw, raw->xid, cases[i].reply);
		world_until(raw->world, raw->call->done);
		assert_int_equal(raw->call->error, cases[i].error);
		if (!strstr(rr_client_error(raw->world->client), cases[i].text))
			fail_msg("%s", rr_client_error(raw->world->client));
		raw->call->done = false;
		call_start(raw->world, raw->call);
		receive_call(raw);
	}
	raw->call->times = 0;
	finish(raw);
}

/* Starts blob calls until the socket is full, so that one of them was sent in part. */
enum { BLOBS = 12, BLOB = 1 << 20 };

static void
fill_socket(struct raw *raw, struct call *calls[BLOBS])
{
	for (int i = 0; i < BLOBS; i++) {
		calls[i] = blob_new(BLOB, true);
		call_start(raw->world, calls[i]);
	}
	world_settle(raw->world);
}

/* Reads calls until a call comes that is no blob, which is the last. Returns how many blobs came. */
static uint32_t
read_to_last(struct raw *raw)
{
	uint8_t *octets = malloc(BLOB + 1000);
	uint32_t blobs = 0;

	for (;; blobs++) {
		size_t size = raw_receive(raw->world, raw->fd, octets, BLOB + 1000);

		assert_true(size > 0);
		assert_int_equal(rr_get_be32(octets + 8), 2);
		if (size < BLOB)
			break;
	}
	raw->xid = rr_get_be32(octets);
	free(octets);
	return blobs;
}

static void
calls_cancelled_in_the_middle_do_not_break_the_stream(void **state)
{
	struct raw *raw = *state;
	struct call *calls[BLOBS];
	uint32_t blobs;

	finish(raw);
	fill_socket(raw, calls);
	for (int i = 0; i < BLOBS; i++) {
		rr_client_cancel(raw->world->client, &calls[i]->base);
		call_free(calls[i]);
	}
	raw->call->done = false;
	raw->call->times = 0;
	call_start(raw->world, raw->call);
	blobs = read_to_last(raw);
	assert_true(blobs > 0);
	assert_true(blobs < BLOBS); /* otherwise no call was sent in part */
	finish(raw);
}

static void
calls_answered_before_they_are_sent_do_not_break_the_stream(void **state)
{
	struct raw *raw = *state;
	struct call *calls[BLOBS];

	finish(raw);
	fill_socket(raw, calls);
	for (uint32_t i = 0; i < BLOBS; i++) {
		send_reply(raw, raw->xid + 1 + i, SUCCESS "00000002 00000000 00000001");
		world_until(raw->world, calls[i]->done);
		assert_int_equal(calls[i]->error, 0);
		call_free(calls[i]);
	}
	raw->call->done = false;
	raw->call->times = 0;
	call_start(raw->world, raw->call);
	assert_true(read_to_last(raw) < BLOBS);
	finish(raw);
}

/* Checks that the client gives up the connection after what was sent on it, and sends the call again on
 * another connection. */
static void
expect_another_connection(struct raw *raw)
{
	uint32_t xid = raw->xid;
	int fd = -1;

	world_settle(raw->world);
	close(raw->fd);
	for (int i = 0; fd < 0; i++) {
		assert_true(i < 2000);
		world_pass(raw->world, 25 * RR_MILLISECOND);
		fd = accept4(raw->listener, NULL, NULL, SOCK_NONBLOCK);
	}
	raw->fd = fd;
	receive_call(raw);
	assert_int_equal(raw->xid, xid);
}

static void
broken_framing_ends_the_connection_and_not_the_call(void **state)
{
	static const char *const streams[] = { "ffffffff", "80000004 00000000", "00000004 00000000 80100000",
		"80000010 00000000 00000002 00000000 00000000" };
	struct raw *raw = *state;

	for (int i = 0; i < 4; i++) {
		struct rr_octets octets = rr_hex(streams[i]);

		raw_send(raw->world, raw->fd, octets.data, octets.size);
		expect_another_connection(raw);
	}
	finish(raw);
	assert_int_equal(rr_client_reconnects(raw->world->client), 4);
	assert_int_equal(world_memory(raw->world), 0);
}

static void
a_reply_cut_off_is_waited_for_on_another_connection(void **state)
{
	struct raw *raw = *state;
	struct rr_octets octets = rr_hex("8000f01c 00000000 00000001 00000000 00000000 00000000");

	raw_send(raw->world, raw->fd, octets.data, octets.size);
	expect_another_connection(raw);
	finish(raw);
	assert_int_equal(world_memory(raw->world), 0);
}

static void
a_server_that_always_hangs_up_is_given_up(void **state)
{
	struct raw *raw = *state;

	for (int i = 0; i < 4; i++)
		expect_another_connection(raw);
	close(raw->fd);
	raw->fd = -1;
	world_until(raw->world, raw->call->done);
	assert_int_equal(raw->call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(raw->call->times, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reply_to_an_unknown_xid_is_discarded, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_a_client_is_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reply_with_the_longest_verifier_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(replies_that_are_none_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(
			calls_cancelled_in_the_middle_do_not_break_the_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(
			calls_answered_before_they_are_sent_do_not_break_the_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(
			broken_framing_ends_the_connection_and_not_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_reply_cut_off_is_waited_for_on_another_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_always_hangs_up_is_given_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
