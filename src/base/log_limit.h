/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_LOG_LIMIT_H
#define RR_BASE_LOG_LIMIT_H

#include "base/env.h"

/*
 * Lines of the log that any thread may write, and that clients or files can cause again and again. A kind of
 * line gets RR_LOG_LIMIT_LINES lines in a window of one minute. Further lines are only counted; the next line
 * of that kind that is written in a later window has another one in front of it, which says how many were
 * left out. Where the log wants RR_LOG_INFO, every line is written.
 *
 * peer_log.h bounds the lines of one loop, for each host; here there are neither hosts nor timers, and no
 * lock.
 */
enum { RR_LOG_LIMIT_LINES = 16 };

#define RR_LOG_LIMIT_WINDOW (60 * RR_SECOND)

/* One kind of line. Its owner sets the level and the kind, and zeroes the rest, which is private. */
struct rr_log_limit {
	enum rr_log_level level;
	const char *kind;        /* what the lines are about, in a few words */
	_Atomic uint64_t window; /* the number of the present window, and in the lower 32 bits its lines */
	_Atomic uint64_t held;   /* lines that were left out, and of which no line has said so yet */
};

/* Writes a line of limit->level to the log, as rr_log() does, unless the kind has had RR_LOG_LIMIT_LINES
 * lines in the present window: such a line is only counted. */
void rr_log_limited(struct rr_log_limit *limit, const struct rr_env *env, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Logs how many lines were left out, if any were since a line said so. */
void rr_log_limit_end(struct rr_log_limit *limit, const struct rr_env *env);

#endif
