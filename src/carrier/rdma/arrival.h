/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_ARRIVAL_H
#define RR_CARRIER_RDMA_ARRIVAL_H

#include "carrier/rdma/core/room.h"

/* A message that arrived, decoded once. dispatch.c decodes it and switches on its kind; requester, responder
 * and features take the decoded value, and do not read the octets of the header again.
 *
 * Both peers of a connection may call (RFC 8167). Whether a message is a call or a reply shows in the RPC
 * message that it carries, never in its XID: the XIDs of the two directions are chosen independently. Some
 * headers, good and bad ones, do not show it; dispatch.c then asks whether a call of this side has the
 * XID. */
enum rr_arrival_kind {
	/* A call. dispatch.c also takes an unclear message for a call that can be nothing else: its header
	 * and lists may be wrong, see result. */
	RR_ARRIVAL_CALL,
	RR_ARRIVAL_REPLY,    /* a reply; dispatch.c may take an unclear message for one, too */
	RR_ARRIVAL_UNCLEAR,  /* a call or a reply: rr_arrival_decode() cannot tell which */
	RR_ARRIVAL_ERROR,    /* an RDMA_ERROR that could be decoded */
	RR_ARRIVAL_DONE,     /* an RDMA_DONE of version 2 */
	RR_ARRIVAL_OPTIONAL, /* an RDMA_OPTIONAL of version 2; its header may be wrong, see result */
	RR_ARRIVAL_JUNK      /* to be discarded silently, on either side */
};

struct rr_arrival {
	enum rr_arrival_kind kind;
	/* RR_HEADER_VERS also if the version is known, but this side does not use it. */
	enum rr_header_result result;
	struct rr_rdma_header header; /* the fixed words are set, unless kind is RR_ARRIVAL_JUNK */
	struct rr_chunk_lists lists;  /* the lists as far as they could be read; in arrays of the engine */
	struct rpcrdma_bytes payload; /* the octets behind the header; in the receive */
	uint8_t *receive; /* the whole message; the function that is given the arrival owns the receive */
	uint32_t length;  /* octets of the whole message */
	bool invalidated; /* by Send With Invalidate, this handle: */
	uint32_t invalidated_handle;
};

/* How many elements the chunk lists of a header may have. A header with more is refused. */
struct rr_arrival_sizes {
	uint32_t reads, writes, segments;
};

/* Returns these numbers for messages that arrive at the engine of the room. */
struct rr_arrival_sizes rr_arrival_sizes(const struct rr_room *room);

/* rr_arrival_prepare() makes the arrays into which the messages that arrive at an engine are decoded, unless
 * the arrays exist already. Returns 0 or -RPCRDMA_ERR_NOMEM. rr_arrival_unprepare() frees the arrays. */
int rr_arrival_prepare(struct rr_room *room);
void rr_arrival_unprepare(struct rr_room *room);

/* Decodes the message of an RR_EVENT_RECEIVED into arrival. lists has the arrays for the chunk lists, and
 * their sizes. The contents of these arrays belong to the arrival until the next message is decoded into
 * them. versions are the protocol versions that this side uses. */
void rr_arrival_decode(struct rr_arrival *arrival, struct rr_version_range versions,
	const struct rr_chunk_lists *lists, const struct rr_event *event);

/* Tells whether the RPC message lies in a Read chunk, as that of a Long Call does. */
static inline bool
rr_arrival_has_message_in_read_chunk(const struct rr_arrival *arrival)
{
	return arrival->header.proc == RR_RDMA_NOMSG && arrival->lists.read_count > 0;
}

/* Tells whether the RPC message lies in a Read chunk and may be a reply. Replies can lie in a Read chunk only
 * in version 2 (draft-cel-nfsv4-rpcrdma-reliable-reply-02, section 4.1). */
static inline bool
rr_arrival_is_to_be_pulled(const struct rr_arrival *arrival)
{
	return arrival->header.vers == RR_RPCRDMA_VERSION_2 && rr_arrival_has_message_in_read_chunk(arrival);
}

#endif
