/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "tool/check/chunk.h"

/* Cases that move data: READ, READDIRPLUS, GETATTR, and a WRITE that no server can execute. */

enum { ROOM = 4096, COUNT = 1001, LARGE = 65536 };

/* ---- READ ---- */

/* Reads the first `count` octets of the file into out by a READ call without chunks, so that the reply has
 * the data inline. Returns the number of octets that were read. Returns 0 if that failed; `why` then has the
 * reason. */
static uint32_t
data_read_inline(struct rr_check_peer *peer, uint8_t *out, uint32_t count, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct rr_check_call call = { .proc = NFSPROC3_READ,
		.args = RR_CHECK_ARGS(args, &peer->check->file, 0, 0, count) };
	struct rr_check_reply reply;
	uint32_t length = 0, head;
	const uint8_t *results;

	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return 0;
	results = reply.results.data;
	/* READ3resok: status, post_op_attr, count, eof, length, data (RFC 1813, 3.3.6). The first word of
	 * post_op_attr says whether 84 octets of attributes follow, which a server may leave out. */
	head = reply.results.length >= 20 && rr_get_be32(results + 4) == 0 ? 20 : 104;
	if (reply.has_rpc && reply.results.length >= head && rr_get_be32(results) == 0)
		length = rr_get_be32(results + head - 4);
	if (length == 0 || length > count || length > reply.results.length - head)
		rr_check_fail(why, "READ inline does not answer with data");
	else
		memcpy(out, results + head, length);
	length = length <= count && reply.results.length >= head + length ? length : 0;
	rr_check_forget(&reply);
	return length;
}

/* Reads COUNT octets by READ into a Write chunk of `segments` segments of `size` octets each. Checks that the
 * chunk then has the same octets as a READ without chunks returns, and that nothing was written behind these
 * octets. */
static enum rr_check_verdict
data_read(struct rr_check_peer *peer, uint32_t segments, uint32_t size, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], expected[COUNT];
	struct rr_check_call call = { .proc = NFSPROC3_READ,
		.args = RR_CHECK_ARGS(args, &peer->check->file, 0, 0, COUNT) };
	enum rr_check_verdict verdict = RR_CHECK_PASS;
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;
	uint64_t total;

	if (data_read_inline(peer, expected, COUNT, why) != COUNT)
		return RR_CHECK_FAIL;
	if (!rr_check_offer(peer, &chunk, segments, size))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_write_list(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	if (reply.result != RR_HEADER_OK || !reply.has_rpc || reply.lists.write_count != 1)
		verdict = rr_check_fail(why, "procedure %u with %u Write chunks came back", reply.header.proc,
			reply.lists.write_count);
	else
		verdict = rr_check_returned(&chunk, &reply.lists.writes[0], why);
	total = verdict == RR_CHECK_PASS ? rr_chunk_length(&reply.lists.writes[0]) : 0;
	rr_check_forget(&reply);
	if (verdict != RR_CHECK_PASS)
		return verdict;
	if (total != COUNT)
		return rr_check_fail(why, "%llu octets, where %d are due", (unsigned long long)total, COUNT);
	if (memcmp(chunk.data, expected, COUNT) != 0)
		return rr_check_fail(why, "the octets are not those of the same READ inline");
	return rr_check_is_untouched(&chunk, COUNT)
		       ? RR_CHECK_PASS
		       : rr_check_fail(why, "octets behind the data were written");
}

/* Checks READ into a Write chunk of one segment, which has room for more than the data. */
static enum rr_check_verdict
data_read_one(struct rr_check_peer *peer, struct rr_text *why)
{
	return data_read(peer, 1, ROOM, why);
}

/* Checks READ of 1001 octets into a Write chunk of four segments of 300 octets: the data fills three
 * segments, and a part of the last one. */
static enum rr_check_verdict
data_read_segments(struct rr_check_peer *peer, struct rr_text *why)
{
	return data_read(peer, 4, 300, why);
}

/* Reads 64 KiB by READ into a Write chunk. Checks that at least 5000 octets arrive, and that the first COUNT
 * of them are the octets that a READ without chunks returns. */
static enum rr_check_verdict
data_read_large(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], expected[COUNT];
	struct rr_check_call call = { .proc = NFSPROC3_READ,
		.args = RR_CHECK_ARGS(args, &peer->check->file, 0, 0, LARGE) };
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;
	uint64_t total;

	if (data_read_inline(peer, expected, COUNT, why) != COUNT)
		return RR_CHECK_FAIL;
	if (!rr_check_offer(peer, &chunk, 1, LARGE))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_write_list(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	total = reply.lists.write_count == 1 ? rr_chunk_length(&reply.lists.writes[0]) : 0;
	rr_check_forget(&reply);
	if (total < RR_CHECK_FILE_LEAST || memcmp(chunk.data, expected, COUNT) != 0)
		return rr_check_fail(why, "%llu octets came by RDMA Write", (unsigned long long)total);
	return RR_CHECK_PASS;
}

