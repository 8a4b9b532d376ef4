/* SPDX-License-Identifier: BSD-3-Clause */
/* A session. OpenSSL reads octets of the peer through session_get(), straight from the function of the caller
 * into its own memory for records, and leaves octets for the peer in `out`, by session_put(). Both memories
 * exist only while octets lie in them. */
#include <errno.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/tls/library.h"
#include "base/tls/tls.h"

enum {
	SESSION_RECORD = 16384, /* RFC 8446, 5.1: the most octets of a record's plaintext */
	SESSION_OUT_MAX =
		1 << 20, /* octets that may wait; above RR_TLS_WAITING only what the peer itself causes */
	SESSION_INPUT = 65536, /* octets that one read takes in, once the handshake is done */
	SESSION_UPDATES =
		64, /* RFC 8446, 4.6.3: key updates; more of them in SESSION_UPDATE_OCTETS end the session */
	SESSION_UPDATE_OCTETS = 1 << 20,
	SESSION_NAME = 128
};

struct rr_tls_session {
	SSL *ssl;
	enum rr_tls_protocol protocol;
	bool is_server, shaken, held, heard, more, ended, broken;
	bool asked;       /* the server has asked for a certificate of this side */
	bool has_own;     /* this side has a certificate */
	int error;        /* errno of the caller's function for reading; 0: it did not fail */
	uint32_t updates; /* key updates since `since` octets came */
	uint64_t since;
	rr_tls_receive *receive;
	void *ctx;
	uint8_t *out; /* NULL: nothing waits */
	size_t out_start, out_end, out_room;
	struct rr_tls_check check;
	char peer[SESSION_NAME];
};

/* ---- The source and the sink ---- */

static int
session_get(BIO *bio, char *data, int size)
{
	struct rr_tls_session *session = rr_tls_library.BIO_get_data(bio);
	ssize_t got;

	rr_tls_library.BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
	if (session->broken)
		return -1;
	if (session->held) {
		rr_tls_library.BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
		return -1;
	}
	got = session->receive(session->ctx, data, (size_t)size);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		rr_tls_library.BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
	else if (got < 0)
		session->error = errno;
	session->ended |= got == 0;
	session->heard |= got > 0;
	return (int)got;
}

/* Makes room for size more octets in `out`. Returns false if too many wait, or if there is no memory. */
static bool
session_room(struct rr_tls_session *session, size_t size)
{
	size_t used = session->out_end - session->out_start, room = used + size;
	uint8_t *grown;

	if (session->out_room - session->out_end >= size)
		return true;
	if (room > SESSION_OUT_MAX)
		return false;
	if (session->out_start > 0)
		memmove(session->out, session->out + session->out_start, used);
	session->out_start = 0;
	session->out_end = used;
	if (session->out_room >= room)
		return true;
	if (room < 2 * session->out_room)
		room = 2 * session->out_room;
	grown = realloc(session->out, room);
	if (!grown)
		return false;
	session->out = grown;
	session->out_room = room;
	return true;
}

static int
session_put(BIO *bio, const char *data, int size)
{
	struct rr_tls_session *session = rr_tls_library.BIO_get_data(bio);

	rr_tls_library.BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
	if (!session_room(session, (size_t)size))
		return -1;
	memcpy(session->out + session->out_end, data, (size_t)size);
	session->out_end += (size_t)size;
	return size;
}

/* Answers what OpenSSL asks about the source and the sink: nothing has to be flushed, and whether the peer's
 * stream has ended. */
static long
session_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct rr_tls_session *session = rr_tls_library.BIO_get_data(bio);

	(void)number, (void)pointer;
	if (command == BIO_CTRL_EOF)
		return session->ended;
	return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *
rr_tls_octets_new(void)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	BIO_METHOD *method = openssl->BIO_meth_new(BIO_TYPE_SOURCE_SINK, "octets");

	if (!method)
		return NULL;
	openssl->BIO_meth_set_read(method, session_get);
	openssl->BIO_meth_set_write(method, session_put);
	openssl->BIO_meth_set_ctrl(method, session_ctrl);
	return method;
}

/* ---- The protocol inside ---- */

/* RFC 7301, 3.1: a list of names, each behind its length; and whether the peer must know ALPN. RFC 9289, 5:
 * "Client implementations MUST include" the extension, "in response to the "ClientHello" message" a server,
 * too; a peer without it is taken, as Linux's are, and one that names others is not. RFC 9289, 7.2:
 * "The "sunrpc" string identifies SunRPC when used over TLS." */
