/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of the system (rr_env_system), and functions that use any environment: env.h. */
#include "base/env.h"

#include <errno.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static void *
env_system_realloc(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size > 0)
		return realloc(old, size);
	free(old);
	return NULL;
}

static uint64_t
env_system_now(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * RR_SECOND + (uint64_t)now.tv_nsec;
}

int
rr_system_random_ready(void)
{
	uint8_t octet;

	return getrandom(&octet, sizeof(octet), 0) < 0 && errno != EINTR ? -RPCRDMA_ERR_SYSTEM : 0;
}

static void
env_system_random(void *ctx, void *data, size_t size)
{
	uint8_t *next = data;

	(void)ctx;
	while (size > 0) {
		ssize_t got = getrandom(next, size, 0);

		if (got < 0 && errno != EINTR) {
			/* Handles and keys that can be guessed would be worse than no program. */
			fprintf(stderr, "rpcrdma: error: " RR_NO_RANDOM "\n", strerror(errno));
			abort();
		}
		if (got > 0) {
			next += got;
			size -= (size_t)got;
		}
	}
}

static void
env_system_log(void *ctx, enum rr_log_level level, const char *line)
{
	static const char *const names[] = { "error", "warning", "info", "debug" };

	(void)ctx;
	fprintf(stderr, "rpcrdma: %s: %s\n", names[level], line);
}

const struct rr_env rr_env_system = {
	.realloc = env_system_realloc,
	.now = env_system_now,
	.random = env_system_random,
	.log = env_system_log,
	.log_level = RR_LOG_WARNING,
};

void *
rr_alloc(const struct rr_env *env, size_t size)
{
	void *memory = env->realloc(env->ctx, NULL, size > 0 ? size : 1);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

void *
rr_alloc_array(const struct rr_env *env, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	return rr_alloc(env, total);
}

void
rr_free(const struct rr_env *env, void *memory)
{
	if (memory)
		env->realloc(env->ctx, memory, 0);
}

char *
rr_strdup(const struct rr_env *env, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = env->realloc(env->ctx, NULL, size);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}

uint32_t
rr_random_u32(const struct rr_env *env)
{
	uint32_t value;

	env->random(env->ctx, &value, sizeof(value));
	return value;
}

uint64_t
rr_random_u64(const struct rr_env *env)
{
	uint64_t value;

	env->random(env->ctx, &value, sizeof(value));
	return value;
}

void
rr_log(const struct rr_env *env, enum rr_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!env->log || level > env->log_level)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	env->log(env->ctx, level, line);
}
