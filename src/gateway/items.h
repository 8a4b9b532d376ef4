/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_GATEWAY_ITEMS_H
#define RR_GATEWAY_ITEMS_H

#include "gateway/gateway.h"
#include "ulb/binding.h"

/* The gateway's knowledge of messages: whose they are, and which of their items may travel apart. */

/* What is known of a call, and needed for its reply. */
struct rr_known {
	uint32_t proc;
	uint32_t sinks[RPCRDMA_SINKS_MAX]; /* octets, for a requester over RDMA */
	uint32_t chunk_count;              /* so many of them, the first, were offered as Write chunks */
	uint32_t write_chunks;             /* that came with the call: item i of the reply is for chunk i */
	const struct rpcrdma_program *program; /* NULL: its messages travel whole */
	uint32_t reply_header;                 /* octets of its reply before the results */
};

/*
 * Reads the header of a call. The program is NULL where nothing here knows it, and where the call's
 * credential forbids placement: its messages, and those of its reply, travel whole then.
 */
bool rr_known_header_is_reduced(const struct rpcrdma_message *call); /* whether an item lies in its header */
uint32_t rr_known_program(const struct rpcrdma_message *call);       /* its number alone; 0: no call header */
void rr_known_read(
	struct rr_known *known, const struct rr_gateway_config *config, const struct rpcrdma_message *call);

enum rr_items_use {
	RR_ITEMS_CALL,       /* a call that goes out over RDMA, or has items: as many as may be */
	RR_ITEMS_REPLY_RDMA, /* a reply that goes out over RDMA: item i is that of result i, as far as Write
				chunks came with the call */
	RR_ITEMS_REPLY_TCP   /* only those that are out of the stream already: their places are to be found */
};

/* Memory for a message whose items are taken out. */
struct rr_items_room {
	void *scratch;
	uint32_t size;              /* octets of scratch */
	struct rpcrdma_item *items; /* RR_MESSAGE_ITEMS of them */
};

/*
 * Takes the items of a message out of its stream: sets out to a message of the same meaning, whose items all
 * have their offsets, and are in room->items. The rest of the stream is copied to room->scratch where that
 * must be; data never is. in stays in use.
 *
 * RR_WALK_UNKNOWN: nothing was found, and out is in; items of in that have no offset make it useless then.
 * RR_WALK_MISPLACED: see ulb/walk.h, or results of a reply are not in the Write chunks for them; out is not
 * set.
 */
enum rr_walk_answer rr_items_take(const struct rr_known *known, enum rr_items_use use,
	const struct rpcrdma_message *in, const struct rr_items_room *room, struct rpcrdma_message *out);

/*
 * Estimates the reply to a call, for a requester over RDMA: sets reply_max, and sinks without memory, which
 * are known from then on; but not how many of them are offered. A size that cannot be known is all that max
 * octets of message leave, and that the exchange can convey.
 */
void rr_items_expect(struct rr_known *known, const struct rr_exchange *exchange, uint32_t max,
	struct rr_transaction *transaction);

#endif
