/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/gss.h"

#include "../mutate.h"

/* A credential of Linux for a call by krb5i; what creates a context, and the answer; arguments of two words
 * with a checksum of 6 octets, and sealed ones. */
static const char data_cred[] = "00000001 00000000 00000007 00000002 00000004 0a0b0c0d";
static const char init_cred[] = "00000001 00000001 00000000 00000001 00000000";
static const char init_arg[] = "00000005 6001020304000000";
static const char init_res[] = "00000003 01020300 00000000 00000000 00000400 00000002 60ff0000";
static const char integ[] = "0000000c 00000007 0000abcd 00000001 00000006 0102030405060000";
static const char sealed_data[] = "0000000a 00112233445566778899 0000";

static struct rr_octets octets;

static struct rpcrdma_message
message_of(const char *hex)
{
	octets = rr_hex(hex);
	return (struct rpcrdma_message){ .stream = octets.data, .length = (uint32_t)octets.size };
}

static struct rpcrdma_bytes
bytes_of(const char *hex)
{
	octets = rr_hex(hex);
	return (struct rpcrdma_bytes){ octets.data, (uint32_t)octets.size };
}

static void
reads_and_writes_credentials(void **state)
{
	struct rr_gss_cred cred;
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_AUTH_BODY_MAX];

	(void)state;
	assert_true(rr_gss_get_cred(bytes_of(init_cred), &cred));
	assert_int_equal(cred.proc, RR_GSS_INIT);
	assert_int_equal(cred.handle.length, 0);
	assert_true(rr_gss_get_cred(bytes_of(data_cred), &cred));
	assert_int_equal(cred.version, RR_GSS_VERSION);
	assert_int_equal(cred.proc, RR_GSS_DATA);
	assert_int_equal(cred.seq_num, 7);
	assert_int_equal(cred.service, RR_GSS_SVC_INTEGRITY);
	assert_int_equal(cred.handle.length, 4);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_gss_put_cred(&writer, &cred);
	assert_int_equal(rpcrdma_xdr_length(&writer), octets.size);
	assert_memory_equal(out, octets.data, octets.size);
}

/* RFC 2203, 5: of other versions, only the number is known. */
static void
reads_the_version_of_others(void **state)
{
	struct rr_gss_cred cred;

	(void)state;
	assert_true(rr_gss_get_cred(bytes_of("00000003 ffffffff 00"), &cred));
	assert_int_equal(cred.version, 3);
	assert_false(rr_gss_get_cred(bytes_of("000000"), &cred));
}

static void
the_largest_handle_fills_a_credential(void **state)
{
	static const uint8_t handle[RR_GSS_HANDLE_MAX + 1];
	struct rr_gss_cred cred = { .handle = { handle, RR_GSS_HANDLE_MAX } };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_AUTH_BODY_MAX];

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_gss_put_cred(&writer, &cred);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), RR_AUTH_BODY_MAX);
	cred.handle.length++;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_gss_put_cred(&writer, &cred);
	assert_true(writer.failed);
}

static void
reads_and_writes_what_creates_a_context(void **state)
{
	struct rpcrdma_message message = message_of(init_arg);
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_gss_init_arg arg;
	struct rr_gss_init_res res;
	uint8_t out[64];

	(void)state;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	rr_gss_get_init_arg(&reader, &arg);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_int_equal(arg.token.length, 5);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_gss_put_init_arg(&writer, &arg);
	assert_memory_equal(out, octets.data, octets.size);

	message = message_of(init_res);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	rr_gss_get_init_res(&reader, &res);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_int_equal(res.handle.length, 3);
	assert_int_equal(res.seq_window, 1024);
	assert_int_equal(res.token.length, 2);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_gss_put_init_res(&writer, &res);
	assert_int_equal(rpcrdma_xdr_length(&writer), octets.size);
	assert_memory_equal(out, octets.data, octets.size);
}

