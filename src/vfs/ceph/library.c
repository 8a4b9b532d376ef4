/* SPDX-License-Identifier: BSD-3-Clause */
/* This file loads libcephfs, so that a program needs it only where it exports CephFS. */
#include "vfs/ceph/library.h"

#include <dlfcn.h>
#include <rpcrdma/error.h>
#include <stddef.h>
#include <string.h>

static const struct library_symbol {
	const char *name;
	size_t at; /* in struct rr_ceph_library */
} library_symbols[] = {
#define LIBRARY_SYMBOL(name) { "ceph_" #name, offsetof(struct rr_ceph_library, name) },
	RR_CEPH_FUNCTIONS(LIBRARY_SYMBOL)
#undef LIBRARY_SYMBOL
};

/* Loads libcephfs, and stores the addresses of its functions in *library. libcephfs has threads and state of
 * its own, so it is never unloaded. Returns 0, or NOTSUP with a text that says what is missing. */
int
rr_ceph_library_load(struct rr_ceph_library *library, struct rr_text *text)
{
	static const char file[] = "libcephfs.so.2";
	void *handle = dlopen(file, RTLD_NOW | RTLD_NODELETE);

	if (!handle)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"CephFS needs %s, which cannot be loaded (%s): install libcephfs2", file, dlerror());
	for (size_t i = 0; i < sizeof(library_symbols) / sizeof(library_symbols[0]); i++) {
		void *address = dlsym(handle, library_symbols[i].name);

		if (!address)
			return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "%s has no %s: it is too old", file,
				library_symbols[i].name);
		memcpy((char *)library + library_symbols[i].at, &address, sizeof(address));
	}
	return 0;
}
