/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <rpcrdma/xdr.h>
#include <string.h>

#define ITEMS(...) ((const struct rpcrdma_item[]){ __VA_ARGS__ })

static struct rpcrdma_xdr_reader
reader_of(const void *stream, uint32_t length, const struct rpcrdma_item *items, uint32_t item_count)
{
	struct rpcrdma_message message = { stream, length, item_count, items };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	return reader;
}

static void
numbers_come_back_as_they_were_written(void **state)
{
	uint8_t memory[44];
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_xdr_reader reader;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), NULL, 0);
	rpcrdma_put_u32(&writer, 0x01020304);
	rpcrdma_put_i32(&writer, -2);
	rpcrdma_put_u64(&writer, UINT64_C(0x0102030405060708));
	rpcrdma_put_i64(&writer, INT64_MIN);
	rpcrdma_put_bool(&writer, true);
	rpcrdma_put_bool(&writer, false);
	rpcrdma_put_float(&writer, -0.5f);
	rpcrdma_put_double(&writer, 1e300);
	assert_false(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), sizeof(memory));
	assert_memory_equal(memory, "\1\2\3\4\xff\xff\xff\xfe\1\2\3\4\5\6\7\10", 16);

	reader = reader_of(memory, sizeof(memory), NULL, 0);
	assert_int_equal(rpcrdma_get_u32(&reader), 0x01020304);
	assert_int_equal(rpcrdma_get_i32(&reader), -2);
	assert_true(rpcrdma_get_u64(&reader) == UINT64_C(0x0102030405060708));
	assert_true(rpcrdma_get_i64(&reader) == INT64_MIN);
	assert_true(rpcrdma_get_bool(&reader));
	assert_false(rpcrdma_get_bool(&reader));
	assert_true(rpcrdma_get_float(&reader) == -0.5f);
	assert_false(rpcrdma_xdr_done(&reader));
	assert_true(rpcrdma_get_double(&reader) == 1e300);
	assert_true(rpcrdma_xdr_done(&reader));
}

static void
a_failed_reader_returns_zeroes_for_good(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 7, 0, 0, 0, 9, 0, 0 };
	struct rpcrdma_xdr_reader reader = reader_of(stream, sizeof(stream), NULL, 0);
	uint8_t fixed[4] = { 1, 1, 1, 1 };
	struct rpcrdma_bytes bytes;

	(void)state;
	assert_int_equal(rpcrdma_get_u32(&reader), 7);
	assert_true(rpcrdma_get_u64(&reader) == 0); /* six octets are left */
	assert_true(reader.failed);
	assert_int_equal(rpcrdma_xdr_left(&reader), 0);
	assert_int_equal(rpcrdma_get_u32(&reader), 0);
	assert_int_equal(rpcrdma_get_count(&reader, 10, 0), 0);
	rpcrdma_get_fixed(&reader, fixed, 4);
	assert_memory_equal(fixed, "\0\0\0\0", 4);
	bytes = rpcrdma_get_item(&reader, 10);
	assert_null(bytes.data);
	assert_int_equal(bytes.length, 0);
	assert_false(rpcrdma_xdr_done(&reader));
}

static void
a_boolean_is_zero_or_one(void **state)
{
	const uint8_t stream[] = { 0, 0, 0, 2 };
	struct rpcrdma_xdr_reader reader = reader_of(stream, sizeof(stream), NULL, 0);

	(void)state;
	assert_false(rpcrdma_get_bool(&reader));
	assert_true(reader.failed);
}

static void
opaque_data_is_read_by_reference(void **state)
{
	const char stream[] = "\0\0\0\5hello\0\0\0\0\0\0\0\0\0\0\4four";
	struct rpcrdma_xdr_reader reader = reader_of(stream, 24, NULL, 0);
	struct rpcrdma_bytes bytes = rpcrdma_get_bytes(&reader, 5);

	(void)state;
	assert_ptr_equal(bytes.data, stream + 4);
	assert_int_equal(bytes.length, 5);
	bytes = rpcrdma_get_bytes(&reader, 5);
	assert_int_equal(bytes.length, 0);
	assert_false(reader.failed);
	bytes = rpcrdma_get_item(&reader, 5);
	assert_ptr_equal(bytes.data, stream + 20);
	assert_int_equal(bytes.length, 4);
	assert_true(rpcrdma_xdr_done(&reader));
}

