/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/engine.h"

#include "base/checked.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/requester/requester.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"

/* An engine owns its loop, its pools and its fabric, and frees them in the opposite order. */

enum {
	INLINE_MIN = 1024,
	INLINE_MAX = 262144,
	RECEIVE_LEAST = 4096, /* some peers Send more than they were told to */
	CREDITS_MAX = 16384,
	PROVIDED_MAX = 4096,
	MESSAGE_MIN = 1024,
	MESSAGE_MAX = 1 << 30,
	CHUNKS_MAX = 1024,
	WORK_LEAST = 256,
	READS_AT_A_TIME = 32,
};

const struct rr_engine_config rr_engine_config_default = {
	.inline_send = 4096,
	.inline_receive = 4096,
	.credits = 64,
	.message_max = (1 << 20) + (64 << 10),
	/* RFC 8267, 6.4.2: a Read list with "either a Position Zero Read chunk, one Read chunk with a
	 * non-zero Position, or both", at most one Write chunk, "up to sixteen RDMA segments" in each: "NFS
	 * version 4 servers MUST accept and process such requests." This is more. */
	.segment_max = 300,
	.chunk_max = 64,
	.memory_max = 64 << 20,
	.remote_invalidation = true,
	.read_chunks = true,
	.connection_max = 1024,
};

static bool
is_inline_size(uint32_t size)
{
	return size >= INLINE_MIN && size <= INLINE_MAX && size % 1024 == 0;
}

static bool
is_good(const struct rr_engine_config *config)
{
	return config->versions <= RR_VERSIONS_2 && config->reply_chunks <= RR_REPLY_CHUNKS_NEVER &&
	       config->provided_max <= PROVIDED_MAX && is_inline_size(config->inline_send) &&
	       is_inline_size(config->inline_receive) && config->credits > 0 &&
	       config->credits <= CREDITS_MAX && config->message_max >= MESSAGE_MIN &&
	       config->message_max <= MESSAGE_MAX && config->segment_max > 0 && config->chunk_max > 0 &&
	       config->chunk_max <= CHUNKS_MAX && config->memory_max > 0 && config->connection_max > 0;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A requester sends its RDMA_DONE before the call that its credit is used for next: one that does so never
 * has more replies exposed than it has credits. */
static void
set_bounds(struct rr_engine_config *config)
{
	if (config->provided_max == 0)
		config->provided_max = (uint32_t)rr_min(config->credits, PROVIDED_MAX);
	if (config->provided_octets > 0)
		return;
	config->provided_octets = config->memory_max / 2;
	if (config->provided_octets < config->message_max)
		config->provided_octets = config->message_max;
}

/* What the transport needs of its provider. */
static struct rr_fabric_config
fabric_config(const struct rr_engine_config *config)
{
	struct rr_fabric_config fabric = rr_fabric_config_default;
	size_t receives;

	/* RFC 8166, 3.3.3: "Receiver implementations MUST support inline thresholds of 1024 bytes".
	 * draft-cel-nfsv4-rpcrdma-version-two-00, 2.3: those of version 2 "MUST support an inline threshold
	 * of 4096 bytes". */
	fabric.receive_size = larger(config->inline_receive, RECEIVE_LEAST);
	/* Receives are made as they are needed: a quarter of the payload memory bounds them, but four busy
	 * connections must be able to use all of their credits. */
	receives = config->memory_max / 4 / fabric.receive_size;
	fabric.receive_max =
		larger(receives < UINT32_MAX ? (uint32_t)receives : UINT32_MAX, config->credits * 4);
	fabric.work_max = larger(WORK_LEAST, config->credits * 2);
	fabric.read_max = READS_AT_A_TIME;
	fabric.region_max = config->credits * RR_SLOT_REGIONS + config->provided_max * RR_PIECES_MAX;
	fabric.crc = config->crc;
	fabric.reuse_port = config->reuse_port;
	return fabric;
}

static int
add_filters(const struct rr_engine_config *config, struct rr_fabric **fabric)
{
	return config->filter ? config->filter(config->filter_ctx, fabric) : 0;
}

int
rr_engine_new_on(const struct rr_env *env, const struct rr_engine_config *config, rr_fabric_new *make,
	struct rr_engine **engine)
{
	struct rr_engine *new;
	struct rr_fabric_config fabric;
	int error;

	if (!is_good(config))
		return -RPCRDMA_ERR_INVAL;
	new = rr_alloc(env, sizeof(*new));
	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	new->config = *config;
	set_bounds(&new->config);
	new->only = make != rr_iwarp_fabric_new;
	rr_list_init(&new->exchanges);
	fabric = fabric_config(&new->config);
	new->loop = rr_loop_new(env);
	error = new->loop ? 0 : -RPCRDMA_ERR_SYSTEM;
	if (!error) {
		size_t max = rr_engine_pool_max(config);

		rr_shares_init(&new->shares, new->loop);
		new->shares.accepted_max = config->connection_max;
		new->pool = rr_pool_new(&new->shares, RR_REPLIES, max);
		new->arrivals = rr_pool_new(&new->shares, RR_ARRIVALS, max);
		new->results = rr_pool_new(&new->shares, RR_RESULTS, max);
		error = -RPCRDMA_ERR_NOMEM;
		if (new->pool &&new->arrivals &&new->results)
			error = make(new->loop, &fabric, &new->fabric);
	}
	if (!error)
		error = add_filters(config, &new->fabric);
	if (error) {
		rr_engine_free(new);
		return error;
	}
	*engine = new;
	return 0;
}

int
rr_engine_new(const struct rr_env *env, const struct rr_engine_config *config, struct rr_engine **engine)
{
	return rr_engine_new_on(env, config, rr_iwarp_fabric_new, engine);
}

int
rr_engine_adapters(struct rr_engine *engine, struct rr_fabric **fabric, struct rr_text *text)
{
	const struct rr_fabric_config config = fabric_config(&engine->config);
	int error;

	if (!engine->adapters) {
		error = rr_verbs_fabric_open(engine->loop, &config, &engine->adapters, text);
		if (error)
			return error;
		error = add_filters(&engine->config, &engine->adapters);
		if (error) {
			rr_fabric_destroy(engine->adapters);
			engine->adapters = NULL;
			return rr_fail(
				text, error, "the filters of RDMA adapters: %s", rpcrdma_strerror(error));
		}
	}
	*fabric = engine->adapters;
	return 0;
}

void
rr_engine_free(struct rr_engine *engine)
{
	if (!engine)
		return;
	/* The sent() of replies whose carrier was closed. */
	while (engine->loop && rr_loop_due(engine->loop) == 0 && rr_loop_turn(engine->loop, 0) > 0)
		;
	rr_responder_trim(engine);
	rr_arrival_unprepare(engine);
	rr_fabric_destroy(engine->adapters);
	rr_fabric_destroy(engine->fabric);
	rr_pool_free(engine->pool);
	rr_pool_free(engine->arrivals);
	rr_pool_free(engine->results);
	if (engine->loop)
		rr_shares_end(&engine->shares);
	rr_loop_free(engine->loop);
	rr_free(engine->env, engine);
}
