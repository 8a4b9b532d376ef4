/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/server.h"

#include <rpcrdma/error.h>

#include "server/mount/mount.h"
#include "server/mount/rquota.h"
#include "server/nfs3/list.h"
#include "ulb/rquota.h"

/* This file has the services, and calls their procedures. */

static const struct rr_nfs_procedure *const nfs_procedures[] = {
	[NFSPROC3_GETATTR] = &rr_proc_getattr,
	[NFSPROC3_SETATTR] = &rr_proc_setattr,
	[NFSPROC3_LOOKUP] = &rr_proc_lookup,
	[NFSPROC3_ACCESS] = &rr_proc_access,
	[NFSPROC3_READLINK] = &rr_proc_readlink,
	[NFSPROC3_READ] = &rr_proc_read,
	[NFSPROC3_WRITE] = &rr_proc_write,
	[NFSPROC3_CREATE] = &rr_proc_create,
	[NFSPROC3_MKDIR] = &rr_proc_mkdir,
	[NFSPROC3_SYMLINK] = &rr_proc_symlink,
	[NFSPROC3_MKNOD] = &rr_proc_mknod,
	[NFSPROC3_REMOVE] = &rr_proc_remove,
	[NFSPROC3_RMDIR] = &rr_proc_rmdir,
	[NFSPROC3_RENAME] = &rr_proc_rename,
	[NFSPROC3_LINK] = &rr_proc_link,
	[NFSPROC3_READDIR] = &rr_proc_readdir,
	[NFSPROC3_READDIRPLUS] = &rr_proc_readdirplus,
	[NFSPROC3_FSSTAT] = &rr_proc_fsstat,
	[NFSPROC3_FSINFO] = &rr_proc_fsinfo,
	[NFSPROC3_PATHCONF] = &rr_proc_pathconf,
	[NFSPROC3_COMMIT] = &rr_proc_commit,
};

/* Handles the procedure NULL, which has no arguments and no results. RFC 1813, 3.3.0: "It is important that
 * this procedure do no work at all" */
static enum rpcrdma_handled
server_do_nothing(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args, (void)result;
	return RPCRDMA_HANDLED;
}

/* The arguments of all procedures except NULL begin with a handle. */
#define SERVER_FIRST(args, handle) _Static_assert(offsetof(args, handle) == 0, "the handle comes first")
SERVER_FIRST(GETATTR3args, object);
SERVER_FIRST(SETATTR3args, object);
SERVER_FIRST(LOOKUP3args, what.dir);
SERVER_FIRST(ACCESS3args, object);
SERVER_FIRST(READLINK3args, symlink);
SERVER_FIRST(READ3args, file);
SERVER_FIRST(WRITE3args, file);
SERVER_FIRST(CREATE3args, where.dir);
SERVER_FIRST(MKDIR3args, where.dir);
SERVER_FIRST(SYMLINK3args, where.dir);
SERVER_FIRST(MKNOD3args, where.dir);
SERVER_FIRST(REMOVE3args, object.dir);
SERVER_FIRST(RMDIR3args, object.dir);
SERVER_FIRST(RENAME3args, from.dir);
SERVER_FIRST(LINK3args, file);
SERVER_FIRST(READDIR3args, dir);
SERVER_FIRST(READDIRPLUS3args, dir);
SERVER_FIRST(FSSTAT3args, fsroot);
SERVER_FIRST(FSINFO3args, fsroot);
SERVER_FIRST(PATHCONF3args, object);
SERVER_FIRST(COMMIT3args, file);
SERVER_FIRST(GETACL3args, fh);
SERVER_FIRST(SETACL3args, fh);

/* Returns the second file handle in the arguments of RENAME and LINK, which is that of the new name's
 * directory. Returns NULL for other procedures. */
static const nfs_fh3 *
server_second(uint32_t proc, const void *args)
{
	if (proc == NFSPROC3_RENAME)
		return &((const RENAME3args *)args)->to.dir;
	return proc == NFSPROC3_LINK ? &((const LINK3args *)args)->link.dir : NULL;
}

/* Handles all procedures of NFS except NULL, by the table nfs_procedures. The arguments of each begin with a
 * file handle; server_second() finds the second one of RENAME and LINK. */
static enum rpcrdma_handled
server_nfs(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_handles handles = { args, server_second(request->proc, args) };

	return rr_nfs_run(rr_nfs_work(ctx, nfs_procedures[request->proc], request, args, result), &handles);
}

/* Handles MNT. Its call has a path and no handle, so the procedure itself asks the gate. */
static enum rpcrdma_handled
server_mnt(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_handles handles = { NULL, NULL };

	return rr_nfs_run(rr_nfs_work(ctx, &rr_proc_mnt, request, args, result), &handles);
}

/* By the number of the procedure. */
static rpcrdma_handler *const nfs_handlers[] = {
	server_do_nothing,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
	server_nfs,
};

/* NFSACL is served beside NFS, over the same connections: clients of Linux call its procedure NULL there, and
 * have no access lists where it fails. */
static const struct rr_nfs_procedure *const acl_procedures[] = {
	[ACLPROC3_GETACL] = &rr_proc_getacl,
	[ACLPROC3_SETACL] = &rr_proc_setacl,
};

/* Handles the procedures of NFSACL except NULL. */
static enum rpcrdma_handled
server_acl(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_handles handles = { args, NULL };

	return rr_nfs_run(rr_nfs_work(ctx, acl_procedures[request->proc], request, args, result), &handles);
}

