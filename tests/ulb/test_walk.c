/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a walk does not know, items in wrong places, and the estimates of replies. */
#include "../test.h"
#include "../words.h"

#include <string.h>

#include "ulb/binding.h"
#include "ulb/estimate.h"
#include "ulb/nfs42.h"

enum { COMPOUND = NFSPROC4_COMPOUND, BEFORE = 12 /* status, tag, count */ };

static uint8_t stream[1024];
static struct rr_walk_item items[8];
static struct rr_ulb_items found = { .items = items, .max = 8 };

static void
begin_call(uint32_t minor, uint32_t count)
{
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	put(0);
	put(minor);
	put(count);
}

static void
begin_reply(uint32_t count)
{
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	put(0);
	put(0);
	put(count);
}

/* Returns a reader of the message that was written, with the items that were taken out of it. */
static struct rpcrdma_xdr_reader
reader_of(const struct rpcrdma_item *taken, uint32_t count)
{
	const struct rpcrdma_message message = { stream, (uint32_t)rpcrdma_xdr_length(&writer), count,
		taken };
	struct rpcrdma_xdr_reader reader;

	assert_false(writer.failed);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	return reader;
}

static enum rr_walk_answer
walk_call(const struct rpcrdma_item *taken, uint32_t count)
{
	struct rpcrdma_xdr_reader reader = reader_of(taken, count);

	return rr_ulb_walk_call(rr_ulb_find(100003, 4), COMPOUND, &reader, &found);
}

static enum rr_walk_answer
walk_reply(const struct rpcrdma_item *taken, uint32_t count)
{
	struct rpcrdma_xdr_reader reader = reader_of(taken, count);

	return rr_ulb_walk_reply(rr_ulb_find(100003, 4), COMPOUND, &reader, &found);
}

static void
put_write(uint32_t length, bool data)
{
	put(OP_WRITE);
	put_zeroes(7);
	put(length);
	put_zeroes(data ? (length + 3) / 4 : 0);
}

/* ---- Unknown messages ---- */

static void
an_unknown_operation_ends_the_walk(void **state)
{
	(void)state;
	for (uint32_t operation = 0; operation < 100; operation++) {
		if (operation >= OP_ACCESS && operation <= OP_REMOVEXATTR)
			continue;
		begin_call(1, 2);
		put_write(8, true);
		put(operation);
		put_zeroes(8);
		assert_int_equal(walk_call(NULL, 0), RR_WALK_UNKNOWN);
		begin_reply(1);
		put(operation);
		assert_int_equal(walk_reply(NULL, 0), RR_WALK_UNKNOWN);
	}
}

static void
a_later_minor_version_is_unknown(void **state)
{
	(void)state;
	begin_call(2, 1);
	put_write(8, true);
	assert_int_equal(walk_call(NULL, 0), RR_WALKED);
	assert_int_equal(found.count, 1);
	begin_call(3, 1);
	put_write(8, true);
	assert_int_equal(walk_call(NULL, 0), RR_WALK_UNKNOWN);
}

static void
a_procedure_that_is_not_there_is_unknown(void **state)
{
	struct rpcrdma_xdr_reader reader;

	(void)state;
	begin_call(0, 0);
	reader = reader_of(NULL, 0);
	assert_int_equal(rr_ulb_walk_call(rr_ulb_find(100003, 4), 2, &reader, &found), RR_WALK_UNKNOWN);
	assert_int_equal(rr_ulb_walk_reply(rr_ulb_find(100021, 4), 17, &reader, &found), RR_WALK_UNKNOWN);
	assert_null(rr_ulb_find(100003, 5));
	assert_null(rr_ulb_find(1, 3));
}

static void
what_is_behind_the_last_operation_is_unknown(void **state)
{
	(void)state;
	begin_call(1, 1);
	put_write(8, true);
	put(0);
	assert_int_equal(walk_call(NULL, 0), RR_WALK_UNKNOWN);
}

/* A count of operations that the message cannot hold takes no time. */
static void
counts_are_not_believed(void **state)
{
	(void)state;
	begin_call(1, UINT32_MAX);
	put_write(8, true);
	assert_int_equal(walk_call(NULL, 0), RR_WALK_UNKNOWN);
	begin_call(1, 1);
	put(OP_TEST_STATEID);
	put(UINT32_MAX);
	put_zeroes(4);
	assert_int_equal(walk_call(NULL, 0), RR_WALK_UNKNOWN);
}

/* Writes an EXCHANGE_ID with this many implementation identifiers. */
static void
put_exchange_id(uint32_t implementations)
{
	put(OP_EXCHANGE_ID);
	put_zeroes(3);
	put(0);
	put(SP4_NONE);
	put(implementations);
	put_zeroes(implementations * 5);
}

