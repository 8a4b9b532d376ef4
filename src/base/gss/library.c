/* SPDX-License-Identifier: BSD-3-Clause */
/* This file loads MIT's libraries of Kerberos, so that only a program that uses Kerberos needs them and pays
 * for their start. */
#include "base/gss/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <rpcrdma/error.h>

#include "base/library.h"

#define LIBRARY_SYMBOL(name) { #name, offsetof(struct rr_gss_library, name) },
static const struct rr_library_symbol library_gss[] = { RR_GSS_API(LIBRARY_SYMBOL) };
static const struct rr_library_symbol library_krb5[] = { RR_GSS_KRB5(LIBRARY_SYMBOL) };
#undef LIBRARY_SYMBOL

#define LIBRARY_NEEDED(file) "Kerberos needs MIT's libraries (" file ")"
static const struct rr_library library_of_gss = { "libgssapi_krb5.so.2",
	LIBRARY_NEEDED("libgssapi_krb5.so.2"), "libgssapi-krb5-2", false, library_gss,
	sizeof(library_gss) / sizeof(library_gss[0]) };
static const struct rr_library library_of_krb5 = { "libkrb5.so.3", LIBRARY_NEEDED("libkrb5.so.3"),
	"libgssapi-krb5-2", false, library_krb5, sizeof(library_krb5) / sizeof(library_krb5[0]) };

struct rr_gss_library rr_gss_library;

gss_OID_desc rr_gss_krb5 = { 9, (void *)(uintptr_t) "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" };

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER; /* of rr_gss_library while it is filled */
static bool library_loaded;

/* Does what rr_gss_library_load() says, under the lock. */
static int
library_load_all(struct rr_text *text)
{
	void *gss, *krb5;
	const gss_OID *type;

	if (library_loaded)
		return 0;
	gss = rr_library_load(&library_of_gss, &rr_gss_library, text);
	krb5 = gss ? rr_library_load(&library_of_krb5, &rr_gss_library, text) : NULL;
	if (!krb5)
		return -RPCRDMA_ERR_NOTSUP;
	type = dlsym(gss, "GSS_C_NT_HOSTBASED_SERVICE");
	if (!type)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "libgssapi_krb5.so.2 has no names of services");
	rr_gss_library.name_type_service = *type;
	library_loaded = true;
	return 0;
}

int
rr_gss_library_load(struct rr_text *text)
{
	int error;

	pthread_mutex_lock(&library_lock);
	error = library_load_all(text);
	pthread_mutex_unlock(&library_lock);
	return error;
}
