/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_PROTOCOL_H
#define RR_FABRIC_IWARP_PROTOCOL_H

#include <sys/uio.h>

#include "fabric/receives.h"
#include "fabric/regions.h"
#include "fabric/works.h"
#include "wire/ddp.h"
#include "wire/mpa.h"

/*
 * An iWARP connection without its socket and without a clock: octets come in and go out.
 *
 *   setup.c      the exchange of MPA frames
 *   rx.c         FPDUs in: finds the place of the next octets, and follows them
 *   message.c    the meaning of an FPDU: placement before its payload, delivery after
 *   tx.c         FPDUs out: work requests and Read Responses into a gather list
 *   batch.c      the gather list: FPDUs that TCP has not taken yet
 *   end.c        faults, Terminate, the end
 *
 * Ownership: payload that leaves is referred to until TCP has taken it; payload that comes is put in
 * place by the caller, who fills the vectors of rr_iwarp_space(). Handlers are called from
 * rr_iwarp_received(), rr_iwarp_taken(), rr_iwarp_resume() and rr_iwarp_flush() only, and may release the
 * iWARP connection: after each event its state is looked at again. The memory of the iWARP connection itself
 * must outlive the call.
 */

enum {
	/* Sends that are handed on before the requests that they brought about leave. */
	RR_IWARP_FLUSH_EACH = 16,
	RR_IWARP_SCRATCH = 32768,     /* octets that one read takes in, besides payload put in place */
	RR_IWARP_BATCH_VECTORS = 256, /* vectors of a batch */
	/* Octets of headers, trailers, and messages that were copied, in a batch: of most batches, and of
	 * those that are made while very many are in use. */
	RR_IWARP_BATCH_META = 73728,
	RR_IWARP_BATCH_META_LEAST = 16384,
	/* The most octets of a Send or RDMA Write that is copied, as referring to them would cost more. */
	RR_IWARP_COPY_MAX = 4096,
	RR_IWARP_BATCH_MAX = 4 << 20,   /* octets in a batch, about */
	RR_IWARP_BATCH_CRC = 256 << 10, /* likewise where a CRC goes over each octet */
	RR_IWARP_ULPDU_MAX = 64768 - 2, /* RFC 5044, 4.3, less the octets that would need a pad */
	RR_IWARP_HEAD_MAX = RR_FPDU_LENGTH_SIZE + RR_DDP_UNTAGGED_SIZE + RR_TERMINATE_MAX,
	RR_IWARP_TAIL_MAX = 3 + RR_FPDU_CRC_SIZE, /* pad and CRC */
	RR_IWARP_MARKED_MAX = 8192, /* octets of a ULPDU with markers, each of which parts a vector */
	RR_IWARP_FPDU_MAX = RR_IWARP_HEAD_MAX + RR_IWARP_TAIL_MAX, /* an FPDU without payload */
	/* The most private data of this side: Linux and others take 256 octets with IRD and ORD, although RFC
	 * 5044 says 512. */
	RR_IWARP_PRIVATE_MAX = 256 - RR_MPA_DEPTHS_SIZE,
};

/* Shared by the engines of a fabric; the first three members are set before rr_iwarp_shared_init(). */
struct rr_iwarp_shared {
	const struct rr_env *env;
	struct rr_peer_log *log; /* NULL: no log */
	const struct rr_fabric_config *config;
	struct rr_receives receives;
	struct rr_cache works;
	struct rr_list batches; /* free batches */
	uint32_t batches_kept;  /* the number of free batches */
	uint32_t batches_used;  /* the number of batches that engines have */
	uint8_t *scratch; /* RR_IWARP_SCRATCH octets, in use only while an iWARP connection handles what it
			     has read */
};

/* A batch: FPDUs that TCP is to take next, as a list of vectors. */
struct rr_iwarp_batch {
	struct rr_list link;
	/* The first vector that TCP has not taken in full; the number of vectors; octets of metas in use. */
	uint32_t first, count, meta;
	bool open;     /* TCP was not offered the batch yet: more can be put into it */
	size_t octets; /* octets that TCP has not taken */
	/* An FPDU is put into the batch while count, meta and octets do not exceed these bounds. */
	uint32_t count_most, meta_most;
	size_t octets_most;
	uint32_t meta_size; /* octets of metas */
	struct iovec vectors[RR_IWARP_BATCH_VECTORS];
	uint8_t metas[];
};

