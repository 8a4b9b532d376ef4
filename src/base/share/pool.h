/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_POOL_H
#define RR_BASE_SHARE_POOL_H

#include "base/share/share.h"

/*
 * Payload memory of one engine: page-aligned buffers, kept for reuse, with a
 * bound on their sum. Each buffer belongs to the account (share.h) of a party, which is a connection. The
 * parties share the memory fairly:
 *
 * - A request is small if its party, with the new buffer, holds RR_POOL_START
 *   octets at most. Small requests are granted as long as any memory is free: an
 *   eighth of the pool is kept for them.
 * - Of the rest, a party that holds nothing gets its first buffer when there is
 *   memory for it; a party that holds some may hold as much as is still free, so that
 *   each of n greedy parties gets one part of n + 1, and one part is always free. The
 *   parties of one peer address leave an eighth to other addresses.
 * - A party proves to move octets by buffers that come back in time: its peer has then sent
 *   or taken octets, and their number is the party's proof. In the first time of a
 *   connection, and after a buffer that came back late, the party is on probation: the
 *   octets that its peer moves then are no proof. What a party holds beyond its proof is
 *   memory without proof. All parties together may hold five eighths of the pool as memory
 *   without proof, unless one party alone holds such memory, and no other one waits. So
 *   parties that are silent, slow or new never keep the others from all of the pool. Half of
 *   the memory without proof is for first buffers. While others wait, a party that holds a
 *   buffer already may have no more memory without proof than one part in RR_POOL_NEWCOMERS
 *   of all of it, so that parties without proof do not keep out each other.
 *
 * A request that is not granted may wait. Waiters are woken from the loop as
 * buffers come back, one of each party in turn, but that first whose party has used least of the loop's time.
 * A waiting request is due if its party is entitled to the
 * buffer however much others hold: it is a small one, or for the party's first buffer, or for a larger buffer
 * in place of the party's only one. New requests do not overtake requests that are due. Requests of no party
 * are bound by the free memory alone, and are due as well.
 *
 * A message that comes slowly takes its memory as its octets come: rr_pool_step() and
 * rr_pool_grow(). A party that waits for a larger buffer meanwhile holds the smaller
 * buffer. So that such parties do not wait for each other for ever, one of them at a
 * time, the guest, may go beyond the bound on memory without proof.
 *
 * Sizes are rounded up to a multiple of 4096 octets that is also a multiple of a quarter of the power of two
 * below them, so that 1 MiB with its header takes 1.25 MiB. Buffers up to RR_POOL_KEPT octets are kept on
 * free lists when they come back, so that a stream of calls does not allocate.
 */
enum {
	RR_POOL_KEPT = 1 << 21,    /* octets of the largest buffer that is kept for reuse */
	RR_POOL_START = 256 << 10, /* octets that a party may hold by small requests */
	RR_POOL_STEP = 64 << 10,   /* octets of the first buffer of a message that comes slowly */
	RR_POOL_RESERVE = 8,       /* one part in so many of the pool is kept for small requests */
	RR_POOL_UNPROVEN = 5,      /* so many eighths of the pool may be memory without proof */
	RR_POOL_NEWCOMERS = 32     /* one part in so many of that memory is for one party while others wait */
};

/* A request that waits for memory. */
struct rr_pool_waiter {
	void (*wake)(struct rr_pool_waiter *waiter); /* called from the loop; may get, and wait again */
	struct rr_list link;                         /* initialised with rr_list_init() before use */
	size_t size;                                 /* private: octets that the request is for */
};

/* Makes a pool for the buffers of this resource, and enters it in shares->pools, so that the umpire sees it.
 * max is the most octets that all buffers in use may have together. Returns NULL if there is no memory. */
struct rr_pool *rr_pool_new(struct rr_shares *shares, enum rr_resource resource, size_t max);

/* Frees the pool, which may be NULL. All buffers must have been given back before. */
void rr_pool_free(struct rr_pool *pool);

