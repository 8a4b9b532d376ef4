/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_FOLDER_H
#define RR_TESTS_NFS_FOLDER_H

#include "../../test.h"

#include <limits.h>

#include "vfs/posix/tree/tree_private.h"

/* This makes a directory of its own for each test, with an export "/pub" of its sub-directory pub, and a
 * clock that stands still. */
struct folder {
	char path[64]; /* contains pub, which is exported, and what the test makes beside it */
	struct rr_env env;
	uint64_t now;
	struct rr_tree_export export;
	char exported[80];
	struct rr_tree_config config;
	struct rr_tree *tree;
	struct rr_text text;
	bool with_kernel; /* the tree uses kernel handles where it can; else folder_start() makes the tree do
			     without them */
};

/* Returns the root of the export; fails the test where that is not possible. */
struct rr_object folder_root(struct rr_tree *tree);

/* For cmocka_unit_test_setup_teardown(): *state is the folder. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* Frees the tree if there is one, and makes a tree of folder->config, as if the server was started again. */
void folder_start(struct folder *folder);

/* These work on paths below folder->path. */
void folder_mkdir(const struct folder *folder, const char *path);
void folder_file(const struct folder *folder, const char *path, const char *content);
void folder_symlink(const struct folder *folder, const char *target, const char *path);
void folder_rename(const struct folder *folder, const char *from, const char *to);
void folder_link(const struct folder *folder, const char *from, const char *to);
void folder_remove(const struct folder *folder, const char *path);
void folder_chmod(const struct folder *folder, const char *path, unsigned mode);
void folder_chown(const struct folder *folder, const char *path, unsigned uid, unsigned gid);
uint64_t folder_inode(const struct folder *folder, const char *path);
bool folder_has_births(const struct folder *folder);

struct rpcrdma_bytes bytes_of(const char *text);

/* Looks up path, one component after the other, from the export's root; fails the test where that fails. The
 * object is to be put. */
struct rr_object walk_to(struct folder *folder, const char *path);
struct rr_vfs_handle handle_of(struct folder *folder, const char *path);
enum rr_vfs_status resolve(
	struct folder *folder, const struct rr_vfs_handle *handle, struct rr_object *object);

/* Resolves handle, and puts the object at once. Returns the status, and in *inode the inode number unless
 * inode is NULL. */
enum rr_vfs_status status_of(struct folder *folder, const struct rr_vfs_handle *handle, uint64_t *inode);

/* Checks that handle leads to the object at path. */
void assert_leads_to(struct folder *folder, const struct rr_vfs_handle *handle, const char *path);

#endif
