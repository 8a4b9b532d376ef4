/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_COUNTERS_H
#define RR_CARRIER_COUNTERS_H

#include <rpcrdma/engine.h>
#include <stddef.h>

/* The number of counters: the members of struct rpcrdma_counters behind size. Counters of octets count those
 * of RPC messages. */
enum {
	RR_COUNTERS = (sizeof(struct rpcrdma_counters) - offsetof(struct rpcrdma_counters, calls)) /
		      sizeof(uint64_t)
};

/* The names of the counters, in the order of the members. */
extern const char *const rr_counter_names[RR_COUNTERS];

/* Counts an RDMA_ERROR that arrived: among all errors, and, for the errors ERR_VERS and INVAL_OPTION, in the
 * counter of that error, too. err is the error. */
void rr_counters_error_received(struct rpcrdma_counters *counters, uint32_t err);

/* Adds the counters to those of sum, and sets sum->size. */
void rr_counters_add(struct rpcrdma_counters *sum, const struct rpcrdma_counters *counters);

/* Returns the value of the counter with that index in rr_counter_names. index must be below RR_COUNTERS. */
uint64_t rr_counters_get(const struct rpcrdma_counters *counters, uint32_t index);

#endif
