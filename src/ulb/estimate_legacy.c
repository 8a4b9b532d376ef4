/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of replies of NFS versions 2 and 3, and of NFSACL. */
#include "ulb/estimate_private.h"
#include "ulb/nfs3.h"
#include "ulb/reply.h"

#include "base/checked.h"

enum { NFS2_READ = 6, NFS2_READDIR = 16 };
enum { NFS2_FHSIZE = 32 };
/* NFSACL_ENTRIES: the bits of a GETACL call that ask for the entries of the access list and of the default
 * one. */
enum { NFSACL_GETACL = 1, NFSACL_ENTRIES = 1 | 4 };

/* Moves the walk over count words of four octets. If the message ends before, the walk fails. */
static void
legacy_skip_words(struct rr_walk *walk, unsigned count)
{
	while (count-- > 0)
		rr_walk_u32(walk);
}

void
rr_estimate_nfs2(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size)
{
	/* An NFSv2 file handle has no length word in front. */
	if (proc == NFS2_READ) {
		legacy_skip_words(walk, NFS2_FHSIZE / 4 + 1); /* file, offset */
		size->results[0] = (uint32_t)rr_min(rr_walk_u32(walk), size->results[0]);
	}
	/* RFC 1094, 2.2.17: entries "with a total size of up to "count" bytes"; the text does not say that
	 * status, end of list and eof belong to these bytes: they are added as 12 octets. */
	if (proc == NFS2_READDIR) {
		legacy_skip_words(walk, NFS2_FHSIZE / 4 + 1); /* directory, cookie */
		size->max = rr_estimate_add(rr_walk_u32(walk), 12);
		size->often_large = true;
	}
}

/* Returns how many octets the result of READDIR or READDIRPLUS takes at most: the size of the status and the
 * list, or `failure`, the size of a failed result, if that is larger. count is the argument that limits the
 * list, RFC 1813, 3.3.16 and 3.3.17: count and maxcount are "The maximum size of the ... resok structure, in
 * bytes". */
static uint32_t
legacy_list_max(uint32_t count, uint32_t failure)
{
	uint32_t success = rr_estimate_add(count, 4);

	return success > failure ? success : failure;
}

void
rr_estimate_nfs3(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size)
{
	if (proc != NFSPROC3_READ && proc != NFSPROC3_READDIR && proc != NFSPROC3_READDIRPLUS)
		return;
	/* The table of the built-in binding says which procedures list a directory. */
	size->often_large = rr_ulb_nfs3[proc].often_large;
	rr_walk_opaque(walk, NFS3_FHSIZE);
	if (proc == NFSPROC3_READ) {
		legacy_skip_words(walk, 2); /* offset */
		size->results[0] = rr_walk_u32(walk);
	} else if (proc == NFSPROC3_READDIR) {
		legacy_skip_words(walk, 4); /* cookie, its verifier */
		size->max = legacy_list_max(rr_walk_u32(walk), 4 + XDR_MAX_READDIR3resfail);
	} else {
		legacy_skip_words(walk, 5); /* cookie, its verifier, dircount */
		size->max = legacy_list_max(rr_walk_u32(walk), 4 + XDR_MAX_READDIRPLUS3resfail);
	}
}

/* Sets the largest size of the reply to NFSACL's GETACL. It has no limit if the call asks for entries of
 * access control lists; else the reply has only attributes and counts. RFC 8267, 5.2: "There is no
 * protocol-specified size limit for NFS version 3 ACLs" */
void
rr_estimate_nfsacl3(uint32_t proc, struct rr_walk *walk, struct rr_reply_size *size)
{
	if (proc != NFSACL_GETACL)
		return;
	rr_walk_opaque(walk, NFS3_FHSIZE);
	if (rr_walk_u32(walk) & NFSACL_ENTRIES)
		size->max = RPCRDMA_XDR_UNBOUNDED;
	else
		/* Status, attributes, mask, and two counts for each of the two lists. */
		size->max = 4 + XDR_MAX_post_op_attr + 20;
}