static void
opaque_data_longer_than_allowed_or_there_fails(void **state)
{
	const char stream[] = "\0\0\0\5hello\0\0\0";
	struct rpcrdma_xdr_reader reader = reader_of(stream, 12, NULL, 0);

	(void)state;
	rpcrdma_get_bytes(&reader, 4);
	assert_true(reader.failed);
	reader = reader_of(stream, 11, NULL, 0); /* a part of the padding is missing */
	rpcrdma_get_bytes(&reader, 5);
	assert_true(reader.failed);
	reader = reader_of("\xff\xff\xff\xff\0\0\0", 8, NULL, 0);
	rpcrdma_get_bytes(&reader, UINT32_MAX);
	assert_true(reader.failed);
}

/* RFC 8166, 8.2.2.3: "XDR padding octets are often zero bytes, but they don't have to be." */
static void
padding_may_be_any_octets(void **state)
{
	uint8_t fixed[5];
	struct rpcrdma_xdr_reader reader;

	(void)state;
	for (int i = 0; i < 3; i++) {
		char stream[] = "\0\0\0\5hello\0\0\0";

		stream[9 + i] = 'x';
		reader = reader_of(stream, 12, NULL, 0);
		assert_int_equal(rpcrdma_get_bytes(&reader, 5).length, 5);
		assert_true(rpcrdma_xdr_done(&reader));
		reader = reader_of(stream, 12, NULL, 0);
		assert_int_equal(rpcrdma_get_item(&reader, 5).length, 5);
		assert_true(rpcrdma_xdr_done(&reader));
		reader = reader_of(stream + 4, 8, NULL, 0);
		rpcrdma_get_fixed(&reader, fixed, 5);
		assert_true(rpcrdma_xdr_done(&reader));
		assert_memory_equal(fixed, "hello", 5);
	}
}

static void
a_reduced_item_is_found_by_its_offset(void **state)
{
	const char stream[] = "\0\0\0\1\0\0\0\5\0\0\0\2";
	struct rpcrdma_xdr_reader reader = reader_of(stream, 12, ITEMS({ "hello", 5, 8 }), 1);
	struct rpcrdma_bytes bytes;

	(void)state;
	assert_int_equal(rpcrdma_get_u32(&reader), 1);
	bytes = rpcrdma_get_item(&reader, 5);
	assert_ptr_equal(bytes.data, reader.items_end[-1].data);
	assert_int_equal(bytes.length, 5);
	assert_int_equal(rpcrdma_get_u32(&reader), 2); /* no padding in the stream */
	assert_true(rpcrdma_xdr_done(&reader));
}

/* RFC 8166, section 3.4.5.2: "the chunk's total length MUST be the sum of the encoded length of the data item
 * and the length of the roundup padding" or "the same as the encoded length" */
static void
a_reduced_item_has_the_length_of_its_length_word_or_its_padding_too(void **state)
{
	(void)state;
	for (uint32_t length = 0; length <= 12; length++) {
		struct rpcrdma_item item = { "octets and more", length, 4 };
		struct rpcrdma_xdr_reader reader = reader_of("\0\0\0\5", 4, &item, 1);
		struct rpcrdma_bytes bytes = rpcrdma_get_item(&reader, 100);

		assert_int_equal(bytes.length, length == 5 || length == 8 ? 5 : 0);
		assert_int_equal(rpcrdma_xdr_done(&reader), length == 5 || length == 8);
	}
}

static void
an_item_nobody_asked_for_is_not_done(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of("\0\0\0\1\0\0\0\0", 8, ITEMS({ "x", 1, 4 }), 1);

	(void)state;
	/* The stream has a number at the offset of the item. */
	rpcrdma_get_u32(&reader);
	rpcrdma_get_item(&reader, 5);
	assert_false(reader.failed);
	assert_int_equal(rpcrdma_xdr_left(&reader), 0);
	assert_false(rpcrdma_xdr_done(&reader));

	/* The offset of the item is behind the end of the stream. */
	reader = reader_of("", 0, ITEMS({ "x", 1, 4 }), 1);
	assert_false(rpcrdma_xdr_done(&reader));
	reader = reader_of("", 0, ITEMS({ "x", 1, RPCRDMA_ITEM_NEXT }), 1);
	assert_false(rpcrdma_xdr_done(&reader));
}

static void
an_empty_item_nobody_asked_for_does_no_harm(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of(
		"\0\0\0\1\0\0\0\3\0\0\0\0", 12, ITEMS({ "", 0, 4 }, { "abc", 3, 8 }, { "", 0, 12 }), 3);

	(void)state;
	rpcrdma_get_u32(&reader);
	assert_int_equal(rpcrdma_get_item(&reader, 5).length, 3);
	rpcrdma_get_u32(&reader);
	assert_true(rpcrdma_xdr_done(&reader));
}

