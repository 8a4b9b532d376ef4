/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../hex.h"
#include "../test.h"
#include "base/crc32c.h"
#include "fabric/iwarp/parts.h"
#include "node.h"

static struct node *initiator, *responder;
static uint8_t payload[NODE_MEMORY];

static int
setup(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;

	(void)state;
	config.read_max = 2;
	initiator = node_new(&config);
	responder = node_new(&config);
	node_connect(initiator, responder);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 5);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	node_free(initiator);
	node_free(responder);
	return 0;
}

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
	rr_iwarp_kick(&initiator->engine);
	sent_is(initiator, "000e c140 00000000 0000000000000000 00000000");
	node_post(initiator, RR_WORK_SEND, "abcde", 5, 0, 0, 0);
	sent_is(initiator, "0017 4143 00000000 00000000 00000001 00000000 6162636465 000000 00000000");
	node_post(initiator, RR_WORK_SEND_INVALIDATE, "abcd", 4, 0x01020304, 0, 0);
	sent_is(initiator, "0016 4144 01020304 00000000 00000002 00000000 61626364 00000000");
	node_post(initiator, RR_WORK_WRITE, "abcdef", 6, 0x01020304, 0x1122334455667788, 0);
	sent_is(initiator, "0014 c140 01020304 1122334455667788 616263646566 0000 00000000");
	initiator->engine.tx.sink = 0xaabbccdc;
	node_post(initiator, RR_WORK_READ, initiator->memory, 6, 0x01020304, 0x1122334455667788, 0);
	sent_is(initiator, "002e 4141 00000000 00000001 00000001 00000000"
			   "aabbccdd 0000000000000000 00000006 01020304 1122334455667788 00000000");
}

static void
row_A13_a_message_is_cut_to_the_size_of_tcp_segments(void **state)
{
	size_t at = 0, n = 0;

	(void)state;
	rr_iwarp_set_emss(&initiator->engine, 1448);
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
	/* RFC 5044, 4.5: "MUST NOT shrink the MULPDU below 128 octets", nor 4.3: exceed 64768. */
	rr_iwarp_set_emss(&initiator->engine, 90);
	assert_true(initiator->engine.tx.ulpdu_max >= 128);
	rr_iwarp_set_emss(&initiator->engine, 1000000);
	assert_true(initiator->engine.tx.ulpdu_max <= 64768);
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
		teardown(NULL);
		setup(NULL);
	}
	free(all);
}

