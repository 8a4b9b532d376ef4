/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../hex.h"
#include "../list.h"
#include "fabric/iwarp/protocol_private.h"
#include "pair.h"

static void
sent_is(struct node *node, const char *digits)
{
	struct rr_octets expected = rr_hex(digits);

	node_clear(node);
	node_collect(node);
	assert_int_equal(node->out_size, expected.size);
	assert_memory_equal(node->out, expected.data, expected.size);
}

static void
fpdus_are_written_as_linux_writes_them(void **state)
{
	(void)state;
	rr_iwarp_kick(&initiator->iwarp);
	sent_is(initiator, "000e c140 00000000 0000000000000000 00000000");
	node_post(initiator, RR_WORK_SEND, "abcde", 5, 0, 0, 0);
	sent_is(initiator, "0017 4143 00000000 00000000 00000001 00000000 6162636465 000000 00000000");
	node_post(initiator, RR_WORK_SEND_INVALIDATE, "abcd", 4, 0x01020304, 0, 0);
	sent_is(initiator, "0016 4144 01020304 00000000 00000002 00000000 61626364 00000000");
	node_post(initiator, RR_WORK_WRITE, "abcdef", 6, 0x01020304, 0x1122334455667788, 0);
	sent_is(initiator, "0014 c140 01020304 1122334455667788 616263646566 0000 00000000");
	initiator->iwarp.tx.sink = 0xaabbccdc;
	node_post(initiator, RR_WORK_READ, initiator->memory, 6, 0x01020304, 0x1122334455667788, 0);
	sent_is(initiator, "002e 4141 00000000 00000001 00000001 00000000"
			   "aabbccdd 0000000000000000 00000006 01020304 1122334455667788 00000000");
}

static void
row_A13_a_message_is_cut_to_the_size_of_tcp_segments(void **state)
{
	size_t at = 0, n = 0;

	(void)state;
	rr_iwarp_set_emss(&initiator->iwarp, 1448);
	node_post(initiator, RR_WORK_WRITE, payload, 10000, 1, 0, 0);
	node_post(initiator, RR_WORK_SEND, payload, 3000, 1, 0, 0);
	node_collect(initiator);
	while (at < initiator->out_size) {
		size_t size = rr_fpdu_size(rr_get_be16(initiator->out + at));

		assert_true(size <= 1448);
		at += size;
		n++;
	}
	assert_int_equal(n, 8 + 3);
	/* RFC 5044, 4.5: "MUST NOT shrink the MULPDU below 128 octets"; 4.3 allows 64768 at most. */
	rr_iwarp_set_emss(&initiator->iwarp, 90);
	assert_true(initiator->iwarp.tx.ulpdu_max >= 128);
	rr_iwarp_set_emss(&initiator->iwarp, 1000000);
	assert_true(initiator->iwarp.tx.ulpdu_max <= 64768);
}

static void
what_tcp_takes_at_a_time_does_not_matter(void **state)
{
	uint8_t *all = malloc(NODE_STREAM);
	size_t size = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		initiator->take = round ? 1 : 0;
		node_post(initiator, RR_WORK_WRITE, payload, 60000, 5, 7, 1);
		node_post(initiator, RR_WORK_SEND, payload, 0, 5, 7, 2);
		node_post(initiator, RR_WORK_WRITE, payload, 1, 5, 7, 3);
		node_collect(initiator);
		if (round) {
			assert_int_equal(initiator->out_size, size);
			assert_memory_equal(initiator->out, all, size);
			assert_non_null(strstr(initiator->log, "completed 0 1"));
		}
		size = initiator->out_size;
		memcpy(all, initiator->out, size);
		pair_renew();
	}
	free(all);
}

static uint32_t flushes, received_first;

static void
count_flush(struct rr_iwarp *iwarp)
{
	if (flushes++ == 0)
		received_first = iwarp->rx.send_msn - 1;
}

/* A peer that sent many messages at once gets answers to the first of them before the last one was handled.
 */
static void
what_a_batch_brings_about_may_leave_before_its_end(void **state)
{
	(void)state;
	flushes = 0;
	responder->iwarp.flush = count_flush;
	for (int i = 0; i < 3 * RR_IWARP_FLUSH_EACH; i++)
		node_post(initiator, RR_WORK_SEND, "x", 1, 0, 0, 0);
	node_collect(initiator);
	node_feed(responder, initiator->out, initiator->out_size, NODE_STREAM, NULL);
	assert_int_equal(flushes, 3);
	assert_true(received_first <= RR_IWARP_FLUSH_EACH);
}

