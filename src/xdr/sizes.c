/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/xdr.h>

#include "base/checked.h"
#include "xdr/compiler.h"

/* Computes how large a value can be in the stream. A marked item counts its length word only. Sums stop at
 * UINT32_MAX, which as a maximum means "not bounded". */

/* Returns a + b, or UINT32_MAX if the sum is larger. UINT32_MAX stands for a size without a limit. */
static uint32_t
sizes_plus(uint32_t a, uint32_t b)
{
	uint32_t sum;

	return rr_add_u32(a, b, &sum) ? sum : UINT32_MAX;
}

/* Returns count times size, or UINT32_MAX if the product is larger. UINT32_MAX stands for a size without a
 * limit. */
static uint32_t
sizes_times(uint32_t count, uint32_t size)
{
	uint64_t product = (uint64_t)count * size;

	/* A product with zero is zero, also with a count or a size that is not bounded. */
	return (uint32_t)rr_min(product, UINT32_MAX);
}

static uint32_t
sizes_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static struct rr_xdr_size size_of_declaration(
	struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration);

/* Returns the bounds of the encoded size of a struct: the sums of the bounds of its members. Also adds up
 * their items (data that may travel in a chunk). */
static struct rr_xdr_size
size_of_struct(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	struct rr_xdr_size sum = { 0 };

	for (const struct rr_xdr_declaration *member = type->members; member; member = member->next) {
		struct rr_xdr_size size = size_of_declaration(compiler, member);

		sum.min = sizes_plus(sum.min, size.min);
		sum.max = sizes_plus(sum.max, size.max);
		sum.items = sizes_plus(sum.items, size.items);
		sum.item_max = sizes_larger(sum.item_max, size.item_max);
	}
	return sum;
}

/* Returns the bounds of the encoded size of a union: the discriminant with the smallest arm, and with the
 * largest arm. The number of items (data that may travel in a chunk) is the largest of any arm. */
static struct rr_xdr_size
size_of_union(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	struct rr_xdr_size sum = { .min = UINT32_MAX };

	for (const struct rr_xdr_declaration *arm = type->members; arm; arm = arm->next) {
		struct rr_xdr_size size = size_of_declaration(compiler, arm);

		sum.min = (uint32_t)rr_min(sum.min, size.min);
		sum.max = sizes_larger(sum.max, size.max);
		sum.items = sizes_larger(sum.items, size.items);
		sum.item_max = sizes_larger(sum.item_max, size.item_max);
	}
	sum.min = sizes_plus(sum.min, 4);
	sum.max = sizes_plus(sum.max, 4);
	return sum;
}

struct rr_xdr_size
rr_xdr_size(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type)
{
	struct rr_xdr_definition *definition = type->definition;

	switch (type->kind) {
	case RR_XDR_VOID: return (struct rr_xdr_size){ 0 };
	case RR_XDR_HYPER:
	case RR_XDR_UNSIGNED_HYPER:
	case RR_XDR_DOUBLE: return (struct rr_xdr_size){ .min = 8, .max = 8 };
	case RR_XDR_STRUCT: return size_of_struct(compiler, type);
	case RR_XDR_UNION: return size_of_union(compiler, type);
	/* A foreign type takes a word at least: no type of XDR takes no octets. */
	case RR_XDR_FOREIGN: return (struct rr_xdr_size){ .min = 4, .max = UINT32_MAX };
	case RR_XDR_NAMED: break;
	default: return (struct rr_xdr_size){ .min = 4, .max = 4 };
	}
	if (!definition->sized)
		definition->size = size_of_declaration(compiler, &definition->declaration);
	definition->sized = true;
	return definition->size;
}

/* Returns the bounds of the encoded size of an array of at most count elements, or of optional data (count is
 * then 1). The size includes the word in front, which says how many elements there are. A count of UINT32_MAX
 * means that there is no limit. */
static struct rr_xdr_size
size_of_elements(struct rr_xdr_compiler *compiler, const struct rr_xdr_type *type, uint32_t count)
{
	struct rr_xdr_size size = { .min = 4, .max = UINT32_MAX };
	struct rr_xdr_size element;

	/* A type that holds itself cannot be sized element by element, and the depth of its values has no
	 * bound. */
	if (type->kind == RR_XDR_NAMED &&
		rr_xdr_reaches(compiler, type->definition, type->definition, true)) {
		if (rr_xdr_reaches_mark(compiler, type->definition))
			size.items = size.item_max = RPCRDMA_XDR_UNBOUNDED;
		return size;
	}
	element = rr_xdr_size(compiler, type);
	size.items = sizes_times(count, element.items);
	size.item_max = element.item_max;
	if (count != UINT32_MAX)
		size.max = sizes_plus(4, sizes_times(count, element.max));
	return size;
}

/* Returns the bounds of the encoded size of opaque data or a string of at most count octets. */
static struct rr_xdr_size
size_of_octets(const struct rr_xdr_declaration *declaration, uint32_t count)
{
	uint32_t padded = sizes_plus(count, rr_pad(count));

	/* The length is a number that only another header defines. */
	if (declaration->shape == RR_XDR_FIXED && declaration->size.foreign)
		return (struct rr_xdr_size){ .min = 4, .max = UINT32_MAX };
	if (declaration->shape == RR_XDR_FIXED)
		return (struct rr_xdr_size){ .min = padded, .max = padded };
	return (struct rr_xdr_size){ .min = 4, .max = sizes_plus(4, padded) };
}

/* Returns the bounds of the encoded size of data that may travel in a chunk: its length word, which alone
 * must be in the stream, and one item of at most `item_max` octets. */
static struct rr_xdr_size
size_of_item(const struct rr_xdr_declaration *leaf)
{
	uint32_t most = leaf->bounded && !leaf->size.foreign ? (uint32_t)leaf->size.number.magnitude
							     : RPCRDMA_XDR_UNBOUNDED;

	return (struct rr_xdr_size){ .min = 4, .max = 4, .items = 1, .item_max = most };
}

/* Returns the bounds of the encoded size of a declaration's value. */
static struct rr_xdr_size
size_of_declaration(struct rr_xdr_compiler *compiler, const struct rr_xdr_declaration *declaration)
{
	const struct rr_xdr_type *type = declaration->type;
	bool counted =
		(declaration->shape == RR_XDR_FIXED || declaration->bounded) && !declaration->size.foreign;
	uint32_t count = counted ? (uint32_t)declaration->size.number.magnitude : UINT32_MAX;
	struct rr_xdr_size size;

	if (declaration->placed)
		return size_of_item(rr_xdr_leaf(declaration));
	if (type->kind == RR_XDR_OPAQUE || type->kind == RR_XDR_STRING)
		return size_of_octets(declaration, count);
	if (declaration->shape == RR_XDR_VARIABLE)
		return size_of_elements(compiler, type, count);
	if (declaration->shape == RR_XDR_OPTIONAL)
		return size_of_elements(compiler, type, 1);
	size = rr_xdr_size(compiler, type);
	if (declaration->shape == RR_XDR_PLAIN)
		return size;
	/* An array whose length the schema does not know has at least one element. */
	if (!counted)
		return (struct rr_xdr_size){ size.min, UINT32_MAX, size.items ? UINT32_MAX : 0,
			size.item_max };
	return (struct rr_xdr_size){ sizes_times(count, size.min), sizes_times(count, size.max),
		sizes_times(count, size.items), size.item_max };
}
