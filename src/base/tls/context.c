/* SPDX-License-Identifier: BSD-3-Clause */
/* The certificates of a side, in a context of OpenSSL. rr_tls_renew() replaces the context under the lock; a
 * session holds a reference of its own to the context that it began with. */
#include <pthread.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/tls/library.h"
#include "base/tls/tls.h"

struct rr_tls {
	bool is_server;
	char *cert, *key, *ca; /* the paths; NULL: there is no such file */
	pthread_mutex_t lock;  /* of context */
	SSL_CTX *context;
};

/* Is called with the result of each check of the peer's certificates. An authority whose list of revoked
 * certificates is not among the files revokes none. */
static int
context_check(int good, X509_STORE_CTX *store)
{
	const struct rr_tls_library *openssl = &rr_tls_library;

	if (good || openssl->X509_STORE_CTX_get_error(store) != X509_V_ERR_UNABLE_TO_GET_CRL)
		return good;
	openssl->X509_STORE_CTX_set_error(store, X509_V_OK);
	return 1;
}

/* Gives no pass phrase: nobody is there to be asked for one. */
static int
context_no_phrase(char *phrase, int size, int writes, void *ctx)
{
	(void)phrase, (void)size, (void)writes, (void)ctx;
	return 0;
}

/* Returns the first thing that OpenSSL says about a failure: those behind it only say where it was met. */
static const char *
context_error(void)
{
	unsigned long error = rr_tls_library.ERR_peek_error();
	const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
						     : rr_tls_library.ERR_reason_error_string(error);

	return reason ? reason : "it cannot be read";
}

/* Loads the certificate of this side and its key. RFC 9289, 5: "Implementations MUST support
 * certificate-based mutual authentication." */
static int
context_identify(const struct rr_tls *tls, SSL_CTX *context, struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	const char *key = tls->key ? tls->key : tls->cert;

	if (!tls->cert)
		return tls->is_server
			       ? rr_fail(text, -RPCRDMA_ERR_INVAL, "a server with TLS needs a certificate")
			       : 0;
	openssl->SSL_CTX_set_default_passwd_cb(context, context_no_phrase);
	if (openssl->SSL_CTX_use_certificate_chain_file(context, tls->cert) != 1)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the certificate %s is not usable: %s", tls->cert,
			context_error());
	if (openssl->SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the private key %s is not usable: %s; it must be the key of %s, without a pass "
			"phrase",
			key, context_error(), tls->cert);
	return openssl->SSL_CTX_check_private_key(context) == 1
		       ? 0
		       : rr_fail(text, -RPCRDMA_ERR_INVAL, "%s is not the private key of the certificate %s",
				 key, tls->cert);
}

/* Loads the authorities that are trusted, and sets what is checked. */
static int
context_trust(const struct rr_tls *tls, SSL_CTX *context, struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;

	if (tls->is_server && !tls->ca)
		return 0;
	openssl->SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	openssl->SSL_CTX_set_cert_verify_callback(context, rr_tls_verify, NULL);
	openssl->X509_VERIFY_PARAM_set_flags(
		openssl->SSL_CTX_get0_param(context), X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	openssl->X509_STORE_set_verify_cb(openssl->SSL_CTX_get_cert_store(context), context_check);
	if (!tls->ca && openssl->SSL_CTX_set_default_verify_paths(context) != 1)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the system's certificates are not usable: %s",
			context_error());
	if (tls->ca && openssl->SSL_CTX_load_verify_file(context, tls->ca) != 1)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the certificates of authorities in %s are not usable: %s", tls->ca, context_error());
	if (tls->is_server)
		openssl->SSL_CTX_set_client_CA_list(context, openssl->SSL_load_client_CA_file(tls->ca));
	return 0;
}

/* Sets what no file says: version 1.3 alone, no tickets, and memory only while octets are under way. RFC
 * 9289, 5: "Implementations MUST NOT negotiate TLS versions prior to 1.3"; RFC 9289, 6: "RPC-with-TLS
 * implementations MUST NOT use 0-RTT data", for which a client needs a ticket. */
