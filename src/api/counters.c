/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/config.h"
#include "api/engine.h"

int
rr_api_give_counters(struct rpcrdma_counters *counters, const struct rr_counters *inner)
{
	const struct rpcrdma_counters mine = {
		.size = sizeof(mine),
		.calls = inner->calls,
		.replies = inner->replies,
		.inline_messages = inner->inline_messages,
		.long_calls = inner->long_calls,
		.long_replies = inner->long_replies,
		.read_chunks = inner->read_chunks,
		.write_chunks = inner->write_chunks,
		.octets_inline = inner->octets_inline,
		.octets_rdma_read = inner->octets_rdma_read,
		.octets_rdma_write = inner->octets_rdma_write,
		.registrations = inner->registrations,
		.invalidations = inner->invalidations,
		.remote_invalidations = inner->remote_invalidations,
		.credit_waits = inner->credit_waits,
		.credit_wait_ns = inner->credit_wait_ns,
		.memory_waits = inner->memory_waits,
		.memory_wait_ns = inner->memory_wait_ns,
		.errors_sent = inner->errors_sent,
		.errors_received = inner->errors_received,
		.discarded = inner->discarded,
	};

	return rr_config_give(counters, &mine, sizeof(mine), sizeof(mine));
}