/* RFC 5044, 7.1.2: responders "MUST receive and validate at least one FPDU before sending any FPDUs". */
static void
a_responder_is_silent_until_it_is_spoken_to(void **state)
{
	(void)state;
	node_post(responder, RR_WORK_SEND, "early", 5, 0, 0, 1);
	node_collect(responder);
	assert_int_equal(responder->out_size, 0);
	rr_iwarp_kick(&initiator->engine);
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
	assert_int_equal(initiator->engine.tx.read_count, 2);
	node_exchange(initiator, responder);
	assert_int_equal(initiator->engine.base.outstanding, 0);
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

/* Feeds the FPDU to the responder; returns the cause of the Terminate. */
static int
answer_to(const char *digits)
{
	struct rr_octets octets = rr_hex(digits);
	size_t size = octets.size - RR_FPDU_CRC_SIZE;

	if (responder->engine.crc)
		rr_fpdu_put_crc(octets.data + size, rr_crc32c(0, octets.data, size));
	node_feed(responder, octets.data, octets.size, NODE_STREAM, NULL);
	node_collect(responder);
	if (responder->engine.state != RR_IWARP_CLOSING)
		return 0;
	assert_true(responder->engine.status < 0);
	return node_terminate_cause(responder);
}

static void
each_fault_has_its_cause(void **state)
{
	static const struct {
		const char *fpdu;
		int cause;
	} faults[] = {
		/* RFC 5041, 7.2: MSN, MO, queue, version. */
		{ "0016 4143 00000000 00000000 00000002 00000000 61626364 00000000", RR_CAUSE_DDP_MSN },
		{ "0016 4143 00000000 00000000 00000001 00000004 61626364 00000000", RR_CAUSE_DDP_MO },
		{ "0016 4143 00000000 00000003 00000001 00000000 61626364 00000000", RR_CAUSE_DDP_QUEUE },
		{ "0016 4243 00000000 00000000 00000001 00000000 61626364 00000000",
			RR_CAUSE_DDP_UNTAGGED_VERSION },
		{ "000e c040 00000000 0000000000000000 00000000", RR_CAUSE_DDP_TAGGED_VERSION },
		{ "0012 c140 00000001 0000000000000000 61626364 00000000", RR_CAUSE_DDP_INVALID_STAG },
		/* RFC 5040, 4.8: version, opcode. */
		{ "000e c180 00000000 0000000000000000 00000000", RR_CAUSE_RDMAP_VERSION },
		{ "000e c148 00000000 0000000000000000 00000000", RR_CAUSE_RDMAP_OPCODE },
		{ "000e c143 00000000 0000000000000000 00000000", RR_CAUSE_RDMAP_OPCODE },
		{ "0016 4144 00000005 00000000 00000001 00000000 61626364 00000000",
			RR_CAUSE_RDMAP_INVALIDATE },
		/* A Read Response that nobody asked for, a Read of no region, a Read Request that is cut. */
		{ "000e c142 00000001 0000000000000000 00000000", RR_CAUSE_DDP_INVALID_STAG },
		{ "002e 4141 00000000 00000001 00000001 00000000"
		  "00000001 0000000000000000 00000004 00000001 0000000000000000 00000000",
			RR_CAUSE_RDMAP_INVALID_STAG },
		{ "0012 4141 00000000 00000001 00000001 00000000 00000000", RR_CAUSE_DDP_TOO_LONG },
		{ "002e 4141 00000000 00000001 00000002 00000000"
		  "00000001 0000000000000000 00000000 00000001 0000000000000000 00000000",
			RR_CAUSE_DDP_MSN },
		{ "002e 4141 00000000 00000001 00000001 00000004"
		  "00000001 0000000000000000 00000000 00000001 0000000000000000 00000000",
			RR_CAUSE_DDP_MO },
		/* No room for a header. */
		{ "0000 0000 00000000", RR_CAUSE_MPA_FRAMING },
		{ "0001 4100 00000000", RR_CAUSE_MPA_FRAMING },
		{ "0009 c140 00000000 000000 00 00000000", RR_CAUSE_MPA_FRAMING },
	};

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof(faults) / sizeof(faults[0])); i++) {
		responder->engine.crc = i % 2;
		assert_int_equal(answer_to(faults[i / 2].fpdu), faults[i / 2].cause);
		assert_string_equal(responder->log, "");
		teardown(NULL);
		setup(NULL);
	}
}

/* RFC 5044, 6: "An MPA receiver MUST first verify the FPDU before passing the ULPDU to DDP": what was damaged
 * on its way is not held against the peer, whatever it looks like. */
static void
a_damaged_head_is_a_wrong_crc_and_nothing_else(void **state)
{
	struct rr_region region = node_register(responder, 0, 20000, RR_REMOTE_WRITE);
	enum rr_work_kind kinds[] = { RR_WORK_SEND, RR_WORK_SEND_INVALIDATE, RR_WORK_WRITE, RR_WORK_READ };
	size_t first = RR_FPDU_LENGTH_SIZE, bits = 8 * RR_DDP_UNTAGGED_SIZE;

	(void)state;
	for (size_t i = 0; i < 4 * bits; i++) {
		bool writes = kinds[i / bits] == RR_WORK_WRITE;

		initiator->engine.crc = responder->engine.crc = true;
		node_post(initiator, kinds[i / bits], writes ? payload : initiator->memory,
			writes ? 20000 : 10, region.handle, region.offset, 1);
		node_collect(initiator);
		initiator->out[first + i % bits / 8] ^= (uint8_t)(1 << i % 8);
		node_feed(responder, initiator->out, initiator->out_size, 1 + i % 3000, NULL);
		node_collect(responder);
		assert_int_equal(responder->engine.status, -RPCRDMA_ERR_PEER);
		assert_int_equal(node_terminate_cause(responder), RR_CAUSE_MPA_CRC);
		assert_string_equal(responder->log, "");
		teardown(NULL);
		setup(NULL);
		region = node_register(responder, 0, 20000, RR_REMOTE_WRITE);
	}
}

