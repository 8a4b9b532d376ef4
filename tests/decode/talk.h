/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_DECODE_TALK_H
#define RR_TESTS_DECODE_TALK_H

#include "decode/judge/judge.h"
#include "made.h"

/* This makes conversations between a client and a server, message by message, as an implementation with a
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
	uint32_t rpc_xid; /* 0: the XID of the header */
	enum rpc rpc;
	uint32_t rpc_proc;
	uint32_t tail; /* octets behind the RPC header */
	uint32_t last; /* the last word of these octets */
	uint32_t invalidated;
	uint32_t err, low, high;
	uint32_t opttype;
	struct rpcrdma_bytes optinfo;
	struct rr_chunk_lists lists;
};

/* Writes the RPC header of said, which has the XID. */
void put_rpc(struct rpcrdma_xdr_writer *writer, const struct said *said, uint32_t xid);

/* Sends octets, which need not be a message. */
void send_octets(uint8_t from, const void *data, uint32_t size, uint32_t invalidated);

/* Sends a message. */
void say(uint8_t from, struct said said);

/* Sends a message over RoCE, in one packet with this PSN. */
void say_roce(uint8_t from, uint32_t psn, struct said said);

#define CALLS(...)   say(CLIENT, (struct said){ .rpc = CALL, __VA_ARGS__ })
#define REPLIES(...) say(SERVER, (struct said){ .rpc = REPLY, __VA_ARGS__ })

/* open_with() connects both sides, which announce the size; from_server: the server announces remote
 * invalidation, as the client does. reopen() does the same over a new connection. */
void open_with(uint32_t size, bool from_server);
void reopen(uint32_t size);
/* Lets the side announce, in version 2, that it accepts replies in Read chunks. */
void announce(uint8_t from);
/* Both sides announce that. The client calls, the server provides the reply in a Read chunk, and the client
 * reads it and sends RDMA_DONE. */
void pull_reply(void);

/* These return chunk lists with one chunk, as a call offers it. */
struct rr_chunk_lists write_chunk(struct rr_segment *segments, uint32_t count);
struct rr_chunk_lists reply_chunk(struct rr_segment *segments, uint32_t count);
struct rr_chunk_lists read_chunk(uint32_t position, uint32_t length);
extern struct rr_segment one_segment; /* the segment of a chunk with one segment */

/* Returns the segment of a Write chunk or Reply chunk, as a reply returns it. */
struct rr_segment *returned(uint32_t length);

/* These send tagged messages of the server, and Read Requests with their Responses. */
void rdma_write(uint32_t handle, uint64_t offset, uint32_t size);
void rdma_read(uint8_t from, uint32_t handle, uint64_t offset, uint32_t size);
void rdma_response(uint8_t from, uint64_t to, uint32_t size, bool last);

#endif
