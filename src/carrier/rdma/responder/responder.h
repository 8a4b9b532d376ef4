/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RESPONDER_RESPONDER_H
#define RR_CARRIER_RDMA_RESPONDER_RESPONDER_H

#include "carrier/rdma/arrival.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/fetch.h"
#include "carrier/rdma/core/plan.h"
#include "carrier/rdma/core/transfer.h"
#include "wire/rpc.h"

/* The responder inside: what inbound.c, responder.c and respond.c share. */

enum rr_inbound_state {
	RR_INBOUND_ARRIVING,  /* its Read chunks wait for memory, or are being pulled */
	RR_INBOUND_DELIVERED, /* with the owner of the connection */
	RR_INBOUND_REPLYING,  /* the Send of the reply, or of an error, is not posted */
	RR_INBOUND_POSTED,    /* that Send is under way */
	RR_INBOUND_NAMED,     /* the message that was sent names the Read chunk that the reply lies in */
	RR_INBOUND_STATES
};

/* What happens to an inbound; respond.c has the table of states and events. */
enum rr_inbound_event {
	RR_INBOUND_SENT,   /* the Send completed */
	RR_INBOUND_PULLED, /* the Read chunk is not needed any more */
	RR_INBOUND_LOST,   /* the connection closed */
	RR_INBOUND_EVENTS
};

/*
 * A call from its arrival to the completion of the Send of its reply, or until a reply in a Read chunk was
 * pulled. It is in its connection's list until that is closed; one that was delivered or is being answered
 * lives on after that.
 */
struct rr_inbound {
	struct rr_exchange base;
	struct rpcrdma_engine *engine;
	struct rr_room *room;
	struct rr_fabric *fabric;         /* of the receive */
	struct rr_connection *connection; /* NULL once that closed */
	struct rr_list link;              /* in the connection's list, or among those kept for reuse */
	enum rr_inbound_state state;
	bool unanswered;  /* counted in the connection */
	uint8_t *receive; /* the call's, until the end: the call's stream lies there */
	struct rr_rdma_header header;
	struct rr_chunk_lists lists; /* arrays behind this structure */

	/* Pulling. */
	struct rr_read_chunks chunks;
	struct rr_pool_waiter waiter;
	uint8_t *memory; /* of the pool: the Read chunks */
	struct rr_fetch fetch;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];

	/* Answering. */
	struct rr_job job;
	struct rpcrdma_message reply;
	struct rr_reply_plan plan;
	struct rr_piece item;         /* that is being written */
	struct rr_transfer transfer;  /* the RDMA Writes under way */
	uint32_t next_transfer;       /* items in order, then the stream */
	struct rr_provided *provided; /* where the reply goes in a Read chunk of ours: provided.h */
	uint32_t err;                 /* where form is RR_REPLY_ERROR */
	uint32_t option;              /* octets in buffer, where form is RR_REPLY_OPTION */
	struct rr_segment invalidate; /* of the call's: invalidated by the reply; length 0: no segment is */
	/* The reply to a call where the owner of this side takes no calls. */
	uint8_t refusal[RR_RPC_REPLY_FIXED + RR_AUTH_FIXED];
	void (*sent)(void *arg);
	void *arg;
	struct rr_task task; /* calls sent() where no completion will */
	uint8_t *buffer;     /* the header of the reply */
};

/* Not logged: each call passes through all of them. */
static inline void
rr_inbound_set_state(struct rr_inbound *inbound, enum rr_inbound_state state)
{
	inbound->state = state;
}

void rr_inbound_event(struct rr_inbound *inbound, enum rr_inbound_event event);

static inline struct rr_inbound *
rr_inbound_of(struct rr_exchange *exchange)
{
	return rr_container(exchange, struct rr_inbound, base);
}

/* A new one, which takes the receive, the header and the lists of the arrival; NULL: no memory. arrival may
 * be NULL: the inbound is for a message of this side that answers nothing. */
struct rr_inbound *rr_inbound_take(struct rr_connection *connection, const struct rr_arrival *arrival);

/* The peer may send another call in its place. */
void rr_inbound_answered(struct rr_inbound *inbound);

/* Everything that it holds goes back, and so does itself. */
void rr_inbound_free(struct rr_inbound *inbound);

/* No answer is due: the Receive that the message used up is posted again. */
void rr_inbound_done(struct rr_inbound *inbound);

/* Sends an RDMA_OPTIONAL, as an answer to what arrived, or as a request of this side. -RPCRDMA_ERR_LIMIT: it
 * is too long for the peer. */
int rr_inbound_say(struct rr_inbound *inbound, const struct rr_optional *optional);

/* Its reply was sent, or never will be: tells the owner, and frees it. */
void rr_inbound_finish(struct rr_inbound *inbound);

/* Answers a message by an error. */
void rr_inbound_refuse(struct rr_inbound *inbound, enum rr_rdma_err err);

/* Answers a message whose header is wrong, so that its credit value counts for nothing. */
void rr_inbound_refuse_header(struct rr_inbound *inbound, enum rr_rdma_err err);

/* rr_inbound_take(); without memory, the connection is aborted: NULL. */
struct rr_inbound *rr_responder_take(struct rr_connection *connection, const struct rr_arrival *arrival);

#endif
