/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_RPC_SUITE_H
#define RR_TESTS_RPC_SUITE_H

#include "world.h"

/* The rules for clients and servers on every carrier. Each part is a group of tests and returns how many
 * of them failed. */
int suite_auth(void);
int suite_calls(void);
int suite_eligible(void);
int suite_errors(void);
int suite_framing(void);
int suite_header(void);
int suite_kept(void);
int suite_later(void);
int suite_memory(void);
int suite_lost(void);
int suite_once(void);
int suite_sealed(void);
int suite_spread(void);

static inline int
suite_run(rr_fabric_new *provider)
{
	world_provider = provider;
	return suite_auth() + suite_calls() + suite_eligible() + suite_errors() + suite_memory() +
	       suite_lost() + suite_kept() + suite_once() + suite_later() + suite_framing() + suite_header() +
	       suite_sealed() + suite_spread();
}

#define suite_test(function) cmocka_unit_test_setup_teardown(function, world_setup, world_teardown)

#endif
