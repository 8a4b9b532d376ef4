/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_WALK_BUILD_H
#define RR_XDR_WALK_BUILD_H

#include "xdr/compiler.h"
#include "xdr/walk.h"

/* Makes the code of xdr/walk.h from the types of a schema: subroutines, each for a type. All memory belongs
 * to the run of the compiler. */

/* A subroutine, for a definition or for a type without a name that is the type of elements. */
struct rr_walk_target {
	const struct rr_xdr_definition *definition;
	const struct rr_xdr_type *type; /* if there is no definition */
	uint32_t entry;                 /* 0: not built yet */
	struct rr_walk_target *next;
};

/* A word of the code that is to be the address of a subroutine, as soon as the subroutine is built. */
struct rr_walk_patch {
	uint32_t at; /* index of the word */
	const struct rr_walk_target *target;
	struct rr_walk_patch *next;
};

/* The code, and what is needed to build it. */
struct rr_walk_code {
	struct rr_xdr_compiler *compiler;
	uint32_t *words;
	uint32_t length, room; /* words of the code; words that there is memory for */
	/* The index of the operand of the SKIP that the code ends with, if it may be lengthened; else 0. */
	uint32_t skip;
	struct rr_walk_target *targets, **targets_end;
	struct rr_walk_patch *patches;
};

/* Builds all subroutines of the walk's code that procedures of the schema need. code->length is 0 if no data
 * of the schema may travel in chunks. */
void rr_walk_build(struct rr_walk_code *code, struct rr_xdr_compiler *compiler);

/* Returns where the subroutine of a type begins in the walk's code, or 0 if arguments or results of this type
 * cannot have data that may travel in a chunk, so that it has no subroutine. */
uint32_t rr_walk_entry(const struct rr_walk_code *code, const struct rr_xdr_type *type);

/* ---- Within the builder ---- */

/* walk_build.c: adds a word at the end of the code. */
void rr_walk_word(struct rr_walk_code *code, uint32_t word);
/* Reports that the schema does not define `name`, a type or a size: the walk cannot move over such a value,
 * and so cannot find data behind it that may travel in a chunk. */
void rr_walk_refuse_foreign(struct rr_walk_code *code, struct rr_xdr_position position, const char *name);
/* Adds the instructions that move over a value of the declaration, for every shape and type. Adds nothing
 * after an error. */
void rr_walk_declaration(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration);

/* walk_union.c: adds the instructions that move over a value of the union. */
void rr_walk_union(struct rr_walk_code *code, const struct rr_xdr_type *type);

/* walk_shape.c: whether the schema shows that all values of the declaration take the same number of octets.
 * The result is false if a type or a size is not defined in the schema. */
bool rr_walk_is_uniform(const struct rr_xdr_declaration *declaration);
/* Whether the schema shows that all values of the type take the same number of octets; likewise. */
bool rr_walk_is_uniform_type(const struct rr_xdr_type *type);

/* Returns about how many words of instructions move over a value of the declaration. A subroutine that is
 * called counts as its call alone. */
unsigned rr_walk_cost(const struct rr_xdr_declaration *declaration);

/* The highest cost of code in place. Types with a higher cost become subroutines, so that the size of the
 * code stays in proportion to the schema. */
enum { RR_WALK_INLINE = 16 };

#endif
