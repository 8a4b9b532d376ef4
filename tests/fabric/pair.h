/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FABRIC_PAIR_H
#define RR_TESTS_FABRIC_PAIR_H

#include "../test.h"
#include "node.h"

/* Two connected nodes, made for each test; and octets to send. */
extern struct node *initiator, *responder;
extern uint8_t payload[NODE_MEMORY];

int pair_setup(void **state);
int pair_teardown(void **state);

/* Replaces both nodes by new ones. */
void pair_renew(void);

#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, pair_setup, pair_teardown)

#endif
