/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_DECODE_TALK_H
#define RR_TESTS_DECODE_TALK_H

#include "decode/judge.h"
#include "made.h"

/* Conversations between a client and a server, made message by message, as an implementation that has a
 * defect would send them. */

extern struct made made;

enum {
	XID = 77,
	HANDLE = 0x1234,
	OTHER = 0x5678,
	SINK = 0x99,
	OFFSET = 4096,
	NFS = 100003,
	READ = 6,
	WRITE = 7,
	CREATE = 8,
	BODY = 40
};
enum { CLIENT, SERVER };

enum rpc { NOTHING, CALL, REPLY };

struct said {
	uint32_t xid, vers, proc, credit; /* 0: XID, 1, RDMA_MSG, 8 */
	bool no_credit;
	uint32_t rpc_xid; /* 0: that of the header */
	enum rpc rpc;
	uint32_t rpc_proc;
	uint32_t tail; /* octets behind the RPC header */
	uint32_t last; /* the last word of them */
	uint32_t invalidated;
	uint32_t err, low, high;
	uint32_t opttype;
	struct rpcrdma_bytes optinfo;
	struct rr_chunk_lists lists;
};

/* Writes the RPC header of said, which has the XID. */
void put_rpc(struct rpcrdma_xdr_writer *writer, const struct said *said, uint32_t xid);

/* Sends octets that need not be a message. */
void send_octets(uint8_t from, const void *data, uint32_t size, uint32_t invalidated);

/* Sends a message. */
void say(uint8_t from, struct said said);

#define CALLS(...)   say(CLIENT, (struct said){ .rpc = CALL, __VA_ARGS__ })
#define REPLIES(...) say(SERVER, (struct said){ .rpc = REPLY, __VA_ARGS__ })

/* Both sides connect and announce the size; from_server: whether the server announces remote invalidation, as
 * the client does. reopen(): the same over a new connection. */
void open_with(uint32_t size, bool from_server);
void reopen(uint32_t size);
/* The side says, in version 2, that it takes replies in Read chunks. */
void announce(uint8_t from);

/* Chunk lists of one chunk, as a call offers it. */
struct rr_chunk_lists write_chunk(struct rr_segment *segments, uint32_t count);
struct rr_chunk_lists reply_chunk(struct rr_segment *segments, uint32_t count);
struct rr_chunk_lists read_chunk(uint32_t position, uint32_t length);
extern struct rr_segment one_segment; /* a chunk of one segment has it */

/* The segment of a Write chunk, or of a Reply chunk, as it comes back. */
struct rr_segment *returned(uint32_t length);

/* Tagged messages of the server, and Read requests with their responses. */
void rdma_write(uint32_t handle, uint64_t offset, uint32_t size);
void rdma_read(uint8_t from, uint32_t handle, uint64_t offset, uint32_t size);
void rdma_response(uint8_t from, uint64_t to, uint32_t size, bool last);

#endif
