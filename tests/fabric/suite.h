/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_SUITE_H
#define RR_TESTS_FABRIC_SUITE_H

#include "fabric/fabric.h"

/* What every provider must do. A test program names its provider and runs the suite. */
typedef int suite_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

/* How many tests failed. */
int suite_run(suite_fabric_new *make);

/* The parts of the suite, each a group of tests. */
int suite_connect(void);
int suite_send(void);
int suite_rdma(void);
int suite_faults(void);
int suite_end(void);

#endif
