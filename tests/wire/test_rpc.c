/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rpc.h"

#include "../mutate.h"
#include "../padding.h"

/* A GETATTR of Linux with AUTH_SYS, its reply, and a reply of each other kind. */
static const char linux_call[] =
	"8a368326 00000000 00000002 00018783 00000003 00000001"
	"00000001 0000001c 00000000 00000006 286e6f6e65290000 00000000 00000000 00000000"
	"00000000 00000000 00000008 0001000100000000";
static const char linux_credential[] = "00000000 00000006 286e6f6e65290000 00000000 00000000 00000000";
static const char linux_reply[] = "81368326 00000001 00000000 00000000 00000000 00000000";
static const char verified_reply[] =
	"00000007 00000001 00000000 00000006 00000005 0102030405000000 00000000 0000abcd";
static const char prog_mismatch[] = "00000007 00000001 00000000 00000000 00000000 00000002 00000003 00000004";
static const char garbage_args[] = "00000007 00000001 00000000 00000000 00000000 00000004";
static const char rpc_mismatch[] = "00000007 00000001 00000001 00000000 00000002 00000002";
static const char auth_error[] = "00000007 00000001 00000001 00000001 00000005";

static struct rr_octets octets;

static struct rpcrdma_xdr_reader
reader_of(const char *hex)
{
	struct rpcrdma_message message;
	struct rpcrdma_xdr_reader reader;

	octets = rr_hex(hex);
	message = (struct rpcrdma_message){ .stream = octets.data, .length = (uint32_t)octets.size };
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	return reader;
}

static void
reads_a_call_up_to_its_arguments(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of(linux_call);
	struct rr_call_header call;

	(void)state;
	assert_true(rr_rpc_get_call(&reader, &call));
	assert_int_equal(call.xid, 0x8a368326);
	assert_int_equal(call.rpcvers, 2);
	assert_int_equal(call.prog, 100227);
	assert_int_equal(call.vers, 3);
	assert_int_equal(call.proc, 1);
	assert_int_equal(call.cred.flavor, RR_AUTH_SYS);
	assert_int_equal(call.cred.body.length, 28);
	assert_ptr_equal(call.cred.body.data, octets.data + 32);
	assert_int_equal(call.verf.flavor, RR_AUTH_NONE);
	assert_int_equal(call.verf.body.length, 0);
	assert_int_equal(rpcrdma_xdr_left(&reader), 12);
}

static void
writes_the_call_that_it_reads(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of(linux_call);
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header call;
	uint8_t out[RR_RPC_CALL_HEADER_MAX];

	(void)state;
	assert_true(rr_rpc_get_call(&reader, &call));
	/* "rpcvers MUST be equal to 2" in every call that is sent, whatever the field is. */
	call.rpcvers = 0;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_call(&writer, &call);
	assert_int_equal(rpcrdma_xdr_length(&writer), octets.size - 12);
	assert_memory_equal(out, octets.data, octets.size - 12);
}

static void
the_largest_headers_fit_into_what_is_said(void **state)
{
	static const uint8_t body[RR_AUTH_BODY_MAX + 1];
	struct rr_opaque_auth auth = { .body = { body, RR_AUTH_BODY_MAX } };
	struct rr_call_header call = { .cred = auth, .verf = auth };
	struct rr_reply_header reply = { .verf = auth };
	uint8_t out[RR_RPC_CALL_HEADER_MAX];
	struct rpcrdma_xdr_writer writer;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, RR_RPC_CALL_HEADER_MAX, NULL, 0);
	rr_rpc_put_call(&writer, &call);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), RR_RPC_CALL_HEADER_MAX);
	rpcrdma_xdr_writer_init(&writer, out, RR_RPC_REPLY_HEADER_MAX, NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), RR_RPC_REPLY_HEADER_MAX);
	/* RFC 5531, 8.2: "followed by up to 400 bytes" */
	reply.verf.body.length++;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	assert_true(writer.failed);
}

