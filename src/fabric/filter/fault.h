/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FAULT_H
#define RR_FABRIC_FILTER_FAULT_H

#include "fabric/fabric.h"
#include "fabric/filter/script.h"

/*
 * A filter that brings about faults of hardware, networks and peers: a script (script.h) says which. The
 * owner of an endpoint sees only what the interface allows: completions keep their order where the protocol
 * keeps it, and all outstanding requests complete before the end of a connection.
 */

/* Makes a filter that brings about the faults of script, and puts it in front of the fabric below, which the
 * filter then owns. Errors: NOMEM; NOTSUP if the script corrupts octets and the connections have no
 * checksum. After an error, below still belongs to the caller. */
int rr_fault_fabric_new(
	struct rr_fabric *below, const struct rr_fault_script *script, struct rr_fabric **fabric);

/* Makes a fault filter, puts it in front of *fabric, and sets *fabric to the filter: a function of the type
 * rr_fabric_filter. script must point to a const struct rr_fault_script. */
int rr_fault_filter(void *script, struct rr_fabric **fabric);

/* Returns how many faults the fault filter (fabric) has brought about so far. */
uint64_t rr_fault_count(struct rr_fabric *fabric);

#endif
