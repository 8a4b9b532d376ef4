/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_SHARE_H
#define RR_BASE_SHARE_SHARE_H

#include "base/host.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/siphash.h"

/*
 * Fair shares of memory and connections, which an engine has only so much of. Each connection is a party: it
 * has an account with each pool (pool.h). Parties of one peer address belong to one host, which is bounded,
 * too.
 *
 * While some party waits for memory to which it is entitled (pool.h says when), an umpire, which is a timer,
 * looks at all others every RR_SHARE_TICK. A party that holds memory for which others wait is cut off if its
 * peer moves less than rr_share_least() octets a second for RR_SHARE_LIMIT, or for RR_SHARE_LIMIT_NEW if it
 * has proved nothing. As long as no party waits, a peer may be as slow as it likes, and the umpire does
 * nothing.
 */
#define RR_SHARE_TICK      (125 * RR_MILLISECOND)
#define RR_SHARE_LIMIT     (500 * RR_MILLISECOND)
#define RR_SHARE_LIMIT_NEW (250 * RR_MILLISECOND) /* of a party that has not proved yet to move anything */

/* A buffer that is held for longer than RR_SHARE_LATE proves nothing. Neither does a buffer that comes back
 * within RR_SHARE_PROBATION after that, or after the first buffer of a connection came back. */
#define RR_SHARE_LATE      (500 * RR_MILLISECOND)
#define RR_SHARE_PROBATION RR_SECOND

/* The pools of an engine: for calls that arrive, for their results until these were sent, and for replies to
 * calls of this side. RR_RESOURCES is the number of pools. */
enum rr_resource { RR_ARRIVALS, RR_RESULTS, RR_REPLIES, RR_RESOURCES };

/* The least that a peer must move while others wait: octets a second, and a part of what its party holds. */
enum { RR_SHARE_SLOWEST = 64 << 10, RR_SHARE_TURNOVER = 8 };

/* The transport of an accepted connection. RR_NOT_ACCEPTED means that this side made the connection;
 * RR_ACCEPTED is the number of the values before it. */
enum rr_accepted { RR_NOT_ACCEPTED, RR_ACCEPTED_TCP, RR_ACCEPTED_RDMA, RR_ACCEPTED };

struct rr_pool;
struct rr_pool_head;
struct rr_party;

/* The account of a party with one pool: what the party holds, what its peer has proved to move (pool.h says
 * what proof and probation are), and its requests that wait. */
struct rr_account {
	struct rr_party *party;  /* NULL: requests of no party; no share bounds them */
	size_t used;             /* octets of the buffers that it holds */
	struct rr_list held;     /* its buffers, in the order in which they were granted */
	size_t proven;           /* octets that its peer has proved to move: its proof */
	uint64_t moved_before;   /* octets that do not prove anything: they moved before probation ended */
	uint64_t probation_ends; /* the time; 0: no buffer came back yet */
	size_t refused;          /* octets of the last request that was not granted */
	struct rr_pool_head *growing; /* the buffer for which a larger one is wanted; NULL: there is none */
	struct rr_list waiters;       /* struct rr_pool_waiter, the first come first */
	struct rr_list turn;          /* in the pool's list of accounts that wait */
	bool due;                     /* it waits for a buffer to which it is entitled */
	uint64_t due_since;           /* the time at which `due` became true */
};

/* The parties of one peer address, as rr_host_name() sees it. */
struct rr_host {
	struct rr_grave grave;
	struct rr_list link;
	struct rr_map_link by_name;
	uint32_t parties;
	uint32_t accepted; /* connections that it made */
	uint32_t silent;   /* those of them that are silent (admission.c): counted anew whenever there must be
			      room */
	size_t used[RR_RESOURCES];  /* octets that its parties hold of each pool */
	struct rr_payer_host payer; /* for the loop's time */
	char name[RR_HOST_NAME];
};

/* The functions by which the umpire asks about a connection, and ends it. They are called from the loop. */
struct rr_party_ops {
	/* Whether the next step is the peer's: it has something to take, or to bring. */
	bool (*is_awaited)(void *ctx);
	/* Octets that the peer has taken or brought so far. */
	uint64_t (*moved)(void *ctx);
	/* Whether calls of the peer are under way. May be NULL: never. */
	bool (*is_busy)(void *ctx);
	/* Ends the connection; why is for people. */
	void (*cut)(void *ctx, const char *why);
};

