/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/walk_build.h"

#include <string.h>

#include "base/checked.h"

/* ---- Words ---- */

void
rr_walk_word(struct rr_walk_code *code, uint32_t word)
{
	if (code->length == code->room) {
		uint32_t room = code->room ? 2 * code->room : 1024;
		uint32_t *words = rr_xdr_alloc(code->compiler, room * sizeof(*words));

		if (!words)
			return;
		if (code->words)
			memcpy(words, code->words, code->length * sizeof(*words));
		code->words = words;
		code->room = room;
	}
	code->words[code->length++] = word;
	code->skip = 0;
}

/* Adds an instruction that moves over `octets` octets to the walk's code, which goes through an encoded
 * message. If the last instruction moves over octets, too, lengthens that instruction instead. */
static void
build_skip(struct rr_walk_code *code, uint32_t octets)
{
	uint32_t sum;

	if (octets == 0)
		return;
	if (code->skip && rr_add_u32(code->words[code->skip], octets, &sum)) {
		code->words[code->skip] = sum;
		return;
	}
	rr_walk_word(code, RR_WALK_SKIP);
	rr_walk_word(code, octets);
	code->skip = code->length - 1;
}

/* Returns the subroutine for the definition or, if that is NULL, for the type. Returns NULL if the list of
 * subroutines does not have it. */
static struct rr_walk_target *
build_find_target(const struct rr_walk_code *code, const struct rr_xdr_definition *definition,
	const struct rr_xdr_type *type)
{
	struct rr_walk_target *target = code->targets;

	while (target && (target->definition != definition || target->type != type))
		target = target->next;
	return target;
}

/* Returns the subroutine that moves over a value of the definition or, if that is NULL, of the type; the
 * walk's code, which goes through encoded messages, consists of subroutines. If there is no such subroutine
 * yet, adds it to the list of those that are built later. Returns NULL, and an error is set, if there is no
 * memory. */
static struct rr_walk_target *
build_want(
	struct rr_walk_code *code, const struct rr_xdr_definition *definition, const struct rr_xdr_type *type)
{
	struct rr_walk_target *target = build_find_target(code, definition, type);

	if (target)
		return target;
	target = rr_xdr_alloc(code->compiler, sizeof(*target));
	if (!target)
		return NULL;
	*target = (struct rr_walk_target){ .definition = definition, .type = type };
	*code->targets_end = target;
	code->targets_end = &target->next;
	return target;
}

/* Adds a word to the walk's code: the address of the subroutine that moves over a value of the definition or,
 * if that is NULL, of the type. The word is 0 until all subroutines are built, and then gets the address. */
static void
build_address(
	struct rr_walk_code *code, const struct rr_xdr_definition *definition, const struct rr_xdr_type *type)
{
	struct rr_walk_target *target = build_want(code, definition, type);
	struct rr_walk_patch *patch = rr_xdr_alloc(code->compiler, sizeof(*patch));

	if (!target || !patch)
		return;
	*patch = (struct rr_walk_patch){ code->length, target, code->patches };
	code->patches = patch;
	rr_walk_word(code, 0);
}

/* Adds a word to the walk's code: the address of the subroutine that moves over one element of the type. */
static void
build_element_address(struct rr_walk_code *code, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_NAMED)
		build_address(code, type->definition, NULL);
	else
		build_address(code, NULL, type);
}

/* ---- Types ---- */

void
rr_walk_refuse_foreign(struct rr_walk_code *code, struct rr_xdr_position position, const char *name)
{
	rr_xdr_error(code->compiler, position,
		"%s is not defined here, and items that are placed could not be found behind it", name);
}

/* Adds the instructions that move over an encoded value of the type to the walk's code. For a named type with
 * many instructions, adds only a call of the type's subroutine. */
static void
walk_type(struct rr_walk_code *code, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_FOREIGN) {
		rr_walk_refuse_foreign(code, type->position, type->name);
	} else if (rr_walk_is_uniform_type(type)) {
		build_skip(code, rr_xdr_size(code->compiler, type).min);
	} else if (type->kind == RR_XDR_UNION) {
		rr_walk_union(code, type);
	} else if (type->kind != RR_XDR_NAMED) {
		for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
			rr_walk_declaration(code, member);
	} else if (!rr_xdr_tail(type->definition) &&
		   rr_walk_cost(&type->definition->declaration) <= RR_WALK_INLINE) {
		rr_walk_declaration(code, &type->definition->declaration);
	} else {
		rr_walk_word(code, RR_WALK_CALL);
		build_address(code, type->definition, NULL);
	}
}

/* Returns how many elements or octets the declaration may have at most, or UINT32_MAX if there is no limit.
 * Reports a limit whose name the schema does not define. */
static uint32_t
build_bound(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration)
{
	if (declaration->size.foreign)
		rr_walk_refuse_foreign(code, declaration->size.position, declaration->size.text);
	return declaration->bounded || declaration->shape == RR_XDR_FIXED
		       ? (uint32_t)declaration->size.number.magnitude
		       : UINT32_MAX;
}

/* Adds the instruction that moves over opaque data or a string to the walk's code, which goes through an
 * encoded message. op is the instruction for data of variable length: RR_WALK_ITEM if the data may travel in
 * a chunk, else RR_WALK_OPAQUE. */
