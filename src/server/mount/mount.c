/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/mount/mount.h"

#include <string.h>

#include "server/mount/walk.h"

/* This file has the procedures of MOUNT version 3 (RFC 1813, section 5) that a server offers besides NFS. The
 * versions 1 and 2 (RFC 1094, appendix A) share all but the result of MNT. */

/* Translates a status of NFS into a status of MOUNT. Statuses that both protocols have are numbered alike;
 * any other status becomes MNT3ERR_SERVERFAULT. */
static mountstat3
mount_status(nfsstat3 status)
{
	switch (status) {
	case NFS3_OK: return MNT3_OK;
	case NFS3ERR_PERM: return MNT3ERR_PERM;
	case NFS3ERR_NOENT: return MNT3ERR_NOENT;
	case NFS3ERR_IO: return MNT3ERR_IO;
	case NFS3ERR_ACCES: return MNT3ERR_ACCES;
	case NFS3ERR_NOTDIR: return MNT3ERR_NOTDIR;
	case NFS3ERR_INVAL: return MNT3ERR_INVAL;
	case NFS3ERR_NAMETOOLONG: return MNT3ERR_NAMETOOLONG;
	case NFS3ERR_NOTSUPP: return MNT3ERR_NOTSUPP;
	default: return MNT3ERR_SERVERFAULT;
	}
}

/* Lists in the result of MNT the flavors of authentication that the export allows this caller, in the order
 * of its rule. Returns false if there is no memory. */
static bool
mount_list_flavors(struct rr_nfs_work *work, mountres3_ok *ok)
{
	uint32_t flavors[RR_RIGHT_FLAVORS];
	int32_t *values = rr_nfs_alloc(work->request, sizeof(flavors));

	ok->auth_flavors.values = values;
	if (!values)
		return false;
	ok->auth_flavors.count = rr_right_flavors(&work->op.walk.right, flavors);
	for (uint32_t i = 0; i < ok->auth_flavors.count; i++)
		values[i] = (int32_t)flavors[i];
	return true;
}

/* Begins the procedure MNT. */
static enum rr_vfs_status
mount_begin(struct rr_nfs_work *work)
{
	return rr_nfs_walk_begin(work, *(const dirpath *)work->args);
}

/* Completes the result of MNT of version 1 or 2. RFC 1094, A.5.2: "If the status is zero, then the call
 * completed successfully, and a file handle for the directory follows." Handles of these versions have 32
 * octets and are for NFS version 2, which is not served: a path that exists gets MNT3ERR_ACCES. */
static enum rpcrdma_handled
mount_end_old(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	fhstatus *res = work->result;

	res->fhs_status = mount_status(rr_nfs_status(status == RR_VFS_OK ? RR_VFS_ACCESS : status));
	return RPCRDMA_HANDLED;
}

/* Goes on with the lookup of the path after one component was found. At the end of the path, completes the
 * result of MNT, and adds the mount to the server's list. Returns RPCRDMA_HANDLE_KEPT if a lookup is still
 * under way. */
static enum rpcrdma_handled
mount_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	struct rr_nfs_walk *walk = &work->op.walk;
	mountres3 *res = work->result;
	mountres3_ok *ok = &res->u.mountinfo;
	nfs_fh3 handle;

	status = rr_nfs_walk_on(work, status);
	if (status == RR_VFS_PENDING)
		return RPCRDMA_HANDLE_KEPT;
	if (status == RR_VFS_OK && walk->lookup.attributes.type != RR_VFS_DIRECTORY)
		status = RR_VFS_NOTDIR;
	if (work->request->vers < MOUNT_V3_program.vers)
		return mount_end_old(work, status);
	if (status == RR_VFS_OK &&
		(!mount_list_flavors(work, ok) || !rr_nfs_handle(work, &walk->lookup.handle, &handle)))
		status = RR_VFS_FAULT;
	res->fhs_status = mount_status(rr_nfs_status(status));
	if (status == RR_VFS_OK)
		ok->fhandle = handle.data;
	if (status == RR_VFS_OK && work->server->mounts)
		rr_mounts_add(work->server->mounts, &work->request->source, *(const dirpath *)work->args);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_mnt = { mount_begin, mount_end, sizeof(struct rr_nfs_walk) };

