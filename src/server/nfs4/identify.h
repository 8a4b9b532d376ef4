/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_IDENTIFY_H
#define RR_SERVER_NFS4_IDENTIFY_H

#include "server/nfs4/compound.h"

/* What version 4.0 has in the place of SEQUENCE: RFC 7530, sections 9.1 and 9.5. */

/*
 * Finds the client that the arguments of the next operation name, by its client ID or by a stateid, stores it
 * in c->client, held, and renews its lease; c->client is NULL if they name no client. If the operation has
 * the number of a request of an owner, checks that, and holds the owner in c->owners; the second one is that
 * of a LOCK by a new lock-owner. Returns an error with which the operation ends. If the request was answered
 * before, writes that answer, sets c->encoded, and returns its status. Returns RR_NFS4_PENDING if another
 * request of the owner is under way: the caller tries again later.
 */
uint32_t rr_nfs4_identify(struct rr_nfs4_compound *c);

/* Ends the request of the owners in c->owners, if there are any: they keep the result, which is `result`. The
 * caller holds the lock of the tables. */
void rr_nfs4_identify_end(struct rr_nfs4_compound *c, struct rpcrdma_bytes result);

/* Releases c->client. The caller holds the lock of the tables. */
void rr_nfs4_identify_release(struct rr_nfs4_compound *c);

#endif
