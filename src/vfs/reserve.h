/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_RESERVE_H
#define RR_VFS_RESERVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "vfs/vfs.h"

/*
 * Share reservations: the access that opens have, and the access that they deny to others. All providers of
 * one kin share a struct rr_reserve. What a provider calls struct rr_vfs_open begins with a reservation. The
 * provider makes it as soon as it has opened the file, and the front door (door.h) ends it when the open is
 * closed. These functions may be called in any thread.
 */

enum { RR_RESERVE_SHARDS = 64 };

/* A file, as the provider knows it: no two files have both numbers in common as long as one of them is open.
 */
struct rr_reserve_file {
	uint64_t system, number;
};

struct rr_reservation {
	struct rr_list link; /* in a shard, while the reservation stands */
	struct rr_reserve_file file;
	uint32_t access, deny; /* RR_VFS_SHARE_*; access stays when the reservation has ended */
	bool stands;
};

struct rr_reserve {
	pthread_mutex_t lock;                     /* protects the shards; never held over a system call */
	struct rr_list shards[RR_RESERVE_SHARDS]; /* of reservations, by a hash of the file */
	_Atomic uint32_t denying;                 /* reservations that deny others anything */
	_Atomic uint32_t opens;                   /* that callers hold, with a reservation or without */
};

void rr_reserve_init(struct rr_reserve *reserve);
void rr_reserve_free(struct rr_reserve *reserve);

/* Makes the reservation of a new open of the file, with the access and the deny of the call. As
 * opening->relation says, the reservation of the open that the call names ends with this, or stands for both
 * opens. Returns RR_VFS_SHARE where another open denies this access, or has access that is to be denied:
 * there is no open then. */
enum rr_vfs_status rr_reserve_open(struct rr_reserve *reserve, const struct rr_vfs_opening *opening,
	struct rr_reserve_file file, struct rr_reservation *made);

/* Ends what rr_reserve_open() has made, for an open that is closed. */
void rr_reserve_close(struct rr_reserve *reserve, struct rr_reservation *reservation);

/* Tells whether any open of the file denies others this access. */
bool rr_reserve_denies(struct rr_reserve *reserve, struct rr_reserve_file file, uint32_t access);

/* Returns the reservation of an open, or NULL where open is NULL. */
static inline struct rr_reservation *
rr_reservation(struct rr_vfs_open *open)
{
	return (void *)open;
}

#endif
