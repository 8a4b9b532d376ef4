/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target functions: rr_decoder_packet, rr_decoder_finish, rr_roce_parse, rr_cm_parse,
 * rr_judge_sink, rr_operations_read. The input: an octet
 * that chooses the link type and small limits, then packets, each behind two octets of its length. Whatever
 * they are, memory stays within the limit and is given back.
 */
#include "base/endian.h"
#include "decode/judge/judge.h"
#include "decode/operations.h"
#include "fuzz.h"

struct meter {
	size_t messages, notes;
};

static void
on_message(void *ctx, const struct rr_message *message)
{
	struct meter *meter = ctx;
	const struct rr_chunk_lists *lists = &message->lists;
	struct rr_operations operations;
	uint64_t octets = 0;

	for (uint32_t i = 0; i < lists->read_count; i++)
		octets += lists->reads[i].target.length;
	for (uint32_t i = 0; i < lists->write_count; i++)
		octets += rr_chunk_length(&lists->writes[i]);
	if (lists->has_reply)
		octets += rr_chunk_length(&lists->reply);
	rr_require(octets <= (uint64_t)UINT32_MAX * (RR_MESSAGE_READS + RR_MESSAGE_SEGMENTS));
	rr_require(message->sent.moment.from < 2 && message->sent.moment.ends);
	rr_require(!rr_operations_read(message, &operations) || operations.count <= RR_OPERATIONS_MAX);
	meter->messages++;
}

static void
on_opened(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	(void)ctx;
	(void)moment;
	rr_require(handshake->private_data.length <= RR_MPA_PRIVATE_MAX);
}

static void
on_operation(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
	const struct rr_decode_region *region)
{
	(void)ctx;
	(void)moment;
	rr_require(!region || op->length <= region->segment.length);
}

static void
on_note(void *ctx, const struct rr_moment *moment, const char *text)
{
	(void)moment;
	((struct meter *)ctx)->notes += text != NULL;
}

static void
on_finding(void *ctx, const struct rr_finding *finding)
{
	(void)ctx;
	rr_require(finding->rule < RR_RULES && finding->moment.from < 2);
}

/* Decodes the packets into the sink, and returns the number of messages. */
static uint64_t
decode(const uint8_t *data, size_t size, const struct rr_decode_sink *sink)
{
	static const int links[] = { RR_LINK_RAW, RR_LINK_ETHERNET, RR_LINK_SLL, RR_LINK_SLL2, RR_LINK_NULL };
	const struct rr_decode_limits limits = { 1 << 20, 4, 16 };
	int link = links[data[0] % (sizeof(links) / sizeof(*links))];
	struct rr_decoder *decoder;
	uint64_t messages;

	rr_require(rr_decoder_new(&rr_env_system, &limits, sink, &decoder) == 0);
	for (size_t at = 1; at + 2 <= size;) {
		size_t length = rr_get_be16(data + at);

		at += 2;
		length = length < size - at ? length : size - at;
		rr_decoder_packet(decoder, link, at, data + at, length);
		at += length;
	}
	rr_decoder_finish(decoder);
	messages = rr_decoder_counters(decoder).messages;
	rr_decoder_free(decoder);
	return messages;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meter meter = { 0 };
	struct rr_decode_sink sink = { .message = on_message,
		.opened = on_opened,
		.operation = on_operation,
		.note = on_note,
		.ctx = &meter };
	struct rr_judge *judge;

	if (size == 0)
		return 0;
	rr_require(decode(data, size, &sink) == meter.messages);
	rr_require(rr_judge_new(&rr_env_system, on_finding, NULL, &judge) == 0);
	sink = rr_judge_sink(judge);
	decode(data, size, &sink);
	rr_judge_finish(judge);
	rr_judge_free(judge);
	return 0;
}