/* Makes a READ call that fails, as its file handle is not valid. Checks that the reply has the Write chunk
 * that the call offered, with length 0. RFC 8166, 4.3.2.2: "the Responder MUST return this Write chunk as an
 * unused Write chunk". */
static enum rr_check_verdict
data_unused(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct rr_check_call call = { .proc = NFSPROC3_READ,
		.args = RR_CHECK_ARGS(args, &rr_check_no_handle, 0, 0, COUNT) };
	enum rr_check_verdict verdict;
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;

	if (!rr_check_offer(peer, &chunk, 2, ROOM))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_write_list(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	if (reply.result != RR_HEADER_OK || reply.lists.write_count != 1)
		verdict = rr_check_fail(why, "procedure %u with %u Write chunks came back", reply.header.proc,
			reply.lists.write_count);
	else
		verdict = rr_check_returned(&chunk, &reply.lists.writes[0], why);
	if (verdict == RR_CHECK_PASS && rr_chunk_length(&reply.lists.writes[0]) > 0)
		verdict = rr_check_fail(why, "the chunk of a READ that failed has octets");
	rr_check_forget(&reply);
	return verdict;
}

/* Connects with the private data `own`, and makes a READ call that offers a Write chunk. Checks that the
 * responder replies by Send With Invalidate only if both sides announced support of it by the flag R, and
 * only for the handle that the call offered. RFC 8797, 4.1, if this side did not set R: "the responder MUST
 * use only RDMA Send". */
static enum rr_check_verdict
data_invalidation(struct rr_check_peer *peer, const struct rr_private_data *own, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], octets[RR_PRIVATE_DATA_SIZE];
	struct rr_check_call call = { .proc = NFSPROC3_READ,
		.args = RR_CHECK_ARGS(args, &peer->check->file, 0, 0, COUNT) };
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;
	bool invalidated, is_own, allowed;

	rr_private_data_put(octets, own);
	if (rr_check_connect(peer, octets, sizeof(octets)) < 0)
		return rr_check_fail(why, "no connection: %.200s", peer->why.text);
	if (!rr_check_offer(peer, &chunk, 1, ROOM))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_write_list(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	invalidated = reply.message->invalidated;
	is_own = reply.message->handle == chunk.segments[0].handle;
	rr_check_forget(&reply);
	allowed = own->remote_invalidation && peer->invalidates;
	if (invalidated && !allowed)
		return rr_check_fail(why, "Send With Invalidate, and %s did not announce support",
			own->remote_invalidation ? "the responder" : "this requester");
	if (invalidated && !is_own)
		return rr_check_fail(why, "Send With Invalidate of a handle that the call did not offer");
	return RR_CHECK_PASS;
}

/* Checks data_invalidation() if this side does not announce, by the flag R in its private data, that it
 * supports Send With Invalidate: the responder must not use it. */
static enum rr_check_verdict
data_invalidation_cleared(struct rr_check_peer *peer, struct rr_text *why)
{
	return data_invalidation(peer, &(struct rr_private_data){ 4096, 4096, false }, why);
}

/* Checks data_invalidation() if this side announces, by the flag R in its private data, that it supports Send
 * With Invalidate: the responder may use it if it announced that, too. */
static enum rr_check_verdict
data_invalidation_agreed(struct rr_check_peer *peer, struct rr_text *why)
{
	return data_invalidation(peer, &(struct rr_private_data){ 4096, 4096, true }, why);
}

const struct rr_check_case rr_check_data_cases[] = {
	{ .name = "A11-read-write-chunk",
		.row = "A11",
		.section = "RFC 8166, 3.4.6",
		.text = "READ fills a Write chunk from its start, with the file's octets, and without "
			"padding",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = data_read_one },
	{ .name = "A11-read-segments",
		.row = "A11",
		.section = "RFC 8166, 3.4.6",
		.text = "READ fills the segments of a Write chunk one after the other",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = data_read_segments },
	{ .name = "A11-read-large",
		.row = "A11",
		.section = "RFC 8166, 3.4.6",
		.text = "READ of 64 KiB comes by RDMA Write",
		.version_1 = true,
		.version_2 = true,
		.needs_file = true,
		.run = data_read_large },
	{ .name = "A8-unused-write-chunk",
		.row = "A8",
		.section = "RFC 8166, 4.3.2.2",
		.text = "a READ that fails returns its Write chunk, with lengths of zero",
		.version_1 = true,
		.version_2 = true,
		.run = data_unused },
	{ .name = "B10-cleared",
		.row = "B10",
		.section = "RFC 8797, 4.1",
		.text = "no Send With Invalidate to a requester that did not announce support",
		.version_1 = true,
		.needs_file = true,
		.connects = true,
		.run = data_invalidation_cleared },
	{ .name = "B10-agreed",
		.row = "B10",
		.section = "RFC 8797, 4.1",
		.text = "Send With Invalidate only where the responder announced support, too",
		.version_1 = true,
		.needs_file = true,
		.connects = true,
		.run = data_invalidation_agreed },
	{ 0 },
};