/* Sets the list of clients of an export to the client that the rule names. The list is empty if the rule is
 * for all clients. Returns false if there is no memory. */
static bool
mount_export_group(struct rpcrdma_request *request, const struct rr_rule *rule, groups *result)
{
	struct groupnode *node;
	char *client;

	if (rule->kind == RR_RULE_ALL)
		return true;
	/* The text is copied, as the rules may have changed when the reply is sent. */
	node = rr_nfs_alloc(request, sizeof(*node));
	client = rr_nfs_alloc(request, strlen(rule->client) + 1);
	if (!node || !client)
		return false;
	strcpy(client, rule->client);
	node->gr_name = (struct rpcrdma_bytes){ client, (uint32_t)strlen(client) };
	*result = node;
	return true;
}

/* Handles the procedure EXPORT: lists the exports that the caller may use, each with the clients of the rule
 * by which the caller may use it. */
enum rpcrdma_handled
rr_proc_export(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_server *server = ctx;
	const struct rr_gate_caller caller = rr_nfs_caller(request);
	const struct rr_vfs *vfs = server->vfs;
	exports *next = result;

	(void)args;
	for (uint32_t i = 0; i < vfs->export_count; i++) {
		const struct rr_rule *rule = rr_gate_rule(server->gate, &caller, i);
		const char *path = vfs->exports[i].name;
		struct exportnode *node;

		if (!rule)
			continue;
		node = rr_nfs_alloc(request, sizeof(*node));
		if (!node || !mount_export_group(request, rule, &node->ex_groups))
			return RPCRDMA_HANDLE_SYSTEM_ERR;
		node->ex_dir = (struct rpcrdma_bytes){ path, (uint32_t)strlen(path) };
		*next = node;
		next = &node->ex_next;
	}
	return RPCRDMA_HANDLED;
}

/* Copies a mount into a new element of the result of DUMP. Returns NULL if there is no memory. */
static struct mountbody *
mount_node(struct rpcrdma_request *request, const struct rr_mounts_entry *entry)
{
	struct mountbody *node = rr_nfs_alloc(request, sizeof(*node));
	struct rr_mounts_entry *copy = rr_nfs_alloc(request, sizeof(*copy));

	if (!node || !copy)
		return NULL;
	*copy = *entry;
	node->ml_hostname = (struct rpcrdma_bytes){ copy->host, (uint32_t)strlen(copy->host) };
	node->ml_directory = (struct rpcrdma_bytes){ copy->path, (uint32_t)strlen(copy->path) };
	return node;
}

/* Handles the procedure DUMP: lists all mounts for a caller that may use all exports; for any other caller,
 * only the mounts of the caller's host. The list ends when there is no memory for more. RFC 1813, 5.2.2:
 * "returns the list of remotely mounted file systems". */
enum rpcrdma_handled
rr_proc_dump(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_server *server = ctx;
	const struct rr_gate_caller caller = rr_nfs_caller(request);
	const struct rr_source *only = rr_gate_all_open(server->gate, &caller) ? NULL : &caller.source;
	mountlist *next = result;

	(void)args;
	for (uint32_t i = 0; server->mounts && i < RR_MOUNTS_MAX; i++) {
		struct rr_mounts_entry entry;

		if (!rr_mounts_get(server->mounts, i, only, &entry))
			continue;
		*next = mount_node(request, &entry);
		if (!*next)
			break;
		next = &(*next)->ml_next;
	}
	return RPCRDMA_HANDLED;
}

/* Handles the procedures UMNT, whose argument is the path, and UMNTALL, which has no arguments: removes one
 * mount of the caller's host from the server's list, or all of them. */
enum rpcrdma_handled
rr_proc_umnt(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nfs_server *server = ctx;

	(void)result;
	if (server->mounts)
		rr_mounts_remove(
			server->mounts, &request->source, request->proc == MOUNTPROC3_UMNT ? args : NULL);
	return RPCRDMA_HANDLED;
}

/* Handles PATHCONF of version 2, which asks for the limits of POSIX in a directory: none is known. A set bit
 * in pc_mask stands for a limit that is not known. */
enum rpcrdma_handled
rr_proc_mount_pathconf(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	ppathcnf *limits = result;

	(void)ctx, (void)request, (void)args;
	*limits = (ppathcnf){ .pc_mask = { -1, -1 } };
	return RPCRDMA_HANDLED;
}
