/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FAULT_H
#define RR_FABRIC_FILTER_FAULT_H

#include "fabric/fabric.h"
#include "fabric/filter/script.h"

/*
 * A filter that brings about, as a script says, faults of hardware, networks and peers. The owner of an
 * endpoint sees only what the interface allows: completions keep their order where the protocol keeps it, and
 * all outstanding requests complete before the end of a connection.
 */

/*
 * Puts a filter before below, which the filter then owns. Errors: NOMEM; NOTSUP where the script corrupts
 * octets and the path has no checksum. After an error below stays the caller's.
 */
int rr_fault_fabric_new(
	struct rr_fabric *below, const struct rr_fault_script *script, struct rr_fabric **fabric);

/* Puts the filter before *fabric, as a rr_fabric_filter: script is the const struct rr_fault_script. */
int rr_fault_filter(void *script, struct rr_fabric **fabric);

/* Returns how many faults the filter has brought about. */
uint64_t rr_fault_count(struct rr_fabric *fabric);

#endif
