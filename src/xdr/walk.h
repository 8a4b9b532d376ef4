/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_XDR_WALK_H
#define RR_XDR_WALK_H

#include <stdint.h>

/* The code of a walk (ulb/walk.h): by it, a walker steps over a value in a stream of XDR, from one marked
 * item to the next. The code is an array of words. Each instruction is one of those below with its operands
 * behind it. An address is an index into the array. The compiler writes such an array for a schema, with a
 * subroutine for each type by which a marked item can be reached. */
enum rr_walk_op {
	RR_WALK_FAIL,     /* also stands at address 0, to which values lead that the schema does not know */
	RR_WALK_END,      /* the end of a subroutine */
	RR_WALK_SKIP,     /* octets: steps over them */
	RR_WALK_OPAQUE,   /* most octets: a counted opaque or string */
	RR_WALK_ITEM,     /* most octets: an item that a binding marks */
	RR_WALK_ARRAY,    /* most elements, octets of each: a counted array of elements of one size */
	RR_WALK_LOOP,     /* most elements, least octets of each, address: a counted array */
	RR_WALK_TIMES,    /* elements, address: an array of fixed length */
	RR_WALK_OPTIONAL, /* address: a flag, and, if the flag is TRUE, a value */
	RR_WALK_AGAIN,    /* address: a flag, and, if the flag is TRUE, a jump: the tail of a list */
	RR_WALK_CALL,     /* address */
	RR_WALK_JUMP,     /* address */
	RR_WALK_TABLE, /* first, count, default, count addresses: a union, by its discriminant minus first */
	RR_WALK_SWITCH /* count, default, count times value and address, by value: another union */
};

#endif
