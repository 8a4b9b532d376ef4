/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tls/tls.h"
#include "carrier/engine_capture.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "carrier/carrier.h"

/* Makes and ends engines. An engine owns its loop, its pools and its carriers, and frees them in the opposite
 * order. */

enum { CREDITS_MAX = 16384, MESSAGE_MIN = 1024, MESSAGE_MAX = 1 << 30 };

const struct rr_engine_config rr_engine_config_default = {
	/* Calls and replies with 8 KiB of data, and their headers, go inline. */
	.inline_send = 12288,
	.inline_receive = 12288,
	.credits = 64,
	.message_max = (1 << 20) + (64 << 10),
	/* RFC 8267, 6.4.2: a Read list with "either a Position Zero Read chunk, one Read chunk with a
	 * non-zero Position, or both", at most one Write chunk, "up to sixteen RDMA segments" in each: "NFS
	 * version 4 servers MUST accept and process such requests." The value allows more than these. */
	.segment_max = 300,
	.chunk_max = 64,
	.memory_max = 64 << 20,
	.remote_invalidation = true,
	.read_chunks = true,
	.connection_max = 1024,
};

bool
rr_engine_config_is_good(const struct rr_engine_config *config)
{
	return config->credits > 0 && config->credits <= CREDITS_MAX && config->message_max >= MESSAGE_MIN &&
	       config->message_max <= MESSAGE_MAX && config->memory_max > 0 && config->connection_max > 0 &&
	       config->poll <= RR_ENGINE_POLL_MAX;
}

/* Is called when the engine's eventfd is readable: runs the functions that other threads posted to the
 * engine. */
static void
engine_woken(struct rr_watch *watch, unsigned events)
{
	eventfd_t count;

	(void)events;
	(void)eventfd_read(watch->fd, &count); /* the read only resets the eventfd. It fails if there is
						  nothing to read, which is no error here */
	rr_posts_run(&rr_container(watch, struct rpcrdma_engine, wake)->posts);
}

/* Makes the engine's loop, and the eventfd by which other threads wake the loop. Returns 0 or an error. */
static int
engine_make_loop(struct rpcrdma_engine *engine)
{
	engine->wake.ready = engine_woken;
	engine->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	engine->loop = engine->wake.fd >= 0 ? rr_loop_new(engine->env) : NULL;
	if (!engine->loop)
		return errno == ENOMEM ? -RPCRDMA_ERR_NOMEM : -RPCRDMA_ERR_SYSTEM;
	rr_tls_handshakes_init(&engine->handshakes, engine->loop);
	rr_shares_init(&engine->shares, engine->loop);
	rr_loop_poll(engine->loop, engine->config.poll * RR_MICROSECOND);
	return rr_loop_watch(engine->loop, &engine->wake, engine->wake.fd, RR_READABLE);
}

/* Makes the three pools for payload memory, and sets how many accepted connections the engine may have.
 * Returns 0 or -RPCRDMA_ERR_NOMEM. */
static int
engine_make_pools(struct rpcrdma_engine *engine)
{
	size_t max = rr_engine_pool_max(&engine->config);

	engine->shares.accepted_max = engine->config.connection_max;
	engine->pool = rr_pool_new(&engine->shares, RR_REPLIES, max);
	engine->arrivals = rr_pool_new(&engine->shares, RR_ARRIVALS, max);
	engine->results = rr_pool_new(&engine->shares, RR_RESULTS, max);
	return engine->pool && engine->arrivals && engine->results ? 0 : -RPCRDMA_ERR_NOMEM;
}

/* Makes the parts of the engine that make connections (one for TCP, one for RDMA), and adds them to the
 * engine's list. Returns 0 or the first error. */
static int
engine_make_carriers(struct rpcrdma_engine *engine)
{
	for (const struct rr_carriers_ops *const *known = rr_carriers_known; *known; known++) {
		struct rr_carriers *carriers;
		int error = (*known)->begin(engine, &carriers);

		if (error)
			return error;
		carriers->ops = *known;
		carriers->engine = engine;
		rr_list_append(&engine->carriers, &carriers->link);
	}
	return 0;
}

int
rr_engine_begin(struct rpcrdma_engine *engine, const struct rr_engine_config *config)
{
	int error;

	engine->config = *config;
	rr_list_init(&engine->carriers);
	rr_posts_init(&engine->posts);
	error = engine_make_loop(engine);
	if (!error && config->spread)
		error = rr_spread_join(config->spread, engine->loop, &engine->spread);
	if (!error)
		error = engine_make_pools(engine);
	if (!error)
		error = engine_make_carriers(engine);
	if (error)
		rr_engine_destroy(engine);
	return error;
}

int
rr_engine_new(const struct rr_env *env, const struct rr_engine_config *config, struct rpcrdma_engine **result)
{
	struct rpcrdma_engine *engine;
	int error;

	if (!rr_engine_config_is_good(config))
		return -RPCRDMA_ERR_INVAL;
	engine = rr_alloc(env, sizeof(*engine));
	if (!engine)
		return -RPCRDMA_ERR_NOMEM;
	engine->env = env;
	error = rr_engine_begin(engine, config);
	if (!error)
		*result = engine;
	return error;
}

int
rr_engine_new_on(const struct rr_env *env, const struct rr_engine_config *config, rr_fabric_new *make,
	struct rpcrdma_engine **engine)
{
	struct rr_engine_config on = *config;

	on.make = make;
	return rr_engine_new(env, &on, engine);
}

/* Frees the loop and the eventfd, as far as engine_make_loop() made them. Before this, ends the engine's
 * membership in the group of engines that distribute accepted connections among themselves. */
static void
engine_end_loop(struct rpcrdma_engine *engine)
{
	rr_spread_leave(engine->spread);
	if (engine->loop && engine->wake.fd >= 0)
		rr_loop_unwatch(engine->loop, &engine->wake);
	if (engine->wake.fd >= 0)
		close(engine->wake.fd);
	if (engine->loop)
		rr_shares_end(&engine->shares);
	rr_loop_free(engine->loop);
}

void
rr_engine_destroy(struct rpcrdma_engine *engine)
{
	const struct rr_env env = *engine->env;
	struct rr_list *link;

	/* Tasks are still queued that call the sent() of replies whose carrier was closed. The loop is
	 * turned, without waiting, until nothing is due at once. */
	while (engine->loop && rr_loop_due(engine->loop) == 0 && rr_loop_turn(engine->loop, 0) > 0)
		;
	while ((link = rr_list_pop(&engine->carriers))) {
		struct rr_carriers *carriers = rr_container(link, struct rr_carriers, link);

		carriers->ops->end(carriers);
	}
	rr_tls_free(engine->own_tls);
	rr_pool_free(engine->pool);
	rr_pool_free(engine->arrivals);
	rr_pool_free(engine->results);
	rr_cache_end(&engine->calls);
	rr_posts_destroy(&engine->posts);
	engine_end_loop(engine);
	rr_engine_captures_end(engine);
	rr_free(&env, engine);
}
