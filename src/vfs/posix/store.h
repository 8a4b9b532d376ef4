/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_H
#define RR_VFS_POSIX_STORE_H

#include <stdint.h>

/*
 * The changes that have to reach stable storage before a call is answered. RFC 1813, 4.7: "any data
 * associated with the request is now on stable storage". A procedure notes it; it is done when the procedure
 * has its result, attributes included.
 */

enum rr_store_how {
	RR_STORE_FILE,        /* fsync(2) */
	RR_STORE_DATA,        /* fdatasync(2) */
	RR_STORE_FILE_SYSTEM, /* syncfs(2) */
	RR_STORE_EVERYTHING   /* sync(2); without a descriptor */
};

struct rr_store {
	enum rr_store_how how;
	int fd; /* its own */
};

enum { RR_STORES = 4 }; /* of one call */

struct rr_stores {
	struct rr_store list[RR_STORES];
	uint32_t count;
};

/* Notes what is to be stored; fd stays the caller's. At most RR_STORES times. */
void rr_stores_add(struct rr_stores *stores, int fd, enum rr_store_how how);

/* Stores all, in order, and forgets it: 0 or errno. */
int rr_stores_do(struct rr_stores *stores);

/* Forgets all. */
void rr_stores_drop(struct rr_stores *stores);

#endif
