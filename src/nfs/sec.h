/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SEC_H
#define RR_NFS_SEC_H

#include "nfs/sec_offer.h"
#include "nfs/url.h"
#include "rpc/auth/gss_client.h"

/* Makes the flavor of Kerberos that sec names, with a context with nfs@host: sets *gss, which the caller
 * frees after the RPC clients; to NULL for other values of sec. timeout: as in struct rr_gss_client_config.
 * Errors, with a text: those of rr_gss_client_new(). */
int rr_sec_begin(struct rpcrdma_engine *engine, const char *host, enum rr_url_sec sec, uint64_t timeout,
	struct rr_gss_client **gss, struct rr_text *text);

/* Returns the word of a URL for a flavor that a server has named; RR_URL_SEC_ANY: there is none. */
enum rr_url_sec rr_sec_of(uint32_t flavor);

/* Tells whether calls of this flavor (NULL: AUTH_SYS) are among what a server offers. A list of nothing is
 * taken for one of everything. */
bool rr_sec_takes(const struct rr_sec_offer *offer, const struct rr_auth *auth);

/* Writes what a server offers, as "sys, krb5", for texts. */
void rr_sec_list(const struct rr_sec_offer *offer, char *text, size_t size);

#endif
