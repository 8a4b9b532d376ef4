/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_MATCH_H
#define RR_DECODE_MATCH_H

#include "base/list.h"
#include "base/map.h"
#include "decode/message.h"
#include "decode/rdmap.h"

/*
 * This pairs calls with replies, by connection, direction and XID, and finds the chunk and the transaction
 * that the octets of an RDMA Read or Write belong to. A transaction is a captured call, with its reply. It
 * begins with the call and ends with the reply, or, if the requester reads the reply by RDMA, with RDMA_DONE.
 * The number of transactions is bounded: the oldest transaction makes room.
 *
 * A message that itself moves by RDMA is held back, which means that it is emitted later: when its front has
 * come, so that its procedure is known, or when it is clear that the front will not come.
 */

/* A region is a segment that a message offers. */
struct rr_decode_region {
	struct rr_map_link link; /* by connection, owner and handle; in the map only if is_last is set */
	struct rr_list same;     /* a ring of the regions with that handle: the next one is older */
	bool is_last;            /* the newest region with that handle */
	struct rr_match_transaction *transaction;
	struct rr_segment segment;
	enum rr_region_kind kind;
	uint32_t chunk; /* of a Read chunk: its position; of a Write chunk: its number, from 0 */
	uint64_t at;    /* octets of the chunk before this segment */
};

/* The front of a message that moves by RDMA. */
struct rr_head {
	uint8_t *data;
	uint32_t have, want; /* octets that have come, and that are kept at most */
};

/* The parts of a transaction, as indexes of its arrays. */
enum { RR_TRANSACTION_CALL, RR_TRANSACTION_REPLY, RR_TRANSACTION_PARTS };

/* A message that is held back: the octets of its Send. data is NULL if no message is held back. */
struct rr_held {
	uint8_t *data;
	struct rr_sent sent;
};

struct rr_match_transaction {
	struct rr_map_link link;
	struct rr_list age;
	uint32_t connection, xid;
	uint8_t caller;
	bool is_answered; /* it has a reply, which is being pulled */
	bool has_procedure;
	uint32_t prog, vers, proc;
	struct rr_moment moment; /* of the call */
	struct rr_decode_region *regions[RR_TRANSACTION_PARTS];
	uint32_t region_counts[RR_TRANSACTION_PARTS];
	size_t region_sizes[RR_TRANSACTION_PARTS]; /* octets of the arrays */
	struct rr_head heads[RR_TRANSACTION_PARTS];
	struct rr_held held;
	uint64_t moved[RR_REGIONS];
};

struct rr_match {
	struct rr_decode_memory *memory;
	struct rr_map transactions, regions;
	struct rr_list ages; /* oldest first */
	uint32_t count, max;
	uint64_t evicted;            /* transactions that made room */
	struct rr_chunk_lists lists; /* for decoding messages that were held back */
	void (*emit)(void *ctx, const struct rr_message *message); /* receives each message once */
	void *ctx;
};

/* Prepares match, whose emit and ctx the caller has set, for at most max transactions. Errors: NOMEM. */
int rr_match_init(struct rr_match *match, struct rr_decode_memory *memory, uint32_t max);
/* Ends all transactions, emits the messages that were held back, and frees the memory. It may also be called
 * if rr_match_init() failed or was not called. */
void rr_match_free(struct rr_match *match);

/* Pairs a decoded message and emits it, at once or later. data: the octets of the message, which are copied
 * if the message is held back. */
void rr_match_message(struct rr_match *match, struct rr_message *message, struct rpcrdma_bytes data);

/* Notes that an RDMA Write, or a Read Response, which the side at moment sent, moved octets: counts them for
 * the transaction, and keeps them if they belong to the front of a message. Emits the message that is held
 * back if its front is now complete. Returns the region that the octets belong to, or NULL if the region is
 * not known. */
const struct rr_decode_region *rr_match_moved(
	struct rr_match *match, const struct rr_moment *moment, const struct rr_op *op);

/* Returns the region that an operation accesses, or NULL if the region is not known. moment names the side
 * that sent the operation. */
struct rr_decode_region *rr_match_region(
	const struct rr_match *match, const struct rr_moment *moment, const struct rr_op *op);

/* Ends all transactions of a connection, and emits the messages that they hold back. */
void rr_match_end_connection(struct rr_match *match, uint32_t connection);

/* ---- match_regions.c ---- */

/* Adds the chunks of `message` to the transaction, so that RDMA operations find them. part is
 * RR_TRANSACTION_CALL if the message is the call, and RR_TRANSACTION_REPLY if it is a reply that the
 * requester reads by RDMA. Returns true, also if the message has no chunks; false if there is no memory. */
bool rr_match_add_regions(struct rr_match *match, struct rr_match_transaction *transaction, uint32_t part,
	const struct rr_message *message);
/* Frees the regions of a transaction, those of its call and those of its reply, and the fronts of both
 * messages as far as they were kept. Called when the transaction ends. */
void rr_match_remove_regions(struct rr_match *match, struct rr_match_transaction *transaction);

/* Emits the message that transaction holds back, if there is one. */
void rr_match_release(struct rr_match *match, struct rr_match_transaction *transaction);

#endif