static int
post_work_copied(struct node *node, struct rr_work work, const void *data, uint32_t length, uintptr_t cookie)
{
	struct rr_sge sge = { data, length };

	work.sge_count = 1;
	work.sges = &sge;
	work.cookie = (void *)cookie;
	work.may_copy = true;
	return rr_iwarp_post(&node->iwarp, &work);
}

static int
post_copied(struct node *node, const void *data, uint32_t length, uintptr_t cookie)
{
	return post_work_copied(node, (struct rr_work){ .kind = RR_WORK_SEND }, data, length, cookie);
}

/* The memory of the Send is free at once, and no event comes. */
static void
a_short_send_is_copied_if_its_poster_wants_that(void **state)
{
	char text[] = "first";

	(void)state;
	assert_int_equal(node_post(initiator, RR_WORK_SEND, "common", 6, 0, 0, 1), 0);
	node_exchange(initiator, responder);
	assert_int_equal(post_copied(initiator, text, 5, 2), RR_POST_COPIED);
	memcpy(text, "other", 5);
	assert_int_equal(post_copied(initiator, text, 5, 3), RR_POST_COPIED);
	memset(text, 0, 5);
	assert_int_equal(initiator->iwarp.base.outstanding, 0);
	node_clear(initiator);
	node_collect(initiator);
	assert_non_null(memmem(initiator->out, initiator->out_size, "first", 5));
	assert_non_null(memmem(initiator->out, initiator->out_size, "other", 5));
	assert_null(strstr(initiator->log, "completed 0 2"));
	node_feed(responder, initiator->out, initiator->out_size, NODE_STREAM, NULL);
	assert_int_equal(responder->iwarp.rx.send_msn, 4);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
}

/* A reply: its data are written, and the Send comes behind them, although both were copied. */
static void
a_short_write_is_copied_in_front_of_its_send(void **state)
{
	struct rr_region region = node_register(responder, 100, 1200, RR_REMOTE_WRITE);
	const struct rr_work write = {
		.kind = RR_WORK_WRITE, .remote_handle = region.handle, .remote_offset = region.offset
	};
	static uint8_t data[1200];

	(void)state;
	memcpy(data, payload, sizeof(data));
	assert_int_equal(post_work_copied(initiator, write, data, sizeof(data), 1), RR_POST_COPIED);
	assert_int_equal(post_copied(initiator, "reply", 5, 2), RR_POST_COPIED);
	memset(data, 0, sizeof(data));
	assert_int_equal(initiator->iwarp.base.outstanding, 0);
	node_exchange(initiator, responder);
	assert_memory_equal(responder->memory + 100, payload, sizeof(data));
	assert_int_equal(responder->iwarp.rx.send_msn, 2);
	assert_null(strstr(initiator->log, "completed"));
	assert_int_equal(initiator->iwarp.state, RR_IWARP_OPEN);
}

/* Requests in front of the Send must leave first, and long requests are not copied. */
static void
a_send_is_not_copied_past_another_or_if_it_is_long(void **state)
{
	struct rr_region region = node_register(responder, 0, 10000, RR_REMOTE_WRITE);
	const struct rr_work write = {
		.kind = RR_WORK_WRITE, .remote_handle = region.handle, .remote_offset = region.offset
	};

	(void)state;
	rr_iwarp_set_emss(&initiator->iwarp, 20000);
	assert_int_equal(post_work_copied(initiator, write, payload, RR_IWARP_COPY_MAX, 0), RR_POST_COPIED);
	assert_int_equal(post_work_copied(initiator, write, payload, RR_IWARP_COPY_MAX + 1, 1), 0);
	assert_int_equal(post_copied(initiator, "behind", 6, 2), 0);
	node_exchange(initiator, responder);
	assert_non_null(strstr(initiator->log, "completed 0 2"));
	/* Sends that find no room in the batch wait behind it. */
	for (int i = 0; i < 60; i++)
		assert_true(post_copied(initiator, payload, RR_IWARP_BATCH_META / 55, 3) >= 0);
	assert_true(initiator->iwarp.base.outstanding > 0);
	assert_int_equal(post_copied(initiator, "behind", 6, 4), 0);
	node_exchange(initiator, responder);
	assert_int_equal(responder->iwarp.rx.send_msn, 1 + 1 + 60 + 1);
	assert_int_equal(initiator->iwarp.base.outstanding, 0);
	/* A responder may not send before it has received an FPDU. */
	pair_renew();
	assert_int_equal(post_copied(responder, "early", 5, 5), 0);
}

