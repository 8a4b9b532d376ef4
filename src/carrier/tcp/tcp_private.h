/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_TCP_TCP_PRIVATE_H
#define RR_CARRIER_TCP_TCP_PRIVATE_H

#include "base/alive.h"
#include "base/cache.h"
#include "base/map.h"
#include "base/tls/socket.h"
#include "carrier/tcp/record.h"
#include "carrier/tcp/tcp.h"
#include "wire/rpc.h"

/* The TCP carrier, as its files see it: core.c has what all files need, tcp.c the life of a carrier, read.c
 * and write.c the two directions, record.c record marking, call.c the requester's transactions, exchange.c
 * the responder's exchanges, connect.c and accept.c the making of carriers, starttls.c the way into TLS,
 * secure.c the octets of a connection inside of TLS.
 *
 * Only the watch, the timers, the task and the waiter for pool memory call functions of the owner. The owner
 * may close the carrier in any of these callbacks: the carrier is then buried, that is, the loop frees it at
 * the end of the turn. So the code asks rr_tcp_alive() after each callback. */

struct rr_tcp;

/* The states of a TCP carrier. */
enum rr_tcp_state {
	RR_TCP_CONNECTING,
	RR_TCP_SECURING, /* on the way into TLS: starttls.c */
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
	RR_TCP_BEGUN = 32768,   /* octets of a larger record that must have come before it gets memory, if its
				   peer has not proved to use up memory */
	RR_TCP_BATCH = 16,      /* messages that are worked through before the answers to them are sent */
	RR_TCP_BATCH_SPIN = 32, /* the same where the engine's loop does not wait */
	RR_TCP_SMALL = 1024,    /* calls up to this size lie in their exchange */
	RR_TCP_KEPT = 1024, /* the most exchanges, and the most outbounds, that an engine keeps for reuse */
	RR_TCP_HEADER_SLACK =
		4096 /* octets that a record may have above message_max: RPC header and padding */
};

/* A message that waits to be written, or is being written. The structure belongs to the structure that
 * contains it (an outbound or an exchange). It is taken off the queue before written() is called. */
struct rr_tcp_out {
	struct rr_list link;
	struct rpcrdma_message message;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS]; /* the message's */
	uint64_t done, total; /* octets of the record with its mark: written so far, and all */
	uint8_t mark[4];
	void (*written)(struct rr_tcp *tcp, struct rr_tcp_out *out);
};

struct rr_tcp_carriers;

/* What a carrier has beside, on its way into TLS and inside of it. */
struct rr_tcp_secure {
	struct rr_tcp *tcp;
	struct rr_tls_handshake handshake; /* of the accepting side */
	/* NULL: the answer to the probe has not come yet, or there is no place for the handshake yet */
	struct rr_tls_session *session;
	uint32_t xid, got; /* of the probe; octets of its answer that have come */
	uint8_t answer[RR_RECORD_MARK_SIZE + RR_RPC_REPLY_HEADER_MAX + 8];
};

/* A TCP carrier. */
struct rr_tcp {
	struct rr_carrier base;
	struct rr_tcp_carriers *kind;
	const struct rr_secure *wants; /* of the connecting side: TLS; NULL: it does without */
	struct rr_tcp_secure *secure;  /* NULL: outside of TLS */
	bool guarded; /* accepted, by an engine that has TLS: rr_tcp_starttls_called() sees all calls */
	enum rr_tcp_state state;
	void (*released)(struct rr_tcp *tcp); /* is called when the socket was closed; a pointer, as core.c
						 may not call tcp.c */
	bool closed;                          /* the owner has closed the carrier */
	struct rr_grave grave;
	bool blocked;         /* the socket takes no more octets for now */
	bool starved;         /* the pool had no memory for a record; `waiter` is called when it has some */
	struct rr_pool *pool; /* for what arrives: calls or, at the connecting side, replies */
	struct rr_watch watch;
	struct rr_spread_member *spread; /* the member for which an accepted connection counts; else NULL */
	struct rr_task task;
	struct rr_timer timer; /* for an incomplete record, or for lingering */
	struct rr_alive alive;
	struct rr_pool_waiter waiter; /* the wait for pool memory, while starved */
	int error;
	struct rr_text why; /* the connection failed, with error */

	uint32_t unanswered; /* calls that were sent and have no reply, cancelled calls too */
	uint32_t delivered;  /* records that were handed on */
	uint64_t moved;      /* octets that the socket took and brought so far */

	struct rr_list out;       /* struct rr_tcp_out */
	uint64_t uncounted;       /* octets written to the socket that are not in `done` of a message yet */
	struct rr_map xids;       /* outbounds of call.c, found by the XID of their call */
	struct rr_list outbounds; /* outbounds of call.c that are in use, in the order of their calls */
	struct rr_list refused;   /* transactions never sent: done() is due */
	struct rr_list exchanges; /* exchanges of exchange.c, until their reply was written */
	uint32_t exchange_count;