static void
an_item_of_a_write_chunk_is_the_next_marked_one(void **state)
{
	const struct rpcrdma_item item = { "hello", 5, RPCRDMA_ITEM_NEXT };
	struct rpcrdma_xdr_reader reader = reader_of("\0\0\0\1\0\0\0\5", 8, &item, 1);

	(void)state;
	rpcrdma_get_u32(&reader);
	assert_ptr_equal(rpcrdma_get_item(&reader, 5).data, item.data);
	assert_true(rpcrdma_xdr_done(&reader));

	/* An item of a Write chunk must have the length of the length word, without padding. */
	reader = reader_of("\0\0\0\3", 4, &item, 1);
	rpcrdma_get_item(&reader, 5);
	assert_true(reader.failed);
	reader = reader_of("\0\0\0\1", 4, ITEMS({ "a\0\0", 4, RPCRDMA_ITEM_NEXT }), 1);
	rpcrdma_get_item(&reader, 5);
	assert_true(reader.failed);
}

/* RFC 8166, 4.3.2.2: "If there is a subsequent DDP-eligible result data item in the RPC Reply message, it
 * MUST be placed in that unconsumed Write chunk." */
static void
an_empty_opaque_leaves_the_write_chunk_to_the_next(void **state)
{
	const struct rpcrdma_item item = { "hello", 5, RPCRDMA_ITEM_NEXT };
	struct rpcrdma_xdr_reader reader = reader_of("\0\0\0\0\0\0\0\5", 8, &item, 1);

	(void)state;
	assert_int_equal(rpcrdma_get_item(&reader, 5).length, 0);
	assert_ptr_equal(rpcrdma_get_item(&reader, 5).data, item.data);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_int_equal(reader.inlined, 0);
	/* The next opaque may be in the stream, too. */
	reader = reader_of("\0\0\0\0\0\0\0\4four", 12, NULL, 0);
	rpcrdma_get_item(&reader, 5);
	rpcrdma_get_item(&reader, 5);
	assert_true(rpcrdma_xdr_done(&reader));
	assert_int_equal(reader.inlined, 1);
}

static void
an_unused_write_chunk_leaves_its_item_in_the_stream(void **state)
{
	struct rpcrdma_xdr_reader reader = reader_of("\0\0\0\4four\0\0\0\2", 12,
		ITEMS({ NULL, 0, RPCRDMA_ITEM_NEXT }, { "by", 2, RPCRDMA_ITEM_NEXT }), 2);
	struct rpcrdma_bytes bytes = rpcrdma_get_item(&reader, 5);

	(void)state;
	assert_int_equal(bytes.length, 4);
	assert_memory_equal(bytes.data, "four", 4);
	assert_int_equal(rpcrdma_get_item(&reader, 5).length, 2);
	assert_true(rpcrdma_xdr_done(&reader));
}

static void
arrays_come_zeroed_and_aligned_from_the_arena_until_it_is_full(void **state)
{
	enum { ALIGN = _Alignof(max_align_t) }; /* 16 octets, or 8 on some machines of 32 bits */
	_Alignas(ALIGN) uint8_t memory[48 + ALIGN];
	struct rpcrdma_arena arena = rpcrdma_arena(memory, sizeof(memory));
	struct rpcrdma_xdr_reader reader = reader_of("", 0, NULL, 0);
	uint8_t *array;

	(void)state;
	memset(memory, 0xff, sizeof(memory));
	reader.arena = &arena;
	array = rpcrdma_get_array(&reader, 3, 1);
	assert_ptr_equal(array, memory);
	assert_memory_equal(array, "\0\0\0\xff", 4);
	array = rpcrdma_get_array(&reader, 4, 8);
	assert_ptr_equal(array, memory + ALIGN);
	assert_null(rpcrdma_get_array(&reader, 0, 8));
	assert_false(reader.failed);
	assert_ptr_equal(rpcrdma_get_array(&reader, 1, 16), memory + ALIGN + 32);
	assert_null(rpcrdma_get_array(&reader, 1, 1));
	assert_true(reader.failed);
}

static void
alignment_takes_from_the_arena_too(void **state)
{
	enum { ALIGN = _Alignof(max_align_t) };
	_Alignas(ALIGN) uint8_t memory[2 * ALIGN];
	struct rpcrdma_arena arena = rpcrdma_arena(memory + 1, 2 * ALIGN - 2);
	struct rpcrdma_xdr_reader reader = reader_of("", 0, NULL, 0);

	(void)state;
	reader.arena = &arena;
	/* One element more than there is room behind the first aligned octet. */
	assert_null(rpcrdma_get_array(&reader, 1, ALIGN));
	assert_true(reader.failed);
	arena = rpcrdma_arena(memory + 1, 2 * ALIGN - 1);
	reader = reader_of("", 0, NULL, 0);
	reader.arena = &arena;
	assert_ptr_equal(rpcrdma_get_array(&reader, 1, ALIGN), memory + ALIGN);
}

