/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/emit/emit.h"

/* The common part of codecs of either direction: the order in which they go through a type. */

static void emit_declaration(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path);

/* Writes the C code that reads or writes (as emitter->direction says) a value of a named type. path is the C
 * expression for the value. Writes the statements themselves if they are simple, else a call of the function
 * for the type. */
static void
emit_named(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition, const char *path)
{
	const char *address = rr_xdr_address(emitter, path);

	if (rr_xdr_is_simple(definition))
		emit_declaration(emitter, &definition->declaration, path);
	else if (rr_xdr_counts_depth(emitter, definition))
		rr_xdr_line(emitter, "deep_%s_%s(%s, %s, %s - 1);", emitter->direction->verb,
			definition->name, emitter->stream, address, emitter->depth);
	else
		rr_xdr_line(emitter, "%s%s_%s(%s, %s);", emitter->compiler->codec_prefix,
			emitter->direction->verb, definition->name, emitter->stream, address);
}

/* Writes the C code that reads or writes (as emitter->direction says) a value of the type. path is the C
 * expression for the value. */
static void
emit_type(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path)
{
	if (type->kind < RR_XDR_SCALARS)
		emitter->direction->scalar(emitter, rr_xdr_scalars[type->kind].codec, path);
	else if (type->kind == RR_XDR_ENUM)
		emitter->direction->enumeration(emitter, type, path);
	else if (type->kind == RR_XDR_NAMED)
		emit_named(emitter, type->definition, path);
	else if (type->kind == RR_XDR_UNION) {
		emit_declaration(
			emitter, type->discriminant, rr_xdr_member(emitter, path, type->discriminant->name));
		rr_xdr_emit_arms(emitter, type, path,
			rr_xdr_format(
				emitter->compiler, "%s(%s);", emitter->direction->fail, emitter->stream),
			emit_declaration);
	} else {
		for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
			emit_declaration(emitter, member, rr_xdr_member(emitter, path, member->name));
	}
}

/* Writes the C code that reads or writes opaque data or a string. placed: the data may travel in a chunk, so
 * the code calls the function for such data (items). RFC 8166, 3.4.2, of data that is not DDP-eligible: "All
 * other XDR data items MUST NOT be reduced." */
static void
emit_octets(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path,
	bool placed)
{
	const char *bound = rr_xdr_bound(emitter, declaration);

	if (declaration->shape == RR_XDR_FIXED)
		rr_xdr_line(emitter, "rpcrdma_%s_fixed(%s, %s, %s);", emitter->direction->verb,
			emitter->stream, path, bound);
	else
		emitter->direction->octets(emitter, placed ? "item" : "bytes", path, bound);
}

/* Writes a C loop that reads or writes each element of an array. array and count are the C expressions for
 * the array and its length. */
static void
emit_loop(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *array, const char *count)
{
	const char *index = rr_xdr_index(emitter);

	rr_xdr_open(emitter, "for (uint32_t %s = 0; %s < %s; %s++)", index, index, count, index);
	emitter->loops++;
	emit_type(emitter, type, rr_xdr_element(emitter, array, index));
	emitter->loops--;
	rr_xdr_close(emitter, "");
}

/* Writes the C code that reads or writes (as emitter->direction says) an array of variable length: its count,
 * then the elements in a loop. In C such an array is a struct with the members count and values. */
static void
emit_array(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path)
{
	const char *count = rr_xdr_member(emitter, path, "count");
	const char *values = rr_xdr_member(emitter, path, "values");

	emitter->direction->count(emitter, declaration, count, values);
	emit_loop(emitter, declaration->type, values, count);
}

/* Writes the C code that reads or writes optional data: a flag that says whether the value is present and, if
 * so, the value. */
static void
emit_optional(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path)
{
	emitter->direction->presence(emitter, path);
	rr_xdr_open(emitter, "if (%s)", path);
	emit_type(emitter, declaration->type, rr_xdr_pointed(emitter, path));
	rr_xdr_close(emitter, "");
}

