/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CEPH_CEPH_H
#define RR_VFS_CEPH_CEPH_H

#include "base/text.h"
#include "vfs/door.h"

/*
 * This is the provider of directory trees in CephFS, through libcephfs, which is loaded when it is used.
 *
 * A handle contains the inode number and the snapshot number, and a check made with the key. So servers on
 * several machines that have the same key and exports of the same names understand each other's handles, and
 * a client that loses one of the servers goes on with another. Each server knows only its own opens and their
 * share reservations. The cluster keeps the byte-range locks, so all servers see them.
 */

enum { RR_CEPH_KEY = 32 }; /* octets */

struct rr_ceph_export {
	const char *path; /* in the file system: begins with '/' */
	const char *name; /* what clients mount */
};

struct rr_ceph_config {
	const struct rr_ceph_export *exports; /* their names must stay as long as the mount */
	uint32_t export_count;
	uint8_t key[RR_CEPH_KEY];
	bool read_only;
	const char *conf;        /* the configuration file of Ceph; NULL: libcephfs looks for it */
	const char *user;        /* the user of the cluster; NULL: "admin" */
	const char *file_system; /* its name; NULL: the cluster's default */
	uint32_t threads;        /* at most so many threads of each provider; 0: a default */
};

/* A mounted file system, which the providers of all threads share. */
struct rr_ceph;

/* Mounts a file system, waiting for the cluster. Errors: NOTSUP (the library is missing, or this program was
 * built without it), SYSTEM (the cluster or a directory cannot be reached), INVAL (two exports have the same
 * name), NOMEM; all with text. */
int rr_ceph_new(const struct rr_env *env, const struct rr_ceph_config *config, struct rr_ceph **ceph,
	struct rr_text *text);

/* Unmounts the file system, whose providers must have been destroyed. ceph may be NULL. */
void rr_ceph_free(struct rr_ceph *ceph);

/* Makes a provider for the loop of the calling thread. Errors: NOMEM, SYSTEM, NOTSUP (this program
 * was built without CephFS); all with text. */
int rr_ceph_provider(struct rr_ceph *ceph, struct rr_loop *loop, struct rr_vfs **vfs, struct rr_text *text);

#endif
