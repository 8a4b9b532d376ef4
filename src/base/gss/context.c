/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts that are established. The library does not lock a context whose messages several threads protect,
 * so each kind of worker has one of its own, with a lock; they are made of one by RFC 2743, 2.2.8 and 2.2.9
 * (export and import). Who signs and verifies asks for no detection of replays or of gaps, as RPC has numbers
 * of its own: RFC 2203, 5.2.2: "replay_det_req_flag" and "sequence_req_flag" "should be turned off". */
#include <pthread.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/gss/library.h"

struct context_keys {
	pthread_mutex_t lock;
	gss_ctx_id_t made; /* of the library */
};

struct rr_gss_context {
	struct context_keys keys[RR_GSS_WORKERS];
	struct rr_gss_sizes sizes;
	int64_t deadline;
};

int64_t
rr_gss_clock(void)
{
	return time(NULL);
}

void
rr_gss_token_free(struct rr_gss_token *token)
{
	if (token->data)
		explicit_bzero(token->data, token->length);
	free(token->data);
	*token = (struct rr_gss_token){ 0 };
}

/* ---- Making contexts ---- */

/* Makes the context of the library twice, of one that is gone afterwards. Returns the major status. */
static uint32_t
context_copy(gss_ctx_id_t *made, gss_ctx_id_t copies[RR_GSS_WORKERS], uint32_t *minor)
{
	const struct rr_gss_library *library = &rr_gss_library;
	gss_buffer_desc exported = GSS_C_EMPTY_BUFFER;
	uint32_t major, ignored;

	major = library->gss_export_sec_context(minor, made, &exported);
	for (int i = 0; i < RR_GSS_WORKERS && !GSS_ERROR(major); i++)
		major = library->gss_import_sec_context(minor, &exported, &copies[i]);
	if (exported.value) /* it has the keys */
		explicit_bzero(exported.value, exported.length);
	library->gss_release_buffer(&ignored, &exported);
	return major;
}

/* Finds out what the context adds to messages. RFC 4121, 4.2.4: with its ciphers, the size does not depend on
 * that of the data, and there is no padding; others are not used. */
static bool
context_measure(struct rr_gss_context *context)
{
	const struct rr_gss_library *library = &rr_gss_library;
	gss_ctx_id_t made = context->keys[RR_GSS_LOOP].made;
	uint32_t minor;
	int sealed;
	gss_iov_buffer_desc mic[] = { { GSS_IOV_BUFFER_TYPE_DATA, { 4, NULL } },
		{ GSS_IOV_BUFFER_TYPE_MIC_TOKEN, { 0, NULL } } };
	gss_iov_buffer_desc seal[] = { { GSS_IOV_BUFFER_TYPE_HEADER, { 0, NULL } },
		{ GSS_IOV_BUFFER_TYPE_DATA, { 5, NULL } }, { GSS_IOV_BUFFER_TYPE_PADDING, { 0, NULL } },
		{ GSS_IOV_BUFFER_TYPE_TRAILER, { 0, NULL } } };

	if (GSS_ERROR(library->gss_get_mic_iov_length(&minor, made, GSS_C_QOP_DEFAULT, mic, 2)) ||
		mic[1].buffer.length > RR_GSS_MIC_MAX)
		return false;
	context->sizes.mic = (uint32_t)mic[1].buffer.length;
	if (!GSS_ERROR(library->gss_wrap_iov_length(&minor, made, 1, GSS_C_QOP_DEFAULT, &sealed, seal, 4)) &&
		sealed && seal[2].buffer.length == 0) {
		context->sizes.header = (uint32_t)seal[0].buffer.length;
		context->sizes.trailer = (uint32_t)seal[3].buffer.length;
	}
	return true;
}

int
rr_gss_context_new(gss_ctx_id_t *made, int64_t deadline, struct rr_gss_context **result, struct rr_text *text)
{
	struct rr_gss_context *context = calloc(1, sizeof(*context));
	gss_ctx_id_t copies[RR_GSS_WORKERS] = { 0 };
	uint32_t major, minor = 0, ignored;

	major = context ? context_copy(made, copies, &minor) : GSS_S_FAILURE;
	if (*made)
		rr_gss_library.gss_delete_sec_context(&ignored, made, GSS_C_NO_BUFFER);
	if (!context)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a context of Kerberos");
	context->deadline = deadline;
	for (int i = 0; i < RR_GSS_WORKERS; i++) {
		pthread_mutex_init(&context->keys[i].lock, NULL);
		context->keys[i].made = copies[i];
	}
	if (GSS_ERROR(major)) {
		rr_gss_reason(major, minor, text);
		rr_gss_context_free(context);
		return -RPCRDMA_ERR_NOTSUP;
	}
	if (!context_measure(context)) {
		rr_gss_context_free(context);
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "the library has no checksums for this context");
	}
	*result = context;
	return 0;
}

