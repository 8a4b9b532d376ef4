/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TEST_H
#define RR_TESTS_TEST_H

/* cmocka and what it needs to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* RPCRDMA_TEST names the one test that is run, of all programs. */
__attribute__((constructor)) static inline void
test_choose(void)
{
	const char *test_name = getenv("RPCRDMA_TEST");

	if (test_name)
		cmocka_set_test_filter(test_name);
}

/*
 * So many seconds a test waits for what does not come, and then fails. The limit measures nothing: what comes
 * at all takes milliseconds, and seconds on a machine with much other work. It is below the time after which
 * `make check` ends a test program without a word about the reason.
 */
enum { TEST_PATIENCE = 90 };

/* Where most waits are in vain, as in code that was broken on purpose, RPCRDMA_TEST_PATIENCE has fewer. */
static inline int
test_patience(void)
{
	const char *own = getenv("RPCRDMA_TEST_PATIENCE");

	return own ? atoi(own) : TEST_PATIENCE;
}

static inline time_t
test_seconds(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return now.tv_sec;
}

/* Fails where the wait that began at that second is too long; what names what did not come. */
#define test_wait(began, what)                                                                               \
	do {                                                                                                 \
		time_t waited_ = test_seconds() - (began);                                                   \
		if (waited_ > 1 && waited_ > test_patience())                                                \
			fail_msg("not within %d s: %s", test_patience(), what);                              \
	} while (0)

/* Takes turns until the expression is true. Turns are no measure of time: many go by at once where something
 * else is ready, and few on a loaded machine. */
#define turn_until(expression, turn)                                                                         \
	do {                                                                                                 \
		time_t began_ = test_seconds();                                                              \
		while (!(expression)) {                                                                      \
			test_wait(began_, #expression);                                                      \
			turn;                                                                                \
		}                                                                                            \
	} while (0)

#endif
