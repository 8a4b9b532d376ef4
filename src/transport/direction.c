/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/direction.h"

#include "base/endian.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

enum {
	LISTS = RR_RDMA_FIXED_SIZE / 4, /* where the chunk lists begin, in words */
	READ_WORDS = RR_READ_SEGMENT_SIZE / 4 - 1,
	SEGMENT_WORDS = RR_SEGMENT_SIZE / 4
};

/* Goes over a header word by word; past the end everything is 0, and failed. */
struct cursor {
	const uint8_t *data;
	uint32_t at, words;
	bool failed;
};

static uint32_t
word(struct cursor *cursor)
{
	if (cursor->at < cursor->words)
		return rr_get_be32(cursor->data + 4 * (size_t)cursor->at++);
	cursor->failed = true;
	return 0;
}

static void
skip(struct cursor *cursor, uint32_t count, uint32_t words)
{
	if (count > (cursor->words - cursor->at) / words)
		cursor->failed = true;
	else
		cursor->at += count * words;
}

static void
skip_lists(struct cursor *cursor)
{
	while (word(cursor) != 0)
		skip(cursor, 1, READ_WORDS);
	while (word(cursor) != 0)
		skip(cursor, word(cursor), SEGMENT_WORDS);
	if (word(cursor) != 0)
		skip(cursor, word(cursor), SEGMENT_WORDS);
}

/*
 * RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies." A call is there, in version 1;
 * in version 2 it may be a reply, too (draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1).
 */
static enum rr_direction
of_read_list(uint32_t version)
{
	return version == RR_RPCRDMA_VERSION_1 ? RR_DIRECTION_CALL : RR_DIRECTION_UNKNOWN;
}

/* RFC 5531, 9: the XID comes first, then the type of the message. */
static enum rr_direction
of_message(struct cursor *cursor)
{
	uint32_t type;

	word(cursor);
	type = word(cursor);
	if (cursor->failed || type > RR_REPLY)
		return RR_DIRECTION_UNKNOWN;
	return type == RR_CALL ? RR_DIRECTION_CALL : RR_DIRECTION_REPLY;
}

enum rr_direction
rr_direction(const uint8_t *data, uint32_t length)
{
	struct cursor cursor = { .data = data, .at = 1, .words = length / 4 };
	uint32_t version = word(&cursor), proc;

	word(&cursor); /* credits */
	proc = word(&cursor);
	if (cursor.failed || version < RR_RPCRDMA_VERSION_1 || version > RR_RPCRDMA_VERSION_2)
		return RR_DIRECTION_UNKNOWN;
	switch (proc) {
	case RR_RDMA_MSG: skip_lists(&cursor); return of_message(&cursor);
	case RR_RDMA_NOMSG: return word(&cursor) != 0 ? of_read_list(version) : RR_DIRECTION_REPLY;
	/* What an error is about is one's own call. */
	case RR_RDMA_ERROR: return RR_DIRECTION_REPLY;
	default: return RR_DIRECTION_UNKNOWN;
	}
}