/* RFC 5531, 8.2: "opaque body<400>". */
static void
credentials_are_bounded(void **state)
{
	uint8_t message[RR_RPC_CALL_HEADER_MAX + 4] = { [11] = 2, [30] = 1, [31] = 0x90 };
	struct rpcrdma_message whole = { .stream = message, .length = sizeof(message) };
	struct rpcrdma_xdr_reader reader;
	struct rr_call_header call;

	(void)state;
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	assert_true(rr_rpc_get_call(&reader, &call));
	assert_int_equal(call.cred.body.length, 400);
	message[31]++;
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	assert_false(rr_rpc_get_call(&reader, &call));
	assert_true(reader.failed);
	assert_int_equal(call.auth_stat, RR_AUTH_BADCRED);
	message[30] = message[31] = 0;
	message[38] = 1;
	message[39] = 0x91;
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	assert_false(rr_rpc_get_call(&reader, &call));
	assert_int_equal(call.auth_stat, RR_AUTH_BADVERF);
	message[39] = 0x90;
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	assert_true(rr_rpc_get_call(&reader, &call));
	assert_int_equal(call.auth_stat, RR_AUTH_OK);
}

static void
a_reply_is_no_call(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of(linux_reply);
	struct rr_call_header call;
	struct rr_reply_header reply;

	(void)state;
	assert_false(rr_rpc_get_call(&reader, &call));
	assert_false(reader.failed);
	assert_int_equal(call.xid, 0x81368326);
	assert_int_equal(call.rpcvers, 2); /* RPC_MISMATCH would not be the answer */
	reader = reader_of(linux_call);
	assert_false(rr_rpc_get_reply(&reader, &reply));
	assert_int_equal(reply.xid, 0x8a368326);
	reader = reader_of("00000007 00000002 00000000 00000000 00000000 00000000");
	assert_false(rr_rpc_get_reply(&reader, &reply));
	assert_true(reader.failed);
}

/* RFC 5531, 9, RPC_MISMATCH: "RPC version number != 2". The words behind the version are not looked at, as
 * their meaning is not known. */
static void
another_rpc_version_is_told(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of("00000007 00000000 00000003");
	struct rr_call_header call;

	(void)state;
	assert_false(rr_rpc_get_call(&reader, &call));
	assert_false(reader.failed);
	assert_int_equal(call.xid, 7);
	assert_int_equal(call.rpcvers, 3);
}

