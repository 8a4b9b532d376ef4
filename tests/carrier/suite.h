/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_SUITE_H
#define RR_TESTS_TRANSPORT_SUITE_H

#include "world.h"

/* The rules for connections on every provider. Each part is a group of tests and returns how many of them
 * failed. */
int suite_counters(void);
int suite_feature(void);
int suite_pair(void);
int suite_required(void);
int suite_requester(void);
int suite_cancel(void);
int suite_responder(void);
int suite_responder_bad(void);
int suite_room(void);
int suite_grants(void);
int suite_life(void);
int suite_shutdown(void);
int suite_hostile(void);
int suite_order(void);
int suite_pressure(void);
int suite_reverse(void);
int suite_rows(void);
int suite_negotiation(void);
int suite_version(void);
int suite_properties(void);
int suite_provided(void);
int suite_provided_pair(void);
int suite_pull(void);
int suite_pull_bad(void);

static inline int
suite_run(rr_fabric_new *make)
{
	provider = make;
	return suite_counters() + suite_feature() + suite_pair() + suite_requester() + suite_cancel() +
	       suite_responder() + suite_responder_bad() + suite_room() + suite_grants() + suite_life() +
	       suite_shutdown() + suite_hostile() + suite_order() + suite_pressure() + suite_reverse() +
	       suite_negotiation() + suite_version() + suite_properties() + suite_required() +
	       suite_provided() + suite_provided_pair() + suite_pull() + suite_pull_bad() + suite_rows();
}

#endif
