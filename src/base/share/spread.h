/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_SPREAD_H
#define RR_BASE_SHARE_SPREAD_H

#include <sys/socket.h>

#include "base/address.h"
#include "base/loop.h"

/*
 * Spreads connections evenly over engines that listen at one address, each in a thread of its own. The system
 * gives a connection to any of the listeners, whatever each of them has already; the engine that gets it
 * hands it on to the engine with the fewest connections.
 *
 * Ownership: the maker of the engines owns the spread, and frees it when all members have left. A member
 * belongs to an engine, a seat to a listener. A descriptor that was handed on belongs to the spread until
 * take() of the other engine's listener gets it, in the thread of that engine, or until it is closed as there
 * is no such listener any more.
 *
 * Threads: one lock guards all of it. It is taken where a connection begins or ends, never for a message.
 *
 * A member may be NULL, and so may the member of a seat: connections then stay with the engine that accepted
 * them.
 */
struct rr_spread;
struct rr_spread_member;

/* A listener of a member. */
struct rr_spread_seat {
	/* Set before rr_spread_sit(). Called with a connection that another engine's listener has handed on,
	 * and which counts as this member's. */
	void (*take)(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer);
	struct rr_spread_member *member; /* private, as all below */
	struct rr_list link;
	char address[RR_ADDRESS_TEXT];
};

/* Makes a spread. env is used from all threads. Returns NULL if there is no memory. */
struct rr_spread *rr_spread_new(const struct rr_env *env);

/* Frees the spread, which may be NULL. All members must have left before. */
void rr_spread_free(struct rr_spread *spread);

/* Makes the engine of that loop a member of the spread, and sets *member. Errors: -RPCRDMA_ERR_NOMEM,
 * -RPCRDMA_ERR_SYSTEM. */
int rr_spread_join(struct rr_spread *spread, struct rr_loop *loop, struct rr_spread_member **member);

/* Ends the member, and closes connections that other engines handed on to it and that it has not accepted
 * yet. All listeners (seats) of the member must have ended before, and its loop must still exist. member may
 * be NULL. */
void rr_spread_leave(struct rr_spread_member *member);

/* rr_spread_sit() notes that seat, a listener of the member, begins to accept connections at the address to
 * which fd is bound. rr_spread_stand() notes that this listener has ended. */
void rr_spread_sit(struct rr_spread_member *member, struct rr_spread_seat *seat, int fd);
void rr_spread_stand(struct rr_spread_seat *seat);

/* Decides which engine gets the connection fd that the listener of seat accepted. Returns true if the
 * connection was handed on to another engine, together with the ownership of fd. Returns false if the caller
 * keeps the connection: then it counts as one of the caller's member until rr_spread_ended(). Nothing is
 * counted if the seat has no member. */
bool rr_spread_offer(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer);

/* Counts one connection less of the member: the connection has ended, or the member has no listener for it.
 * member may be NULL. */
void rr_spread_ended(struct rr_spread_member *member);

/* Returns how many connections count as the member's. */
uint32_t rr_spread_count(struct rr_spread_member *member);

#endif
