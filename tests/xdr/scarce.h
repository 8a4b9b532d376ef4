/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_XDR_SCARCE_H
#define RR_TESTS_XDR_SCARCE_H

#include <stdlib.h>

/* The realloc of a struct rr_env that succeeds for a number of calls, which is its ctx. */
static inline void *
scarce(void *ctx, void *old, size_t size)
{
	unsigned *left = ctx;

	if (size == 0) {
		free(old);
		return NULL;
	}
	return *left > 0 ? (*left)--, realloc(old, size) : NULL;
}

#endif