/* A Terminate that is longer than any can be is one all the same. */
static void
a_terminate_of_any_length_is_understood(void **state)
{
	struct rr_ddp_header header = { .last = true, .opcode = RR_RDMAP_TERMINATE, .queue = 2, .msn = 1 };
	uint8_t fpdu[2000] = { 0 };

	(void)state;
	for (size_t size = 0; size < 1800; size += 1 + size / 10) {
		rr_put_be16(fpdu, (uint16_t)(RR_DDP_UNTAGGED_SIZE + size));
		rr_ddp_put(fpdu + RR_FPDU_LENGTH_SIZE, &header);
		rr_put_be16(fpdu + RR_FPDU_LENGTH_SIZE + RR_DDP_UNTAGGED_SIZE, RR_CAUSE_DDP_NO_BUFFER);
		node_feed(responder, fpdu, rr_fpdu_size(RR_DDP_UNTAGGED_SIZE + size), 700, NULL);
		assert_int_equal(responder->engine.state, RR_IWARP_OVER);
		assert_non_null(strstr(
			responder->engine.text.text, size < 4 ? "no cause given" : "no buffer available"));
		teardown(NULL);
		setup(NULL);
	}
}

/* An initiator that waits for 8 octets gets this Read Response; returns the cause of its Terminate. */
static int
answer_to_response(uint32_t stag_change, uint64_t to, uint32_t payload_size, bool last)
{
	struct rr_ddp_header header = {
		.tagged = true, .last = last, .opcode = RR_RDMAP_READ_RESPONSE, .to = to
	};
	uint8_t fpdu[64] = { 0 };

	memset(initiator->memory, 0x55, 32);
	node_post(initiator, RR_WORK_READ, initiator->memory, 8, 1, 0, 1);
	node_collect(initiator);
	node_clear(initiator);
	header.stag = initiator->engine.tx.sink ^ stag_change;
	rr_put_be16(fpdu, (uint16_t)(RR_DDP_TAGGED_SIZE + payload_size));
	rr_ddp_put(fpdu + 2, &header);
	node_feed(initiator, fpdu, rr_fpdu_size(RR_DDP_TAGGED_SIZE + payload_size), 9, NULL);
	node_collect(initiator);
	return initiator->engine.state == RR_IWARP_OPEN ? 0 : node_terminate_cause(initiator);
}

static void
row_A12_a_read_response_must_be_what_was_asked_for(void **state)
{
	static const struct {
		uint32_t stag_change;
		uint64_t to;
		uint32_t payload;
		bool last;
		int cause;
	} responses[] = {
		{ 0, 0, 8, true, 0 },
		{ 0, 0, 3, false, 0 },
		{ 1, 0, 8, true, RR_CAUSE_DDP_INVALID_STAG },
		{ 0, 1, 7, true, RR_CAUSE_DDP_BOUNDS },
		{ 0, 0, 9, true, RR_CAUSE_DDP_BOUNDS },
		{ 0, 0, 9, false, RR_CAUSE_DDP_BOUNDS },
		{ 0, 0, 7, true, RR_CAUSE_DDP_BOUNDS },
		{ 0, 0, 8, false, RR_CAUSE_DDP_BOUNDS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
		assert_int_equal(answer_to_response(responses[i].stag_change, responses[i].to,
					 responses[i].payload, responses[i].last),
			responses[i].cause);
		for (int j = 0; responses[i].cause && j < 32; j++)
			assert_int_equal(initiator->memory[j], 0x55);
		teardown(NULL);
		setup(NULL);
	}
}

/* RFC 5040, figure 10: a Remote Protection Error comes with the headers of the Read Request. */
static void
the_terminate_shows_what_was_wrong(void **state)
{
	struct rr_octets request =
		rr_hex("002e 4141 00000000 00000001 00000001 00000000"
		       "00000009 0000000000000000 00000004 00000001 0000000000000007 00000000");
	struct rr_terminate terminate;

	(void)state;
	node_feed(responder, request.data, request.size, 3, NULL);
	node_collect(responder);
	assert_true(rr_terminate_get(responder->out + 20, rr_get_be16(responder->out) - 18u, &terminate));
	assert_true(terminate.has_length);
	assert_int_equal(terminate.segment_length, 0x2e);
	assert_memory_equal(terminate.ddp_header, request.data + 2, 18);
	assert_memory_equal(terminate.read_request, request.data + 20, 28);
	assert_non_null(strstr(responder->engine.text.text, "handle 0x00000001, offset 0x7, length 4"));
}

/* RFC 5040, 5.2.2: the responder has "a sufficient number of Untagged Buffers ... available on the RDMA Read
 * Request Queue" for what was negotiated; RFC 5041, 7.2: "Invalid MSN - no buffer available". */
static void
more_reads_than_allowed_end_the_connection(void **state)
{
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);

	(void)state;
	initiator->engine.tx.ord = 3;
	for (uintptr_t i = 1; i <= 3; i++)
		node_post(initiator, RR_WORK_READ, initiator->memory, 10, region.handle, region.offset, i);
	node_collect(initiator);
	node_feed(responder, initiator->out, initiator->out_size, NODE_STREAM, NULL);
	node_collect(responder);
	assert_int_equal(node_terminate_cause(responder), RR_CAUSE_DDP_NO_BUFFER);
}

