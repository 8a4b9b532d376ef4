/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_ENGINE_H
#define RR_FABRIC_IWARP_ENGINE_H

#include <sys/uio.h>

#include "fabric/receives.h"
#include "fabric/regions.h"
#include "fabric/works.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

/*
 * One iWARP connection without its socket: octets in, octets out, no clock.
 *
 *   setup.c      the exchange of MPA frames
 *   rx.c         FPDUs in: where the next octets go, and what they were
 *   message.c    what an FPDU is for: placement before its payload, delivery after
 *   tx.c         FPDUs out: work requests and Read Responses into a gather list
 *   batch.c      the gather list: FPDUs that TCP has not taken yet
 *   end.c        faults, Terminate, the end
 *
 * Who owns what: payload that leaves is referred to until TCP has taken it,
 * payload that comes is put in place by whoever fills the vectors of
 * rr_iwarp_space(). Handlers are called from rr_iwarp_received(),
 * rr_iwarp_taken(), rr_iwarp_resume() and rr_iwarp_flush() only, and may
 * release the engine: after each event its state is looked at again. The
 * memory of the engine itself must outlive the call.
 */

enum {
	RR_IWARP_FLUSH_EACH = 16, /* Sends that are handed on before what they brought about leaves */
	RR_IWARP_SCRATCH = 32768, /* octets that one read takes in, besides payload put in place */
	RR_IWARP_BATCH_VECTORS = 256,
	RR_IWARP_BATCH_META = 16384,    /* headers, trailers, and Sends that were copied */
	RR_IWARP_COPY_MAX = 512,        /* octets of a Send that is copied: to refer to them costs more */
	RR_IWARP_BATCH_MAX = 4 << 20,   /* octets in a batch, about */
	RR_IWARP_BATCH_CRC = 256 << 10, /* the same where each octet is to be looked at */
	RR_IWARP_ULPDU_MAX = 64768 - 2, /* RFC 5044, 4.3, less what would need a pad */
	RR_IWARP_HEAD_MAX = RR_FPDU_LENGTH_SIZE + RR_DDP_UNTAGGED_SIZE + RR_TERMINATE_MAX,
	RR_IWARP_TAIL_MAX = 3 + RR_FPDU_CRC_SIZE,
	RR_IWARP_MARKED_MAX = 8192, /* octets of a ULPDU with markers in it: each parts what it is in */
	RR_IWARP_FPDU_MAX = RR_IWARP_HEAD_MAX + RR_IWARP_TAIL_MAX, /* of those without payload */
	/* What Linux and others take at most is 256 octets with IRD and ORD, although RFC 5044 says 512. */
	RR_IWARP_PRIVATE_MAX = 256 - RR_MPA_DEPTHS_SIZE,
};

/* What the engines of one fabric share; the first three are set before rr_iwarp_shared_init(). */
struct rr_iwarp_shared {
	const struct rr_env *env;
	struct rr_peer_log *log; /* NULL: no log */
	const struct rr_fabric_config *config;
	struct rr_receives receives;
	struct rr_cache works;
	struct rr_list batches; /* free ones, */
	uint32_t batches_kept;  /* of them so many */
	uint8_t *scratch;
};

struct rr_iwarp_batch {
	struct rr_list link;
	uint32_t first, count, meta;
	bool open; /* TCP was not offered it yet: more can be put into it */
	size_t octets;
	/* An FPDU is put into it while it has no more than these. */
	uint32_t count_most, meta_most;
	size_t octets_most;
	struct iovec vectors[RR_IWARP_BATCH_VECTORS];
	uint8_t metas[RR_IWARP_BATCH_META];
};

/* An RDMA Read of the peer. */
struct rr_iwarp_response {
	struct rr_read_request request;
	uint8_t *from;
	uint64_t end; /* where in our stream it ends; 0: not known yet */
};

enum rr_iwarp_state {
	RR_IWARP_IDLE,    /* nothing was exchanged */
	RR_IWARP_REPLY,   /* initiator: the request is on its way, the reply awaited */
	RR_IWARP_REQUEST, /* responder: the request is awaited */
	RR_IWARP_ASKED,   /* responder: it has come, accepting or rejecting is up to the owner */
	RR_IWARP_OPEN,
	RR_IWARP_CLOSING, /* nothing is taken in any more; what is in the batch leaves, then a Terminate if
			     there is one */
	RR_IWARP_OVER,    /* nothing moves any more; rr_iwarp_flush() is due */
	RR_IWARP_RELEASED,
	RR_IWARP_STATES
};

