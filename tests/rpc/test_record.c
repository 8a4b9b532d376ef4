/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "carrier/tcp/record.h"
#include "wire/rpc.h"

enum { IN_PLACE = 64, MAX = 1000 };

/* The octets of a stream, and the records that came out of it. */
struct stream {
	uint8_t octets[65536];
	uint32_t length;
	struct rr_record record;
	uint8_t room[MAX];
	uint8_t whole[MAX];
	uint32_t whole_length;
	bool in_place;
	uint32_t
		piece; /* octets by which the memory of the record grows; 0: it gets all its memory at once */
};

static void
put_fragment(struct stream *stream, const void *data, uint32_t length, bool last)
{
	rr_put_be32(stream->octets + stream->length, rr_record_mark(length, last));
	memcpy(stream->octets + stream->length + 4, data, length);
	stream->length += 4 + length;
}

/* Returns how much memory the record gets next: all that it needs, or one more piece. */
static uint32_t
next_room(const struct stream *stream)
{
	uint32_t room = stream->record.room + stream->piece;

	return stream->piece > 0 && room < stream->record.wanted ? room : stream->record.wanted;
}

/* Offers the octets in steps, as a reader does: octets that were not taken are offered again. */
static enum rr_record_result
take_in_steps(struct stream *stream, uint32_t step)
{
	uint32_t from = 0, to = 0;

	for (;;) {
		struct rpcrdma_bytes in = { stream->octets + from, to - from }, whole;
		enum rr_record_result result = rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole);

		from = to - in.length;
		if (result == RR_RECORD_ROOM) {
			assert_true(stream->record.wanted <= MAX);
			rr_record_room(&stream->record, stream->room, next_room(stream));
			continue;
		}
		if (result == RR_RECORD_WHOLE || result == RR_RECORD_SKIPPED) {
			stream->whole_length = whole.length;
			memcpy(stream->whole, whole.data, whole.length);
			stream->in_place = whole.data != stream->room;
			memmove(stream->octets, stream->octets + from, stream->length - from);
			stream->length -= from;
			return result;
		}
		if (result == RR_RECORD_LARGE) {
			memmove(stream->octets, stream->octets + from, stream->length - from);
			stream->length -= from;
		}
		if (result != RR_RECORD_MORE || to == stream->length)
			return result;
		to = to + step < stream->length ? to + step : stream->length;
	}
}

static uint8_t sample[4 * MAX];

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct stream));
	for (uint32_t i = 0; i < sizeof(sample); i++)
		sample[i] = (uint8_t)(i * 7 + 1);
	return *state ? 0 : -1;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

static void
a_small_record_is_found_in_place(void **state)
{
	struct stream *stream = *state;

	for (uint32_t length = 0; length <= IN_PLACE - 4; length++) {
		for (uint32_t step = 1; step < 8; step++) {
			put_fragment(stream, sample, length, true);
			assert_int_equal(take_in_steps(stream, step), RR_RECORD_WHOLE);
			assert_true(stream->in_place);
			assert_int_equal(stream->whole_length, length);
			assert_memory_equal(stream->whole, sample, length);
			assert_int_equal(stream->length, 0);
		}
	}
}

static void
a_large_record_is_gathered(void **state)
{
	struct stream *stream = *state;

	for (uint32_t length = IN_PLACE - 3; length <= MAX; length += 37) {
		put_fragment(stream, sample, length, true);
		assert_int_equal(take_in_steps(stream, 11), RR_RECORD_WHOLE);
		assert_false(stream->in_place);
		assert_int_equal(stream->whole_length, length);
		assert_memory_equal(stream->whole, sample, length);
	}
}

/* RFC 5531, 11: "A record is composed of one or more record fragments." */
static void
fragments_make_one_record_wherever_they_are_cut(void **state)
{
	struct stream *stream = *state;

	for (uint32_t cut = 0; cut <= 90; cut++) {
		put_fragment(stream, sample, cut, false);
		put_fragment(stream, sample + cut, (90 - cut) / 2, false);
		put_fragment(stream, sample + cut + (90 - cut) / 2, 90 - cut - (90 - cut) / 2, true);
		put_fragment(stream, sample, 5, true); /* the next record must not be touched */
		assert_int_equal(take_in_steps(stream, 1 + cut % 7), RR_RECORD_WHOLE);
		assert_int_equal(stream->whole_length, 90);
		assert_memory_equal(stream->whole, sample, 90);
		assert_int_equal(take_in_steps(stream, 3), RR_RECORD_WHOLE);
		assert_int_equal(stream->whole_length, 5);
	}
}

