/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "xdr/emit/emit.h"

void
rr_xdr_emit_walk(struct rr_xdr_emitter *emitter)
{
	const struct rr_walk_code *walk = &emitter->walk;

	if (walk->length == 0)
		return;
	fputc('\n', emitter->out);
	rr_xdr_open(emitter, "static const uint32_t %s[] =", emitter->walk_name);
	for (uint32_t i = 0; i < walk->length; i += 8) {
		for (uint32_t j = i; j < walk->length && j < i + 8; j++)
			fprintf(emitter->out, "%s%" PRIu32 ",", j == i ? "\t" : " ", walk->words[j]);
		fputc('\n', emitter->out);
	}
	rr_xdr_close(emitter, ";");
}

void
rr_xdr_emit_walk_entries(struct rr_xdr_emitter *emitter)
{
	fputc('\n', emitter->out);
	for (const struct rr_walk_target *target = emitter->walk.targets; target; target = target->next) {
		if (target->definition)
			rr_xdr_line(emitter, "#define XDR_WALK_%s %" PRIu32, target->definition->name,
				target->entry);
	}
}
