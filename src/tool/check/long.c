/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "tool/check/chunk.h"

/* Cases about Long Calls, Long Replies, and arguments in Read chunks. The arguments of READDIRPLUS behind the
 * file handle are cookie and cookieverf (two words each), dircount and maxcount (RFC 1813, 3.3.17). */

enum { LONG_CHUNK = 16384, LONG_SMALL = 32, LONG_DATA = 1001, LONG_LIMIT = 1024, LONG_ENTRIES = 8192 };

/* ---- Reply chunks ---- */

/* Offers a Reply chunk in a GETATTR call. Checks that the reply comes either inline or in the Reply chunk,
 * and not in both (RFC 8166, 4.3.3), and that nothing is written behind the reply in the chunk. */
static enum rr_check_verdict
long_reply(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct rr_check_call call = { .proc = NFSPROC3_GETATTR,
		.args = rr_check_args(args, &rr_check_no_handle, NULL, 0) };
	enum rr_check_verdict verdict = RR_CHECK_PASS;
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;
	uint64_t total;

	if (!rr_check_offer(peer, &chunk, 2, LONG_CHUNK))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_reply_chunk(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	total = reply.lists.has_reply ? rr_chunk_length(&reply.lists.reply) : 0;
	if (reply.result != RR_HEADER_OK || reply.header.proc > RR_RDMA_NOMSG)
		verdict = rr_check_fail(why, "a message of procedure %u", reply.header.proc);
	else if (reply.lists.has_reply)
		verdict = rr_check_returned(&chunk, &reply.lists.reply, why);
	if (verdict == RR_CHECK_PASS && (total == 0) != (reply.header.proc == RR_RDMA_MSG))
		verdict = rr_check_fail(why, "procedure %u with %llu octets in the Reply chunk",
			reply.header.proc, (unsigned long long)total);
	if (verdict == RR_CHECK_PASS && total > 0 && rr_get_be32(chunk.data) != call.xid)
		verdict = rr_check_fail(why, "the Reply chunk does not begin with the XID");
	if (verdict == RR_CHECK_PASS && !rr_check_is_untouched(&chunk, total))
		verdict = rr_check_fail(why, "octets behind the reply were written");
	rr_check_forget(&reply);
	return verdict;
}

/* Lists a directory with a Reply chunk of 32 octets, which is too small for the list. Checks that the error
 * ERR_CHUNK comes back (RFC 8166, 4.5.3 and 6.1). The case is skipped if the list comes inline in at most
 * 4096 octets. */
static enum rr_check_verdict
long_too_small(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct rr_check_call call = { .proc = NFSPROC3_READDIRPLUS,
		.args = RR_CHECK_ARGS(
			args, &peer->check->directory, 0, 0, 0, 0, LONG_ENTRIES, LONG_ENTRIES) };
	struct rr_check_reply reply;
	struct rr_check_chunk chunk;
	uint32_t length;
	bool is_inline;

	if (!rr_check_offer(peer, &chunk, 1, LONG_SMALL))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = rr_check_reply_chunk(&chunk);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	is_inline = reply.result == RR_HEADER_OK && reply.header.proc == RR_RDMA_MSG;
	length = reply.message->length;
	if (!is_inline && reply.result == RR_HEADER_OK && reply.header.proc == RR_RDMA_ERROR &&
		reply.header.xid == call.xid && reply.header.err == RR_ERR_CHUNK) {
		rr_check_forget(&reply);
		return rr_check_null(peer, why);
	}
	rr_check_forget(&reply);
	if (is_inline && length <= 4096)
		return rr_check_skip(why, "the directory's list fits inline, in %u octets", length);
	return rr_check_fail(why, "procedure %u, where ERR_CHUNK is due", reply.header.proc);
}

/* Announces by private data that this requester receives at most 1024 octets, and lists a directory without a
 * Reply chunk. Checks that the responder's message has at most 1024 octets (RFC 8166, 3.3.2). */
static enum rr_check_verdict
long_threshold(struct rr_check_peer *peer, struct rr_text *why)
{
	const struct rr_private_data own = { LONG_LIMIT, LONG_LIMIT, false };
	uint8_t args[RR_CHECK_ARGS_MAX], octets[RR_PRIVATE_DATA_SIZE];
	struct rr_check_call call = { .proc = NFSPROC3_READDIRPLUS };
	struct rr_check_reply reply;
	uint32_t length;

	rr_private_data_put(octets, &own);
	if (rr_check_connect(peer, octets, sizeof(octets)) < 0)
		return rr_check_fail(why, "no connection: %.200s", peer->why.text);
	call.args = RR_CHECK_ARGS(args, &peer->check->directory, 0, 0, 0, 0, LONG_ENTRIES, LONG_ENTRIES);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	length = reply.message->length;
	rr_check_forget(&reply);
	return length <= LONG_LIMIT ? RR_CHECK_PASS
				    : rr_check_fail(why, "a Send of %u octets, to a requester that takes %d",
					      length, LONG_LIMIT);
}

/* ---- Read chunks ---- */

/* Copies the data into new memory that the server can read by RDMA Read, and describes that memory in
 * *segment. Returns false if there is no memory, or it cannot be registered. */
static bool
long_expose(struct rr_check_peer *peer, const void *data, uint32_t size, struct rr_segment *segment)
{
	uint8_t *octets;

	if (rr_check_register(peer, size, RR_REMOTE_READ, &octets, segment) < 0)
		return false;
	memcpy(octets, data, size);
	return true;
}

/* Receives the answer to a call whose arguments the server fetched by RDMA Read. Checks that an RPC reply
 * with this XID comes inline, and that the server could decode the arguments. The status of NFS in the reply
 * does not matter. The case is skipped if the server has no NFS version 3. */
static enum rr_check_verdict
long_answered(struct rr_check_peer *peer, uint32_t xid, struct rr_text *why)
{
	struct rr_check_reply reply;
	enum rr_check_verdict verdict = RR_CHECK_PASS;

	if (!rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	if (reply.result != RR_HEADER_OK || reply.header.xid != xid || !reply.has_rpc)
		verdict = rr_check_fail(why, "procedure %u, where a reply inline is due", reply.header.proc);
	else if (reply.rpc.accept_stat == RR_PROG_MISMATCH)
		verdict = rr_check_skip(why, "the server has no NFS version 3");
	else if (reply.rpc.reply_stat != RR_MSG_ACCEPTED || reply.rpc.accept_stat != RR_SUCCESS)
		verdict = rr_check_fail(why, "the server could not decode the arguments: accept_stat %u",
			reply.rpc.accept_stat);
	rr_check_forget(&reply);
	return verdict;
}

/* Makes a GETATTR call whose whole RPC message is in a Read chunk at position zero. The chunk has one or two
 * segments, as `segments` says. Checks that the server answers. */
static enum rr_check_verdict
long_call(struct rr_check_peer *peer, uint32_t segments, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], rpc[1024];
	struct rr_check_call call = { .xid = rr_random_u32(&rr_env_system) | 1,
		.proc = NFSPROC3_GETATTR,
		.rdma_proc = RR_RDMA_NOMSG,
		.no_rpc = true };
	struct rr_read_segment reads[2] = { 0 };
	uint32_t size, half;

	call.args = rr_check_args(args, &rr_check_no_handle, NULL, 0);
	size = rr_check_put_rpc(peer, &call, rpc, sizeof(rpc));
	half = segments == 1 ? size : size / 2;
	if (size == 0 || !long_expose(peer, rpc, half, &reads[0].target))
		return rr_check_fail(why, "memory cannot be registered");
	if (segments == 2 && !long_expose(peer, rpc + half, size - half, &reads[1].target))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = (struct rr_chunk_lists){ .reads = reads, .read_count = segments };
	if (rr_check_call(peer, &call) < 0)
		return rr_check_fail(why, "it cannot be sent");
	return long_answered(peer, call.xid, why);
}

/* The Read chunk at position zero has one segment. */
static enum rr_check_verdict
long_call_one(struct rr_check_peer *peer, struct rr_text *why)
{
	return long_call(peer, 1, why);
}

/* The Read chunk at position zero has two segments, each with a half of the call. */
static enum rr_check_verdict
long_call_two(struct rr_check_peer *peer, struct rr_text *why)
{
	return long_call(peer, 2, why);
}

/* Makes a WRITE call whose data is in a Read chunk. The call's stream ends with the length of the data, so
 * that the chunk's position is the end of the stream. The chunk has `padding` more octets behind the data.
 * The file handle of the call is not valid, so nothing is written. Checks that the server answers. */
static enum rr_check_verdict
long_write(struct rr_check_peer *peer, uint32_t padding, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX], rpc[1024];
	static const uint8_t data[LONG_DATA + 3];
	struct rr_check_call call = { .xid = rr_random_u32(&rr_env_system) | 1,
		.proc = NFSPROC3_WRITE,
		.args = RR_CHECK_ARGS(args, &rr_check_no_handle, 0, 0, LONG_DATA, UNSTABLE, LONG_DATA) };
	struct rr_read_segment read = { .position = rr_check_put_rpc(peer, &call, rpc, sizeof(rpc)) };

	if (read.position == 0 || !long_expose(peer, data, LONG_DATA + padding, &read.target))
		return rr_check_fail(why, "memory cannot be registered");
	call.lists = (struct rr_chunk_lists){ .reads = &read, .read_count = 1 };
	if (rr_check_call(peer, &call) < 0)
		return rr_check_fail(why, "it cannot be sent");
	return long_answered(peer, call.xid, why);
}

