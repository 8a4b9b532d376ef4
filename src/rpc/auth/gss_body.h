/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_AUTH_GSS_BODY_H
#define RR_RPC_AUTH_GSS_BODY_H

#include "base/env.h"
#include "base/gss/gss.h"
#include "rpc/auth.h"
#include "wire/gss.h"

/* Arguments and results as RPCSEC_GSS wraps them: RFC 2203, 5.3.2.2 and 5.3.2.3. Both ends do the same. */

/* By what a message is protected: RR_GSS_SVC_INTEGRITY or RR_GSS_SVC_PRIVACY, and the number of the
 * transmission. */
struct rr_gss_body {
	struct rr_gss_context *context;
	enum rr_gss_worker worker;
	uint32_t service, seq_num;
};

/* Returns the most octets that the service adds to arguments or results. */
uint32_t rr_gss_body_adds(const struct rr_gss_context *context, uint32_t service);

/* Writes what put() writes (NULL: nothing), wrapped. Returns false if it cannot be wrapped, and must not be
 * sent; the writer fails if there is no room. */
bool rr_gss_body_wrap(const struct rr_gss_body *body, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value);

/* The same in two steps. rr_gss_body_lay() writes all but the checksum or the cipher, and stores in *span
 * where the octets are of which rr_gss_body_protect() then makes it, in the memory of the message, wherever
 * that is then. */
void rr_gss_body_lay(const struct rr_gss_body *body, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value,
	struct rr_auth_span *span);
bool rr_gss_body_protect(const struct rr_gss_body *body, uint8_t *message, const struct rr_auth_span *span);

/* Replaces wrapped arguments or results by what they are. *message has no items; it then points into the same
 * memory or, if it was encrypted, into *memory, which the caller frees by rr_free(); *memory is NULL else.
 * Returns false if they are not what the peer has wrapped for this number, or there is no memory. */
bool rr_gss_body_unwrap(const struct rr_gss_body *body, const struct rr_env *env,
	struct rpcrdma_message *message, void **memory);

#endif
