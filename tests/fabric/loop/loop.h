/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_LOOP_LOOP_H
#define RR_FABRIC_LOOP_LOOP_H

#include "fabric/fabric.h"

/*
 * Makes a fabric of the in-process provider: its endpoints connect to its own listeners (by port number),
 * data moves by memcpy, and everything happens in deferred tasks of the loop, in a fixed order. It is for
 * tests, and for servers inside the program that uses them. Errors: INVAL (config), NOMEM.
 */
int rr_loop_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

#endif
