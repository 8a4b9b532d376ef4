/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CREDENTIAL_H
#define RR_RPC_CREDENTIAL_H

#include <rpcrdma/engine.h>

#include "base/text.h"
#include "wire/rpc.h"

/* Fills in the AUTH_SYS credential of a client: the given credential, or, if given is NULL, that of the
 * effective user and groups of this process. cred must be zeroed. Its name then refers to machine. Returns 0,
 * or -RPCRDMA_ERR_INVAL with a text. */
int rr_credential_sys(const struct rpcrdma_auth_sys *given, char machine[RPCRDMA_AUTH_SYS_NAME + 1],
	struct rr_auth_sys *cred, struct rr_text *text);

#endif
