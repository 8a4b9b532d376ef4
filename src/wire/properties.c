/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/properties.h"

#include <rpcrdma/client.h>

#include "wire/rpcrdma2.h"

/* The known properties: draft-cel-nfsv4-rpcrdma-version-two-03, 5.2, table 1; and 5.4.2: "values in the range
 * from 4,294,967,040 to 4,294,967,295 are reserved for experimental use". */
const struct rr_property_kind rr_property_kinds[RR_PROPERTIES] = {
	[RR_PROPERTY_RECEIVE_SIZE] = { "receive buffer size", 1, RR_INLINE_DEFAULT_2, UINT32_MAX },
	[RR_PROPERTY_REVERSE] = { "backward request support", 2, RR_REVERSE_INLINE, RR_REVERSE_GENERAL },
	[RR_PROPERTY_READ_CHUNKS] = { "responder-provided Read chunks", UINT32_C(0xffffff00), 0, 1 },
	[RR_PROPERTY_INVALIDATION] = { "remote invalidation", UINT32_C(0xffffff01), 0, 1 },
};

_Static_assert((int)RPCRDMA_PROPERTIES == (int)RR_PROPERTIES, "the public has all of them");

const char *
rpcrdma_property_name(uint32_t index)
{
	return index < RR_PROPERTIES ? rr_property_kinds[index].name : NULL;
}

/* The least octets of a property in a set, and the size of a word. */
enum { PROPVAL_MIN = 8, WORD = 4, WORD_BITS = 32 };

/* ---- Sets and subsets ---- */

struct rr_property_set
rr_property_set(uint32_t has, const uint32_t values[RR_PROPERTIES])
{
	struct rr_property_set set = { .has = has };

	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		if (!(has & UINT32_C(1) << i))
			continue;
		set.values[i] = values[i];
		set.positions[i] = set.count++;
	}
	return set;
}

/* draft-cel-nfsv4-rpcrdma-version-two-03, 5.1.1: "If a particular rpcrdma2_propval is at position N in the
 * array, then bit number N mod 32 in word N div 32 specifies whether that particular rpcrdma2_propval is
 * included in the defined subset." */
uint32_t
rr_property_selected(const struct rr_property_set *set, const struct rr_property_subset *subset)
{
	uint32_t has = 0;

	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		uint32_t position = set->positions[i];

		if (set->has & UINT32_C(1) << i &&
			subset->words[position / WORD_BITS] & UINT32_C(1) << position % WORD_BITS)
			has |= UINT32_C(1) << i;
	}
	return has;
}

struct rr_property_subset
rr_property_subset(const struct rr_property_set *set, uint32_t has)
{
	struct rr_property_subset subset = { { 0 } };

	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		uint32_t position = set->positions[i];

		if (set->has & has & UINT32_C(1) << i)
			subset.words[position / WORD_BITS] |= UINT32_C(1) << position % WORD_BITS;
	}
	return subset;
}

/* ---- Reading ---- */

/* Returns the property with that code, or RR_PROPERTIES if the code is unknown. */
static enum rr_property
properties_find(uint32_t code)
{
	enum rr_property i = 0;

	while (i < RR_PROPERTIES && rr_property_kinds[i].code != code)
		i++;
	return i;
}

/*
 * Returns the value of a known property, read from its opaque data. All known types take one word; the reader
 * fails if data is not one word or its value is too large. Without data, the value is the default.
 * draft-cel-nfsv4-rpcrdma-version-two-03, 5.1.1: a receiver "MUST report an XDR error if [...] The nominally
 * opaque data within rdma_data is not valid when interpreted using the property-associated typedef. The
 * length of rdma_data is insufficient". "A rdma_data field which is of zero length is interpreted as
 * indicating the default".
 */
static uint32_t
properties_get_value(
	struct rpcrdma_xdr_reader *reader, struct rpcrdma_bytes data, const struct rr_property_kind *kind)
{
	const struct rpcrdma_message message = { .stream = data.data, .length = data.length };
	struct rpcrdma_xdr_reader inner;
	uint32_t value;

	if (data.length == 0)
		return kind->initial;
	rpcrdma_xdr_reader_init(&inner, &message, NULL);
	value = rpcrdma_get_u32(&inner);
	if (!rpcrdma_xdr_done(&inner) || value > kind->max)
		rpcrdma_xdr_fail(reader);
	return value;
}