static void
a_terminate_is_understood_in_the_order_of_the_specification_and_of_linux(void **state)
{
	static const struct {
		const char *control;
		int status;
		const char *text;
	} terminates[] = {
		{ "1202 0000", -RPCRDMA_ERR_DISCONNECTED, "no buffer" },
		{ "2102 0300", -RPCRDMA_ERR_DISCONNECTED, "no buffer" },
		{ "1100 c000 000e c140 00000001 0000000000000000", -RPCRDMA_ERR_ACCESS, "invalid STag" },
		{ "1100 0300", -RPCRDMA_ERR_ACCESS, "invalid STag" },
		{ "2009 0300", -RPCRDMA_ERR_ACCESS, "cannot be invalidated" },
		{ "2006 0300", -RPCRDMA_ERR_DISCONNECTED, "opcode" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(terminates) / sizeof(terminates[0]); i++) {
		struct rr_octets control = rr_hex(terminates[i].control);
		uint8_t fpdu[100] = { 0 };
		struct rr_ddp_header header = {
			.last = true, .opcode = RR_RDMAP_TERMINATE, .queue = 2, .msn = 1
		};

		rr_put_be16(fpdu, (uint16_t)(18 + control.size));
		rr_ddp_put(fpdu + 2, &header);
		memcpy(fpdu + 20, control.data, control.size);
		node_post(responder, RR_WORK_SEND, "x", 1, 0, 0, 1);
		node_feed(responder, fpdu, rr_fpdu_size(18 + control.size), 1, NULL);
		assert_int_equal(responder->engine.state, RR_IWARP_OVER);
		assert_int_equal(responder->engine.status, terminates[i].status);
		assert_non_null(strstr(responder->engine.text.text, terminates[i].text));
		rr_iwarp_flush(&responder->engine);
		assert_int_equal(responder->engine.base.outstanding, 0);
		teardown(NULL);
		setup(NULL);
	}
}

/* Whatever of a large Read Response has left, the rest is not taken from memory that is no region any more.
 */
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
		rr_iwarp_received(&responder->engine, initiator->out_size);
		assert_true(rr_iwarp_output(&responder->engine, &vectors) > 0);
		if (taken)
			rr_iwarp_taken(&responder->engine, taken);
		rr_iwarp_invalidate(&responder->engine, region.handle);
		assert_int_equal(responder->engine.state, RR_IWARP_OVER);
		assert_int_equal(rr_iwarp_output(&responder->engine, &vectors), 0);
		teardown(NULL);
		setup(NULL);
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
	rr_iwarp_received(&responder->engine, 52);
	assert_true(rr_iwarp_output(&responder->engine, &vectors) > 0);
	memcpy(responder->shared.scratch, initiator->out + 52, initiator->out_size - 52);
	rr_iwarp_received(&responder->engine, initiator->out_size - 52);
	assert_int_equal(responder->engine.state, RR_IWARP_OVER);
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
	rr_iwarp_invalidate(&responder->engine, region.handle);
	assert_int_equal(responder->engine.state, RR_IWARP_OVER);
	assert_int_equal(rr_iwarp_space(&responder->engine, (struct iovec[2]){ 0 }), 0);
	teardown(NULL);
	setup(NULL);
	region = node_register(responder, 0, 10000, RR_REMOTE_WRITE);
	node_post(initiator, RR_WORK_WRITE, payload, 100, region.handle, region.offset, 1);
	node_exchange(initiator, responder);
	rr_iwarp_invalidate(&responder->engine, region.handle);
	assert_int_equal(responder->engine.state, RR_IWARP_OPEN);
}

static void
the_end_in_the_middle_of_a_message_is_told_as_such(void **state)
{
	(void)state;
	node_post(initiator, RR_WORK_SEND, payload, 100, 0, 0, 1);
	node_collect(initiator);
	node_feed(responder, initiator->out, 60, NODE_STREAM, NULL);
	rr_iwarp_eof(&responder->engine);
	assert_non_null(strstr(responder->engine.text.text, "in the middle of a message"));
	rr_iwarp_eof(&initiator->engine);
	assert_string_equal(initiator->engine.text.text, "the peer closed the connection");
}

