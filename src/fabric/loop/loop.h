/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_LOOP_LOOP_H
#define RR_FABRIC_LOOP_LOOP_H

#include "fabric/fabric.h"

/*
 * The in-process provider: endpoints of the same fabric connect to its own
 * listeners (by port number), data moves by memcpy, everything happens in
 * deferred tasks of the loop, in a fixed order. For tests, and for servers
 * inside the program that uses them.
 */
int rr_loop_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

#endif
