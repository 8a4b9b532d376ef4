/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_WALK_H
#define RR_ULB_WALK_H

#include <rpcrdma/xdr.h>

/* A walk finds the marked items of arguments or results without decoding: it steps over all octets between
 * them, by code that was made from the schema (xdr/walk.h). It allocates no memory, and takes time in
 * proportion to the stream. If the stream has something that the schema does not know, the walk fails: it
 * never reports a position at which a decoder would not find the item.
 *
 * Values that do not influence positions are not checked: a walk accepts messages that a decoder refuses for
 * the value of an enum. */

enum rr_walk_answer {
	RR_WALKED,
	/* The schema does not have an operation, a union's arm or a length of the stream, or the stream is
	 * cut short. The message can only be passed on as a whole. */
	RR_WALK_UNKNOWN,
	/* An item was taken out of the stream although the schema does not mark it: RFC 8166, section 6.1,
	 * "a DDP-eligibility violation"; or the stream around the item is broken. */
	RR_WALK_MISPLACED
};

/* A marked item that was found. */
struct rr_walk_item {
	const void *data; /* its octets: in the stream or, if the item was taken out, elsewhere in memory */
	uint32_t length;  /* without padding; 0: an item without octets, which is in the stream */
	uint32_t offset;  /* from the start of the stream to the item's data, or to the place from which they
			     were  taken out */
	/* The number of the result with marked items to which the item belongs: in NFS version 4 each READ or
	 * READLINK of a COMPOUND is a result; elsewhere each item is a result. */
	uint32_t result;
	bool reduced; /* the item was taken out of the stream */
};

/* A walk in progress. Only the functions of this file change it. */
struct rr_walk {
	struct rpcrdma_xdr_reader reader;
	enum rr_walk_answer answer;
	struct rr_walk_item *items;
	/* item_count may be greater: more items are found than there is room for */
	uint32_t item_max, item_count;
	uint32_t result; /* the number of the result to which the next items belong */
};

/* Begins a walk where reader stands: at arguments or results, behind the RPC header. Up to item_max items are
 * recorded in items, which may be NULL if item_max is 0. The walk has a copy of reader, but uses the same
 * message, which must stay until the walk ends. */
void rr_walk_begin(struct rr_walk *walk, const struct rpcrdma_xdr_reader *reader, struct rr_walk_item *items,
	uint32_t item_max);

/* Moves over a value by the walk's code: runs the subroutine that begins at index entry. Returns false if the
 * walk has failed. */
bool rr_walk_over(struct rr_walk *walk, const uint32_t *code, uint32_t entry);

/* Moves over an unsigned int and returns its value, or 0 if the walk has failed. */
uint32_t rr_walk_u32(struct rr_walk *walk);

/* Returns the unsigned int that comes next, without moving over it, or 0 if the walk has failed. */
uint32_t rr_walk_peek(struct rr_walk *walk);

/* Moves over an opaque<max> that may not travel in a chunk. The walk fails if it is longer than max, or if
 * the stream ends before. */
void rr_walk_opaque(struct rr_walk *walk, uint32_t max);

/* Ends the walk with the answer RR_WALK_UNKNOWN, unless it has failed already: the caller has found something
 * that it does not know. */
void rr_walk_refuse(struct rr_walk *walk);

/* Ends the walk and returns its answer. It is RR_WALKED only if the walk has moved over the whole stream, and
 * has found every item that was taken out of the stream. */
enum rr_walk_answer rr_walk_end(struct rr_walk *walk);

#endif
