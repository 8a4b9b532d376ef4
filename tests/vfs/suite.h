/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_VFS_SUITE_H
#define RR_TESTS_VFS_SUITE_H

#include "../test.h"

#include <string.h>

#include "vfs/door.h"

/*
 * This is one suite for all providers: each test uses vfs.h only, and gets a provider with an empty
 * directory, in which each user may do everything. A provider is described by a struct suite_provider; the
 * program of a provider hands its descriptions to suite_run().
 */

/* The callers besides user 0. USER and OTHER have groups of their own. */
enum { SUITE_USER = 1000, SUITE_OTHER = 2000, SUITE_GROUP = 3000 };

/* Bits for what a provider, or the system below it, can do. */
enum {
	SUITE_IDENTITIES = 1, /* it acts as its callers: the test runs as root, or needs no privilege */
	SUITE_XATTRS = 2,
	SUITE_HOLES = 4, /* seek distinguishes holes from data; allocate and deallocate */
	SUITE_CLONES = 8,
	SUITE_LEASES = 16,
	SUITE_DEVICES = 32,
	SUITE_COPIES = 64,
	SUITE_VAST = 128,   /* it can have files of almost 8 EiB */
	SUITE_MANY = 256,   /* it can make 20,000 files in seconds */
	SUITE_PLACES = 512, /* an entry keeps its place in a listing when other entries come and go */
	SUITE_LOCKS = 1024,
	SUITE_OPENS = 2048,   /* an open keeps its rights, and its file when that has no name any more */
	SUITE_LASTING = 4096, /* handles are valid after a restart */
	SUITE_GROUPS = 8192,  /* a caller may have more groups than AUTH_SYS has room for */
	SUITE_SHARES = 16384, /* share reservations */
	SUITE_ACLS = 32768,   /* access lists */
	SUITE_MASKS = 65536   /* they keep rights that their masks take away */
};

struct suite;

struct suite_provider {
	const char *name;
	unsigned can;
	/* Sets vfs and root, a handle of a directory that is empty or to which the test may add anything. */
	void (*setup)(struct suite *suite);
	void (*teardown)(struct suite *suite);
	/* Ends the server and begins it again, as another provider of the same storage. */
	void (*restart)(struct suite *suite);
	/* shrink() leaves space for this many octets more; quota() gives SUITE_USER a quota of this many
	 * octets. NULL: that cannot be done. */
	void (*shrink)(struct suite *suite, uint64_t octets);
	void (*quota)(struct suite *suite, uint64_t octets);
	/* Makes operations that begin from now on fail with status; RR_VFS_OK: they are executed again. NULL:
	 * that cannot be done. */
	void (*break_down)(struct suite *suite, enum rr_vfs_status status);
	/* Makes operations that begin from now on wait, or stops that. NULL: that cannot be done. */
	void (*hold)(struct suite *suite, bool hold);
	void (*release)(struct suite *suite); /* lets the held operations go on */
};

struct suite {
	const struct suite_provider *provider;
	void *storage; /* belongs to the provider */
	struct rr_loop *loop;
	struct rr_vfs *vfs;
	struct rr_vfs_handle root; /* the handle of a directory */
	struct rr_vfs_caller super, user, other;
	const struct rr_vfs_caller *caller; /* of the calls that the functions below make */
	uint64_t ended;                     /* number of calls of done() */
};

/* Begins an operation and waits for its end. Returns its status. input is a pointer to the operation's
 * structure. */
#define suite_do(suite, operation, input)                                                                    \
	(suite_ready(suite, &(input)->call),                                                                 \
		suite_end(suite, &(input)->call, rr_vfs_##operation((suite)->vfs, input)))

/* suite_ready() sets done, and the caller where the call has no caller. */
void suite_ready(struct suite *suite, struct rr_vfs_call *call);
enum rr_vfs_status suite_end(struct suite *suite, struct rr_vfs_call *call, enum rr_vfs_status status);

/* Tells whether an operation that was begun has ended. */
bool suite_ended(const struct rr_vfs_call *call);

struct rr_vfs_object suite_at(const struct rr_vfs_handle *handle);
struct rpcrdma_bytes suite_bytes(const char *text);

/* Each of these fails the test where the operation fails; the functions below return its status. */
struct rr_vfs_handle suite_make(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_type type, uint32_t mode);
struct rr_vfs_handle suite_file(struct suite *suite, const char *name, const char *text);
struct rr_vfs_handle suite_find(struct suite *suite, const struct rr_vfs_handle *directory, const char *name);
struct rr_vfs_attributes suite_attributes(struct suite *suite, const struct rr_vfs_handle *handle);
struct rr_vfs_open *suite_open(
	struct suite *suite, const struct rr_vfs_handle *handle, uint32_t access, uint32_t deny);
void suite_close(struct suite *suite, struct rr_vfs_open *open);
void suite_holds(struct suite *suite, const struct rr_vfs_object *object, uint64_t offset, const char *text);
void suite_set_mode(struct suite *suite, const struct rr_vfs_handle *handle, uint32_t mode);

enum rr_vfs_status suite_lookup(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	struct rr_vfs_handle *handle);
enum rr_vfs_status suite_getattr(
	struct suite *suite, const struct rr_vfs_object *object, struct rr_vfs_attributes *attributes);
enum rr_vfs_status suite_write(struct suite *suite, const struct rr_vfs_object *object, uint64_t offset,
	const char *text, enum rr_vfs_stable stable);
enum rr_vfs_status suite_create(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_type type, uint32_t mode, struct rr_vfs_handle *handle);
enum rr_vfs_status suite_remove(struct suite *suite, const struct rr_vfs_handle *directory, const char *name,
	enum rr_vfs_remove_what what);
enum rr_vfs_status suite_rename(struct suite *suite, const struct rr_vfs_handle *from, const char *old_name,
	const struct rr_vfs_handle *to, const char *new_name);
enum rr_vfs_status suite_link(struct suite *suite, const struct rr_vfs_handle *file,
	const struct rr_vfs_handle *directory, const char *name);

/* Skips the test unless the provider can do this. */
void suite_needs(const struct suite *suite, unsigned can);

/* Runs all tests on each of the providers. */
int suite_run(const struct suite_provider *providers, size_t count);

struct suite_tests {
	const struct CMUnitTest *tests;
	size_t count;
};

extern const struct suite_tests suite_of_objects, suite_of_names, suite_of_making, suite_of_directories,
	suite_of_data, suite_of_space, suite_of_opens, suite_of_locks, suite_of_xattrs, suite_of_acls,
	suite_of_callers, suite_of_order;

#endif
