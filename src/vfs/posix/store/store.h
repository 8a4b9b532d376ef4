/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_STORE_H
#define RR_VFS_POSIX_STORE_STORE_H

#include <stdint.h>

/* A list of objects that have to be brought to stable storage before a call is answered. RFC 1813, 4.7: "any
 * data associated with the request is now on stable storage". An operation notes the objects that it changed.
 * They are stored after the output of the operation, attributes included, is complete. */

enum rr_store_how {
	RR_STORE_FILE,        /* fsync(2) */
	RR_STORE_DATA,        /* fdatasync(2) */
	RR_STORE_FILE_SYSTEM, /* syncfs(2) */
	RR_STORE_EVERYTHING   /* sync(2); without a descriptor */
};

struct rr_store {
	enum rr_store_how how;
	int fd; /* of the object, owned by the list; -1 with RR_STORE_EVERYTHING */
};

enum { RR_STORES = 4 }; /* an operation notes no more objects than this */

struct rr_stores {
	struct rr_store list[RR_STORES];
	uint32_t count;
};

/* Notes that the object of fd is to be stored. A list has room for RR_STORES objects, which is not checked. A
 * copy of fd is kept: fd still belongs to the caller. */
void rr_stores_add(struct rr_stores *stores, int fd, enum rr_store_how how);

/* Stores the objects in the order in which they were noted, until one fails, and empties the list. Returns 0
 * or an errno. */
int rr_stores_do(struct rr_stores *stores);

/* Empties the list without storing. */
void rr_stores_drop(struct rr_stores *stores);

#endif
