/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_EMIT_EMIT_H
#define RR_XDR_EMIT_EMIT_H

#include "xdr/compiler.h"
#include "xdr/walk_build.h"

/* Writing C. A path is an expression for an object: "value->u.resok". If there is a pointer to the object,
 * the path is the pointer with a star in front: "*value". Only one star may stand in front; further stars
 * must be in parentheses. */

struct rr_xdr_emitter;

/* The statements in which codecs that read and codecs that write differ: get.c and put.c have one
 * each. Each function here writes C code that reads or writes the object at `path`. codec: the end of the
 * name of the library's function, as i32 in rpcrdma_get_i32. */
struct rr_xdr_direction {
	const char *verb; /* in names of functions: get or put */
	/* Of the parameters: the type of the stream, and the qualifier of the value. */
	const char *stream_type, *qualifier;
	const char *fail; /* the function that fails the stream */
	void (*scalar)(struct rr_xdr_emitter *emitter, const char *codec, const char *path);
	void (*enumeration)(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path);
	void (*octets)(
		struct rr_xdr_emitter *emitter, const char *codec, const char *path, const char *bound);
	/* The count of an array of variable length; code that reads also takes memory for the elements.
	 * `count` and `values` are the paths of both. */
	void (*count)(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration,
		const char *count, const char *values);
	/* The flag that says whether an optional object is there; code that reads also takes memory for
	 * it. */
	void (*presence)(struct rr_xdr_emitter *emitter, const char *path);
	/* Begins an if whose condition is that a list ends, given its next object. */
	void (*last)(struct rr_xdr_emitter *emitter, const char *next);
};

/* The state of the writing. */
struct rr_xdr_emitter {
	struct rr_xdr_compiler *compiler;
	FILE *out;
	unsigned indent;
	/* Names of parameters in generated functions, which differ from all names of the schema. */
	const char *reader, *writer, *value, *depth, *holder;
	struct rr_walk_code walk;
	const char *walk_name; /* the name of the array of walk */
	unsigned loops;        /* how many loops are around the current statement */
	/* A bit for each kind of scalar whose functions with void pointers (program.c) were written. */
	unsigned wrapped_scalars;
	/* The type whose codec is being written. deep: calls of types that lead back to this type count the
	 * depth. */
	struct rr_xdr_definition *current;
	bool deep;
	const struct rr_xdr_direction *direction;
	const char *stream; /* the name of the parameter: reader or writer */
};

/* How deep values may be nested of a type that holds itself (other than as the tail of a list). */
enum { RR_XDR_DEPTH = 32 };

/* Makes an emitter that writes to `out`, and builds the walk's code of the schema for it. */
void rr_xdr_emitter_init(struct rr_xdr_emitter *emitter, struct rr_xdr_compiler *compiler, FILE *out);

