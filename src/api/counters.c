/* SPDX-License-Identifier: BSD-3-Clause */
/* What was negotiated and counted, as the public has it. */
#include "api/counters.h"

#include <string.h>

#include "api/config.h"

struct rpcrdma_negotiated
rr_api_negotiated(const struct rr_negotiated *inner)
{
	return (struct rpcrdma_negotiated){
		.size = sizeof(struct rpcrdma_negotiated),
		.fabric = inner->fabric,
		.version = inner->version,
		.private_data = inner->private_data,
		.remote_invalidation = inner->remote_invalidation,
		.inline_call = inner->inline_call,
		.inline_reply = inner->inline_reply,
		.credits_asked = inner->credits_asked,
		.credits_granted = inner->credits_granted,
		.credits_used = inner->credits_used,
		.credits_min = inner->credits_min,
		.credits_max = inner->credits_max,
		.own_send = inner->own_send,
		.own_receive = inner->own_receive,
		.peer_send = inner->peer_send,
		.peer_receive = inner->peer_receive,
		.read_chunks = inner->read_chunks,
		.provided = inner->provided,
		.provided_peak = inner->provided_peak,
	};
}

struct rpcrdma_counters
rr_api_counters(const struct rr_counters *inner)
{
	return (struct rpcrdma_counters){
		.size = sizeof(struct rpcrdma_counters),
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
		.why_arguments = inner->why_arguments,
		.why_stream = inner->why_stream,
		.why_rest = inner->why_rest,
		.why_sinks = inner->why_sinks,
		.why_reply = inner->why_reply,
		.why_many = inner->why_many,
		.rdma_reads = inner->rdma_reads,
		.rdma_writes = inner->rdma_writes,
		.err_vers_sent = inner->err_vers_sent,
		.err_vers_received = inner->err_vers_received,
		.overruns = inner->overruns,
		.bad_replies = inner->bad_replies,
		.repeats = inner->repeats,
		.replies_left = inner->replies_left,
		.provided_replies = inner->provided_replies,
		.provided_refused = inner->provided_refused,
		.provided_timeouts = inner->provided_timeouts,
		.done_sent = inner->done_sent,
		.done_received = inner->done_received,
		.done_unmatched = inner->done_unmatched,
		.err_inval_option_sent = inner->err_inval_option_sent,
		.err_inval_option_received = inner->err_inval_option_received,
	};
}

int
rr_api_give_counters(struct rpcrdma_counters *counters, const struct rr_counters *inner)
{
	const struct rpcrdma_counters mine = rr_api_counters(inner);

	return rr_config_give(counters, &mine, sizeof(mine), sizeof(mine));
}

int
rr_api_give_latency(struct rpcrdma_latency *latency, const struct rr_latency *inner)
{
	struct rpcrdma_latency mine = { .size = sizeof(mine) };

	_Static_assert(sizeof(mine.buckets) == sizeof(inner->buckets), "as many buckets");
	if (inner) {
		mine.calls = inner->calls;
		mine.errors = inner->errors;
		mine.sum_ns = inner->sum;
		memcpy(mine.buckets, inner->buckets, sizeof(mine.buckets));
	}
	return rr_config_give(latency, &mine, sizeof(mine), sizeof(mine));
}
