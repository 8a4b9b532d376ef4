/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "tool/check/chunk.h"
#include "wire/properties.h"

/* Cases of version 2: optional messages, and replies that the responder exposes in Read chunks. The words
 * that begin each message are XID, version, credits and procedure. */

enum { OPTIONAL_UNKNOWN = 0x7fff0001, OPTIONAL_ENTRIES = 32768, OPTIONAL_REPLY_MAX = 1 << 20 };

/* Sends an optional message (RPC-over-RDMA version 2) of an unknown type, and checks that the error
 * ERR_INVAL_OPTION comes back. */
static enum rr_check_verdict
optional_unknown(struct rr_check_peer *peer, struct rr_text *why)
{
	uint32_t xid = rr_random_u32(&rr_env_system) | 1;
	uint8_t out[24] = { 0 };

	rr_put_be32(out, xid);
	rr_put_be32(out + 4, 2);
	rr_put_be32(out + 8, 32);
	rr_put_be32(out + 12, RR_RDMA_OPTIONAL);
	rr_put_be32(out + 16, OPTIONAL_UNKNOWN);
	rr_check_send(peer, out, sizeof(out), 0);
	return rr_check_error(peer, xid, RR_ERR_INVAL_OPTION, why);
}

/* Sends the connection properties of this side, among them that it accepts replies in Read chunks. Stores in
 * *set the properties that the responder sends in return. Returns false if no such answer came; `why` then
 * has the reason. */
static bool
optional_announce(struct rr_check_peer *peer, struct rr_property_set *set, struct rr_text *why)
{
	const uint32_t values[RR_PROPERTIES] = {
		[RR_PROPERTY_RECEIVE_SIZE] = 4096, [RR_PROPERTY_READ_CHUNKS] = 1
	};
	struct rr_property_message own = { .set = rr_property_set(1u << RR_PROPERTY_RECEIVE_SIZE |
									  1u << RR_PROPERTY_READ_CHUNKS,
						   values) },
				   theirs;
	uint8_t info[RR_PROPERTY_INFO_MAX], out[RR_PROPERTY_INFO_MAX + 64];
	struct rr_rdma_header header = { .xid = rr_random_u32(&rr_env_system) | 1,
		.vers = 2,
		.credit = 32,
		.proc = RR_RDMA_OPTIONAL,
		.opttype = RR_CONNPROP };
	struct rpcrdma_xdr_writer writer;
	struct rr_check_reply reply;
	bool good;

	rpcrdma_xdr_writer_init(&writer, info, sizeof(info), NULL, 0);
	rr_property_put(&writer, RR_CONNPROP, &own, own.set.count);
	header.optinfo = (struct rpcrdma_bytes){ info, (uint32_t)rpcrdma_xdr_length(&writer) };
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	if (rr_check_send(peer, out, (uint32_t)rpcrdma_xdr_length(&writer), 0) < 0 ||
		!rr_check_reply(peer, &reply, why))
		return false;
	good = reply.result == RR_HEADER_OK && reply.header.proc == RR_RDMA_OPTIONAL &&
	       reply.header.opttype == RR_CONNPROP &&
	       rr_property_get(RR_CONNPROP, reply.header.optinfo, &theirs);
	if (good)
		*set = theirs.set;
	else
		rr_check_fail(why, "procedure %u, type %u, where CONNPROP is due", reply.header.proc,
			reply.header.opttype);
	rr_check_forget(&reply);
	return good;
}

/* Sends connection properties, and checks that the responder answers with its own properties and then still
 * answers a NULL call. */
static enum rr_check_verdict
optional_properties(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_property_set set;

	if (!optional_announce(peer, &set, why))
		return RR_CHECK_FAIL;
	return rr_check_null(peer, why);
}

/* Announces, in an exchange of properties, that this side accepts replies in Read chunks, so that it may send
 * RDMA_DONE. Then sends RDMA_DONE with an XID that no call had, and checks that the responder does not
 * answer. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4: "the responder MUST silently drop the notification".
 */
static enum rr_check_verdict
optional_stray_done(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_property_set set;
	uint8_t out[16];

	if (!optional_announce(peer, &set, why))
		return RR_CHECK_FAIL;
	rr_put_be32(out, rr_random_u32(&rr_env_system));
	rr_put_be32(out + 4, 2);
	rr_put_be32(out + 8, 32);
	rr_put_be32(out + 12, RR_RDMA_DONE);
	rr_check_send(peer, out, sizeof(out), 0);
	return rr_check_silence(peer, why);
}

