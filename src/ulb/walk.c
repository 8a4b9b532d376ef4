/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/walk.h"

#include <endian.h>
#include <string.h>

#include "base/checked.h"
#include "xdr/walk.h"

/* How deep calls and arrays may be nested. The schemas here need less, except where a type contains itself: a
 * message could nest such a type without end. */
enum { DEPTH = 32 };

/* A call of a subroutine, or an array whose elements are being stepped over. */
struct walk_frame {
	uint32_t back;    /* the address at which the code goes on after the last element */
	uint32_t again;   /* how many elements are still to come */
	uint32_t element; /* the address of the subroutine, which steps over one element */
};

/* The state of the code that runs (xdr/walk.h describes its instructions). */
struct walk_machine {
	struct rr_walk *walk;
	const uint32_t *code;
	const uint8_t *next, *end; /* the octets of the stream that are still to come */
	uint32_t at;               /* the address of the next instruction */
	unsigned depth;            /* frames in use */
	struct walk_frame frames[DEPTH];
};

/* ---- Beginning and failing ---- */

void
rr_walk_begin(struct rr_walk *walk, const struct rpcrdma_xdr_reader *reader, struct rr_walk_item *items,
	uint32_t item_max)
{
	*walk = (struct rr_walk){ .reader = *reader, .items = items, .item_max = item_max };
	if (reader->failed)
		walk->answer = RR_WALK_UNKNOWN;
}

/* Ends the walk with an error, as the message has fewer octets than the schema demands, and returns false.
 * The answer is RR_WALK_MISPLACED if the message has an item (data that were taken out of the stream) that
 * the walk has not met: the missing octets may be those of the item. Else the answer is RR_WALK_UNKNOWN. */
static bool
walk_short_of_octets(struct rr_walk *walk)
{
	walk->answer = RR_WALK_UNKNOWN;
	for (const struct rpcrdma_item *item = walk->reader.items; item < walk->reader.items_end; item++) {
		/* An item of a Write chunk has no offset, so that it cannot show that its octets are missing
		 * here. */
		if (item->length > 0 && item->offset != RPCRDMA_ITEM_NEXT)
			walk->answer = RR_WALK_MISPLACED;
	}
	return false;
}

/* Ends the walk with an error, as the message has something that the schema does not define. Returns
 * false. */
static bool
walk_unknown(struct rr_walk *walk)
{
	walk->answer = RR_WALK_UNKNOWN;
	return false;
}

/* ---- Items ---- */

/* Moves the walk over opaque data of at most max octets that may travel in a chunk (an item), and records the
 * item in walk->items if there is room. Returns false, and the walk fails, if the item is longer than max or
 * the message ends before. */
static bool
walk_take_item(struct rr_walk *walk, uint32_t max)
{
	struct rpcrdma_xdr_reader *reader = &walk->reader;
	uint32_t offset = (uint32_t)(reader->next - reader->start) + 4;
	struct rpcrdma_bytes bytes;

	bytes = rpcrdma_get_item(reader, max);
	if (reader->failed)
		return walk_short_of_octets(walk);
	if (walk->item_count < walk->item_max)
		walk->items[walk->item_count] = (struct rr_walk_item){
			.data = bytes.data,
			.length = bytes.length,
			.offset = offset,
			.result = walk->result,
			/* If the octets are not in the stream, the reader has moved over the length word
			   only. */
			.reduced = bytes.length > 0 && reader->next == reader->start + offset,
		};
	walk->item_count++;
	return true;
}

/* ---- Instructions ---- */

/* Moves over octets of the message. Returns false, and the walk fails, if the message has fewer. */
static inline bool
walk_skip(struct walk_machine *m, uint64_t octets)
{
	if ((uint64_t)(m->end - m->next) < octets)
		return walk_short_of_octets(m->walk);
	m->next += octets;
	return true;
}

/* Reads an unsigned int of the message into *value, and moves over it. Returns false, and the walk fails, if
 * the message ends before. */
static inline bool
walk_take_u32(struct walk_machine *m, uint32_t *value)
{
	if (m->end - m->next < 4)
		return walk_short_of_octets(m->walk);
	memcpy(value, m->next, 4);
	*value = be32toh(*value);
	m->next += 4;
	return true;
}