/* An RDMA Read of the peer, which this side answers by a Read Response. */
struct rr_iwarp_response {
	struct rr_read_request request;
	uint8_t *from; /* its data, in a region of this side; set when the response begins to leave */
	uint64_t end;  /* the octet of this side's stream at which it ends; 0: not known yet */
};

/* The states of the connection. */
enum rr_iwarp_state {
	RR_IWARP_IDLE,    /* nothing was exchanged */
	RR_IWARP_REPLY,   /* initiator: the request leaves, the reply is awaited */
	RR_IWARP_REQUEST, /* responder: the request is awaited */
	RR_IWARP_ASKED,   /* responder: the request has come; the owner accepts or rejects */
	RR_IWARP_OPEN,
	/* Octets that come are dropped; those of the batch leave, then a Terminate if there is one. */
	RR_IWARP_CLOSING,
	RR_IWARP_OVER, /* nothing moves any more; rr_iwarp_flush() is due */
	RR_IWARP_RELEASED,
	RR_IWARP_STATES
};

/* The exchange of MPA frames: the octets of the peer's frame. */
struct rr_iwarp_setup {
	struct rr_mpa_frame request; /* the peer's MPA request; its private data lies in the member `in` */
	size_t have, need; /* octets of the frame that have come; as many as are known to belong to it */
	uint8_t in[RR_MPA_FRAME_MAX];
};

/* The part of an FPDU that comes next. */
enum rr_iwarp_phase { RR_IWARP_HEAD, RR_IWARP_PAYLOAD, RR_IWARP_TAIL };

/* The state of receiving. */
struct rr_iwarp_rx {
	enum rr_iwarp_phase phase;
	bool blocked; /* the pool of receives is empty: no octets are taken in */
	bool markers; /* the octets that come have markers */
	uint8_t marker[RR_MPA_MARKER_SIZE];
	uint64_t position; /* with markers: octets of the stream that have come */
	uint64_t since;    /* with markers: octets that have come since the FPDU began */
	uint16_t ulpdu;    /* length of the FPDU's ULPDU */
	uint32_t have;     /* octets of head or tail that have come */
	uint32_t need;     /* octets of head or tail that are expected */
	uint32_t left;     /* octets of the FPDU's payload still to come */
	uint32_t payload;  /* octets of the FPDU's payload */
	uint8_t *to;       /* the place of the next octet of payload; NULL: it is not kept */
	bool checked;      /* the FPDU's CRC is good, or CRCs are not in use */
	bool doubted;      /* the head is wrong; its CRC, still to come, will say whether it was damaged */
	uint16_t cause;    /* of the Terminate, if the head was not damaged */
	uint32_t crc;      /* of the octets of the FPDU so far */
	struct rr_ddp_header ddp;    /* of the FPDU */
	uint8_t *receive;            /* the buffer for the Send that is arriving; NULL: none is arriving */
	uint32_t message;            /* octets of that Send in front of this FPDU's payload */
	uint32_t send_msn, read_msn; /* numbers of the next messages */
	uint64_t count;              /* FPDUs that have come */
	/* Octets that had come behind the head of the FPDU that must wait for a receive; NULL: there are
	 * none. Those in front of stash_at were used. */
	uint8_t *stash;
	uint32_t stash_at, stash_size;
	const uint8_t *head;             /* the FPDU from its length on: where it was read, or in kept */
	uint8_t kept[RR_IWARP_HEAD_MAX]; /* a head that comes in pieces, or whose FPDU waits for a receive */
	uint8_t tail[RR_IWARP_TAIL_MAX];
};

/* The message that is on its way: none, a work request or a Read Response. */
enum rr_iwarp_message { RR_IWARP_NO_MESSAGE, RR_IWARP_WORK, RR_IWARP_RESPONSE };

