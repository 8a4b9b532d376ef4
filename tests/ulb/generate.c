/* SPDX-License-Identifier: BSD-3-Clause */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* ---- Schemas ---- */

bool
rr_generator_load(struct rr_generator *generator, const char *path, uint64_t seed)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "re");
	size_t length;

	memset(generator, 0, sizeof(*generator));
	generator->state = seed;
	rr_xdr_compiler_init(&generator->schema, &rr_env_system, path, stderr);
	if (!file)
		return false;
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	rr_xdr_parse(&generator->schema, text, length);
	if (!generator->schema.error)
		rr_xdr_check(&generator->schema);
	return generator->schema.error == 0;
}

void
rr_generator_free(struct rr_generator *generator)
{
	rr_xdr_compiler_free(&generator->schema);
}

/* ---- Numbers ---- */

static uint32_t
next(struct rr_generator *generator)
{
	generator->state ^= generator->state << 13;
	generator->state ^= generator->state >> 7;
	generator->state ^= generator->state << 17;
	return (uint32_t)(generator->state >> 16);
}

uint32_t
rr_generator_random(struct rr_generator *generator, uint32_t bound)
{
	return bound ? next(generator) % bound : 0;
}

/* Writes one word. */
static void
put_u32(struct rr_generator *generator, uint32_t value)
{
	const uint8_t octets[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
		(uint8_t)value };

	if (generator->length + 4 > RR_GENERATED_MAX)
		abort();
	memcpy(generator->octets + generator->length, octets, 4);
	generator->length += 4;
}

/* Writes this many octets by chance, and zeroes up to the next word. */
static void
put_random(struct rr_generator *generator, uint32_t length)
{
	if (generator->length + length + 4 > RR_GENERATED_MAX)
		abort();
	for (uint32_t i = 0; i < length; i++)
		generator->octets[generator->length++] = (uint8_t)next(generator);
	for (uint32_t i = 0; i < rr_pad(length); i++)
		generator->octets[generator->length++] = 0;
}

/* Returns a count of elements: a small one, and 0 once the message is large enough. */
static uint32_t
choose_count(struct rr_generator *generator, uint32_t most, uint32_t max)
{
	if (generator->length > RR_GENERATED_ENOUGH)
		return 0;
	return (uint32_t)rr_min(rr_generator_random(generator, most + 1), max);
}

/* ---- Values ---- */

static void generate_declaration(
	struct rr_generator *generator, const struct rr_xdr_declaration *declaration);
static void generate_type(struct rr_generator *generator, const struct rr_xdr_type *type);

static uint32_t
word_of(struct rr_xdr_number number)
{
	return number.negative ? (uint32_t)-number.magnitude : (uint32_t)number.magnitude;
}

/* Chooses one of the numbers of an enumeration. */
static uint32_t
choose_enumerator(struct rr_generator *generator, const struct rr_xdr_type *type)
{
	const struct rr_xdr_enumerator *e;
	uint32_t count = 0, chosen;

	for (e = type->enumerators; e; e = e->next)
		count++;
	chosen = rr_generator_random(generator, count);
	for (e = type->enumerators; chosen > 0; e = e->next)
		chosen--;
	return word_of(e->value.number);
}

/* Returns the arm for a value of the discriminant; NULL: there is no such arm. */
static const struct rr_xdr_declaration *
find_arm(const struct rr_xdr_type *type, uint32_t value)
{
	const struct rr_xdr_declaration *other = NULL;

	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next) {
			if (word_of(label->number) == value)
				return arm;
		}
		other = arm->is_default ? arm : other;
	}
	return other;
}

/* Whether the arm can have a marked item. */
static bool
holds_item(struct rr_generator *generator, const struct rr_xdr_declaration *arm)
{
	return arm->placed || (arm->type->kind == RR_XDR_NAMED &&
				      rr_xdr_reaches_mark(&generator->schema, arm->type->definition));
}

/* Returns a random label of all arms, or only of those with items. */
static const struct rr_xdr_value *
choose_label(struct rr_generator *generator, const struct rr_xdr_type *type, bool with_item)
{
	const struct rr_xdr_value *chosen = NULL;
	uint32_t count = 0;

	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		if (with_item && !holds_item(generator, arm))
			continue;
		for (const struct rr_xdr_value *label = arm->labels; label; label = label->next) {
			if (rr_generator_random(generator, ++count) == 0)
				chosen = label;
		}
	}
	return chosen;
}

