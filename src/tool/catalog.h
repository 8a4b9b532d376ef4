/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CATALOG_H
#define RR_TOOL_CATALOG_H

#include <rpcrdma/nfs.h>

/* The entries of one directory, held in memory. */

struct rr_catalog_entry {
	char *name;
	bool known; /* object is set but for its size, which always is */
	struct rpcrdma_nfs_object object;
};

/* Octets of memory for the entries of one directory. */
#define RR_CATALOG_MAX (UINT64_C(1) << 30)

struct rr_catalog {
	struct rr_catalog_entry *entries;
	size_t count, room;
	uint64_t octets;
};

/* object may be NULL. -RPCRDMA_ERR_NOMEM; -RPCRDMA_ERR_LIMIT: there are too many. */
int rr_catalog_add(struct rr_catalog *catalog, const char *name, const struct rpcrdma_nfs_object *object);

/* By name, octet by octet. */
void rr_catalog_sort(struct rr_catalog *catalog);

/* Whether a sorted catalog has the name. */
bool rr_catalog_has(const struct rr_catalog *catalog, const char *name);

void rr_catalog_free(struct rr_catalog *catalog);

/* For rpcrdma_nfs_list(); ctx is a catalog. */
int rr_catalog_take(void *ctx, const struct rpcrdma_nfs_entry *entry);

#endif
