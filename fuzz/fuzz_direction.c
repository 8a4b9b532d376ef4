/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_direction, rr_rdma_get_any_header. Which side a message is for is found without
 * reading it all; of what reads as a message of version 1 or 2, it is what the RPC message behind the header
 * says. */
#include "lists.h"
#include "transport/direction.h"
#include "wire/rpcrdma2.h"

static bool
read_header(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	struct fuzz_lists room;
	struct rr_chunk_lists lists = fuzz_lists(&room);

	return rr_rdma_get_any_header(reader, RR_RPCRDMA_VERSION_2, header, &lists) == RR_HEADER_OK;
}

static enum rr_direction
of_type(uint32_t type)
{
	switch (type) {
	case RR_CALL: return RR_DIRECTION_CALL;
	case RR_REPLY: return RR_DIRECTION_REPLY;
	default: return RR_DIRECTION_UNKNOWN;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	enum rr_direction direction = rr_direction(data, (uint32_t)size);
	struct rpcrdma_xdr_reader reader;
	struct rr_rdma_header header;
	uint32_t xid, type;
	size_t used;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (!read_header(&reader, &header))
		return 0;
	used = (size_t)(reader.next - reader.start);
	if (header.proc == RR_RDMA_ERROR)
		rr_require(direction == RR_DIRECTION_REPLY);
	if (header.proc == RR_RDMA_MSG && rr_rpc_peek(data + used, (uint32_t)(size - used), &xid, &type))
		rr_require(direction == of_type(type));
	return 0;
}
