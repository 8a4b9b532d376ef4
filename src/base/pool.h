/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_POOL_H
#define RR_BASE_POOL_H

#include "base/share.h"

/*
 * Payload memory of one engine: page-aligned buffers, kept for reuse, and a
 * bound on their sum, which is shared fairly by the parties (share.h) that take
 * them:
 *
 * - A party that holds RR_POOL_START octets at most after a request gets them
 *   as long as any are free. An eighth of the pool is kept for such requests.
 * - Of the rest, a party that holds nothing gets its first buffer when it is
 *   free; one that holds some may hold as much as is still free, so that each
 *   of n greedy ones gets one part of n + 1, and one part is always free. The
 *   parties of one peer address leave an eighth to other addresses.
 * - What parties hold beyond what they have proved to move, octets that went
 *   through buffers which came back in time, may be five eighths of the pool together,
 *   unless one party alone holds such, and no other one waits. So those that are silent,
 *   slow or new never keep the others from all of the pool. Half of these are for first
 *   buffers; of the other half, a party has no more than one part of
 *   RR_POOL_NEWCOMERS while others wait, so that they do not keep out each other.
 *
 * A request that is not granted may wait. Waiters are woken from the loop as
 * buffers come back, one of each party in turn; new requests do not overtake
 * those that are due. Requests of no party are bound by what is free alone.
 *
 * A message that comes slowly takes its memory as its octets come: rr_pool_step() and
 * rr_pool_grow(). One that waits for a larger buffer meanwhile holds the smaller one;
 * so that such do not wait for each other for ever, one of them at a time may have more
 * than the part of those that have proved nothing.
 *
 * Sizes are rounded up to a quarter of the power of two below them, and to
 * 4096 octets, so that 1 MiB with its header takes 1.25 MiB; buffers up
 * to RR_POOL_KEPT octets are kept on free lists when they come back, so that
 * a stream of calls does not allocate.
 */
enum {
	RR_POOL_KEPT = 1 << 21,
	RR_POOL_START = 256 << 10,
	RR_POOL_STEP = 64 << 10,
	RR_POOL_RESERVE = 8,
	RR_POOL_UNPROVEN = 5,
	RR_POOL_NEWCOMERS = 32
};

struct rr_pool_waiter {
	void (*wake)(struct rr_pool_waiter *waiter); /* called from the loop; may get, and wait again */
	struct rr_list link;                         /* initialised with rr_list_init() before use */
	size_t size;                                 /* private: octets that it waits for */
};

/* NULL: no memory. max: octets that may be out at a time. resource: which account of each party it is. */
struct rr_pool *rr_pool_new(struct rr_shares *shares, enum rr_resource resource, size_t max);

/* Every buffer must have come back. pool may be NULL. */
void rr_pool_free(struct rr_pool *pool);

/*
 * A buffer of at least size octets for party (may be NULL), contents undefined. NULL where the bound or the
 * party's share is reached, where others wait for what is due to them (unless the party is the one being
 * woken), or where there is no memory; a request above the bound as a whole is granted only while nothing
 * else is out, so that it is slow, not stuck.
 */
void *rr_pool_get(struct rr_pool *pool, struct rr_party *party, size_t size);

/* The same; where so much is not granted to a party that holds nothing of the pool, a buffer of least octets,
 * and *size becomes least. */
void *rr_pool_get_some(struct rr_pool *pool, struct rr_party *party, size_t *size, size_t least);

/*
 * Of something that will have wanted octets in all, so many have come: the size of the buffer that the party
 * asks for next in the place of buffer, which may be NULL. All of it, where the party has proved to move what
 * it holds, where it holds something else, or where there is plenty; else RR_POOL_STEP to begin with, and
 * then what has come, as sizes are rounded up.
 */
size_t rr_pool_step(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t come, size_t wanted);

/*
 * A buffer of size octets in the place of buffer, which has come back, with its first length octets. The
 * request is judged as if the party did not hold buffer. NULL as of rr_pool_get(): then the party has buffer
 * as before, also while it waits. buffer may be NULL.
 */
void *rr_pool_grow(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t length, size_t size);

/* Whether nothing but buffer is out: to wait for a larger one would be in vain. buffer may be NULL. */
bool rr_pool_is_alone(const struct rr_pool *pool, void *buffer);

/* buffer may be NULL. */
void rr_pool_put(struct rr_pool *pool, void *buffer);

/*
 * A buffer whose first octets are those of buffer, of at least length octets, and not larger than it must be:
 * buffer itself where no smaller one would do, or there is none. The other one came back.
 */
void *rr_pool_trim(struct rr_pool *pool, void *buffer, size_t length);

/* Queues waiter, whose party was refused a buffer just now, until that can be granted; no effect where it
 * waits already. rr_list_remove(&waiter->link) ends the wait. */
void rr_pool_wait(struct rr_pool *pool, struct rr_party *party, struct rr_pool_waiter *waiter);

/* Whether nothing is out and nobody waits: a request that was refused is so for lack of memory, and waiting
 * would be in vain. */
bool rr_pool_is_idle(const struct rr_pool *pool);

/* Whether anybody waits. */
bool rr_pool_is_wanted(const struct rr_pool *pool);

/* Since when some party has been waiting for what is due to it; 0: there is none. */
uint64_t rr_pool_due_since(const struct rr_pool *pool);

/* Whether the party has proved to move some of what it holds. True for NULL. */
bool rr_pool_has_proved(const struct rr_pool *pool, const struct rr_party *party);

/* Looks whether the party has held a buffer for too long to be believed to move what it holds. */
void rr_pool_doubt(struct rr_pool *pool, struct rr_party *party);

/* Octets that are out now, and the most there ever were. */
size_t rr_pool_used(const struct rr_pool *pool);
size_t rr_pool_peak(const struct rr_pool *pool);

#endif
