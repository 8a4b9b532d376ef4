/* SPDX-License-Identifier: BSD-3-Clause */
#include "xdr/walk_build.h"

#include <stdlib.h>

/* The walk's code for a union: a jump by the discriminant, and the code of each arm (xdr/walk.h). */

/* A value of the discriminant, and the arm that it selects. */
struct union_choice {
	uint32_t value;
	const struct rr_xdr_declaration *arm;
	uint32_t slot; /* index of the word of the code that gets the address of the arm */
};

/* The instruction of a union, which jumps by the discriminant. */
struct union_branch {
	struct union_choice *choices; /* sorted by value */
	uint32_t count;
	uint32_t other; /* index of the word for the default address */
	/* The number of addresses behind that word in an RR_WALK_TABLE; 0 for an RR_WALK_SWITCH. */
	uint32_t table;
};

/* Returns the number as the word that stands for it in the stream. */
static uint32_t
union_word_of(struct rr_xdr_number number)
{
	return number.negative ? (uint32_t)-number.magnitude : (uint32_t)number.magnitude;
}

static int
union_compare(const void *a, const void *b)
{
	uint32_t x = ((const struct union_choice *)a)->value, y = ((const struct union_choice *)b)->value;

	return x < y ? -1 : x > y;
}

/* Returns an array with the labels of all arms of a union, sorted by value, and sets *count to their number.
 * Returns NULL if there is no memory. */
static struct union_choice *
union_list_choices(struct rr_walk_code *code, const struct rr_xdr_type *type, uint32_t *count)
{
	const struct rr_xdr_declaration *arm;
	struct union_choice *choices;

	*count = 0;
	for (arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next)
			++*count;
	}
	choices = rr_xdr_alloc(code->compiler, (*count + 1) * sizeof(*choices));
	if (!choices)
		return NULL;
	*count = 0;
	for (arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next) {
			if (label->foreign)
				rr_walk_refuse_foreign(code, label->position, label->text);
			choices[(*count)++] = (struct union_choice){ union_word_of(label->number), arm, 0 };
		}
	}
	qsort(choices, *count, sizeof(*choices), union_compare);
	return choices;
}

/* Adds the instruction RR_WALK_TABLE to the walk's code, for the arms of a union whose labels have values
 * close together. Behind its two operands (the lowest label and the number of values) stand the default
 * address and an address for each value from the lowest to the highest label. All addresses are 0 here: the
 * caller fills them in, at choices[].slot for the labels. Returns the index of the word for the default
 * address. */
static uint32_t
union_put_table(struct rr_walk_code *code, struct union_choice *choices, uint32_t count)
{
	uint32_t first = choices[0].value, span = choices[count - 1].value - first + 1, other;

	rr_walk_word(code, RR_WALK_TABLE);
	rr_walk_word(code, first);
	rr_walk_word(code, span);
	other = code->length;
	for (uint32_t i = 0; i <= span; i++)
		rr_walk_word(code, 0);
	for (uint32_t i = 0; i < count; i++)
		choices[i].slot = other + 1 + choices[i].value - first;
	return other;
}

/* Adds the instruction RR_WALK_SWITCH to the walk's code, for the arms of a union whose labels have values
 * far apart. The instruction has a pair of value and address for each label. Returns the index of the word
 * for the default address. */
static uint32_t
union_put_switch(struct rr_walk_code *code, struct union_choice *choices, uint32_t count)
{
	uint32_t other;

	rr_walk_word(code, RR_WALK_SWITCH);
	rr_walk_word(code, count);
	other = code->length;
	rr_walk_word(code, 0);
	for (uint32_t i = 0; i < count; i++) {
		rr_walk_word(code, choices[i].value);
		choices[i].slot = code->length;
		rr_walk_word(code, 0);
	}
	return other;
}

/* Adds the instruction of a union to the walk's code, and describes it in *branch: RR_WALK_TABLE if it needs
 * at most about twice as many addresses as there are labels, else RR_WALK_SWITCH. Returns false if there is
 * no memory. */
static bool
union_put_branch(struct rr_walk_code *code, const struct rr_xdr_type *type, struct union_branch *branch)
{
	uint32_t count;
	struct union_choice *choices = union_list_choices(code, type, &count);
	uint64_t span;

	if (!choices)
		return false;
	*branch = (struct union_branch){ .choices = choices, .count = count };
	span = count ? (uint64_t)choices[count - 1].value - choices[0].value + 1 : UINT64_MAX;
	if (span <= 2 * (uint64_t)count + 8) {
		branch->table = (uint32_t)span;
		branch->other = union_put_table(code, choices, count);
	} else {
		branch->other = union_put_switch(code, choices, count);
	}
	return true;
}

/* Writes the address of an arm's code into the instruction of a union, for each label of the arm. If the arm
 * is the default, also writes the address for the default, and for each value of an RR_WALK_TABLE that has no
 * label. */
static void
union_fill(struct rr_walk_code *code, const struct union_branch *branch, const struct rr_xdr_declaration *arm,
	uint32_t address)
{
	uint32_t *others;

	if (code->compiler->error)
		return;
	for (uint32_t i = 0; i < branch->count; i++) {
		if (branch->choices[i].arm == arm)
			code->words[branch->choices[i].slot] = address;
	}
	if (!arm->is_default)
		return;
	others = &code->words[branch->other];
	others[0] = address;
	for (uint32_t i = 1; i <= branch->table; i++)
		others[i] = others[i] ? others[i] : address;
}

/* Adds the instruction that jumps by the discriminant, and behind it the code of each arm that is not void,
 * with a jump to the end of the union. The addresses of void arms are the end itself. A discriminant without
 * an arm leads to address 0, RR_WALK_FAIL. */
void
rr_walk_union(struct rr_walk_code *code, const struct rr_xdr_type *type)
{
	const struct rr_xdr_declaration *arm;
	uint32_t jump = 0, end;
	struct union_branch branch;

	if (!union_put_branch(code, type, &branch))
		return;
	for (arm = type->members; arm; arm = arm->next) {
		if (!arm->name)
			continue;
		code->skip = 0;
		/* The discriminant leads to here, so a SKIP in front of this place must not be lengthened by
		 * the arm. */
		union_fill(code, &branch, arm, code->length);
		rr_walk_declaration(code, arm);
		/* Each of these jumps leads to the end. Until the end is known, each jump has the place of
		 * the jump before it. */
		rr_walk_word(code, RR_WALK_JUMP);
		rr_walk_word(code, jump);
		jump = code->length - 1;
	}
	end = code->length;
	while (jump && !code->compiler->error) {
		uint32_t next = code->words[jump];

		code->words[jump] = end;
		jump = next;
	}
	for (arm = type->members; arm; arm = arm->next) {
		if (!arm->name)
			union_fill(code, &branch, arm, end);
	}
	code->skip = 0;
}
