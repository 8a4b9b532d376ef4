/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../hex.h"
#include "base/crc32c.h"
#include "pair.h"

/* The faults of a peer, with the Terminate that answers each; and Terminates of a peer. */

/* Feeds the FPDU to the responder; returns the cause of its Terminate. */
static int
answer_to(const char *digits)
{
	struct rr_octets octets = rr_hex(digits);
	size_t size = octets.size - RR_FPDU_CRC_SIZE;

	if (responder->iwarp.crc)
		rr_fpdu_put_crc(octets.data + size, rr_crc32c(0, octets.data, size));
	node_feed(responder, octets.data, octets.size, NODE_STREAM, NULL);
	node_collect(responder);
	if (responder->iwarp.state != RR_IWARP_CLOSING)
		return 0;
	assert_true(responder->iwarp.status < 0);
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
		/* A Read Response without a request, a Read of no region, and Read Requests that are cut, out
		 * of sequence, or have a message offset. */
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
		/* There is no room for a header. */
		{ "0000 0000 00000000", RR_CAUSE_MPA_FRAMING },
		{ "0001 4100 00000000", RR_CAUSE_MPA_FRAMING },
		{ "0009 c140 00000000 000000 00 00000000", RR_CAUSE_MPA_FRAMING },
	};

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof(faults) / sizeof(faults[0])); i++) {
		responder->iwarp.crc = i % 2;
		assert_int_equal(answer_to(faults[i / 2].fpdu), faults[i / 2].cause);
		assert_string_equal(responder->log, "");
		pair_renew();
	}
}

/* RFC 5044, 6: "An MPA receiver MUST first verify the FPDU before passing the ULPDU to DDP": a head that was
 * damaged on its way is reported as a wrong CRC, whatever else is wrong with it. */
static void
a_damaged_head_is_a_wrong_crc_and_nothing_else(void **state)
{
	struct rr_region region = node_register(responder, 0, 20000, RR_REMOTE_WRITE);
	enum rr_work_kind kinds[] = { RR_WORK_SEND, RR_WORK_SEND_INVALIDATE, RR_WORK_WRITE, RR_WORK_READ };
	size_t first = RR_FPDU_LENGTH_SIZE, bits = 8 * RR_DDP_UNTAGGED_SIZE;

	(void)state;
	for (size_t i = 0; i < 4 * bits; i++) {
		bool writes = kinds[i / bits] == RR_WORK_WRITE;

		initiator->iwarp.crc = responder->iwarp.crc = true;
		node_post(initiator, kinds[i / bits], writes ? payload : initiator->memory,
			writes ? 20000 : 10, region.handle, region.offset, 1);
		node_collect(initiator);
		initiator->out[first + i % bits / 8] ^= (uint8_t)(1 << i % 8);
		node_feed(responder, initiator->out, initiator->out_size, 1 + i % 3000, NULL);
		node_collect(responder);
		assert_int_equal(responder->iwarp.status, -RPCRDMA_ERR_PEER);
		assert_int_equal(node_terminate_cause(responder), RR_CAUSE_MPA_CRC);
		assert_string_equal(responder->log, "");
		pair_renew();
		region = node_register(responder, 0, 20000, RR_REMOTE_WRITE);
	}
}

/* A Terminate that is longer than any Terminate can be is understood all the same. */
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
		assert_int_equal(responder->iwarp.state, RR_IWARP_OVER);
		assert_non_null(strstr(
			responder->iwarp.text.text, size < 4 ? "no cause given" : "no buffer available"));
		pair_renew();
	}
}

/* Feeds this Read Response to an initiator that waits for 8 octets; returns the cause of its Terminate. */
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
	header.stag = initiator->iwarp.tx.sink ^ stag_change;
	rr_put_be16(fpdu, (uint16_t)(RR_DDP_TAGGED_SIZE + payload_size));
	rr_ddp_put(fpdu + 2, &header);
	node_feed(initiator, fpdu, rr_fpdu_size(RR_DDP_TAGGED_SIZE + payload_size), 9, NULL);
	node_collect(initiator);
	return initiator->iwarp.state == RR_IWARP_OPEN ? 0 : node_terminate_cause(initiator);
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
		pair_renew();
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
	assert_non_null(strstr(responder->iwarp.text.text, "handle 0x00000001, offset 0x7, length 4"));
}

/* RFC 5040, 5.2.2: the responder has "a sufficient number of Untagged Buffers ... available on the RDMA Read
 * Request Queue" for what was negotiated; RFC 5041, 7.2: "Invalid MSN - no buffer available". */
static void
more_reads_than_allowed_end_the_connection(void **state)
{
	struct rr_region region = node_register(responder, 0, 100, RR_REMOTE_READ);

	(void)state;
	initiator->iwarp.tx.ord = 3;
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
		assert_int_equal(responder->iwarp.state, RR_IWARP_OVER);
		assert_int_equal(responder->iwarp.status, terminates[i].status);
		assert_non_null(strstr(responder->iwarp.text.text, terminates[i].text));
		rr_iwarp_flush(&responder->iwarp);
		assert_int_equal(responder->iwarp.base.outstanding, 0);
		pair_renew();
	}
}

/* The Terminate for a segment that is too short for its header shows no header, and no octets that were in
 * the buffer before. */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(each_fault_has_its_cause),
		PAIR_TEST(a_damaged_head_is_a_wrong_crc_and_nothing_else),
		PAIR_TEST(a_terminate_of_any_length_is_understood),
		PAIR_TEST(row_A12_a_read_response_must_be_what_was_asked_for),
		PAIR_TEST(the_terminate_shows_what_was_wrong),
		PAIR_TEST(more_reads_than_allowed_end_the_connection),
		PAIR_TEST(a_terminate_is_understood_in_the_order_of_the_specification_and_of_linux),
		PAIR_TEST(the_terminate_shows_no_more_than_what_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