static void
lengths_beyond_the_schema_are_unknown(void **state)
{
	(void)state;
	for (uint32_t length = NFS4_FHSIZE; length <= NFS4_FHSIZE + 4; length += 4) {
		begin_call(1, 1);
		put(OP_PUTFH);
		put(length);
		put_zeroes(length / 4);
		assert_int_equal(walk_call(NULL, 0), length == NFS4_FHSIZE ? RR_WALKED : RR_WALK_UNKNOWN);
	}
	for (uint32_t count = 0; count < 4; count++) {
		begin_call(1, 1);
		put_exchange_id(count);
		assert_int_equal(walk_call(NULL, 0), count <= 1 ? RR_WALKED : RR_WALK_UNKNOWN);
	}
}

/* RFC 4506, 4.4 and 4.19: the flag in front of optional data is TRUE or FALSE. */
static void
flags_are_true_or_false(void **state)
{
	(void)state;
	for (uint32_t flag = 0; flag < 4; flag++) {
		begin_reply(1);
		put(OP_READDIR);
		put_zeroes(3);
		put(flag);
		if (flag) {
			put_zeroes(5);
			put(flag);
			put_zeroes(6);
		}
		put(1);
		assert_int_equal(walk_reply(NULL, 0), flag <= 1 ? RR_WALKED : RR_WALK_UNKNOWN);
	}
}

/* ---- Items in wrong places ---- */

static void
a_read_chunk_belongs_where_an_item_is(void **state)
{
	struct rpcrdma_item item = { stream, 100, 0 };

	(void)state;
	begin_call(1, 2);
	put_write(100, false);
	put(OP_GETFH);
	for (item.offset = 0; item.offset <= rpcrdma_xdr_length(&writer) + 4; item.offset++) {
		bool right = item.offset == BEFORE + 36;

		assert_int_equal(walk_call(&item, 1), right ? RR_WALKED : RR_WALK_MISPLACED);
	}
	item.offset = BEFORE + 36;
	assert_int_equal(walk_call(&item, 1), RR_WALKED);
	assert_int_equal(found.count, 1);
	assert_true(items[0].reduced);
	item.length = 96;
	assert_int_not_equal(walk_call(&item, 1), RR_WALKED);
}

/* RFC 8166, 6.1: "A Requester reduces a non-DDP-eligible argument data item." */
static void
a_name_may_not_be_reduced(void **state)
{
	const struct rpcrdma_item item = { stream, 100, BEFORE + 8 };

	(void)state;
	begin_call(1, 1);
	put(OP_LOOKUP);
	put(100);
	assert_int_equal(walk_call(&item, 1), RR_WALK_MISPLACED);
}

static void
nothing_is_reduced_where_nothing_is_marked(void **state)
{
	const struct rpcrdma_item item = { stream, 100, 4 };
	struct rpcrdma_xdr_reader reader;

	(void)state;
	begin_call(0, 0);
	reader = reader_of(&item, 1);
	assert_int_equal(rr_ulb_walk_call(rr_ulb_find(100021, 4), 1, &reader, &found), RR_WALK_MISPLACED);
}

/* ---- Results ---- */

static void
put_read(uint32_t length)
{
	put(OP_READ);
	put(NFS4_OK);
	put(1);
	put(length);
}

static void
failed_and_empty_results_are_counted(void **state)
{
	(void)state;
	begin_reply(4);
	put_read(0);
	put(OP_READ_PLUS);
	put(NFS4_OK);
	put(1);
	put(1);
	put(NFS4_CONTENT_HOLE);
	put_zeroes(4);
	put_read(4);
	put(0);
	put(OP_READLINK);
	put(NFS4ERR_INVAL);
	assert_int_equal(walk_reply(NULL, 0), RR_WALKED);
	assert_int_equal(found.results, 3); /* READ_PLUS is no READ operation of RFC 8267, 6.1 */
	assert_int_equal(found.count, 2);
	assert_int_equal(items[0].result, 0);
	assert_int_equal(items[0].length, 0);
	assert_int_equal(items[1].result, 1);
	assert_int_equal(items[1].length, 4);
}

static void
a_write_chunk_that_nothing_asked_for_is_misplaced(void **state)
{
	const struct rpcrdma_item item[] = { { stream, 8, RPCRDMA_ITEM_NEXT },
		{ stream, 8, RPCRDMA_ITEM_NEXT } };

	(void)state;
	begin_reply(1);
	put_read(8);
	assert_int_equal(walk_reply(item, 1), RR_WALKED);
	assert_int_equal(walk_reply(item, 2), RR_WALK_MISPLACED);
}

/* ---- Estimates ---- */

static struct rr_reply_size
estimate(uint32_t prog, uint32_t vers, uint32_t proc)
{
	struct rpcrdma_xdr_reader reader = reader_of(NULL, 0);
	struct rr_reply_size size;

	assert_true(rr_ulb_reply_size(rr_ulb_find(prog, vers), proc, &reader, &size));
	return size;
}

static void
put_getattr(uint32_t word0, uint32_t word1, uint32_t word2)
{
	put(OP_GETATTR);
	put(3);
	put(word0);
	put(word1);
	put(word2);
}