/* The state of sending. */
struct rr_iwarp_tx {
	struct rr_list queue;     /* work requests; the first may be on its way */
	struct rr_list sent;      /* Sends and Writes whose octets are all in the batch, or have left */
	struct rr_list reads;     /* RDMA Reads whose data is awaited, the oldest first */
	uint32_t read_count, ord; /* RDMA Reads of this side under way; the most that the peer can take */
	/* The Read Responses of this side: a ring of ird places. response_first is the place of the oldest
	 * one. response_next is the number of the response that leaves next, counted from the oldest one. */
	struct rr_iwarp_response *responses;
	uint32_t response_first, response_count, response_next, ird;
	enum rr_iwarp_message message; /* on its way: the first of queue, or the response that is next */
	bool work_last;                /* the last message was a work request: a response is next */
	bool kick;                     /* a zero-length RDMA Write is to leave */
	bool corrupt;                  /* the next FPDU is to be damaged */
	bool markers;                  /* the octets that leave have markers */
	uint32_t at;                   /* octets of the message that are in the batch, or have left */
	uint32_t sge, sge_at;          /* the work request's sge with the next octet; its place in that sge */
	/* The MSN of the last Send, the MSN of the last Read Request, and the last sink STag. */
	uint32_t send_msn, read_msn, sink;
	uint32_t ulpdu_max;           /* the most octets of a ULPDU, by the segment size of TCP */
	uint64_t gathered, taken;     /* octets of the stream that went into batches, and that TCP took */
	struct rr_iwarp_batch *batch; /* NULL: no octets of FPDUs wait for TCP */
};

/* An iWARP connection. */
struct rr_iwarp {
	struct rr_endpoint base;
	struct rr_iwarp_shared *shared;
	/* Set by the owner, or NULL: sends the requests that were posted, after each RR_IWARP_FLUSH_EACH
	 * Sends of the peer that came at once, so that the peer need not wait for all of them. Events may
	 * follow. */
	void (*flush)(struct rr_iwarp *iwarp);
	enum rr_iwarp_state state;
	bool crc;         /* CRCs are in use */
	bool old;         /* initiator: asks with revision 1 */
	bool again;       /* the connection is over, and may be tried again with revision 1 */
	bool may_send;    /* this side may send FPDUs: a responder only after the first FPDU has come (RFC
			     5044, 7.1.2) */
	bool revoked;     /* the connection ends as the peer used a region that this side had revoked */
	bool draining;    /* the connection closes when no request is outstanding */
	uint32_t allowed; /* Sends that the peer may still send */
	struct rr_receive_wait wait;
	struct rr_regions regions;
	struct rr_iwarp_setup *setup;            /* until the connection is open */
	uint8_t frame[RR_MPA_HEADER_SIZE + 256]; /* this side's MPA frame, later its Terminate */
	uint32_t frame_at, frame_size;           /* octets of frame that TCP has taken, and all of them */
	struct iovec frame_vector;               /* the rest of frame, as rr_iwarp_output() returns it */
	struct rr_iwarp_rx rx;
	struct rr_iwarp_tx tx;
	int status;      /* from CLOSING on: the status of the end */
	uint8_t *reason; /* of a rejection: the peer's private data, in setup */
	uint32_t reason_size;
	struct rr_text text;
};

/* Initialises the memory that the engines of a fabric share; its members env, log and config must be set.
 * Returns -RPCRDMA_ERR_NOMEM if there is not enough memory. */
int rr_iwarp_shared_init(struct rr_iwarp_shared *shared);
/* Frees the memory that the engines of a fabric share. All engines must have been released before. */
void rr_iwarp_shared_destroy(struct rr_iwarp_shared *shared);

/* Initialises an iWARP connection without its socket. All its memory but base must be zero. */
void rr_iwarp_init(struct rr_iwarp *iwarp, struct rr_iwarp_shared *shared);

/* Changes the state of the connection, and writes a trace of that. */
void rr_iwarp_set_state(struct rr_iwarp *iwarp, enum rr_iwarp_state state);

/* Ends the connection if it has not ended, and frees all memory of the iWARP connection but its own
 * structure. The owner's handler is not called any more, not even for outstanding work requests. */
void rr_iwarp_release(struct rr_iwarp *iwarp);

/* ---- Setup ---- */

/* Begins the exchange of MPA frames as the initiator: prepares the MPA request with the private data, to be
 * sent next. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_iwarp_initiate(struct rr_iwarp *iwarp, const void *private_data, size_t size);

/* Begins the exchange of MPA frames once more, on a new TCP connection and with revision 1 of MPA. This is
 * for a peer that closed the first connection without an answer (iwarp->again is set). Returns
 * -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_iwarp_initiate_again(struct rr_iwarp *iwarp);

/* Begins the exchange of MPA frames as the responder, which waits for the MPA request. Returns
 * -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_iwarp_respond(struct rr_iwarp *iwarp);

/* Accepts the peer's MPA request, in state ASKED: prepares the MPA reply with the private data, to be sent
 * next, and opens the connection. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_iwarp_accept(struct rr_iwarp *iwarp, const void *private_data, size_t size);

/* Rejects the peer's MPA request, in state ASKED: prepares the MPA reply with the private data, to be sent
 * next. After that reply the connection closes, and its status is -RPCRDMA_ERR_CANCELLED. */
