/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_PSEUDO_H
#define RR_NFS4_PSEUDO_H

#include "vfs/vfs.h"

/*
 * The directories above the exports, RFC 8881, section 7.3: a tree in memory that nothing changes, made of
 * the exports' names. An export named "/" is the root itself, and there is no such tree.
 */

enum { RR_PSEUDO_MAX = 512, RR_PSEUDO_DEPTH = 32 };

struct rr_pseudo_entry {
	uint32_t parent; /* index of a directory; that of the root is the root */
	bool is_export;
	uint32_t export; /* its number */
	struct rpcrdma_bytes name;
	uint64_t number; /* within its file system: the same after a restart */
};

struct rr_pseudo {
	const struct rr_env *env;
	/* Entry 0 is the root; a parent comes before its entries. */
	struct rr_pseudo_entry *entries;
	uint32_t count;
	bool is_empty; /* an export is the root */
	uint32_t root_export;
};

/* An export that lies in another one is not in the tree: a warning says so. Errors: NOMEM. */
int rr_pseudo_init(
	struct rr_pseudo *pseudo, const struct rr_env *env, const struct rr_vfs *vfs, struct rr_text *text);
void rr_pseudo_free(struct rr_pseudo *pseudo);

/* The entry of a directory with that name; count: there is none. */
uint32_t rr_pseudo_lookup(const struct rr_pseudo *pseudo, uint32_t directory, struct rpcrdma_bytes name);

/* The entry of an export. */
uint32_t rr_pseudo_of_export(const struct rr_pseudo *pseudo, uint32_t export);

void rr_pseudo_handle(const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_handle *handle);
/* The directory of a handle; count: it is not one of these handles. */
uint32_t rr_pseudo_find(const struct rr_pseudo *pseudo, struct rpcrdma_bytes handle);

/* Attributes of a directory; id.fsid is that of no exported file system. */
void rr_pseudo_attributes(
	const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_attributes *attributes);

#endif
