/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_H
#define RR_VFS_POSIX_STORE_H

#include <stdint.h>

/* A list of changes that have to reach stable storage before a call is answered. RFC 1813, 4.7: "any data
 * associated with the request is now on stable storage". An operation notes its changes, and they are stored
 * when the operation has its result, attributes included. */

enum rr_store_how {
	RR_STORE_FILE,        /* fsync(2) */
	RR_STORE_DATA,        /* fdatasync(2) */
	RR_STORE_FILE_SYSTEM, /* syncfs(2) */
	RR_STORE_EVERYTHING   /* sync(2); without a descriptor */
};

struct rr_store {
	enum rr_store_how how;
	int fd; /* a descriptor of its own */
};

enum { RR_STORES = 4 }; /* the most that an operation notes */

struct rr_stores {
	struct rr_store list[RR_STORES];
	uint32_t count;
};

/* Notes that the object of fd is to be stored, at most RR_STORES times for a list. A copy of fd is kept: fd
 * still belongs to the caller. */
void rr_stores_add(struct rr_stores *stores, int fd, enum rr_store_how how);

/* Stores everything noted, in order, and empties the list. Returns 0 or an errno. */
int rr_stores_do(struct rr_stores *stores);

/* Empties the list without storing. */
void rr_stores_drop(struct rr_stores *stores);

#endif
