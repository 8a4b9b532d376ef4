/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "tool/check/check.h"

/* Cases about connections, fixed words and credits; NULL calls suffice for them. */

static enum rr_check_verdict
header_reply(struct rr_check_peer *peer, struct rr_text *why)
{
	return rr_check_null(peer, why);
}

/* Makes a NULL call, and checks that the next message that comes grants credits. RFC 8166, 3.3.1: "The
 * granted value MUST NOT be zero". */
static enum rr_check_verdict
header_grant(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_check_call call = { 0 };
	struct rr_check_reply reply;
	uint32_t credit;

	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	credit = reply.header.credit;
	rr_check_forget(&reply);
	return credit > 0 ? RR_CHECK_PASS : rr_check_fail(why, "the reply grants no credit");
}

/* Waits for the replies to two calls, which may come in either order. Checks that one of them has this XID,
 * and grants credits. */
static enum rr_check_verdict
header_grant_of_two(struct rr_check_peer *peer, uint32_t xid, struct rr_text *why)
{
	struct rr_check_reply reply;
	struct rr_rdma_header header;

	for (unsigned i = 0; i < 2; i++) {
		if (!rr_check_reply(peer, &reply, why))
			return RR_CHECK_FAIL;
		header = reply.header;
		rr_check_forget(&reply);
		if (header.xid == xid)
			return header.credit > 0 ? RR_CHECK_PASS
						 : rr_check_fail(why, "the reply grants no credit");
	}
	return rr_check_fail(why, "two messages came, and neither is the reply");
}

/* Sends a NULL call that asks for no credits, and an ordinary NULL call behind it, so that a responder that
 * discards the first call is noticed at once. Checks that the reply to the first call grants credits. The
 * RPC-over-RDMA header is written here, as rr_check_call() asks for 32 credits: XID, version, credits,
 * RDMA_MSG, and three empty chunk lists. */
static enum rr_check_verdict
header_credit_zero(struct rr_check_peer *peer, struct rr_text *why)
{
	uint32_t words[] = { 0, 0, 0, 0, 0, 0, 0 };
	struct rr_check_call call = { .no_rpc = true }, next = { 0 };
	uint8_t out[256];
	uint32_t size;

	call.xid = rr_random_u32(&rr_env_system) | 1;
	words[0] = htobe32(call.xid);
	words[1] = htobe32(peer->version);
	memcpy(out, words, sizeof(words));
	size = rr_check_put_rpc(peer, &call, out + sizeof(words), sizeof(out) - sizeof(words));
	if (rr_check_send(peer, out, (uint32_t)sizeof(words) + size, 0) < 0 || rr_check_call(peer, &next) < 0)
		return rr_check_fail(why, "it cannot be sent");
	return header_grant_of_two(peer, call.xid, why);
}

/* Makes a call to learn how many credits the reply grants, then sends that many calls (at most 32) without
 * waiting. Checks that all of them are answered. */
static enum rr_check_verdict
header_window(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_check_call call = { 0 };
	struct rr_check_reply reply;
	uint32_t grant, sent = 0;

	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	grant = reply.header.credit < 32 ? reply.header.credit : 32;
	rr_check_forget(&reply);
	for (; sent < grant; sent++) {
		struct rr_check_call next = { 0 };

		if (rr_check_call(peer, &next) < 0)
			return rr_check_fail(why, "call %u of %u cannot be sent", sent + 1, grant);
	}
	for (uint32_t i = 0; i < grant; i++) {
		if (!rr_check_reply(peer, &reply, why))
			return rr_check_fail(why, "%u of %u calls were answered", i, grant);
		rr_check_forget(&reply);
	}
	return RR_CHECK_PASS;
}

/* ---- Private data: RFC 8797, 4 and 5 ---- */

/* Connects with `size` octets of private data, and checks that the responder then answers a NULL call. The
 * functions below have private data that is not valid, or is not at the beginning: none at all, other octets,
 * the valid data cut off, an unknown version of it, and the valid data behind three other octets. */
static enum rr_check_verdict
header_private(struct rr_check_peer *peer, const void *data, size_t size, struct rr_text *why)
{
	if (rr_check_connect(peer, data, size) < 0)
		return rr_check_fail(why, "no connection: %.200s", peer->why.text);
	return rr_check_null(peer, why);
}

