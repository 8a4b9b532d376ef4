/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_EMIT_H
#define RR_XDR_EMIT_H

#include "xdr/compiler.h"
#include "xdr/walk_build.h"

/*
 * Writing C. A path is an expression for an object: "value->u.resok", or with
 * a star in front where a pointer to it is at hand: "*value". Only one star
 * may stand in front, further ones are in parentheses.
 */

struct rr_xdr_emitter;

/* What is different between codecs that read and codecs that write, as statements. */
struct rr_xdr_direction {
	const char *verb;                    /* in names of functions */
	const char *stream_type, *qualifier; /* of the parameters: the stream's, and of the value's */
	const char *fail;                    /* function for what cannot be */
	void (*scalar)(struct rr_xdr_emitter *emitter, const char *codec, const char *path);
	void (*enumeration)(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path);
	void (*octets)(
		struct rr_xdr_emitter *emitter, const char *codec, const char *path, const char *bound);
	/* Of an array of variable length. */
	void (*count)(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration,
		const char *count, const char *values);
	/* Of an optional object. */
	void (*presence)(struct rr_xdr_emitter *emitter, const char *path);
	/* An if, whether a list ends where this is the next object. */
	void (*last)(struct rr_xdr_emitter *emitter, const char *next);
};

struct rr_xdr_emitter {
	struct rr_xdr_compiler *compiler;
	FILE *out;
	unsigned indent;
	/* Names of parameters in generated functions, which no name of the schema hides. */
	const char *reader, *writer, *value, *depth, *holder;
	struct rr_walk_code walk;
	const char *walk_name;    /* of its array */
	unsigned loops;           /* around the current statement */
	unsigned wrapped_scalars; /* bits by kind: those that have their functions for the tables */
	/* The type whose codec is being written; if it is deep, calls of types that lead back to it count the
	 * depth. */
	struct rr_xdr_definition *current;
	bool deep;
	const struct rr_xdr_direction *direction;
	const char *stream; /* reader or writer */
};

/* How deep values of a type that holds itself (other than as the tail of a list) may be nested. */
enum { RR_XDR_DEPTH = 32 };

void rr_xdr_emitter_init(struct rr_xdr_emitter *emitter, struct rr_xdr_compiler *compiler, FILE *out);

/* One line, indented; the format has no line feed. */
void rr_xdr_line(struct rr_xdr_emitter *emitter, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line that ends in an opening brace, or begins with a closing one. */
void rr_xdr_open(struct rr_xdr_emitter *emitter, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void rr_xdr_close(struct rr_xdr_emitter *emitter, const char *behind);

const char *rr_xdr_member(struct rr_xdr_emitter *emitter, const char *path, const char *name);
const char *rr_xdr_element(struct rr_xdr_emitter *emitter, const char *path, const char *index);
const char *rr_xdr_pointed(struct rr_xdr_emitter *emitter, const char *path);
const char *rr_xdr_address(struct rr_xdr_emitter *emitter, const char *path);

/* A number of the schema as C: the name if it has one, or its value. */
const char *rr_xdr_number(struct rr_xdr_emitter *emitter, const struct rr_xdr_value *value);

/* The size, or maximum, of a declaration. */
const char *rr_xdr_bound(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration);

/* The name of a loop's variable that is free here. */
const char *rr_xdr_index(struct rr_xdr_emitter *emitter);

struct rr_xdr_scalar {
	const char *c_type, *codec; /* int32_t, and the i32 of rpcrdma_get_i32 */
};
extern const struct rr_xdr_scalar rr_xdr_scalars[RR_XDR_SCALARS];

/* The name in C of a scalar or of a type with a name. */
const char *rr_xdr_c_type(const struct rr_xdr_type *type);

/* Whether codecs of definition carry the depth. */
bool rr_xdr_is_deep(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* Whether a call of definition's codec, from the one being written, must count the depth. */
bool rr_xdr_counts_depth(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* Whether the codec of definition is used by value, instead of being called: a number, octets, an array of
 * fixed length (for which ISO C has no pointers to const). */
bool rr_xdr_is_simple(const struct rr_xdr_definition *definition);

/*
 * A union's arms as an if on a bool, or a switch. emit writes what is to be done for one arm; fail is the
 * statement for values that have none.
 */
void rr_xdr_emit_arms(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type, const char *path,
	const char *fail,
	void (*emit)(struct rr_xdr_emitter *emitter, const struct rr_xdr_declaration *declaration,
		const char *path));

/* The labels of a switch over the values of an enum, each once. */
void rr_xdr_emit_cases(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type);

/* emit_scope.c: whether C knows the definition as a struct; and whether by a keyword and the name. */
bool rr_xdr_is_struct(const struct rr_xdr_definition *definition);
bool rr_xdr_has_tag(const struct rr_xdr_definition *definition);

/* The name of a type inside the type that is being written; and the second names that this takes, for
 * definition, in which type stands. */
const char *rr_xdr_type_in_scope(struct rr_xdr_emitter *emitter, const struct rr_xdr_type *type);
void rr_xdr_emit_aliases(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *definition,
	const struct rr_xdr_type *type);

/* emit_types.c: a type. */
void rr_xdr_emit_type(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* emit_header.c: the whole header; guard is the macro around it. */
void rr_xdr_emit_header(struct rr_xdr_emitter *emitter, const char *guard);

/* emit_codec.c: a codec of a type. */
void rr_xdr_emit_codec(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition,
	const struct rr_xdr_direction *direction, const char *stream);

/* emit_get.c and emit_put.c: the codecs of a type. */
void rr_xdr_emit_get(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);
void rr_xdr_emit_put(struct rr_xdr_emitter *emitter, struct rr_xdr_definition *definition);

/* emit_program.c: the tables of a program. */
void rr_xdr_emit_program(struct rr_xdr_emitter *emitter, const struct rr_xdr_definition *program);

/* emit_call.c: for each procedure of the version a function that calls it. */
void rr_xdr_emit_calls(struct rr_xdr_emitter *emitter, const struct rr_xdr_version *version);

/* emit_walk.c: the code of xdr/walk.h as an array; and where its subroutines begin, for the header. */
void rr_xdr_emit_walk(struct rr_xdr_emitter *emitter);
void rr_xdr_emit_walk_entries(struct rr_xdr_emitter *emitter);

/* emit_source.c: the whole source; header is the file to include. */
void rr_xdr_emit_source(struct rr_xdr_emitter *emitter, const char *header);

#endif
