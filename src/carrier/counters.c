/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a connection, by their places and by their names. */
#include "carrier/counters.h"

#include <string.h>

#include "wire/rpcrdma.h"

const char *const rr_counter_names[RR_COUNTERS] = {
	"calls",
	"replies",
	"inline_messages",
	"long_calls",
	"long_replies",
	"read_chunks",
	"write_chunks",
	"octets_inline",
	"octets_rdma_read",
	"octets_rdma_write",
	"registrations",
	"invalidations",
	"remote_invalidations",
	"credit_waits",
	"credit_wait_ns",
	"memory_waits",
	"memory_wait_ns",
	"errors_sent",
	"errors_received",
	"discarded",
	"why_arguments",
	"why_stream",
	"why_rest",
	"why_sinks",
	"why_reply",
	"why_many",
	"rdma_reads",
	"rdma_writes",
	"err_vers_sent",
	"err_vers_received",
	"overruns",
	"bad_replies",
	"repeats",
	"replies_left",
	"provided_replies",
	"provided_refused",
	"provided_timeouts",
	"done_sent",
	"done_received",
	"done_unmatched",
	"err_inval_option_sent",
	"err_inval_option_received",
};

/* Returns at which octet of struct rpcrdma_counters the counter with that index begins. */
static size_t
counters_offset(uint32_t index)
{
	return offsetof(struct rpcrdma_counters, calls) + index * sizeof(uint64_t);
}

uint64_t
rr_counters_get(const struct rpcrdma_counters *counters, uint32_t index)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)counters + counters_offset(index), sizeof(value));
	return value;
}

const char *
rpcrdma_counter_name(uint32_t index)
{
	return index < RR_COUNTERS ? rr_counter_names[index] : NULL;
}

uint64_t
rpcrdma_counter_value(const struct rpcrdma_counters *counters, uint32_t index)
{
	if (!counters || index >= RR_COUNTERS || counters_offset(index) + sizeof(uint64_t) > counters->size)
		return 0;
	return rr_counters_get(counters, index);
}

void
rr_counters_add(struct rpcrdma_counters *sum, const struct rpcrdma_counters *counters)
{
	sum->size = sizeof(*sum);
	for (uint32_t i = 0; i < RR_COUNTERS; i++) {
		uint64_t value = rr_counters_get(sum, i) + rr_counters_get(counters, i);

		memcpy((uint8_t *)sum + counters_offset(i), &value, sizeof(value));
	}
}

void
rr_counters_error_received(struct rpcrdma_counters *counters, uint32_t err)
{
	counters->errors_received++;
	counters->err_vers_received += err == RR_ERR_VERS;
	counters->err_inval_option_received += err == RR_ERR_INVAL_OPTION;
}
