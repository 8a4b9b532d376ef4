/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_rdma2_get_header, rr_rdma2_put_header, rr_rdma2_payload. An accepted header stays
 * inside the caller's arrays and the message, writes as the octets that it was read from, and has a payload
 * behind it only where one may be. */
#include "../tests/padding.h"
#include "lists.h"
#include "wire/rpcrdma2.h"

static void
check_written(const struct rr_rdma_header *header, const struct rr_chunk_lists *lists, const uint8_t *data,
	size_t used)
{
	struct rpcrdma_xdr_writer writer;
	uint8_t *out = malloc(used);

	rr_require(out != NULL);
	rpcrdma_xdr_writer_init(&writer, out, used, NULL, 0);
	rr_rdma2_put_header(&writer, header, lists);
	rr_require(!writer.failed && rpcrdma_xdr_length(&writer) == used &&
		   rr_same_but_for_padding(out, data, used));
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lists room;
	struct rr_chunk_lists lists = fuzz_lists(&room);
	struct rpcrdma_message message = { .stream = data, .length = (uint32_t)size };
	struct rpcrdma_xdr_reader reader;
	struct rr_rdma_header header;
	enum rr_payload payload;
	size_t used;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (rr_rdma2_get_header(&reader, &header, &lists) != RR_HEADER_OK)
		return 0;
	fuzz_lists_check(&lists);
	used = (size_t)(reader.next - reader.start);
	payload = rr_rdma2_payload(header.proc);
	rr_require(used < size ? payload != RR_PAYLOAD_NEVER : payload != RR_PAYLOAD_ALWAYS);
	check_written(&header, &lists, data, used);
	return 0;
}
