/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_TLS_TLS_H
#define RR_BASE_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/text.h"

/*
 * TLS 1.3 (RFC 8446), and no older version, by OpenSSL, which is loaded with the first struct rr_tls. This
 * interface has no sockets: octets of the peer come from a function of the caller, and octets for the peer
 * wait until the caller has sent them. There are no session tickets, so no session is resumed and no early
 * data is taken (RFC 9289, section 5: "Implementations MUST NOT use" early data). Keys stay inside of
 * OpenSSL, which clears them when they are freed.
 *
 * Threads: several may open sessions with one struct rr_tls, also while another calls rr_tls_renew(). A
 * session belongs to one thread.
 */

/* What protects a connection, from the weakest on. */
enum rr_security {
	RR_SECURITY_NONE,
	RR_SECURITY_TLS,  /* the server has proved its name, the client has not */
	RR_SECURITY_MTLS, /* both have */
	RR_SECURITIES
};

/* Files in the PEM format, by their paths. */
struct rr_tls_files {
	const char *cert; /* the certificate of this side, behind it those that lead to its CA; NULL: none */
	const char *key;  /* its private key; NULL: in the file of the certificate */
	/* The certificates of the authorities that may sign the peer's certificate, and their lists of
	 * revoked certificates. NULL: a client trusts the authorities of the system; a server asks for no
	 * certificate. */
	const char *ca;
};

/* The certificates of this side, and those that it trusts. */
struct rr_tls;

/* Makes one for the accepting side (is_server), which must have a certificate, or for the connecting side.
 * The paths are copied. Errors, with a text that says what to do: NOTSUP (no OpenSSL), INVAL (the files),
 * NOMEM. */
int rr_tls_new(bool is_server, const struct rr_tls_files *files, struct rr_tls **tls, struct rr_text *text);

/* Reads the files again, for the sessions that are opened from now on. After an error, the certificates stay
 * as they are. */
int rr_tls_renew(struct rr_tls *tls, struct rr_text *text);

/* Frees tls, which may be NULL. Sessions live on. */
void rr_tls_free(struct rr_tls *tls);

/* Tells whether this side has a certificate; a server, whether it asks its clients for one. */
bool rr_tls_is_mutual(const struct rr_tls *tls);

/* Has the secrets of all sessions of this process appended to a file, in the format that Wireshark and others
 * read (SSLKEYLOGFILE): who has the file can decrypt what was captured. For diagnosis; called before
 * threads are made. Errors, with a text: SYSTEM (the file), NOTSUP (no TLS). */
int rr_tls_keylog(const char *path, struct rr_text *text);

/* A fingerprint stands for a certificate's key: SHA-256 of its SubjectPublicKeyInfo (RFC 5280, 4.1). Renewed
 * certificates of the same key have the same. As text it is "sha256:" and 64 hexadecimal digits. */
enum { RR_TLS_FINGERPRINT = 32, RR_TLS_FINGERPRINT_TEXT = 72 };

/* Reads a fingerprint from a text of that length, in which "sha256:" may be left out. Returns false if it is
 * none. */
bool rr_tls_fingerprint_get(const char *text, size_t length, uint8_t fingerprint[RR_TLS_FINGERPRINT]);
void rr_tls_fingerprint_put(
	const uint8_t fingerprint[RR_TLS_FINGERPRINT], char text[RR_TLS_FINGERPRINT_TEXT]);

/* Stores the fingerprint of this side's certificate. Returns false if it has none. */
bool rr_tls_own_fingerprint(struct rr_tls *tls, uint8_t fingerprint[RR_TLS_FINGERPRINT]);

/* Makes, if there is no file with that path, one with a new key (P-256) and a certificate for this host that
 * signs itself, in PEM, which only its owner may read. Errors, with a text: SYSTEM (the file), NOTSUP (no
 * OpenSSL), NOMEM. */
int rr_tls_make(const char *path, struct rr_text *text);

/* A server whose certificate was refused. */
struct rr_tls_stranger {
	int error; /* 0: there is none; else OpenSSL's number of what is wrong */
	uint8_t fingerprint[RR_TLS_FINGERPRINT];
};

/* Tells whether it was refused because nobody here knows who signed its certificate. */
bool rr_tls_stranger_is_unknown(const struct rr_tls_stranger *stranger);

