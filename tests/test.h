/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TEST_H
#define RR_TESTS_TEST_H

/* cmocka and what it needs to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Takes turns until the expression is true. Turns are no measure of time: many go by at once where something
 * else is ready, and few on a loaded machine. So this limit only ends what would never end. */
#define turn_until(expression, turn)                                                                         \
	do {                                                                                                 \
		for (int turns_ = 0; !(expression); turns_++) {                                              \
			if (turns_ > 5000000)                                                                \
				fail_msg("never: %s", #expression);                                          \
			turn;                                                                                \
		}                                                                                            \
	} while (0)

#endif
