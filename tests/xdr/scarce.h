/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_XDR_SCARCE_H
#define RR_TESTS_XDR_SCARCE_H

#include <stdlib.h>

/* Memory that is there for a number of calls: the realloc of a struct rr_env, whose ctx is that number. */
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