static void
octets_may_be_read_into_the_record_directly(void **state)
{
	struct stream *stream = *state;
	struct rpcrdma_bytes in = { stream->octets, 4 }, whole;
	uint32_t octets;

	put_fragment(stream, sample, 100, true);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_ROOM);
	assert_null(rr_record_direct(&stream->record, &octets));
	assert_int_equal(stream->record.wanted, 100);
	rr_record_room(&stream->record, stream->room, 100);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_MORE);
	assert_ptr_equal(rr_record_direct(&stream->record, &octets), stream->room);
	memcpy(stream->room, sample, 60);
	rr_record_filled(&stream->record, 60);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_MORE);
	memcpy(rr_record_direct(&stream->record, &octets), sample + 60, 40);
	rr_record_filled(&stream->record, 40);
	assert_null(rr_record_direct(&stream->record, &octets));
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_WHOLE);
	assert_int_equal(whole.length, 100);
	assert_memory_equal(whole.data, sample, 100);
}

static void
a_record_gets_its_memory_piece_by_piece(void **state)
{
	struct stream *stream = *state;
	struct rpcrdma_bytes in = { stream->octets, 4 + 10 }, whole;
	uint32_t octets;

	put_fragment(stream, sample, 100, true);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_ROOM);
	rr_record_room(&stream->record, stream->room, 10);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_MORE);
	assert_null(rr_record_direct(&stream->record, &octets));
	in.length = 1;
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_ROOM);
	rr_record_room(&stream->record, stream->room, 25);
	assert_int_equal(rr_record_take(&stream->record, &in, IN_PLACE, MAX, &whole), RR_RECORD_MORE);
	assert_ptr_equal(rr_record_direct(&stream->record, &octets), stream->room + 11);
	assert_int_equal(octets, 14);
	for (uint32_t piece = 1; piece < 50; piece++) {
		stream->record = (struct rr_record){ 0 };
		stream->length = 0;
		stream->piece = piece;
		put_fragment(stream, sample, 40, false);
		put_fragment(stream, sample + 40, 0, false);
		put_fragment(stream, sample + 40, 60, true);
		assert_int_equal(take_in_steps(stream, 1 + piece % 5), RR_RECORD_WHOLE);
		assert_int_equal(stream->whole_length, 100);
		assert_memory_equal(stream->whole, sample, 100);
	}
}

static void
a_record_longer_than_allowed_is_refused_at_its_mark(void **state)
{
	static const uint32_t lengths[] = { MAX + 1, 0x7fffffff };
	struct stream *stream = *state;

	for (int i = 0; i < 4; i++) {
		*stream = (struct stream){ 0 };
		rr_put_be32(stream->octets, rr_record_mark(lengths[i / 2], i % 2));
		stream->length = 4;
		assert_int_equal(take_in_steps(stream, 4), RR_RECORD_LARGE);
	}
}

static void
fragments_that_add_up_to_too_much_are_refused(void **state)
{
	struct stream *stream = *state;

	put_fragment(stream, sample, 600, false);
	rr_put_be32(stream->octets + stream->length, rr_record_mark(401, true));
	stream->length += 4;
	assert_int_equal(take_in_steps(stream, 100), RR_RECORD_LARGE);
	/* The same holds if the sum would wrap around. */
	*stream = (struct stream){ 0 };
	put_fragment(stream, sample, 600, false);
	rr_put_be32(stream->octets + stream->length, 0xffffffff);
	stream->length += 4;
	assert_int_equal(take_in_steps(stream, 100), RR_RECORD_LARGE);
}

/* Does as a reader does that gives the memory back: the record ends with RR_RECORD_SKIPPED. */
static void
assert_skipped(struct stream *stream, uint32_t step, uint32_t head_length)
{
	assert_int_equal(take_in_steps(stream, step), RR_RECORD_LARGE);
	stream->record.data = NULL;
	assert_int_equal(take_in_steps(stream, step), RR_RECORD_SKIPPED);
	assert_int_equal(stream->whole_length, head_length);
	assert_memory_equal(stream->whole, sample, head_length);
	assert_int_equal(take_in_steps(stream, step), RR_RECORD_WHOLE);
	assert_int_equal(stream->whole_length, 20);
	assert_memory_equal(stream->whole, sample, 20);
}

