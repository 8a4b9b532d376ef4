/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_CREDENTIAL_H
#define RR_RPC_CREDENTIAL_H

#include <rpcrdma/engine.h>

#include "base/text.h"
#include "wire/rpc.h"

/* Stores in *user the user for whom a client calls by AUTH_SYS: the given user, or, if given is NULL, the
 * effective user and groups of this process. Returns 0, or -RPCRDMA_ERR_INVAL with a text. */
int rr_credential_sys(
	const struct rpcrdma_auth_sys *given, struct rpcrdma_auth_sys *user, struct rr_text *text);

/* Writes the AUTH_SYS credential of user into body, and returns it. user is one of rr_credential_sys(). */
struct rr_opaque_auth rr_credential_encode(
	const struct rpcrdma_auth_sys *user, uint8_t body[RR_AUTH_BODY_MAX]);

/* Decodes an AUTH_SYS credential into *user. Returns false for a credential of another flavor, and for one
 * that is not valid. */
bool rr_credential_decode(const struct rr_opaque_auth *credential, struct rpcrdma_auth_sys *user);

#endif