/* A copied Send need not wait for Read Responses, but half of the octets that leave next are theirs. */
static void
copied_sends_overtake_responses_and_leave_them_room(void **state)
{
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);
	const struct iovec *vectors;
	uint32_t count, copied = 0;
	bool leaves = false;

	(void)state;
	rr_iwarp_set_emss(&responder->iwarp, 20000);
	node_post(initiator, RR_WORK_READ, initiator->memory, 100, region.handle, region.offset, 1);
	node_collect(initiator);
	memcpy(responder->shared.scratch, initiator->out, initiator->out_size);
	rr_iwarp_received(&responder->iwarp, initiator->out_size);
	while (post_copied(responder, payload, RR_IWARP_COPY_MAX, 1) == RR_POST_COPIED)
		copied++;
	assert_in_range(copied, 1, RR_IWARP_BATCH_META / 2 / RR_IWARP_COPY_MAX + 1);
	count = rr_iwarp_output(&responder->iwarp, &vectors);
	for (uint32_t i = 0; i < count; i++)
		leaves |= vectors[i].iov_base == responder->memory;
	assert_true(leaves);
}

/* RFC 5044, 7.1.2: responders "MUST receive and validate at least one FPDU before sending any FPDUs". */
static void
a_responder_is_silent_until_it_is_spoken_to(void **state)
{
	(void)state;
	node_post(responder, RR_WORK_SEND, "early", 5, 0, 0, 1);
	node_collect(responder);
	assert_int_equal(responder->out_size, 0);
	rr_iwarp_kick(&initiator->iwarp);
	node_exchange(initiator, responder);
	assert_non_null(strstr(initiator->log, "received 0 0, 5 octets"));
}

static void
reads_beyond_ord_wait_and_keep_the_order(void **state)
{
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);

	(void)state;
	for (uintptr_t i = 1; i <= 3; i++)
		node_post(initiator, RR_WORK_READ, initiator->memory, 10, region.handle, region.offset, i);
	node_post(initiator, RR_WORK_SEND, "x", 1, 0, 0, 4);
	node_collect(initiator);
	assert_int_equal(initiator->out_size, 2 * 52);
	assert_int_equal(initiator->iwarp.tx.read_count, 2);
	node_exchange(initiator, responder);
	assert_int_equal(initiator->iwarp.base.outstanding, 0);
	assert_non_null(strstr(responder->log, "received"));
}

static void
responses_and_work_take_turns(void **state)
{
	static const uint8_t order[] = { RR_RDMAP_SEND, RR_RDMAP_READ_RESPONSE, RR_RDMAP_SEND,
		RR_RDMAP_READ_RESPONSE, RR_RDMAP_SEND };
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);
	size_t at = 0;

	(void)state;
	for (int i = 0; i < 2; i++)
		node_post(initiator, RR_WORK_READ, initiator->memory, 100, region.handle, region.offset, 1);
	for (int i = 0; i < 3; i++)
		node_post(responder, RR_WORK_SEND, "x", 1, 0, 0, 1);
	/* Both requests come in one read: all five are ready when the first may leave. */
	node_collect(initiator);
	node_feed(responder, initiator->out, initiator->out_size, NODE_STREAM, NULL);
	for (size_t i = 0; i < sizeof(order); i++) {
		struct rr_ddp_header header;

		assert_int_equal(rr_ddp_get(responder->out + at + 2, 18, &header), RR_DDP_OK);
		assert_int_equal(header.opcode, order[i]);
		at += rr_fpdu_size(rr_get_be16(responder->out + at));
	}
	assert_int_equal(at, responder->out_size);
}

/* Whatever part of a large Read Response has left, the rest is not taken from memory that is not a region any
 * more. */
static void
invalidation_stops_a_response_wherever_it_is(void **state)
{
	(void)state;
	for (size_t taken = 0; taken < 60000; taken += 7001) {
		struct rr_region region = node_register(responder, 0, 60000, RR_REMOTE_READ);
		const struct iovec *vectors;

		node_post(initiator, RR_WORK_READ, initiator->memory, 60000, region.handle, region.offset, 1);
		node_collect(initiator);
		memcpy(responder->shared.scratch, initiator->out, initiator->out_size);
		rr_iwarp_received(&responder->iwarp, initiator->out_size);
		assert_true(rr_iwarp_output(&responder->iwarp, &vectors) > 0);
		if (taken)
			rr_iwarp_taken(&responder->iwarp, taken);
		rr_iwarp_invalidate(&responder->iwarp, region.handle);
		assert_int_equal(responder->iwarp.state, RR_IWARP_OVER);
		assert_int_equal(rr_iwarp_output(&responder->iwarp, &vectors), 0);
		pair_renew();
	}
}