/* Moves over opaque data of at most max octets, with its length and padding. Returns false if the walk has
 * failed. */
static inline bool
walk_skip_opaque(struct walk_machine *m, uint32_t max)
{
	uint32_t length;

	if (!walk_take_u32(m, &length))
		return false;
	if (length > max)
		return walk_unknown(m->walk);
	return walk_skip(m, (uint64_t)length + rr_pad(length));
}

/* Moves over opaque data that may travel in a chunk (an item), and records where they are. They may be in the
 * stream, or absent from it. Returns false if the walk has failed. */
static bool
walk_skip_item(struct walk_machine *m, uint32_t max)
{
	m->walk->reader.next = m->next;
	if (!walk_take_item(m->walk, max))
		return false;
	m->next = m->walk->reader.next;
	return true;
}

/* Calls a subroutine of the walk's code: runs the code at address `element` `count` times, and then goes on
 * at address `back`. Returns false, and the walk fails, if the calls are nested too deeply. */
static inline bool
walk_call(struct walk_machine *m, uint32_t element, uint32_t count, uint32_t back)
{
	if (m->depth == DEPTH)
		return walk_unknown(m->walk);
	m->frames[m->depth++] = (struct walk_frame){ back, count - 1, element };
	m->at = element;
	return true;
}

/* Reads the number of elements of an array, and runs the code at address `element` once for each of them.
 * least is the smallest size of an element. Returns false if the walk has failed. */
static bool
walk_begin_loop(struct walk_machine *m, uint32_t max, uint32_t least, uint32_t element)
{
	uint32_t count;

	if (!walk_take_u32(m, &count))
		return false;
	/* A count that the rest of the message cannot hold is refused at once. */
	if (count > max || (uint64_t)count * least > (uint64_t)(m->end - m->next))
		return walk_unknown(m->walk);
	/* The code goes on behind this instruction, which has four words, at once or after the last
	 * element. */
	m->at += 4;
	return count == 0 || walk_call(m, element, count, m->at);
}

/* Moves over an array of at most max elements, each of size octets. Returns false if the walk has failed. */
static bool
walk_skip_array(struct walk_machine *m, uint32_t max, uint32_t size)
{
	uint32_t count;

	if (!walk_take_u32(m, &count))
		return false;
	m->at += 3;
	return count <= max ? walk_skip(m, (uint64_t)count * size) : walk_unknown(m->walk);
}

/* Reads a flag (0 or 1) from the message into *flag, and moves to the next instruction. Returns false if the
 * message ends before, or if the flag has another value. */
static bool
walk_branch(struct walk_machine *m, uint32_t *flag)
{
	if (!walk_take_u32(m, flag))
		return false;
	m->at += 2;
	return *flag <= 1 || walk_unknown(m->walk);
}

/* Reads the discriminant of a union and goes on at the address that the table has for its value, or at the
 * default address. i points to the instruction: RR_WALK_TABLE, the first value, the number of addresses, the
 * default address, the addresses. */
static bool
walk_choose_near(struct walk_machine *m, const uint32_t *i)
{
	uint32_t value;

	if (!walk_take_u32(m, &value))
		return false;
	value -= i[1];
	m->at = value < i[2] ? i[4 + value] : i[3];
	return true;
}

/* Reads the discriminant of a union and goes on at the address that the sorted list has for its value, or at
 * the default address. i points to the instruction: RR_WALK_SWITCH, the number of values, the default
 * address, the pairs of value and address. */
