/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_SIZE_H
#define RR_SERVER_NFS4_SIZE_H

#include "server/nfs4/compound.h"

/* How much room the reply to a COMPOUND has left. */

/* Octets that the number and the status of an operation take. */
enum { RR_NFS4_ERROR_SIZE = 8 };

/* Returns the number of octets that the reply has in front of the first result, with the RPC header. */
uint32_t rr_nfs4_size_in_front(const struct rr_nfs4_compound *c);

/* Returns the number of octets that the reply has so far, with the RPC header and the data outside the
 * stream. */
static inline uint32_t
rr_nfs4_size(const struct rr_nfs4_compound *c)
{
	uint32_t size = c->front + (uint32_t)(c->writer.next - c->writer.start);

	for (uint32_t i = 0; i < c->writer.item_count; i++)
		size += (c->result->items[i].length + 3) & ~3u;
	return size;
}

/* Returns NFS4_OK if `size`, the octets of the reply up to the end of this operation's result, is within the
 * limits of the session; else NFS4ERR_REP_TOO_BIG or NFS4ERR_REP_TOO_BIG_TO_CACHE. If further operations
 * follow, room for the error of one of them is kept free. */
nfsstat4 rr_nfs4_check_size(const struct rr_nfs4_compound *c, uint64_t size);

/* Returns the number of octets that this operation's result can have at most, with its number and status: as
 * many as the results in front leave of the limits of the reply. If further operations follow, room for the
 * error of one of them is kept free. */
uint32_t rr_nfs4_size_left(const struct rr_nfs4_compound *c);

#endif
