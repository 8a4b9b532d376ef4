/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_REQUESTER_REQUESTER_H
#define RR_CARRIER_RDMA_REQUESTER_REQUESTER_H

#include "carrier/rdma/arrival.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/plan.h"

/* The requester inside: what requester.c, slot.c, marshal.c, reply.c and pull.c share. */

enum {
	RR_SLOT_OFFERS = RPCRDMA_SINKS_MAX + 1, /* Write chunks or a Reply chunk */
	RR_SLOT_READS = 1 + 3 * RR_CALL_ITEMS,  /* pieces of a long call */
	RR_SLOT_REGIONS = RR_SLOT_OFFERS + RR_SLOT_READS,
};

/* Where the call of a slot stands. A call that was cancelled goes on through them, without its transaction.
 */
enum rr_slot_state {
	RR_SLOT_FREE,
	RR_SLOT_QUEUED,  /* the Send is not posted */
	RR_SLOT_POSTED,  /* the Send is under way */
	RR_SLOT_SENT,    /* the Send completed; the answer is awaited */
	RR_SLOT_HELD,    /* the Send is under way; the answer is in slot->held */
	RR_SLOT_DUE,     /* the Send is under way; the reply is to be pulled after it */
	RR_SLOT_PULLING, /* the reply is being pulled */
	RR_SLOT_STATES
};

/* What happens to a slot; reply.c has the table of states and events. */
enum rr_slot_event {
	RR_SLOT_COMPLETED, /* the Send completed */
	RR_SLOT_ANSWERED,  /* a message with the XID of the call */
	RR_SLOT_TO_PULL,   /* the same, and its reply lies in a Read chunk of the peer's */
	RR_SLOT_EVENTS
};

/*
 * A call under way: from the taking of a credit to the message that answers it and the completion of its
 * Send, whichever is later. The transaction leaves earlier if it is cancelled.
 */
struct rr_slot {
	struct rr_connection *connection;
	struct rr_list link;                /* free, outstanding or cancelled */
	struct rr_map_link by_xid;          /* while not free */
	struct rr_transaction *transaction; /* NULL once it was cancelled */
	uint32_t version;                   /* that the call went in */
	struct rr_job job;                  /* the Send */
	enum rr_slot_state state;
	bool revoked;         /* the peer's access was ended, the regions are still there */
	struct rr_pull *pull; /* of the reply, where that lies in a Read chunk of the peer's */
	/* The answer, where the state is HELD; receive is NULL otherwise. */
	struct rr_arrival held;
	struct rr_chunk held_writes[RPCRDMA_SINKS_MAX];
	struct rr_segment held_segments[RR_SLOT_OFFERS];

	/* What the peer may access: Write chunks, then the Reply chunk, then what it reads. */
	struct rr_region regions[RR_SLOT_REGIONS];
	struct rr_segment segments[RR_SLOT_REGIONS]; /* the same as offered, also after invalidation */
	uint32_t region_count, write_count;
	bool has_reply;
	void *reply_memory;  /* of the pool: the Reply chunk, or sinks */
	void *pulled_memory; /* of the pool: a reply that is pulled */
	uint32_t provided;   /* bit i: sink i lies there */
	uint32_t read_octets;

	uint8_t *buffer; /* header and stream of the call */
	uint32_t buffer_used;
	struct rr_sge sges[RR_MAX_SGE];
	uint32_t sge_count;
};

/* Not logged: each call passes through four states. */
static inline void
rr_slot_set_state(struct rr_slot *slot, enum rr_slot_state state)
{
	slot->state = state;
}

static inline const struct rr_segment *
rr_slot_reply_segment(const struct rr_slot *slot)
{
	return &slot->segments[slot->write_count];
}

/* Whether the chunks of a reply are those of its call. */
bool rr_slot_returns_chunks(const struct rr_slot *slot, const struct rr_chunk_lists *lists);

/* The reply was pulled into pulled_memory: takes it to the transaction, if it is still there. */
int rr_slot_take_pulled(struct rr_slot *slot, const struct rr_arrival *arrival, uint32_t octets);

/* Takes what the answer says of the connection, whatever became of the call; finishes the slot, or has the
 * call go again. */
void rr_slot_conclude(struct rr_slot *slot, int error, const struct rr_arrival *arrival);

/* Ends the peer's access to all that the slot offered. */
void rr_slot_invalidate(struct rr_slot *slot);

/* Ends the access, but not the handles: a responder that does not know that the call was cancelled may still
 * invalidate one of them with its reply. */
void rr_slot_revoke(struct rr_slot *slot);

/* Gives back all that a free slot must not hold: regions, an answer that was held, the XID, the credit. */
void rr_slot_release(struct rr_slot *slot);

/* Gives the transaction a slot, registers, and sends. An error leaves it without one. */
int rr_slot_send(struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void *reply_memory, uint32_t provided);

/* ERR_VERS: the call goes again, in the version that the connection has now. receive: of the error. */
void rr_slot_retry(struct rr_slot *slot, uint8_t *receive);

/* The call was answered: ends the transaction, if it is still there, and frees the slot and the receive of
 * the answer. */
void rr_slot_finish(struct rr_slot *slot, int error, uint8_t *receive);

/* A work request of the slot's job completed. If it is the Send of the call, an answer that came before that
 * is taken now. */
typedef void rr_slot_completed_function(struct rr_job *job, enum rr_work_kind kind, int status);
rr_slot_completed_function rr_slot_completed;

/* As many as calls may be under way: -RPCRDMA_ERR_NOMEM. */
int rr_slots_make(struct rr_connection *connection, rr_slot_completed_function *completed);

/* The connection is over: frees all in the list, and their transactions fail, or are forgotten. */
void rr_slots_end(struct rr_connection *connection, struct rr_list *slots, bool forget);

/* Its done() is due, with that error. */
void rr_requester_fail(struct rr_connection *connection, struct rr_transaction *transaction, int error);

#endif
