/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CHECK_CHUNK_H
#define RR_TOOL_CHECK_CHUNK_H

#include "tool/check/check.h"
#include "ulb/nfs3.h"

/* Arguments and chunks for test cases that move data. RR_CHECK_PATTERN: the octet with which registered
 * memory is filled, so that one can see where the peer has written. */

enum { RR_CHECK_ARGS_MAX = 256, RR_CHECK_PATTERN = 0xa5 };

/* Writes into out the arguments of a procedure of NFS version 3: a file handle, and `count` words behind it.
 * Returns these octets. */
struct rpcrdma_bytes rr_check_args(uint8_t out[RR_CHECK_ARGS_MAX], const struct rpcrdma_nfs_handle *handle,
	const uint32_t *words, uint32_t count);

/* rr_check_args() with the words as arguments of the macro. A 64-bit number is two words. */
#define RR_CHECK_ARGS(out, handle, ...)                                                                      \
	rr_check_args(out, handle, (const uint32_t[]){ __VA_ARGS__ },                                        \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* A handle that no server has. */
extern const struct rpcrdma_nfs_handle rr_check_no_handle;

/* A Write chunk or Reply chunk of `count` segments of `size` octets each, in one piece of memory. */
struct rr_check_chunk {
	uint8_t *data;
	struct rr_segment segments[4];
	struct rr_chunk chunk;
	uint32_t count, size;
};

/* Registers memory for a chunk of `count` segments (four at most) of `size` octets each, and fills in the
 * chunk. Returns false if the memory could not be registered. */
bool rr_check_offer(struct rr_check_peer *peer, struct rr_check_chunk *chunk, uint32_t count, uint32_t size);
/* Returns chunk lists that offer the chunk as a Write chunk. */
struct rr_chunk_lists rr_check_write_list(struct rr_check_chunk *chunk);
/* Returns chunk lists that offer the chunk as the Reply chunk. */
struct rr_chunk_lists rr_check_reply_chunk(struct rr_check_chunk *chunk);

/* Checks `back`, the chunk as the reply returns it: it has the segments of the chunk that was offered, and
 * none of them is longer than it was offered. */
enum rr_check_verdict rr_check_returned(
	const struct rr_check_chunk *chunk, const struct rr_chunk *back, struct rr_text *why);

/* Tells whether the octets of the chunk's memory from number `from` on still have the pattern with which the
 * memory was filled, so that the peer has not written there. */
bool rr_check_is_untouched(const struct rr_check_chunk *chunk, uint64_t from);

#endif
