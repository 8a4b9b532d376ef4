/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SECURE_H
#define RR_NFS_SECURE_H

#include "carrier/carrier.h"
#include "nfs/url.h"

/* Prepares the TLS that a URL asks for, in *secure, and sets *used to secure; or to NULL, if it asks for
 * none. secure->name then points into url. The files that the URL does not name are those of the environment:
 * RPCRDMA_TLS_CA, RPCRDMA_TLS_CERT, RPCRDMA_TLS_KEY. Errors, with a text: INVAL (an RDMA adapter has
 * no TLS; files), NOTSUP (no OpenSSL), NOMEM. A server that the URL gives no authority or fingerprint for
 * must have the key that is known of it (nfs/known.h), if one is. */
int rr_secure_begin(const struct rr_url *url, struct rr_secure *secure, const struct rr_secure **used,
	struct rr_text *text);

/* Tells whether the server was refused as nobody here knows it, and nothing was said about which key or
 * authority it must have: then its user may be asked whether to trust it. secure->stranger is that of the
 * attempt. */
bool rr_secure_may_trust(const struct rr_url *url, const struct rr_secure *secure);

/* Trusts that server from now on: it goes into the list of known servers, and into secure. Errors, with a
 * text: SYSTEM (the list). */
int rr_secure_trust(const struct rr_url *url, struct rr_secure *secure, struct rr_text *text);

/* Frees what rr_secure_begin() made; secure may also be zeroed. */
void rr_secure_end(struct rr_secure *secure);

#endif