/* Writes a discriminant and the arm that it chooses. */
static void
generate_union(struct rr_generator *generator, const struct rr_xdr_type *type)
{
	const struct rr_xdr_type *discriminant = rr_xdr_leaf(type->discriminant)->type;
	const struct rr_xdr_value *label = NULL;
	uint32_t value;

	/* Only few of the many operations have items: without a preference few messages would have items. */
	if (rr_generator_random(generator, 3) == 0)
		label = choose_label(generator, type, true);
	if (!label)
		label = choose_label(generator, type, false);
	value = label ? word_of(label->number) : 0;
	/* Sometimes any value is chosen, so that the default arm is used, too. */
	if (!label || rr_generator_random(generator, 4) == 0)
		value = discriminant->kind == RR_XDR_ENUM ? choose_enumerator(generator, discriminant)
							  : rr_generator_random(generator, 2);
	if (!find_arm(type, value))
		value = word_of(label->number);
	put_u32(generator, value);
	generate_declaration(generator, find_arm(type, value));
}

/* Writes a value of the type. */
static void
generate_type(struct rr_generator *generator, const struct rr_xdr_type *type)
{
	switch (type->kind) {
	case RR_XDR_VOID: return;
	case RR_XDR_HYPER:
	case RR_XDR_UNSIGNED_HYPER:
	case RR_XDR_DOUBLE: put_random(generator, 8); return;
	case RR_XDR_BOOL: put_u32(generator, rr_generator_random(generator, 2)); return;
	case RR_XDR_ENUM: put_u32(generator, choose_enumerator(generator, type)); return;
	case RR_XDR_UNION: generate_union(generator, type); return;
	case RR_XDR_NAMED: generate_declaration(generator, &type->definition->declaration); return;
	case RR_XDR_STRUCT: break;
	default: put_random(generator, 4); return;
	}
	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next)
		generate_declaration(generator, member);
}

/* Writes an opaque or a string; if it is placed, it is also noted as an item. */
static void
generate_octets(struct rr_generator *generator, const struct rr_xdr_declaration *declaration, bool placed)
{
	uint32_t max = declaration->bounded ? (uint32_t)declaration->size.number.magnitude : UINT32_MAX;
	uint32_t length;

	if (declaration->shape == RR_XDR_FIXED) {
		put_random(generator, (uint32_t)declaration->size.number.magnitude);
		return;
	}
	length = choose_count(generator, placed ? 300 : 20, max);
	put_u32(generator, length);
	if (placed && generator->item_count < RR_GENERATED_ITEMS) {
		generator->items[generator->item_count].offset = generator->length;
		generator->items[generator->item_count++].length = length;
	}
	put_random(generator, length);
}

/* Writes as many values as the declaration has, with their count where XDR wants one. */
static void
generate_declaration(struct rr_generator *generator, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_type *type = declaration->type;
	uint32_t size = (uint32_t)declaration->size.number.magnitude, count = 1;

	if (declaration->placed || type->kind == RR_XDR_OPAQUE || type->kind == RR_XDR_STRING) {
		generate_octets(generator, rr_xdr_leaf(declaration), declaration->placed);
		return;
	}
	/* A walker refuses minor versions that it does not know. */
	if (declaration->name && strcmp(declaration->name, "minorversion") == 0) {
		put_u32(generator, rr_generator_random(generator, 3));
		return;
	}
	if (declaration->shape == RR_XDR_FIXED)
		count = size;
	if (declaration->shape == RR_XDR_VARIABLE)
		count = choose_count(generator, 5, declaration->bounded ? size : UINT32_MAX);
	if (declaration->shape == RR_XDR_OPTIONAL)
		count = choose_count(generator, 3, 1);
	if (declaration->shape == RR_XDR_VARIABLE || declaration->shape == RR_XDR_OPTIONAL)
		put_u32(generator, count);
	while (count-- > 0)
		generate_type(generator, type);
}

void
rr_generate(struct rr_generator *generator, const struct rr_xdr_type *type)
{
	generator->length = generator->item_count = 0;
	generate_type(generator, type);
}