static bool
walk_choose_far(struct walk_machine *m, const uint32_t *i)
{
	uint32_t value, low = 0, high = i[1];

	if (!walk_take_u32(m, &value))
		return false;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (i[3 + 2 * middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	m->at = low < i[1] && i[3 + 2 * low] == value ? i[4 + 2 * low] : i[2];
	return true;
}

/* Ends one run of a subroutine of the walk's code (a program made from the schema): begins the next run if
 * there are more elements, else goes on behind the call. Always returns true. */
static inline bool
walk_finish(struct walk_machine *m)
{
	struct walk_frame *frame = &m->frames[m->depth - 1];

	if (frame->again > 0) {
		frame->again--;
		m->at = frame->element;
		return true;
	}
	m->at = frame->back;
	m->depth--;
	return true;
}

/* Executes one instruction of the walk's code, a program made from the schema that goes through an encoded
 * message. Returns false if the walk has failed. */
static inline bool
walk_step(struct walk_machine *m)
{
	const uint32_t *i = m->code + m->at;
	uint32_t flag;

	switch ((enum rr_walk_op)i[0]) {
	case RR_WALK_END: return walk_finish(m);
	case RR_WALK_SKIP: m->at += 2; return walk_skip(m, i[1]);
	case RR_WALK_OPAQUE: m->at += 2; return walk_skip_opaque(m, i[1]);
	case RR_WALK_ITEM: m->at += 2; return walk_skip_item(m, i[1]);
	case RR_WALK_ARRAY: return walk_skip_array(m, i[1], i[2]);
	case RR_WALK_LOOP: return walk_begin_loop(m, i[1], i[2], i[3]);
	case RR_WALK_TIMES: m->at += 3; return i[1] == 0 || walk_call(m, i[2], i[1], m->at);
	case RR_WALK_OPTIONAL: return walk_branch(m, &flag) && (!flag || walk_call(m, i[1], 1, m->at));
	case RR_WALK_AGAIN:
		if (!walk_branch(m, &flag))
			return false;
		m->at = flag ? i[1] : m->at;
		return true;
	case RR_WALK_CALL: return walk_call(m, i[1], 1, m->at + 2);
	case RR_WALK_JUMP: m->at = i[1]; return true;
	case RR_WALK_TABLE: return walk_choose_near(m, i);
	case RR_WALK_SWITCH: return walk_choose_far(m, i);
	case RR_WALK_FAIL: break;
	}
	return walk_unknown(m->walk);
}

bool
rr_walk_over(struct rr_walk *walk, const uint32_t *code, uint32_t entry)
{
	struct walk_machine m;

	if (walk->answer != RR_WALKED)
		return false;
	m.walk = walk;
	m.code = code;
	m.next = walk->reader.next;
	m.end = walk->reader.end;
	m.depth = 0;
	/* When this call ends, the depth is 0 again, so the code does not go on at the address 0. */
	walk_call(&m, entry, 1, 0);
	while (m.depth > 0) {
		if (!walk_step(&m))
			return false;
	}
	walk->reader.next = m.next;
	return true;
}

/* ---- Steps by hand ---- */

uint32_t
rr_walk_peek(struct rr_walk *walk)
{
	uint32_t value;

	if (walk->answer != RR_WALKED)
		return 0;
	if (walk->reader.end - walk->reader.next < 4) {
		walk_short_of_octets(walk);
		return 0;
	}
	memcpy(&value, walk->reader.next, 4);
	return be32toh(value);
}

uint32_t
rr_walk_u32(struct rr_walk *walk)
{
	uint32_t value = rr_walk_peek(walk);

	if (walk->answer == RR_WALKED)
		walk->reader.next += 4;
	return value;
}

void
rr_walk_opaque(struct rr_walk *walk, uint32_t max)
{
	uint32_t length = rr_walk_u32(walk);
	uint64_t octets = (uint64_t)length + rr_pad(length);

	if (walk->answer != RR_WALKED)
		return;
	if (length > max)
		walk_unknown(walk);
	else if ((uint64_t)(walk->reader.end - walk->reader.next) < octets)
		walk_short_of_octets(walk);
	else
		walk->reader.next += octets;
}

void
rr_walk_refuse(struct rr_walk *walk)
{
	if (walk->answer == RR_WALKED)
		walk_unknown(walk);
}

enum rr_walk_answer
rr_walk_end(struct rr_walk *walk)
{
	/* At the end of the stream, the reader is not done only if the walk has not met one of the items. */
	if (walk->answer == RR_WALKED && !rpcrdma_xdr_done(&walk->reader))
		walk->answer = walk->reader.next == walk->reader.end ? RR_WALK_MISPLACED : RR_WALK_UNKNOWN;
	return walk->answer;
}
