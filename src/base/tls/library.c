/* SPDX-License-Identifier: BSD-3-Clause */
/* This file loads OpenSSL, so that only a program that uses TLS needs it and pays for its start. */
#include "base/tls/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <string.h>

struct library_symbol {
	const char *name;
	size_t at; /* in struct rr_tls_library */
};

#define LIBRARY_SYMBOL(name) { #name, offsetof(struct rr_tls_library, name) },
static const struct library_symbol library_ssl[] = { RR_TLS_SSL(LIBRARY_SYMBOL) };
static const struct library_symbol library_crypto[] = { RR_TLS_CRYPTO(LIBRARY_SYMBOL) };
#undef LIBRARY_SYMBOL

struct rr_tls_library rr_tls_library;

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER; /* of rr_tls_library while it is filled */

/* Loads the shared library, and stores the addresses of its functions in rr_tls_library. */
static int
library_load(const char *file, const struct library_symbol *symbols, size_t count, struct rr_text *text)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_NODELETE);

	if (!handle)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"TLS needs OpenSSL 3 (%s), which cannot be loaded (%s): install libssl3", file,
			dlerror());
	for (size_t i = 0; i < count; i++) {
		void *address = dlsym(handle, symbols[i].name);

		if (!address)
			return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "%s has no %s: it is too old", file,
				symbols[i].name);
		memcpy((char *)&rr_tls_library + symbols[i].at, &address, sizeof(address));
	}
	return 0;
}

/* Does what rr_tls_library_load() says, under the lock. */
static int
library_load_all(struct rr_text *text)
{
	int error;

	if (rr_tls_library.octets)
		return 0;
	error = library_load("libssl.so.3", library_ssl, sizeof(library_ssl) / sizeof(library_ssl[0]), text);
	if (!error)
		error = library_load("libcrypto.so.3", library_crypto,
			sizeof(library_crypto) / sizeof(library_crypto[0]), text);
	if (error)
		return error;
	rr_tls_library.octets = rr_tls_octets_new();
	return rr_tls_library.octets ? 0 : rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
}

int
rr_tls_library_load(struct rr_text *text)
{
	int error;

	pthread_mutex_lock(&library_lock);
	error = library_load_all(text);
	pthread_mutex_unlock(&library_lock);
	return error;
}
