/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_PSEUDO_H
#define RR_SERVER_NFS4_PSEUDO_H

#include "vfs/door.h"

/*
 * The pseudo root: the directories above the exports, RFC 8881, section 7.3. It is a tree in memory, made
 * once from the names of the exports. If an export is named "/", that export is the root itself, and the tree
 * is empty. A directory or export is known here by its index in the array `entries`.
 */

enum { RR_PSEUDO_MAX = 512 };

struct rr_pseudo_entry {
	uint32_t parent; /* index of the directory above; that of the root is the root */
	bool is_export;
	uint32_t export; /* index of the export in struct rr_vfs, if is_export */
	struct rpcrdma_bytes name;
	uint64_t number; /* within its file system: the same after a restart */
};

struct rr_pseudo {
	const struct rr_env *env;
	/* Entry 0 is the root; a directory stands before its entries. */
	struct rr_pseudo_entry *entries;
	uint32_t count;
	bool is_empty;        /* an export is the root, so that there are no directories above it */
	uint32_t root_export; /* index of that export, if is_empty */
};

/* Makes the tree. root: the export that is the root of version 4 (fsid=0 in exports(5)), or the count of
 * exports: exports below its name have the rest of their names, and only if there are none it is the root
 * itself. If an export lies in another export, or both have the same name, the later one of the two
 * is left out, and a warning says so; so is an export for which RR_PSEUDO_MAX entries are too few. Errors:
 * NOMEM, with text. */
int rr_pseudo_init(struct rr_pseudo *pseudo, const struct rr_env *env, const struct rr_vfs *vfs,
	uint32_t root, struct rr_text *text);
/* Frees the tree. Zeroed memory may be given, too. */
void rr_pseudo_free(struct rr_pseudo *pseudo);

/* Returns the index of the entry with that name in the directory; pseudo->count if there is no such entry. */
uint32_t rr_pseudo_lookup(const struct rr_pseudo *pseudo, uint32_t directory, struct rpcrdma_bytes name);

/* Returns the index of the entry of an export; 0, the root of the tree, if the export has no entry. */
uint32_t rr_pseudo_of_export(const struct rr_pseudo *pseudo, uint32_t export);

/* Stores the handle of a directory of the tree in *handle. */
void rr_pseudo_handle(const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_handle *handle);
/* Returns the index of the directory that a handle names; pseudo->count if the handle names no directory of
 * the tree. */
uint32_t rr_pseudo_find(const struct rr_pseudo *pseudo, struct rpcrdma_bytes handle);

/* Fills in the attributes of a directory; their id.fsid differs from that of all exported file systems. */
void rr_pseudo_attributes(
	const struct rr_pseudo *pseudo, uint32_t directory, struct rr_vfs_attributes *attributes);

#endif
