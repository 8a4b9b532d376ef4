/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/memory.h"

#include <string.h>

void *
rr_decode_resize(struct rr_decode_memory *memory, void *old, size_t old_size, size_t size)
{
	void *block;

	if (size > old_size && size - old_size > memory->limit - memory->used) {
		memory->refused++;
		return NULL;
	}
	block = memory->env->realloc(memory->env->ctx, old, size);
	if (!block && size > 0) {
		memory->refused++;
		return NULL;
	}
	memory->used = memory->used - old_size + size;
	return block;
}

void *
rr_decode_alloc(struct rr_decode_memory *memory, size_t size)
{
	void *block = rr_decode_resize(memory, NULL, 0, size);

	if (block)
		memset(block, 0, size);
	return block;
}

void
rr_decode_free(struct rr_decode_memory *memory, void *block, size_t size)
{
	if (block)
		rr_decode_resize(memory, block, size, 0);
}