static void
arrays_without_an_arena_or_of_absurd_size_fail(void **state)
{
	uint8_t memory[16];
	struct rpcrdma_arena arena = rpcrdma_arena(memory, sizeof(memory));
	struct rpcrdma_xdr_reader reader = reader_of("", 0, NULL, 0);

	(void)state;
	assert_null(rpcrdma_get_array(&reader, 1, 1));
	assert_true(reader.failed);
	reader = reader_of("", 0, NULL, 0);
	reader.arena = &arena;
	assert_null(rpcrdma_get_array(&reader, UINT32_MAX, SIZE_MAX / 2));
	assert_true(reader.failed);
}

static void
a_count_is_bounded_by_the_schema_and_by_what_the_stream_can_hold(void **state)
{
	const char stream[] = "\0\0\0\2eightbyt";
	struct rpcrdma_xdr_reader reader = reader_of(stream, 12, NULL, 0);

	(void)state;
	assert_int_equal(rpcrdma_get_count(&reader, 2, 4), 2);
	assert_false(reader.failed);
	reader = reader_of(stream, 12, NULL, 0);
	assert_int_equal(rpcrdma_get_count(&reader, 1, 4), 0);
	assert_true(reader.failed);
	reader = reader_of(stream, 12, NULL, 0);
	assert_int_equal(rpcrdma_get_count(&reader, 100, 5), 0);
	assert_true(reader.failed);
	reader = reader_of("\xff\xff\xff\xff", 4, NULL, 0);
	assert_int_equal(rpcrdma_get_count(&reader, UINT32_MAX, UINT32_MAX), 0);
	assert_true(reader.failed);
}

static void
a_writer_without_room_writes_nothing_more(void **state)
{
	uint8_t memory[8] = { 9, 9, 9, 9, 9, 9, 9, 9 };
	struct rpcrdma_item items[1];
	struct rpcrdma_xdr_writer writer;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, 7, items, 1);
	rpcrdma_put_u32(&writer, 1);
	rpcrdma_put_u32(&writer, 2);
	assert_true(writer.failed);
	rpcrdma_put_fixed(&writer, "abc", 3);
	rpcrdma_put_item(&writer, (struct rpcrdma_bytes){ "abc", 3 }, 3);
	assert_int_equal(rpcrdma_xdr_length(&writer), 4);
	assert_int_equal(writer.item_count, 0);
	assert_memory_equal(memory, "\0\0\0\1\t\t\t\t", 8);
}

static void
nothing_longer_than_the_schema_allows_is_written(void **state)
{
	uint8_t memory[64];
	struct rpcrdma_xdr_writer writer;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), NULL, 0);
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ "abc", 3 }, 2);
	assert_true(writer.failed);
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), NULL, 0);
	rpcrdma_put_item(&writer, (struct rpcrdma_bytes){ "abc", 3 }, 2);
	assert_true(writer.failed);
	assert_int_equal(rpcrdma_xdr_length(&writer), 0);
}

/* RFC 8166, 3.4.4.1: "the count of array elements MUST remain in the Payload stream". 3.4.4.4: "the sender
 * MUST remove XDR roundup padding for that data item from the Payload stream". */
static void
items_are_recorded_while_there_is_room_and_then_copied(void **state)
{
	uint8_t memory[64];
	struct rpcrdma_item items[1];
	const struct rpcrdma_bytes first = { "hello", 5 }, second = { "world", 5 };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message message;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), items, 1);
	rpcrdma_put_u64(&writer, UINT64_C(7) << 32);
	rpcrdma_put_item(&writer, first, 5);
	rpcrdma_put_item(&writer, second, 5);
	assert_false(writer.failed);

	message = rpcrdma_xdr_written(&writer);
	assert_int_equal(message.length, 24);
	assert_memory_equal(message.stream, "\0\0\0\7\0\0\0\0\0\0\0\5\0\0\0\5world\0\0\0", 24);
	assert_int_equal(message.item_count, 1);
	assert_ptr_equal(message.items[0].data, first.data);
	assert_int_equal(message.items[0].length, 5);
	assert_int_equal(message.items[0].offset, 12);
}

/* RFC 8267, 6.4.1: "The first chunk in the Write list MUST be used by the first READ operation in an NFS
 * version 4 COMPOUND procedure. The next Write chunk is used by the next READ operation": item i is for chunk
 * i, also where the first READ returns nothing. */
