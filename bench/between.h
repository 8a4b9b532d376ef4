/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BENCH_BETWEEN_H
#define RR_BENCH_BETWEEN_H

#include <rpcrdma/client.h>

/*
 * The part of bench/echo.c between client and server: nothing (between_nothing.c), or a gateway
 * (between_gateway.c). They are different programs, as the compiler also inlines other code in a program with
 * a gateway.
 */
struct between;

/* Begins the part between. client: has the port of the server, and gets that of the gateway. NULL: there is
 * no such part. */
struct between *between_begin(
	const struct rpcrdma_engine_config *engine, struct rpcrdma_client_config *client);
void between_turn(struct between *between);
void between_end(struct between *between);

#endif