static const struct {
	unsigned char list[16];
	unsigned size;
	bool required;
} session_protocols[RR_TLS_PROTOCOLS] = {
	[RR_TLS_SUNRPC] = { "\6sunrpc", 7, false },
	[RR_TLS_MPA] = { "\13rpcrdma-mpa", 12, true },
};

/* RFC 7301, 3.2: "In the event that the server supports no protocols that the client advertises, then the
 * server SHALL respond with a fatal "no_application_protocol" alert." */
int
rr_tls_select(SSL *ssl, const unsigned char **selected, unsigned char *length, const unsigned char *offered,
	unsigned int size, void *ctx)
{
	const struct rr_tls_session *session = rr_tls_library.BIO_get_data(rr_tls_library.SSL_get_rbio(ssl));
	const unsigned char *own = session_protocols[session->protocol].list;
	unsigned own_size = session_protocols[session->protocol].size;

	(void)ctx;
	for (unsigned at = 0; at < size; at += 1u + offered[at]) {
		if (at + own_size > size || memcmp(offered + at, own, own_size) != 0)
			continue;
		*selected = offered + at + 1;
		*length = (unsigned char)(own_size - 1);
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Checks the protocol that was chosen, if any was. */
static int
session_check_protocol(const struct rr_tls_session *session, struct rr_text *text)
{
	const unsigned char *own = session_protocols[session->protocol].list, *chosen = NULL;
	const char *name = (const char *)own + 1;
	unsigned length = 0;

	rr_tls_library.SSL_get0_alpn_selected(session->ssl, &chosen, &length);
	if (length == 0 && session_protocols[session->protocol].required)
		return rr_fail(text, -RPCRDMA_ERR_PEER,
			"the peer speaks TLS, but does not say that %s goes inside of it: is the port right?",
			name);
	if (length > 0 && (length != own[0] || memcmp(chosen, name, length) != 0))
		return rr_fail(text, -RPCRDMA_ERR_PEER,
			"the server chose a protocol other than %s inside of TLS", name);
	return 0;
}

/* ---- Beginning and end ---- */

/* Is called with each message of the protocol: counts the key updates of the peer, each of which costs this
 * side as much as many octets of data, and notes whether the server asks for a certificate. */
static void
session_message(int is_ours, int version, int type, const void *data, size_t size, SSL *ssl, void *ctx)
{
	struct rr_tls_session *session = ctx;
	const uint8_t *octets = data;

	(void)version, (void)ssl;
	if (is_ours || type != SSL3_RT_HANDSHAKE || size == 0)
		return;
	session->asked |= octets[0] == SSL3_MT_CERTIFICATE_REQUEST;
	if (octets[0] != SSL3_MT_KEY_UPDATE)
		return;
	session->updates = session->since > SESSION_UPDATE_OCTETS ? 1 : session->updates + 1;
	session->since = 0;
	session->broken |= session->updates > SESSION_UPDATES;
}

/* Has the session check that the server's certificate is one of this name, or of this address, and tell the
 * server which name is meant (RFC 6066, 3: a name, not an address). RFC 9289, 5.2.1: "the certificate MUST
 * contain a subjectAltName extension that contains a dNSName": a common name does not count. "DNS domain
 * names in RPC-with-TLS certificates MUST NOT contain the wildcard character '*'". Returns false if there is
 * no memory. */
static bool
session_expect(struct rr_tls_session *session, const char *name)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	union {
		const char *text;
		void *pointer;
	} sent = { name };

	if (openssl->X509_VERIFY_PARAM_set1_ip_asc(openssl->SSL_get0_param(session->ssl), name) == 1)
		return true;
	openssl->SSL_set_hostflags(
		session->ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS);
	return openssl->SSL_set1_host(session->ssl, name) == 1 &&
	       openssl->SSL_ctrl(session->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
		       sent.pointer) == 1;
}

/* Joins the session to OpenSSL's object of it. Returns false if there is no memory. */
static bool
session_begin(struct rr_tls_session *session)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	BIO *bio = openssl->BIO_new(openssl->octets);

	if (!bio)
		return false;
	openssl->BIO_set_data(bio, session);
	openssl->BIO_set_init(bio, 1);
	openssl->SSL_set_bio(session->ssl, bio, bio);
	openssl->SSL_set_ex_data(session->ssl, 0, &session->check);
	openssl->SSL_set_msg_callback(session->ssl, session_message);
	openssl->SSL_ctrl(session->ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, session);
	if (session->is_server) {
		openssl->SSL_set_accept_state(session->ssl);
		return true;
	}
	openssl->SSL_set_connect_state(session->ssl);
	/* Unlike its other functions, this one of OpenSSL returns 0 if it succeeded. */
	return openssl->SSL_set_alpn_protos(session->ssl, session_protocols[session->protocol].list,
		       session_protocols[session->protocol].size) == 0 &&
	       session_expect(session, session->check.wants->name);
}

