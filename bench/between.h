/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BENCH_BETWEEN_H
#define RR_BENCH_BETWEEN_H

#include <rpcrdma/client.h>

/*
 * What stands between client and server of bench/echo.c: nothing (between_nothing.c), or a gateway
 * (between_gateway.c). A program with a gateway has other code inlined elsewhere, too, so it is another
 * program.
 */
struct between;

/* The client's configuration has the port of the server: it gets that of the gateway. NULL: nothing is there.
 */
struct between *between_begin(
	const struct rpcrdma_engine_config *engine, struct rpcrdma_client_config *client);
void between_turn(struct between *between);
void between_end(struct between *between);

#endif
