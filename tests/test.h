/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TEST_H
#define RR_TESTS_TEST_H

/* cmocka and what it needs to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
