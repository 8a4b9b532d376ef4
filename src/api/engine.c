/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public engine. It owns its rr_engine, the eventfd that wakes it, the list
 * of functions that other threads post, and the calls that its clients have
 * used and may use again.
 */
#include "api/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/call.h"
#include "api/config.h"

static void
log_line(void *ctx, enum rr_log_level level, const char *line)
{
	struct rpcrdma_engine *engine = ctx;

	(void)level;
	engine->log(engine->log_ctx, line);
}

static void
woken(struct rr_watch *watch, unsigned events)
{
	eventfd_t count;

	(void)events;
	(void)eventfd_read(watch->fd, &count); /* nothing to be read is what is wanted, too */
	rr_posts_run(rr_container(watch, struct rpcrdma_engine, wake)->posts);
}

static struct rr_engine_config
inner_config(const struct rpcrdma_engine_config *config)
{
	struct rr_engine_config inner = rr_engine_config_default;

	if (config->inline_send)
		inner.inline_send = config->inline_send;
	if (config->inline_receive)
		inner.inline_receive = config->inline_receive;
	if (config->credits)
		inner.credits = config->credits;
	if (config->message_max)
		inner.message_max = config->message_max;
	if (config->segment_max)
		inner.segment_max = config->segment_max;
	if (config->chunk_max)
		inner.chunk_max = config->chunk_max;
	if (config->connection_max)
		inner.connection_max = config->connection_max;
	if (config->memory_max)
		inner.memory_max = config->memory_max;
	inner.crc = config->crc;
	inner.versions = (enum rr_versions)config->rpcrdma_version;
	inner.remote_invalidation = !config->no_remote_invalidation;
	inner.read_chunks = !config->no_read_chunks;
	inner.reply_chunks = (enum rr_reply_chunks)config->reply_chunks;
	inner.provided_max = config->provided_max;
	inner.provided_octets = config->provided_octets;
	inner.reuse_port = config->reuse_port;
	return inner;
}

/* What it has made is freed by rpcrdma_engine_free(), also after a failure. */
static int
make(struct rpcrdma_engine *engine, const struct rpcrdma_engine_config *config)
{
	const struct rr_engine_config inner = inner_config(config);
	int error = rr_engine_new(&engine->env, &inner, &engine->engine);

	if (error < 0)
		return error;
	engine->posts = rr_posts_new(&engine->env);
	if (!engine->posts)
		return -RPCRDMA_ERR_NOMEM;
	engine->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake.fd < 0)
		return -RPCRDMA_ERR_SYSTEM;
	return rr_loop_watch(engine->engine->loop, &engine->wake, engine->wake.fd, RR_READABLE);
}

int
rpcrdma_engine_new(const struct rpcrdma_engine_config *theirs, struct rpcrdma_engine **result)
{
	struct rpcrdma_engine_config config = { 0 };
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int error;

	if (!result)
		return -RPCRDMA_ERR_INVAL;
	if (theirs) {
		error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
			"struct rpcrdma_engine_config", &text);
		if (error < 0)
			return error;
	}
	engine = rr_alloc(&rr_env_system, sizeof(*engine));
	if (!engine)
		return -RPCRDMA_ERR_NOMEM;
	engine->env = rr_env_system;
	if (config.log) {
		engine->env.log = log_line;
		engine->env.ctx = engine;
	}
	engine->log = config.log;
	engine->log_ctx = config.ctx;
	engine->wake.fd = -1;
	engine->wake.ready = woken;
	rr_list_init(&engine->calls);
	error = make(engine, &config);
	if (error < 0) {
		rpcrdma_engine_free(engine);
		return error;
	}
	*result = engine;
	return 0;
}

static void
free_calls(struct rpcrdma_engine *engine)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&engine->calls)))
		rr_free(&engine->env, rr_container(link, struct rpcrdma_call, link));
}

static void
destroy(struct rpcrdma_engine *engine)
{
	if (engine->wake.fd >= 0) {
		rr_loop_unwatch(engine->engine->loop, &engine->wake);
		close(engine->wake.fd);
	}
	rr_engine_free(engine->engine);
	rr_posts_free(engine->posts);
	free_calls(engine);
	rr_free(&rr_env_system, engine);
}

void
rr_api_engine_use(struct rpcrdma_engine *engine)
{
	engine->users++;
}

void
rr_api_engine_leave(struct rpcrdma_engine *engine)
{
	if (--engine->users == 0 && engine->freed)
		destroy(engine);
}

void
rpcrdma_engine_free(struct rpcrdma_engine *engine)
{
	if (!engine)
		return;
	if (engine->posts) {
		engine->turning = true;
		rr_posts_end(engine->posts);
		engine->turning = false;
	}
	engine->freed = true;
	if (engine->users == 0)
		destroy(engine);
}

int
rr_api_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text)
{
	if (!engine->turning)
		return 0;
	return rr_fail(text, -RPCRDMA_ERR_INVAL,
		"%s() turns the event loop, so it cannot be called inside a callback", function);
}

int
rr_api_transport(enum rpcrdma_transport transport, enum rr_transport *inner, struct rr_text *text)
{
	switch (transport) {
	case RPCRDMA_TRANSPORT_RDMA: *inner = RR_TRANSPORT_AUTO; return 0;
	case RPCRDMA_TRANSPORT_TCP: *inner = RR_TRANSPORT_TCP; return 0;
	case RPCRDMA_TRANSPORT_IWARP: *inner = RR_TRANSPORT_IWARP; return 0;
	case RPCRDMA_TRANSPORT_VERBS: *inner = RR_TRANSPORT_VERBS; return 0;
	}
	return rr_fail(text, -RPCRDMA_ERR_INVAL, "there is no transport %d", (int)transport);
}

int
rpcrdma_engine_turn(struct rpcrdma_engine *engine, int64_t timeout)
{
	int turned = engine ? rr_api_may_wait(engine, __func__, &engine->text) : -RPCRDMA_ERR_INVAL;

	if (turned < 0)
		return turned;
	engine->turning = true;
	turned = rr_loop_turn(engine->engine->loop, timeout);
	engine->turning = false;
	if (turned < 0)
		return rr_fail(&engine->text, turned, "the event loop failed: %s", strerror(errno));
	return turned;
}

int
rpcrdma_engine_fd(const struct rpcrdma_engine *engine)
{
	return engine ? rr_loop_fd(engine->engine->loop) : -RPCRDMA_ERR_INVAL;
}

int64_t
rpcrdma_engine_due(const struct rpcrdma_engine *engine)
{
	return engine ? rr_loop_due(engine->engine->loop) : -RPCRDMA_ERR_INVAL;
}

void
rpcrdma_engine_wake(struct rpcrdma_engine *engine)
{
	int saved = errno; /* a signal handler's caller may be about to look at it */

	if (!engine)
		return;
	(void)eventfd_write(engine->wake.fd, 1); /* fails only where it is readable already */
	errno = saved;
}

const char *
rpcrdma_engine_error(const struct rpcrdma_engine *engine)
{
	return engine ? engine->text.text : "there is no engine: the pointer to it is NULL";
}
