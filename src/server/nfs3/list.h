/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS3_LIST_H
#define RR_SERVER_NFS3_LIST_H

#include "server/nfs3/attr.h"

/*
 * These functions read a directory in pieces, for READDIR and READDIRPLUS. Cookies are valid as long as the
 * directory exists, so the cookie verifier is always zero (RFC 1813, 3.3.16: "Servers in which directory
 * cookies are always valid are free to use zero as the verifier always").
 */

/* Sizes in octets of XDR (RFC 1813, 3.3.16): of attributes; of a result with the directory's attributes and
 * without entries; of an entry without its name; of what READDIRPLUS adds to an entry, without the octets of
 * the handle. */
enum {
	RR_NFS_FATTR_SIZE = 84,
	RR_NFS_LIST_SIZE = 4 + RR_NFS_FATTR_SIZE + NFS3_COOKIEVERFSIZE + 4 + 4,
	RR_NFS_ENTRY_SIZE = 4 + 8 + 4 + 8,
	RR_NFS_PLUS_SIZE = 4 + RR_NFS_FATTR_SIZE + 4 + 4
};

/* Begins to list a directory from cookie on, at most max octets of XDR, and no more than the reply has room
 * for. The entries are passed to the function work->op.listing.readdir.take, which the caller has set. */
enum rr_vfs_status rr_nfs_list_begin(struct rr_nfs_work *work, nfs_fh3 directory, uint64_t cookie,
	const cookieverf3 verifier, uint32_t max);

/* Returns the status of a reply to READDIR or READDIRPLUS. It is NFS3ERR_TOOSMALL if not even the first entry
 * fits. */
nfsstat3 rr_nfs_list_status(const struct rr_nfs_work *work, enum rr_vfs_status status);

/* Copies a name into the request's memory. Returns false if that memory is used up. */
bool rr_nfs_list_name(struct rpcrdma_request *request, struct rpcrdma_bytes given, filename3 *name);

/* Return the octets of the results of a call, and of the arena in which they are made (struct rr_service). */
uint32_t rr_nfs_readdir_max(const struct rpcrdma_request *request, const void *args);
uint32_t rr_nfs_readdirplus_max(const struct rpcrdma_request *request, const void *args);
uint32_t rr_nfs_readdir_arena(const struct rpcrdma_request *request, const void *args);
uint32_t rr_nfs_readdirplus_arena(const struct rpcrdma_request *request, const void *args);

/* Subtracts size octets from *left. Returns false if fewer are left. */
bool rr_nfs_list_take(uint32_t *left, uint64_t size);

#endif
