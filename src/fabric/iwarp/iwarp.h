/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_IWARP_H
#define RR_FABRIC_IWARP_IWARP_H

#include "fabric/fabric.h"

/* Makes a fabric of the iWARP provider, which does MPA, DDP and RDMAP (RFC 5044, 6581, 5041, 5040) in this
 * process, over TCP sockets. Errors: INVAL (config is wrong), NOMEM. */
int rr_iwarp_fabric_new(
	struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric);

#endif
