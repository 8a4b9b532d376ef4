/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_SUITE_H
#define RR_TESTS_FABRIC_SUITE_H

#include "fabric/fabric.h"

/* What every provider must do. A test program names its provider and runs the suite. */
typedef int suite_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* How many tests failed. */
int suite_run(suite_fabric_new *make);

/* The suite on an adapter. */
struct suite_adapter {
	struct sockaddr_storage address; /* of its own, port 0 */
	bool reads_are_unchecked;        /* it lets the peer read what was registered for writing only */
};

/*
 * The same for an adapter. What it decides by itself is not demanded of it: that it explains a refused access
 * to both sides, in what order those are served who wait for a receive, and which handles it chooses. What it
 * cannot do, as its limits say, is skipped.
 */
int suite_run_adapter(suite_fabric_new *make, const struct suite_adapter *adapter);

/* The parts of the suite, each a group of tests. */
int suite_connect(void);
int suite_send(void);
int suite_rdma(void);
int suite_faults(void);
int suite_end(void);

#endif
