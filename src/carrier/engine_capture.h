/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_ENGINE_CAPTURE_H
#define RR_CARRIER_ENGINE_CAPTURE_H

#include "carrier/engine.h"

/* The capture and the flight recorder of an engine that a program made with a struct
 * rpcrdma_engine_config. */

/* Makes the capture and the flight recorder that config asks for, in engine->captures, and sets the filter of
 * inner, which puts them before each provider. Returns 0 or an error: SYSTEM, NOMEM. */
int rr_engine_captures_begin(struct rpcrdma_engine *engine, const struct rpcrdma_engine_config *config,
	struct rr_engine_config *inner);

/* Ends the capture and the flight recorder. The engine's fabrics must have ended before. */
void rr_engine_captures_end(struct rpcrdma_engine *engine);

#endif
