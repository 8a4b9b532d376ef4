/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SECURE_H
#define RR_NFS_SECURE_H

#include "carrier/carrier.h"
#include "nfs/url.h"

/* Prepares the TLS that a URL asks for, in *secure, and sets *used to secure; or to NULL, if it asks for
 * none. secure->name then points into url. The files that the URL does not name are those of the environment:
 * RPCRDMA_TLS_CA, RPCRDMA_TLS_CERT, RPCRDMA_TLS_KEY. Errors, with a text: INVAL (over RDMA there is no TLS;
 * files), NOTSUP (no OpenSSL), NOMEM. */
int rr_secure_begin(const struct rr_url *url, struct rr_secure *secure, const struct rr_secure **used,
	struct rr_text *text);

/* Frees what rr_secure_begin() made; secure may also be zeroed. */
void rr_secure_end(struct rr_secure *secure);

#endif
