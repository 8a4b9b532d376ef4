/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_TCP_PRIVATE_H
#define RR_CARRIER_TCP_TCP_PRIVATE_H

#include "base/alive.h"
#include "base/cache.h"
#include "base/map.h"
#include "carrier/tcp/record.h"
#include "carrier/tcp/tcp.h"

/* The TCP carrier, as its files see it: core.c has what all files need, tcp.c the life of a carrier, read.c
 * and write.c the two directions, call.c the requester's transactions, exchange.c the responder's exchanges,
 * connect.c and accept.c the making of carriers.
 *
 * Only the watch, the timers, the task and the waiter for pool memory call back. The owner may close the
 * carrier in any callback: the carrier is then buried, and rr_tcp_alive() is asked after each callback. */

struct rr_tcp;

/* The states of a TCP carrier. */
enum rr_tcp_state {
	RR_TCP_CONNECTING,
	RR_TCP_OPEN,
	/* Shut down by its owner, or the peer ended its stream: exchanges are being answered, and nothing
	 * is read. */
	RR_TCP_DRAINING,
	/* All is answered and the FIN of this side sent; waits for the peer's FIN, so that no reset
	 * overtakes a reply. */
	RR_TCP_LINGERING,
	RR_TCP_FAILED, /* the socket is closed; closed() of the owner is due */
	RR_TCP_CLOSED  /* closed() was called */
};

enum {
	RR_TCP_STAGING = 65536, /* octets that one read takes in, besides what goes to pool memory */
	RR_TCP_IN_PLACE = 8192, /* records up to this size, with their marks, are read in place */
	RR_TCP_BEGUN = 32768,   /* octets that must have come of a larger record before it gets memory */
	RR_TCP_BATCH = 16,      /* messages that are worked through before the answers to them are sent */
	RR_TCP_SMALL = 1024,    /* calls up to this size lie in their exchange */
	RR_TCP_KEPT = 1024,     /* exchanges, and slots, that an engine keeps for reuse */
	RR_TCP_HEADER_SLACK =
		4096 /* octets that a record may have above message_max: RPC header and padding */
};

/* A message on its way out. It belongs to the structure that contains it. It is taken off the queue before
 * written(). */
struct rr_tcp_out {
	struct rr_list link;
	struct rpcrdma_message message;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS]; /* the message's */
	uint64_t done, total;                        /* octets of the record */
	uint8_t mark[4];
	void (*written)(struct rr_tcp *tcp, struct rr_tcp_out *out);
};

struct rr_tcp_carriers;

/* A TCP carrier. */
struct rr_tcp {
	struct rr_carrier base;
	struct rr_tcp_carriers *kind;
	enum rr_tcp_state state;
	void (*released)(struct rr_tcp *tcp); /* is called when the socket was closed; tcp.c sets it */
	bool closed;                          /* by its owner */
	struct rr_grave grave;
	bool blocked;         /* the socket takes no more octets for now */
	bool starved;         /* the pool had no memory for what arrives */
	struct rr_pool *pool; /* for what arrives: calls or, at the connecting side, replies */
	struct rr_watch watch;
	struct rr_spread_member *spread; /* the member for which an accepted connection counts; else NULL */
	struct rr_task task;
	struct rr_timer timer; /* for an incomplete record, or for lingering */
	struct rr_alive alive;
	struct rr_pool_waiter waiter;
	int error;
	struct rr_text why;

	uint32_t unanswered; /* calls that were sent and have no reply, cancelled calls too */
	uint32_t delivered;  /* records that were handed on */
	uint64_t moved;      /* octets that the peer took, and that it brought */

	struct rr_list out;       /* struct rr_tcp_out */
	struct rr_map xids;       /* slots of call.c, whose replies are to come */
	struct rr_list slots;     /* slots of call.c that are in use, in the order of their calls */
	struct rr_list refused;   /* struct rr_transaction, without a slot */
	struct rr_list exchanges; /* exchanges of exchange.c, until their reply was written */
	uint32_t exchange_count;

	struct rr_record record;
	struct rpcrdma_bytes whole; /* a record that was read, and could not be handled yet */
	bool whole_pooled;          /* whole lies in pool memory */
	uint8_t *staging;
	/* Octets that were read and not handled yet: in staging, in a copy of its rest, or NULL. */
	uint8_t *in;
	uint32_t in_start, in_end;
};

/* The TCP carriers of an engine. They share the memory that is kept for reuse: an idle connection holds no
 * such memory. */
struct rr_tcp_carriers {
	struct rr_carriers base;
	/* The buffer into which the carriers read, one at a time; made with the first carrier. */
	uint8_t *staging;
	struct rr_cache slots, exchanges;
};

