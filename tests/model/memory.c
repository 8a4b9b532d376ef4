/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/*
 * The owner's memory. What a call or an answer no longer needs is filled with
 * one octet: whoever reads it then has wrong octets, whoever writes to it is
 * found when it is freed, and AddressSanitizer sees what comes later still.
 */

enum { EARTH = 0xd5 };

struct rest *
model_memory(struct model *model, uint32_t size)
{
	struct rest *memory = malloc(sizeof(*memory) + size);

	model_require(model, memory);
	memory->size = size;
	rr_list_init(&memory->link);
	return memory;
}

void
model_bury(struct model *model, struct rest *memory)
{
	memory->until = model->step + MODEL_REST;
	memset(memory->memory, EARTH, memory->size);
	rr_list_append(&model->rests, &memory->link);
}

static void
check(const struct model *model, const struct rest *memory)
{
	for (uint32_t i = 0; i < memory->size; i++) {
		if (memory->memory[i] != EARTH)
			model_fail(model, "memory was written to that was given back (octet %u of %u)", i,
				memory->size);
	}
}

void
model_unearth(struct model *model, bool all)
{
	while (!rr_list_empty(&model->rests)) {
		struct rest *memory = rr_container(model->rests.next, struct rest, link);

		if (!all && memory->until > model->step)
			return;
		check(model, memory);
		rr_list_remove(&memory->link);
		free(memory);
	}
}
