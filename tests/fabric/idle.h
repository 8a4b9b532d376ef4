/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_IDLE_H
#define RR_TESTS_FABRIC_IDLE_H

#include "suite.h"

/* Runs the suite on a provider behind a fault filter that does nothing and a record filter. */
int idle_run(suite_fabric_new *provider);

#endif
