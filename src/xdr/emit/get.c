/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/emit/emit.h"

/* Writes the C code that reads a number by the library's function whose name ends in `codec`, as i32 in
 * rpcrdma_get_i32. */
static void
emit_scalar(struct rr_xdr_emitter *emitter, const char *codec, const char *path)
{
	rr_xdr_line(emitter, "%s = rpcrdma_get_%s(%s);", path, codec, emitter->stream);
}

/* Writes the C code that reads an enum. The generated code fails for a number that the enum does not have. */
static void
emit_enum(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path)
{
	/* C++ requires a cast to the type of an enum; __typeof__ names it, as C has no other name. */
	rr_xdr_line(emitter, "%s = (__typeof__(%s))rpcrdma_get_i32(%s);", path, path, emitter->stream);
	rr_xdr_line(emitter, "switch (%s) {", path);
	rr_xdr_emit_cases(emitter, type);
	rr_xdr_line(emitter, "\tbreak;");
	rr_xdr_line(emitter, "default:");
	rr_xdr_line(emitter, "\trpcrdma_xdr_fail(%s);", emitter->stream);
	rr_xdr_line(emitter, "\t%s = (__typeof__(%s))0;", path, path);
	rr_xdr_line(emitter, "\tbreak;");
	rr_xdr_line(emitter, "}");
}

/* Writes the C code that reads opaque data or a string: it calls the library's function whose name ends in
 * `codec`, and stores the result at `path`. bound is the length, or the maximum of the length, as C text. */
static void
emit_octets(struct rr_xdr_emitter *emitter, const char *codec, const char *path, const char *bound)
{
	rr_xdr_line(emitter, "%s = rpcrdma_get_%s(%s, %s);", path, codec, emitter->stream, bound);
}

/* Writes the C code that reads the length of an array and allocates memory for its elements. count and values
 * are the C expressions for the length and for the pointer to the elements. */
static void
emit_count(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *count,
	const char *values)
{
	/* With the smallest size of an element, the library refuses a count that the rest of the message
	 * cannot hold. */
	uint32_t least = rr_xdr_size(emitter->compiler, declaration->type).min;

	rr_xdr_line(emitter, "%s = rpcrdma_get_count(%s, %s, %u);", count, emitter->stream,
		rr_xdr_bound(emitter, declaration), least);
	rr_xdr_line(emitter, "%s = (__typeof__(%s))rpcrdma_get_array(%s, %s, sizeof(*%s));", values, values,
		emitter->stream, count, values);
	rr_xdr_line(emitter, "if (!%s)", values);
	rr_xdr_line(emitter, "\t%s = 0;", count);
}

/* Writes the C code that reads an optional object: a bool, and behind it the object if the bool is true. The
 * code sets the pointer at `path` to memory for the object, or to NULL. */
static void
emit_presence(struct rr_xdr_emitter *emitter, const char *path)
{
	rr_xdr_line(emitter,
		"%s = (__typeof__(%s))(rpcrdma_get_bool(%s) ? rpcrdma_get_array(%s, 1, sizeof(*%s)) : NULL);",
		path, path, emitter->stream, emitter->stream, path);
}

/* Writes the beginning of an if statement with the condition that ends the loop over a linked list: there is
 * no next element. */
static void
emit_last(struct rr_xdr_emitter *emitter, const char *next)
{
	rr_xdr_line(emitter, "if (!%s)", next);
}

static const struct rr_xdr_direction get = {
	.verb = "get",
	.stream_type = "struct rpcrdma_xdr_reader",
	.qualifier = "",
	.fail = "rpcrdma_xdr_fail",
	.scalar = emit_scalar,
	.enumeration = emit_enum,
	.octets = emit_octets,
	.count = emit_count,
	.presence = emit_presence,
	.last = emit_last,
};

void
rr_xdr_emit_get(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition)
{
	rr_xdr_emit_codec(emitter, definition, &get, emitter->reader);
}