/* RFC 2203, 5.3.2.2: "seq_num must have the same value as in the credential." */
static void
finds_what_was_wrapped(void **state)
{
	struct rpcrdma_message message = message_of(integ);
	struct rpcrdma_bytes data, checksum, body;

	(void)state;
	assert_true(rr_gss_get_integ(&message, &data, &checksum));
	assert_int_equal(data.length, 12);
	assert_int_equal(checksum.length, 6);
	assert_true(rr_gss_get_data(data, 7, &body));
	assert_int_equal(body.length, 8);
	assert_ptr_equal(body.data, octets.data + 8);
	assert_false(rr_gss_get_data(data, 8, &body));
	data.length = 4;
	assert_true(rr_gss_get_data(data, 7, &body));
	assert_int_equal(body.length, 0);
	data.length = 6;
	assert_false(rr_gss_get_data(data, 7, &body));
	data.length = 0;
	assert_false(rr_gss_get_data(data, 7, &body));
	message = message_of(sealed_data);
	assert_true(rr_gss_get_priv(&message, &data));
	assert_int_equal(data.length, 10);
	message = message_of("0000000a 00112233445566778899 0000 00000000");
	assert_false(rr_gss_get_priv(&message, &data));
}

static void
writes_lengths_behind_what_they_count(void **state)
{
	struct rpcrdma_xdr_writer writer;
	uint8_t out[24];
	size_t at;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rpcrdma_put_u32(&writer, 1);
	at = rr_gss_begin_data(&writer, 8, 7);
	rpcrdma_put_u32(&writer, 0xabcd);
	memset(out + 8, 0xee, 8);
	rr_gss_end_data(&writer, at);
	octets = rr_hex("00000001 00000010 eeeeeeeeeeeeeeee 00000007 0000abcd");
	assert_int_equal(rpcrdma_xdr_length(&writer), octets.size);
	assert_memory_equal(out, octets.data, octets.size);
	at = rr_gss_begin_data(&writer, 8, 7);
	assert_true(writer.failed);
	rr_gss_end_data(&writer, at);
	assert_memory_equal(out, octets.data, octets.size);
}

/* Tells whether the octets lie inside of the data; none lie anywhere. */
static bool
inside(struct rpcrdma_bytes bytes, const uint8_t *data, size_t size)
{
	const uint8_t *start = bytes.data;

	return bytes.length == 0 || (start >= data && start + bytes.length <= data + size);
}

static const char *
read_anything(const uint8_t *data, size_t size, void *context)
{
	const struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rr_gss_cred cred;
	struct rr_gss_init_arg arg;
	struct rr_gss_init_res res;
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_bytes bytes, checksum, body;

	(void)context;
	if (rr_gss_get_cred((struct rpcrdma_bytes){ data, (uint32_t)size }, &cred) &&
		!inside(cred.handle, data, size))
		return "a handle outside of the credential";
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	rr_gss_get_init_arg(&reader, &arg);
	if (rpcrdma_xdr_done(&reader) && !inside(arg.token, data, size))
		return "a token outside of the message";
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	rr_gss_get_init_res(&reader, &res);
	if (rpcrdma_xdr_done(&reader) && !(inside(res.token, data, size) && inside(res.handle, data, size)))
		return "an answer outside of the message";
	if (rr_gss_get_integ(&message, &bytes, &checksum) &&
		!(inside(bytes, data, size) && inside(checksum, data, size)))
		return "arguments outside of the message";
	if (rr_gss_get_priv(&message, &bytes) && !inside(bytes, data, size))
		return "sealed arguments outside of the message";
	if (rr_gss_get_data((struct rpcrdma_bytes){ data, (uint32_t)size }, 7, &body) &&
		!inside(body, data, size))
		return "a body outside of the message";
	return NULL;
}

static void
bit_flips_and_truncations_are_read_within_bounds(void **state)
{
	static const char *const all[] = { data_cred, init_cred, init_arg, init_res, integ, sealed_data };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		octets = rr_hex(all[i]);
		rr_mutate(octets.data, octets.size, read_anything, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes_credentials),
		cmocka_unit_test(reads_the_version_of_others),
		cmocka_unit_test(the_largest_handle_fills_a_credential),
		cmocka_unit_test(reads_and_writes_what_creates_a_context),
		cmocka_unit_test(finds_what_was_wrapped),
		cmocka_unit_test(writes_lengths_behind_what_they_count),
		cmocka_unit_test(bit_flips_and_truncations_are_read_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