static void
a_peer_must_not_invalidate_what_it_is_reading(void **state)
{
	struct rr_region region = node_register(responder, 0, 60000, RR_REMOTE_READ);
	const struct iovec *vectors;

	(void)state;
	node_post(initiator, RR_WORK_READ, initiator->memory, 60000, region.handle, region.offset, 1);
	node_post(initiator, RR_WORK_SEND_INVALIDATE, "x", 1, region.handle, 0, 2);
	node_collect(initiator);
	memcpy(responder->shared.scratch, initiator->out, 52);
	rr_iwarp_received(&responder->iwarp, 52);
	assert_true(rr_iwarp_output(&responder->iwarp, &vectors) > 0);
	memcpy(responder->shared.scratch, initiator->out + 52, initiator->out_size - 52);
	rr_iwarp_received(&responder->iwarp, initiator->out_size - 52);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OVER);
	assert_string_equal(responder->log, "");
}

static void
invalidation_stops_a_write_in_the_middle_of_an_fpdu_only(void **state)
{
	struct rr_region region = node_register(responder, 0, 10000, RR_REMOTE_WRITE);

	(void)state;
	node_post(initiator, RR_WORK_WRITE, payload, 100, region.handle, region.offset, 1);
	node_collect(initiator);
	node_feed(responder, initiator->out, 50, NODE_STREAM, NULL);
	rr_iwarp_invalidate(&responder->iwarp, region.handle);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OVER);
	assert_int_equal(rr_iwarp_space(&responder->iwarp, (struct iovec[2]){ 0 }), 0);
	pair_renew();
	region = node_register(responder, 0, 10000, RR_REMOTE_WRITE);
	node_post(initiator, RR_WORK_WRITE, payload, 100, region.handle, region.offset, 1);
	node_exchange(initiator, responder);
	rr_iwarp_invalidate(&responder->iwarp, region.handle);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
}

/* A peer that cannot know yet that its access was ended is not warned of: only an access to a region that
 * nobody revoked is a fault. */
static void
a_read_of_what_was_revoked_is_refused_without_a_reproach(void **state)
{
	(void)state;
	for (int revoked = 0; revoked < 2; revoked++) {
		struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);
		uint32_t handle = revoked ? region.handle : region.handle ^ 1;

		if (revoked)
			rr_iwarp_revoke(&responder->iwarp, region.handle);
		node_post(initiator, RR_WORK_READ, initiator->memory, 100, handle, region.offset, 1);
		node_collect(initiator);
		memcpy(responder->shared.scratch, initiator->out, initiator->out_size);
		rr_iwarp_received(&responder->iwarp, initiator->out_size);
		assert_int_equal(responder->iwarp.state, RR_IWARP_CLOSING);
		assert_int_equal(responder->iwarp.revoked, revoked);
		assert_non_null(strstr(responder->iwarp.text.text, revoked ? "cancelled" : "no region"));
		pair_renew();
	}
}

/* The Read was allowed as it came, and waits for its turn to be answered. */
static void
a_read_that_waits_is_refused_without_a_reproach_after_a_revocation(void **state)
{
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);

	(void)state;
	node_post(initiator, RR_WORK_READ, initiator->memory, 100, region.handle, region.offset, 1);
	node_collect(initiator);
	memcpy(responder->shared.scratch, initiator->out, initiator->out_size);
	rr_iwarp_received(&responder->iwarp, initiator->out_size);
	rr_iwarp_revoke(&responder->iwarp, region.handle);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
	node_collect(responder);
	assert_int_equal(responder->iwarp.state, RR_IWARP_CLOSING);
	assert_non_null(strstr(responder->iwarp.text.text, "before its data left"));
	assert_true(responder->iwarp.revoked);
}

static void
the_end_in_the_middle_of_a_message_is_told_as_such(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, payload, 100, 0, 0, 1);
	node_collect(initiator);
	node_feed(responder, initiator->out, 60, NODE_STREAM, NULL);
	rr_iwarp_eof(&responder->iwarp);
	assert_non_null(strstr(responder->iwarp.text.text, "in the middle of a message"));
	rr_iwarp_eof(&initiator->iwarp);
	assert_string_equal(initiator->iwarp.text.text, "the peer closed the connection");
}

