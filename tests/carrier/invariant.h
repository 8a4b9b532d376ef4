/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_INVARIANT_H
#define RR_TESTS_TRANSPORT_INVARIANT_H

#include "carrier/carrier.h"

/* Checks what must hold of an RPC-over-RDMA connection while none of its functions runs: credits,
 * ownership of memory, and that each call is in one place. Returns NULL, or the text of the condition that
 * does not hold. */
const char *invariant_broken(const struct rr_carrier *carrier);

#endif
