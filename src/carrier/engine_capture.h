/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_ENGINE_CAPTURE_H
#define RR_CARRIER_ENGINE_CAPTURE_H

#include "carrier/engine.h"

/* The capture and the flight recorder of an engine that a program made: rpcrdma_engine_config. */

/* Makes what config asks for, at engine->captures, and has inner put it before each provider. Errors: SYSTEM,
 * NOMEM. */
int rr_engine_captures_begin(struct rpcrdma_engine *engine, const struct rpcrdma_engine_config *config,
	struct rr_engine_config *inner);

/* After the engine's fabrics. */
void rr_engine_captures_end(struct rpcrdma_engine *engine);

#endif
