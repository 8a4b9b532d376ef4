/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/emit/emit.h"

/* Writes the C code that encodes a number by the library's function whose name ends in `codec`, as i32 in
 * rpcrdma_put_i32. */
static void
emit_scalar(struct rr_xdr_emitter *emitter, const char *codec, const char *path)
{
	rr_xdr_line(emitter, "rpcrdma_put_%s(%s, %s);", codec, emitter->stream, path);
}

/* Writes the C code that encodes an enum. When that code runs, it fails for a number that the enum does not
 * have. */
static void
emit_enum(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path)
{
	rr_xdr_line(emitter, "switch (%s) {", path);
	rr_xdr_emit_cases(emitter, type);
	rr_xdr_line(emitter, "\trpcrdma_put_i32(%s, (int32_t)%s);", emitter->stream, path);
	rr_xdr_line(emitter, "\tbreak;");
	rr_xdr_line(emitter, "default:");
	rr_xdr_line(emitter, "\trpcrdma_xdr_writer_fail(%s);", emitter->stream);
	rr_xdr_line(emitter, "\tbreak;");
	rr_xdr_line(emitter, "}");
}

/* Writes the C code that encodes opaque data or a string: it calls the library's function whose name ends in
 * `codec`, with the data at `path`. bound is the length, or the maximum of the length, as C text. */
static void
emit_octets(struct rr_xdr_emitter *emitter, const char *codec, const char *path, const char *bound)
{
	rr_xdr_line(emitter, "rpcrdma_put_%s(%s, %s, %s);", codec, emitter->stream, path, bound);
}

/* Writes the C code that encodes the length of an array. The generated code fails, without a look at the
 * elements, if the array is longer than the schema allows, or its pointer is NULL. */
static void
emit_count(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *count,
	const char *values)
{
	const char *missing = rr_xdr_format(emitter->compiler, "(%s > 0 && !%s)", count, values);

	if (declaration->bounded &&
		(declaration->size.foreign || declaration->size.number.magnitude < UINT32_MAX))
		rr_xdr_open(
			emitter, "if (%s > %s || %s)", count, rr_xdr_bound(emitter, declaration), missing);
	else
		rr_xdr_open(emitter, "if %s", missing);
	rr_xdr_line(emitter, "rpcrdma_xdr_writer_fail(%s);", emitter->stream);
	rr_xdr_line(emitter, "return;");
	rr_xdr_close(emitter, "");
	emit_scalar(emitter, "u32", count);
}

/* Writes the C code that encodes the bool in front of an optional object: whether the pointer at `path` is
 * not NULL. */
static void
emit_presence(struct rr_xdr_emitter *emitter, const char *path)
{
	rr_xdr_line(emitter, "rpcrdma_put_bool(%s, %s != NULL);", emitter->stream, path);
}

/* Writes the beginning of an if statement with the condition that ends the loop over a linked list: there is
 * no next element, or encoding has failed for lack of room, as the list may be circular. */
static void
emit_last(struct rr_xdr_emitter *emitter, const char *next)
{
	rr_xdr_line(emitter, "if (!%s || %s->failed)", next, emitter->stream);
}

static const struct rr_xdr_direction put = {
	.verb = "put",
	.stream_type = "struct rpcrdma_xdr_writer",
	.qualifier = "const ",
	.fail = "rpcrdma_xdr_writer_fail",
	.scalar = emit_scalar,
	.enumeration = emit_enum,
	.octets = emit_octets,
	.count = emit_count,
	.presence = emit_presence,
	.last = emit_last,
};

void
rr_xdr_emit_put(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	rr_xdr_emit_codec(emitter, definition, &put, emitter->writer);
}