/* In whatever fragments the record comes, only its first octets are kept, and the record behind it is
 * whole. */
static void
a_record_longer_than_allowed_is_skipped(void **state)
{
	struct stream *stream = *state;
	static const struct {
		uint32_t count, lengths[4];
	} divided[] = { { 1, { 3000 } }, { 2, { 600, 401 } }, { 3, { 3, 3, 3000 } }, { 4, { 0, 2, 1500, 0 } },
		{ 4, { 600, 600, 600, 600 } } };

	for (size_t i = 0; i < sizeof(divided) / sizeof(*divided); i++) {
		for (uint32_t step = 1; step < 5000; step = step * 3 + 1) {
			uint32_t at = 0;

			*stream = (struct stream){ 0 };
			for (uint32_t j = 0; j < divided[i].count; at += divided[i].lengths[j++])
				put_fragment(stream, sample + at, divided[i].lengths[j],
					j + 1 == divided[i].count);
			put_fragment(stream, sample, 20, true);
			assert_skipped(stream, step, RR_RECORD_HEAD);
		}
	}
}

static void
empty_fragments_do_not_go_on_for_ever(void **state)
{
	struct stream *stream = *state;

	for (uint32_t i = 0; i < RR_RECORD_FRAGMENTS; i++)
		put_fragment(stream, sample, 0, false);
	assert_int_equal(take_in_steps(stream, 1000), RR_RECORD_MORE);
	stream->length = 0;
	put_fragment(stream, sample, 1, true);
	assert_int_equal(take_in_steps(stream, 1000), RR_RECORD_SHREDDED);
}

/* The octets that gather() returns for a message, after any number of skipped octets, are the end of the
 * whole record. */
static void
a_record_is_gathered_from_any_octet(void **state)
{
	static const uint8_t expected[] = { 0x80, 0, 0, 24, 1, 2, 3, 4, 'a', 'b', 'c', 'd', 'e', 0, 0, 0, 5,
		6, 7, 8, 'x', 'y', 'z', 0, 9, 10, 11, 12 };
	static const uint8_t stream[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	const struct rpcrdma_item items[] = { { "abcde", 5, 4 }, { "xyz", 3, 8 }, { "", 0, 12 } };
	const struct rpcrdma_message message = { stream, sizeof(stream), 3, items };
	uint8_t mark[4];

	(void)state;
	assert_int_equal(rr_record_length(&message), 24);
	rr_put_be32(mark, rr_record_mark(24, true));
	for (uint32_t skip = 0; skip <= sizeof(expected); skip++) {
		struct iovec iov[16];
		uint8_t octets[sizeof(expected)];
		uint64_t total = 0;
		uint32_t at = 0, count = rr_record_gather(mark, &message, skip, iov, 16, &total);

		for (uint32_t i = 0; i < count; i++) {
			assert_true(iov[i].iov_len > 0);
			memcpy(octets + at, iov[i].iov_base, iov[i].iov_len);
			at += (uint32_t)iov[i].iov_len;
		}
		assert_int_equal(total, at);
		assert_int_equal(at, sizeof(expected) - skip);
		assert_memory_equal(octets, expected + skip, at);
	}
}

static void
a_gather_with_too_few_elements_counts_only_what_it_took(void **state)
{
	const struct rpcrdma_message message = { "abcdefgh", 8, 0, NULL };
	static const uint8_t mark[4];
	struct iovec iov[1];
	uint64_t total = 0;

	(void)state;
	assert_int_equal(rr_record_gather(mark, &message, 0, iov, 1, &total), 1);
	assert_int_equal(total, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_small_record_is_found_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_record_is_gathered, setup, teardown),
		cmocka_unit_test_setup_teardown(
			fragments_make_one_record_wherever_they_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(octets_may_be_read_into_the_record_directly, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_gets_its_memory_piece_by_piece, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_record_longer_than_allowed_is_refused_at_its_mark, setup, teardown),
		cmocka_unit_test_setup_teardown(
			fragments_that_add_up_to_too_much_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_longer_than_allowed_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_fragments_do_not_go_on_for_ever, setup, teardown),
		cmocka_unit_test(a_record_is_gathered_from_any_octet),
		cmocka_unit_test(a_gather_with_too_few_elements_counts_only_what_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
