/* SPDX-License-Identifier: BSD-3-Clause */
/* This file loads OpenSSL, so that only a program that uses TLS needs it and pays for its start. */
#include "base/tls/library.h"

#include <pthread.h>
#include <rpcrdma/error.h>

#include "base/library.h"

#define LIBRARY_SYMBOL(name) { #name, offsetof(struct rr_tls_library, name) },
static const struct rr_library_symbol library_ssl[] = { RR_TLS_SSL(LIBRARY_SYMBOL) };
static const struct rr_library_symbol library_crypto[] = { RR_TLS_CRYPTO(LIBRARY_SYMBOL) };
#undef LIBRARY_SYMBOL

static const struct rr_library library_parts[] = {
	{ "libssl.so.3", "TLS needs OpenSSL 3 (libssl.so.3)", "libssl3", false, library_ssl,
		sizeof(library_ssl) / sizeof(library_ssl[0]) },
	{ "libcrypto.so.3", "TLS needs OpenSSL 3 (libcrypto.so.3)", "libssl3", false, library_crypto,
		sizeof(library_crypto) / sizeof(library_crypto[0]) },
};

struct rr_tls_library rr_tls_library;

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER; /* of rr_tls_library while it is filled */

/* Does what rr_tls_library_load() says, under the lock. */
static int
library_load_all(BIO_METHOD *(*octets)(void), struct rr_text *text)
{
	if (rr_tls_library.octets)
		return 0;
	for (int i = 0; i < 2; i++)
		if (!rr_library_load(&library_parts[i], &rr_tls_library, text))
			return -RPCRDMA_ERR_NOTSUP;
	rr_tls_library.octets = octets();
	return rr_tls_library.octets ? 0 : rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
}

int
rr_tls_library_load(BIO_METHOD *(*octets)(void), struct rr_text *text)
{
	int error;

	pthread_mutex_lock(&library_lock);
	error = library_load_all(octets, text);
	pthread_mutex_unlock(&library_lock);
	return error;
}
