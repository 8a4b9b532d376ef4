/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TEST_H
#define RR_TESTS_TEST_H

/* cmocka, and the headers that must be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* Chooses the test that RPCRDMA_TEST names, in all programs: only that test is run. */
__attribute__((constructor)) static inline void
test_choose(void)
{
	const char *test_name = getenv("RPCRDMA_TEST");

	if (test_name)
		cmocka_set_test_filter(test_name);
}

/*
 * A test waits at most this many seconds for an event that does not come, and then fails. The limit measures
 * nothing: events that come take milliseconds, or seconds on a machine with much other work. It is below the
 * time after which `make check` ends a test program without saying the reason.
 */
enum { TEST_PATIENCE = 90 };

/* Returns the seconds that a test waits. RPCRDMA_TEST_PATIENCE sets fewer, for code that was broken on
 * purpose, where most waits are in vain. */
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

/* Fails where the wait, which began at the second `began`, is too long; what: the event that did not come. */
#define test_wait(began, what)                                                                               \
	do {                                                                                                 \
		time_t waited_ = test_seconds() - (began);                                                   \
		if (waited_ > 1 && waited_ > test_patience())                                                \
			fail_msg("not within %d s: %s", test_patience(), what);                              \
	} while (0)

/* Takes turns until the expression is true. The number of turns does not measure time: many turns go by at
 * once where something else is ready, and few on a loaded machine. */
#define turn_until(expression, turn)                                                                         \
	do {                                                                                                 \
		time_t began_ = test_seconds();                                                              \
		while (!(expression)) {                                                                      \
			test_wait(began_, #expression);                                                      \
			turn;                                                                                \
		}                                                                                            \
	} while (0)

#endif
