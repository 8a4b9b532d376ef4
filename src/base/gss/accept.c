/* SPDX-License-Identifier: BSD-3-Clause */
/* The accepting side: a client's token becomes a context. The keytab is opened for each, as its keys may have
 * changed; the replay cache of the library finds tokens that somebody repeats. */
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/gss/library.h"

/* The most seconds for which a context lives, whatever its ticket says. */
enum { ACCEPT_LIFE_MAX = 24 * 3600 };

static const char accept_service[] = "nfs/";

struct rr_gss_acceptor {
	char *keytab; /* NULL: the library's own */
};

int
rr_gss_acceptor_new(const char *keytab, struct rr_gss_acceptor **result, struct rr_text *text)
{
	struct rr_gss_acceptor *acceptor;
	int error = rr_gss_library_load(text);

	if (!error)
		error = rr_gss_keytab_check(keytab, text);
	if (error)
		return error;
	acceptor = calloc(1, sizeof(*acceptor));
	if (acceptor && keytab)
		acceptor->keytab = strdup(keytab);
	if (!acceptor || (keytab && !acceptor->keytab)) {
		rr_gss_acceptor_free(acceptor);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	}
	*result = acceptor;
	return 0;
}

void
rr_gss_acceptor_free(struct rr_gss_acceptor *acceptor)
{
	if (acceptor)
		free(acceptor->keytab);
	free(acceptor);
}

/* Takes the credential of this side: any key of the keytab. */
static uint32_t
accept_acquire(const struct rr_gss_acceptor *acceptor, gss_cred_id_t *cred, uint32_t *minor)
{
	gss_key_value_element_desc element = { "keytab", acceptor->keytab };
	gss_key_value_set_desc store = { acceptor->keytab ? 1 : 0, &element };
	gss_OID_set_desc mechanisms = { 1, &rr_gss_krb5 };

	return rr_gss_library.gss_acquire_cred_from(
		minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &mechanisms, GSS_C_ACCEPT, &store, cred, NULL, NULL);
}

/* Writes the text of a name to text. Returns false if it is too long, or has an octet zero. */
static bool
accept_name(gss_name_t name, char *text, size_t size)
{
	gss_buffer_desc said = GSS_C_EMPTY_BUFFER;
	uint32_t minor;
	bool fits;

	if (GSS_ERROR(rr_gss_library.gss_display_name(&minor, name, &said, NULL)))
		return false;
	fits = said.length > 0 && said.length < size && !memchr(said.value, '\0', said.length);
	if (fits) {
		memcpy(text, said.value, said.length);
		text[said.length] = '\0';
	}
	rr_gss_library.gss_release_buffer(&minor, &said);
	return fits;
}

/* Finds out whom the context is with, and for whom the ticket was. Returns false, with the reason, if it must
 * not be used. */
static bool
accept_inspect(gss_ctx_id_t made, struct rr_gss_accepted *accepted)
{
	gss_name_t source = GSS_C_NO_NAME, target = GSS_C_NO_NAME;
	char service[RR_GSS_NAME_MAX + 1];
	uint32_t minor;
	bool good;

	if (GSS_ERROR(rr_gss_library.gss_inquire_context(
		    &minor, made, &source, &target, NULL, NULL, NULL, NULL, NULL)))
		return false;
	good = accept_name(source, accepted->principal, sizeof(accepted->principal));
	if (!good)
		rr_fail(&accepted->why, 0, "the client's principal has a name of more than %d octets",
			RR_GSS_NAME_MAX);
	else if (!accept_name(target, service, sizeof(service)) ||
		 strncmp(service, accept_service, sizeof(accept_service) - 1) != 0) {
		good = false;
		rr_fail(&accepted->why, 0, "the client has a ticket for another service than nfs/HOST");
	}
	rr_gss_library.gss_release_name(&minor, &source);
	rr_gss_library.gss_release_name(&minor, &target);
	return good;
}

/* Makes the context of one that the library has established. */
static void
accept_complete(gss_ctx_id_t *made, uint32_t life, struct rr_gss_accepted *accepted)
{
	int64_t deadline = rr_gss_clock() + (life < ACCEPT_LIFE_MAX ? life : ACCEPT_LIFE_MAX);

	if (!accept_inspect(*made, accepted) ||
		rr_gss_context_new(made, deadline, &accepted->context, &accepted->why) < 0)
		accepted->major = GSS_S_FAILURE;
}

/* Copies the token of the library. */
static bool
accept_copy_token(const gss_buffer_desc *from, struct rr_gss_token *token)
{
	if (from->length == 0)
		return true;
	token->data = malloc(from->length);
	if (!token->data)
		return false;
	memcpy(token->data, from->value, from->length);
	token->length = from->length;
	return true;
}

void
rr_gss_accept(const struct rr_gss_acceptor *acceptor, const void *token, size_t size,
	struct rr_gss_accepted *accepted)
{
	const struct rr_gss_library *library = &rr_gss_library;
	gss_buffer_desc input = { size, (void *)(uintptr_t)token }, output = GSS_C_EMPTY_BUFFER;
	gss_cred_id_t cred = GSS_C_NO_CREDENTIAL;
	gss_ctx_id_t made = GSS_C_NO_CONTEXT;
	uint32_t ignored, life = 0;

	*accepted = (struct rr_gss_accepted){ 0 };
	accepted->major = accept_acquire(acceptor, &cred, &accepted->minor);
	if (!GSS_ERROR(accepted->major))
		accepted->major = library->gss_accept_sec_context(&accepted->minor, &made, cred, &input,
			GSS_C_NO_CHANNEL_BINDINGS, NULL, NULL, &output, NULL, &life, NULL);
	if (GSS_ERROR(accepted->major))
		rr_gss_reason(accepted->major, accepted->minor, &accepted->why);
	else if (accepted->major & GSS_S_CONTINUE_NEEDED) {
		/* RFC 4121, 3: the exchange of Kerberos is one token each way. */
		accepted->major = GSS_S_FAILURE;
		rr_fail(&accepted->why, 0, "the client wants an exchange of more than two tokens");
	} else {
		accepted->major = GSS_S_COMPLETE;
		accept_complete(&made, life, accepted);
	}
	/* RFC 2203, 5.2.3.1: after a failure, "handle and gss_token must be set to NULL by the server." */
	if (accepted->context && !accept_copy_token(&output, &accepted->token)) {
		rr_gss_context_free(accepted->context);
		accepted->context = NULL;
		accepted->major = GSS_S_FAILURE;
	}
	library->gss_release_buffer(&ignored, &output);
	library->gss_release_cred(&ignored, &cred);
	if (made)
		library->gss_delete_sec_context(&ignored, &made, GSS_C_NO_BUFFER);
}
