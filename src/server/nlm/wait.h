/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_WAIT_H
#define RR_SERVER_NLM_WAIT_H

#include "server/nlm/table.h"

/*
 * Those who wait for a lock of NLM. XNFS, 10: a lock that cannot be had is answered by BLOCKED, and when the
 * server has set it, the server calls the host back with GRANTED. So unlike a client of NFS version 4, a host
 * is given the lock itself.
 *
 * Ownership: a wait belongs to its claim. When it is over while its server works on it (it is being taken, or
 * the host is being called), claim becomes NULL, and the server frees it.
 */

enum rr_nlm_wait_phase {
	RR_NLM_WAITING, /* another owner has the range */
	RR_NLM_LATER,   /* a local program has: nobody says when it unlocks the range, so it is tried again */
	RR_NLM_READY,   /* the range is free: the server is to take it */
	RR_NLM_TAKING,
	RR_NLM_CALLING /* the lock is set, and the host is called */
};

/* The waits that a server has taken on, and how it learns that some are ready. wake() may be called in any
 * thread, with the mutex held. */
struct rr_nlm_waker {
	struct rr_list all, ready, later;
	void (*wake)(struct rr_nlm_waker *waker);
	bool ends; /* the server takes no more on */
};

/* The way in which the host asked, and so the way in which it is called. */
struct rr_nlm_way {
	uint32_t vers;
	bool message; /* by LOCK_MSG: with GRANTED_MSG, which GRANTED_RES answers */
	struct rr_source source;
};

enum { RR_NLM_COOKIE = 8 };

struct rr_nlm_wait {
	struct rr_locks_wait wait;
	struct rr_list of_claim, of_all, of_waker; /* of_waker: in ready or later */
	struct rr_nlm_claim *claim;                /* NULL: it is over */
	struct rr_nlm_waker *waker;
	enum rr_nlm_wait_phase phase;
	struct rr_nlm_way way;
	uint64_t tried; /* when a range of a local program was last tried */
};

/* Returns the wait of the claim for this very lock; NULL: there is none. */
struct rr_nlm_wait *rr_nlm_wait_find(const struct rr_nlm_claim *claim, struct rr_span span, bool write);
/* Makes a wait of the claim, which is in no list yet. NULL: there is no memory, or there are too many. */
struct rr_nlm_wait *rr_nlm_wait_make(struct rr_nlm_claim *claim, struct rr_span span, bool write,
	struct rr_nlm_waker *waker, const struct rr_nlm_way *way);
/* Begins to wait: until other owners have unlocked the range, or for some time. */
void rr_nlm_wait_stay(struct rr_nlm_wait *wait);
void rr_nlm_wait_later(struct rr_nlm_wait *wait, uint64_t now);
/* Ends a wait, in whatever phase it is. */
void rr_nlm_wait_end(struct rr_nlm_wait *wait);
void rr_nlm_waker_init(struct rr_nlm_waker *waker, void (*wake)(struct rr_nlm_waker *waker));
/* Ends the waits of a server that ends, but for those that it is taking, which end when they were taken or
 * have to wait again. The server may end before others that share the tables. */
void rr_nlm_waker_end(struct rr_nlm_waker *waker);
/* Makes the waits ready that a local program was in the way of `apart` ago. */
void rr_nlm_waits_again(struct rr_nlm_waker *waker, uint64_t now, uint64_t apart);

#endif
