/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_DECODE_BREAKS_H
#define RR_TESTS_DECODE_BREAKS_H

#include "../test.h"

#include "decode/judge/judge.h"

struct broken {
	const char *name; /* of its capture in corpus/, without the row */
	void (*make)(void);
};

extern const struct broken breaks[RR_RULES];

#endif