/* That a connection is to be inside of TLS. */
struct rr_secure {
	struct rr_tls *tls; /* the certificates of this side */
	const char *name;   /* of the server: its certificate must have this name, or this address */
	bool optional;      /* if the server has no TLS, the connection goes on without it */
	/* If it is set, the server's key must have that fingerprint, and nothing else of its certificate
	 * counts. known: who says so is the list of known servers, not the user. */
	bool has_fingerprint, known;
	uint8_t fingerprint[RR_TLS_FINGERPRINT];
	struct rr_tls_stranger *stranger; /* is filled in if the server's certificate is refused; or NULL */
};

struct rr_tls_session;

/* Reads up to size octets of the peer to data. Returns their number, 0 at the end of the peer's stream, or -1
 * with errno. */
typedef ssize_t rr_tls_receive(void *ctx, void *data, size_t size);

/* What goes inside of a session: the name of ALPN (RFC 7301) by which both sides say so. */
enum rr_tls_protocol {
	RR_TLS_SUNRPC, /* records of RPC (RFC 9289, 7.2). A peer that knows no ALPN is taken, as Linux's is */
	RR_TLS_MPA,    /* MPA (RFC 5044): "rpcrdma-mpa", which both sides must name */
	RR_TLS_PROTOCOLS
};

/* The first octet that a peer sends if it begins TLS: the content type `handshake` of a record (RFC 8446,
 * 5.1). */
enum { RR_TLS_FIRST_OCTET = 0x16 };

/* Opens a session. wants: of a client's session, what it wants of the server, which lives as long as the
 * session; NULL for a server. Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_tls_open(struct rr_tls *tls, const struct rr_secure *wants, enum rr_tls_protocol protocol,
	rr_tls_receive *receive, void *ctx, struct rr_tls_session **session);

/* Goes on with the handshake. Returns 1 when it is done, 0 if the peer must send something first, or an
 * error: PEER (its text says what is wrong and what to do), DISCONNECTED. Octets for the peer may wait in any
 * case. */
int rr_tls_shake(struct rr_tls_session *session, struct rr_text *text);

/* Decrypts octets of the peer to the pieces of iov, as far as they have come. Returns how many octets; 0 if
 * the peer has ended its stream; -1 with errno, which is EAGAIN if the peer must send more, and EPROTO if it
 * refused this side or broke the rules of TLS: text then says so. */
ssize_t rr_tls_read(struct rr_tls_session *session, const struct iovec *iov, int count, struct rr_text *text);

/* Tells whether any octet of the peer has come. */
bool rr_tls_has_heard(const struct rr_tls_session *session);

/* Tells whether the last rr_tls_read() ended because its pieces were full: octets of the peer may then be
 * inside of the session, for which no socket becomes readable. */
bool rr_tls_has_more(const struct rr_tls_session *session);
/* While held, the session reads only what is inside of it already. */
void rr_tls_hold(struct rr_tls_session *session, bool held);

/* Encrypts the octets that iov describes, from the first on, while less than RR_TLS_WAITING octets wait for
 * the peer. Returns how many octets were taken, or -1 with errno. */
ssize_t rr_tls_write(struct rr_tls_session *session, const struct iovec *iov, uint32_t count);
enum { RR_TLS_WAITING = 256 << 10 };

/* Returns the octets that are to be sent to the peer, and their number; rr_tls_sent() removes the first of
 * them. */
const void *rr_tls_waiting(const struct rr_tls_session *session, size_t *size);
void rr_tls_sent(struct rr_tls_session *session, size_t size);

/* Ends this side's stream: a close_notify is to be sent (RFC 8446, 6.1). */
void rr_tls_end(struct rr_tls_session *session);

/* Frees the session and its keys. */
void rr_tls_close(struct rr_tls_session *session);

/* What a session that has shaken hands consists of. The texts are constant, but for peer, which lives as long
 * as the session. */
struct rr_tls_facts {
	const char *version, *cipher;
	enum rr_security security;
	const char *peer; /* the name in the peer's certificate; "" if it has shown none */
};

void rr_tls_facts(const struct rr_tls_session *session, struct rr_tls_facts *facts);

#endif