/* Takes a buffer of at least size octets for party, which may be NULL; the contents of the buffer are
 * undefined. Returns NULL if the bound or the party's share is reached, if others wait for memory that is due
 * to them (unless the party's own request is being woken), or if there is no memory. A request that is larger
 * than the bound is granted if no other buffer is in use: such requests are slow, but come through. */
void *rr_pool_get(struct rr_pool *pool, struct rr_party *party, size_t size);

/* Takes a buffer of *size octets as rr_pool_get() does. If that is not granted, and the party holds no buffer
 * of the pool, takes a buffer of least octets instead, and sets *size to least. Returns NULL if neither is
 * granted. */
void *rr_pool_get_some(struct rr_pool *pool, struct rr_party *party, size_t *size, size_t least);

/* Returns how large the next buffer should be for something that comes slowly: `come` octets have come, and
 * `wanted` octets will have come in the end. buffer is the buffer that it has now, which the next one
 * replaces, or NULL if it has none. The result is `wanted` if the party's peer has moved octets that count as
 * proof, if the party holds another buffer, if there is plenty of memory, or if `wanted` is more than a
 * quarter of the pool. Else it is at first RR_POOL_STEP, and later `come`, rounded up, but `wanted` at
 * most. */
size_t rr_pool_step(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t come, size_t wanted);

/* Replaces buffer by a buffer of size octets with the same first length octets, and takes buffer back. The
 * request is judged as if the party did not hold buffer. If the request is not granted, returns NULL, as
 * rr_pool_get() does: the party then keeps buffer, also while it waits. buffer may be NULL. */
void *rr_pool_grow(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t length, size_t size);

/* Whether `buffer` is the only buffer of the pool that is in use: waiting for a larger one would then be in
 * vain. False if buffer is NULL. */
bool rr_pool_is_alone(const struct rr_pool *pool, void *buffer);

/* Gives buffer back to the pool. buffer may be NULL. */
void rr_pool_put(struct rr_pool *pool, void *buffer);

/* Replaces buffer by a smaller buffer with the same first length octets, and takes buffer back. Returns the
 * new buffer, or buffer itself if a smaller one has no room for these octets or cannot be had. */
void *rr_pool_trim(struct rr_pool *pool, void *buffer, size_t length);

/* Queues waiter until the buffer that its party has just been refused can be granted. Does nothing if waiter
 * is queued already. rr_list_remove(&waiter->link) ends the wait. */
void rr_pool_wait(struct rr_pool *pool, struct rr_party *party, struct rr_pool_waiter *waiter);

/* Whether no buffer is in use, and either no request waits, or one is just being woken. A caller whose
 * request was refused asks this: true means that the request was refused because the system has no memory,
 * and that waiting would be in vain. */
bool rr_pool_is_idle(const struct rr_pool *pool);

/* Whether any request waits for memory of the pool. */
bool rr_pool_is_wanted(const struct rr_pool *pool);

/* Returns the time since when some party (connection) has been waiting for memory that is due to it, the
 * earliest if several parties wait. Returns 0 if there is no such party. */
uint64_t rr_pool_due_since(const struct rr_pool *pool);

/* Whether the peer of the party, a connection, has sent or taken octets that count as proof that the party
 * moves what it holds. True also if party is NULL. */
bool rr_pool_has_proved(const struct rr_pool *pool, const struct rr_party *party);

/* If the party has proof, but has now held a buffer of the pool for longer than RR_SHARE_LATE, takes the
 * proof away and begins another probation: octets that its peer moves in this time do not count as proof. */
void rr_pool_doubt(struct rr_pool *pool, struct rr_party *party);

/* Return how many octets of the pool are in use now, and the most that were ever in use at a time. */
size_t rr_pool_used(const struct rr_pool *pool);
size_t rr_pool_peak(const struct rr_pool *pool);

#endif
