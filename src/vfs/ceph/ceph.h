/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CEPH_CEPH_H
#define RR_VFS_CEPH_CEPH_H

#include "base/text.h"
#include "vfs/vfs.h"

/*
 * The provider of directory trees in CephFS, through libcephfs, which is loaded when it is used.
 *
 * A handle is made of inode and snapshot number, under the key. So servers on several machines that have the
 * same key and exports of the same names understand each other's handles, and a client that loses one of them
 * goes on with another. Each server knows its own opens alone: share reservations are not seen by the others.
 * The cluster keeps the byte-range locks, so all servers see them.
 */

enum { RR_CEPH_KEY = 32 };

struct rr_ceph_export {
	const char *path; /* in the file system: begins with '/' */
	const char *name; /* what clients mount */
};

struct rr_ceph_config {
	const struct rr_ceph_export *exports; /* their names are to stay as long as the mount */
	uint32_t export_count;
	uint8_t key[RR_CEPH_KEY];
	bool read_only;
	const char *conf;        /* file; NULL: where libcephfs looks for it */
	const char *user;        /* NULL: "admin" */
	const char *file_system; /* NULL: the default one of the cluster */
	uint32_t threads;        /* of each provider; 0: a default */
};

/* A mounted file system: for the providers of all threads. */
struct rr_ceph;

/* Waits for the cluster. Errors: NOTSUP (no library; or this program was built without it), SYSTEM (the
 * cluster or a directory is not to be had), INVAL (two exports of one name), NOMEM; all with text. */
int rr_ceph_new(const struct rr_env *env, const struct rr_ceph_config *config, struct rr_ceph **ceph,
	struct rr_text *text);

/* No provider may be left. ceph may be NULL. */
void rr_ceph_free(struct rr_ceph *ceph);

/* For the loop of the calling thread. Errors: NOMEM, SYSTEM with text. */
int rr_ceph_provider(struct rr_ceph *ceph, struct rr_loop *loop, struct rr_vfs **vfs, struct rr_text *text);

#endif