/* Fetches a reply from its position-zero Read chunk by RDMA Read, one segment after the other, and checks
 * that the reply begins with the XID. Then sends RDMA_DONE, and checks that the responder does not answer
 * that message. */
static enum rr_check_verdict
optional_pull(
	struct rr_check_peer *peer, const struct rr_check_reply *reply, uint32_t xid, struct rr_text *why)
{
	uint8_t *data = rr_check_keep(peer, OPTIONAL_REPLY_MAX), done[16];
	uint32_t at = 0;

	for (uint32_t i = 0; data && i < reply->lists.read_count; i++) {
		const struct rr_segment *segment = &reply->lists.reads[i].target;

		if (reply->lists.reads[i].position != 0 || segment->length > OPTIONAL_REPLY_MAX - at)
			return rr_check_fail(why, "read segment %u is not of a position-zero chunk", i);
		if (rr_check_pull(peer, segment, data + at) < 0)
			return rr_check_fail(why, "the RDMA Read of segment %u failed", i);
		at += segment->length;
	}
	if (at < 8 || rr_get_be32(data) != xid)
		return rr_check_fail(why, "%u octets that do not begin with the XID", at);
	rr_put_be32(done, xid);
	rr_put_be32(done + 4, 2);
	rr_put_be32(done + 8, 32);
	rr_put_be32(done + 12, RR_RDMA_DONE);
	rr_check_send(peer, done, sizeof(done), 0);
	return rr_check_silence(peer, why);
}

/* Lists a directory without a Reply chunk. Checks that a reply that does not fit inline comes in a Read
 * chunk. The case is skipped if the responder does not announce that it sends replies in Read chunks, or if
 * the list fits inline. */
static enum rr_check_verdict
optional_provided(struct rr_check_peer *peer, struct rr_text *why)
{
	uint8_t args[RR_CHECK_ARGS_MAX];
	struct rr_check_call call = { .proc = NFSPROC3_READDIRPLUS };
	enum rr_check_verdict verdict;
	struct rr_check_reply reply;
	struct rr_property_set set;

	if (!optional_announce(peer, &set, why))
		return RR_CHECK_FAIL;
	if (!(set.has & 1u << RR_PROPERTY_READ_CHUNKS) || !set.values[RR_PROPERTY_READ_CHUNKS])
		return rr_check_skip(why, "the responder does not announce such chunks");
	call.args =
		RR_CHECK_ARGS(args, &peer->check->directory, 0, 0, 0, 0, OPTIONAL_ENTRIES, OPTIONAL_ENTRIES);
	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	if (reply.result == RR_HEADER_OK && reply.header.proc == RR_RDMA_MSG)
		verdict = rr_check_skip(why, "the directory's list fits inline");
	else if (reply.result != RR_HEADER_OK || reply.header.proc != RR_RDMA_NOMSG ||
		 reply.lists.read_count == 0)
		verdict = rr_check_fail(why, "procedure %u, where a Read chunk is due", reply.header.proc);
	else
		verdict = optional_pull(peer, &reply, call.xid, why);
	rr_check_forget(&reply);
	return verdict;
}

const struct rr_check_case rr_check_optional_cases[] = {
	{ .name = "B13-unknown-option",
		.row = "B13",
		.section = "draft-cel-nfsv4-rpcrdma-version-two-00, 5.1",
		.text = "an optional message of an unknown type gets ERR_INVAL_OPTION",
		.version_2 = true,
		.run = optional_unknown },
	{ .name = "B13-properties",
		.row = "B13",
		.section = "draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1",
		.text = "CONNPROP is answered with CONNPROP",
		.version_2 = true,
		.run = optional_properties },
	{ .name = "B14-stray-done",
		.row = "B14",
		.section = "draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.2",
		.text = "RDMA_DONE for no reply is dropped",
		.version_2 = true,
		.run = optional_stray_done },
	{ .name = "B14-provided",
		.row = "B14",
		.section = "draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1",
		.text = "a reply that does not fit inline can be pulled from a Read chunk, and done with",
		.version_2 = true,
		.needs_directory = true,
		.run = optional_provided },
	{ 0 },
};
