/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_WORLD_H
#define RR_TESTS_NFS_WORLD_H

#include "../../stage.h"

#include "base/share/pool.h"
#include "server/nfs3/server.h"
#include "ulb/limits.h"
#include "ulb/nfs3.h"
#include "vfs/posix/posix.h"

/* This is an NFS server on a directory of its own, with calls to its procedures without any RPC: it passes
 * arguments in and gets results, as an RPC server would. */

/* The callers, where the test runs as root; otherwise every caller is the user who runs the test. */
enum { WORLD_USER = 1000, WORLD_OTHER = 2000 };

struct world {
	struct stage stage;    /* its loop is that of the pool; the clock runs */
	char path[STAGE_PATH]; /* of the directory */
	int fd;                /* the directory */
	struct rr_tree_export exports[2];
	struct rr_tree_config config;
	const char *rule; /* of all exports: see vfs/rules.h */
	struct rr_posix_shared *shared;
	struct rr_loop *vfs_loop; /* of the provider; NULL: its operations end at once */
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_shares shares; /* of the pool */
	struct rr_pool *pool;
	struct rr_nfs_server *server;
	struct rr_service services[RR_NFS_SERVICES];
	struct rpcrdma_request request;
	uint32_t groups[RR_VFS_GROUPS]; /* of the request's caller */
	enum rpcrdma_handled handled;   /* of the last call */
	uint32_t size;                  /* octets of its result's stream */
	nfs_fh3 root;
	union {
		max_align_t align;
		uint8_t octets[1 << 16];
	} arena, kept, result;
	size_t kept_size;
};

/* Makes a new world for each test, for cmocka. Its directory belongs to WORLD_USER where the test runs as
 * root. */
int world_setup(void **state);

/* Makes another server, as if in another thread, that shares world's directory and struct rr_posix_shared. It
 * is to be freed. */
struct world *world_beside(const struct world *world);
void world_beside_free(struct world *beside);

int world_teardown(void **state);

/* Ends the server and starts it again with the present configuration. */
void world_restart(struct world *world);

bool world_is_root(void);

/* These set the caller of later calls; no_one: AUTH_NONE. */
void world_caller(struct world *world, uint32_t id);
void world_no_one(struct world *world);

/* These call a procedure. The result, and the memory that it points to, is valid until the next call. */
const void *world_call(struct world *world, uint32_t proc, const void *args);
const void *world_mount_call(struct world *world, uint32_t proc, const void *args);
const void *world_old_mount_call(
	struct world *world, uint32_t version, uint32_t proc, const void *args); /* 1 or 2 */
const void *world_quota_call(
	struct world *world, uint32_t version, uint32_t proc, const void *args); /* RQUOTA 1 or 2 */
const void *world_acl_call(struct world *world, uint32_t proc, const void *args);

/* Returns the handle that MNT gives for a path; fails the test where MNT gives no handle. */
nfs_fh3 world_mount(struct world *world, const char *text);

/* Copies a handle into memory that is valid as long as the world. */
nfs_fh3 world_keep(struct world *world, nfs_fh3 handle);

/* Returns the handle of a path below the root, by LOOKUP; fails the test where LOOKUP fails. */
nfs_fh3 world_handle(struct world *world, const char *path);

/* Makes a file in the directory, without the server. It belongs to WORLD_USER where the test runs as root. */
void world_file(struct world *world, const char *path, const char *text, mode_t mode);

/* Makes a file in the same way, and returns its handle. */
nfs_fh3 world_made(struct world *world, const char *path, const char *text, mode_t mode);

void world_directory(struct world *world, const char *path, mode_t mode);

/* Checks that the file contains text. */
void world_holds(struct world *world, const char *path, const char *text);

struct stat world_stat(struct world *world, const char *path);
bool world_exists(struct world *world, const char *path);

struct rpcrdma_bytes world_bytes(const char *text);
diropargs3 world_where(nfs_fh3 directory, const char *name);

/* Checks that there are attributes, and that they are those of path. */
void world_agrees(struct world *world, const post_op_attr *attributes, const char *path);

/* Checks weak cache consistency data about path, which was old before the call: "before" and "after" are
 * given, "after" is of now, and path was changed or not. Makes path old again. */
void world_wcc(struct world *world, const wcc_data *wcc, const char *path, bool changed);

/* Checks the same of a reply without "before". */
void world_after(struct world *world, const wcc_data *wcc, const char *path, bool changed);

/* Sets the times of path to WORLD_LONG_AGO, which all objects that are made here have. */
enum { WORLD_LONG_AGO = 1000000000 };
void world_age(struct world *world, const char *path);

/* How often fsync(2) or fdatasync(2) was called, and the errno with which the next call fails. */
extern _Atomic unsigned world_syncs;
extern int world_sync_error;

/* Called while data is stored, in the place of another client; NULL: nothing is called. */
extern void (*world_sync_meanwhile)(void);

/* The errno with which the next pread(2) fails. */
extern int world_read_error;

/* Runs tests as the user who runs the program; where that is root, also as an ordinary user, and root_tests
 * as root. */
int world_run(
	const struct CMUnitTest *tests, size_t count, const struct CMUnitTest *root_tests, size_t root_count);

#define world_test(function) cmocka_unit_test_setup_teardown(function, world_setup, world_teardown)

#endif
