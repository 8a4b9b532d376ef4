/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_rdma_get_header, rr_rdma_put_header, rr_rdma_header_size. An accepted header stays
 * inside the caller's arrays, and writes as the octets that it was read from. */
#include "lists.h"
#include "wire/rpcrdma1.h"

enum { OUT = 1024 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lists room;
	struct rr_chunk_lists lists = fuzz_lists(&room);
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rpcrdma_xdr_writer writer;
	struct rr_rdma_header header;
	uint8_t out[OUT];
	size_t used;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (rr_rdma_get_header(&reader, &header, &lists) != RR_HEADER_OK)
		return 0;
	fuzz_lists_check(&lists);
	if (header.proc != RR_RDMA_MSG && header.proc != RR_RDMA_NOMSG)
		return 0;
	used = (size_t)(reader.next - reader.start);
	rr_require(used == rr_rdma_header_size(lists.read_count, lists.write_count, lists.has_reply,
				   lists.segment_count));
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_header(&writer, &header, &lists);
	rr_require(!writer.failed && rpcrdma_xdr_length(&writer) == used && memcmp(out, data, used) == 0);
	return 0;
}
