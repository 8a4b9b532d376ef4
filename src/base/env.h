/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ENV_H
#define RR_BASE_ENV_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The environment of a part of the library: memory, time, random octets and a place for its log. Tests pass
 * an environment of their own: memory that fails on demand, a clock that stands still, numbers that repeat.
 */

enum rr_log_level { RR_LOG_ERROR, RR_LOG_WARNING, RR_LOG_INFO, RR_LOG_DEBUG };

struct rr_env {
	/* As realloc(3): size 0 frees and returns NULL. */
	void *(*realloc)(void *ctx, void *old, size_t size);
	/* Monotonic time, in nanoseconds. */
	uint64_t (*now)(void *ctx);
	/* Fills data with size octets that nobody can predict. */
	void (*random)(void *ctx, void *data, size_t size);
	/* One line, without line feed. NULL: no log. */
	void (*log)(void *ctx, enum rr_log_level level, const char *line);
	void *ctx;
	enum rr_log_level log_level; /* the most verbose level that is wanted */
};

/* The environment of a program: malloc(3), CLOCK_MONOTONIC, getrandom(2), standard error; level
 * RR_LOG_WARNING. */
extern const struct rr_env rr_env_system;

/* Says that the system gives no random numbers, and what to do; %s is the system's text for errno. */
#define RR_NO_RANDOM                                                                                         \
	"getrandom(2) gives no random numbers, without which others could guess handles and keys: %s. Let "  \
	"the filter of system calls (seccomp) allow getrandom, or run Linux 3.17 or newer"

/* Returns 0, or -RPCRDMA_ERR_SYSTEM with errno, where the system gives no random numbers: then
 * rr_env_system.random() would end the program with abort(3), after a line on standard error. */
int rr_system_random_ready(void);

/* Returns size octets of zeroed memory, or NULL if there is no memory. */
void *rr_alloc(const struct rr_env *env, size_t size);

/* Returns a zeroed array of count elements of size octets each. Returns NULL if there is no memory, or if
 * count * size overflows. */
void *rr_alloc_array(const struct rr_env *env, size_t count, size_t size);

/* Frees memory, which may be NULL. */
void rr_free(const struct rr_env *env, void *memory);

/* Returns a copy of text, which the caller frees with rr_free(), or NULL if there is no memory. */
char *rr_strdup(const struct rr_env *env, const char *text);

static inline uint64_t
rr_now(const struct rr_env *env)
{
	return env->now(env->ctx);
}

uint32_t rr_random_u32(const struct rr_env *env);
uint64_t rr_random_u64(const struct rr_env *env);

/* Writes a line to the log, if env->log_level asks for lines of this level. format has no line feed at its
 * end. */
void rr_log(const struct rr_env *env, enum rr_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Nanoseconds. */
#define RR_SECOND      UINT64_C(1000000000)
#define RR_MILLISECOND UINT64_C(1000000)
#define RR_MICROSECOND UINT64_C(1000)

#endif