/* A fabric keeps a bounded number of batches, also after many endpoints could send nothing for a while. */
static void
few_batches_are_kept(void **state)
{
	struct rr_iwarp_batch *batches[300];

	(void)state;
	for (int i = 0; i < 300; i++) {
		assert_true(rr_iwarp_batch_open(&initiator->iwarp));
		batches[i] = initiator->iwarp.tx.batch;
		initiator->iwarp.tx.batch = NULL;
	}
	for (int i = 0; i < 300; i++) {
		initiator->iwarp.tx.batch = batches[i];
		rr_iwarp_batch_close(&initiator->iwarp);
	}
	assert_true(list_length(&initiator->shared.batches) < 100);
	for (int i = 0; i < 300; i++)
		node_post(initiator, RR_WORK_SEND, "x", 1, 0, 0, 0);
	node_collect(initiator);
	assert_true(list_length(&initiator->shared.batches) > 0);
}

/* A table for very few regions gives each region a handle that is known until the region is removed. */
static void
handles_of_small_tables_are_known(void **state)
{
	struct rr_regions regions;
	struct rr_region region[9];
	uint8_t *at;

	(void)state;
	for (uint32_t max = 1; max <= 9; max++) {
		rr_regions_init(&regions, &initiator->env, max);
		for (uint32_t round = 0; round < 40; round++) {
			uint32_t count = 1 + round % max;

			for (uint32_t i = 0; i < count; i++)
				assert_int_equal(
					rr_regions_add(&regions, payload + i, 1, RR_REMOTE_READ, &region[i]),
					0);
			for (uint32_t i = 0; i < count; i++) {
				assert_int_equal(rr_regions_find(&regions, region[i].handle, region[i].offset,
							 1, RR_REMOTE_READ, &at),
					RR_REGION_FINE);
				assert_ptr_equal(at, payload + i);
			}
			for (uint32_t i = 0; i < count; i++)
				rr_regions_remove(&regions, region[i].handle);
		}
		rr_regions_destroy(&regions);
	}
}

/* The rest of a payload is read into its place at once, not in pieces of the size of a header. */
static void
the_rest_of_a_long_payload_is_taken_in_one_read(void **state)
{
	struct rr_region region = node_register(responder, 0, 40000, RR_REMOTE_WRITE);
	struct iovec vectors[2];

	(void)state;
	rr_iwarp_set_emss(&initiator->iwarp, 65480);
	node_post(initiator, RR_WORK_WRITE, payload, 40000, region.handle, region.offset, 1);
	node_collect(initiator);
	node_feed(responder, initiator->out, initiator->out_size - RR_FPDU_CRC_SIZE - 100, NODE_STREAM, NULL);
	assert_int_equal(responder->iwarp.rx.left, 100);
	assert_int_equal(rr_iwarp_space(&responder->iwarp, vectors), 2);
	assert_int_equal(vectors[0].iov_len, 100);
	assert_ptr_equal(vectors[0].iov_base, responder->memory + 40000 - 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(fpdus_are_written_as_linux_writes_them),
		PAIR_TEST(row_A13_a_message_is_cut_to_the_size_of_tcp_segments),
		PAIR_TEST(what_tcp_takes_at_a_time_does_not_matter),
		PAIR_TEST(what_a_batch_brings_about_may_leave_before_its_end),
		PAIR_TEST(what_tcp_takes_at_a_time_does_not_matter),
		PAIR_TEST(a_short_send_is_copied_if_its_poster_wants_that),
		PAIR_TEST(a_short_write_is_copied_in_front_of_its_send),
		PAIR_TEST(a_send_is_not_copied_past_another_or_if_it_is_long),
		PAIR_TEST(copied_sends_overtake_responses_and_leave_them_room),
		PAIR_TEST(a_responder_is_silent_until_it_is_spoken_to),
		PAIR_TEST(reads_beyond_ord_wait_and_keep_the_order),
		PAIR_TEST(responses_and_work_take_turns),
		PAIR_TEST(invalidation_stops_a_response_wherever_it_is),
		PAIR_TEST(a_peer_must_not_invalidate_what_it_is_reading),
		PAIR_TEST(invalidation_stops_a_write_in_the_middle_of_an_fpdu_only),
		PAIR_TEST(a_read_of_what_was_revoked_is_refused_without_a_reproach),
		PAIR_TEST(a_read_that_waits_is_refused_without_a_reproach_after_a_revocation),
		PAIR_TEST(the_end_in_the_middle_of_a_message_is_told_as_such),
		PAIR_TEST(few_batches_are_kept),
		PAIR_TEST(handles_of_small_tables_are_known),
		PAIR_TEST(the_rest_of_a_long_payload_is_taken_in_one_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
