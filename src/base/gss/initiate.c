/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's part of making a context. */
#include "base/gss/initiate.h"

#include <ctype.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gss/library.h"

struct rr_gss_initiator {
	gss_name_t target;
	gss_ctx_id_t made; /* of the library; it is not established yet */
	char name[RR_GSS_NAME_MAX + 1];
	char service[64 + RR_GSS_NAME_MAX]; /* "nfs@host", for texts */
};

int
rr_gss_initiator_new(
	const char *service, const char *host, struct rr_gss_initiator **initiator, struct rr_text *text)
{
	struct rr_gss_initiator *new;
	gss_buffer_desc name;
	uint32_t major, minor;
	int error = rr_gss_library_load(text);

	if (error < 0)
		return error;
	new = calloc(1, sizeof(*new));
	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a context of Kerberos");
	snprintf(new->service, sizeof(new->service), "%.60s@%s", service, host);
	name = (gss_buffer_desc){ strlen(new->service), new->service };
	/* RFC 2203, 5.2.2 leaves the name to the application; RFC 2623, 2.3.2: "nfs@hostname" */
	major = rr_gss_library.gss_import_name(&minor, &name, rr_gss_library.name_type_service, &new->target);
	if (!GSS_ERROR(major)) {
		*initiator = new;
		return 0;
	}
	rr_fail(text, 0, "%.100s is no name of a service", new->service);
	rr_gss_initiator_free(new);
	return -RPCRDMA_ERR_INVAL;
}

void
rr_gss_initiator_free(struct rr_gss_initiator *initiator)
{
	uint32_t minor;

	if (!initiator)
		return;
	if (initiator->made)
		rr_gss_library.gss_delete_sec_context(&minor, &initiator->made, GSS_C_NO_BUFFER);
	if (initiator->target)
		rr_gss_library.gss_release_name(&minor, &initiator->target);
	free(initiator);
}

/* Keeps the user's name for rr_gss_initiator_name(), without control characters. */
static void
initiate_keep_name(struct rr_gss_initiator *initiator, gss_name_t user)
{
	gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
	uint32_t minor;
	size_t length = 0;

	if (GSS_ERROR(rr_gss_library.gss_display_name(&minor, user, &text, NULL)))
		return;
	for (; length < text.length && length < RR_GSS_NAME_MAX; length++) {
		unsigned char c = ((const unsigned char *)text.value)[length];

		initiator->name[length] = c < 0x80 && isprint(c) ? (char)c : '?';
	}
	initiator->name[length] = '\0';
	rr_gss_library.gss_release_buffer(&minor, &text);
}

/* Sets the text for a step that failed, and returns the error. */
static int
initiate_fail(const struct rr_gss_initiator *initiator, uint32_t major, uint32_t minor, struct rr_text *text)
{
	struct rr_text why;

	rr_gss_reason(major, minor, &why);
	return rr_fail(text, -RPCRDMA_ERR_RPC_DENIED, "no Kerberos context with %.80s: %s",
		initiator->service, why.text);
}

/* Makes the caller's context of the library's, which is established. */
static int
initiate_complete(struct rr_gss_initiator *initiator, uint32_t lifetime, struct rr_gss_context **context,
	struct rr_text *text)
{
	gss_name_t user = GSS_C_NO_NAME;
	uint32_t minor;

	/* In the last second of its ticket, a context has no time left: calls would ask for one after the
	 * other. */
	if (lifetime == 0)
		return initiate_fail(initiator, GSS_S_FAILURE, (uint32_t)KRB5KRB_AP_ERR_TKT_EXPIRED, text);
	rr_gss_library.gss_inquire_context(
		&minor, initiator->made, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	if (user) {
		initiate_keep_name(initiator, user);
		rr_gss_library.gss_release_name(&minor, &user);
	}
	return rr_gss_context_new(&initiator->made, rr_gss_clock() + (int64_t)lifetime, context, text);
}

/* Copies the library's token, and gives its memory back. */
static int
initiate_keep_token(gss_buffer_t made, struct rr_gss_token *out, struct rr_text *text)
{
	uint32_t minor;
	int error = 0;

	*out = (struct rr_gss_token){ made->length > 0 ? malloc(made->length) : NULL, made->length };
	if (out->data)
		memcpy(out->data, made->value, made->length);
	else if (made->length > 0)
		error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a token of Kerberos");
	rr_gss_library.gss_release_buffer(&minor, made);
	return error;
}

int
rr_gss_initiate(struct rr_gss_initiator *initiator, const void *token, size_t size, struct rr_gss_token *out,
	struct rr_gss_context **context, struct rr_text *text)
{
	gss_buffer_desc in = { size, (void *)(uintptr_t)token }, made = GSS_C_EMPTY_BUFFER;
	uint32_t major, minor = 0, lifetime = 0;
	int error;

	*out = (struct rr_gss_token){ 0 };
	*context = NULL;
	/* RFC 2203, 5.2.2: "replay_det_req_flag and sequence_req_flag" "should be turned off". Integrity and
	 * privacy come with Kerberos: RFC 4121, 4.1.1.1. */
	major = rr_gss_library.gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &initiator->made,
		initiator->target, &rr_gss_krb5, GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG, 0,
		GSS_C_NO_CHANNEL_BINDINGS, size > 0 ? &in : GSS_C_NO_BUFFER, NULL, &made, NULL, &lifetime);
	error = initiate_keep_token(&made, out, text);
	if (error == 0 && GSS_ERROR(major))
		error = initiate_fail(initiator, major, minor, text);
	else if (error == 0 && major == GSS_S_COMPLETE)
		error = initiate_complete(initiator, lifetime, context, text);
	if (error < 0)
		rr_gss_token_free(out);
	return error;
}

const char *
rr_gss_initiator_name(const struct rr_gss_initiator *initiator)
{
	return initiator->name;
}

void
rr_gss_refusal(uint32_t major, uint32_t minor, struct rr_text *text)
{
	rr_gss_reason(major, minor, text);
}
