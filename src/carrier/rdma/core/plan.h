/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_PLAN_H
#define RR_CARRIER_RDMA_CORE_PLAN_H

#include "carrier/carrier.h"
#include "carrier/rdma/core/pieces.h"
#include "wire/rpcrdma1.h"

/* Decides how a message travels: sizes and limits are given, a plan is returned. Nothing here registers,
 * allocates or sends memory, or reads more than the lengths of a message. */

struct rr_call_limits {
	uint32_t call_threshold, reply_threshold; /* inline thresholds */
	uint32_t read_chunks, write_chunks;       /* that one call may have, without a position-zero chunk */
	uint32_t message_max;                     /* octets of a message, either direction */
	bool inline_only; /* no chunks at all, as in the reverse direction: the reply is inline, too */
	bool provides;    /* the responder may provide Read chunks for replies */
	enum rr_reply_chunks reply_chunks;
};

/* Why a call has chunks, or asks for chunks, and is not just one inline Send with an inline reply. */
enum rr_why {
	RR_WHY_NOT,       /* it has no chunks */
	RR_WHY_ARGUMENTS, /* Read chunk: with that item in its stream it does not fit inline */
	RR_WHY_STREAM,    /* long call: its stream does not fit inline, and there is no item to take out */
	RR_WHY_REST,      /* long call: the rest without the items does not fit inline either */
	RR_WHY_SINKS,     /* Write chunks: with these results in its stream the reply may not fit inline */
	RR_WHY_REPLY,     /* Reply chunk: the stream of the reply may not fit inline */
	/* Reply chunk: the stream of the reply would fit, but not all sinks can be Write chunks */
	RR_WHY_MANY
};

struct rr_call_plan {
	uint32_t header;       /* octets of RPC-over-RDMA header */
	uint32_t body;         /* octets of RPC message that follow it in the Send */
	uint64_t reduced;      /* bit i: item i goes into a Read chunk of its own */
	bool long_call;        /* RDMA_NOMSG: the whole message goes into a position-zero Read chunk */
	uint32_t segments;     /* read segments: one for each Read chunk, or for each piece of a long call */
	uint32_t write_chunks; /* how many sinks (memory for results), from the first, are offered */
	uint32_t reply_chunk;  /* octets of Reply chunk to offer; 0: none */
	bool left;             /* the call offers no Reply chunk: the responder provides a large reply */
	enum rr_why why_call, why_reply;
};

/* Makes the plan for a call. Returns 0 or an error: -RPCRDMA_ERR_INVAL if the call or its sinks are not
 * valid; -RPCRDMA_ERR_LIMIT if the message is above message_max, or if what must go inline, such as the
 * header of a long call, is above the threshold. */
int rr_plan_call(const struct rr_call_limits *limits, const struct rr_transaction *transaction,
	struct rr_call_plan *plan);

/* Tells whether the call is only a stream and goes inline, and its reply goes inline in any case: such a
 * call needs no plan. call_most and reply_most are the octets that each message may have with its header:
 * the inline thresholds, but no more than message_max. */
bool rr_plan_call_is_plain(const struct rr_transaction *transaction, uint32_t call_most, uint32_t reply_most);

enum rr_reply_form {
	RR_REPLY_INLINE,   /* RDMA_MSG */
	RR_REPLY_LONG,     /* RDMA_NOMSG, the message in the Reply chunk */
	RR_REPLY_PROVIDED, /* RDMA_NOMSG, the message in a Read chunk that the responder provides */
	RR_REPLY_ERROR,    /* no form above conveys the reply: RDMA_ERROR, ERR_CHUNK */
	RR_REPLY_OPTION    /* RDMA_OPTIONAL, a message of a feature: it has no plan (respond.c) */
};

struct rr_reply_limits {
	uint32_t threshold; /* inline */
	uint32_t sge_max;   /* how many pieces of memory a Send can gather, the header among them */
	bool read_chunks;   /* the requester takes Read chunks that the responder provides */
};

struct rr_reply_plan {
	enum rr_reply_form form;
	uint32_t header;  /* octets of RPC-over-RDMA header */
	uint32_t body;    /* octets of the message without what is placed in Write chunks */
	uint64_t reduced; /* bit i: item i is placed in Write chunk i */
	/* The pieces of memory in which the body lies. */
	uint32_t piece_count;
	struct rr_piece pieces[RR_PIECES_MAX];
};

/* Decides how the reply, which passed rr_message_check(), travels. offered has the Write list and the Reply
 * chunk of its call. */
void rr_plan_reply(const struct rr_reply_limits *limits, const struct rr_chunk_lists *offered,
	const struct rpcrdma_message *reply, struct rr_reply_plan *plan);

/* Computes how large a reply may be: *item_room and *stream_room (struct rr_exchange). provided is how many
 * octets of Read chunk the responder could provide, or 0 if it cannot provide one. */
void rr_plan_room(uint32_t threshold, uint32_t provided, const struct rr_chunk_lists *offered,
	uint32_t *item_room, uint32_t *stream_room);

#endif
