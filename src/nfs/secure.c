/* SPDX-License-Identifier: BSD-3-Clause */
/* The TLS of a client: what its URL and its environment say about it. */
#include "nfs/secure.h"

#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/tls/tls.h"
#include "nfs/known.h"

/* Returns the path in the URL, or else the path in the variable of the environment; NULL if there is neither.
 * A program that runs with more rights than its user takes nothing from the environment. */
static const char *
secure_file(const char *in_url, const char *variable)
{
	const char *path = in_url[0] ? in_url : secure_getenv(variable);

	return path && path[0] ? path : NULL;
}

/* Sets which key the server must have: the one in the URL; else, where no authority was named, the one that
 * is known. */
static void
secure_expect(const struct rr_url *url, const char *ca, struct rr_secure *secure)
{
	char name[RR_KNOWN_NAME];

	secure->has_fingerprint = url->has_fingerprint;
	memcpy(secure->fingerprint, url->fingerprint, sizeof(secure->fingerprint));
	if (url->has_fingerprint || ca)
		return;
	rr_known_name(url, name);
	secure->known = secure->has_fingerprint = rr_known_find(name, secure->fingerprint);
}

int
rr_secure_trust(const struct rr_url *url, struct rr_secure *secure, struct rr_text *text)
{
	char name[RR_KNOWN_NAME];

	rr_known_name(url, name);
	memcpy(secure->fingerprint, secure->stranger->fingerprint, sizeof(secure->fingerprint));
	secure->known = secure->has_fingerprint = true;
	return rr_known_add(name, secure->fingerprint, text);
}

bool
rr_secure_may_trust(const struct rr_url *url, const struct rr_secure *secure)
{
	return secure->stranger && rr_tls_stranger_is_unknown(secure->stranger) && !secure->has_fingerprint &&
	       !secure_file(url->tls_ca, "RPCRDMA_TLS_CA");
}

int
rr_secure_begin(const struct rr_url *url, struct rr_secure *secure, const struct rr_secure **used,
	struct rr_text *text)
{
	bool mutual = url->xprtsec == RR_URL_XPRTSEC_MTLS;
	struct rr_tls_files files = { .ca = secure_file(url->tls_ca, "RPCRDMA_TLS_CA") };

	*secure = (struct rr_secure){ .name = url->host, .optional = url->xprtsec == RR_URL_XPRTSEC_AUTO };
	*used = NULL;
	if (url->xprtsec == RR_URL_XPRTSEC_NONE)
		return 0;
	if (url->transport == RR_TRANSPORT_VERBS && url->xprtsec == RR_URL_XPRTSEC_AUTO)
		return 0;
	if (url->transport == RR_TRANSPORT_VERBS)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"an RDMA adapter has no TLS: use iWARP over sockets (transport=iwarp), or TCP "
			"(transport=tcp)");
	/* xprtsec=tls: the client shows no certificate, even if it has one. */
	if (mutual) {
		files.cert = secure_file(url->tls_cert, "RPCRDMA_TLS_CERT");
		files.key = secure_file(url->tls_key, "RPCRDMA_TLS_KEY");
	}
	if (mutual && !files.cert)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"xprtsec=mtls needs the certificate of this client and its key: tls-cert and tls-key "
			"in the URL, or "
			"RPCRDMA_TLS_CERT and RPCRDMA_TLS_KEY in the environment");
	secure_expect(url, files.ca, secure);
	*used = secure;
	return rr_tls_new(false, &files, &secure->tls, text);
}

void
rr_secure_end(struct rr_secure *secure)
{
	if (secure->tls)
		rr_tls_free(secure->tls);
	secure->tls = NULL;
}
