/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SEC_H
#define RR_NFS_SEC_H

#include "nfs/url.h"
#include "rpc/auth/gss_client.h"

/* Makes the flavor that a URL asks for by sec=, if that is one of Kerberos: sets *gss, which the caller frees
 * after the RPC clients, and *auth, which is its flavor. The context is with nfs@HOST of the URL. Otherwise
 * sets neither. timeout: as in struct rr_gss_client_config. Errors, with a text: those of
 * rr_gss_client_new(). */
int rr_sec_begin(struct rpcrdma_engine *engine, const struct rr_url *url, uint64_t timeout,
	struct rr_gss_client **gss, const struct rr_auth **auth, struct rr_text *text);

/* Writes the words for the flavors of a list of MOUNT, as "sys, krb5", for texts. */
void rr_sec_list(const int32_t *flavors, uint32_t count, char *text, size_t size);

#endif
