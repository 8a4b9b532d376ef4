/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture file and the flight recorder of an engine, which owns them. The fabrics that write to them must
 * have ended before they end. */
#include "carrier/engine_capture.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/filter/flight.h"

struct rr_engine_captures {
	struct rr_capture *capture;
	struct rr_flight *flight;
	char *flight_path;
};

/* Wraps the fabric in a filter that writes its messages to the capture file, and in another filter that
 * writes them to the flight recorder, if the engine has these. *fabric is then the outermost filter. Returns
 * 0 or an error. */
static int
capture_captures_put(void *ctx, struct rr_fabric **fabric)
{
	const struct rr_engine_captures *captures = ctx;
	int error = 0;

	if (captures->capture)
		error = rr_capture_fabric_new(*fabric, captures->capture, fabric);
	if (!error && captures->flight)
		error = rr_capture_fabric_new(*fabric, rr_flight_capture(captures->flight), fabric);
	return error;
}

/* Opens the capture file and makes the flight recorder, if config names their paths. Returns 0 or an
 * error. */
static int
capture_captures_open(struct rr_engine_captures *captures, const struct rpcrdma_engine_config *config)
{
	struct rr_text ignored;
	int error = 0;

	if (config->capture)
		error = rr_capture_open(config->capture, &captures->capture, &ignored);
	if (error || !config->flight)
		return error;
	captures->flight_path = strdup(config->flight);
	if (!captures->flight_path)
		return -RPCRDMA_ERR_NOMEM;
	return rr_flight_new(captures->flight_path, &captures->flight);
}

int
rr_engine_captures_begin(struct rpcrdma_engine *engine, const struct rpcrdma_engine_config *config,
	struct rr_engine_config *inner)
{
	int error;

	if (!config->capture && !config->flight)
		return 0;
	engine->captures = calloc(1, sizeof(*engine->captures));
	if (!engine->captures)
		return -RPCRDMA_ERR_NOMEM;
	error = capture_captures_open(engine->captures, config);
	if (error)
		rr_engine_captures_end(engine);
	inner->filter = capture_captures_put;
	inner->filter_ctx = engine->captures;
	return error;
}

void
rr_engine_captures_end(struct rpcrdma_engine *engine)
{
	struct rr_engine_captures *captures = engine->captures;
	struct rr_text ignored;

	if (!captures)
		return;
	rr_capture_close(captures->capture, &ignored);
	rr_flight_free(captures->flight);
	free(captures->flight_path);
	free(captures);
	engine->captures = NULL;
}

int
rpcrdma_engine_write_flight(struct rpcrdma_engine *engine)
{
	if (!engine || !engine->captures || !engine->captures->flight)
		return -RPCRDMA_ERR_INVAL;
	return rr_flight_write(engine->captures->flight);
}
