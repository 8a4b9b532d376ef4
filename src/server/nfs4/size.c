/* SPDX-License-Identifier: BSD-3-Clause */
/* This file computes how large the reply to a COMPOUND is, and how large it may become. */
#include "server/nfs4/size.h"
#include "base/checked.h"
#include "server/nfs4/compound.h"

/* Octets of status, length of the tag, and number of results, which stand in front of the first result. */
enum { SIZE_FIXED = 12 };

uint32_t
rr_nfs4_size_in_front(const struct rr_nfs4_compound *c)
{
	return SIZE_FIXED + ((c->args->tag.length + 3) & ~3u) + c->request->header;
}

/* Tells whether the operation is the last one of its COMPOUND. */
static bool
size_is_last(const struct rr_nfs4_compound *c)
{
	return c->index + 1 >= c->args->count;
}

/* Returns NFS4_OK if `size`, the octets of the reply up to the end of this operation's result, is within the
 * limits of the session; else an error. If further operations follow, room for the error of one of them is
 * kept free. Without a session, and for SEQUENCE, any size is allowed. In version 4.0, the room for the reply
 * is the limit. */
nfsstat4
rr_nfs4_check_size(const struct rr_nfs4_compound *c, uint64_t size)
{
	uint64_t behind = size_is_last(c) ? 0 : RR_NFS4_ERROR_SIZE;

	if (!c->args->minor->sessions)
		return size + behind > c->limit ? NFS4ERR_RESOURCE : NFS4_OK;
	if (!c->turn.session || c->op->argop == OP_SEQUENCE)
		return NFS4_OK;
	/* RFC 8881, 2.10.6.4: "If a reply exceeds ca_maxresponsesize, the reply will have the status
	 * NFS4ERR_REP_TOO_BIG." */
	if (size + behind > c->limit)
		return NFS4ERR_REP_TOO_BIG;
	if (c->turn.cache && size + behind > c->turn.session->fore.ca_maxresponsesize_cached)
		return NFS4ERR_REP_TOO_BIG_TO_CACHE;
	return NFS4_OK;
}

uint32_t
rr_nfs4_size_left(const struct rr_nfs4_compound *c)
{
	uint32_t used = rr_nfs4_size(c) + (size_is_last(c) ? 0 : RR_NFS4_ERROR_SIZE);
	uint32_t most = c->limit;

	if (c->turn.session && c->turn.cache)
		most = (uint32_t)rr_min(most, c->turn.session->fore.ca_maxresponsesize_cached);
	return most > used ? most - used : 0;
}