/* A connection as the pools and the umpire see it. */
struct rr_party {
	struct rr_grave grave;
	struct rr_shares *shares;
	struct rr_host *host;
	struct rr_list link;
	uint32_t references;   /* one of the connection, and one of each of its buffers in use */
	uint64_t number;       /* no other party of these shares ever has it; above 0 */
	struct rr_payer payer; /* for the loop's time */
	struct rr_account accounts[RR_RESOURCES];
	const struct rr_party_ops *ops; /* NULL once the connection ended */
	void *ctx;
	enum rr_accepted accepted;
	uint64_t accepted_at;
	uint64_t order; /* of its acceptance, or of its last call, among those of all parties */
	uint64_t busy_order, busy_since; /* its order when it was last seen busy, and the time at which it was
					    first seen busy with that order */
	bool called;                     /* a call came */
	uint64_t judged_from, moved_then; /* the beginning of the time that is judged, 0: there is none; and
					     the octets moved by then */
};

/* All parties and hosts of an engine. */
struct rr_shares {
	struct rr_loop *loop;
	struct rr_list parties, hosts;
	struct rr_map by_name;          /* the hosts; made with the first of them */
	uint8_t secret[RR_SIPHASH_KEY]; /* of by_name */
	struct rr_pool *pools[RR_RESOURCES];
	struct rr_timer timer;
	uint32_t accepted_max;          /* connections accepted at a time, set by the owner */
	uint32_t accepted[RR_ACCEPTED]; /* connections accepted now, of each kind */
	uint64_t order;                 /* of the last call or connection */
	uint64_t made;                  /* parties so far */
};

/* Initialises shares, which must be zeroed before. The owner sets accepted_max. */
void rr_shares_init(struct rr_shares *shares, struct rr_loop *loop);

/* Returns the key that a host of this name has in the map by_name. */
uint64_t rr_shares_hash(const struct rr_shares *shares, const char *name);

/* Returns the host with this name, or NULL if no connection of that host exists. */
struct rr_host *rr_shares_host(struct rr_shares *shares, const char *name);

/* Stops the umpire (the timer that cuts off slow connections) and frees the table of hosts. All parties must
 * have been freed before. */
void rr_shares_end(struct rr_shares *shares);

/* Makes a party with one reference, for a connection to peer, an address as text. By ops, which are called
 * with ctx, the umpire asks about the connection, and ends it. Returns NULL if there is no memory. */
struct rr_party *rr_party_new(
	struct rr_shares *shares, const char *peer, const struct rr_party_ops *ops, void *ctx);

/* rr_party_hold() adds a reference to party and returns party. rr_party_release() removes a reference, and
 * frees the party if it was the last one. party may be NULL. */
struct rr_party *rr_party_hold(struct rr_party *party);
void rr_party_release(struct rr_party *party);

/* Returns a number that stands for the host of the party. */
static inline uint64_t
rr_party_host(const struct rr_party *party)
{
	return party->host->by_name.key;
}

/* Notes that the connection with that ctx has ended: it no longer counts as accepted, and the umpire asks no
 * more about it. Nothing is noted if the party was made for another connection, with another ctx, and this
 * connection only shares it (rr_carrier_join()). In any case the function removes a reference, as
 * rr_party_release() does. party may be NULL. */
void rr_party_end(struct rr_party *party, const void *ctx);

/* Returns how many octets a second a connection that holds `held` octets must move while others wait for
 * memory. */
static inline uint64_t
rr_share_least(size_t held)
{
	return held / RR_SHARE_TURNOVER > RR_SHARE_SLOWEST ? held / RR_SHARE_TURNOVER : RR_SHARE_SLOWEST;
}

/* ---- admission.c: connections that peers make ---- */

/* Whether a new connection of the peer may be accepted. If accepted_max connections exist already, cuts off
 * one of them to make room. False means that no connection may be cut off for this peer: the new one must be
 * declined. */
bool rr_shares_admit(struct rr_shares *shares, const char *peer);

/* Cuts off one connection of that kind (of any kind if it is RR_NOT_ACCEPTED) to make room for the peer.
 * Returns false if no connection may be cut off for this peer. */
bool rr_shares_make_room(struct rr_shares *shares, const char *peer, enum rr_accepted kind);

/* Counts the connection of party as one that this side accepted, of that kind, until rr_party_leaves() is
 * called. */
void rr_party_accepted(struct rr_party *party, enum rr_accepted kind);

/* Stops counting the connection of party as one that this side accepted. */
void rr_party_leaves(struct rr_party *party);

/* Notes that the party's peer has sent a call: the party is not silent, and its order is now the latest. */
static inline void
rr_party_called(struct rr_party *party)
{
	party->called = true;
	party->order = ++party->shares->order;
}

/* Returns how many accepted connections there are now. */
uint32_t rr_shares_accepted(const struct rr_shares *shares);

/* Starts the umpire (the timer that cuts off slow connections), unless it is armed already. Is called when an
 * account begins to wait for memory that is due to it. */
void rr_shares_wanted(struct rr_shares *shares);

#endif
