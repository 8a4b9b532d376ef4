/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_INVARIANT_H
#define RR_TESTS_TRANSPORT_INVARIANT_H

#include "carrier/carrier.h"

/*
 * What holds of an RPC-over-RDMA connection whenever nobody is inside it: credits, ownership of memory, and
 * that each call is in one place. NULL, or what is broken.
 */
const char *invariant_broken(const struct rr_carrier *carrier);

#endif
