/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_TLS_LIBRARY_H
#define RR_BASE_TLS_LIBRARY_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/text.h"
#include "base/tls/tls.h"

/* All functions of OpenSSL that are used. RR_TLS_SSL() and RR_TLS_CRYPTO() apply a macro to each of their
 * names, those of libssl and those of libcrypto. Each is a member of struct rr_tls_library under its own
 * name: a pointer to the function. */
/* clang-format off */
#define RR_TLS_SSL(function)                                                                                 \
	function(TLS_client_method) function(TLS_server_method) function(SSL_CTX_new) function(SSL_CTX_free) \
	function(SSL_CTX_ctrl) function(SSL_CTX_set_options) function(SSL_CTX_set_verify)                    \
	function(SSL_CTX_get_cert_store) function(SSL_CTX_load_verify_file)                                  \
	function(SSL_CTX_set_default_verify_paths) function(SSL_CTX_set_default_passwd_cb)                   \
	function(SSL_CTX_use_certificate_chain_file) function(SSL_CTX_use_PrivateKey_file)                   \
	function(SSL_CTX_check_private_key) function(SSL_CTX_get0_param)                                     \
	function(SSL_CTX_set_alpn_select_cb) function(SSL_set_alpn_protos) function(SSL_CTX_set_num_tickets) \
	function(SSL_set_msg_callback) function(SSL_new) function(SSL_free) function(SSL_ctrl)           \
	function(SSL_set_bio) function(SSL_set_accept_state) function(SSL_set_connect_state)                 \
	function(SSL_set1_host) function(SSL_set_hostflags) function(SSL_get0_param) function(SSL_do_handshake) function(SSL_read_ex)    \
	function(SSL_write_ex) function(SSL_get_error) function(SSL_shutdown) function(SSL_get_version)      \
	function(SSL_get_current_cipher) function(SSL_CIPHER_get_name) function(SSL_get_verify_result)       \
	function(SSL_get0_alpn_selected) function(SSL_get1_peer_certificate)                                 \
	function(SSL_load_client_CA_file) function(SSL_CTX_set_client_CA_list)                               \
	function(SSL_set_default_read_buffer_len) function(SSL_get_rbio) function(SSL_CTX_set_keylog_callback) function(SSL_CTX_set_cert_verify_callback) function(SSL_get_ex_data_X509_STORE_CTX_idx) function(SSL_set_ex_data) function(SSL_get_ex_data) function(SSL_CTX_get0_certificate)

#define RR_TLS_CRYPTO(function)                                                                              \
	function(BIO_meth_new) function(BIO_meth_free) function(BIO_meth_set_read) function(BIO_meth_set_write)                      \
	function(BIO_meth_set_ctrl) function(BIO_new) function(BIO_free) function(BIO_set_data) function(BIO_get_data) \
	function(BIO_set_init) function(BIO_set_flags) function(BIO_clear_flags)                             \
	function(X509_VERIFY_PARAM_set_flags) function(X509_VERIFY_PARAM_set1_ip_asc)                        \
	function(X509_STORE_set_verify_cb) function(X509_STORE_CTX_get_error)                                \
	function(X509_STORE_CTX_set_error) function(X509_verify_cert_error_string)                           \
	function(X509_get_subject_name) function(X509_NAME_get_text_by_NID) function(X509_free)              \
	function(ERR_peek_last_error) function(ERR_peek_error) function(ERR_clear_error)                     \
	function(ERR_reason_error_string)                                                                    \
	function(X509_verify_cert) function(X509_STORE_CTX_get_ex_data) function(X509_STORE_CTX_get0_cert) \
	function(X509_STORE_CTX_get0_param) function(X509_VERIFY_PARAM_set_purpose) function(X509_get_X509_PUBKEY) \
	function(i2d_X509_PUBKEY) function(EVP_Digest) function(EVP_sha256) function(X509_get_extended_key_usage) \
	function(X509_get_ext_d2i) function(EXTENDED_KEY_USAGE_free) function(OPENSSL_sk_num) function(OPENSSL_sk_value) \
	function(OBJ_obj2txt) function(EVP_PKEY_Q_keygen) function(EVP_PKEY_free) function(X509_new) function(X509_set_version) \
	function(X509_get_serialNumber) function(ASN1_INTEGER_set_uint64) function(X509_getm_notBefore) function(X509_getm_notAfter) \
	function(X509_gmtime_adj) function(X509_set_pubkey) function(X509_NAME_add_entry_by_txt) function(X509_set_issuer_name) \
	function(X509V3_EXT_conf_nid) function(X509_add_ext) function(X509_EXTENSION_free) function(X509_sign) \
	function(BIO_s_mem) function(BIO_ctrl) function(PEM_write_bio_PrivateKey) function(PEM_write_bio_X509)
/* clang-format on */

struct rr_tls_library {
#define RR_TLS_MEMBER(name) __typeof__(&name) name;
	RR_TLS_SSL(RR_TLS_MEMBER)
	RR_TLS_CRYPTO(RR_TLS_MEMBER)
#undef RR_TLS_MEMBER
	BIO_METHOD *octets; /* the source and the sink of sessions: session.c */
};

/* The functions, once rr_tls_library_load() has returned 0. */
extern struct rr_tls_library rr_tls_library;

/* Loads OpenSSL, which is never unloaded, and makes rr_tls_library.octets by octets(), which is
 * rr_tls_octets_new(): an argument, as this file calls no other. May be called by any thread. Errors: NOTSUP,
 * with a text that says what to install; NOMEM. */
int rr_tls_library_load(BIO_METHOD *(*octets)(void), struct rr_text *text);

/* session.c: makes the table of functions of the source and the sink of sessions. Returns NULL if there is no
 * memory. */
BIO_METHOD *rr_tls_octets_new(void);

/* session.c: is OpenSSL's callback by which a server chooses among the protocols that a client offers; called
 * only if the client offers any. */
int rr_tls_select(SSL *ssl, const unsigned char **selected, unsigned char *length,
	const unsigned char *offered, unsigned int size, void *ctx);

/* What verify.c knows of a session: its object at OpenSSL has a pointer to this (SSL_get_ex_data(), number
 * 0). */
struct rr_tls_check {
	const struct rr_secure *wants;   /* of the client; NULL at the side of the server */
	struct rr_tls_stranger stranger; /* what is wrong with the peer's certificate */
};

/* verify.c: is OpenSSL's callback that checks the peer's certificates. And computes the fingerprint of a
 * certificate's key; returns false if there is no memory. */
int rr_tls_verify(X509_STORE_CTX *store, void *ctx);
bool rr_tls_certificate_fingerprint(X509 *certificate, uint8_t fingerprint[RR_TLS_FINGERPRINT]);

/* keylog.c: is OpenSSL's callback for a line of the file of rr_tls_keylog(), if there is one. */
void rr_tls_keylog_line(const SSL *ssl, const char *line);

/* reason.c: writes into text why the handshake of the session failed, and what to do. wants: of the client;
 * NULL at the side of the server. stranger: what is wrong with the peer's certificate. */
void rr_tls_reason(const SSL *ssl, const struct rr_secure *wants, const struct rr_tls_stranger *stranger,
	struct rr_text *text);

/* context.c: makes an object for a session. Returns NULL if there is no memory. */
struct rr_tls;
SSL *rr_tls_context_session(struct rr_tls *tls);
bool rr_tls_is_server(const struct rr_tls *tls);

#endif
