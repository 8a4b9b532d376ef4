/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a handshake failed, in one sentence that says what to do. */
#include "base/tls/library.h"
#include "base/tls/tls.h"

enum {
	REASON_ALERT = SSL_AD_REASON_OFFSET
}; /* OpenSSL's reason for an alert of the peer is this number plus the alert */

/* Sentences about the peer's certificate. They follow "the server's certificate " or "the client's
 * certificate ". */
static const struct {
	int verified; /* X509_V_ERR_* */
	const char *text;
} reason_certificates[] = {
	{ X509_V_ERR_CERT_HAS_EXPIRED, "has expired: renew it there, or set the clock here" },
	{ X509_V_ERR_CERT_NOT_YET_VALID, "is not valid yet: set the clock, here or there" },
	{ X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "is signed by itself and not known here: give it as tls-ca "
						  "(--tls-ca of a server), if it is the right one" },
	{ X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "is signed by an authority that is not trusted here: give "
						"that authority's certificate as tls-ca "
						"(--tls-ca of a server)" },
	{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "is signed by an authority that is not known here: "
							"give that authority's certificate as tls-ca "
							"(--tls-ca of a server)" },
	{ X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "is signed by an authority that is not known here: "
						      "give that authority's certificate as tls-ca "
						      "(--tls-ca of a server)" },
	{ X509_V_ERR_CERT_REVOKED, "was revoked by its authority: a new one is needed" },
	{ X509_V_ERR_CRL_HAS_EXPIRED, "cannot be checked, as the list of revoked certificates in tls-ca has "
				      "expired: renew the list" },
	{ X509_V_ERR_INVALID_PURPOSE,
		"is for another use: its extended key usage must have serverAuth or rpcTLSServer for a "
		"server, clientAuth or rpcTLSClient for a client" },
};

/* Sentences about an alert that the peer sent; NULL: the peer refuses the certificate of this side. */
static const struct {
	int alert; /* SSL_AD_* */
	const char *text;
} reason_alerts[] = {
	{ SSL_AD_UNKNOWN_CA, NULL },
	{ SSL_AD_BAD_CERTIFICATE, NULL },
	{ SSL_AD_CERTIFICATE_EXPIRED, NULL },
	{ SSL_AD_CERTIFICATE_REVOKED, NULL },
	{ SSL_AD_CERTIFICATE_UNKNOWN, NULL },
	{ SSL_AD_UNSUPPORTED_CERTIFICATE, NULL },
	{ SSL_AD_ACCESS_DENIED, NULL },
	{ SSL_AD_CERTIFICATE_REQUIRED,
		"the server wants a certificate of this client: xprtsec=mtls with tls-cert and tls-key" },
	{ SSL_AD_NO_APPLICATION_PROTOCOL, "the peer speaks TLS, but not RPC inside of it (sunrpc over TCP, "
					  "rpcrdma-mpa over iWARP): is the "
					  "port right?" },
	{ SSL_AD_PROTOCOL_VERSION, "the peer has no TLS 1.3: RPC with TLS needs it (RFC 9289)" },
};

/* Writes what the alert of the peer means. Returns false if the failure was no alert of the peer, or none
 * that is known here. */
static bool
reason_of_alert(int reason, const struct rr_secure *wants, struct rr_text *text)
{
	for (size_t i = 0; i < sizeof(reason_alerts) / sizeof(reason_alerts[0]); i++) {
		if (reason != REASON_ALERT + reason_alerts[i].alert)
			continue;
		if (reason_alerts[i].text)
			rr_fail(text, 0, "%s", reason_alerts[i].text);
		else if (wants)
			rr_fail(text, 0,
				"the server refused this client's certificate: see its log, and which "
				"authorities it trusts "
				"(--tls-ca there)");
		else
			rr_fail(text, 0,
				"the client refused this server's certificate: it must trust its authority "
				"(tls-ca there), "
				"and use a name that is in it");
		return true;
	}
	return false;
}

/* Writes that the server has another key than the one that is expected. */
static void
reason_of_fingerprint(const struct rr_secure *wants, struct rr_text *text)
{
	if (wants->known)
		rr_fail(text, 0,
			"its key is not the one that is known for %.80s: somebody may be in between; if the "
			"server was set up anew, remove its line from ~/.config/rpcrdma/known_servers",
			wants->name);
	else
		rr_fail(text, 0,
			"the server's key has another fingerprint than the one that is asked for: somebody "
			"may be in between, or the fingerprint is of another server");
}

/* Writes that nobody here knows the server, and what its fingerprint is. */
static void
reason_of_stranger(long verified, const struct rr_tls_stranger *stranger, struct rr_text *text)
{
	char fingerprint[RR_TLS_FINGERPRINT_TEXT];

	rr_tls_fingerprint_put(stranger->fingerprint, fingerprint);
	rr_fail(text, 0, "the server's certificate is signed by %s: give tls-ca, or fingerprint=%s",
		verified == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ? "itself, and not known here"
								   : "an authority that is not known here",
		fingerprint);
}

/* Writes what is wrong with the certificate of the peer, as OpenSSL found when it verified it. */
static void
reason_of_certificate(long verified, const struct rr_secure *wants, const struct rr_tls_stranger *stranger,
	struct rr_text *text)
{
	const char *whose = wants ? "server" : "client";

	if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH) {
		rr_fail(text, 0,
			"the server's certificate is not for %.80s: use a name that it has, or have one made "
			"with this one",
			wants->name);
		return;
	}
	if (verified == X509_V_ERR_APPLICATION_VERIFICATION) {
		reason_of_fingerprint(wants, text);
		return;
	}
	if (wants && rr_tls_stranger_is_unknown(stranger)) {
		reason_of_stranger(verified, stranger, text);
		return;
	}
	for (size_t i = 0; i < sizeof(reason_certificates) / sizeof(reason_certificates[0]); i++) {
		if (verified != reason_certificates[i].verified)
			continue;
		rr_fail(text, 0, "the %s's certificate %s", whose, reason_certificates[i].text);
		return;
	}
	rr_fail(text, 0, "the %s's certificate is refused: %s", whose,
		rr_tls_library.X509_verify_cert_error_string(verified));
}

void
rr_tls_reason(const SSL *ssl, const struct rr_secure *wants, const struct rr_tls_stranger *stranger,
	struct rr_text *text)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	unsigned long error = openssl->ERR_peek_last_error();
	int reason = ERR_GET_REASON(error);
	long verified = openssl->SSL_get_verify_result(ssl);
	const char *said = openssl->ERR_reason_error_string(error);

	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		reason_of_certificate(verified, wants, stranger, text);
	else if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_VERSION_NUMBER)
		rr_fail(text, 0, "the peer has no TLS 1.3: RPC with TLS needs it (RFC 9289)");
	else if (!reason_of_alert(reason, wants, text))
		rr_fail(text, 0, "TLS failed: %s", said ? said : "the peer broke its rules");
}
