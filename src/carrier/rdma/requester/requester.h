/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_REQUESTER_H
#define RR_CARRIER_RDMA_REQUESTER_REQUESTER_H

#include "carrier/rdma/arrival.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/plan.h"

/* The requester inside: the declarations that requester.c, outbound.c, marshal.c, reply.c and pull.c share.
 */

enum {
	RR_OUTBOUND_OFFERS = RPCRDMA_SINKS_MAX + 1, /* Write chunks or a Reply chunk */
	RR_OUTBOUND_READS = 1 + 3 * RR_CALL_ITEMS,  /* pieces of a long call */
	RR_OUTBOUND_REGIONS = RR_OUTBOUND_OFFERS + RR_OUTBOUND_READS,
};

/* The states of an outbound's call. A call that was cancelled goes on through the states, without its
 * transaction. */
enum rr_outbound_state {
	RR_OUTBOUND_FREE,
	RR_OUTBOUND_QUEUED,  /* the Send is not posted */
	RR_OUTBOUND_POSTED,  /* the Send is under way */
	RR_OUTBOUND_SENT,    /* the Send completed; the answer is awaited */
	RR_OUTBOUND_HELD,    /* the Send is under way; the answer is in outbound->held */
	RR_OUTBOUND_DUE,     /* the Send is under way; the reply is to be pulled after it */
	RR_OUTBOUND_PULLING, /* the reply is being pulled */
	RR_OUTBOUND_STATES
};

/* The events of an outbound; reply.c has the table of states and events. */
enum rr_outbound_event {
	RR_OUTBOUND_COMPLETED, /* the Send completed */
	RR_OUTBOUND_ANSWERED,  /* a message with the XID of the call came */
	RR_OUTBOUND_TO_PULL, /* such a message came, and its reply lies in a Read chunk that the peer provides
			      */
	RR_OUTBOUND_EVENTS
};

/* An outbound holds one call under way, from the taking of a credit to the message that answers the call and
 * the completion of its Send, whichever is later. The transaction leaves the outbound earlier if it is
 * cancelled. */
struct rr_outbound {
	struct rr_connection *connection;
	struct rr_list link;       /* in the list `free`, `outstanding` or `cancelled` of the requester */
	struct rr_map_link by_xid; /* while the outbound is not free */
	struct rr_transaction *transaction; /* NULL once the call was cancelled */
	uint32_t version;                   /* of the call's header */
	struct rr_chain chain;              /* the Send */
	enum rr_outbound_state state;
	bool revoked;         /* the peer has no access any more, but the handles are still valid */
	struct rr_pull *pull; /* the reading of the reply, if that lies in a Read chunk of the peer */
	/* The answer, if the state is HELD; else its receive is NULL. */
	struct rr_arrival held;
	struct rr_chunk held_writes[RPCRDMA_SINKS_MAX];
	struct rr_segment held_segments[RR_OUTBOUND_OFFERS]; /* both: arrays for held.lists */

	/* The memory that the peer may access: Write chunks, then the Reply chunk, then the memory that the
	 * peer reads. */
	struct rr_region regions[RR_OUTBOUND_REGIONS];
	struct rr_segment segments[RR_OUTBOUND_REGIONS]; /* the same as offered, also after invalidation */
	uint32_t region_count, write_count;              /* of all regions; of the Write chunks among them */
	bool has_reply;                                  /* a Reply chunk was offered */
	void *reply_memory;                              /* of the pool: the Reply chunk, or sinks */
	void *pulled_memory;                             /* of the pool: a reply that is pulled */
	uint32_t provided;                               /* bit i: sink i lies in reply_memory */
	uint32_t read_octets; /* octets of the call that the peer is to fetch by RDMA Read */

	uint8_t *buffer; /* header and stream of the call */
	uint32_t buffer_used;
	struct rr_sge sges[RR_MAX_SGE];
	uint32_t sge_count; /* sges that the Send of the call gathers */
};

/* Sets the state of the outbound. The change is not logged, as each call passes through four states. */
static inline void
rr_outbound_set_state(struct rr_outbound *outbound, enum rr_outbound_state state)
{
	outbound->state = state;
}

static inline const struct rr_segment *
rr_outbound_reply_segment(const struct rr_outbound *outbound)
{
	return &outbound->segments[outbound->write_count];
}

/* Tells whether the chunks of a reply are those that its call offered. The reply may also have no Write list
 * or no Reply chunk, although the call offered them. */
bool rr_outbound_returns_chunks(const struct rr_outbound *outbound, const struct rr_chunk_lists *lists);

/* Hands the reply to the transaction: the first `octets` octets of pulled_memory, into which the reply was
 * read. Does nothing if the call was cancelled. Returns 0 or an error. */
int rr_outbound_take_pulled(struct rr_outbound *outbound, const struct rr_arrival *arrival, uint32_t octets);

/* Passes on the credits that the answer grants and the version that it shows, whatever the outcome of the
 * call. Then ends the outbound's call with error; or, if the peer refused the version of the call and there
 * is another one, has the call sent again. */
void rr_outbound_conclude(struct rr_outbound *outbound, int error, const struct rr_arrival *arrival);

/* Ends the peer's access to all memory that the outbound offered, and makes the handles of that memory
 * invalid. */
void rr_outbound_invalidate(struct rr_outbound *outbound);

/* Ends the peer's access to the memory that the outbound offered, but keeps the handles: a responder that
 * does not know that the call was cancelled may still invalidate a handle with its reply. */
void rr_outbound_revoke(struct rr_outbound *outbound);

/* Makes the outbound free: ends the peer's access to its memory, frees an answer that was held, and gives the
 * XID and the credit back. The caller has taken the transaction and the pool memory out of the outbound. */
void rr_outbound_release(struct rr_outbound *outbound);

/* Gives the transaction an outbound, registers its memory, and sends the call as plan says. The caller has
 * taken a credit, so that an outbound is free. reply_memory, which may be NULL, is memory of the pool for the
 * reply; bit i of provided tells that sink i lies in it. Returns 0: the outbound then owns reply_memory. Or
 * returns an error: the transaction then has no outbound, the credit is given back, and reply_memory stays
 * the caller's. */
int rr_outbound_send(struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void *reply_memory, uint32_t provided);

/* Makes the outbound free after ERR_VERS, and puts its call in front of the calls that wait, so that it is
 * sent again in the version that the connection has now. A cancelled call is not sent again. Frees receive,
 * the Receive buffer of the error. */
void rr_outbound_retry(struct rr_outbound *outbound, uint8_t *receive);

/* Ends the transaction with error, if it was not cancelled, as the call was answered. Frees the outbound and
 * receive, the Receive buffer of the answer. */
void rr_outbound_finish(struct rr_outbound *outbound, int error, uint8_t *receive);

/* Is called when a work request of the outbound's chain completed. If it is the Send of the call, an answer
 * that came before is taken now. */
typedef void rr_outbound_completed_function(struct rr_chain *chain, enum rr_work_kind kind, int status);
rr_outbound_completed_function rr_outbound_completed;

/* Makes as many outbounds as calls may be under way. completed is called with each completion of their Sends.
 * Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_outbounds_make(struct rr_connection *connection, rr_outbound_completed_function *completed);

/* Frees all outbounds of the list, as the connection is over. Their transactions fail, or, if forget is true,
 * end without done(). */
void rr_outbounds_end(struct rr_connection *connection, struct rr_list *outbounds, bool forget);

/* Queues a transaction that has failed; the connection's task calls its done() with error. */
void rr_requester_fail(struct rr_connection *connection, struct rr_transaction *transaction, int error);

#endif
