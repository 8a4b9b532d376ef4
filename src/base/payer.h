/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_PAYER_H
#define RR_BASE_PAYER_H

#include "base/env.h"
#include "base/fair_queue.h"

/*
 * Who pays for the time of an event loop. A payer is a connection; payers of one peer address belong to one
 * host. Each is charged with the time that was spent for it: to receive, to serve calls, to send. The host
 * that has used least is next and, of its payers, the one that has used least: so a host gets no more of the
 * time with many connections than with one, nor with calls that are long or large.
 */

/* A host: all payers of one peer address. Zeroed, and then initialised, before its first payer. */
struct rr_payer_host {
	struct rr_fair_member turn;   /* among the hosts, while payers of the host wait */
	struct rr_fair_queue waiting; /* the payers that wait */
};

/* A payer; zeroed, and then initialised, before its first use. */
struct rr_payer {
	struct rr_payer_host *host;
	struct rr_fair_member turn; /* in `waiting` of the host */
	void *ctx;                  /* of whoever has the payer wait: what is to be served in its turn */
};

/* A host whose last payer has left; 0 as the key: none. */
struct rr_payer_left {
	uint64_t key, tag;
};

enum { RR_PAYERS_LEFT = 256 };

/* All payers of a loop. */
struct rr_payers {
	struct rr_fair_queue hosts; /* those with payers that wait */
	/* Of the hosts with the same place in this table, the one that had used most. */
	struct rr_payer_left left[RR_PAYERS_LEFT];
};

/* credit: how much time a host, or a payer among those of its host, can save up. */
void rr_payers_init(struct rr_payers *payers, uint64_t credit);

/* Begins and ends the account of a host. key stands for its address, and is above 0. A host that is new has
 * as much credit as it can have, so that the first calls of a client need not wait. A host that left and
 * comes again goes on where it was: otherwise an attacker would make a new connection for each call. */
void rr_payer_host_init(const struct rr_payers *payers, struct rr_payer_host *host, uint64_t key);
void rr_payer_host_end(struct rr_payers *payers, const struct rr_payer_host *host, uint64_t key);

/* Begins the account of a payer. It has saved nothing up among the payers of its host. */
void rr_payer_init(struct rr_payer *payer, struct rr_payer_host *host);

/* Has the payer wait for its turn. It keeps its place if it waits already. */
void rr_payer_wait(struct rr_payers *payers, struct rr_payer *payer);

/* Takes the payer out of those that wait. Does nothing if it does not wait. */
void rr_payer_leave(struct rr_payers *payers, struct rr_payer *payer);

/* Returns the payer whose turn is next, which goes on waiting. Returns NULL if none waits. */
struct rr_payer *rr_payers_first(const struct rr_payers *payers);

/* Takes the payer whose turn is next out of those that wait, and returns it. Returns NULL if none waits. */
struct rr_payer *rr_payers_take(struct rr_payers *payers);

/* Notes that something is done for the payer, which is the first of those for whom something is to be done.
 */
void rr_payer_begin(struct rr_payers *payers, const struct rr_payer *payer);

/* Charges the payer, and its host, with the time that was spent for it. It may wait meanwhile. */
void rr_payer_charge(struct rr_payers *payers, struct rr_payer *payer, uint64_t time);

/* Takes back time with which the payer, and its host, were charged. */
void rr_payer_refund(struct rr_payers *payers, struct rr_payer *payer, uint64_t time);

/* Tells whether the turn of a comes before that of b: its host, or of two payers of one host the payer
 * itself, has used less. */
static inline bool
rr_payer_is_before(const struct rr_payer *a, const struct rr_payer *b)
{
	return a->host == b->host ? a->turn.tag < b->turn.tag : a->host->turn.tag < b->host->turn.tag;
}

/* Tells whether no payer waits. */
static inline bool
rr_payers_are_idle(const struct rr_payers *payers)
{
	return rr_fair_queue_empty(&payers->hosts);
}

#endif