	struct rr_record record;
	struct rpcrdma_bytes whole; /* a whole record that waits for pool memory */
	bool whole_pooled;          /* whole lies in pool memory */
	uint8_t *staging;
	/* The octets from in_start to in_end were read and not handled yet. `in` is staging, or a copy of
	 * what was left in staging, or NULL. */
	uint8_t *in;
	uint32_t in_start, in_end;
};

/* The TCP carriers of an engine. They share the memory that is kept for reuse: an idle connection holds no
 * such memory. */
struct rr_tcp_carriers {
	struct rr_carriers base;
	/* The buffer into which the carriers read, one at a time; made with the first carrier. */
	uint8_t *staging;
	struct rr_cache outbounds, exchanges;
};

/* core.c */
/* Tells whether the carrier still has its connection: it did not fail, and its owner did not close it. */
bool rr_tcp_alive(const struct rr_tcp *tcp);
/* Ends the connection with that error and text; the carrier's task later calls the owner's closed(). After
 * the first failure, further failures change nothing. */
void rr_tcp_fail(struct rr_tcp *tcp, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Closes the socket, if it is open, and drops what was read and what is to be written. */
void rr_tcp_release(struct rr_tcp *tcp);
/* Returns how many octets a record may have. */
uint32_t rr_tcp_record_max(const struct rr_tcp *tcp);
/* Sets the options of a TCP socket: small messages leave at once, and a silent peer is given up. */
void rr_tcp_set_options(int fd);

/* tcp.c */
/* Makes a carrier of the socket fd, without the owner's callbacks: rr_carrier_attach() sets them. state is
 * RR_TCP_CONNECTING, or RR_TCP_OPEN for a connection that was accepted. Returns 0 or an error: fd then stays
 * the caller's. */
int rr_tcp_new(struct rr_carriers *carriers, int fd, const struct sockaddr *peer, enum rr_tcp_state state,
	struct rr_tcp **result, struct rr_text *text);

/* accept.c */
int rr_tcp_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at,
	struct rr_acceptor **acceptor, struct rr_text *text);
int rr_tcp_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
void rr_tcp_unlisten(struct rr_acceptor *acceptor);

/* read.c */
/* Reads from the socket, which is readable, and handles the records that are complete. In the state
 * RR_TCP_LINGERING drops what it reads until the peer's FIN. */
void rr_tcp_read(struct rr_tcp *tcp);
/* Handles the octets that were read earlier and could not be handled then. Does nothing while the carrier
 * waits for pool memory, or if it is not open. */
void rr_tcp_resume(struct rr_tcp *tcp);
/* Drops the octets that were read and the record that is arriving. */
void rr_tcp_discard_input(struct rr_tcp *tcp);
/* Frees the memory of the octets that were read, unless that is the staging buffer, which all carriers share.
 * rr_tcp_discard_input() drops the octets but keeps their memory, as one of its callers may still read the
 * octets. */
void rr_tcp_free_input(struct rr_tcp *tcp);
/* Tells whether the next octets may be read and handled now: no record waits for pool memory, and the peer
 * has fewer calls under way than it may have. */
bool rr_tcp_may_read(const struct rr_tcp *tcp);
/* Tells whether a record has begun to arrive and is not complete. */
bool rr_tcp_in_record(const struct rr_tcp *tcp);

/* write.c */
/* Queues a message to be written. The message and its array of items are copied; the memory that they point
 * to must stay until written(). Returns false, and queues nothing, if the message is longer than a record may
 * be, or has too many items. */
bool rr_tcp_send(struct rr_tcp *tcp, struct rr_tcp_out *out, const struct rpcrdma_message *message,
	void (*written)(struct rr_tcp *tcp, struct rr_tcp_out *out));
/* Writes the queued messages to the socket, as far as the socket takes them, and calls written() of those
 * that are complete. */
void rr_tcp_flush(struct rr_tcp *tcp);
/* Removes a message from the queue, as its owner takes it back; does nothing if it is not queued. If a part
 * of it has been sent already, the rest is copied, and the copy is sent. */
void rr_tcp_unsend(struct rr_tcp *tcp, struct rr_tcp_out *out);
/* Empties the queue, and frees the copies in it. */
void rr_tcp_discard_output(struct rr_tcp *tcp);

