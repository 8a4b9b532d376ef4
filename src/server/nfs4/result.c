/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes the result of a COMPOUND, and decodes a cached reply that a retry gets again. */
#include "server/nfs4/result.h"

/*
 * Writes the encoded results to the writer. The stream is copied up to each item, which is data that lies
 * outside the stream; then the item is written: by reference, to be sent by RDMA, if the writer has room for
 * that, else into the stream. The length word in front of each item is not copied, as rpcrdma_put_item()
 * writes it.
 */
static void
result_put_operations(struct rpcrdma_xdr_writer *writer, const struct rpcrdma_message *message)
{
	const uint8_t *stream = message->stream;
	uint32_t done = 0;

	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];

		rpcrdma_put_fixed(writer, stream + done, item->offset - 4 - done);
		rpcrdma_put_item(
			writer, (struct rpcrdma_bytes){ item->data, item->length }, RPCRDMA_XDR_UNBOUNDED);
		done = item->offset;
	}
	if (message->length > done)
		rpcrdma_put_fixed(writer, stream + done, message->length - done);
}

void
rr_nfs4_put_result(struct rpcrdma_xdr_writer *writer, const void *value)
{
	const struct rr_nfs4_result *result = value;

	/* The call was a retry: the answer is the reply that its slot has kept. */
	if (result->replay) {
		nfs42_put_COMPOUND4res(writer, &result->replayed);
		return;
	}
	rpcrdma_put_u32(writer, result->status);
	rpcrdma_put_bytes(writer, result->tag, RPCRDMA_XDR_UNBOUNDED);
	rpcrdma_put_u32(writer, result->count);
	result_put_operations(writer, &result->message);
}

uint32_t
rr_nfs4_result_size(const struct rr_nfs4_result *result)
{
	uint32_t size = 12 + ((result->tag.length + 3) & ~3u) + result->message.length;

	for (uint32_t i = 0; i < result->message.item_count; i++)
		size += (result->message.items[i].length + 3) & ~3u;
	return size;
}

bool
rr_nfs4_result_copy(const struct rr_nfs4_result *result, void *memory, uint32_t size)
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, memory, size, NULL, 0);
	rr_nfs4_put_result(&writer, result);
	return !writer.failed;
}

bool
rr_nfs4_result_replay(
	struct rr_nfs4_result *result, const void *octets, uint32_t length, struct rpcrdma_arena *arena)
{
	const struct rpcrdma_message message = { .stream = octets, .length = length };
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, arena);
	nfs42_get_COMPOUND4res(&reader, &result->replayed);
	result->replay = rpcrdma_xdr_done(&reader);
	return result->replay;
}
