/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_LOCKS_TABLE_H
#define RR_SERVER_LOCKS_TABLE_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "server/locks/range.h"
#include "vfs/vfs.h"

/*
 * The locks of all files, and those who wait for them, above any one protocol: what a client of one protocol
 * has locked is in the way of the clients of all others, and when it is unlocked, those of all protocols who
 * wait for it have their turns.
 *
 * All threads and all protocols share the table. Its mutex is held around each function here, and around the
 * functions of each protocol's own tables; it is never held over storage or I/O.
 *
 * Ownership: owners of ranges and waits belong to their protocols. An entry of a file stays as long as
 * somebody uses it, and is freed with its last user.
 */

enum { RR_LOCKS_GRACE_NFS4 = 1, RR_LOCKS_GRACE_NLM = 2 };

struct rr_locks {
	const struct rr_env *env;
	pthread_mutex_t mutex;
	struct rr_map files;
	uint64_t secret;
	struct rr_list to_look; /* files whose waits are to be looked at */
	/* RR_LOCKS_GRACE_*: the protocols whose clients may still reclaim what they held before the start.
	 * None gives new locks until all have had their time. */
	uint32_t graces;
};

/* A file of which ranges are locked, or for which somebody waits. */
struct rr_locks_file {
	struct rr_map_link by_id;
	struct rr_locks *locks;
	struct rr_vfs_id id;
	struct rr_locked locked;
	uint32_t users;
	/* The waits, and their number; how many of them are still to be looked at since a range was unlocked;
	 * and the place in the list to_look. wait.c keeps these. */
	struct rr_list waits, to_look;
	uint32_t wait_count, looks;
};

/* Makes an empty table, and frees it; nobody uses a file of it any more then. Errors: NOMEM. locks may be
 * NULL in rr_locks_free(). */
int rr_locks_new(const struct rr_env *env, struct rr_locks **locks);
void rr_locks_free(struct rr_locks *locks);

/* Tells whether both identify the same object: also by its birth, as a number may be used again. */
bool rr_locks_is_same(const struct rr_vfs_id *a, const struct rr_vfs_id *b);
/* Returns a hash of the identity, which begins with a secret, so that no client can choose files that have
 * the same hash. */
uint64_t rr_locks_hash(uint64_t secret, const struct rr_vfs_id *id);

/* Returns the entry of a file; NULL if nobody uses it. */
struct rr_locks_file *rr_locks_find(const struct rr_locks *locks, const struct rr_vfs_id *id);
/* Returns the entry of a file, for one more user, and makes it if there is none. NULL: there is no memory. */
struct rr_locks_file *rr_locks_use(struct rr_locks *locks, const struct rr_vfs_id *id);
/* Gives the entry back. file may be NULL. */
void rr_locks_leave(struct rr_locks_file *file);

/* ---- Conflicts ---- */

enum { RR_LOCKS_OWNER_MAX = 1024 };

/* The lock of another owner, as each protocol tells its clients of it. */
struct rr_locks_holder {
	struct rr_span span;
	bool write;
	uint64_t client; /* the client ID of NFS version 4; 0: the owner is of another protocol */
	int32_t svid;    /* of NLM; 0: the owner is of another protocol */
	uint32_t owner_length;
	uint8_t owner[RR_LOCKS_OWNER_MAX];
};

/* An owner of ranges does one of these when another wants what it has. */
enum rr_locks_yield {
	RR_LOCKS_STAYS, /* the lock is refused to others */
	RR_LOCKS_CEDES, /* the owner's client ends, by end() */
	RR_LOCKS_ENDS   /* the ranges are being unlocked: the lock can be had soon */
};

/* The functions of a protocol for the owners of ranges that are its own: rr_ranges.kind. */
struct rr_locks_kind {
	/* asker: the client that wants the lock, as its own protocol has it; other protocols do not look at
	 * it. */
	enum rr_locks_yield (*yields)(struct rr_ranges *owner, const void *asker);
	void (*end)(struct rr_ranges *owner);
	/* Fills in client, svid and owner. */
	void (*describe)(struct rr_ranges *owner, struct rr_locks_holder *holder);
};

enum rr_locks_answer {
	RR_LOCKS_FREE,
	RR_LOCKS_HELD, /* by another owner */
	RR_LOCKS_SOON  /* other owners have the lock, and it is being taken from them */
};

/* Tells whether a lock can be had, and describes the lock in the way in *holder, with RR_LOCKS_HELD. If only
 * owners who cede have such locks, these are ended. */
enum rr_locks_answer rr_locks_ask(struct rr_locks *locks, const struct rr_vfs_id *id,
	const struct rr_range_wanted *wanted, const void *asker, struct rr_locks_holder *holder);

/* ---- wait.c: those who wait ---- */

struct rr_locks_wait;

struct rr_locks_wait_kind {
	/* Returns the ranges that are the waiter's own, which it does not wait for; NULL: it has none. */
	const struct rr_ranges *(*own)(struct rr_locks_wait *wait);
	/* Is called when no other owner has the range any more, and the wait has left the file. The lock is
	 * not kept for the waiter. */
	void (*is_free)(struct rr_locks_wait *wait);
};

/* A wait for a range of a file. It is a member of its protocol's own structure. */
struct rr_locks_wait {
	const struct rr_locks_wait_kind *kind;
	struct rr_locks_file *file; /* NULL: nobody waits by this */
	struct rr_list of_file;
	struct rr_span span;
	bool write;
};

/* Begins a wait; its user has set kind, span and write. Uses the file once more. */
void rr_locks_wait_begin(struct rr_locks_wait *wait, struct rr_locks_file *file);
/* Ends a wait, without is_free(). Does nothing where nobody waits by it. */
void rr_locks_wait_leave(struct rr_locks_wait *wait);
/* Tells whether another owner has what the wait is for. */
bool rr_locks_wait_is_locked(struct rr_locks_wait *wait);

/* Notes that a range of the file was unlocked: rr_locks_go() looks at those who wait for a lock of it. */
void rr_locks_look(struct rr_locks_file *file);
/* Looks at up to `looks` waits of files of which ranges were unlocked, and calls is_free() of those whose
 * ranges are free now. Returns how many looks are left, if no wait is. Each file's waits have their turns one
 * after the other, of whatever protocol they are. */
uint32_t rr_locks_go(struct rr_locks *locks, uint32_t looks);

#endif