static void
the_arguments_of_a_read_bound_its_data(void **state)
{
	struct rr_reply_size size;

	(void)state;
	begin_call(1, 3);
	put(OP_PUTROOTFH);
	put(OP_READ);
	put_zeroes(6);
	put(65536);
	put(OP_READLINK);
	size = estimate(100003, 4, COMPOUND);
	assert_int_equal(size.min, BEFORE);
	assert_int_equal(size.max, BEFORE + (4 + 4) + (4 + 4 + 4 + 4) + (4 + 4 + 4));
	assert_int_equal(size.result_count, 2);
	assert_int_equal(size.results[0], 65536);
	assert_int_equal(size.results[1], RPCRDMA_XDR_UNBOUNDED);
}

static void
attributes_are_counted_by_their_bits(void **state)
{
	(void)state;
	begin_call(1, 1);
	put_getattr(1u << FATTR4_TYPE | 1u << FATTR4_SIZE, 1u << (FATTR4_MODE - 32), 0);
	assert_int_equal(estimate(100003, 4, COMPOUND).max, BEFORE + 4 + 4 + 16 + 4 + 4 + 8 + 4);
}

/* RFC 8267, 6.2: these attributes have "no protocol-specified size limit" */
static void
some_attributes_cannot_be_estimated(void **state)
{
	static const uint32_t unknown[] = { FATTR4_ACL, FATTR4_FS_LOCATIONS, FATTR4_DACL, FATTR4_SACL,
		FATTR4_FS_LAYOUT_TYPES, FATTR4_FS_LOCATIONS_INFO, FATTR4_SEC_LABEL, 95 };

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		uint32_t words[3] = { 0 };

		words[unknown[i] / 32] = 1u << unknown[i] % 32;
		begin_call(2, 1);
		put_getattr(words[0], words[1], words[2]);
		assert_int_equal(estimate(100003, 4, COMPOUND).max, RPCRDMA_XDR_UNBOUNDED);
	}
}

static void
counts_in_arguments_bound_results(void **state)
{
	(void)state;
	begin_call(1, 1);
	put(OP_READDIR);
	put_zeroes(5);
	put(1000);
	put(0);
	assert_int_equal(estimate(100003, 4, COMPOUND).max, BEFORE + 4 + 4 + 1000);
	begin_call(2, 1);
	put(OP_LISTXATTRS);
	put_zeroes(2);
	put(1000);
	assert_int_equal(estimate(100003, 4, COMPOUND).max, BEFORE + 4 + 4 + 1000);
	begin_call(2, 1);
	put(OP_LISTXATTRS);
	put_zeroes(2);
	put(UINT32_MAX - 8);
	assert_int_equal(estimate(100003, 4, COMPOUND).max, RPCRDMA_XDR_UNBOUNDED);
}

static void
a_call_that_cannot_be_walked_has_no_estimate(void **state)
{
	struct rpcrdma_xdr_reader reader;
	struct rr_reply_size size;

	(void)state;
	begin_call(1, 1);
	put(99);
	reader = reader_of(NULL, 0);
	assert_false(rr_ulb_reply_size(rr_ulb_find(100003, 4), COMPOUND, &reader, &size));
	assert_int_equal(size.min, 0);
	assert_int_equal(size.max, RPCRDMA_XDR_UNBOUNDED);
}

static void
legacy_versions_are_estimated(void **state)
{
	(void)state;
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	put_zeroes(9);
	put(100000);
	put(0);
	assert_int_equal(estimate(100003, 2, 6).results[0], 8192);
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	put(4);
	put_zeroes(3);
	put(32768);
	assert_int_equal(estimate(100003, 3, 6).results[0], 32768);
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	put(4);
	put(0);
	put(1);
	assert_int_equal(estimate(100227, 3, 1).max, RPCRDMA_XDR_UNBOUNDED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_operation_ends_the_walk),
		cmocka_unit_test(a_later_minor_version_is_unknown),
		cmocka_unit_test(a_procedure_that_is_not_there_is_unknown),
		cmocka_unit_test(what_is_behind_the_last_operation_is_unknown),
		cmocka_unit_test(counts_are_not_believed),
		cmocka_unit_test(lengths_beyond_the_schema_are_unknown),
		cmocka_unit_test(flags_are_true_or_false),
		cmocka_unit_test(a_read_chunk_belongs_where_an_item_is),
		cmocka_unit_test(a_name_may_not_be_reduced),
		cmocka_unit_test(nothing_is_reduced_where_nothing_is_marked),
		cmocka_unit_test(failed_and_empty_results_are_counted),
		cmocka_unit_test(a_write_chunk_that_nothing_asked_for_is_misplaced),
		cmocka_unit_test(the_arguments_of_a_read_bound_its_data),
		cmocka_unit_test(attributes_are_counted_by_their_bits),
		cmocka_unit_test(some_attributes_cannot_be_estimated),
		cmocka_unit_test(counts_in_arguments_bound_results),
		cmocka_unit_test(a_call_that_cannot_be_walked_has_no_estimate),
		cmocka_unit_test(legacy_versions_are_estimated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
