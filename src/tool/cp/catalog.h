/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_CATALOG_H
#define RR_TOOL_CP_CATALOG_H

#include <rpcrdma/nfs.h>

/* An entry of a directory, held in memory. */

struct rr_catalog_entry {
	char *name;
	bool known; /* all of object is set; otherwise only object.size */
	struct rpcrdma_nfs_object object;
};

/* The most octets of memory for the entries of a directory. */
#define RR_CATALOG_MAX (UINT64_C(1) << 30)

/* The entries of a directory. */
struct rr_catalog {
	struct rr_catalog_entry *entries;
	size_t count, room; /* numbers of entries: those that there are, and those that fit into the memory */
	size_t most;        /* most entries that there may be; 0: any number */
	uint64_t octets;    /* memory that the entries and their names take */
};

/* Adds an entry with copies of the name and of `object`. object may be NULL if the attributes are not known.
 * Returns 0; -RPCRDMA_ERR_NOMEM; or -RPCRDMA_ERR_LIMIT if the entries need more than RR_CATALOG_MAX
 * octets, or there would be more than catalog->most. */
int rr_catalog_add(struct rr_catalog *catalog, const char *name, const struct rpcrdma_nfs_object *object);

/* Sorts the entries by name, octet by octet. */
void rr_catalog_sort(struct rr_catalog *catalog);

/* Returns the entry with this name, or NULL if there is none. The catalog must be sorted. */
struct rr_catalog_entry *rr_catalog_find(const struct rr_catalog *catalog, const char *name);

void rr_catalog_free(struct rr_catalog *catalog);

/* Adds an entry to the catalog `ctx`; rpcrdma_nfs_list() calls this function for each entry of a directory.
 * Returns what rr_catalog_add() returns: an error ends the listing. */
int rr_catalog_take(void *ctx, const struct rpcrdma_nfs_entry *entry);

#endif
