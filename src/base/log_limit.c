/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds the lines of a kind that threads write: log_limit.h has the rules. */
#include "base/log_limit.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

/* Takes one of the lines of the window to which `now` belongs. Returns false where none is left. The number
 * of the window and the lines are one word, so that no thread sees the new number with the old lines. A
 * thread that read the clock before another one began a new window counts in the new one. */
static bool
limit_take(struct rr_log_limit *limit, uint64_t now)
{
	uint64_t window = (now / RR_LOG_LIMIT_WINDOW) << 32, seen = atomic_load(&limit->window), here;

	do {
		here = seen < window ? window : seen;
		if ((uint32_t)here >= RR_LOG_LIMIT_LINES)
			return false;
	} while (!atomic_compare_exchange_weak(&limit->window, &seen, here + 1));
	return true;
}

void
rr_log_limit_end(struct rr_log_limit *limit, const struct rr_env *env)
{
	uint64_t held = atomic_exchange(&limit->held, 0);

	if (held > 0)
		rr_log(env, limit->level, "%" PRIu64 " more lines about %s were left out", held, limit->kind);
}

void
rr_log_limited(struct rr_log_limit *limit, const struct rr_env *env, const char *format, ...)
{
	char line[512];
	va_list args;

	if (limit->level > env->log_level)
		return;
	if (env->log_level < RR_LOG_INFO && !limit_take(limit, rr_now(env))) {
		atomic_fetch_add(&limit->held, 1);
		return;
	}
	rr_log_limit_end(limit, env);
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	rr_log(env, limit->level, "%s", line);
}
