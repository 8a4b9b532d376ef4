/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/message.h"

#include <rpcrdma/error.h>

static size_t
message_lists_size(void)
{
	return rr_rdma_lists_size(RR_MESSAGE_READS, RR_MESSAGE_WRITES, RR_MESSAGE_SEGMENTS);
}

int
rr_message_prepare(struct rr_decode_memory *memory, struct rr_chunk_lists *lists)
{
	void *block = rr_decode_alloc(memory, message_lists_size());

	if (!block)
		return -RPCRDMA_ERR_NOMEM;
	rr_rdma_place_lists(lists, block, RR_MESSAGE_READS, RR_MESSAGE_WRITES, RR_MESSAGE_SEGMENTS);
	return 0;
}

void
rr_message_unprepare(struct rr_decode_memory *memory, struct rr_chunk_lists *lists)
{
	rr_decode_free(memory, lists->segments, message_lists_size());
	*lists = (struct rr_chunk_lists){ 0 };
}

void
rr_message_decode_rpc(struct rr_message *message, struct rpcrdma_bytes data)
{
	const struct rpcrdma_message stream = { .stream = data.data, .length = data.length };
	struct rpcrdma_xdr_reader reader;
	uint32_t xid, type;

	if (!rr_rpc_peek(data.data, data.length, &xid, &type))
		return;
	message->rpc = data;
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	if (type == RR_REPLY) {
		message->kind = RR_MESSAGE_REPLY;
		message->has_reply = rr_rpc_get_reply(&reader, &message->reply);
		return;
	}
	if (type != RR_CALL)
		return;
	message->kind = RR_MESSAGE_CALL;
	message->has_call = rr_rpc_get_call(&reader, &message->call);
	if (!message->has_call)
		return;
	message->has_procedure = true;
	message->prog = message->call.prog;
	message->vers = message->call.vers;
	message->proc = message->call.proc;
}

/* Returns the kind that the procedure in the transport header shows. An RDMA_MSG or RDMA_NOMSG does not show
 * its kind there: its RPC message does. */
static enum rr_message_kind
message_kind(const struct rr_rdma_header *header)
{
	switch (header->proc) {
	case RR_RDMA_ERROR: return RR_MESSAGE_ERROR;
	case RR_RDMA_DONE: return RR_MESSAGE_DONE;
	case RR_RDMA_OPTIONAL: return RR_MESSAGE_OPTIONAL;
	default: return RR_MESSAGE_UNCLEAR;
	}
}

void
rr_message_decode(struct rr_message *message, const struct rr_chunk_lists *lists, struct rpcrdma_bytes data)
{
	const struct rpcrdma_message stream = { .stream = data.data, .length = data.length };
	struct rpcrdma_xdr_reader reader;
	uint32_t left;

	message->lists = *lists;
	rr_rdma_clear_lists(&message->lists);
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	message->result =
		rr_rdma_get_any_header(&reader, RR_RPCRDMA_VERSION_2, &message->header, &message->lists);
	if (message->result != RR_HEADER_OK)
		return;
	left = (uint32_t)rpcrdma_xdr_left(&reader);
	message->payload = (struct rpcrdma_bytes){ (const uint8_t *)data.data + (data.length - left), left };
	message->kind = message_kind(&message->header);
	if (message->header.proc == RR_RDMA_MSG)
		rr_message_decode_rpc(message, message->payload);
}
