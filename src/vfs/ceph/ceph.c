/* SPDX-License-Identifier: BSD-3-Clause */
/* This file mounts a file system and makes its providers. */
#include "vfs/ceph/ceph.h"

#include <rpcrdma/error.h>
#include <string.h>

#include "vfs/ceph/ceph_private.h"

enum { CEPH_THREADS = 16 };

static const char *
ceph_name(const struct rr_ceph *ceph)
{
	return ceph->config.file_system ? ceph->config.file_system : "the default file system";
}

/* Connects to the cluster, mounts its file system, and makes ceph->self, the identity of user 0. libcephfs is
 * set to check the callers' permissions, because no kernel does so here. Returns 0, or an error with text. */
static int
ceph_connect(struct rr_ceph *ceph, struct rr_text *text)
{
	const struct rr_ceph_library *lib = &ceph->lib;
	const struct rr_ceph_config *config = &ceph->config;
	struct ceph_mount_info *mount;
	int result = lib->create(&mount, config->user ? config->user : "admin");

	if (result < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "CephFS: %s", strerror(-result));
	ceph->mount = mount;
	result = lib->conf_read_file(mount, config->conf);
	if (result < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "CephFS: %s cannot be read: %s",
			config->conf ? config->conf : "the configuration", strerror(-result));
	lib->conf_set(mount, "fuse_default_permissions", "false");
	lib->conf_set(mount, "client_permissions", "true");
	if (config->file_system)
		result = lib->select_filesystem(mount, config->file_system);
	if (result >= 0)
		result = lib->mount(mount, "/");
	if (result < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "CephFS: %s cannot be mounted: %s", ceph_name(ceph),
			strerror(-result));
	ceph->mounted = true;
	ceph->self = lib->userperm_new(0, 0, 0, NULL);
	return ceph->self ? 0 : rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
}

/* Looks up the directory of each export, keeps the directory's inode number and the export's name, and
 * derives the keys for handles (rr_ceph_keys()). Returns 0, or an error with text: a path leads to no
 * directory, or two exports have the same name. After success, config.exports is not used any more. */
static int
ceph_find_roots(struct rr_ceph *ceph, struct rr_text *text)
{
	for (uint32_t i = 0; i < ceph->config.export_count; i++) {
		const struct rr_ceph_export *export = &ceph->config.exports[i];
		struct ceph_statx st;
		struct Inode *inode;
		int result = ceph->lib.ll_walk(
			ceph->mount, export->path, &inode, &st, CEPH_STATX_ALL_STATS, 0, ceph->self);

		if (result < 0)
			return rr_fail(
				text, -RPCRDMA_ERR_SYSTEM, "ceph:%s: %s", export->path, strerror(-result));
		ceph->lib.ll_put(ceph->mount, inode);
		if ((st.stx_mode & 0170000) != 0040000) /* S_IFMT, S_IFDIR */
			return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "ceph:%s is no directory", export->path);
		ceph->roots[i].number = st.stx_ino;
		ceph->exports[i].name = export->name;
	}
	if (rr_ceph_keys(ceph) < 0)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "two directories are exported by one name");
	ceph->config.exports = NULL;
	return 0;
}

int
rr_ceph_new(const struct rr_env *env, const struct rr_ceph_config *config, struct rr_ceph **made,
	struct rr_text *text)
{
	struct rr_ceph *ceph = rr_alloc(env, sizeof(*ceph));
	int error;

	if (!ceph)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	ceph->env = env;
	ceph->config = *config;
	ceph->verifier = rr_random_u64(env);
	rr_reserve_init(&ceph->reserve);
	ceph->exports = rr_alloc_array(env, config->export_count, sizeof(ceph->exports[0]));
	ceph->roots = rr_alloc_array(env, config->export_count, sizeof(ceph->roots[0]));
	error = ceph->exports && ceph->roots ? rr_ceph_library_load(&ceph->lib, text)
					     : rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	if (!error)
		error = ceph_connect(ceph, text);
	if (!error)
		error = ceph_find_roots(ceph, text);
	if (error) {
		rr_ceph_free(ceph);
		return error;
	}
	*made = ceph;
	return 0;
}

void
rr_ceph_free(struct rr_ceph *ceph)
{
	if (!ceph)
		return;
	if (ceph->self)
		ceph->lib.userperm_destroy(ceph->self);
	if (ceph->mounted)
		ceph->lib.unmount(ceph->mount);
	if (ceph->mount)
		ceph->lib.release(ceph->mount);
	rr_reserve_free(&ceph->reserve);
	rr_free(ceph->env, ceph->exports);
	rr_free(ceph->env, ceph->roots);
	rr_free(ceph->env, ceph);
}

int
rr_ceph_provider(struct rr_ceph *ceph, struct rr_loop *loop, struct rr_vfs **vfs, struct rr_text *text)
{
	struct rr_ceph_vfs *made = rr_alloc(ceph->env, sizeof(*made));
	int error;

	if (!made)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	made->ceph = ceph;
	made->base.env = ceph->env;
	made->base.steps = &rr_ceph_steps;
	made->base.vfs = (struct rr_vfs){
		.ops = &rr_ceph_ops,
		.loop = loop,
		.reserve = &ceph->reserve,
		.exports = ceph->exports,
		.export_count = ceph->config.export_count,
		.read_only = ceph->config.read_only,
	};
	error = rr_crewed_start(&made->base, ceph->config.threads ? ceph->config.threads : CEPH_THREADS);
	if (error) {
		rr_free(ceph->env, made);
		return rr_fail(text, error, "no thread for files: %s", rpcrdma_strerror(error));
	}
	*vfs = &made->base.vfs;
	return 0;
}
