/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_ITEMS_H
#define RR_GATEWAY_ITEMS_H

#include "gateway/gateway.h"
#include "ulb/binding.h"

/* The gateway's knowledge of messages: their programs, and which of their items may travel apart from the
 * stream. */

/* The knowledge of a call that is needed for its reply. */
struct rr_known {
	uint32_t proc;
	/* If the call was sent over RDMA: the sizes in octets of the sinks (memory for one result each) for
	 * its reply. */
	uint32_t sinks[RPCRDMA_SINKS_MAX];
	/* How many of these sinks, from the first one, were offered to the server as Write chunks. */
	uint32_t chunk_count;
	/* How many Write chunks came with the call: item i of the reply is for chunk i. */
	uint32_t write_chunks;
	const struct rpcrdma_program *program; /* NULL: its messages travel whole */
	uint32_t reply_header; /* the most octets of the reply's header, in front of the results */
};

/* Tells whether a data item of the call that came apart from the stream belongs into the RPC header, where
 * RFC 8166, 8.2.2, forbids it. Returns false for a call without such items. */
bool rr_known_header_is_reduced(const struct rpcrdma_message *call);

/* Returns the number of the call's program; 0 if the stream is too short for it. */
uint32_t rr_known_program(const struct rpcrdma_message *call);

/* Reads the header of a call, and sets *known to what is needed for its reply. known->program becomes NULL if
 * the program is not known here, or if the call's credential does not allow that data items travel apart: the
 * call and its reply then travel whole. */
void rr_known_read(
	struct rr_known *known, const struct rr_gateway_config *config, const struct rpcrdma_message *call);

/* The kinds of messages whose items are taken out of the stream. */
enum rr_items_use {
	/* A call that goes out over RDMA, or came with items: as many items as possible are taken out. */
	RR_ITEMS_CALL,
	/* A reply that goes out over RDMA: item i is that of result i, for as many results as Write chunks
	 * came with the call. */
	RR_ITEMS_REPLY_RDMA,
	/* A reply that goes out over TCP: nothing is taken out. For the items that are out of the stream
	 * already, their places in it are found. */
	RR_ITEMS_REPLY_TCP
};

/* Memory for a message whose items are taken out. */
struct rr_items_room {
	void *scratch;
	uint32_t size;              /* octets of scratch */
	struct rpcrdma_item *items; /* RR_MESSAGE_ITEMS items */
};

/* Takes the data items of a message out of its stream: sets *out to a message of the same meaning. The items
 * of *out are in room->items, each with its offset. The rest of the stream is copied to room->scratch if
 * necessary; the octets of items are never copied. *out refers to memory of *in.
 *
 * RR_WALKED: *out is set as above. RR_WALK_UNKNOWN: nothing was taken out, and *out is a copy of *in. Either
 * the message cannot be walked, or it has too many items, or the rest of the stream is larger than
 * room->size. If items of *in have no offset, the message cannot be used then. RR_WALK_MISPLACED: *in breaks
 * a rule on where items may be (see ulb/walk.h), or results of a reply are not in their Write chunks; the
 * message cannot be used. */
enum rr_walk_answer rr_items_take(const struct rr_known *known, enum rr_items_use use,
	const struct rpcrdma_message *in, const struct rr_items_room *room, struct rpcrdma_message *out);

/* Estimates the reply to a call that is sent over RDMA: sets reply_min and reply_max of the transaction, and
 * adds a sink (memory for one result) for each result whose size is bounded. The sinks get their lengths,
 * which are stored in known->sinks, too, but no memory: the carrier takes that when it is needed. The carrier
 * also decides how many of the sinks it offers to the server. If the size of the reply is not known, the
 * reply counts as max octets, or as many as the exchange can convey if these are fewer. */
void rr_items_expect(struct rr_known *known, const struct rr_exchange *exchange, uint32_t max,
	struct rr_transaction *transaction);

#endif
