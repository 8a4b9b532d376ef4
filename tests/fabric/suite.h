/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_SUITE_H
#define RR_TESTS_FABRIC_SUITE_H

#include "fabric/fabric.h"

/* Tests of what every provider must do. A test program names its provider and runs the suite. */
typedef int suite_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* Runs the suite, and returns how many tests failed. */
int suite_run(suite_fabric_new *make);

/* An adapter on which the suite runs. */
struct suite_adapter {
	struct sockaddr_storage address; /* of its own, port 0 */
	/* It lets the peer read memory that was registered for writing only. */
	bool reads_are_unchecked;
};

/*
 * Runs the suite on an adapter. An adapter need not do what it decides by itself: explain a refused access to
 * both sides, serve endpoints that wait for a receive in a certain order, or choose handles in a certain way.
 * Tests of abilities that it does not have, as its limits say, are skipped.
 */
int suite_run_adapter(suite_fabric_new *make, const struct suite_adapter *adapter);

/* The parts of the suite, each a group of tests. */
int suite_connect(void);
int suite_send(void);
int suite_rdma(void);
int suite_faults(void);
int suite_end(void);

#endif
