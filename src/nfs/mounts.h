/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_MOUNTS_H
#define RR_NFS_MOUNTS_H

#include <rpcrdma/xdr.h>

#include "base/address.h"
#include "base/env.h"

/*
 * Which clients mounted which directories, for MOUNTPROC3_DUMP: one list for all threads. The list only
 * informs: a client that goes away without UMNT stays in it until others need its place.
 */

enum { RR_MOUNTS_MAX = 256, RR_MOUNTS_PATH = 256, RR_MOUNTS_HOST = 48 };

struct rr_mounts;

/* One mount, as DUMP has it. */
struct rr_mounts_entry {
	char host[RR_MOUNTS_HOST]; /* a numeric address; empty: the entry is free */
	char path[RR_MOUNTS_PATH]; /* cut where it is longer */
	uint64_t number;           /* of the MNT, counted */
};

int rr_mounts_new(const struct rr_env *env, struct rr_mounts **mounts);
void rr_mounts_free(struct rr_mounts *mounts);

/* After MNT succeeded. The oldest entry goes where there is no free one. */
void rr_mounts_add(struct rr_mounts *mounts, const struct rr_source *source, struct rpcrdma_bytes path);

/* After UMNT, or UMNTALL: path NULL. */
void rr_mounts_remove(
	struct rr_mounts *mounts, const struct rr_source *source, const struct rpcrdma_bytes *path);

/* Copies entry i, below RR_MOUNTS_MAX. False: it is free, or not of only; NULL: of everybody. */
bool rr_mounts_get(
	struct rr_mounts *mounts, uint32_t i, const struct rr_source *only, struct rr_mounts_entry *entry);

#endif
