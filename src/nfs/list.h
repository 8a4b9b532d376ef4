/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_LIST_H
#define RR_NFS_LIST_H

#include <dirent.h>

#include "nfs/attr.h"

/*
 * Reading a directory in pieces, for READDIR and READDIRPLUS.
 *
 * A cookie is the position that the file system gave with an entry (d_off):
 * it lasts as long as the directory, so that the cookie verifier is always
 * zero (RFC 1813, 3.3.16: "Servers in which directory cookies are always
 * valid are free to use zero as the verifier always").
 */

struct rr_nfs_listing {
	struct rr_nfs_server *server;
	struct rr_request *request;
	/* Takes entry into the result; false where there is no room for it. */
	bool (*add)(struct rr_nfs_listing *listing, const struct dirent64 *entry);
	struct rr_object directory;
	uint32_t room; /* octets of the result that are left */
	bool any;      /* an entry was taken */
	bool eof;
};

/* Octets of XDR (RFC 1813, 3.3.16): a result besides its entries, with attributes, and an entry besides its
 * name. */
enum {
	RR_NFS_FATTR_SIZE = 84,
	RR_NFS_LIST_SIZE = 4 + RR_NFS_FATTR_SIZE + NFS3_COOKIEVERFSIZE + 4 + 4,
	RR_NFS_ENTRY_SIZE = 4 + 8 + 4 + 8
};

/* Lists a directory from cookie on into at most max octets of XDR. Its attributes are the caller's to give
 * back, also after an error. */
nfsstat3 rr_nfs_list(struct rr_nfs_listing *listing, nfs_fh3 directory, uint64_t cookie,
	const cookieverf3 verifier, uint32_t max, post_op_attr *attributes);

/* A name in the request's memory; false where that is used up. */
bool rr_nfs_list_name(struct rr_nfs_listing *listing, const char *text, filename3 *name);

/* Takes size octets from what is left; false where they are not. */
bool rr_nfs_list_take(uint32_t *left, uint64_t size);

#endif
