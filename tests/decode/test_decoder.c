/* SPDX-License-Identifier: BSD-3-Clause */
#include "made.h"

#include <string.h>

#include "base/endian.h"
#include "mutate.h"

static struct made made;
static struct found found;

/* Adds calls with XIDs from 1 on, each with its reply. */
static void
make_pairs(uint32_t count)
{
	for (uint32_t xid = 1; xid <= count; xid++) {
		made_call(&made, 0, xid);
		made_reply(&made, 1, xid);
	}
}

static void
assert_pairs(uint32_t first, uint32_t count)
{
	assert_int_equal(found.count, 2 * count);
	for (uint32_t i = 0; i < 2 * count; i++) {
		assert_int_equal(found.messages[i].xid, first + i / 2);
		assert_int_equal(found.messages[i].kind, i % 2 ? RR_MESSAGE_REPLY : RR_MESSAGE_CALL);
		assert_true(found.messages[i].has_procedure);
		assert_int_equal(found.messages[i].is_paired, i % 2);
	}
}

static void
a_reply_is_paired_with_its_call(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	make_pairs(3);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.opened, 2);
	assert_pairs(1, 3);
	assert_int_equal(found.notes, 0);
}

static void
both_sides_may_use_the_same_xid(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	made_call(&made, 0, 5);
	made_call(&made, 1, 5);
	made_reply(&made, 0, 5);
	made_reply(&made, 1, 5);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 4);
	assert_true(found.messages[2].is_paired && found.messages[3].is_paired);
}

/* ---- Segments ---- */

static void
swap(uint32_t a, uint32_t b)
{
	struct made_packet other = made.packets[a];

	made.packets[a] = made.packets[b];
	made.packets[b] = other;
}

static void
segments_that_come_out_of_order_are_put_in_order(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	for (uint32_t xid = 1; xid <= 8; xid++)
		made_call(&made, 0, xid);
	for (uint32_t xid = 1; xid <= 8; xid++)
		made_reply(&made, 1, xid);
	for (uint32_t i = 0; i < 4; i++)
		swap(4 + i, 4 + 7 - i);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 16);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(found.messages[i].xid, i + 1);
	assert_true(found.messages[15].is_paired);
	assert_int_equal(found.notes + found.counters.lost, 0);
}

static void
segments_that_come_again_count_once(void **state)
{
	uint32_t count;

	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	make_pairs(3);
	count = made.count;
	for (uint32_t i = 0; i < count; i++)
		made.packets[made.count++] = made.packets[i];
	made_decode(&made, NULL, &found);
	assert_pairs(1, 3);
	assert_int_equal(found.opened, 2);
	assert_int_equal(found.notes, 0);
}

/* Decodes the streams in segments of size octets, each of which overlaps the next by overlap octets. */
static void
cut(const struct made *from, uint32_t size, uint32_t overlap, struct rr_decoder *decoder)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct made_packet *packet = &from->packets[i];

		for (uint32_t at = 40; at < packet->size || at == 40; at += size) {
			uint8_t piece[MADE_PACKET];
			uint32_t length = packet->size - at;

			length = length > size + overlap ? size + overlap : length;
			memcpy(piece, packet->data, 40);
			memcpy(piece + 40, packet->data + at, length);
			rr_put_be16(piece + 2, (uint16_t)(40 + length));
			rr_put_be32(piece + 24, rr_get_be32(packet->data + 24) + at - 40);
			rr_decoder_packet(decoder, RR_LINK_RAW, i, piece, 40 + length);
		}
	}
}

static void
messages_do_not_depend_on_segments(void **state)
{
	struct rr_decode_sink sink = made_sink(&found);
	struct rr_decoder *decoder;

	(void)state;
	made_begin(&made);
	made_open(&made, true, false);
	for (uint32_t size = 1; size < 120; size += 7) {
		memset(&found, 0, sizeof(found));
		made_begin(&made);
		made_open(&made, false, false);
		make_pairs(3);
		assert_int_equal(rr_decoder_new(&rr_env_system, NULL, &sink, &decoder), 0);
		cut(&made, size, size % 3, decoder);
		rr_decoder_finish(decoder);
		rr_decoder_free(decoder);
		assert_pairs(1, 3);
	}
}

