/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rpcrdma2.h"

#include "wire/rpcrdma1.h"

#define get_header rr_rdma2_get_header
#define put_header rr_rdma2_put_header
#include "header.h"

/* The specification: draft-cel-nfsv4-rpcrdma-version-two-00. */

#define RPC_CALL "00000007 00000000 00000002 000186a3"

static const char null_call[] = "00000007 00000002 00000020 00000000 00000000 00000000 00000000" RPC_CALL;
static const char all_lists[] = "00000007 00000002 00000020 00000000" ALL_LISTS RPC_CALL;
static const char nomsg[] = "00000007 00000002 00000020 00000001"
			    "00000001 00000000 00000011 00100000 0000000000001000 00000000 00000000 00000000";
static const char msgp[] = "00000007 00000002 00000020 00000002";
static const char rdma_done[] = "00000007 00000002 00000020 00000003";
static const char err_vers[] = "00000007 00000002 00000020 00000004 00000001 00000001 00000002";
static const char err_bad_header[] = "00000007 00000002 00000020 00000004 00000002";
static const char err_inval_option[] = "00000007 00000002 00000020 00000004 00000003";
static const char optional[] = "00000007 00000002 00000020 00000005 00000001 00000005 0102030405000000";
static const char optional_empty[] = "00000007 00000002 00000020 00000005 ffffffff 00000000";
static const char optional_payload[] =
	"00000007 00000002 00000020 00000005 00000009 00000004 01020304" RPC_CALL;

static const char *const messages[] = { null_call, all_lists, nomsg, msgp, rdma_done, err_vers,
	err_bad_header, err_inval_option, optional, optional_empty, optional_payload };

enum { MESSAGES = sizeof(messages) / sizeof(messages[0]) };

static void
reads_the_simplest_header(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(null_call, &target), RR_HEADER_OK);
	assert_msg(&target, 7, 2, 32);
}

static void
reads_every_list(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(all_lists, &target), RR_HEADER_OK);
	assert_all_lists(&target);
	assert_int_equal(rpcrdma_xdr_left(&target.reader), 16);
}

static void
reads_a_position_zero_chunk(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(nomsg, &target), RR_HEADER_OK);
	assert_int_equal(target.header.proc, RR_RDMA_NOMSG);
	assert_int_equal(target.lists.read_count, 1);
	assert_int_equal(target.reads[0].position, 0);
	assert_int_equal(target.reads[0].target.handle, 0x11);
	assert_int_equal(target.reads[0].target.length, 0x100000);
	assert_true(rpcrdma_xdr_done(&target.reader));
}

/* 4.2: "union rpcrdma2_error switch (rpcrdma2_errcode rdma_err)" has three cases. */
static void
errors_are_three(void **state)
{
	struct target target;
	char hex[64];

	(void)state;
	assert_err_vers(err_vers);
	assert_int_equal(get(err_bad_header, &target), RR_HEADER_OK);
	assert_int_equal(target.header.err, RR_ERR_BAD_HEADER);
	assert_int_equal(get(err_inval_option, &target), RR_HEADER_OK);
	assert_int_equal(target.header.err, RR_ERR_INVAL_OPTION);
	for (uint32_t err = 0; err < 9; err++) {
		snprintf(
			hex, sizeof(hex), "00000007 00000002 00000020 00000004 %08x", err == 0 ? 0 : err + 3);
		assert_int_equal(get(hex, &target), RR_HEADER_MALFORMED);
	}
}

/* 3.1: "The rdma_opttype field carries a 32-bit unsigned integer. [...] The rdma_optinfo field carries opaque
 * data." */
static void
optional_has_a_type_and_opaque_data(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(optional, &target), RR_HEADER_OK);
	assert_int_equal(target.header.opttype, 1);
	assert_int_equal(target.header.optinfo.length, 5);
	assert_ptr_equal(target.header.optinfo.data, octets.data + 24);
	assert_int_equal(rpcrdma_xdr_left(&target.reader), 0);
	assert_int_equal(get(optional_empty, &target), RR_HEADER_OK);
	assert_int_equal(target.header.opttype, UINT32_MAX);
	assert_int_equal(target.header.optinfo.length, 0);
}

static void
optional_data_stays_inside_the_message(void **state)
{
	struct target target;

	(void)state;
	for (size_t size = RR_RDMA_OPTIONAL_MIN; size < 32; size++) {
		octets = rr_hex(optional);
		assert_int_equal(get_octets(octets.data, size, &target), RR_HEADER_MALFORMED);
	}
	assert_int_equal(get("00000007 00000002 00000020 00000005 00000001 ffffffff 01020304", &target),
		RR_HEADER_MALFORMED);
	/* The padding of optional data may be any octets. */
	assert_int_equal(
		get("00000007 00000002 00000020 00000005 00000001 00000005 01020304 05000001", &target),
		RR_HEADER_OK);
}

