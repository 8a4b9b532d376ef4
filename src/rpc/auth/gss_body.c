/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps in place, in the memory of the message, so that a large body is not copied. Unwraps what is encrypted
 * in a copy: the message may be looked at once more. */
#include "rpc/auth/gss_body.h"

#include <string.h>

#include "base/checked.h"
#include "wire/room.h"

/* Octets of the words beside the data: the length and the number, and the length of the checksum. */
enum { BODY_WORDS = 2 * 4, BODY_CHECKSUM = 4 };

uint32_t
rr_gss_body_adds(const struct rr_gss_context *context, uint32_t service)
{
	const struct rr_gss_sizes sizes = rr_gss_context_sizes(context);

	if (service == RR_GSS_SVC_INTEGRITY)
		return BODY_WORDS + BODY_CHECKSUM + sizes.mic + rr_pad(sizes.mic);
	if (service == RR_GSS_SVC_PRIVACY)
		return BODY_WORDS + sizes.header + sizes.trailer + rr_pad(sizes.header + sizes.trailer);
	return 0;
}

/* Writes the zero octets that follow opaque data of that length. */
static void
body_put_padding(struct rpcrdma_xdr_writer *writer, size_t length)
{
	static const uint8_t zero[4];

	rpcrdma_put_fixed(writer, zero, rr_pad((uint32_t)length));
}

void
rr_gss_body_lay(const struct rr_gss_body *body, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value,
	struct rr_auth_span *span)
{
	const struct rr_gss_sizes sizes = rr_gss_context_sizes(body->context);
	bool seals = body->service == RR_GSS_SVC_PRIVACY;
	size_t at = rr_gss_begin_data(writer, seals ? sizes.header : 0, body->seq_num);

	if (put)
		put(writer, value);
	if (seals)
		rr_xdr_room(writer, sizes.trailer);
	rr_gss_end_data(writer, at);
	*span = (struct rr_auth_span){ at + 4, rpcrdma_xdr_length(writer) - at - 4 };
	if (!seals) {
		rpcrdma_put_u32(writer, sizes.mic);
		rr_xdr_room(writer, sizes.mic);
	}
	body_put_padding(writer, seals ? span->size : sizes.mic);
}

/* RFC 2203, 5.3.2.2: "The checksum field represents the checksum of the XDR encoded octet stream
 * corresponding to the XDR encoded rpc_gss_data_t structure". 5.3.2.3: "the GSS_Wrap() call is invoked to
 * encrypt the octet stream corresponding to the rpc_gss_data_t structure" */
bool
rr_gss_body_protect(const struct rr_gss_body *body, uint8_t *message, const struct rr_auth_span *span)
{
	uint8_t *data = message + span->at;

	if (body->service == RR_GSS_SVC_PRIVACY)
		return rr_gss_seal(body->context, body->worker, data, span->size);
	return rr_gss_sign(body->context, body->worker, data, span->size, data + span->size + 4);
}

bool
rr_gss_body_wrap(const struct rr_gss_body *body, struct rpcrdma_xdr_writer *writer,
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *value), const void *value)
{
	struct rr_auth_span span;

	rr_gss_body_lay(body, writer, put, value, &span);
	return writer->failed || rr_gss_body_protect(body, writer->start, &span);
}

/* Checks the checksum of *message, and finds the data of which it is. */
static bool
body_verify(const struct rr_gss_body *body, const struct rpcrdma_message *message, struct rpcrdma_bytes *data)
{
	struct rpcrdma_bytes checksum;

	return rr_gss_get_integ(message, data, &checksum) &&
	       rr_gss_verify(
		       body->context, body->worker, data->data, data->length, checksum.data, checksum.length);
}

/* Decrypts *message in a copy, *memory. */
static bool
body_open(const struct rr_gss_body *body, const struct rr_env *env, const struct rpcrdma_message *message,
	struct rpcrdma_bytes *data, void **memory)
{
	struct rpcrdma_bytes sealed;
	void *opened;
	size_t size;

	if (!rr_gss_get_priv(message, &sealed) || sealed.length == 0)
		return false;
	*memory = rr_alloc(env, sealed.length);
	if (!*memory)
		return false;
	memcpy(*memory, sealed.data, sealed.length);
	if (!rr_gss_open(body->context, body->worker, *memory, sealed.length, &opened, &size))
		return false;
	*data = (struct rpcrdma_bytes){ opened, (uint32_t)size };
	return true;
}

bool
rr_gss_body_unwrap(const struct rr_gss_body *body, const struct rr_env *env, struct rpcrdma_message *message,
	void **memory)
{
	struct rpcrdma_bytes data, plain;
	bool opened;

	*memory = NULL;
	opened = body->service == RR_GSS_SVC_PRIVACY ? body_open(body, env, message, &data, memory)
						     : body_verify(body, message, &data);
	if (opened && rr_gss_get_data(data, body->seq_num, &plain)) {
		*message = (struct rpcrdma_message){ .stream = plain.data, .length = plain.length };
		return true;
	}
	rr_free(env, *memory);
	*memory = NULL;
	return false;
}
