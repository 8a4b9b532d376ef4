/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoding and encoding of a fattr4 by the tables rr_attr_rows and rr_attr_sets, as a client does that.
 */
#include <string.h>

#include "base/checked.h"
#include "vfs/fattr4/attr.h"

/* Tells whether the client has asked for all attributes that the server gave. The server may give fewer than
 * were asked for, because it need not support all. RFC 8881, 18.7.3: "The server MUST return a value for each
 * attribute that the client requests if the attribute is supported". */
static bool
client_has_asked(const bitmap4 *given, const bitmap4 *asked)
{
	for (uint32_t i = 0; i < given->count; i++) {
		if (given->values[i] & ~(i < asked->count ? asked->values[i] : 0))
			return false;
	}
	return true;
}

bool
rr_attr_take(const fattr4 *fattr, const bitmap4 *asked, struct rr_attr_values *values)
{
	const struct rpcrdma_message message = { .stream = fattr->attr_vals.data,
		.length = fattr->attr_vals.length };
	struct rpcrdma_xdr_reader reader;

	memset(values, 0, sizeof(*values));
	if (!client_has_asked(&fattr->attrmask, asked))
		return false;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	for (uint32_t i = 0; i < rr_min(fattr->attrmask.count, RR_ATTR_WORDS); i++) {
		values->have.words[i] = fattr->attrmask.values[i];
		/* From the lowest bit to the highest: the values are in the order of the attributes' numbers.
		 * Each has a row with take(), as it was asked for. */
		for (uint32_t left = values->have.words[i]; left != 0; left &= left - 1)
			rr_attr_rows[32 * i + (uint32_t)__builtin_ctz(left)].take(&reader, values);
	}
	return rpcrdma_xdr_done(&reader);
}

fattr4
rr_attr_give(const struct rr_vfs_set *set, struct rr_attr_mask *mask, void *memory, uint32_t size)
{
	struct rpcrdma_xdr_writer writer;
	uint32_t count = RR_ATTR_WORDS;

	memset(mask, 0, sizeof(*mask));
	rpcrdma_xdr_writer_init(&writer, memory, size, NULL, 0);
	/* The values must be in the order of the attributes' numbers. */
	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (!rr_attr_sets[i].give || !(rr_attr_sets[i].sets & set->mask))
			continue;
		rr_attr_add(mask, i);
		rr_attr_sets[i].give(&writer, set);
	}
	/* The bitmap ends with its last word that is not zero. */
	while (count > 0 && mask->words[count - 1] == 0)
		count--;
	return (fattr4){ { count, mask->words }, { memory, (uint32_t)rpcrdma_xdr_length(&writer) } };
}
