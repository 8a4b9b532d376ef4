/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_COUNTERS_H
#define RR_RPC_COUNTERS_H

#include "transport/carrier.h"

/* Adds what one connection counted to a sum over many. */
void rr_counters_add(struct rr_counters *sum, const struct rr_counters *counters);

#endif
