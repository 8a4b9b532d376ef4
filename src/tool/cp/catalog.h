/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_CP_CATALOG_H
#define RR_TOOL_CP_CATALOG_H

#include <rpcrdma/nfs.h>
#include <stddef.h>

/* An entry of a directory, held in memory. A directory may have millions of them, and few objects have names
 * of users and groups, which are more than half of a struct rpcrdma_nfs_object: so the memory of an object
 * without such names ends in front of them. rr_catalog_object() returns all of it. */

struct rr_catalog_entry {
	char *name;
	struct rpcrdma_nfs_object *object; /* NULL: it is not known */
};

/* The octets of an object without names. */
enum { RR_CATALOG_OBJECT = offsetof(struct rpcrdma_nfs_object, owner) };

/* The most octets of memory for the entries of a directory. */
#define RR_CATALOG_MAX (UINT64_C(1) << 30)

/* The entries of a directory. */
struct rr_catalog {
	struct rr_catalog_entry *entries;
	size_t count, room; /* numbers of entries: those that there are, and those that fit into the memory */
	size_t most;        /* most entries that there may be; 0: any number */
	uint64_t octets;    /* memory that the entries, their names and their objects take */
};

/* Adds an entry with copies of the name and of `object`. object may be NULL if the attributes are not known.
 * Returns 0; -RPCRDMA_ERR_NOMEM; or -RPCRDMA_ERR_LIMIT if the entries need more than RR_CATALOG_MAX
 * octets, or there would be more than catalog->most. */
int rr_catalog_add(struct rr_catalog *catalog, const char *name, const struct rpcrdma_nfs_object *object);

/* Sets the object of an entry to a copy of `object`, or to NULL. Errors: as rr_catalog_add() has them. */
int rr_catalog_know(
	struct rr_catalog *catalog, struct rr_catalog_entry *entry, const struct rpcrdma_nfs_object *object);

/* Returns the object of an entry that is known. */
struct rpcrdma_nfs_object rr_catalog_object(const struct rr_catalog_entry *entry);

/* Sorts the entries by name, octet by octet. */
void rr_catalog_sort(struct rr_catalog *catalog);

/* Returns the entry with this name, or NULL if there is none. The catalog must be sorted. */
struct rr_catalog_entry *rr_catalog_find(const struct rr_catalog *catalog, const char *name);

void rr_catalog_free(struct rr_catalog *catalog);

/* Adds an entry to the catalog `ctx`; rpcrdma_nfs_list() calls this function for each entry of a directory.
 * Returns what rr_catalog_add() returns: an error ends the listing. */
int rr_catalog_take(void *ctx, const struct rpcrdma_nfs_entry *entry);

#endif
