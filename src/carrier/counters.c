/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "carrier/carrier.h"
#include "wire/rpcrdma.h"

const char *const rr_counter_names[RR_COUNTERS] = {
	"calls",
	"replies",
	"inline_messages",
	"long_calls",
	"long_replies",
	"read_chunks",
	"write_chunks",
	"why_arguments",
	"why_stream",
	"why_rest",
	"why_sinks",
	"why_reply",
	"why_many",
	"octets_inline",
	"octets_rdma_read",
	"octets_rdma_write",
	"rdma_reads",
	"rdma_writes",
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
	"err_vers_sent",
	"err_vers_received",
	"err_inval_option_sent",
	"err_inval_option_received",
	"bad_replies",
	"repeats",
	"overruns",
	"replies_left",
	"provided_replies",
	"provided_refused",
	"provided_timeouts",
	"done_sent",
	"done_received",
	"done_unmatched",
};

uint64_t
rr_counters_get(const struct rr_counters *counters, uint32_t index)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)counters + index * sizeof(value), sizeof(value));
	return value;
}

void
rr_counters_add(struct rr_counters *sum, const struct rr_counters *counters)
{
	uint64_t values[RR_COUNTERS];

	memcpy(values, sum, sizeof(values));
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		values[i] += rr_counters_get(counters, i);
	memcpy(sum, values, sizeof(values));
}

void
rr_counters_error_received(struct rr_counters *counters, uint32_t err)
{
	counters->errors_received++;
	counters->err_vers_received += err == RR_ERR_VERS;
	counters->err_inval_option_received += err == RR_ERR_INVAL_OPTION;
}
