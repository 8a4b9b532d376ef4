/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rpcrdma1.h"

#define get_header rr_rdma_get_header
#define put_header rr_rdma_put_header
#include "header.h"

/* Headers of Linux, client and server, with the first words of the RPC message where one follows. */
#define RPC_CALL "00000000 00000002 000186a3"

static const char linux_null[] =
	"81368326 00000001 00000080 00000000 00000000 00000000 00000000 81368326" RPC_CALL;
static const char linux_reply_chunk[] =
	"8a368326 00000001 00000080 00000000 00000000 00000000"
	"00000001 00000003 12e6d301 00000100 8a36832685b91800"
	"da99b801 00007000 8a3683269e8c3000 318eb801 00000004 8a36832685b91900"
	"8a368326" RPC_CALL;
static const char linux_nomsg[] = "8a368326 00000001 00000040 00000001 00000000 00000000"
				  "00000001 00000003 12e6d301 00000088 8a36832685b91800"
				  "da99b801 00000000 8a3683269e8c3000 318eb801 00000000 8a36832685b91900";
static const char linux_read_chunk[] =
	"92368326 00000001 00000080 00000000"
	"00000001 00000070 53a8b701 000093e1 9236832685648000 00000000 00000000 00000000"
	"92368326" RPC_CALL;
static const char linux_write_chunk[] =
	"4e9a6f4a 00000001 00000040 00000000 00000000"
	"00000001 00000001 48dd6401 0000000a 4e9a6f4a85481000 00000000 00000000"
	"4e9a6f4a 00000001 00000000";

static const char all_lists[] = "00000007 00000001 00000020 00000000" ALL_LISTS "00000007 00000000";

static const char err_vers[] = "00000007 00000001 00000020 00000004 00000001 00000001 00000002";
static const char err_chunk[] = "00000007 00000001 00000020 00000004 00000002";
static const char rdma_done[] = "00000007 00000001 00000020 00000003";

static const char *const messages[] = { linux_null, linux_reply_chunk, linux_nomsg, linux_read_chunk,
	linux_write_chunk, all_lists, err_vers, err_chunk, rdma_done };

enum { MESSAGES = sizeof(messages) / sizeof(messages[0]) };

static void
reads_the_simplest_header(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(linux_null, &target), RR_HEADER_OK);
	assert_msg(&target, 0x81368326, 1, 128);
}

static void
reads_a_reply_chunk(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(linux_nomsg, &target), RR_HEADER_OK);
	assert_int_equal(target.header.proc, RR_RDMA_NOMSG);
	assert_true(target.lists.has_reply);
	assert_int_equal(target.lists.reply.count, 3);
	assert_ptr_equal(target.lists.reply.segments, target.segments);
	assert_int_equal(target.segments[1].handle, 0xda99b801);
	assert_int_equal(target.segments[2].offset, 0x8a36832685b91900);
	assert_int_equal(rr_chunk_length(&target.lists.reply), 0x88);
	assert_true(rpcrdma_xdr_done(&target.reader));
}

static void
reads_a_read_chunk(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(linux_read_chunk, &target), RR_HEADER_OK);
	assert_int_equal(target.lists.read_count, 1);
	assert_int_equal(target.reads[0].position, 0x70);
	assert_int_equal(target.reads[0].target.handle, 0x53a8b701);
	assert_int_equal(target.reads[0].target.length, 37857);
	assert_int_equal(target.reads[0].target.offset, 0x9236832685648000);
}

static void
reads_every_list(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(all_lists, &target), RR_HEADER_OK);
	assert_all_lists(&target);
	assert_int_equal(rpcrdma_xdr_left(&target.reader), 8);
}

/* RFC 8166, 4: "it MUST be XDR encoded." */
static void
writes_what_it_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < MESSAGES; i++)
		assert_written_as_read(messages[i]);
}

static void
no_lists_are_three_times_not_present(void **state)
{
	struct rr_rdma_header header = { .xid = 7, .vers = 1, .credit = 32 };
	struct rr_octets expected = rr_hex("00000007 00000001 00000020 00000000 00000000 00000000 00000000");
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_RDMA_HEADER_MIN];

	(void)state;
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_header(&writer, &header, NULL);
	assert_false(writer.failed);
	assert_memory_equal(out, expected.data, sizeof(out));
}

/* RFC 8166, 4.5: "not as long as a minimal size RPC-over-RDMA header (28 bytes) ... MUST silently discard".
 */