int
rr_tls_open(struct rr_tls *tls, const struct rr_secure *wants, enum rr_tls_protocol protocol,
	rr_tls_receive *receive, void *ctx, struct rr_tls_session **result)
{
	struct rr_tls_session *session = calloc(1, sizeof(*session));

	if (!session)
		return -RPCRDMA_ERR_NOMEM;
	session->check.wants = wants;
	session->protocol = protocol;
	session->receive = receive;
	session->ctx = ctx;
	session->is_server = rr_tls_is_server(tls);
	session->has_own = rr_tls_is_mutual(tls);
	session->ssl = rr_tls_context_session(tls);
	if (session->ssl && session_begin(session)) {
		*result = session;
		return 0;
	}
	rr_tls_close(session);
	return -RPCRDMA_ERR_NOMEM;
}

void
rr_tls_end(struct rr_tls_session *session)
{
	rr_tls_library.ERR_clear_error();
	if (session->shaken)
		rr_tls_library.SSL_shutdown(session->ssl);
	rr_tls_library.ERR_clear_error();
}

void
rr_tls_close(struct rr_tls_session *session)
{
	if (session->ssl)
		rr_tls_library.SSL_free(session->ssl);
	free(session->out);
	free(session);
}

/* ---- The handshake ---- */

/* Copies the name in the peer's certificate, if it has shown one. A peer may put any octets there: only
 * letters of ASCII and the like are kept, as the name comes into logs. */
static void
session_note_peer(struct rr_tls_session *session)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	X509 *shown = openssl->SSL_get1_peer_certificate(session->ssl);

	if (!shown)
		return;
	openssl->X509_NAME_get_text_by_NID(
		openssl->X509_get_subject_name(shown), NID_commonName, session->peer, sizeof(session->peer));
	openssl->X509_free(shown);
	for (char *at = session->peer; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	if (!session->peer[0])
		strcpy(session->peer, "?");
}

/* Is called when the handshake is done: checks what the server chose, and lets a read take in several
 * records. */
static int
session_shaken(struct rr_tls_session *session, struct rr_text *text)
{
	int error = session_check_protocol(session, text);

	if (error)
		return error;
	session_note_peer(session);
	rr_tls_library.SSL_set_default_read_buffer_len(session->ssl, SESSION_INPUT);
	session->shaken = true;
	return 1;
}

/* Writes into text why OpenSSL failed. Returns the error. */
static int
session_failed(struct rr_tls_session *session, struct rr_text *text)
{
	if (session->error)
		return rr_fail(text, -RPCRDMA_ERR_DISCONNECTED, "%s", strerror(session->error));
	if (session->broken)
		return rr_fail(text, -RPCRDMA_ERR_PEER, "the peer changes its keys without end");
	if (session->ended)
		return rr_fail(text, -RPCRDMA_ERR_DISCONNECTED,
			"the peer closed the connection during the handshake of TLS");
	rr_tls_reason(session->ssl, session->check.wants, &session->check.stranger, text);
	if (session->check.wants && session->check.wants->stranger)
		*session->check.wants->stranger = session->check.stranger;
	return -RPCRDMA_ERR_PEER;
}

int
rr_tls_shake(struct rr_tls_session *session, struct rr_text *text)
{
	int result, error;

	rr_tls_library.ERR_clear_error();
	result = rr_tls_library.SSL_do_handshake(session->ssl);
	if (result == 1)
		return session_shaken(session, text);
	error = rr_tls_library.SSL_get_error(session->ssl, result);
	if (error == SSL_ERROR_WANT_READ && !session->broken)
		return 0;
	error = session_failed(session, text);
	rr_tls_library.ERR_clear_error();
	return error;
}