/* core.c */
bool rr_tcp_alive(const struct rr_tcp *tcp);
/* Ends the connection with that error and text; the carrier's task later calls the owner's closed(). After
 * the first failure, further failures change nothing. */
void rr_tcp_fail(struct rr_tcp *tcp, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Closes the socket, if it is open, and drops what was read and what is to be written. */
void rr_tcp_release(struct rr_tcp *tcp);
/* Returns how many octets a record may have. */
uint32_t rr_tcp_record_max(const struct rr_tcp *tcp);
void rr_tcp_set_options(int fd);

/* tcp.c */
/* Makes a carrier of the socket fd, without the owner's callbacks: rr_carrier_attach() sets them. */
int rr_tcp_new(struct rr_carriers *carriers, int fd, const struct sockaddr *peer, enum rr_tcp_state state,
	struct rr_tcp **result, struct rr_text *text);

/* accept.c */
int rr_tcp_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at,
	struct rr_acceptor **acceptor, struct rr_text *text);
int rr_tcp_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
void rr_tcp_unlisten(struct rr_acceptor *acceptor);

/* read.c */
void rr_tcp_read(struct rr_tcp *tcp);
/* Handles the octets that were read earlier and could not be handled then. */
void rr_tcp_resume(struct rr_tcp *tcp);
void rr_tcp_discard_input(struct rr_tcp *tcp);
/* Frees the memory of the octets that were read. rr_tcp_discard_input() drops the octets but keeps their
 * memory, as one of its callers may still read the octets. */
void rr_tcp_free_input(struct rr_tcp *tcp);
bool rr_tcp_may_read(const struct rr_tcp *tcp);
/* Tells whether a record has begun to arrive and is not complete. */
bool rr_tcp_in_record(const struct rr_tcp *tcp);

/* write.c */
/* Queues a message to be written. Returns false if the message is longer than a record may be. */
bool rr_tcp_send(struct rr_tcp *tcp, struct rr_tcp_out *out, const struct rpcrdma_message *message,
	void (*written)(struct rr_tcp *tcp, struct rr_tcp_out *out));
void rr_tcp_flush(struct rr_tcp *tcp);
/* Removes a message from the queue. If a part of it has been sent already, the rest is sent from a copy. */
void rr_tcp_unsend(struct rr_tcp *tcp, struct rr_tcp_out *out);
/* Empties the queue, and frees the copies in it. */
void rr_tcp_discard_output(struct rr_tcp *tcp);

/* call.c */
void rr_tcp_keep_slots(struct rr_tcp_carriers *kind);
void rr_tcp_init_calls(struct rr_tcp *tcp);
void rr_tcp_call(struct rr_carrier *carrier, struct rr_transaction *transaction);
void rr_tcp_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction);
/* Hands a reply that arrived to its transaction. If pooled is true, the stream lies in pool memory, which
 * this function returns to the pool; otherwise the stream must stay only until this function returns. */
void rr_tcp_replied(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled);
/* Ends the call whose reply was longer than a record may be, by done(-RPCRDMA_ERR_LIMIT). */
void rr_tcp_replied_too_long(struct rr_tcp *tcp, uint32_t xid);
/* Ends all calls by done(-RPCRDMA_ERR_DISCONNECTED). Stops when one of the done() closes the carrier. */
void rr_tcp_end_calls(struct rr_tcp *tcp);
/* Calls done() of the transactions that were never sent. */
void rr_tcp_end_refused(struct rr_tcp *tcp);
void rr_tcp_free_calls(struct rr_tcp *tcp);

/* exchange.c */
void rr_tcp_keep_exchanges(struct rr_tcp_carriers *kind);
void rr_tcp_init_exchanges(struct rr_tcp *tcp);

/* Hands a call that arrived to the owner. If pooled is true, the stream lies in pool memory, which then
 * belongs to the exchange; otherwise the call is copied. Returns false if there is no pool memory now for the
 * copy. */
bool rr_tcp_called(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled);
/* Answers a call that was longer than a record may be by SYSTEM_ERR. */
void rr_tcp_refuse(struct rr_tcp *tcp, uint32_t xid);
void rr_tcp_reply(struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg),
	void *arg);
void rr_tcp_drop(struct rr_exchange *exchange);
/* Parts the exchanges (calls of the peer) from the carrier, which ends. The sent() of replies under way are
 * called, and exchanges that are not answered yet live on without the carrier. */
void rr_tcp_orphan_exchanges(struct rr_tcp *tcp);

#endif