static void
context_settle(const struct rr_tls *tls, SSL_CTX *context)
{
	const struct rr_tls_library *openssl = &rr_tls_library;

	/* The macros of OpenSSL for these call its functions by name. */
	openssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, NULL);
	openssl->SSL_CTX_ctrl(context, SSL_CTRL_MODE,
		SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
			SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
		NULL);
	openssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
	openssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, NULL);
	/* A stream of RPC records needs no close_notify to be seen as cut off: records have their lengths. */
	openssl->SSL_CTX_set_options(
		context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	openssl->SSL_CTX_set_num_tickets(context, 0);
	openssl->SSL_CTX_set_keylog_callback(context, rr_tls_keylog_line);
	if (tls->is_server)
		openssl->SSL_CTX_set_alpn_select_cb(context, rr_tls_select, NULL);
}

int
rr_tls_renew(struct rr_tls *tls, struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	SSL_CTX *context = openssl->SSL_CTX_new(
		tls->is_server ? openssl->TLS_server_method() : openssl->TLS_client_method());
	SSL_CTX *before;
	int error;

	if (!context)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
	openssl->ERR_clear_error();
	context_settle(tls, context);
	error = context_identify(tls, context, text);
	if (!error)
		error = context_trust(tls, context, text);
	openssl->ERR_clear_error();
	pthread_mutex_lock(&tls->lock);
	before = error ? context : tls->context;
	if (!error)
		tls->context = context;
	pthread_mutex_unlock(&tls->lock);
	openssl->SSL_CTX_free(before);
	return error;
}

/* Copies the path, unless it is NULL, to *copy. Returns false if there is no memory. */
static bool
context_copy(const char *path, char **copy)
{
	*copy = path ? strdup(path) : NULL;
	return !path || *copy;
}

int
rr_tls_new(bool is_server, const struct rr_tls_files *files, struct rr_tls **result, struct rr_text *text)
{
	int error = rr_tls_library_load(rr_tls_octets_new, text);
	struct rr_tls *tls = error ? NULL : calloc(1, sizeof(*tls));

	if (error)
		return error;
	if (!tls)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
	tls->is_server = is_server;
	pthread_mutex_init(&tls->lock, NULL);
	if (context_copy(files->cert, &tls->cert) && context_copy(files->key, &tls->key) &&
		context_copy(files->ca, &tls->ca))
		error = rr_tls_renew(tls, text);
	else
		error = rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
	if (error)
		rr_tls_free(tls);
	else
		*result = tls;
	return error;
}

void
rr_tls_free(struct rr_tls *tls)
{
	if (!tls)
		return;
	rr_tls_library.SSL_CTX_free(tls->context);
	pthread_mutex_destroy(&tls->lock);
	free(tls->cert);
	free(tls->key);
	free(tls->ca);
	free(tls);
}

bool
rr_tls_own_fingerprint(struct rr_tls *tls, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	X509 *own;
	bool done;

	pthread_mutex_lock(&tls->lock);
	own = rr_tls_library.SSL_CTX_get0_certificate(tls->context);
	done = own && rr_tls_certificate_fingerprint(own, fingerprint);
	pthread_mutex_unlock(&tls->lock);
	return done;
}

bool
rr_tls_is_mutual(const struct rr_tls *tls)
{
	return tls->is_server ? tls->ca != NULL : tls->cert != NULL;
}

bool
rr_tls_is_server(const struct rr_tls *tls)
{
	return tls->is_server;
}

SSL *
rr_tls_context_session(struct rr_tls *tls)
{
	SSL *ssl;

	pthread_mutex_lock(&tls->lock);
	ssl = rr_tls_library.SSL_new(tls->context);
	pthread_mutex_unlock(&tls->lock);
	return ssl;
}