/* Writes the C code that reads or writes the value of a declaration at path, as its type and shape demand. */
static void
emit_declaration(
	struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration, const char *path)
{
	enum rr_xdr_kind kind = declaration->type->kind;

	if (declaration->placed)
		emit_octets(emitter, rr_xdr_leaf(declaration), path, true);
	else if (kind == RR_XDR_OPAQUE || kind == RR_XDR_STRING)
		emit_octets(emitter, declaration, path, false);
	else if (declaration->shape == RR_XDR_FIXED)
		emit_loop(emitter, declaration->type, path, rr_xdr_bound(emitter, declaration));
	else if (declaration->shape == RR_XDR_VARIABLE)
		emit_array(emitter, declaration, path);
	else if (declaration->shape == RR_XDR_OPTIONAL)
		emit_optional(emitter, declaration, path);
	else
		emit_type(emitter, declaration->type, path);
}

/* Writes the C code that reads or writes a linked list, as a loop and not as recursion, so that a long list
 * from a peer takes no stack. tail is the member that points to the next element. */
static void
emit_list(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *tail)
{
	const struct rr_xdr_type *type = emitter->current->declaration.type;
	const char *object = rr_xdr_pointed(emitter, emitter->value);
	const char *next = rr_xdr_member(emitter, object, tail->name);

	rr_xdr_open(emitter, "for (;;)");
	for (const struct rr_xdr_declaration *member = type->members; member != tail; member = member->next)
		emit_declaration(emitter, member, rr_xdr_member(emitter, object, member->name));
	emitter->direction->presence(emitter, next);
	emitter->direction->last(emitter, next);
	rr_xdr_line(emitter, "\treturn;");
	rr_xdr_line(emitter, "%s = %s;", emitter->value, next);
	rr_xdr_close(emitter, "");
}

/* Writes the body of the C function that reads or writes a value of the type emitter->current. */
static void
emit_body(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_declaration *tail = rr_xdr_tail(emitter->current);

	if (tail)
		emit_list(emitter, tail);
	else
		emit_declaration(
			emitter, &emitter->current->declaration, rr_xdr_pointed(emitter, emitter->value));
}

/* Writes the C function that reads or writes a type whose values can contain values of the same type. The
 * function counts how deeply these are nested, and fails beyond the limit. */
static void
emit_deep(struct rr_xdr_emitter *emitter)
{
	const struct rr_xdr_direction *direction = emitter->direction;
	const char *name = emitter->current->name;

	rr_xdr_line(emitter, "\nstatic void");
	rr_xdr_line(emitter, "deep_%s_%s(%s *%s, %s%s *%s, unsigned %s)\n{", direction->verb, name,
		direction->stream_type, emitter->stream, direction->qualifier, name, emitter->value,
		emitter->depth);
	emitter->indent++;
	rr_xdr_open(emitter, "if (%s == 0)", emitter->depth);
	rr_xdr_line(emitter, "%s(%s);", direction->fail, emitter->stream);
	rr_xdr_line(emitter, "return;");
	rr_xdr_close(emitter, "");
	emit_body(emitter);
	rr_xdr_close(emitter, "");
}

void
rr_xdr_emit_codec(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition,
	const struct rr_xdr_direction *direction, const char *stream)
{
	const char *name = definition->name;

	emitter->current = definition;
	emitter->direction = direction;
	emitter->stream = stream;
	emitter->deep = rr_xdr_is_deep(emitter, definition);
	if (emitter->deep)
		emit_deep(emitter);
	rr_xdr_line(emitter, "\nvoid");
	rr_xdr_line(emitter, "%s%s_%s(%s *%s, %s%s *%s)\n{", emitter->compiler->codec_prefix, direction->verb,
		name, direction->stream_type, stream, direction->qualifier, name, emitter->value);
	emitter->indent++;
	if (emitter->deep)
		rr_xdr_line(emitter, "deep_%s_%s(%s, %s, %d);", direction->verb, name, stream, emitter->value,
			RR_XDR_DEPTH);
	else
		emit_body(emitter);
	rr_xdr_close(emitter, "");
}
