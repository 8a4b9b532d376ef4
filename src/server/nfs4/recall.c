/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delegations that other clients may have of a file are recalled before an operation changes the file: RFC
 * 8881, section 10.4. "it is assured that neither the contents, the attributes (with the exception of
 * time_access), nor the names of any links to the file will change without its knowledge".
 */
#include "server/nfs4/recall.h"
#include "server/nfs4/compound.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/deleg.h"

nfsstat4
rr_nfs4_recall(struct rr_nfs4_compound *c, const struct rr_vfs_id *id, bool writes)
{
	uint64_t now = rr_now(c->server->env);
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	bool conflict = rr_nfs4_deleg_conflict(tables, c->client, id, now);

	/* In version 4.0, what has a special stateid is of no client. */
	if (!conflict && writes && c->client)
		rr_nfs4_deleg_own(tables, c->client, id, now);
	rr_nfs4_unlock_tables(c->server);
	return conflict ? NFS4ERR_DELAY : NFS4_OK;
}

/* Runs the operation itself, after the delegations of the objects that it changes have been handled. The
 * errors of the lookups for the delegations are forgotten. */
static uint32_t
recall_run(struct rr_nfs4_compound *c)
{
	c->vfs_status = RR_VFS_OK;
	return c->operation->run(c);
}

/*
 * Recalls the delegations that other clients have of the object `id`. Returns NFS4ERR_DELAY if there are any,
 * else goes on with `then`. If the storage could not look at the object, also goes on with `then`: the
 * operation itself will find the same error. A SETATTR of the size recalls the client's own delegation, too.
 */
static uint32_t
recall_found(struct rr_nfs4_compound *c, const struct rr_vfs_id *id, rr_nfs4_step *then)
{
	/* Read only if the operation is a SETATTR. */
	const bitmap4 *asked = &c->op->u.opsetattr.obj_attributes.attrmask;
	bool writes = c->op->argop == OP_SETATTR && asked->count > 0 &&
		      asked->values[0] & UINT32_C(1) << FATTR4_SIZE;
	nfsstat4 status = c->vfs_status == RR_VFS_OK ? rr_nfs4_recall(c, id, writes) : NFS4_OK;

	return status == NFS4_OK ? then(c) : status;
}

/* Runs when the attributes of the current filehandle's object have been read: recalls the delegations that
 * other clients have of the object and returns NFS4ERR_DELAY. If there are none, runs the operation. */
static uint32_t
recall_current(struct rr_nfs4_compound *c)
{
	return recall_found(c, &c->current.attributes.id, recall_run);
}

/* Runs when the attributes of the file that a LINK links, the object of the saved filehandle, have been read:
 * recalls the delegations that other clients have of the file and returns NFS4ERR_DELAY. If there are none,
 * runs the LINK. */
static uint32_t
recall_saved(struct rr_nfs4_compound *c)
{
	return recall_found(c, &c->saved.attributes.id, recall_run);
}

/* Has the storage look up a name in the directory, and goes on with `looked`. Goes on with `otherwise` if the
 * directory is not in the storage, or the name is not valid. */
static uint32_t
recall_look(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *directory, component4 name,
	rr_nfs4_step *looked, rr_nfs4_step *otherwise)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_lookup *lookup;

	if (directory->kind != RR_NFS4_FH_VFS || rr_nfs4_name(name) != NFS4_OK)
		return otherwise(c);
	lookup = &rr_nfs4_vfs_begin(c)->lookup;
	lookup->directory = rr_nfs4_object(directory);
	lookup->name = name;
	return rr_nfs4_vfs(c, rr_vfs_lookup(vfs, lookup), looked);
}

/* Runs when the storage has looked up the name that a REMOVE removes or a RENAME replaces: recalls the
 * delegations that other clients have of the file and returns NFS4ERR_DELAY. If there are none, runs the
 * operation. */
static uint32_t
recall_looked(struct rr_nfs4_compound *c)
{
	return recall_found(c, &c->vfs.lookup.attributes.id, recall_run);
}

/* Runs when the object that a RENAME renames has no delegations: looks up the object that the RENAME would
 * replace, to recall its delegations, too, before the operation runs. */
static uint32_t
recall_target(struct rr_nfs4_compound *c)
{
	return recall_look(c, &c->current, c->op->u.oprename.newname, recall_looked, recall_run);
}

/* Runs when the storage has looked up the object that a RENAME renames: recalls the delegations that other
 * clients have of the object and returns NFS4ERR_DELAY. If there are none, goes on with the object that the
 * RENAME would replace. */
static uint32_t
recall_renamed(struct rr_nfs4_compound *c)
{
	return recall_found(c, &c->vfs.lookup.attributes.id, recall_target);
}

uint32_t
rr_nfs4_recall_first(struct rr_nfs4_compound *c)
{
	const struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	bool are_some = tables->delegations > 0;

	rr_nfs4_unlock_tables(c->server);
	/* Mostly no client has any delegation: then the storage need not look anything up. */
	if (!are_some)
		return recall_run(c);
	switch (c->op->argop) {
	case OP_REMOVE:
		return recall_look(c, &c->current, c->op->u.opremove.target, recall_looked, recall_run);
	case OP_RENAME:
		return recall_look(c, &c->saved, c->op->u.oprename.oldname, recall_renamed, recall_target);
	case OP_LINK:
		return c->saved.kind == RR_NFS4_FH_VFS ? rr_nfs4_attributes(c, &c->saved, recall_saved)
						       : recall_run(c);
	default: return rr_nfs4_attributes(c, &c->current, recall_current);
	}
}
