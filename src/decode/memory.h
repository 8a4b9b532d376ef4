/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_MEMORY_H
#define RR_DECODE_MEMORY_H

#include "base/env.h"

/* The memory of one decoder: all memory that a capture makes the decoder keep is counted here, and has one
 * limit. */
struct rr_decode_memory {
	const struct rr_env *env;
	size_t used, limit; /* octets */
	uint64_t refused;   /* times that the limit was met, or the system had no more */
};

/* Resizes a block as realloc(3) does. old has old_size octets, or is NULL and has 0. Returns NULL if
 * there is no more memory; old then stays as it is. If size is 0, frees old and returns NULL. New octets
 * are not set. */
void *rr_decode_resize(struct rr_decode_memory *memory, void *old, size_t old_size, size_t size);

/* rr_decode_alloc() returns zeroed memory, or NULL if there is no more. rr_decode_free() frees it; size must
 * be the size with which it was allocated, and block may be NULL. */
void *rr_decode_alloc(struct rr_decode_memory *memory, size_t size);
void rr_decode_free(struct rr_decode_memory *memory, void *block, size_t size);

#endif
