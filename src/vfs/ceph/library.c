/* SPDX-License-Identifier: BSD-3-Clause */
/* This file loads libcephfs, so that a program needs it only where it exports CephFS. */
#include "vfs/ceph/library.h"

#include <rpcrdma/error.h>

#include "base/library.h"

static const struct rr_library_symbol library_symbols[] = {
#define LIBRARY_SYMBOL(name) { "ceph_" #name, offsetof(struct rr_ceph_library, name) },
	RR_CEPH_FUNCTIONS(LIBRARY_SYMBOL)
#undef LIBRARY_SYMBOL
};

/* Loads libcephfs, and stores the addresses of its functions in *library. Returns 0, or NOTSUP with a text
 * that says what is missing. */
int
rr_ceph_library_load(struct rr_ceph_library *library, struct rr_text *text)
{
	static const struct rr_library libcephfs = { "libcephfs.so.2", "CephFS needs libcephfs.so.2",
		"libcephfs2", false, library_symbols, sizeof(library_symbols) / sizeof(library_symbols[0]) };

	return rr_library_load(&libcephfs, library, text) ? 0 : -RPCRDMA_ERR_NOTSUP;
}
