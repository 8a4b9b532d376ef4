/* SPDX-License-Identifier: BSD-3-Clause */
/* Target functions: rr_arrival_decode, rr_rdma_copy_lists. A message is decoded into a value within the
 * arrays that there are, and its kind agrees with its header and with the RPC message behind that. */
#include "carrier/rdma/arrival.h"
#include "lists.h"
#include "wire/rpc.h"

/* What a message of that kind can have for its procedure. */
static void
check_kind(const struct rr_arrival *arrival)
{
	uint32_t xid, type, proc = arrival->header.proc;

	switch (arrival->kind) {
	case RR_ARRIVAL_CALL:
	case RR_ARRIVAL_REPLY:
		rr_require(proc == RR_RDMA_MSG);
		rr_require(arrival->length >= RR_RDMA_HEADER_MIN);
		rr_require(rr_rpc_peek(arrival->payload.data, arrival->payload.length, &xid, &type));
		rr_require(type == (arrival->kind == RR_ARRIVAL_CALL ? RR_CALL : RR_REPLY));
		break;
	case RR_ARRIVAL_UNCLEAR: rr_require(arrival->length >= RR_RDMA_HEADER_MIN); break;
	case RR_ARRIVAL_ERROR: rr_require(proc == RR_RDMA_ERROR && arrival->header.err > 0); break;
	case RR_ARRIVAL_DONE:
		rr_require(proc == RR_RDMA_DONE && arrival->length == RR_RDMA_FIXED_SIZE);
		break;
	case RR_ARRIVAL_OPTIONAL: rr_require(proc == RR_RDMA_OPTIONAL && arrival->header.vers == 2); break;
	case RR_ARRIVAL_JUNK: break;
	}
}

static void
check_copy(const struct rr_chunk_lists *lists)
{
	struct fuzz_lists room;
	struct rr_chunk_lists copy = fuzz_lists(&room);

	rr_require(rr_rdma_copy_lists(&copy, lists));
	rr_require(copy.read_count == lists->read_count && copy.write_count == lists->write_count);
	rr_require(rr_chunk_length(&copy.reply) == rr_chunk_length(&lists->reply));
	for (uint32_t i = 0; i < copy.write_count; i++)
		rr_require(rr_chunk_length(&copy.writes[i]) == rr_chunk_length(&lists->writes[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum rr_versions versions[] = { RR_VERSIONS_AUTO, RR_VERSIONS_1, RR_VERSIONS_2 };
	uint8_t *octets = malloc(size + 1);

	rr_require(octets != NULL);
	memcpy(octets, data, size);
	for (int i = 0; i < 3; i++) {
		const struct rr_event event = { .data = octets, .length = (uint32_t)size };
		const struct rr_version_range range = rr_version_range(versions[i]);
		struct fuzz_lists room;
		const struct rr_chunk_lists lists = fuzz_lists(&room);
		struct rr_arrival arrival;

		rr_arrival_decode(&arrival, range, &lists, &event);
		fuzz_lists_check(&arrival.lists);
		rr_require(arrival.payload.length <= size);
		if (size < RR_RDMA_FIXED_SIZE)
			rr_require(arrival.kind == RR_ARRIVAL_JUNK);
		if (arrival.result == RR_HEADER_OK)
			rr_require(rr_version_in(arrival.header.vers, range));
		check_kind(&arrival);
		check_copy(&arrival.lists);
	}
	free(octets);
	return 0;
}
