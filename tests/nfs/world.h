/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_WORLD_H
#define RR_TESTS_NFS_WORLD_H

#include "../stage.h"

#include "base/pool.h"
#include "nfs/limits.h"
#include "nfs/server.h"
#include "ulb/nfs3.h"
#include "vfs/posix/posix.h"

/*
 * An NFS server on a directory of its own, and calls to its procedures without
 * any RPC: arguments in, results out, as an RPC server would hand them over.
 */

/* Who calls, where the test runs as root; else all are the user who runs it. */
enum { WORLD_USER = 1000, WORLD_OTHER = 2000 };

struct world {
	struct stage stage;    /* its loop is the pool's; the clock runs */
	char path[STAGE_PATH]; /* of the directory */
	int fd;                /* the directory */
	struct rr_tree_export exports[2];
	struct rr_tree_config config;
	const char *rule; /* for all exports: see vfs/rules.h */
	struct rr_posix_shared *shared;
	struct rr_loop *vfs_loop; /* of the provider; NULL: its operations end at once */
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_shares shares; /* of pool */
	struct rr_pool *pool;
	struct rr_nfs_server *server;
	struct rr_service services[RR_NFS_SERVICES];
	struct rpcrdma_request request;
	enum rpcrdma_handled handled; /* of the last call */
	uint32_t size;                /* octets of stream of its result */
	nfs_fh3 root;
	union {
		max_align_t align;
		uint8_t octets[1 << 16];
	} arena, kept, result;
	size_t kept_size;
};

/* For cmocka: a fresh world for each test. Its directory belongs to WORLD_USER where the test runs as root.
 */
int world_setup(void **state);

/* Another server, as of another thread, that shares the directory of world and what servers share. To be
 * freed. */
struct world *world_beside(const struct world *world);
void world_beside_free(struct world *beside);

int world_teardown(void **state);

/* The server ends and starts again with the configuration as it then is. */
void world_restart(struct world *world);

bool world_is_root(void);

/* Who calls from now on; no_one: AUTH_NONE. */
void world_caller(struct world *world, uint32_t id);
void world_no_one(struct world *world);

/* Calls a procedure. The result, and what it points to, lasts until the next call. */
const void *world_call(struct world *world, uint32_t proc, const void *args);
const void *world_mount_call(struct world *world, uint32_t proc, const void *args);

/* The handle that MNT gives for a path; fails the test where there is none. */
nfs_fh3 world_mount(struct world *world, const char *text);

/* A handle that lasts as long as the world. */
nfs_fh3 world_keep(struct world *world, nfs_fh3 handle);

/* The handle of a path below the root, found by LOOKUP; fails the test where there is none. */
nfs_fh3 world_handle(struct world *world, const char *path);

/* A file in the directory, made without the server; it belongs to WORLD_USER where the test runs as root. */
void world_file(struct world *world, const char *path, const char *text, mode_t mode);

/* The same; its handle. */
nfs_fh3 world_made(struct world *world, const char *path, const char *text, mode_t mode);

void world_directory(struct world *world, const char *path, mode_t mode);

/* What the file holds equals text. */
void world_holds(struct world *world, const char *path, const char *text);

struct stat world_stat(struct world *world, const char *path);
bool world_exists(struct world *world, const char *path);

struct rpcrdma_bytes world_bytes(const char *text);
diropargs3 world_where(nfs_fh3 directory, const char *name);

/* The attributes are there and agree with those of path. */
void world_agrees(struct world *world, const post_op_attr *attributes, const char *path);

/* Weak cache consistency data about path, which was old before the call: both halves are there, the second is
 * of now, and it changed or not. Makes it old again. */
void world_wcc(struct world *world, const wcc_data *wcc, const char *path, bool changed);

/* The same of a reply that tells no state before the call. */
void world_after(struct world *world, const wcc_data *wcc, const char *path, bool changed);

/* The times of path become WORLD_LONG_AGO; what is made here has them. */
enum { WORLD_LONG_AGO = 1000000000 };
void world_age(struct world *world, const char *path);

/* How often fsync(2) or fdatasync(2) was called, and the errno with which the next call fails. */
extern _Atomic unsigned world_syncs;
extern int world_sync_error;

/* What somebody else does meanwhile; NULL: nothing. */
extern void (*world_sync_meanwhile)(void);

/* The errno with which the next pread(2) fails. */
extern int world_read_error;

/* Runs tests as who runs the program; where that is root, also as an ordinary user, and root_tests as root.
 */
int world_run(
	const struct CMUnitTest *tests, size_t count, const struct CMUnitTest *root_tests, size_t root_count);

#define world_test(function) cmocka_unit_test_setup_teardown(function, world_setup, world_teardown)

#endif
