/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/emit/emit.h"

/* Writes the generated source: the functions that decode and encode the types of the schema, the walk's code,
 * and the tables of programs. */

/* Declares the functions that decode and encode a type whose values can contain values of the same type, as
 * such functions may call each other in circles. Does nothing for other types. */
static void
emit_forward(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	const char *name = definition->name;

	if (!rr_xdr_is_deep(emitter, definition))
		return;
	fputc('\n', emitter->out);
	rr_xdr_line(emitter, "static void deep_get_%s(struct rpcrdma_xdr_reader *%s, %s *%s, unsigned %s);",
		name, emitter->reader, name, emitter->value, emitter->depth);
	rr_xdr_line(emitter,
		"static void deep_put_%s(struct rpcrdma_xdr_writer *%s, const %s *%s, unsigned %s);", name,
		emitter->writer, name, emitter->value, emitter->depth);
}

void
rr_xdr_emit_source(struct rr_xdr_emitter *emitter, const char *header)
{
	struct rr_xdr_definition *definition;

	rr_xdr_line(emitter, "/* Written by `rpcrdma xdr` from a schema: change that, not this. */");
	rr_xdr_line(emitter, "#include \"%s\"", header);
	for (definition = emitter->compiler->ordered; definition; definition = definition->after)
		emit_forward(emitter, definition);
	for (definition = emitter->compiler->ordered; definition; definition = definition->after) {
		rr_xdr_emit_get(emitter, definition);
		rr_xdr_emit_put(emitter, definition);
	}
	rr_xdr_emit_walk(emitter);
	for (definition = emitter->compiler->definitions; definition; definition = definition->next)
		rr_xdr_emit_program(emitter, definition);
}
