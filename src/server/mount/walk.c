/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/mount/walk.h"

static void
walk_skip_slashes(struct rpcrdma_bytes *path)
{
	while (path->length > 0 && *(const char *)path->data == '/')
		*path = (struct rpcrdma_bytes){ (const char *)path->data + 1, path->length - 1 };
}

/* Begins to look up the next component of the path in the directory that was reached so far. Returns the
 * status of the lookup, or RR_VFS_PENDING if it ends later. */
static enum rr_vfs_status
walk_step(struct rr_nfs_work *work)
{
	struct rr_nfs_walk *walk = &work->op.walk;
	struct rr_vfs *vfs = work->server->vfs;

	walk->lookup.directory = (struct rr_vfs_object){ .handle = { walk->at.data, walk->at.length } };
	walk->lookup.name = rr_vfs_next_component(&walk->rest);
	walk_skip_slashes(&walk->rest);
	return rr_vfs_lookup(vfs, &walk->lookup);
}

/* Finds the export that contains the path, stores its number in *number, and sets the identity with which the
 * caller acts in it. If there is no such export, a caller that may not use all exports gets RR_VFS_ACCESS,
 * not RR_VFS_NOENT, and so does not learn which other names exist. RR_VFS_PENDING: the names of the caller's
 * host are being looked up, and the procedure begins anew when they are known. */
static enum rr_vfs_status
walk_export(struct rr_nfs_work *work, struct rpcrdma_bytes path, uint32_t *number)
{
	const struct rr_gate_caller caller = rr_nfs_caller(work->request);
	struct rr_nfs_walk *walk = &work->op.walk;
	struct rr_gate *gate = work->server->gate;
	enum rr_idmap_status known;
	const struct rr_rule *rule;

	*number = rr_vfs_find_export(work->server->vfs, path, &walk->rest);
	known = rr_gate_know(gate, &caller, *number, &work->groups);
	if (known != RR_IDMAP_FOUND)
		return known == RR_IDMAP_WAIT ? RR_VFS_PENDING : RR_VFS_BUSY;
	if (*number == work->server->vfs->export_count)
		return rr_gate_all_open(gate, &caller) ? RR_VFS_NOENT : RR_VFS_ACCESS;
	rule = rr_gate_rule(gate, &caller, *number);
	if (!rule) {
		rr_gate_log_refusal(gate, &caller, *number);
		return RR_VFS_ACCESS;
	}
	walk->right = rule->right;
	/* MNT may be called with any flavor: its result lists the flavors that the export accepts. Who looks
	 * up a path for another purpose asks the gate about the handle that is found. */
	rr_gate_identify(&caller, &rule->right, &work->identity);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_nfs_walk_begin(struct rr_nfs_work *work, struct rpcrdma_bytes path)
{
	struct rr_nfs_walk *walk = &work->op.walk;
	struct rr_vfs *vfs = work->server->vfs;
	uint32_t number;
	enum rr_vfs_status status = walk_export(work, path, &number);

	if (status != RR_VFS_OK)
		return status;
	rr_vfs_root(vfs, number, &walk->at);
	walk_skip_slashes(&walk->rest);
	if (walk->rest.length > 0)
		return walk_step(work);
	/* The path is that of the export itself: its root is the result, as if it had been looked up. */
	walk->lookup.handle = walk->at;
	walk->lookup.attributes.type = RR_VFS_DIRECTORY;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_nfs_walk_on(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	struct rr_nfs_walk *walk = &work->op.walk;

	while (status == RR_VFS_OK && walk->rest.length > 0) {
		walk->at = walk->lookup.handle;
		status = walk_step(work);
	}
	return status;
}