/* Writes a line with indentation. format has no line feed at its end. */
void rr_xdr_line(struct rr_xdr_emitter *emitter, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a line that ends in an opening brace, and indents the lines that follow. */
void rr_xdr_open(struct rr_xdr_emitter *emitter, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends the indentation that rr_xdr_open() began, and writes a closing brace with the text `behind`, such as
 * ";". */
void rr_xdr_close(struct rr_xdr_emitter *emitter, const char *behind);

/* Returns the C expression for a member of the object at path. For a path with a star in front, it uses
 * `->`. */
const char *rr_xdr_member(struct rr_xdr_emitter *emitter, const char *path, const char *name);
/* Returns the C expression for an element of the array at path. */
const char *rr_xdr_element(struct rr_xdr_emitter *emitter, const char *path, const char *index);
/* Returns the C expression for the object to which the pointer at path points. */
const char *rr_xdr_pointed(struct rr_xdr_emitter *emitter, const char *path);
/* Returns the C expression for the address of the object at path. */
const char *rr_xdr_address(struct rr_xdr_emitter *emitter, const char *path);

/* Returns a number of the schema as C text: its name if C knows that name, else its value. */
const char *rr_xdr_number(struct rr_xdr_emitter *emitter, const struct rr_xdr_value *value);

/* Returns the size, or the maximum, of an array as C text. */
const char *rr_xdr_bound(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration);

/* Returns a name for the variable of a loop that no loop around it uses. */
const char *rr_xdr_index(struct rr_xdr_emitter *emitter);

/* How C and the library name a scalar. */
struct rr_xdr_scalar {
	const char *c_type, *codec; /* int32_t, and the i32 of rpcrdma_get_i32 */
};
extern const struct rr_xdr_scalar rr_xdr_scalars[RR_XDR_SCALARS];

/* Returns the name of a type in C; the type is a scalar or has a name. */
const char *rr_xdr_c_type(const struct rr_xdr_type *type);

/* Whether the functions that encode and decode definition count how deeply values are nested: its values can
 * contain values of the same type. */
bool rr_xdr_is_deep(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* Whether a call of the function for definition, in the function that is being written, must count how deeply
 * values are nested. It must if both functions count, and if values of definition can contain values of the
 * type that is being written (emitter->current). */
bool rr_xdr_counts_depth(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* Whether values of definition are encoded and decoded by statements, not by a call of a function: numbers,
 * octets, and arrays of fixed length (ISO C has no pointers to const arrays). */
bool rr_xdr_is_simple(const struct rr_xdr_definition *definition);

/* Writes C code that handles the arms of a union: an if statement for a bool, else a switch statement. emit
 * writes the statements for one arm; fail is the statement for values that have no arm. */
void rr_xdr_emit_arms(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path,
	const char *fail,
	void (*emit)(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration,
		const char *path));

/* Writes the labels of a switch over the values of an enum, each value once. */
void rr_xdr_emit_cases(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type);

/* scope.c: whether the definition is a struct in C: an XDR struct or union, not an array of them. */
bool rr_xdr_is_struct(const struct rr_xdr_definition *definition);
/* Whether C knows the type also by a keyword and its name, as in `struct NAME` or `enum NAME`. */
bool rr_xdr_has_tag(const struct rr_xdr_definition *definition);

/* Returns the C text that names a type inside the type that is being written. */
const char *rr_xdr_type_in_scope(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type);
/* Writes the second names of types, by which the members of definition must name these types
 * (rr_xdr_type_in_scope()). Searches type, which is a part of definition. A second name is written only
 * once. */
void rr_xdr_emit_aliases(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition,
	const struct rr_xdr_type *type);

/* types.c: writes the C definition of a type, unless C itself has the type under this name. The
 * definition becomes emitter->current. */
void rr_xdr_emit_type(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* header.c: writes the whole header; guard is the macro that guards it against repeated inclusion. */
void rr_xdr_emit_header(struct rr_xdr_emitter *emitter, const char *guard);

/* codec.c: writes the function that reads or writes (as direction says) a value of the definition. */
void rr_xdr_emit_codec(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition,
	const struct rr_xdr_direction *direction, const char *stream);

/* get.c: writes the function that reads a value of the definition. */
void rr_xdr_emit_get(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);
/* put.c: writes the function that encodes a value of the definition. */
void rr_xdr_emit_put(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* program.c: writes the tables of a program's versions and procedures. */
void rr_xdr_emit_program(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program);

/* call.c: writes for each procedure of the version a function that calls it. */
void rr_xdr_emit_calls(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version);

/* walk.c: writes the walk's code (xdr/walk.h) as a C array. Writes nothing if there is no code. */
void rr_xdr_emit_walk(struct rr_xdr_emitter *emitter);
/* Writes, for the header, the macros XDR_WALK_TYPE that say where the subroutines of the walk's code
 * begin. */
void rr_xdr_emit_walk_entries(struct rr_xdr_emitter *emitter);

/* source.c: writes the whole source; header is the file that the source includes. */
void rr_xdr_emit_source(struct rr_xdr_emitter *emitter, const char *header);

#endif
