/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/check/chunk.h"

const struct rpcrdma_nfs_handle rr_check_no_handle = { 8, "\x01no-one" };

struct rpcrdma_bytes
rr_check_args(uint8_t out[RR_CHECK_ARGS_MAX], const struct rpcrdma_nfs_handle *handle, const uint32_t *words,
	uint32_t count)
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, out, RR_CHECK_ARGS_MAX, NULL, 0);
	rpcrdma_put_bytes(&writer, (struct rpcrdma_bytes){ handle->data, handle->length }, NFS3_FHSIZE);
	for (uint32_t i = 0; i < count; i++)
		rpcrdma_put_u32(&writer, words[i]);
	return (struct rpcrdma_bytes){ out, (uint32_t)rpcrdma_xdr_length(&writer) };
}

bool
rr_check_offer(struct rr_check_peer *peer, struct rr_check_chunk *chunk, uint32_t count, uint32_t size)
{
	struct rr_segment whole;

	chunk->count = count;
	chunk->size = size;
	if (rr_check_register(peer, count * size, RR_REMOTE_WRITE, &chunk->data, &whole) < 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		chunk->segments[i] =
			(struct rr_segment){ whole.handle, size, whole.offset + (uint64_t)i * size };
	chunk->chunk = (struct rr_chunk){ chunk->segments, count };
	return true;
}

struct rr_chunk_lists
rr_check_write_list(struct rr_check_chunk *chunk)
{
	return (struct rr_chunk_lists){ .writes = &chunk->chunk,
		.write_count = 1,
		.segments = chunk->segments,
		.segment_count = chunk->count };
}

struct rr_chunk_lists
rr_check_reply_chunk(struct rr_check_chunk *chunk)
{
	return (struct rr_chunk_lists){ .has_reply = true,
		.reply = chunk->chunk,
		.segments = chunk->segments,
		.segment_count = chunk->count };
}

enum rr_check_verdict
rr_check_returned(const struct rr_check_chunk *chunk, const struct rr_chunk *back, struct rr_text *why)
{
	if (back->count != chunk->count)
		return rr_check_fail(
			why, "%u segments were offered, %u came back", chunk->count, back->count);
	for (uint32_t i = 0; i < back->count; i++)
		if (back->segments[i].handle != chunk->segments[i].handle ||
			back->segments[i].offset != chunk->segments[i].offset ||
			back->segments[i].length > chunk->segments[i].length)
			return rr_check_fail(why, "segment %u is not the one that was offered", i);
	return RR_CHECK_PASS;
}

bool
rr_check_is_untouched(const struct rr_check_chunk *chunk, uint64_t from)
{
	for (uint64_t i = from; i < (uint64_t)chunk->count * chunk->size; i++)
		if (chunk->data[i] != RR_CHECK_PATTERN)
			return false;
	return true;
}
