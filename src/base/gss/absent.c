/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the place of the other files where the headers of MIT's Kerberos were missing when this library was
 * built: there are no contexts. */
#include <rpcrdma/error.h>

#include "base/gss/gss.h"
#include "base/gss/initiate.h"

void
rr_gss_token_free(struct rr_gss_token *token)
{
	*token = (struct rr_gss_token){ 0 };
}

void
rr_gss_context_free(struct rr_gss_context *context)
{
	(void)context;
}

int64_t
rr_gss_context_deadline(const struct rr_gss_context *context)
{
	(void)context;
	return 0;
}

bool
rr_gss_context_expired(const struct rr_gss_context *context)
{
	(void)context;
	return true;
}

struct rr_gss_sizes
rr_gss_context_sizes(const struct rr_gss_context *context)
{
	(void)context;
	return (struct rr_gss_sizes){ 0 };
}

bool
rr_gss_sign(
	struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size, void *mic)
{
	(void)context, (void)worker, (void)data, (void)size, (void)mic;
	return false;
}

bool
rr_gss_verify(struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size,
	const void *mic, size_t mic_size)
{
	(void)context, (void)worker, (void)data, (void)size, (void)mic, (void)mic_size;
	return false;
}

bool
rr_gss_seal(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size)
{
	(void)context, (void)worker, (void)token, (void)size;
	return false;
}

bool
rr_gss_open(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size, void **data,
	size_t *data_size)
{
	(void)context, (void)worker, (void)token, (void)size, (void)data, (void)data_size;
	return false;
}

int
rr_gss_initiator_new(
	const char *service, const char *host, struct rr_gss_initiator **initiator, struct rr_text *text)
{
	(void)service, (void)host, (void)initiator;
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
		"this library was built without Kerberos: build it with the headers of MIT's libkrb5");
}

void
rr_gss_initiator_free(struct rr_gss_initiator *initiator)
{
	(void)initiator;
}

int
rr_gss_initiate(struct rr_gss_initiator *initiator, const void *token, size_t size, struct rr_gss_token *out,
	struct rr_gss_context **context, struct rr_text *text)
{
	(void)initiator, (void)token, (void)size, (void)out, (void)context;
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "there is no Kerberos");
}

const char *
rr_gss_initiator_name(const struct rr_gss_initiator *initiator)
{
	(void)initiator;
	return "";
}

void
rr_gss_refusal(uint32_t major, uint32_t minor, struct rr_text *text)
{
	rr_fail(text, 0, "statuses %u, %u", major, minor);
}

int
rr_gss_acceptor_new(const char *keytab, struct rr_gss_acceptor **acceptor, struct rr_text *text)
{
	(void)keytab, (void)acceptor;
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
		"this program was built without Kerberos: build it with the headers of MIT's libkrb5");
}

void
rr_gss_acceptor_free(struct rr_gss_acceptor *acceptor)
{
	(void)acceptor;
}

void
rr_gss_accept(const struct rr_gss_acceptor *acceptor, const void *token, size_t size,
	struct rr_gss_accepted *accepted)
{
	(void)acceptor, (void)token, (void)size;
	*accepted = (struct rr_gss_accepted){ .major = 13u << 16 }; /* GSS_S_FAILURE */
}

size_t
rr_gss_accept_help(const void *ctx, const void *token, size_t size, void *answer)
{
	(void)ctx, (void)token, (void)size, (void)answer;
	return 0;
}

bool
rr_gss_local_name(const char *principal, char *name, size_t size)
{
	(void)principal, (void)name, (void)size;
	return false;
}
