/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the place of the other files where the headers of OpenSSL were missing when this library was built:
 * there is no TLS, so there are no sessions. */
#include <errno.h>
#include <rpcrdma/error.h>

#include "base/tls/tls.h"

static int
absent_fail(struct rr_text *text)
{
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
		"this program was built without TLS: build it with the headers of OpenSSL 3");
}

int
rr_tls_new(bool is_server, const struct rr_tls_files *files, struct rr_tls **tls, struct rr_text *text)
{
	(void)is_server, (void)files, (void)tls;
	return absent_fail(text);
}

int
rr_tls_keylog(const char *path, struct rr_text *text)
{
	(void)path;
	return absent_fail(text);
}

int
rr_tls_make(const char *path, struct rr_text *text)
{
	(void)path;
	return absent_fail(text);
}

bool
rr_tls_fingerprint_get(const char *text, size_t length, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	(void)text, (void)length, (void)fingerprint;
	return false;
}

void
rr_tls_fingerprint_put(const uint8_t fingerprint[RR_TLS_FINGERPRINT], char text[RR_TLS_FINGERPRINT_TEXT])
{
	(void)fingerprint;
	text[0] = '\0';
}

bool
rr_tls_stranger_is_unknown(const struct rr_tls_stranger *stranger)
{
	(void)stranger;
	return false;
}

bool
rr_tls_own_fingerprint(struct rr_tls *tls, uint8_t fingerprint[RR_TLS_FINGERPRINT])
{
	(void)tls, (void)fingerprint;
	return false;
}

int
rr_tls_renew(struct rr_tls *tls, struct rr_text *text)
{
	(void)tls, (void)text;
	return 0;
}

void
rr_tls_free(struct rr_tls *tls)
{
	(void)tls;
}

bool
rr_tls_is_mutual(const struct rr_tls *tls)
{
	(void)tls;
	return false;
}

int
rr_tls_open(struct rr_tls *tls, const struct rr_secure *wants, enum rr_tls_protocol protocol,
	rr_tls_receive *receive, void *ctx, struct rr_tls_session **session)
{
	(void)tls, (void)wants, (void)protocol, (void)receive, (void)ctx, (void)session;
	return -RPCRDMA_ERR_NOMEM;
}

int
rr_tls_shake(struct rr_tls_session *session, struct rr_text *text)
{
	(void)session, (void)text;
	return -RPCRDMA_ERR_NOTSUP;
}

ssize_t
rr_tls_read(struct rr_tls_session *session, const struct iovec *iov, int count, struct rr_text *text)
{
	(void)session, (void)iov, (void)count, (void)text;
	errno = EPROTO;
	return -1;
}

bool
rr_tls_has_heard(const struct rr_tls_session *session)
{
	(void)session;
	return false;
}

bool
rr_tls_has_more(const struct rr_tls_session *session)
{
	(void)session;
	return false;
}

void
rr_tls_hold(struct rr_tls_session *session, bool held)
{
	(void)session, (void)held;
}

ssize_t
rr_tls_write(struct rr_tls_session *session, const struct iovec *iov, uint32_t count)
{
	(void)session, (void)iov, (void)count;
	errno = EPROTO;
	return -1;
}

const void *
rr_tls_waiting(const struct rr_tls_session *session, size_t *size)
{
	(void)session;
	*size = 0;
	return NULL;
}

void
rr_tls_sent(struct rr_tls_session *session, size_t size)
{
	(void)session, (void)size;
}

void
rr_tls_end(struct rr_tls_session *session)
{
	(void)session;
}

void
rr_tls_close(struct rr_tls_session *session)
{
	(void)session;
}

void
rr_tls_facts(const struct rr_tls_session *session, struct rr_tls_facts *facts)
{
	(void)session;
	*facts = (struct rr_tls_facts){ 0 };
}