/* call.c */
/* Prepares the cache of outbounds that the carriers of an engine share. */
void rr_tcp_keep_outbounds(struct rr_tcp_carriers *kind);
void rr_tcp_init_calls(struct rr_tcp *tcp);
void rr_tcp_call(struct rr_carrier *carrier, struct rr_transaction *transaction);
void rr_tcp_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction);
/* Hands a reply that arrived to its transaction. If pooled is true, the stream lies in pool memory, which
 * this function returns to the pool; otherwise the stream must stay only until this function returns. */
void rr_tcp_replied(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled);
/* Ends the call with that XID by done(-RPCRDMA_ERR_LIMIT), as its reply was longer than a record may be. */
void rr_tcp_replied_too_long(struct rr_tcp *tcp, uint32_t xid);
/* Ends all calls by done(-RPCRDMA_ERR_DISCONNECTED). Stops when one of the done() closes the carrier. */
void rr_tcp_end_calls(struct rr_tcp *tcp);
/* Calls done() of the transactions that were never sent (rr_tcp.refused). Stops when one of the done() closes
 * the carrier. */
void rr_tcp_end_refused(struct rr_tcp *tcp);
/* Frees the outbounds, and forgets all transactions without their done(), as the owner closes the carrier. */
void rr_tcp_free_calls(struct rr_tcp *tcp);

/* exchange.c */
/* Prepares the cache of exchanges that the carriers of an engine share. */
void rr_tcp_keep_exchanges(struct rr_tcp_carriers *kind);
void rr_tcp_init_exchanges(struct rr_tcp *tcp);

/* Hands a call that arrived to the owner. If pooled is true, the stream lies in pool memory, which then
 * belongs to the exchange; otherwise the call is copied. Returns false if there is no pool memory now for the
 * copy: the caller then keeps the call and tries again. Returns true also if there is no memory for the
 * exchange itself, which ends the connection. */
bool rr_tcp_called(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled);
/* Answers the call with that XID by SYSTEM_ERR, as the call was longer than a record may be. */
void rr_tcp_refuse(struct rr_tcp *tcp, uint32_t xid);
/* Answers a call that nobody sees by this header, without results. */
void rr_tcp_answer(struct rr_tcp *tcp, const struct rr_reply_header *header);
void rr_tcp_reply(struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg),
	void *arg);
void rr_tcp_drop(struct rr_exchange *exchange);
/* Parts the exchanges (calls of the peer) from the carrier, which ends. The sent() of replies under way are
 * called, and exchanges that are not answered yet live on without the carrier. */
void rr_tcp_orphan_exchanges(struct rr_tcp *tcp);

/* starttls.c */
/* Asks the server for TLS, as the connection was made: the state becomes RR_TCP_SECURING. */
void rr_tcp_starttls_ask(struct rr_tcp *tcp);
/* Goes on in the state RR_TCP_SECURING, as the socket is ready. Returns true if the connection is open now;
 * octets of the peer may then be inside of its session already. */
bool rr_tcp_starttls_ready(struct rr_tcp *tcp);
/* Tells whether an accepted connection waits for its handshake to be put under way. */
static inline bool
rr_tcp_starttls_waits(const struct rr_tcp *tcp)
{
	return tcp->state == RR_TCP_SECURING && !tcp->wants && !tcp->secure->session;
}
/* Ends a connection that was in the state RR_TCP_SECURING for too long. */
void rr_tcp_starttls_timed_out(struct rr_tcp *tcp);
/* Looks at a call that has arrived. Returns true if it has dealt with it: with a probe for TLS, or a call
 * that comes without the protection that the engine demands. */
bool rr_tcp_starttls_called(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes call);

/* secure.c */
/* Opens the session of a carrier in the state RR_TCP_SECURING. Returns false if there is no memory. */
bool rr_tcp_secure_open(struct rr_tcp *tcp, struct rr_tls *tls, const struct rr_secure *wants);
/* Sends what the session has encrypted. Returns true if all of it was sent. Otherwise the carrier is blocked,
 * or has failed. */
bool rr_tcp_secure_push(struct rr_tcp *tcp);
/* Does what readv(2) does, through the session. The connection has ended after any error but EAGAIN. */
ssize_t rr_tcp_secure_read(struct rr_tcp *tcp, const struct iovec *iov, int count);
/* Encrypts octets, as many as may wait, and returns their number; -1 if the connection has ended. */
ssize_t rr_tcp_secure_write(struct rr_tcp *tcp, const struct iovec *iov, uint32_t count);
/* Tells whether octets of the peer are inside of the session, for which the socket does not become readable.
 */
bool rr_tcp_secure_has_more(const struct rr_tcp *tcp);
/* Ends this side's stream inside of TLS, if there is one. */
void rr_tcp_secure_close_notify(struct rr_tcp *tcp);
/* Does so, and frees the session. */
void rr_tcp_secure_end(struct rr_tcp *tcp);

#endif