static void
replies_go_there_and_back(void **state)
{
	static const struct {
		const char *hex;
		struct rr_reply_header expected;
		size_t results;
	} cases[] = {
		{ linux_reply, { .xid = 0x81368326 }, 0 },
		{ verified_reply, { .xid = 7, .verf.flavor = RR_RPCSEC_GSS, .verf.body.length = 5 }, 4 },
		{ prog_mismatch, { .xid = 7, .accept_stat = RR_PROG_MISMATCH, .low = 3, .high = 4 }, 0 },
		{ garbage_args, { .xid = 7, .accept_stat = RR_GARBAGE_ARGS }, 0 },
		{ rpc_mismatch, { .xid = 7, .reply_stat = RR_MSG_DENIED, .low = 2, .high = 2 }, 0 },
		{ auth_error,
			{ .xid = 7,
				.reply_stat = RR_MSG_DENIED,
				.reject_stat = RR_AUTH_ERROR,
				.auth_stat = RR_AUTH_TOOWEAK },
			0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rpcrdma_xdr_reader reader = reader_of(cases[i].hex);
		const struct rr_reply_header *expected = &cases[i].expected;
		struct rpcrdma_xdr_writer writer;
		struct rr_reply_header reply;
		uint8_t out[64];

		assert_true(rr_rpc_get_reply(&reader, &reply));
		assert_int_equal(reply.xid, expected->xid);
		assert_int_equal(reply.reply_stat, expected->reply_stat);
		assert_int_equal(reply.verf.flavor, expected->verf.flavor);
		assert_int_equal(reply.verf.body.length, expected->verf.body.length);
		assert_int_equal(reply.accept_stat, expected->accept_stat);
		assert_int_equal(reply.reject_stat, expected->reject_stat);
		assert_int_equal(reply.auth_stat, expected->auth_stat);
		assert_int_equal(reply.low, expected->low);
		assert_int_equal(reply.high, expected->high);
		assert_int_equal(rpcrdma_xdr_left(&reader), cases[i].results);
		rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
		rr_rpc_put_reply(&writer, &reply);
		assert_int_equal(rpcrdma_xdr_length(&writer), octets.size - cases[i].results);
		assert_memory_equal(out, octets.data, octets.size - cases[i].results);
	}
}

/* RFC 5531, 9: new numbers may be assigned for auth_stat; the other enums are closed. */
static void
only_auth_stat_is_open(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of("00000007 00000001 00000001 00000001 0000000e");
	struct rr_reply_header reply;

	(void)state;
	assert_true(rr_rpc_get_reply(&reader, &reply));
	assert_int_equal(reply.auth_stat, 14);
	reader = reader_of("00000007 00000001 00000001 00000002 00000000 00000000");
	assert_false(rr_rpc_get_reply(&reader, &reply));
	reader = reader_of("00000007 00000001 00000002 00000000 00000000 00000000");
	assert_false(rr_rpc_get_reply(&reader, &reply));
	reader = reader_of("00000007 00000001 00000000 00000000 00000000 00000006");
	assert_false(rr_rpc_get_reply(&reader, &reply));
}

static bool
get_sys(const char *hex, struct rr_auth_sys *sys)
{
	octets = rr_hex(hex);
	return rr_auth_sys_get((struct rpcrdma_bytes){ octets.data, (uint32_t)octets.size }, sys);
}

static void
auth_sys_goes_there_and_back(void **state)
{
	struct rpcrdma_xdr_writer writer;
	struct rr_auth_sys sys;
	uint8_t out[64];

	(void)state;
	assert_true(get_sys("00000009 00000003 61626300 000003e8 000003e9 00000002 00000018 ffffffff", &sys));
	assert_int_equal(sys.stamp, 9);
	assert_int_equal(sys.machine.length, 3);
	assert_memory_equal(sys.machine.data, "abc", 3);
	assert_int_equal(sys.uid, 1000);
	assert_int_equal(sys.gid, 1001);
	assert_int_equal(sys.gid_count, 2);
	assert_int_equal(sys.gids[0], 24);
	assert_int_equal(sys.gids[1], UINT32_MAX);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_auth_sys_put(&writer, &sys);
	assert_int_equal(rpcrdma_xdr_length(&writer), octets.size);
	assert_memory_equal(out, octets.data, octets.size);
}

/* RFC 5531, appendix A: "string machinename<255>; unsigned int uid; unsigned int gid; unsigned int gids<16>",
 * and the body has nothing else. */
static void
auth_sys_is_bounded_and_exact(void **state)
{
	uint8_t body[4 + 4 + 256 + 8 + 4 + 68] = { 0 };
	struct rr_auth_sys sys = { .gid_count = RR_AUTH_SYS_GIDS };
	struct rpcrdma_xdr_writer writer;

	(void)state;
	assert_true(get_sys("00000000 00000000 00000000 00000000 00000000", &sys));
	assert_false(get_sys("00000000 00000000 00000000 00000000 00000000 00000000", &sys));
	assert_false(get_sys("00000000 00000000 00000000 00000000", &sys));
	assert_false(get_sys("00000000 00000000 00000000 00000000 00000001", &sys));
	assert_false(get_sys("", &sys));
	body[19] = 16;
	assert_true(rr_auth_sys_get((struct rpcrdma_bytes){ body, 20 + 64 }, &sys));
	body[19] = 17;
	assert_false(rr_auth_sys_get((struct rpcrdma_bytes){ body, 20 + 68 }, &sys));
	body[19] = 0;
	body[7] = 255;
	assert_true(rr_auth_sys_get((struct rpcrdma_bytes){ body, 20 + 256 }, &sys));
	assert_int_equal(sys.machine.length, RR_AUTH_SYS_NAME);
	body[6] = 1;
	body[7] = 0;
	assert_false(rr_auth_sys_get((struct rpcrdma_bytes){ body, 20 + 256 }, &sys));
	sys.gid_count = RR_AUTH_SYS_GIDS + 1;
	rpcrdma_xdr_writer_init(&writer, body, sizeof(body), NULL, 0);
	rr_auth_sys_put(&writer, &sys);
	assert_true(writer.failed);
}

static void
peek_tells_xid_and_direction(void **state)
{
	uint32_t xid, type;

	(void)state;
	octets = rr_hex(linux_reply);
	assert_true(rr_rpc_peek(octets.data, 8, &xid, &type));
	assert_int_equal(xid, 0x81368326);
	assert_int_equal(type, RR_REPLY);
	assert_false(rr_rpc_peek(octets.data, 7, &xid, &type));
}

/* RFC 5531, 11: the highest-order bit marks the last fragment; the other bits are the length. */
static void
record_marks_are_made_as_they_are_read(void **state)
{
	(void)state;
	assert_int_equal(rr_record_mark(0x1234, false), 0x1234);
	assert_int_equal(rr_record_mark(0x1234, true), 0x80001234);
}

static const char *
call_holds(const uint8_t *data, size_t size, void *context)
{
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header call;
	uint8_t out[RR_RPC_CALL_HEADER_MAX];

	(void)context;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (!rr_rpc_get_call(&reader, &call))
		return NULL;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_call(&writer, &call);
	if (writer.failed || rpcrdma_xdr_length(&writer) != size - rpcrdma_xdr_left(&reader) ||
		!rr_same_but_for_padding(out, data, rpcrdma_xdr_length(&writer)))
		return "written again, the call is another one";
	return NULL;
}

static const char *
reply_holds(const uint8_t *data, size_t size, void *context)
{
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_reply_header reply;
	uint8_t out[RR_RPC_REPLY_HEADER_MAX + 8];

	(void)context;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (!rr_rpc_get_reply(&reader, &reply))
		return NULL;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rpc_put_reply(&writer, &reply);
	if (writer.failed || rpcrdma_xdr_length(&writer) != size - rpcrdma_xdr_left(&reader) ||
		!rr_same_but_for_padding(out, data, rpcrdma_xdr_length(&writer)))
		return "written again, the reply is another one";
	return NULL;
}

static const char *
auth_sys_holds(const uint8_t *data, size_t size, void *context)
{
	struct rpcrdma_xdr_writer writer;
	struct rr_auth_sys sys;
	uint8_t out[RR_AUTH_BODY_MAX];
	bool read = rr_auth_sys_get((struct rpcrdma_bytes){ data, (uint32_t)size }, &sys);

	(void)context;
	if (sys.gid_count > RR_AUTH_SYS_GIDS || sys.machine.length > RR_AUTH_SYS_NAME)
		return "more than the schema allows";
	if (!read)
		return NULL;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_auth_sys_put(&writer, &sys);
	if (writer.failed || rpcrdma_xdr_length(&writer) != size || !rr_same_but_for_padding(out, data, size))
		return "written again, the credential is another one";
	return NULL;
}

static void
mutations_hold(void **state)
{
	static const struct {
		const char *hex;
		rr_mutation_check check;
	} messages[] = {
		{ linux_call, call_holds },
		{ linux_reply, reply_holds },
		{ verified_reply, reply_holds },
		{ prog_mismatch, reply_holds },
		{ garbage_args, reply_holds },
		{ rpc_mismatch, reply_holds },
		{ auth_error, reply_holds },
		{ linux_credential, auth_sys_holds },
		{ "00000009 00000003 61626300 000003e8 000003e9 00000002 00000018 0000001b", auth_sys_holds },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		struct rr_octets message = rr_hex(messages[i].hex);

		rr_mutate(message.data, message.size, messages[i].check, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_call_up_to_its_arguments),
		cmocka_unit_test(writes_the_call_that_it_reads),
		cmocka_unit_test(the_largest_headers_fit_into_what_is_said),
		cmocka_unit_test(credentials_are_bounded),
		cmocka_unit_test(a_reply_is_no_call),
		cmocka_unit_test(another_rpc_version_is_told),
		cmocka_unit_test(replies_go_there_and_back),
		cmocka_unit_test(only_auth_stat_is_open),
		cmocka_unit_test(auth_sys_goes_there_and_back),
		cmocka_unit_test(auth_sys_is_bounded_and_exact),
		cmocka_unit_test(peek_tells_xid_and_direction),
		cmocka_unit_test(record_marks_are_made_as_they_are_read),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