void rr_iwarp_reject(struct rr_iwarp *iwarp, const void *private_data, size_t size);

/* ---- Octets in ---- */

/* Sets up to two vectors to the memory into which the next octets are to be read, and returns the number of
 * vectors that it has set: 0 if nothing is to be read now. */
int rr_iwarp_space(struct rr_iwarp *iwarp, struct iovec vectors[2]);

/* Handles the octets that were read into the vectors of rr_iwarp_space(). This may call the owner's
 * handler. */
void rr_iwarp_received(struct rr_iwarp *iwarp, size_t octets);

/* Handles received octets that wait for a receive buffer, as a buffer may be free now. This may call the
 * owner's handler. */
void rr_iwarp_resume(struct rr_iwarp *iwarp);

/* Whether the peer has sent only the beginning of an FPDU or of a Send, and is to send the rest: the endpoint
 * limits the time for that. Returns false while this side does not read, as it waits for a receive buffer. */
bool rr_iwarp_is_owed(const struct rr_iwarp *iwarp);

/* ---- Octets out ---- */

/* Sets the size of a TCP segment (EMSS), which limits the size of the FPDUs that are sent. */
void rr_iwarp_set_emss(struct rr_iwarp *iwarp, uint32_t emss);

/* Posts a work request, with the results of rr_endpoint_post(). */
int rr_iwarp_post(struct rr_iwarp *iwarp, const struct rr_work *work);

/* Has a zero-length RDMA Write sent, which wakes a peer that missed the first FPDU of this side. Returns
 * -RPCRDMA_ERR_DISCONNECTED if the connection is not open. */
int rr_iwarp_kick(struct rr_iwarp *iwarp);

/* For tests: has one octet of the next FPDU damaged, so that its CRC is wrong. Returns -RPCRDMA_ERR_NOTSUP
 * if the open connection uses no CRCs. */
int rr_iwarp_corrupt(struct rr_iwarp *iwarp);

/* Sets *vectors to the octets that are to leave, and returns the number of vectors: 0 if no octets are to
 * leave. Until rr_iwarp_taken() is called, the vectors that were returned stay as they are. If the connection
 * drains and nothing is left to do, changes the state to CLOSING; if there is no memory, ends the
 * connection. */
uint32_t rr_iwarp_output(struct rr_iwarp *iwarp, const struct iovec **vectors);

/* Called after TCP took the given number of octets from the vectors of rr_iwarp_output(): completes the work
 * requests whose octets TCP has taken in full. This may call the owner's handler. */
void rr_iwarp_taken(struct rr_iwarp *iwarp, size_t octets);

/* ---- Regions ---- */

/* Ends the peer's access to the region with that handle. Also ends the connection if the peer is in the
 * middle of an access to the region. */
void rr_iwarp_revoke(struct rr_iwarp *iwarp, uint32_t handle);

/* Ends the peer's access to a region as rr_iwarp_revoke() does, and removes the region from the table. */
void rr_iwarp_invalidate(struct rr_iwarp *iwarp, uint32_t handle);

/* ---- The end ---- */

/* Has the connection close once all outstanding work requests, and the RDMA Reads of the peer, are done. */
void rr_iwarp_drain(struct rr_iwarp *iwarp);

/* Ends the connection at once, with status and a text for the owner: nothing is sent any more, and memory of
 * the owner's work requests and regions is not touched any more. A connection that is closing already keeps
 * the status and the text that it has. */
void rr_iwarp_over(struct rr_iwarp *iwarp, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Called when the peer has closed its side of TCP, and sends no more octets: ends the connection. Sets
 * iwarp->again if the peer closed TCP before it sent any octet of its answer to an MPA request of revision
 * 2: the owner may then try again with revision 1 (rr_iwarp_initiate_again()). */
void rr_iwarp_eof(struct rr_iwarp *iwarp);

/* Completes all outstanding work requests with the status CANCELLED, in state OVER. Calls the owner's
 * handler for each of them, but not with DISCONNECTED. */
void rr_iwarp_flush(struct rr_iwarp *iwarp);

#endif