/* 4.2: "When the rdma_proc field has the value RDMA_MSG, an RPC Payload Stream MUST follow the Transport
 * Header Stream in the Send buffer." */
static void
a_payload_follows_each_msg(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(rr_rdma2_payload(RR_RDMA_MSG), RR_PAYLOAD_ALWAYS);
	assert_int_equal(get("00000007 00000002 00000020 00000000 00000000 00000000 00000000", &target),
		RR_HEADER_MALFORMED);
}

/* 4.2: "When the rdma_proc field has the value RDMA_OPTIONAL, an RPC Payload Stream MAY follow the Transport
 * header Stream in the Send buffer." */
static void
a_payload_may_follow_optional(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(rr_rdma2_payload(RR_RDMA_OPTIONAL), RR_PAYLOAD_MAY);
	assert_int_equal(get(optional_payload, &target), RR_HEADER_OK);
	assert_int_equal(target.header.opttype, 9);
	assert_int_equal(rpcrdma_xdr_left(&target.reader), 16);
	assert_int_equal(rpcrdma_get_u32(&target.reader), 7);
}

/* 4.2: "When the rdma_proc field has any other value, an RPC Payload Stream MUST NOT follow the Transport
 * Header Stream." */
static void
no_payload_follows_any_other(void **state)
{
	static const char *const others[] = { nomsg, msgp, rdma_done, err_vers, err_bad_header,
		err_inval_option };
	struct target target;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		octets = rr_hex(others[i]);
		assert_int_equal(get_octets(octets.data, octets.size, &target), RR_HEADER_OK);
		assert_int_equal(rr_rdma2_payload(target.header.proc), RR_PAYLOAD_NEVER);
		for (size_t more = 1; more <= 16; more++)
			assert_int_equal(
				get_octets(octets.data, octets.size + more, &target), RR_HEADER_MALFORMED);
	}
	for (uint32_t proc = RR_RDMA_OPTIONAL + 1; proc < 20; proc++)
		assert_int_equal(rr_rdma2_payload(proc), RR_PAYLOAD_NEVER);
}

/* 4.2: "union rpcrdma2_body switch (rpcrdma2_proc rdma_proc)" has no default. */
static void
procedures_are_six(void **state)
{
	struct target target;
	char hex[128];

	(void)state;
	for (uint32_t proc = 6; proc < 40; proc++) {
		snprintf(
			hex, sizeof(hex), "00000007 00000002 00000020 %08x 00000000 00000000 00000000", proc);
		assert_int_equal(get(hex, &target), RR_HEADER_MALFORMED);
		assert_int_equal(target.header.xid, 7);
		assert_int_equal(target.header.proc, proc);
	}
}

/* "Error handling works the same way in RPC-over-RDMA Version Two": a message that is shorter than any header
 * of its kind is discarded. */
static void
short_messages_are_to_be_discarded(void **state)
{
	static const struct {
		const char *hex;
		size_t least;
	} cases[] = { { null_call, RR_RDMA_HEADER_MIN }, { nomsg, RR_RDMA_HEADER_MIN },
		{ msgp, RR_RDMA_FIXED_SIZE }, { rdma_done, RR_RDMA_FIXED_SIZE }, { err_vers, 20 },
		{ err_bad_header, 20 }, { optional, RR_RDMA_OPTIONAL_MIN } };
	struct target target;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		octets = rr_hex(cases[i].hex);
		for (size_t size = 0; size < cases[i].least; size++)
			assert_int_equal(get_octets(octets.data, size, &target), RR_HEADER_SHORT);
		assert_int_not_equal(get_octets(octets.data, cases[i].least, &target), RR_HEADER_SHORT);
	}
}

static void
a_list_that_breaks_off_is_malformed(void **state)
{
	(void)state;
	/* The whole header without its payload is malformed, too. */
	assert_breaking_off_is_malformed(all_lists, rr_hex(all_lists).size - 16 + 1);
}