void
rr_gss_context_free(struct rr_gss_context *context)
{
	uint32_t minor;

	if (!context)
		return;
	for (int i = 0; i < RR_GSS_WORKERS; i++) {
		if (context->keys[i].made)
			rr_gss_library.gss_delete_sec_context(
				&minor, &context->keys[i].made, GSS_C_NO_BUFFER);
		pthread_mutex_destroy(&context->keys[i].lock);
	}
	free(context);
}

int64_t
rr_gss_context_deadline(const struct rr_gss_context *context)
{
	return context->deadline;
}

bool
rr_gss_context_expired(const struct rr_gss_context *context)
{
	return rr_gss_clock() >= context->deadline;
}

struct rr_gss_sizes
rr_gss_context_sizes(const struct rr_gss_context *context)
{
	return context->sizes;
}

/* ---- Messages ---- */

/* Takes the keys of the worker; context_end() gives them back. */
static gss_ctx_id_t
context_begin(struct rr_gss_context *context, enum rr_gss_worker worker)
{
	pthread_mutex_lock(&context->keys[worker].lock);
	return context->keys[worker].made;
}

/* Gives the keys back, and tells whether the status says that all is well. */
static bool
context_end(struct rr_gss_context *context, enum rr_gss_worker worker, uint32_t major)
{
	pthread_mutex_unlock(&context->keys[worker].lock);
	/* RFC 2743, 1.2.3: a duplicate, an old token and a gap have "supplementary" statuses beside success.
	 * RPC looks at the numbers itself. */
	return !GSS_ERROR(major);
}

/* Describes octets to the library, which does not change them where it only reads. */
static gss_buffer_desc
context_octets(const void *data, size_t size)
{
	return (gss_buffer_desc){ size, (void *)(uintptr_t)data };
}

bool
rr_gss_sign(
	struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size, void *mic)
{
	gss_iov_buffer_desc iov[] = { { GSS_IOV_BUFFER_TYPE_DATA, context_octets(data, size) },
		{ GSS_IOV_BUFFER_TYPE_MIC_TOKEN, context_octets(mic, context->sizes.mic) } };
	gss_ctx_id_t made = context_begin(context, worker);
	uint32_t minor;

	return context_end(
		context, worker, rr_gss_library.gss_get_mic_iov(&minor, made, GSS_C_QOP_DEFAULT, iov, 2));
}

bool
rr_gss_verify(struct rr_gss_context *context, enum rr_gss_worker worker, const void *data, size_t size,
	const void *mic, size_t mic_size)
{
	gss_iov_buffer_desc iov[] = { { GSS_IOV_BUFFER_TYPE_DATA, context_octets(data, size) },
		{ GSS_IOV_BUFFER_TYPE_MIC_TOKEN, context_octets(mic, mic_size) } };
	gss_ctx_id_t made;
	uint32_t minor;

	if (mic_size != context->sizes.mic)
		return false;
	made = context_begin(context, worker);
	return context_end(context, worker, rr_gss_library.gss_verify_mic_iov(&minor, made, NULL, iov, 2));
}

bool
rr_gss_seal(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size)
{
	const struct rr_gss_sizes sizes = context->sizes;
	uint8_t *octets = token;
	size_t data = size - sizes.header - sizes.trailer;
	gss_iov_buffer_desc iov[] = { { GSS_IOV_BUFFER_TYPE_HEADER, { sizes.header, octets } },
		{ GSS_IOV_BUFFER_TYPE_DATA, { data, octets + sizes.header } },
		{ GSS_IOV_BUFFER_TYPE_PADDING, { 0, NULL } },
		{ GSS_IOV_BUFFER_TYPE_TRAILER, { sizes.trailer, octets + sizes.header + data } } };
	gss_ctx_id_t made;
	uint32_t minor;
	int sealed = 0;

	if (sizes.header == 0 || size < (size_t)sizes.header + sizes.trailer)
		return false;
	made = context_begin(context, worker);
	return context_end(context, worker,
		       rr_gss_library.gss_wrap_iov(&minor, made, 1, GSS_C_QOP_DEFAULT, &sealed, iov, 4)) &&
	       sealed;
}

bool
rr_gss_open(struct rr_gss_context *context, enum rr_gss_worker worker, void *token, size_t size, void **data,
	size_t *data_size)
{
	gss_iov_buffer_desc iov[] = { { GSS_IOV_BUFFER_TYPE_STREAM, { size, token } },
		{ GSS_IOV_BUFFER_TYPE_DATA, { 0, NULL } } };
	gss_ctx_id_t made;
	uint32_t minor;
	int sealed = 0;

	if (context->sizes.header == 0 || size < (size_t)context->sizes.header + context->sizes.trailer)
		return false;
	made = context_begin(context, worker);
	if (!context_end(
		    context, worker, rr_gss_library.gss_unwrap_iov(&minor, made, &sealed, NULL, iov, 2)) ||
		!sealed)
		return false;
	*data = iov[1].buffer.value;
	*data_size = iov[1].buffer.length;
	return true;
}