static void
drop(uint32_t index)
{
	made.count--;
	memmove(&made.packets[index], &made.packets[index + 1],
		(made.count - index) * sizeof(made.packets[0]));
}

static void
after_a_lost_segment_the_next_messages_are_found(void **state)
{
	(void)state;
	for (uint32_t lost = 4; lost < 16; lost++) {
		made_begin(&made);
		made_open(&made, false, false);
		make_pairs(10);
		drop(lost);
		made_decode(&made, NULL, &found);
		assert_int_equal(found.count, 19);
		assert_int_equal(found.notes, 1);
		assert_true(found.counters.lost > 0);
	}
}

/* A gap that the receiver acknowledges is given up before the end of the capture. */
static void
a_gap_that_is_acknowledged_is_given_up(void **state)
{
	struct rr_decode_sink sink = made_sink(&found);
	struct rr_decoder *decoder;

	(void)state;
	memset(&found, 0, sizeof(found));
	made_begin(&made);
	made_open(&made, false, false);
	make_pairs(40);
	drop(4);
	assert_int_equal(rr_decoder_new(&rr_env_system, NULL, &sink, &decoder), 0);
	for (uint32_t i = 0; i < made.count; i++)
		rr_decoder_packet(decoder, RR_LINK_RAW, i, made.packets[i].data, made.packets[i].size);
	assert_int_equal(found.count, 79);
	rr_decoder_free(decoder);
}

/* Acknowledgements of a gap that was closed since do not count for the next gap. */
static void
gaps_that_close_are_not_given_up(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	for (uint32_t xid = 1; xid <= 60; xid += 2) {
		uint32_t first = made.count;

		made_call(&made, 0, xid);
		made_call(&made, 0, xid + 1);
		made_reply(&made, 1, xid + 1);
		swap(first, first + 1);
		swap(first + 1, first + 2);
		made_reply(&made, 1, xid);
	}
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 120);
	assert_int_equal(found.notes + found.counters.lost, 0);
}

/* A segment waits behind a gap, and comes again, captured without its last octets. */
static void
octets_that_came_are_not_lost_as_they_come_again(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	made_call(&made, 0, 1);
	made_call(&made, 0, 2);
	swap(4, 5);
	made.packets[6] = made.packets[5];
	made.packets[5] = made.packets[4];
	made.packets[5].size = 60;
	made.count = 7;
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.messages[1].xid, 2);
}

static void
a_capture_may_begin_in_the_middle(void **state)
{
	(void)state;
	for (uint32_t begin = 1; begin < 12; begin++) {
		made_begin(&made);
		made_open(&made, false, false);
		make_pairs(10);
		made.count -= begin;
		memmove(&made.packets[0], &made.packets[begin], made.count * sizeof(made.packets[0]));
		made_decode(&made, NULL, &found);
		assert_int_equal(found.count, begin <= 4 ? 20 : 24 - begin);
	}
}

/* The first segment that was captured begins in the middle of an FPDU. */
static void
a_capture_may_begin_in_an_fpdu(void **state)
{
	(void)state;
	for (uint32_t skipped = 1; skipped < 60; skipped++) {
		struct made_packet *packet = &made.packets[4];

		made_begin(&made);
		made_open(&made, false, false);
		make_pairs(10);
		packet->size -= skipped;
		memmove(packet->data + 40, packet->data + 40 + skipped, packet->size - 40);
		rr_put_be16(packet->data + 2, (uint16_t)packet->size);
		rr_put_be32(packet->data + 24, rr_get_be32(packet->data + 24) + skipped);
		made.count -= 4;
		memmove(&made.packets[0], packet, made.count * sizeof(*packet));
		made_decode(&made, NULL, &found);
		assert_int_equal(found.count, 19);
		assert_int_equal(found.messages[0].kind, RR_MESSAGE_REPLY);
	}
}

static void
an_fpdu_with_a_wrong_crc_is_not_decoded(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, true, false);
	make_pairs(2); /* their CRC fields are 0 */
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.counters.wrong_crcs, 4);
}

static void
streams_with_markers_are_refused(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, true);
	make_pairs(2);
	made_decode(&made, NULL, &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.notes, 2);
}