static void
walk_octets(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration, enum rr_walk_op op)
{
	if (declaration->shape == RR_XDR_FIXED) {
		build_skip(code, build_bound(code, declaration) + rr_pad(build_bound(code, declaration)));
		return;
	}
	rr_walk_word(code, op);
	rr_walk_word(code, build_bound(code, declaration));
}

/* Adds the instruction that moves over an encoded array of variable length to the walk's code. If all
 * elements have the same size, the instruction moves over all of them in one step; else it runs a subroutine
 * for each element. */
static void
walk_counted(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration)
{
	bool uniform = rr_walk_is_uniform_type(declaration->type);

	rr_walk_word(code, uniform ? RR_WALK_ARRAY : RR_WALK_LOOP);
	rr_walk_word(code, build_bound(code, declaration));
	rr_walk_word(code, rr_xdr_size(code->compiler, declaration->type).min);
	if (!uniform)
		build_element_address(code, declaration->type);
}

void
rr_walk_declaration(struct rr_walk_code *code, const struct rr_xdr_declaration *declaration)
{
	enum rr_xdr_kind kind = declaration->type->kind;

	if (code->compiler->error)
		return;
	/* A mark makes this opaque data an item, which may be out of the stream. */
	if (declaration->placed) {
		walk_octets(code, rr_xdr_leaf(declaration), RR_WALK_ITEM);
	} else if (kind == RR_XDR_OPAQUE || kind == RR_XDR_STRING) {
		walk_octets(code, declaration, RR_WALK_OPAQUE);
	} else if (declaration->shape == RR_XDR_VARIABLE) {
		walk_counted(code, declaration);
	} else if (declaration->shape == RR_XDR_OPTIONAL) {
		rr_walk_word(code, RR_WALK_OPTIONAL);
		build_element_address(code, declaration->type);
	} else if (declaration->shape == RR_XDR_PLAIN) {
		walk_type(code, declaration->type);
	} else if (rr_walk_is_uniform_type(declaration->type)) {
		/* A fixed number of elements of one size is skipped in one step, without a loop. */
		uint64_t octets = (uint64_t)build_bound(code, declaration) *
				  rr_xdr_size(code->compiler, declaration->type).min;

		build_skip(code, (uint32_t)rr_min(octets, UINT32_MAX));
	} else {
		rr_walk_word(code, RR_WALK_TIMES);
		rr_walk_word(code, build_bound(code, declaration));
		build_element_address(code, declaration->type);
	}
}

/* ---- Subroutines ---- */

/* Adds the instructions that move over an encoded linked list to the walk's code: those for the members of
 * one element, and a jump back to the first of them if another element follows. tail is the member that
 * points to the next element. */
static void
walk_list(struct rr_walk_code *code, const struct rr_xdr_definition *definition,
	const struct rr_xdr_declaration *tail)
{
	const struct rr_xdr_declaration *member = definition->declaration.type->members;
	uint32_t start = code->length;

	for (; member != tail; member = member->next)
		rr_walk_declaration(code, member);
	rr_walk_word(code, RR_WALK_AGAIN);
	rr_walk_word(code, start);
}

/* Builds one subroutine at the end of the walk's code (instructions that go through an encoded message), and
 * notes in target->entry where it begins. */
static void
walk_target(struct rr_walk_code *code, struct rr_walk_target *target)
{
	const struct rr_xdr_declaration *tail = target->definition ? rr_xdr_tail(target->definition) : NULL;

	code->skip = 0;
	target->entry = code->length;
	if (tail)
		walk_list(code, target->definition, tail);
	else if (target->definition)
		rr_walk_declaration(code, &target->definition->declaration);
	else
		walk_type(code, target->type);
	rr_walk_word(code, RR_WALK_END);
}

/* Has a subroutine built for the arguments or the result of a procedure, if values of this type can contain
 * data that may travel in a chunk. Other messages are never walked. */
static void
build_want_marked(struct rr_walk_code *code, const struct rr_xdr_type *type)
{
	if (type->kind == RR_XDR_NAMED && rr_xdr_reaches_mark(code->compiler, type->definition))
		build_want(code, type->definition, NULL);
}

void
rr_walk_build(struct rr_walk_code *code, struct rr_xdr_compiler *compiler)
{
	*code = (struct rr_walk_code){ .compiler = compiler };
	code->targets_end = &code->targets;
	for (const struct rr_xdr_definition *d = compiler->definitions; d; d = d->next) {
		for (const struct rr_xdr_version *v = d->versions; v; v = v->next) {
			for (const struct rr_xdr_procedure *p = v->procedures; p; p = p->next) {
				build_want_marked(code, p->args);
				build_want_marked(code, p->result);
			}
		}
	}
	/* Address 0 is that of RR_WALK_FAIL. So 0 can stand for a value without an arm, and for no
	 * subroutine. */
	if (code->targets)
		rr_walk_word(code, RR_WALK_FAIL);
	/* Targets add targets at the end of the list, and this loop comes to those, too. */
	for (struct rr_walk_target *target = code->targets; target && !compiler->error; target = target->next)
		walk_target(code, target);
	if (compiler->error)
		return;
	for (const struct rr_walk_patch *patch = code->patches; patch; patch = patch->next)
		code->words[patch->at] = patch->target->entry;
}

uint32_t
rr_walk_entry(const struct rr_walk_code *code, const struct rr_xdr_type *type)
{
	const struct rr_walk_target *target =
		type->kind == RR_XDR_NAMED ? build_find_target(code, type->definition, NULL) : NULL;

	return target ? target->entry : 0;
}