/* The Read chunk has the 1001 octets of the data, and no padding to a multiple of four. */
static enum rr_check_verdict
long_write_unpadded(struct rr_check_peer *peer, struct rr_text *why)
{
	return long_write(peer, 0, why);
}

/* The Read chunk has the 1001 octets of the data, and three octets of padding behind them. */
static enum rr_check_verdict
long_write_padded(struct rr_check_peer *peer, struct rr_text *why)
{
	return long_write(peer, 3, why);
}

#define LONG_CASE(name_, row_, section_, text_, directory, run_)                                             \
	{                                                                                                    \
		.name = name_, .row = row_, .section = section_, .text = text_, .version_1 = true,           \
		.version_2 = true, .needs_directory = directory, .run = run_                                 \
	}

const struct rr_check_case rr_check_long_cases[] = {
	LONG_CASE("A9-reply-chunk", "A9", "RFC 8166, 4.3.3",
		"a reply is inline or in its Reply chunk, which comes back as it was offered", false,
		long_reply),
	LONG_CASE("B3-reply-chunk-too-small", "B3", "RFC 8166, 4.5.3",
		"a reply that does not fit its Reply chunk gets ERR_CHUNK", true, long_too_small),
	{ .name = "B2-threshold",
		.row = "B2",
		.section = "RFC 8166, 3.3.2",
		.text = "no Send is larger than the 1024 octets that a requester announced",
		.version_1 = true,
		.needs_directory = true,
		.connects = true,
		.run = long_threshold },
	LONG_CASE("A5-long-call", "A5", "RFC 8166, 3.5.3", "a call in a position-zero Read chunk is answered",
		false, long_call_one),
	LONG_CASE("A11-long-call-segments", "A11", "RFC 8166, 3.4.5",
		"a call in a position-zero Read chunk of two segments is answered", false, long_call_two),
	LONG_CASE("B5-read-chunk", "B5", "RFC 8166, 3.4.5.2", "a Read chunk of 1001 octets is taken", false,
		long_write_unpadded),
	LONG_CASE("B5-read-chunk-padded", "B5", "RFC 8166, 3.4.5.2",
		"a Read chunk of 1001 octets and three of padding is taken", false, long_write_padded),
	{ 0 },
};
