/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_WALK_BUILD_H
#define RR_XDR_WALK_BUILD_H

#include "xdr/compiler.h"
#include "xdr/walk.h"

/* From the types of a schema to the code of xdr/walk.h. All memory is the compiler's run's. */

/* A subroutine: of a definition, or of the body that stands in the place of an element's type. */
struct rr_walk_target {
	const struct rr_xdr_definition *definition;
	const struct rr_xdr_type *type; /* where there is no definition */
	uint32_t entry;                 /* 0: not built yet */
	struct rr_walk_target *next;
};

/* An address that is not known yet. */
struct rr_walk_patch {
	uint32_t at;
	const struct rr_walk_target *target;
	struct rr_walk_patch *next;
};

struct rr_walk_code {
	struct rr_xdr_compiler *compiler;
	uint32_t *words;
	uint32_t length, room;
	uint32_t skip; /* where the octets of a SKIP stand that ends the code so far; or 0 */
	struct rr_walk_target *targets, **targets_end;
	struct rr_walk_patch *patches;
};

/* All subroutines that procedures of the schema need; with length 0 where nothing is marked. */
void rr_walk_build(struct rr_walk_code *code, struct rr_xdr_compiler *compiler);

/* Where the subroutine of a type begins; 0 where it has none: no item can be in an argument or result of it.
 */
uint32_t rr_walk_entry(const struct rr_walk_code *code, const struct rr_xdr_type *type);

/* ---- Within the builder ---- */

/* walk_build.c */
void rr_walk_word(struct rr_walk_code *code, uint32_t word);
void rr_walk_refuse_foreign(struct rr_walk_code *code, struct rr_xdr_position position, const char *name);
void rr_walk_declaration(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration);

/* walk_union.c */
void rr_walk_union(struct rr_walk_code *code, const struct rr_xdr_type *type);

/* walk_shape.c: whether all values take the same octets, whatever is in them. */
bool rr_walk_is_uniform(const struct rr_xdr_declaration *declaration);
bool rr_walk_is_uniform_type(const struct rr_xdr_type *type);

/* About how many words it takes to step over a value where it stands, not by a subroutine. */
unsigned rr_walk_cost(const struct rr_xdr_declaration *declaration);

/* Larger ones become subroutines: so the code is no larger than in proportion to the schema. */
enum { RR_WALK_INLINE = 16 };

#endif