/* Reads a set of transport properties (draft-cel-nfsv4-rpcrdma-version-two-03, section 5). Unknown properties
 * are counted and skipped: "Note that no error is to be reported if rdma_which is unknown to the receiver."
 * The reader fails if a known property comes twice. */
static void
properties_get_set(struct rpcrdma_xdr_reader *reader, struct rr_property_set *set)
{
	uint32_t count = rpcrdma_get_count(reader, RR_PROPERTY_SET_MAX, PROPVAL_MIN);

	*set = (struct rr_property_set){ 0 };
	for (; set->count < count && !reader->failed; set->count++) {
		enum rr_property i = properties_find(rpcrdma_get_u32(reader));
		struct rpcrdma_bytes data = rpcrdma_get_bytes(reader, UINT32_MAX);

		if (reader->failed || i == RR_PROPERTIES)
			continue;
		if (set->has & UINT32_C(1) << i)
			rpcrdma_xdr_fail(reader);
		set->has |= UINT32_C(1) << i;
		set->values[i] = properties_get_value(reader, data, &rr_property_kinds[i]);
		set->positions[i] = set->count;
	}
}

/* Reads a subset of a set of properties, a bitmap (draft-cel-nfsv4-rpcrdma-version-two-03, section 5). "Words
 * beyond the last one specified are treated as containing zero." Words for more properties than a set can
 * have are ignored. */
static void
properties_get_subset(struct rpcrdma_xdr_reader *reader, struct rr_property_subset *subset)
{
	uint32_t count = rpcrdma_get_count(reader, UINT32_MAX, WORD);

	*subset = (struct rr_property_subset){ { 0 } };
	for (uint32_t i = 0; i < count && !reader->failed; i++) {
		uint32_t word = rpcrdma_get_u32(reader);

		if (i < RR_PROPERTY_SET_MAX / WORD_BITS)
			subset->words[i] = word;
	}
}

bool
rr_property_get(
	enum rr_property_operation operation, struct rpcrdma_bytes info, struct rr_property_message *message)
{
	const struct rpcrdma_message whole = { .stream = info.data, .length = info.length };
	struct rpcrdma_xdr_reader reader;

	*message = (struct rr_property_message){ 0 };
	rpcrdma_xdr_reader_init(&reader, &whole, NULL);
	if (operation == RR_RESPPROP) {
		properties_get_subset(&reader, &message->done);
		properties_get_subset(&reader, &message->rejected);
	}
	properties_get_set(&reader, &message->set);
	if (operation == RR_CONNPROP)
		properties_get_subset(&reader, &message->nochg);
	return rpcrdma_xdr_done(&reader);
}

/* ---- Writing ---- */

/* Writes the properties of the set with their codes and values, in the order of enum rr_property. */
static void
properties_put_set(struct rpcrdma_xdr_writer *writer, const struct rr_property_set *set)
{
	rpcrdma_put_u32(writer, (uint32_t)__builtin_popcount(set->has));
	for (uint32_t i = 0; i < RR_PROPERTIES; i++) {
		if (!(set->has & UINT32_C(1) << i))
			continue;
		rpcrdma_put_u32(writer, rr_property_kinds[i].code);
		rpcrdma_put_u32(writer, WORD); /* the length of rdma_data */
		rpcrdma_put_u32(writer, set->values[i]);
	}
}

/* Writes a subset of a set of properties, a bitmap. elements is the number of properties in the set. */
static void
properties_put_subset(
	struct rpcrdma_xdr_writer *writer, const struct rr_property_subset *subset, uint32_t elements)
{
	uint32_t count = (elements + WORD_BITS - 1) / WORD_BITS;

	rpcrdma_put_u32(writer, count);
	for (uint32_t i = 0; i < count; i++)
		rpcrdma_put_u32(writer, subset->words[i]);
}

void
rr_property_put(struct rpcrdma_xdr_writer *writer, enum rr_property_operation operation,
	const struct rr_property_message *message, uint32_t elements)
{
	if (elements > RR_PROPERTY_SET_MAX) {
		rpcrdma_xdr_writer_fail(writer);
		return;
	}
	if (operation == RR_RESPPROP) {
		properties_put_subset(writer, &message->done, elements);
		properties_put_subset(writer, &message->rejected, elements);
	}
	properties_put_set(writer, &message->set);
	if (operation == RR_CONNPROP)
		properties_put_subset(writer, &message->nochg, elements);
}