static void
short_messages_are_to_be_discarded(void **state)
{
	struct rr_octets message = rr_hex(linux_null);
	struct target target;

	(void)state;
	for (size_t size = 0; size < RR_RDMA_HEADER_MIN; size++)
		assert_int_equal(get_octets(message.data, size, &target), RR_HEADER_SHORT);
	assert_int_equal(get_octets(message.data, RR_RDMA_HEADER_MIN, &target), RR_HEADER_OK);
	message = rr_hex("00000007 00000009 00000020 00000000 00000000 00000000 00000000");
	assert_int_equal(get_octets(message.data, RR_RDMA_HEADER_MIN - 1, &target), RR_HEADER_SHORT);
}

/* Messages that are shorter than that, but complete by the XDR of RFC 8166, 4.1.2, are read. */
static void
errors_and_done_may_be_shorter(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get(err_chunk, &target), RR_HEADER_OK);
	assert_int_equal(target.header.err, RR_ERR_CHUNK);
	assert_int_equal(get_octets(octets.data, 19, &target), RR_HEADER_SHORT);
	assert_int_equal(get(rdma_done, &target), RR_HEADER_OK);
	assert_int_equal(get_octets(octets.data, 15, &target), RR_HEADER_SHORT);
}

static void
errors_tell_their_kind_and_range(void **state)
{
	struct target target;

	(void)state;
	assert_err_vers(err_vers);
	/* "A receiver MUST silently discard an RDMA_ERROR procedure that it cannot decode." */
	assert_int_equal(get("00000007 00000001 00000020 00000004 00000003", &target), RR_HEADER_MALFORMED);
	assert_int_equal(get("00000007 00000001 00000020 00000004 00000000", &target), RR_HEADER_MALFORMED);
}

static void
an_unknown_error_is_not_written(void **state)
{
	const struct rr_rdma_header header = { .vers = 1, .proc = RR_RDMA_ERROR, .err = 3 };

	(void)state;
	assert_not_written(&header);
}

static void
another_version_is_told_with_its_fixed_words(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get("00000007 00000002 00000020 00000005 ffffffff ffffffff ffffffff", &target),
		RR_HEADER_VERS);
	assert_int_equal(target.header.xid, 7);
	assert_int_equal(target.header.vers, 2);
	assert_int_equal(target.header.proc, 5);
	assert_int_equal(get("00000007 00000002 00000020 00000004 00000001 00000001 00000001", &target),
		RR_HEADER_VERS);
	assert_int_equal(target.header.proc, RR_RDMA_ERROR); /* to which there is no answer */
}

static void
of_other_procedures_the_fixed_words_are_read(void **state)
{
	static const uint32_t procs[] = { RR_RDMA_MSGP, RR_RDMA_DONE, 5, UINT32_MAX };
	struct target target;

	(void)state;
	for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
		char hex[64];

		snprintf(hex, sizeof(hex), "00000007 00000001 00000020 %08x 00000001 00000001 00000001",
			procs[i]);
		assert_int_equal(get(hex, &target), RR_HEADER_OK);
		assert_int_equal(target.header.proc, procs[i]);
		assert_int_equal(target.lists.read_count, 0);
		assert_int_equal(rpcrdma_xdr_left(&target.reader), 12);
	}
}

/* RFC 8166, 3.4.5: "The value in this field MUST be a multiple of four." */
static void
positions_are_multiples_of_four(void **state)
{
	struct rr_octets message = rr_hex(linux_read_chunk);
	struct target target;

	(void)state;
	for (uint8_t position = 0; position < 8; position++) {
		message.data[23] = position;
		assert_int_equal(get_octets(message.data, message.size, &target),
			position % 4 == 0 ? RR_HEADER_OK : RR_HEADER_MALFORMED);
	}
}

static void
a_list_goes_on_with_one_and_ends_with_zero(void **state)
{
	struct rr_octets message = rr_hex(linux_null);
	struct target target;

	(void)state;
	for (size_t word = 16; word < RR_RDMA_HEADER_MIN; word += 4) {
		message.data[word + 3] = 2;
		assert_int_equal(get_octets(message.data, message.size, &target), RR_HEADER_MALFORMED);
		message.data[word + 3] = 0;
	}
}