static rpcrdma_handler *const acl_handlers[] = {
	[ACLPROC3_NULL] = server_do_nothing,
	[ACLPROC3_GETACL] = server_acl,
	[ACLPROC3_SETACL] = server_acl,
};

static const bool acl_once[] = { [ACLPROC3_SETACL] = true };

/* RFC 8267, 5.1: Many clients use MOUNT over TCP: "a Legacy NFS server MUST provide support for these
 * protocols via TCP." Here MOUNT is a service like NFS, on every transport. */
static rpcrdma_handler *const mount_handlers[] = {
	[MOUNTPROC3_NULL] = server_do_nothing,
	[MOUNTPROC3_MNT] = server_mnt,
	[MOUNTPROC3_DUMP] = rr_proc_dump,
	[MOUNTPROC3_UMNT] = rr_proc_umnt,
	[MOUNTPROC3_UMNTALL] = rr_proc_umnt,
	[MOUNTPROC3_EXPORT] = rr_proc_export,
};

/* Versions 1 and 2: procedures are numbered as those of version 3, and there are more. "showmount" and old
 * automounters call them. */
static rpcrdma_handler *const mount_old_handlers[] = {
	[MOUNTPROC2_NULL] = server_do_nothing,
	[MOUNTPROC2_MNT] = server_mnt,
	[MOUNTPROC2_DUMP] = rr_proc_dump,
	[MOUNTPROC2_UMNT] = rr_proc_umnt,
	[MOUNTPROC2_UMNTALL] = rr_proc_umnt,
	[MOUNTPROC2_EXPORT] = rr_proc_export,
	[MOUNTPROC2_EXPORTALL] = rr_proc_export,
	[MOUNTPROC2_PATHCONF] = rr_proc_mount_pathconf,
};

/* RQUOTA: clients ask over UDP. */
static rpcrdma_handler *const rquota_handlers[] = {
	[RQUOTAPROC_NULL] = server_do_nothing,
	[RQUOTAPROC_GETQUOTA] = rr_proc_getquota,
	[RQUOTAPROC_GETACTIVEQUOTA] = rr_proc_getquota,
	[RQUOTAPROC_SETQUOTA] = rr_proc_setquota,
	[RQUOTAPROC_SETACTIVEQUOTA] = rr_proc_setquota,
};

/* Procedures that must be executed once. Executed a second time, they would fail because the first time
 * succeeded, or undo changes that others made in between. */
static const bool nfs_once[] = {
	[NFSPROC3_SETATTR] = true,
	[NFSPROC3_CREATE] = true,
	[NFSPROC3_MKDIR] = true,
	[NFSPROC3_SYMLINK] = true,
	[NFSPROC3_MKNOD] = true,
	[NFSPROC3_REMOVE] = true,
	[NFSPROC3_RMDIR] = true,
	[NFSPROC3_RENAME] = true,
	[NFSPROC3_LINK] = true,
	[NFSPROC3_COMMIT] = false, /* gives the array its length */
};

_Static_assert(sizeof(nfs_handlers) == sizeof(nfs_procedures), "one for each procedure of NFS");
_Static_assert(sizeof(nfs_once) / sizeof(nfs_once[0]) == sizeof(nfs_handlers) / sizeof(nfs_handlers[0]),
	"one for each procedure of NFS");

int
rr_nfs_server_new(
	const struct rr_env *env, struct rr_pool *pool, struct rr_gate *gate, struct rr_nfs_server **server)
{
	struct rr_nfs_server *made = rr_alloc(env, sizeof(*made));

	if (!made)
		return -RPCRDMA_ERR_NOMEM;
	*made = (struct rr_nfs_server){ env, pool, gate->vfs, gate, NULL };
	*server = made;
	return 0;
}

void
rr_nfs_server_free(struct rr_nfs_server *server)
{
	if (server)
		rr_free(server->env, server);
}

void
rr_nfs_server_list_mounts(struct rr_nfs_server *server, struct rr_mounts *mounts)
{
	server->mounts = mounts;
}

/* The listings say themselves how large they may be. */
static uint32_t (*const nfs_result_max[NFSPROC3_COMMIT + 1])(const struct rpcrdma_request *, const void *) = {
	[NFSPROC3_READDIR] = rr_nfs_readdir_max, [NFSPROC3_READDIRPLUS] = rr_nfs_readdirplus_max
};
static uint32_t (*const nfs_arena_max[NFSPROC3_COMMIT + 1])(const struct rpcrdma_request *, const void *) = {
	[NFSPROC3_READDIR] = rr_nfs_readdir_arena, [NFSPROC3_READDIRPLUS] = rr_nfs_readdirplus_arena
};

void
rr_nfs_server_services(struct rr_nfs_server *server, struct rr_service services[RR_NFS_SERVICES])
{
	services[0] = (struct rr_service){ &NFS_V3_program, nfs_handlers, server, nfs_once, nfs_result_max,
		nfs_arena_max };
	services[2] = (struct rr_service){ &MOUNT_V3_program, mount_handlers, server, NULL };
	services[1] = (struct rr_service){ &NFS_ACL_V3_program, acl_handlers, server, acl_once };
	services[3] = (struct rr_service){ &MOUNT_V2_program, mount_old_handlers, server, NULL };
	services[4] = (struct rr_service){ &MOUNT_V1_program, mount_old_handlers, server, NULL };
	services[5] = (struct rr_service){ &EXT_RQUOTAVERS_program, rquota_handlers, server, NULL };
	services[6] = (struct rr_service){ &RQUOTAVERS_program, rquota_handlers, server, NULL };
}
