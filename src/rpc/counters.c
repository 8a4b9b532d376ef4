/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/counters.h"

void
rr_counters_add(struct rr_counters *sum, const struct rr_counters *counters)
{
	sum->calls += counters->calls;
	sum->replies += counters->replies;
	sum->inline_messages += counters->inline_messages;
	sum->long_calls += counters->long_calls;
	sum->long_replies += counters->long_replies;
	sum->read_chunks += counters->read_chunks;
	sum->write_chunks += counters->write_chunks;
	sum->octets_inline += counters->octets_inline;
	sum->octets_rdma_read += counters->octets_rdma_read;
	sum->octets_rdma_write += counters->octets_rdma_write;
	sum->registrations += counters->registrations;
	sum->invalidations += counters->invalidations;
	sum->remote_invalidations += counters->remote_invalidations;
	sum->errors_sent += counters->errors_sent;
	sum->errors_received += counters->errors_received;
	sum->discarded += counters->discarded;
}