static void
a_list_that_breaks_off_is_malformed(void **state)
{
	(void)state;
	assert_breaking_off_is_malformed(all_lists, rr_hex(all_lists).size - 8);
}

/* A count that the message cannot hold is malformed; a count that only the caller's arrays cannot hold is a
 * limit. */
static void
counts_are_not_trusted(void **state)
{
	struct target target;

	(void)state;
	assert_int_equal(get("00000007 00000001 00000020 00000000 00000000 00000000 00000001 ffffffff"
			     "00000000 00000000 0000000000000000",
				 &target),
		RR_HEADER_MALFORMED);
	assert_int_equal(get("00000007 00000001 00000020 00000000 00000000 00000001 10000001 00000000"
			     "00000000 00000000 0000000000000000",
				 &target),
		RR_HEADER_MALFORMED);
	assert_int_equal(get("00000007 00000001 00000020 00000001 00000000 00000000 00000001 00000002"
			     "00000000 00000000 0000000000000000 00000000 00000000 000000000000",
				 &target),
		RR_HEADER_MALFORMED);
}

static void
the_arrays_of_the_caller_are_the_limit(void **state)
{
	struct rr_octets message = rr_hex(all_lists);
	struct target target;

	(void)state;
	for (uint32_t less = 0; less < 3; less++) {
		struct rpcrdma_message whole = { .stream = message.data, .length = (uint32_t)message.size };

		get(all_lists, &target);
		target.lists.read_max -= less == 0;
		target.lists.write_max -= less == 1;
		target.lists.segment_max -= less == 2;
		rpcrdma_xdr_reader_init(&target.reader, &whole, NULL);
		assert_int_equal(
			rr_rdma_get_header(&target.reader, &target.header, &target.lists), RR_HEADER_LIMIT);
		assert_int_equal(target.header.xid, 7);
		assert_false(target.lists.has_reply);
	}
}

static void
arrays_may_be_missing(void **state)
{
	struct rr_octets message =
		rr_hex("00000007 00000001 00000020 00000000 00000000 00000000 00000001 00000000");
	struct rpcrdma_message whole = { .stream = message.data, .length = (uint32_t)message.size };
	struct rr_chunk_lists lists = { 0 };
	struct rpcrdma_xdr_reader reader;
	struct rr_rdma_header header;

	(void)state;
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	assert_int_equal(rr_rdma_get_header(&reader, &header, &lists), RR_HEADER_OK);
	assert_true(lists.has_reply);
	assert_int_equal(lists.reply.count, 0);
}

static void
sizes_are_those_of_headers(void **state)
{
	(void)state;
	assert_int_equal(rr_rdma_header_size(0, 0, false, 0), 28);
	assert_int_equal(rr_rdma_header_size(0, 0, true, 1), 48);
	assert_int_equal(rr_rdma_header_size(1, 0, false, 0), 52);
	assert_int_equal(rr_rdma_header_size(0, 1, false, 1), 52);
	assert_int_equal(rr_rdma_header_size(0, 0, true, 3), 80);
	assert_int_equal(rr_rdma_header_size(3, 3, true, 7), rr_hex(all_lists).size - 8);
	assert_int_equal(rr_rdma_header_size(UINT32_MAX, UINT32_MAX, true, UINT32_MAX), UINT32_MAX);
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
		cmocka_unit_test(reads_a_reply_chunk),
		cmocka_unit_test(reads_a_read_chunk),
		cmocka_unit_test(reads_every_list),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(no_lists_are_three_times_not_present),
		cmocka_unit_test(short_messages_are_to_be_discarded),
		cmocka_unit_test(errors_and_done_may_be_shorter),
		cmocka_unit_test(errors_tell_their_kind_and_range),
		cmocka_unit_test(an_unknown_error_is_not_written),
		cmocka_unit_test(another_version_is_told_with_its_fixed_words),
		cmocka_unit_test(of_other_procedures_the_fixed_words_are_read),
		cmocka_unit_test(positions_are_multiples_of_four),
		cmocka_unit_test(a_list_goes_on_with_one_and_ends_with_zero),
		cmocka_unit_test(a_list_that_breaks_off_is_malformed),
		cmocka_unit_test(counts_are_not_trusted),
		cmocka_unit_test(the_arrays_of_the_caller_are_the_limit),
		cmocka_unit_test(arrays_may_be_missing),
		cmocka_unit_test(sizes_are_those_of_headers),
		cmocka_unit_test(mutations_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