struct rr_iwarp_setup {
	struct rr_mpa_frame request; /* refers to in */
	size_t have, need;
	uint8_t in[RR_MPA_FRAME_MAX];
};

enum rr_iwarp_phase { RR_IWARP_HEAD, RR_IWARP_PAYLOAD, RR_IWARP_TAIL };

struct rr_iwarp_rx {
	enum rr_iwarp_phase phase;
	bool blocked; /* the pool of receives is empty */
	bool markers; /* they are in what comes */
	uint8_t marker[RR_MPA_MARKER_SIZE];
	uint64_t position; /* with markers: octets of the stream that have come */
	uint64_t since;    /* with markers: of them, since the FPDU began */
	uint16_t ulpdu;    /* length of the FPDU's ULPDU */
	uint32_t have;     /* octets of head or tail */
	uint32_t need;
	uint32_t left;    /* octets of payload to come, */
	uint32_t payload; /* of this many */
	uint8_t *to;      /* where the next of them goes; NULL: nowhere */
	bool checked;     /* the FPDU's CRC is good, or there is none */
	bool doubted;     /* its head is wrong, unless it was damaged: the CRC will tell */
	uint16_t cause;   /* of the Terminate, if it was not damaged */
	uint32_t crc;
	struct rr_ddp_header ddp;
	uint8_t *receive; /* the Send that is arriving */
	uint32_t message; /* octets of it that have arrived, and will have at the end of the FPDU */
	uint32_t send_msn, read_msn; /* expected next */
	uint64_t count;              /* FPDUs that have come */
	uint8_t *stash;              /* what came behind the point at which it blocked */
	uint32_t stash_at, stash_size;
	uint8_t head[RR_IWARP_HEAD_MAX];
	uint8_t tail[RR_IWARP_TAIL_MAX];
};

enum rr_iwarp_message { RR_IWARP_NO_MESSAGE, RR_IWARP_WORK, RR_IWARP_RESPONSE };

struct rr_iwarp_tx {
	struct rr_list queue; /* work requests; the first may be on its way */
	struct rr_list sent;  /* Sends and Writes that are wholly in the batch or beyond */
	struct rr_list reads; /* RDMA Reads whose data is awaited, the oldest first */
	uint32_t read_count, ord;
	struct rr_iwarp_response *responses;                         /* a ring of ird */
	uint32_t response_first, response_count, response_next, ird; /* next: to leave, counted from first */
	enum rr_iwarp_message
		message; /* on its way: of the first of queue, or of the response that is next */
	bool work_last;  /* the last message was a work request's: responses have their turn */
	bool kick;
	bool corrupt; /* the next FPDU is to be damaged */
	bool markers; /* they are to be in what leaves */
	uint32_t at;  /* octets of the message that are in the batch or beyond */
	uint32_t sge, sge_at;
	uint32_t send_msn, read_msn, sink;
	uint32_t ulpdu_max;
	uint64_t gathered, taken; /* octets of the stream that went into batches, and that TCP took */
	struct rr_iwarp_batch *batch;
};

struct rr_iwarp {
	struct rr_endpoint base;
	struct rr_iwarp_shared *shared;
	/* Set by the owner, or NULL: has what was posted leave, after each RR_IWARP_FLUSH_EACH Sends of a
	 * batch that is being worked through, so that the peer need not wait for all of them. Events may
	 * follow. */
	void (*flush)(struct rr_iwarp *engine);
	enum rr_iwarp_state state;
	bool crc;
	bool old;      /* initiator: asks with revision 1 */
	bool again;    /* it is over, but may be tried again so */
	bool may_send; /* RFC 5044, 7.1.2: a responder, after the first FPDU of the initiator */
	bool revoked;  /* it ends as the peer used what this side had revoked */
	bool draining; /* closes when nothing is outstanding */
	uint32_t allowed;
	struct rr_receive_wait wait;
	struct rr_regions regions;
	struct rr_iwarp_setup *setup;            /* until the connection is open */
	uint8_t frame[RR_MPA_HEADER_SIZE + 256]; /* our MPA frame, then our Terminate */
	uint32_t frame_at, frame_size;
	struct iovec frame_vector;
	struct rr_iwarp_rx rx;
	struct rr_iwarp_tx tx;
	int status;      /* from CLOSING on: why */
	uint8_t *reason; /* of a rejection: private data, in setup */
	uint32_t reason_size;
	struct rr_text text;
};

