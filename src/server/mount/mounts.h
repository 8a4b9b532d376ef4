/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_MOUNT_MOUNTS_H
#define RR_SERVER_MOUNT_MOUNTS_H

#include <rpcrdma/xdr.h>

#include "base/address.h"
#include "base/env.h"

/* This is the list of which clients mounted which directories, for MOUNTPROC3_DUMP: one list for all threads.
 * It is for information only: a client that goes away without UMNT stays in the list until its entry is
 * needed for another. */

/* The number of entries; octets of a path and of a host, each with the closing zero. */
enum { RR_MOUNTS_MAX = 256, RR_MOUNTS_PATH = 256, RR_MOUNTS_HOST = 48 };

struct rr_mounts;

/* A mount, as DUMP returns it. */
struct rr_mounts_entry {
	char host[RR_MOUNTS_HOST]; /* a numeric address; empty: the entry is free */
	char path[RR_MOUNTS_PATH]; /* cut if it is longer */
	uint64_t number;           /* counts the MNTs; 0: the entry is free */
};

/* Makes an empty list. Errors: NOMEM. */
int rr_mounts_new(const struct rr_env *env, struct rr_mounts **mounts);
void rr_mounts_free(struct rr_mounts *mounts);

/* Adds a mount, after MNT succeeded. If the list has this mount already, the mount becomes the newest entry.
 * If no entry is free, the oldest is replaced. A client whose address is not known is not listed. */
void rr_mounts_add(struct rr_mounts *mounts, const struct rr_source *source, struct rpcrdma_bytes path);

/* Removes a mount of the client after UMNT. If path is NULL, removes all mounts of the client, after
 * UMNTALL. */
void rr_mounts_remove(
	struct rr_mounts *mounts, const struct rr_source *source, const struct rpcrdma_bytes *path);

/* Copies entry i, which is below RR_MOUNTS_MAX. Returns false if the entry is free, or is that of another
 * client than "only". If "only" is NULL, the entry may be of any client. */
bool rr_mounts_get(
	struct rr_mounts *mounts, uint32_t i, const struct rr_source *only, struct rr_mounts_entry *entry);

#endif