static void
another_connection_between_the_same_ports_is_another_one(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	make_pairs(2);
	made.sequence[0] += 100000;
	made.sequence[1] += 100000;
	made_open(&made, false, false);
	made_call(&made, 0, 3);
	made_reply(&made, 1, 3);
	made_decode(&made, NULL, &found);
	assert_pairs(1, 3);
	assert_int_equal(found.counters.connections, 2);
}

/* ---- Bounds ---- */

static void
connections_are_bounded(void **state)
{
	const struct rr_decode_limits limits = { .memory = 4 << 20, .connections = 4, .transactions = 8 };

	(void)state;
	made_begin(&made);
	for (uint16_t port = 1; port <= 40; port++) {
		made.client = port;
		made_call(&made, 0, port);
	}
	made_decode(&made, &limits, &found);
	assert_int_equal(found.counters.connections, 40);
	assert_int_equal(found.counters.evicted_connections, 36);
	assert_int_equal(found.count, 40);
}

static void
calls_without_a_reply_are_bounded(void **state)
{
	const struct rr_decode_limits limits = { .memory = 4 << 20, .connections = 4, .transactions = 8 };

	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	for (uint32_t xid = 1; xid <= 100; xid++)
		made_call(&made, 0, xid);
	made_reply(&made, 1, 92);
	made_reply(&made, 1, 93);
	made_decode(&made, &limits, &found);
	assert_int_equal(found.counters.evicted_transactions, 92);
	assert_false(found.messages[100].is_paired);
	assert_true(found.messages[101].is_paired);
}

static void
without_memory_nothing_breaks(void **state)
{
	(void)state;
	made_begin(&made);
	made_open(&made, false, false);
	make_pairs(20);
	for (size_t memory = 150000; memory < 260000; memory += 997) {
		const struct rr_decode_limits limits = { memory, 4, 8 };
		struct rr_decode_sink sink = made_sink(&found);
		struct rr_decoder *decoder;

		memset(&found, 0, sizeof(found));
		if (rr_decoder_new(&rr_env_system, &limits, &sink, &decoder) < 0)
			continue;
		rr_decoder_free(decoder);
		made_decode(&made, &limits, &found);
	}
	assert_pairs(1, 20);
}

/* ---- Anything may be captured ---- */

static const char *
decode_changed(const uint8_t *data, size_t size, void *context)
{
	uint32_t *index = context;

	if (size > MADE_PACKET)
		return "too large";
	memcpy(made.packets[*index].data, data, size);
	made.packets[*index].size = (uint32_t)size;
	made_decode(&made, NULL, &found);
	return found.count > 20 ? "there are more messages than were sent" : NULL;
}

static void
no_change_of_a_packet_breaks_anything(void **state)
{
	(void)state;
	for (uint32_t index = 0; index < 6; index++) {
		struct made_packet packet;

		made_begin(&made);
		made_open(&made, false, false);
		make_pairs(3);
		packet = made.packets[index];
		rr_mutate(packet.data, packet.size, decode_changed, &index);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_is_paired_with_its_call),
		cmocka_unit_test(both_sides_may_use_the_same_xid),
		cmocka_unit_test(segments_that_come_out_of_order_are_put_in_order),
		cmocka_unit_test(segments_that_come_again_count_once),
		cmocka_unit_test(messages_do_not_depend_on_segments),
		cmocka_unit_test(after_a_lost_segment_the_next_messages_are_found),
		cmocka_unit_test(a_gap_that_is_acknowledged_is_given_up),
		cmocka_unit_test(gaps_that_close_are_not_given_up),
		cmocka_unit_test(octets_that_came_are_not_lost_as_they_come_again),
		cmocka_unit_test(a_capture_may_begin_in_the_middle),
		cmocka_unit_test(a_capture_may_begin_in_an_fpdu),
		cmocka_unit_test(an_fpdu_with_a_wrong_crc_is_not_decoded),
		cmocka_unit_test(streams_with_markers_are_refused),
		cmocka_unit_test(another_connection_between_the_same_ports_is_another_one),
		cmocka_unit_test(connections_are_bounded),
		cmocka_unit_test(calls_without_a_reply_are_bounded),
		cmocka_unit_test(without_memory_nothing_breaks),
		cmocka_unit_test(no_change_of_a_packet_breaks_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
