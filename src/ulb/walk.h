/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_WALK_H
#define RR_ULB_WALK_H

#include <rpcrdma/xdr.h>

/*
 * Finds the marked items of arguments or results by stepping over all that is
 * between them, as the schema says (xdr/walk.h), without decoding it. It
 * allocates nothing, and takes time in proportion to the stream. Where it
 * meets something that the schema does not know it gives up: positions that it
 * reported are those that a decoder would find, or there is no answer at all.
 *
 * Values that do not influence positions are not judged: a walker takes
 * messages that a decoder refuses for the value of an enum.
 */

enum rr_walk_answer {
	RR_WALKED,
	/* An operation, a union's arm or a length that the schema does not have, or a stream cut short. The
	 * message can go only as a whole. */
	RR_WALK_UNKNOWN,
	/* An item was taken out of the stream where the schema marks none: RFC 8166, section 6.1, "a
	 * DDP-eligibility violation"; or the stream around it is broken. */
	RR_WALK_MISPLACED
};

struct rr_walk_item {
	const void *data; /* in the stream; or, if it was taken out, where it is */
	uint32_t length;  /* without padding; 0: an item without octets, which is in the stream */
	uint32_t offset;  /* octets in front of its data: of the stream as it was given, from its start */
	uint32_t result;  /* which of the results with marked items it belongs to: NFS version 4 has one for
			     each READ or READLINK of a COMPOUND; elsewhere each item is one */
	bool reduced;     /* it was taken out */
};

/* A walk in progress. Only these functions touch it. */
struct rr_walk {
	struct rpcrdma_xdr_reader reader;
	enum rr_walk_answer answer;
	struct rr_walk_item *items;
	uint32_t item_max, item_count; /* those found may be more than there is room for */
	uint32_t result;               /* of the items to come */
};

/*
 * Begins where reader stands: at arguments or results, behind the RPC header. Up to item_max items are
 * recorded in items, which may be NULL if there is no room for any. The message of the reader stays in use,
 * the reader does not.
 */
void rr_walk_begin(struct rr_walk *walk, const struct rpcrdma_xdr_reader *reader, struct rr_walk_item *items,
	uint32_t item_max);

/* Steps over one value. False once the walk has failed. */
bool rr_walk_over(struct rr_walk *walk, const uint32_t *code, uint32_t entry);

/* Steps over one unsigned int, of which it is the value; 0 once the walk has failed. */
uint32_t rr_walk_u32(struct rr_walk *walk);

/* The unsigned int that comes next, without stepping over it. */
uint32_t rr_walk_peek(struct rr_walk *walk);

/* Steps over an opaque<max> that is not marked. */
void rr_walk_opaque(struct rr_walk *walk, uint32_t max);

/* For callers that find something unknown themselves. */
void rr_walk_refuse(struct rr_walk *walk);

/* Ends the walk: the whole stream must have been stepped over, and all items that were taken out been met. */
enum rr_walk_answer rr_walk_end(struct rr_walk *walk);

#endif
