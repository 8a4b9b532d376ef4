/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_RESPONDER_RESPONDER_H
#define RR_CARRIER_RDMA_RESPONDER_RESPONDER_H

#include "carrier/rdma/arrival.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/fetch.h"
#include "carrier/rdma/core/plan.h"
#include "carrier/rdma/core/transfer.h"
#include "wire/rpc.h"

/* The responder inside: the declarations that inbound.c, responder.c and respond.c share. */

/* The states of an inbound. */
enum rr_inbound_state {
	RR_INBOUND_ARRIVING,  /* its Read chunks wait for memory, or are being pulled */
	RR_INBOUND_DELIVERED, /* the owner of the connection has the call */
	RR_INBOUND_REPLYING,  /* the Send of the answer is not posted */
	RR_INBOUND_POSTED,    /* the Send of the answer is under way */
	/* The Send completed. It names the Read chunk with the reply, which the peer is still to read. */
	RR_INBOUND_NAMED,
	RR_INBOUND_STATES
};

/* The events of an inbound; respond.c has the table of states and events. */
enum rr_inbound_event {
	RR_INBOUND_SENT,   /* the Send completed */
	RR_INBOUND_PULLED, /* the Read chunk with the reply is not needed any more */
	RR_INBOUND_LOST,   /* the connection closed */
	RR_INBOUND_EVENTS
};

/* An inbound is a call of the peer, from its arrival to the completion of the Send of its reply, or until a
 * reply in a Read chunk was pulled. It is in its connection's list until the connection is closed. An inbound
 * that was delivered or is being answered lives on after that. Messages of features are inbounds, too: those
 * that arrive, and those that this side sends by itself. */
struct rr_inbound {
	struct rr_exchange base;
	struct rpcrdma_engine *engine;
	struct rr_room *room;
	struct rr_fabric *fabric;         /* of the receive */
	struct rr_connection *connection; /* NULL once the connection closed */
	struct rr_list link;              /* in the connection's list, or among the inbounds kept for reuse */
	enum rr_inbound_state state;
	bool unanswered;  /* it counts in the connection's unanswered calls */
	uint8_t *receive; /* of the call, whose stream lies there; kept until the end */
	struct rr_rdma_header header;
	struct rr_chunk_lists lists; /* their arrays are behind this structure */

	/* What follows is for pulling the Read chunks of the call. */
	struct rr_read_chunks chunks;
	struct rr_pool_waiter waiter; /* the wait for pool memory */
	uint8_t *memory;              /* memory of the pool for the Read chunks */
	struct rr_fetch fetch;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS]; /* of the call; later of the reply */

	/* What follows is for the answer. */
	struct rr_chain chain;
	struct rpcrdma_message reply;
	struct rr_reply_plan plan;
	struct rr_piece item;        /* the item that is being written; transfer points to it */
	struct rr_transfer transfer; /* the RDMA Writes under way */
	uint32_t next_transfer;      /* index of the next item to be written; after the items, the stream */
	/* If the reply lies in a Read chunk that this side provides: provided.h. */
	struct rr_provided *provided;
	uint32_t err;    /* if form is RR_REPLY_ERROR */
	uint32_t option; /* octets in buffer, if form is RR_REPLY_OPTION */
	/* The segment of the call that the reply invalidates; length 0: there is no such segment. */
	struct rr_segment invalidate;
	/* The reply to a call if the owner of this side takes no calls. */
	uint8_t refusal[RR_RPC_REPLY_FIXED + RR_AUTH_FIXED];
	/* The owner gave these with its reply: rr_exchange_reply(). */
	void (*sent)(void *arg);
	void *arg;
	struct rr_task task; /* calls sent() if no completion will */
	uint8_t *buffer;     /* the header of the reply */
};

/* Sets the state of the inbound call. The change is not logged, as each call passes through all states. */
static inline void
rr_inbound_set_state(struct rr_inbound *inbound, enum rr_inbound_state state)
{
	inbound->state = state;
}

/* Calls the function that the table in respond.c has for the event in the state of the inbound call. */
void rr_inbound_event(struct rr_inbound *inbound, enum rr_inbound_event event);

static inline struct rr_inbound *
rr_inbound_of(struct rr_exchange *exchange)
{
	return rr_container(exchange, struct rr_inbound, base);
}

/* Returns the structure of an inbound call, which owns the Receive buffer, the header and the lists of the
 * arrival. Returns NULL if there is no memory. arrival is NULL if no message arrived: the structure is then
 * used to send a request of this side. */
struct rr_inbound *rr_inbound_take(struct rr_connection *connection, const struct rr_arrival *arrival);

/* Is called when the inbound call is answered: it no longer counts as unanswered, as the peer may send
 * another call in its place. */
void rr_inbound_answered(struct rr_inbound *inbound);

/* Frees the inbound call with all that it holds: the Receive buffer of the call and the pool memory of its
 * Read chunks. Does not post the Receive again. The structure may be kept for reuse. */
void rr_inbound_free(struct rr_inbound *inbound);

/* Ends an inbound message that needs no answer: frees it and posts the Receive again that the message used
 * up. */
void rr_inbound_done(struct rr_inbound *inbound);

/* Sends an RDMA_OPTIONAL, as an answer to the message that arrived, or as a request of this side. Returns 0:
 * the inbound is then freed when the Send has completed. Returns -RPCRDMA_ERR_LIMIT if the message is too
 * long for the peer: nothing is sent, and the inbound stays the caller's. */
int rr_inbound_say(struct rr_inbound *inbound, const struct rr_optional *optional);

/* Calls the sent() that the owner gave, as the reply was sent or never will be, and frees the inbound call.
 * The inbound leaves the connection's list first, as sent() may close the connection. */
void rr_inbound_finish(struct rr_inbound *inbound);

/* Answers the inbound message by an RDMA_ERROR with err. */
void rr_inbound_refuse(struct rr_inbound *inbound, enum rr_rdma_err err);

/* Answers a message whose header is wrong by an RDMA_ERROR with err. The credit value of such a header is
 * ignored. */
void rr_inbound_refuse_header(struct rr_inbound *inbound, enum rr_rdma_err err);

/* Does what rr_inbound_take() does. If there is no memory, aborts the connection and returns NULL. */
struct rr_inbound *rr_responder_take(struct rr_connection *connection, const struct rr_arrival *arrival);

#endif
