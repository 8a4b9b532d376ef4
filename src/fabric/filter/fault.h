/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FAULT_H
#define RR_FABRIC_FILTER_FAULT_H

#include "fabric/fabric.h"
#include "fabric/filter/script.h"

/*
 * A filter that brings about what hardware, networks and peers can do wrong, as a script says. Its owner sees
 * only what the interface allows: completions keep their order where the protocol keeps it, and all that is
 * outstanding completes before the end of a connection.
 */

/*
 * Puts a filter before below, which it then owns. Errors: NOMEM; NOTSUP where the script corrupts octets and
 * the path has no checksum. below then stays the caller's.
 */
int rr_fault_fabric_new(
	struct rr_fabric *below, const struct rr_fault_script *script, struct rr_fabric **fabric);

/* The same as a rr_fabric_filter: script is the const struct rr_fault_script. */
int rr_fault_filter(void *script, struct rr_fabric **fabric);

/* How many faults it has brought about. */
uint64_t rr_fault_count(struct rr_fabric *fabric);

#endif