/* -RPCRDMA_ERR_NOMEM. */
int rr_iwarp_shared_init(struct rr_iwarp_shared *shared);
void rr_iwarp_shared_destroy(struct rr_iwarp_shared *shared);

/* engine is zeroed memory but for base, which is set up. */
void rr_iwarp_init(struct rr_iwarp *engine, struct rr_iwarp_shared *shared);

/* Changes the state, which is traced. */
void rr_iwarp_set_state(struct rr_iwarp *engine, enum rr_iwarp_state state);

/* Gives everything back; no event comes any more. Work requests are forgotten. */
void rr_iwarp_release(struct rr_iwarp *engine);

/* ---- Setup ---- */

/* The initiator's side begins. -RPCRDMA_ERR_NOMEM. */
int rr_iwarp_initiate(struct rr_iwarp *engine, const void *private_data, size_t size);

/* The same once more on a new stream, after a peer that did not answer at all (again is set): with
 * revision 1. */
int rr_iwarp_initiate_again(struct rr_iwarp *engine);

/* The responder's side begins. -RPCRDMA_ERR_NOMEM. */
int rr_iwarp_respond(struct rr_iwarp *engine);

/* In state ASKED: the reply leaves, and the connection is open. -RPCRDMA_ERR_NOMEM. */
int rr_iwarp_accept(struct rr_iwarp *engine, const void *private_data, size_t size);

/* In state ASKED: the reply is left for rr_iwarp_output(), and the connection is over. */
void rr_iwarp_reject(struct rr_iwarp *engine, const void *private_data, size_t size);

/* ---- Octets in ---- */

/* Where the next octets go, in up to two vectors; returns how many. 0: nothing is to be read now. */
int rr_iwarp_space(struct rr_iwarp *engine, struct iovec vectors[2]);

/* That many octets were put there. Events follow. */
void rr_iwarp_received(struct rr_iwarp *engine, size_t octets);

/* A receive may be there: goes on where it was blocked. Events follow. */
void rr_iwarp_resume(struct rr_iwarp *engine);

/* Whether the peer has begun an FPDU or a Send, and owes the rest of it. */
bool rr_iwarp_is_owed(const struct rr_iwarp *engine);

/* ---- Octets out ---- */

/* How large a TCP segment is now (EMSS). */
void rr_iwarp_set_emss(struct rr_iwarp *engine, uint32_t emss);

/* As rr_endpoint_post(). */
int rr_iwarp_post(struct rr_iwarp *engine, const struct rr_work *work);

/* Sends a zero-length RDMA Write. */
int rr_iwarp_kick(struct rr_iwarp *engine);

/* Damages the next FPDU in one place, below its CRC. */
int rr_iwarp_corrupt(struct rr_iwarp *engine);

/* What is to leave; returns the number of vectors, 0 where there is nothing. The same until rr_iwarp_taken().
 */
uint32_t rr_iwarp_output(struct rr_iwarp *engine, const struct iovec **vectors);

/* TCP took so many of these octets. Events follow. */
void rr_iwarp_taken(struct rr_iwarp *engine, size_t octets);

/* ---- Regions ---- */

/* Ends the peer's access to the region, and the connection where the peer is in the middle of one. */
void rr_iwarp_revoke(struct rr_iwarp *engine, uint32_t handle);

/* The same, and removes the region. */
void rr_iwarp_invalidate(struct rr_iwarp *engine, uint32_t handle);

/* ---- The end ---- */

/* Closes once all that is outstanding is done. */
void rr_iwarp_drain(struct rr_iwarp *engine);

/* The connection is over; nothing leaves any more, memory of the caller is not touched any more. */
void rr_iwarp_over(struct rr_iwarp *engine, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* TCP has come to the end of what the peer sends. */
void rr_iwarp_eof(struct rr_iwarp *engine);

/* In state OVER: completes what is outstanding as cancelled. Events follow, but not DISCONNECTED. */
void rr_iwarp_flush(struct rr_iwarp *engine);

#endif
