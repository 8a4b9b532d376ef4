/* SPDX-License-Identifier: BSD-3-Clause */
/* The accepting side: a client's token becomes a context. The keytab is opened for each, as its keys may have
 * changed; the replay cache of the library finds tokens that somebody repeats. */
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/confine/helper.h"
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

/* Copies the token of the library, if there is a context. RFC 2203, 5.2.3.1: after a failure, "handle and
 * gss_token must be set to NULL by the server." */
static void
accept_give_token(const gss_buffer_desc *from, struct rr_gss_accepted *accepted)
{
	if (!accepted->context || from->length == 0)
		return;
	accepted->token.data = malloc(from->length);
	if (accepted->token.data) {
		memcpy(accepted->token.data, from->value, from->length);
		accepted->token.length = from->length;
		return;
	}
	rr_gss_context_free(accepted->context);
	accepted->context = NULL;
	accepted->major = GSS_S_FAILURE;
}

/* Has the library accept the token. Returns its context, and what is for the client in *output; a major
 * status of an error comes with its reason. */
static gss_ctx_id_t
accept_by_keytab(const struct rr_gss_acceptor *acceptor, const void *token, size_t size, uint32_t *life,
	gss_buffer_t output, struct rr_gss_accepted *accepted)
{
	const struct rr_gss_library *library = &rr_gss_library;
	gss_buffer_desc input = { size, (void *)(uintptr_t)token };
	gss_cred_id_t cred = GSS_C_NO_CREDENTIAL;
	gss_ctx_id_t made = GSS_C_NO_CONTEXT;
	uint32_t ignored;

	accepted->major = accept_acquire(acceptor, &cred, &accepted->minor);
	if (!GSS_ERROR(accepted->major))
		accepted->major = library->gss_accept_sec_context(&accepted->minor, &made, cred, &input,
			GSS_C_NO_CHANNEL_BINDINGS, NULL, NULL, output, NULL, life, NULL);
	if (GSS_ERROR(accepted->major)) {
		rr_gss_reason(accepted->major, accepted->minor, &accepted->why);
	} else if (accepted->major & GSS_S_CONTINUE_NEEDED) {
		/* RFC 4121, 3: the exchange of Kerberos is one token each way. */
		accepted->major = GSS_S_FAILURE;
		rr_fail(&accepted->why, 0, "the client wants an exchange of more than two tokens");
	} else {
		accepted->major = accept_inspect(made, accepted) ? GSS_S_COMPLETE : GSS_S_FAILURE;
	}
	library->gss_release_cred(&ignored, &cred);
	return made;
}

/* Makes the context of one that the library has established and inspected. */
static void
accept_complete(gss_ctx_id_t *made, uint32_t life, struct rr_gss_accepted *accepted)
{
	int64_t deadline = rr_gss_clock() + (life < ACCEPT_LIFE_MAX ? life : ACCEPT_LIFE_MAX);

	if (rr_gss_context_new(made, deadline, &accepted->context, &accepted->why) < 0)
		accepted->major = GSS_S_FAILURE;
}

/* ---- By the helper ---- */

/* What the helper answers. The token for the client and the context, as RFC 2743, 2.2.8, has it exported,
 * stand behind. */
struct accept_answer {
	uint32_t major, minor, life, token_size, context_size;
	char principal[RR_GSS_NAME_MAX + 1];
	struct rr_text why;
};