static int
length_of(const struct rr_list *list)
{
	int length = 0;

	rr_list_for_each (link, list)
		length++;
	return length;
}

/* Those who could all send nothing for a while leave no more batches behind than a fabric needs. */
static void
few_batches_are_kept(void **state)
{
	struct rr_iwarp_batch *batches[300];

	(void)state;
	for (int i = 0; i < 300; i++) {
		assert_true(rr_iwarp_batch_open(&initiator->engine));
		batches[i] = initiator->engine.tx.batch;
		initiator->engine.tx.batch = NULL;
	}
	for (int i = 0; i < 300; i++) {
		initiator->engine.tx.batch = batches[i];
		rr_iwarp_batch_close(&initiator->engine);
	}
	assert_true(length_of(&initiator->shared.batches) < 100);
	for (int i = 0; i < 300; i++)
		node_post(initiator, RR_WORK_SEND, "x", 1, 0, 0, 0);
	node_collect(initiator);
	assert_true(length_of(&initiator->shared.batches) > 0);
}

/* However few regions there may be at a time, each has a handle that is known until it is removed. */
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
				assert_int_equal(rr_regions_add(&regions, &initiator->env, payload + i, 1,
							 RR_REMOTE_READ, &region[i]),
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
		rr_regions_destroy(&regions, &initiator->env);
	}
}

/* A segment that is too short for its header is shown without one, and without what lay there before. */
static void
the_terminate_shows_no_more_than_what_came(void **state)
{
	struct rr_octets good = rr_hex("0016 4143 00000000 00000000 00000001 00000000 61626364 00000000");
	struct rr_octets bad = rr_hex("0002 4243 00000000");
	struct rr_terminate terminate;

	(void)state;
	node_feed(responder, good.data, good.size, NODE_STREAM, NULL);
	node_feed(responder, bad.data, bad.size, NODE_STREAM, NULL);
	node_collect(responder);
	assert_int_equal(node_terminate_cause(responder), RR_CAUSE_DDP_UNTAGGED_VERSION);
	assert_true(rr_terminate_get(responder->out + 20, rr_get_be16(responder->out) - 18u, &terminate));
	assert_null(terminate.ddp_header);
}

/* What is left of a payload is read by itself, and not in pieces of the size of a header. */
static void
the_rest_of_a_long_payload_is_taken_in_one_read(void **state)
{
	struct rr_region region = node_register(responder, 0, 40000, RR_REMOTE_WRITE);
	struct iovec vectors[2];

	(void)state;
	rr_iwarp_set_emss(&initiator->engine, 65480);
	node_post(initiator, RR_WORK_WRITE, payload, 40000, region.handle, region.offset, 1);
	node_collect(initiator);
	node_feed(responder, initiator->out, initiator->out_size - RR_FPDU_CRC_SIZE - 100, NODE_STREAM, NULL);
	assert_int_equal(responder->engine.rx.left, 100);
	assert_int_equal(rr_iwarp_space(&responder->engine, vectors), 2);
	assert_int_equal(vectors[0].iov_len, 100);
	assert_ptr_equal(vectors[0].iov_base, responder->memory + 40000 - 100);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(fpdus_are_written_as_linux_writes_them),
		TEST(row_A13_a_message_is_cut_to_the_size_of_tcp_segments),
		TEST(what_tcp_takes_at_a_time_does_not_matter),
		TEST(a_responder_is_silent_until_it_is_spoken_to),
		TEST(reads_beyond_ord_wait_and_keep_the_order),
		TEST(responses_and_work_take_turns),
		TEST(each_fault_has_its_cause),
		TEST(a_damaged_head_is_a_wrong_crc_and_nothing_else),
		TEST(a_terminate_of_any_length_is_understood),
		TEST(row_A12_a_read_response_must_be_what_was_asked_for),
		TEST(the_terminate_shows_what_was_wrong),
		TEST(more_reads_than_allowed_end_the_connection),
		TEST(a_terminate_is_understood_in_the_order_of_the_specification_and_of_linux),
		TEST(invalidation_stops_a_response_wherever_it_is),
		TEST(a_peer_must_not_invalidate_what_it_is_reading),
		TEST(invalidation_stops_a_write_in_the_middle_of_an_fpdu_only),
		TEST(the_end_in_the_middle_of_a_message_is_told_as_such),
		TEST(few_batches_are_kept),
		TEST(handles_of_small_tables_are_known),
		TEST(the_terminate_shows_no_more_than_what_came),
		TEST(the_rest_of_a_long_payload_is_taken_in_one_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
