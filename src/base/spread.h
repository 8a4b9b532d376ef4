/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SPREAD_H
#define RR_BASE_SPREAD_H

#include <sys/socket.h>

#include "base/address.h"
#include "base/loop.h"

/*
 * Connections that come to an address at which several engines listen, each in a thread of its own, are
 * spread evenly. The system gives a connection to any of the listeners, whatever each of them has already;
 * the engine that gets it hands it on to the engine with the fewest connections.
 *
 * Ownership: the maker of the engines owns the spread, and frees it when all members have left. A member
 * belongs to an engine, a seat to a listener. A descriptor that was handed on belongs to the spread until
 * take() of the other engine's listener gets it, in the thread of that engine, or until it is closed as there
 * is no such listener any more.
 *
 * Threads: one lock guards all of it. It is taken where a connection begins or ends, never for a message.
 *
 * A member, and that of a seat, may be NULL: then connections stay where they come.
 */
struct rr_spread;
struct rr_spread_member;

struct rr_spread_seat {
	/* Set before rr_spread_sit(). A connection of another engine's listener, which counts as this
	 * member's. */
	void (*take)(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer);
	struct rr_spread_member *member; /* private, as all below */
	struct rr_list link;
	char address[RR_ADDRESS_TEXT];
};

/* NULL: no memory. env is used from all threads. */
struct rr_spread *rr_spread_new(const struct rr_env *env);

/* spread may be NULL. */
void rr_spread_free(struct rr_spread *spread);

/* -RPCRDMA_ERR_NOMEM, -RPCRDMA_ERR_SYSTEM. */
int rr_spread_join(struct rr_spread *spread, struct rr_loop *loop, struct rr_spread_member **member);

/* All seats of the member have gone, and its loop is still there. */
void rr_spread_leave(struct rr_spread_member *member);

/* A listener begins to accept connections at the address that fd is bound to, and ends. */
void rr_spread_sit(struct rr_spread_member *member, struct rr_spread_seat *seat, int fd);
void rr_spread_stand(struct rr_spread_seat *seat);

/* A listener accepted a connection. True: another engine has it. False: it is for the caller, and counts as
 * its own until rr_spread_ended(). */
bool rr_spread_offer(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer);

/* A connection that counted as the member's ended, or was not taken. */
void rr_spread_ended(struct rr_spread_member *member);

/* Connections that count as the member's. */
uint32_t rr_spread_count(struct rr_spread_member *member);

#endif