size_t
rr_gss_accept_help(const void *ctx, const void *token, size_t size, void *result)
{
	const struct rr_gss_library *library = &rr_gss_library;
	struct accept_answer *answer = result;
	uint8_t *behind = (uint8_t *)result + sizeof(*answer);
	gss_buffer_desc output = GSS_C_EMPTY_BUFFER, exported = GSS_C_EMPTY_BUFFER;
	struct rr_gss_accepted accepted = { 0 };
	uint32_t ignored, life = 0;
	gss_ctx_id_t made = accept_by_keytab(ctx, token, size, &life, &output, &accepted);

	if (accepted.major == GSS_S_COMPLETE)
		accepted.major = library->gss_export_sec_context(&accepted.minor, &made, &exported);
	if (output.length + exported.length > RR_HELPER_MESSAGE - sizeof(*answer))
		accepted.major = GSS_S_FAILURE;
	*answer = (struct accept_answer){ accepted.major, accepted.minor, life, 0, 0, "", accepted.why };
	memcpy(answer->principal, accepted.principal, sizeof(answer->principal));
	if (accepted.major == GSS_S_COMPLETE) {
		answer->token_size = (uint32_t)output.length;
		answer->context_size = (uint32_t)exported.length;
		if (output.length > 0)
			memcpy(behind, output.value, output.length);
		memcpy(behind + output.length, exported.value, exported.length);
	}
	if (exported.value) /* it has the keys */
		explicit_bzero(exported.value, exported.length);
	library->gss_release_buffer(&ignored, &exported);
	library->gss_release_buffer(&ignored, &output);
	if (made)
		library->gss_delete_sec_context(&ignored, &made, GSS_C_NO_BUFFER);
	return sizeof(*answer) + answer->token_size + answer->context_size;
}

/* Takes the helper's answer, of this many octets: its context and its token. */
static void
accept_take(struct accept_answer *answer, size_t size, struct rr_gss_accepted *accepted)
{
	const struct rr_gss_library *library = &rr_gss_library;
	uint8_t *behind = (uint8_t *)answer + sizeof(*answer);
	gss_buffer_desc output, exported;
	gss_ctx_id_t made = GSS_C_NO_CONTEXT;
	uint32_t ignored;

	if (size < sizeof(*answer) ||
		size - sizeof(*answer) != (uint64_t)answer->token_size + answer->context_size)
		return;
	accepted->major = answer->major;
	accepted->minor = answer->minor;
	accepted->why = answer->why;
	memcpy(accepted->principal, answer->principal, sizeof(accepted->principal));
	accepted->principal[RR_GSS_NAME_MAX] = accepted->why.text[sizeof(accepted->why.text) - 1] = '\0';
	if (accepted->major != GSS_S_COMPLETE)
		return;
	output = (gss_buffer_desc){ answer->token_size, behind };
	exported = (gss_buffer_desc){ answer->context_size, behind + answer->token_size };
	accepted->major = library->gss_import_sec_context(&accepted->minor, &exported, &made);
	if (accepted->major == GSS_S_COMPLETE)
		accept_complete(&made, answer->life, accepted);
	accept_give_token(&output, accepted);
	if (made)
		library->gss_delete_sec_context(&ignored, &made, GSS_C_NO_BUFFER);
}

/* Has the helper accept the token. */
static void
accept_ask(const void *token, size_t size, struct rr_gss_accepted *accepted)
{
	uint8_t *question = malloc(1 + size), *answer = malloc(RR_HELPER_MESSAGE);
	ptrdiff_t got = -1;

	accepted->major = GSS_S_FAILURE;
	rr_fail(&accepted->why, 0, "the helper that has the keytab does not answer, or memory is out");
	if (question && answer) {
		question[0] = RR_GSS_ASKED_ACCEPT;
		memcpy(question + 1, token, size);
		got = rr_helper_ask(RR_HELPER_KERBEROS, question, 1 + size, answer, RR_HELPER_MESSAGE);
	}
	if (got > 0) {
		accept_take((struct accept_answer *)(void *)answer, (size_t)got, accepted);
		explicit_bzero(answer, (size_t)got);
	}
	free(question);
	free(answer);
}

/* ---- Both ways ---- */

void
rr_gss_accept(const struct rr_gss_acceptor *acceptor, const void *token, size_t size,
	struct rr_gss_accepted *accepted)
{
	gss_buffer_desc output = GSS_C_EMPTY_BUFFER;
	uint32_t ignored, life = 0;
	gss_ctx_id_t made;

	*accepted = (struct rr_gss_accepted){ 0 };
	if (rr_helper_has(RR_HELPER_KERBEROS)) {
		accept_ask(token, size, accepted);
		return;
	}
	made = accept_by_keytab(acceptor, token, size, &life, &output, accepted);
	if (accepted->major == GSS_S_COMPLETE)
		accept_complete(&made, life, accepted);
	accept_give_token(&output, accepted);
	rr_gss_library.gss_release_buffer(&ignored, &output);
	if (made)
		rr_gss_library.gss_delete_sec_context(&ignored, &made, GSS_C_NO_BUFFER);
}
