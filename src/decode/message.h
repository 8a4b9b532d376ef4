/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_MESSAGE_H
#define RR_DECODE_MESSAGE_H

#include "decode/memory.h"
#include "decode/packet.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/* This is an RPC-over-RDMA message of version 1 or 2, with the header of the RPC message that it carries. */

enum {
	RR_MESSAGE_READS = 1024, /* elements of chunk lists that are decoded, at most */
	RR_MESSAGE_WRITES = 256,
	RR_MESSAGE_SEGMENTS = 2048,
	RR_MESSAGE_HEAD = 1024 /* octets that are kept of the front of a message that moved by RDMA, for its
				  RPC header */
};

enum rr_message_kind {
	/* The message cannot be decoded, or does not itself show whether it is a call or a reply: the RPC
	 * message of an RDMA_NOMSG lies in a chunk. */
	RR_MESSAGE_UNCLEAR,
	RR_MESSAGE_CALL,
	RR_MESSAGE_REPLY,
	RR_MESSAGE_ERROR,
	RR_MESSAGE_DONE,
	RR_MESSAGE_OPTIONAL
};

/* The purpose of a chunk. */
enum rr_region_kind {
	RR_REGION_READ,     /* of a call: an argument */
	RR_REGION_CALL,     /* position zero of a call: the RPC message itself */
	RR_REGION_WRITE,    /* memory for a result */
	RR_REGION_REPLY,    /* the Reply chunk */
	RR_REGION_PROVIDED, /* a reply in a Read chunk, which the responder provides (version 2) */
	RR_REGIONS
};

/* The moment at which a message was captured: when, on which connection, from which side. */
struct rr_moment {
	uint64_t frame; /* number of the packet that completed it, from 1 */
	uint64_t time;  /* since the epoch, ns */
	uint32_t connection;
	uint8_t from; /* the side that sent it: 0, which opened the connection, or 1 */
	/* Both ends; valid until the callback that gets the moment returns. */
	const struct rr_packet_end *ends;
};

/* Describes how a message was sent. */
struct rr_sent {
	struct rr_moment moment;
	uint32_t size, msn; /* size: octets of the Send; msn: the message number that DDP gave it */
	bool is_cut;        /* octets of it were not captured: what is behind them is not decoded */
	bool invalidates;
	uint32_t invalidated; /* the handle that the Send invalidates */
};

struct rr_message {
	struct rr_sent sent;
	enum rr_message_kind kind;
	enum rr_header_result result;
	struct rr_rdma_header header; /* the fixed words are set unless result is RR_HEADER_SHORT */
	struct rr_chunk_lists lists;  /* the chunks that could be decoded */
	struct rpcrdma_bytes payload; /* behind the header */
	struct rpcrdma_bytes rpc;     /* the RPC message, or the front of it that was captured */
	bool has_call, has_reply;     /* the RPC header was decoded */
	struct rr_call_header call;
	struct rr_reply_header reply;
	/* The procedure of the call, or of the call that a reply answers. */
	bool has_procedure;
	uint32_t prog, vers, proc;
	bool is_paired; /* the call of its transaction was captured, and the members below are set */
	struct rr_moment call_moment;
	uint64_t moved[RR_REGIONS]; /* octets that RDMA had moved for the transaction, by the kind of chunk */
};

/* rr_message_prepare() allocates the arrays of *lists, for as many elements as RR_MESSAGE_READS and so on
 * say. Errors: NOMEM. rr_message_unprepare() frees these arrays; it may also be called on lists that are
 * zeroed. */
int rr_message_prepare(struct rr_decode_memory *memory, struct rr_chunk_lists *lists);
void rr_message_unprepare(struct rr_decode_memory *memory, struct rr_chunk_lists *lists);

/* Decodes a message, and the RPC header in it if there is one. The caller sets message->sent, zeroes all
 * other members, and provides lists, whose arrays the function fills. The message then points into data and
 * into these arrays. A header that cannot be decoded leaves its fault in message->result. The kind remains
 * RR_MESSAGE_UNCLEAR (0) then, and for an RDMA_NOMSG. */
void rr_message_decode(
	struct rr_message *message, const struct rr_chunk_lists *lists, struct rpcrdma_bytes data);

/* Decodes the RPC header at the front of data, which is an RPC message or its beginning. Sets the kind of
 * message (call or reply), and the header and the procedure if they are complete. If data is shorter than 8
 * octets or is neither call nor reply, changes nothing. */
void rr_message_decode_rpc(struct rr_message *message, struct rpcrdma_bytes data);

#endif
