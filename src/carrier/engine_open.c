/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine as its caller sees it: made from a public configuration, used, turned and woken. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/config.h"
#include "base/tls/tls.h"
#include "carrier/engine_capture.h"

/* Is the log function of an engine's environment: hands the line to the log function that the program set.
 * ctx is the engine. */
static void
open_log_line(void *ctx, enum rr_log_level level, const char *line)
{
	struct rpcrdma_engine *engine = ctx;

	(void)level;
	engine->log(engine->log_ctx, line);
}

/* Returns the engine's private configuration, made from the public config. Sizes and limits that are 0 in
 * config have their default values; the switches and modes are copied. */
static struct rr_engine_config
open_inner_config(const struct rpcrdma_engine_config *config)
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
	inner.poll = config->poll;
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

/* Whether the system gives random numbers. If not, logs it and what to do, and keeps errno for the caller. */
static int
open_look_for_random(const struct rpcrdma_engine *engine)
{
	int error = rr_system_random_ready(), number = errno;

	if (error)
		rr_log(engine->env, RR_LOG_ERROR, RR_NO_RANDOM, strerror(number));
	errno = number;
	return error;
}

int
rpcrdma_engine_new(const struct rpcrdma_engine_config *theirs, struct rpcrdma_engine **result)
{
	struct rpcrdma_engine_config config = { 0 };
	struct rr_engine_config inner;
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
	inner = open_inner_config(&config);
	if (!rr_engine_config_is_good(&inner))
		return -RPCRDMA_ERR_INVAL;
	engine = rr_alloc(&rr_env_system, sizeof(*engine));
	if (!engine)
		return -RPCRDMA_ERR_NOMEM;
	engine->own_env = rr_env_system;
	engine->env = &engine->own_env;
	if (config.log) {
		engine->own_env.log = open_log_line;
		engine->own_env.ctx = engine;
	}
	engine->log = config.log;
	engine->log_ctx = config.ctx;
	error = open_look_for_random(engine);
	if (!error)
		error = rr_engine_captures_begin(engine, &config, &inner);
	if (error) {
		rr_free(&rr_env_system, engine);
		return error;
	}
	/* If this fails, the engine has been freed, with its captures. */
	error = rr_engine_begin(engine, &inner);
	if (!error)
		*result = engine;
	return error;
}

int
rpcrdma_engine_secure(struct rpcrdma_engine *engine, const struct rpcrdma_secure_config *theirs)
{
	struct rpcrdma_secure_config config;
	struct rr_tls_files files;
	int error;

	if (!engine)
		return -RPCRDMA_ERR_INVAL;
	if (!theirs && engine->own_tls)
		return rr_tls_renew(engine->own_tls, &engine->text);
	error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
		"struct rpcrdma_secure_config", &engine->text);
	if (error < 0)
		return error;
	if (engine->own_tls || engine->users > 0)
		return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL,
			"rpcrdma_engine_secure() comes once, before clients and servers are made; with a "
			"config of "
			"NULL, it reads the files again");
	files = (struct rr_tls_files){ .cert = config.cert, .key = config.key, .ca = config.ca };
	error = rr_tls_new(true, &files, &engine->own_tls, &engine->text);
	if (error < 0)
		return error;
	engine->config.tls = engine->own_tls;
	engine->config.tls_refused = config.only ? 1u << RR_SECURITY_NONE : 0;
	return 0;
}

void
rr_engine_use(struct rpcrdma_engine *engine)
{
	engine->users++;
}

void
rr_engine_leave(struct rpcrdma_engine *engine)
{
	if (--engine->users == 0 && engine->freed)
		rr_engine_destroy(engine);
}

void
rpcrdma_engine_free(struct rpcrdma_engine *engine)
{
	if (!engine)
		return;
	/* The functions that were posted run now. They count as callbacks, so that they cannot turn the
	 * loop. */
	rr_loop_enter(engine->loop);
	rr_posts_end(&engine->posts);
	rr_loop_leave(engine->loop);
	engine->freed = true;
	if (engine->users == 0)
		rr_engine_destroy(engine);
}

int
rr_engine_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text)
{
	if (!rr_loop_calls_back(engine->loop))
		return 0;
	return rr_fail(text, -RPCRDMA_ERR_INVAL,
		"%s() turns the event loop, so it cannot be called inside a callback", function);
}

int
rr_engine_transport(enum rpcrdma_transport transport, enum rr_transport *inner, struct rr_text *text)
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
	int turned = engine ? rr_engine_may_wait(engine, __func__, &engine->text) : -RPCRDMA_ERR_INVAL;

	if (turned < 0)
		return turned;
	turned = rr_loop_turn(engine->loop, timeout);
	if (turned < 0)
		return rr_fail(&engine->text, turned, "the event loop failed: %s", strerror(errno));
	return turned;
}

int
rpcrdma_engine_fd(const struct rpcrdma_engine *engine)
{
	return engine ? rr_loop_fd(engine->loop) : -RPCRDMA_ERR_INVAL;
}

int64_t
rpcrdma_engine_due(const struct rpcrdma_engine *engine)
{
	return engine ? rr_loop_due(engine->loop) : -RPCRDMA_ERR_INVAL;
}

void
rpcrdma_engine_wake(struct rpcrdma_engine *engine)
{
	int saved = errno; /* the caller of a signal handler may be about to read errno */

	if (!engine)
		return;
	(void)eventfd_write(
		engine->wake.fd, 1); /* fails only if the eventfd is readable already, which is enough */
	errno = saved;
}

const char *
rpcrdma_engine_error(const struct rpcrdma_engine *engine)
{
	return engine ? engine->text.text : "there is no engine: the pointer to it is NULL";
}
