/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "fence.h"

/* Octets: the inline thresholds of stage_config(). */
enum { STAGE_INLINE = 4096 };

static void *
stage_realloc(void *ctx, void *old, size_t size)
{
	struct stage *stage = ctx;

	if (size > 0 && ++stage->allocations == stage->fail_at)
		return NULL;
	return rr_env_system.realloc(rr_env_system.ctx, old, size);
}

static uint64_t
stage_now(void *ctx)
{
	struct stage *stage = ctx;

	stage->now += stage->step;
	return stage->now + (stage->runs ? rr_now(&rr_env_system) : 0);
}

static void
stage_random(void *ctx, void *data, size_t size)
{
	const struct stage *stage = ctx;

	if (stage->octet)
		memset(data, stage->octet, size);
	else
		rr_env_system.random(rr_env_system.ctx, data, size);
}

static void
stage_ticked(struct rr_timer *timer)
{
	struct stage *stage = rr_container(timer, struct stage, ticker);

	stage->now += RR_MILLISECOND;
	rr_loop_arm(stage->loop, timer, 0);
}

void
stage_init(struct stage *stage)
{
	*stage = (struct stage){ .now = RR_SECOND };
	stage->env = (struct rr_env){
		.realloc = stage_realloc,
		.now = stage_now,
		.random = stage_random,
		.ctx = stage,
		.log_level = RR_LOG_WARNING,
	};
	rr_timer_init(&stage->ticker, stage_ticked);
}

struct rr_engine_config
stage_config(const struct rr_engine_config *config)
{
	struct rr_engine_config on = config ? *config : rr_engine_config_default;

	if (on.inline_send == rr_engine_config_default.inline_send)
		on.inline_send = STAGE_INLINE;
	if (on.inline_receive == rr_engine_config_default.inline_receive)
		on.inline_receive = STAGE_INLINE;
	return on;
}

void
stage_engine(struct stage *stage, const struct rr_engine_config *config, rr_fabric_new *make)
{
	struct rr_engine_config on = stage_config(config);

	if (make)
		on.make = make;
	assert_int_equal(rr_engine_new(&stage->env, &on, &stage->engine), 0);
	stage->loop = stage->engine->loop;
}

void
stage_loop(struct stage *stage)
{
	stage->loop = rr_loop_new(&stage->env);
	assert_non_null(stage->loop);
}

void
stage_tick(struct stage *stage)
{
	rr_loop_arm(stage->loop, &stage->ticker, 0);
}

void
stage_end(struct stage *stage)
{
	rr_loop_disarm(stage->loop, &stage->ticker);
	if (stage->engine)
		rpcrdma_engine_free(stage->engine);
	else
		rr_loop_free(stage->loop);
}

void
stage_turn(struct stage *stage)
{
	assert_true(rr_loop_turn(stage->loop, RR_MILLISECOND) >= 0);
}

void
stage_settle(struct stage *stage)
{
	settle_turns(rr_loop_turn(stage->loop, 0));
}

void
stage_pass(struct stage *stage, uint64_t time)
{
	stage->now += time;
	stage_settle(stage);
}

struct sockaddr_in
stage_loopback(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

void
stage_directory(char path[STAGE_PATH])
{
	strcpy(path, "/tmp/rpcrdma-test-XXXXXX");
	assert_non_null(mkdtemp(path));
}

static int
stage_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void
stage_remove(const char *path)
{
	nftw(path, stage_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