static void
an_item_of_no_octets_keeps_its_place(void **state)
{
	uint8_t memory[64];
	struct rpcrdma_item items[2];
	const struct rpcrdma_bytes empty = { NULL, 0 }, second = { "world", 5 };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message message;
	struct rpcrdma_xdr_reader reader;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), items, 2);
	rpcrdma_put_item(&writer, empty, 5);
	rpcrdma_put_item(&writer, second, 5);
	message = rpcrdma_xdr_written(&writer);
	assert_int_equal(message.item_count, 2);
	assert_int_equal(message.items[0].length, 0);
	assert_int_equal(message.items[0].offset, 4);
	assert_int_equal(message.items[1].length, 5);
	assert_int_equal(message.items[1].offset, 8);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_int_equal(rpcrdma_get_item(&reader, 5).length, 0);
	assert_ptr_equal(rpcrdma_get_item(&reader, 5).data, second.data);
	assert_true(rpcrdma_xdr_done(&reader));
}

static void
what_is_written_with_items_is_read_with_items(void **state)
{
	uint8_t memory[64];
	struct rpcrdma_item items[2];
	const struct rpcrdma_bytes first = { "hello", 5 }, second = { "you", 3 };
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message message;
	struct rpcrdma_xdr_reader reader;

	(void)state;
	rpcrdma_xdr_writer_init(&writer, memory, sizeof(memory), items, 2);
	rpcrdma_put_item(&writer, first, 5);
	rpcrdma_put_item(&writer, second, 5);
	message = rpcrdma_xdr_written(&writer);
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	assert_ptr_equal(rpcrdma_get_item(&reader, 5).data, first.data);
	assert_ptr_equal(rpcrdma_get_item(&reader, 5).data, second.data);
	assert_true(rpcrdma_xdr_done(&reader));
}

/* On a machine of 32 bits, the sum of such a length and its padding would wrap to a few octets. */
static void
a_length_that_its_padding_takes_past_32_bits_is_refused(void **state)
{
	(void)state;
	for (uint32_t length = UINT32_MAX; length >= UINT32_MAX - 8; length--) {
		uint8_t stream[16] = { 0 };
		struct rpcrdma_xdr_reader reader = reader_of(stream, sizeof(stream), NULL, 0);
		struct rpcrdma_bytes bytes;

		memset(stream, 0xff, 3);
		stream[3] = (uint8_t)length;
		bytes = rpcrdma_get_bytes(&reader, UINT32_MAX);
		assert_null(bytes.data);
		assert_int_equal(bytes.length, 0);
		assert_true(reader.failed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back_as_they_were_written),
		cmocka_unit_test(a_failed_reader_returns_zeroes_for_good),
		cmocka_unit_test(a_boolean_is_zero_or_one),
		cmocka_unit_test(opaque_data_is_read_by_reference),
		cmocka_unit_test(opaque_data_longer_than_allowed_or_there_fails),
		cmocka_unit_test(padding_may_be_any_octets),
		cmocka_unit_test(a_reduced_item_is_found_by_its_offset),
		cmocka_unit_test(a_reduced_item_has_the_length_of_its_length_word_or_its_padding_too),
		cmocka_unit_test(an_item_nobody_asked_for_is_not_done),
		cmocka_unit_test(an_empty_item_nobody_asked_for_does_no_harm),
		cmocka_unit_test(an_item_of_a_write_chunk_is_the_next_marked_one),
		cmocka_unit_test(an_empty_opaque_leaves_the_write_chunk_to_the_next),
		cmocka_unit_test(an_unused_write_chunk_leaves_its_item_in_the_stream),
		cmocka_unit_test(arrays_come_zeroed_and_aligned_from_the_arena_until_it_is_full),
		cmocka_unit_test(alignment_takes_from_the_arena_too),
		cmocka_unit_test(arrays_without_an_arena_or_of_absurd_size_fail),
		cmocka_unit_test(a_count_is_bounded_by_the_schema_and_by_what_the_stream_can_hold),
		cmocka_unit_test(a_length_that_its_padding_takes_past_32_bits_is_refused),
		cmocka_unit_test(a_writer_without_room_writes_nothing_more),
		cmocka_unit_test(nothing_longer_than_the_schema_allows_is_written),
		cmocka_unit_test(items_are_recorded_while_there_is_room_and_then_copied),
		cmocka_unit_test(an_item_of_no_octets_keeps_its_place),
		cmocka_unit_test(what_is_written_with_items_is_read_with_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