static enum rr_check_verdict
header_private_absent(struct rr_check_peer *peer, struct rr_text *why)
{
	return header_private(peer, "", 0, why);
}

static enum rr_check_verdict
header_private_garbage(struct rr_check_peer *peer, struct rr_text *why)
{
	static const char garbage[] = "\xde\xad\xbe\xef garbage that is no private data";

	return header_private(peer, garbage, sizeof(garbage) - 1, why);
}

static enum rr_check_verdict
header_private_cut(struct rr_check_peer *peer, struct rr_text *why)
{
	return header_private(peer, "\xf6\xab\x0e\x18\x01", 5, why);
}

static enum rr_check_verdict
header_private_version(struct rr_check_peer *peer, struct rr_text *why)
{
	return header_private(peer, "\xf6\xab\x0e\x18\x7f\x01\x03\x03", 8, why);
}

static enum rr_check_verdict
header_private_offset(struct rr_check_peer *peer, struct rr_text *why)
{
	return header_private(peer, "odd\xf6\xab\x0e\x18\x01\x01\x03\x03", 11, why);
}

/* Connects, and checks that the responder then answers a NULL call. The case is skipped if the responder sent
 * no private data when it accepted the connection, or data that cannot be decoded (RFC 8797, 4). */
static enum rr_check_verdict
header_private_own(struct rr_check_peer *peer, struct rr_text *why)
{
	if (rr_check_connect(peer, NULL, 0) < 0)
		return rr_check_fail(why, "no connection: %.200s", peer->why.text);
	if (!peer->has_private_data)
		return rr_check_skip(why, "the responder sends no private data: 1024 octets both ways");
	return rr_check_null(peer, why);
}

const struct rr_check_case rr_check_header_cases[] = {
	{ .name = "A2-null-reply",
		.row = "A2",
		.section = "RFC 8166, 4.2",
		.text = "NULL is answered by RDMA_MSG with its XID, version and an RPC reply",
		.version_1 = true,
		.version_2 = true,
		.run = header_reply },
	{ .name = "B1-grant",
		.row = "B1",
		.section = "RFC 8166, 3.3.1",
		.text = "a reply grants at least one credit",
		.version_1 = true,
		.version_2 = true,
		.run = header_grant },
	{ .name = "B1-credit-zero",
		.row = "B1",
		.section = "RFC 8166, 3.3.1",
		.text = "a call that asks for no credit is answered, and grants one at least",
		.version_1 = true,
		.run = header_credit_zero },
	{ .name = "B1-window",
		.row = "B1",
		.section = "RFC 8166, 3.3.1",
		.text = "as many calls as were granted, up to 32, are answered",
		.version_1 = true,
		.version_2 = true,
		.run = header_window },
	{ .name = "B2-private-data",
		.row = "B2",
		.section = "RFC 8797, 4",
		.text = "the responder's private data can be read",
		.version_1 = true,
		.connects = true,
		.run = header_private_own },
	{ .name = "B2-private-data-absent",
		.row = "B2",
		.section = "RFC 8797, 5",
		.text = "a connection without private data is served",
		.version_1 = true,
		.connects = true,
		.run = header_private_absent },
	{ .name = "B2-private-data-garbage",
		.row = "B2",
		.section = "RFC 8797, 5",
		.text = "a connection with other private data is served",
		.version_1 = true,
		.connects = true,
		.run = header_private_garbage },
	{ .name = "B2-private-data-cut",
		.row = "B2",
		.section = "RFC 8797, 5",
		.text = "a connection whose private data breaks off is served",
		.version_1 = true,
		.connects = true,
		.run = header_private_cut },
	{ .name = "B2-private-data-version",
		.row = "B2",
		.section = "RFC 8797, 5",
		.text = "a connection with private data of another version is served",
		.version_1 = true,
		.connects = true,
		.run = header_private_version },
	{ .name = "B2-private-data-offset",
		.row = "B2",
		.section = "RFC 8797, 4",
		.text = "a connection with private data at an odd offset is served",
		.version_1 = true,
		.connects = true,
		.run = header_private_offset },
	{ 0 },
};