/* ---- Data ---- */

/* Acts on a read of OpenSSL that brought nothing: `total` octets came before it. */
static ssize_t
session_no_more(struct rr_tls_session *session, size_t total, struct rr_text *text)
{
	int error = rr_tls_library.SSL_get_error(session->ssl, 0);

	/* After octets, the end or the failure is reported by the next read, for which no socket becomes
	 * readable. */
	session->more = total > 0 && error != SSL_ERROR_WANT_READ;
	if (total > 0)
		return (ssize_t)total;
	if (error == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = EAGAIN;
	if (error == SSL_ERROR_WANT_READ)
		return -1;
	session_failed(session, text);
	errno = session->error ? session->error : EPROTO;
	return -1;
}

ssize_t
rr_tls_read(struct rr_tls_session *session, const struct iovec *iov, int count, struct rr_text *text)
{
	size_t total = 0;

	rr_tls_library.ERR_clear_error();
	for (int i = 0; i < count; i++) {
		for (size_t at = 0; at < iov[i].iov_len;) {
			size_t got = 0;

			if (session->broken ||
				rr_tls_library.SSL_read_ex(session->ssl, (uint8_t *)iov[i].iov_base + at,
					iov[i].iov_len - at, &got) != 1)
				return session_no_more(session, total, text);
			at += got;
			total += got;
			session->since += got;
		}
	}
	session->more = true;
	return (ssize_t)total;
}

bool
rr_tls_has_heard(const struct rr_tls_session *session)
{
	return session->heard;
}

bool
rr_tls_has_more(const struct rr_tls_session *session)
{
	return session->more;
}

void
rr_tls_hold(struct rr_tls_session *session, bool held)
{
	session->held = held;
}

/* Encrypts one piece as a record or several. Returns false if OpenSSL failed. */
static bool
session_encrypt(struct rr_tls_session *session, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t taken = 0;

		if (rr_tls_library.SSL_write_ex(session->ssl, data, size, &taken) != 1)
			return false;
		data += taken;
		size -= taken;
	}
	return true;
}

/* Small pieces are gathered, so that a record is as large as it may be; a large piece is encrypted where it
 * lies. */
ssize_t
rr_tls_write(struct rr_tls_session *session, const struct iovec *iov, uint32_t count)
{
	uint8_t gathered[SESSION_RECORD];
	size_t total = 0, used = 0;
	bool good = true;

	rr_tls_library.ERR_clear_error();
	for (uint32_t i = 0; i < count && good; i++) {
		const uint8_t *data = iov[i].iov_base;

		for (size_t at = 0, part; at < iov[i].iov_len && good; at += part) {
			if (session->out_end - session->out_start + used >= RR_TLS_WAITING)
				break;
			part = rr_min(iov[i].iov_len - at, SESSION_RECORD - used);
			if (part < SESSION_RECORD)
				memcpy(gathered + used, data + at, part);
			if (part == SESSION_RECORD) {
				good = session_encrypt(session, data + at, part);
			} else if ((used += part) == SESSION_RECORD) {
				good = session_encrypt(session, gathered, used);
				used = 0;
			}
			total += part;
		}
	}
	good = good && session_encrypt(session, gathered, used);
	errno = good ? 0 : EPROTO;
	return good ? (ssize_t)total : -1;
}

const void *
rr_tls_waiting(const struct rr_tls_session *session, size_t *size)
{
	*size = session->out_end - session->out_start;
	return session->out ? session->out + session->out_start : NULL;
}

void
rr_tls_sent(struct rr_tls_session *session, size_t size)
{
	session->out_start += size;
	if (session->out_start < session->out_end)
		return;
	free(session->out);
	session->out = NULL;
	session->out_start = session->out_end = session->out_room = 0;
}

void
rr_tls_facts(const struct rr_tls_session *session, struct rr_tls_facts *facts)
{
	const struct rr_tls_library *openssl = &rr_tls_library;
	bool proved = session->is_server ? session->peer[0] != '\0' : session->asked && session->has_own;

	*facts = (struct rr_tls_facts){
		.version = openssl->SSL_get_version(session->ssl),
		.cipher = openssl->SSL_CIPHER_get_name(openssl->SSL_get_current_cipher(session->ssl)),
		.security = proved ? RR_SECURITY_MTLS : RR_SECURITY_TLS,
		.peer = session->peer,
	};
}
