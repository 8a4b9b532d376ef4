/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/credential.h"
#include "tool/check/check.h"

/* The calls that test cases make, and the messages that come back. */

/* Octets of memory for a message that is sent, and for a credential. */
enum { TALK_MAX = 65536 };

/* ---- Verdicts ---- */

enum rr_check_verdict
rr_check_fail(struct rr_text *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return RR_CHECK_FAIL;
}

enum rr_check_verdict
rr_check_skip(struct rr_text *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return RR_CHECK_SKIP;
}

/* ---- Calls ---- */

uint32_t
rr_check_put_rpc(const struct rr_check_peer *peer, const struct rr_check_call *call, void *out, uint32_t size)
{
	uint8_t cred[RR_AUTH_BODY_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_call_header header = { .xid = call->rpc_xid ? call->rpc_xid : call->xid,
		.prog = NFS_PROGRAM,
		.vers = call->vers ? call->vers : NFS_V3,
		.proc = call->proc };

	if (call->proc != 0)
		header.cred = rr_credential_encode(&peer->check->cred, cred);
	rpcrdma_xdr_writer_init(&writer, out, size, NULL, 0);
	rr_rpc_put_call(&writer, &header);
	rpcrdma_put_fixed(&writer, call->args.data, call->args.length);
	return writer.failed ? 0 : (uint32_t)rpcrdma_xdr_length(&writer);
}

int
rr_check_call(struct rr_check_peer *peer, struct rr_check_call *call)
{
	struct rr_rdma_header header = { .vers = peer->version, .credit = 32, .proc = call->rdma_proc };
	struct rpcrdma_xdr_writer writer;
	uint8_t *out = malloc(TALK_MAX);
	uint32_t size;
	int error;

	if (!out)
		return -RPCRDMA_ERR_NOMEM;
	if (call->xid == 0)
		call->xid = rr_random_u32(&rr_env_system) | 1;
	header.xid = call->xid;
	rpcrdma_xdr_writer_init(&writer, out, TALK_MAX, NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &call->lists);
	size = (uint32_t)rpcrdma_xdr_length(&writer);
	if (!call->no_rpc)
		size += rr_check_put_rpc(peer, call, out + size, TALK_MAX - size);
	error = writer.failed ? -RPCRDMA_ERR_INVAL : rr_check_send(peer, out, size, 0);
	free(out);
	return error;
}

/* ---- Replies ---- */

void
rr_check_forget(struct rr_check_reply *reply)
{
	free(reply->message);
	reply->message = NULL;
}

/* Decodes the RPC header of the reply's payload into reply->rpc, and sets reply->results to the octets behind
 * that header. reply->has_rpc becomes false if there is no valid header. */
static void
talk_decode_rpc(struct rr_check_reply *reply)
{
	const struct rpcrdma_message stream = { .stream = reply->payload.data,
		.length = reply->payload.length };
	struct rpcrdma_xdr_reader reader;
	uint32_t left;

	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	reply->has_rpc = rr_rpc_get_reply(&reader, &reply->rpc);
	left = (uint32_t)rpcrdma_xdr_left(&reader);
	reply->results =
		(struct rpcrdma_bytes){ (const uint8_t *)reply->payload.data + (reply->payload.length - left),
			left };
}

/* Decodes a message of either version into *reply, which from now on owns the message. */
static void
talk_decode(struct rr_check_reply *reply, struct rr_check_message *message)
{
	const struct rpcrdma_message stream = { .stream = message->data, .length = message->length };
	struct rpcrdma_xdr_reader reader;
	uint32_t left;

	memset(reply, 0, sizeof(*reply));
	reply->message = message;
	reply->lists = (struct rr_chunk_lists){ .reads = reply->reads,
		.writes = reply->writes,
		.segments = reply->segments,
		.read_max = RR_CHECK_SEGMENTS,
		.write_max = RR_CHECK_SEGMENTS,
		.segment_max = RR_CHECK_SEGMENTS * 2 };
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	reply->result = rr_rdma_get_any_header(&reader, RR_RPCRDMA_VERSION_2, &reply->header, &reply->lists);
	if (reply->result != RR_HEADER_OK)
		return;
	left = (uint32_t)rpcrdma_xdr_left(&reader);
	reply->payload = (struct rpcrdma_bytes){ message->data + (message->length - left), left };
	if (reply->header.proc == RR_RDMA_MSG)
		talk_decode_rpc(reply);
}

static bool
talk_is_call(const struct rr_check_reply *reply)
{
	uint32_t xid, msg_type;

	return reply->result == RR_HEADER_OK && reply->header.proc == RR_RDMA_MSG &&
	       rr_rpc_peek(reply->payload.data, reply->payload.length, &xid, &msg_type) &&
	       msg_type == RR_CALL;
}

/* Waits for the next message, which may be a call of the server or a reply, and decodes it. Returns false if
 * no message came; `why` then has the reason. */
static bool
talk_receive(struct rr_check_peer *peer, struct rr_check_reply *reply, struct rr_text *why)
{
	struct rr_check_message *message = rr_check_receive(peer);

	if (message) {
		talk_decode(reply, message);
		return true;
	}
	memset(reply, 0, sizeof(*reply));
	if (peer->disconnected)
		rr_check_fail(why, "the connection ended: %.180s", peer->why.text);
	else
		rr_check_fail(why, "no answer came within %u s", peer->check->timeout);
	return false;
}

bool
rr_check_reply(struct rr_check_peer *peer, struct rr_check_reply *reply, struct rr_text *why)
{
	while (talk_receive(peer, reply, why)) {
		if (!peer->takes_calls || peer->called || !talk_is_call(reply))
			return true;
		peer->called = reply->message;
	}
	return false;
}

bool
rr_check_called(struct rr_check_peer *peer, struct rr_check_reply *call, struct rr_text *why)
{
	if (peer->called) {
		talk_decode(call, peer->called);
		peer->called = NULL;
		return true;
	}
	if (!talk_receive(peer, call, why))
		return false;
	if (talk_is_call(call))
		return true;
	rr_check_fail(why, "a message of procedure %u, where a call in the reverse direction is due",
		call->header.proc);
	rr_check_forget(call);
	return false;
}

/* ---- Checks that many cases need ---- */

/* Checks that the message is a correct reply to the NULL call with this XID. */
static enum rr_check_verdict
talk_is_null(const struct rr_check_peer *peer, const struct rr_check_reply *reply, uint32_t xid,
	struct rr_text *why)
{
	const struct rr_rdma_header *header = &reply->header;

	if (reply->result != RR_HEADER_OK)
		return rr_check_fail(
			why, "a header that does not decode, of %u octets", reply->message->length);
	if (header->xid != xid || header->vers != peer->version || header->proc != RR_RDMA_MSG)
		return rr_check_fail(why,
			"a message with XID 0x%08x, version %u and procedure %u, where the "
			"reply to NULL with XID 0x%08x is due",
			header->xid, header->vers, header->proc, xid);
	if (!reply->has_rpc || reply->rpc.xid != xid)
		return rr_check_fail(why, "the reply to NULL has no RPC reply with its XID");
	return RR_CHECK_PASS;
}

enum rr_check_verdict
rr_check_null(struct rr_check_peer *peer, struct rr_text *why)
{
	struct rr_check_call call = { 0 };
	struct rr_check_reply reply;
	enum rr_check_verdict verdict;

	if (rr_check_call(peer, &call) < 0 || !rr_check_reply(peer, &reply, why))
		return peer->disconnected ? rr_check_fail(why, "the connection ended: %.180s", peer->why.text)
					  : RR_CHECK_FAIL;
	verdict = talk_is_null(peer, &reply, call.xid, why);
	rr_check_forget(&reply);
	return verdict;
}

enum rr_check_verdict
rr_check_silence(struct rr_check_peer *peer, struct rr_text *why)
{
	enum rr_check_verdict verdict = rr_check_null(peer, why);

	return verdict == RR_CHECK_PASS ? rr_check_null(peer, why) : verdict;
}

enum rr_check_verdict
rr_check_error(struct rr_check_peer *peer, uint32_t xid, uint32_t error, struct rr_text *why)
{
	struct rr_check_reply reply;
	struct rr_rdma_header header;

	if (!rr_check_reply(peer, &reply, why))
		return RR_CHECK_FAIL;
	header = reply.header;
	rr_check_forget(&reply);
	if (reply.result == RR_HEADER_SHORT || header.proc != RR_RDMA_ERROR)
		return rr_check_fail(why, "a message of procedure %u, where RDMA_ERROR is due", header.proc);
	if (header.xid != xid)
		return rr_check_fail(
			why, "an RDMA_ERROR with XID 0x%08x, for a call with 0x%08x", header.xid, xid);
	if (reply.result != RR_HEADER_OK)
		return rr_check_fail(why, "an RDMA_ERROR that does not decode");
	if (header.err != error)
		return rr_check_fail(why, "RDMA_ERROR %u, where %u is due", header.err, error);
	return rr_check_null(peer, why);
}
