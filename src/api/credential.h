/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_CREDENTIAL_H
#define RR_API_CREDENTIAL_H

#include <rpcrdma/client.h>

#include "rpc/client.h"

/* Who the calls of a client say they are from: sets it in inner, which is zeroed, and refers to machine for
 * the name. Errors: INVAL. */
int rr_api_credential(const struct rpcrdma_client_config *config, char machine[RPCRDMA_AUTH_SYS_NAME + 1],
	struct rr_client_config *inner, struct rr_text *text);

#endif