static void
lists_of_the_message_before_are_gone(void **state)
{
	struct rr_octets done = rr_hex(rdma_done);
	struct rpcrdma_message message = { .stream = done.data, .length = (uint32_t)done.size };
	struct target target;

	(void)state;
	assert_int_equal(get(all_lists, &target), RR_HEADER_OK);
	rpcrdma_xdr_reader_init(&target.reader, &message, NULL);
	assert_int_equal(rr_rdma2_get_header(&target.reader, &target.header, &target.lists), RR_HEADER_OK);
	assert_int_equal(target.lists.read_count + target.lists.write_count + target.lists.segment_count, 0);
	assert_false(target.lists.has_reply);
}

static void
other_versions_are_told_with_their_fixed_words(void **state)
{
	struct target target;

	(void)state;
	for (uint32_t vers = 0; vers < 6; vers++) {
		octets = rr_hex(null_call);
		octets.data[7] = (uint8_t)vers;
		assert_int_equal(get_octets(octets.data, octets.size, &target),
			vers == 2 ? RR_HEADER_OK : RR_HEADER_VERS);
		assert_int_equal(target.header.vers, vers);
	}
}

static enum rr_header_result
get_any(const char *hex, uint32_t highest, struct target *target)
{
	struct rpcrdma_message message;

	get(hex, target);
	message = (struct rpcrdma_message){ .stream = octets.data, .length = (uint32_t)octets.size };
	rpcrdma_xdr_reader_init(&target->reader, &message, NULL);
	return rr_rdma_get_any_header(&target->reader, highest, &target->header, &target->lists);
}

static void
either_version_is_read_up_to_the_highest(void **state)
{
	static const char one[] = "00000007 00000001 00000020 00000000 00000000 00000000 00000000" RPC_CALL;
	static const char three[] = "00000007 00000003 00000020 00000000 00000000 00000000 00000000" RPC_CALL;
	struct target target;

	(void)state;
	assert_int_equal(get_any(one, 1, &target), RR_HEADER_OK);
	assert_int_equal(get_any(one, 2, &target), RR_HEADER_OK);
	assert_int_equal(get_any(null_call, 1, &target), RR_HEADER_VERS);
	assert_int_equal(get_any(null_call, 2, &target), RR_HEADER_OK);
	assert_ptr_equal(target.reader.next, octets.data + RR_RDMA_HEADER_MIN);
	assert_int_equal(get_any(three, 2, &target), RR_HEADER_VERS);
	assert_int_equal(get_any(optional, 2, &target), RR_HEADER_OK);
	assert_int_equal(get_any("00000007 00000002 000000", 2, &target), RR_HEADER_SHORT);
}

static void
either_version_is_written(void **state)
{
	struct rr_rdma_header header = { .xid = 7, .credit = 32, .proc = RR_RDMA_ERROR };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[64];

	(void)state;
	header.err = RR_ERR_INVAL_OPTION;
	header.vers = RR_RPCRDMA_VERSION_1; /* version 1 has no such error */
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	assert_true(writer.failed);
	header.vers = RR_RPCRDMA_VERSION_2;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	assert_false(writer.failed);
	assert_memory_equal(out, rr_hex(err_inval_option).data, 20);
}

static void
writes_what_it_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < MESSAGES; i++)
		assert_written_as_read(messages[i]);
}

static void
what_there_is_not_is_not_written(void **state)
{
	static const struct rr_rdma_header wrong[] = {
		{ .vers = 2, .proc = RR_RDMA_ERROR, .err = 0 },
		{ .vers = 2, .proc = RR_RDMA_ERROR, .err = 4 },
		{ .vers = 2, .proc = 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_not_written(&wrong[i]);
}

static void
mutations_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < MESSAGES; i++) {
		struct rr_octets message = rr_hex(messages[i]);

		rr_mutate(message.data, message.size, header_holds, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_simplest_header),
		cmocka_unit_test(reads_every_list),
		cmocka_unit_test(reads_a_position_zero_chunk),
		cmocka_unit_test(errors_are_three),
		cmocka_unit_test(optional_has_a_type_and_opaque_data),
		cmocka_unit_test(optional_data_stays_inside_the_message),
		cmocka_unit_test(a_payload_follows_each_msg),
		cmocka_unit_test(a_payload_may_follow_optional),
		cmocka_unit_test(no_payload_follows_any_other),
		cmocka_unit_test(procedures_are_six),
		cmocka_unit_test(short_messages_are_to_be_discarded),
		cmocka_unit_test(a_list_that_breaks_off_is_malformed),
		cmocka_unit_test(lists_of_the_message_before_are_gone),
		cmocka_unit_test(other_versions_are_told_with_their_fixed_words),
		cmocka_unit_test(either_version_is_read_up_to_the_highest),
		cmocka_unit_test(either_version_is_written),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(what_there_is_not_is_not_written),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
