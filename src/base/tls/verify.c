/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the certificate of a peer is taken: its authority, or the key that is expected of a server; and
 * what the certificate is for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tls/library.h"
#include "base/tls/tls.h"

static const char verify_prefix[] = "sha256:";
enum { VERIFY_PREFIX = sizeof(verify_prefix) - 1, VERIFY_DIGITS = 2 * RR_TLS_FINGERPRINT };

/* ---- Fingerprints ---- */

bool
rr_tls_fingerprint_get(const char *text, size_t length, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	if (length >= VERIFY_PREFIX && memcmp(text, verify_prefix, VERIFY_PREFIX) == 0) {
		text += VERIFY_PREFIX;
		length -= VERIFY_PREFIX;
	}
	if (length != VERIFY_DIGITS || strspn(text, "0123456789abcdefABCDEF") < VERIFY_DIGITS)
		return false;
	for (size_t i = 0; i < RR_TLS_FINGERPRINT; i++) {
		char octet[] = { text[2 * i], text[2 * i + 1], '\0' };

		fingerprint[i] = (uint8_t)strtoul(octet, NULL, 16);
	}
	return true;
}

void
rr_tls_fingerprint_put(const uint8_t fingerprint[RR_TLS_FINGERPRINT], char text[RR_TLS_FINGERPRINT_TEXT])
{
	strcpy(text, verify_prefix);
	for (size_t i = 0; i < RR_TLS_FINGERPRINT; i++)
		sprintf(text + VERIFY_PREFIX + 2 * i, "%02x", fingerprint[i]);
}

bool
rr_tls_certificate_fingerprint(X509 *certificate, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	X509_PUBKEY *key = openssl->X509_get_X509_PUBKEY(certificate);
	int size = openssl->i2d_X509_PUBKEY(key, NULL);
	uint8_t *octets = size > 0 ? malloc((size_t)size) : NULL, *at = octets;
	bool done = octets && openssl->i2d_X509_PUBKEY(key, &at) == size &&
		    openssl->EVP_Digest(
			    octets, (size_t)size, fingerprint, NULL, openssl->EVP_sha256(), NULL) == 1;

	free(octets);
	return done;
}

/* ---- What a certificate is for ---- */

/* RFC 9289, 5.2.1.1: "The inclusion of the RPC server value (id-kp-rpcTLSServer) indicates that the
 * certificate has been issued for allowing the holder to process RPC transactions." */
#define VERIFY_CLIENT "1.3.6.1.5.5.7.3.33"
#define VERIFY_SERVER "1.3.6.1.5.5.7.3.34"

/* Tells whether the purposes of the certificate have that one, by its number. */
static bool
verify_has_purpose(X509 *certificate, const char *wanted)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	EXTENDED_KEY_USAGE *all = openssl->X509_get_ext_d2i(certificate, NID_ext_key_usage, NULL, NULL);
	bool has = false;

	for (int i = 0; i < openssl->OPENSSL_sk_num((const OPENSSL_STACK *)all); i++) {
		char number[80];

		openssl->OBJ_obj2txt(
			number, sizeof(number), openssl->OPENSSL_sk_value((const OPENSSL_STACK *)all, i), 1);
		has |= strcmp(number, wanted) == 0;
	}
	openssl->EXTENDED_KEY_USAGE_free(all);
	return has;
}

/* Tells whether the certificate may be that of a server, or of a client: it names no purposes, or that one,
 * of the web or of RPC. */
static bool
verify_suits(X509 *certificate, bool of_server)
{
	uint32_t web = of_server ? XKU_SSL_SERVER : XKU_SSL_CLIENT;
	uint32_t usage = rr_tls_library.X509_get_extended_key_usage(certificate);

	/* UINT32_MAX: the certificate has no such extension. */
	return (usage & (web | XKU_ANYEKU)) ||
	       verify_has_purpose(certificate, of_server ? VERIFY_SERVER : VERIFY_CLIENT);
}

/* ---- The check ---- */

bool
rr_tls_stranger_is_unknown(const struct rr_tls_stranger *stranger)
{
	switch (stranger->error) {
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return true;
	default: return false;
	}
}

/* Returns what is wrong with the certificate, X509_V_OK if nothing is. RFC 9289, 5.2.1: "Certificate
 * validation MUST include the verification rules as per Section 6 of [RFC5280]", of either side; RFC
 * 9289, 4.2: "If authentication of either peer fails [...] the peers MUST reject the association." */
static int
verify_error(X509_STORE_CTX *store, X509 *shown, const struct rr_secure *wants, const uint8_t *fingerprint)
{
	const struct rr_tls_library *openssl = &rr_tls_library;

	if (wants && wants->has_fingerprint)
		return memcmp(fingerprint, wants->fingerprint, RR_TLS_FINGERPRINT) == 0
			       ? X509_V_OK
			       : X509_V_ERR_APPLICATION_VERIFICATION;
	/* OpenSSL knows the purposes of the web alone: they are checked here. */
	openssl->X509_VERIFY_PARAM_set_purpose(openssl->X509_STORE_CTX_get0_param(store), X509_PURPOSE_ANY);
	if (openssl->X509_verify_cert(store) != 1)
		return openssl->X509_STORE_CTX_get_error(store);
	return verify_suits(shown, wants) ? X509_V_OK : X509_V_ERR_INVALID_PURPOSE;
}

int
rr_tls_verify(X509_STORE_CTX *store, void *ctx)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	SSL *ssl = openssl->X509_STORE_CTX_get_ex_data(store, openssl->SSL_get_ex_data_X509_STORE_CTX_idx());
	struct rr_tls_check *check = openssl->SSL_get_ex_data(ssl, 0);
	struct rr_tls_stranger *stranger = &check->stranger;
	X509 *shown = openssl->X509_STORE_CTX_get0_cert(store);

	(void)ctx;
	stranger->error = X509_V_ERR_OUT_OF_MEM;
	if (rr_tls_certificate_fingerprint(shown, stranger->fingerprint))
		stranger->error = verify_error(store, shown, check->wants, stranger->fingerprint);
	openssl->X509_STORE_CTX_set_error(store, stranger->error);
	return stranger->error == X509_V_OK;
}
