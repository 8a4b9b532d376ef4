/* SPDX-License-Identifier: BSD-3-Clause */
/* SETATTR: RFC 8881, section 18.30. The storage sets the attributes first, and then the access list. */
#include "server/nfs4/errors.h"
#include "server/nfs4/names.h"
#include "server/nfs4/ops.h"
#include "server/nfs4/support.h"

/* Writes the whole result of SETATTR into the reply. After an error, too, the result lists the attributes
 * that were set. RFC 8881, 18.30.3: "On either success or failure of the operation, the server will return
 * the attrsset bitmask". */
static uint32_t
op_setattr_put(struct rr_nfs4_compound *c, nfsstat4 status)
{
	const bitmap4 *asked = &c->op->u.opsetattr.obj_attributes.attrmask;
	struct rr_attr_mask set = rr_attr_applied(asked, c->own.setattr.applied);

	status = rr_nfs4_status_for(c->args->minor->number, OP_SETATTR, status);
	/* A failure has this result, too; compound.c would write the status alone. */
	rpcrdma_put_u32(&c->writer, OP_SETATTR);
	rpcrdma_put_u32(&c->writer, status);
	rr_attr_put_mask(&c->writer, &set);
	c->encoded = true;
	return status;
}

/* Returns the status for a list that the storage, or POSIX, does not take. */
static nfsstat4
op_setattr_acl_status(enum rr_vfs_status status)
{
	return status == RR_VFS_NOTSUPP ? NFS4ERR_ATTRNOTSUPP : rr_nfs4_status(status);
}

static uint32_t
op_setattr_acl_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status == RR_VFS_OK)
		c->own.setattr.applied |= RR_ATTR_SET_ACL;
	c->after = &c->vfs.setacl.change.after;
	return op_setattr_put(c, op_setattr_acl_status(c->vfs_status));
}

/* Makes the lists of POSIX, in memory of the operation, and has the storage set them. A list without entries
 * that are inherited removes the list that is: a directory has one list in version 4. */
static uint32_t
op_setattr_acl(struct rr_nfs4_compound *c)
{
	const struct rr_attr_acl *acl = &c->own.setattr.acl;
	bool is_directory = c->current.attributes.type == RR_VFS_DIRECTORY;
	struct rr_acl4_right *rights = rr_nfs4_alloc(c, acl->count * sizeof(*rights));
	struct rr_vfs_acl *lists = rr_nfs4_alloc(c, 2 * sizeof(*lists));
	struct rr_vfs_ace *entries = rr_nfs4_alloc(c, 2 * (acl->count + 4) * sizeof(*entries));
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_setacl *setacl;
	enum rr_vfs_status status;

	if (!rights || !lists || !entries)
		return op_setattr_put(c, NFS4ERR_DELAY);
	lists[0].entries = entries;
	lists[1].entries = entries + acl->count + 4;
	status = rr_acl4_to_posix(acl->entries, acl->count, is_directory, rights, &lists[0], &lists[1]);
	if (status != RR_VFS_OK)
		return op_setattr_put(c, op_setattr_acl_status(status));
	setacl = &rr_nfs4_vfs_begin(c)->setacl;
	setacl->object = rr_nfs4_object(&c->current);
	setacl->access = &lists[0];
	setacl->inherited = is_directory ? &lists[1] : NULL;
	return rr_nfs4_vfs(c, rr_vfs_setacl(vfs, setacl), op_setattr_acl_done);
}

/* Runs when the storage has set the attributes. */
static uint32_t
op_setattr_done(struct rr_nfs4_compound *c)
{
	c->own.setattr.applied = c->vfs.setattr.applied;
	c->after = &c->vfs.setattr.change.after;
	if (c->vfs_status == RR_VFS_OK && c->own.setattr.acl.is_given)
		return op_setattr_acl(c);
	return op_setattr_put(c, rr_nfs4_status(c->vfs_status));
}

/* Runs when the attributes of the object are known: checks the stateid, which must allow writing if the size
 * is to be set, and has the storage set the attributes. */
static uint32_t
op_setattr_typed(struct rr_nfs4_compound *c)
{
	const SETATTR4args *args = &c->op->u.opsetattr;
	const struct rr_vfs_set *set = &c->own.setattr.set;
	uint32_t access = set->mask & RR_VFS_SET_SIZE ? OPEN4_SHARE_ACCESS_WRITE : 0;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_setattr *setattr;
	nfsstat4 status = NFS4_OK;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	/* Only regular files have a size to be set. RFC 8881, 15.2, has no NFS4ERR_ISDIR for SETATTR. */
	if (access != 0 && c->current.attributes.type != RR_VFS_FILE)
		return NFS4ERR_INVAL;
	status = rr_nfs4_use_stateid(c, &c->current, &args->stateid, access, 0);
	if (status != NFS4_OK)
		return status;
	if (c->own.setattr.acl.is_given && set->mask == 0)
		return op_setattr_acl(c);
	setattr = &rr_nfs4_vfs_begin(c)->setattr;
	/* An open that may write sets the size. For other attributes the storage asks for the caller's rights
	 * all the same; it only need not find the object of the filehandle. */
	setattr->object = rr_nfs4_object_as(c, &c->current, 0);
	setattr->set = *set;
	return rr_nfs4_vfs(c, rr_vfs_setattr(vfs, setattr), op_setattr_done);
}

uint32_t
rr_op_setattr(struct rr_nfs4_compound *c)
{
	struct rr_vfs_set *set = &c->own.setattr.set;
	uint32_t status = rr_nfs4_attr_get(
		c, &c->op->u.opsetattr.obj_attributes, &c->own.setattr.acl, set, rr_op_setattr);

	c->own.setattr.applied = 0;
	/* RFC 8275, 4.2: mode_umask is only for objects that are being made. */
	if (status == NFS4_OK && set->mask & RR_VFS_SET_UMASK)
		status = NFS4ERR_INVAL;
	if (status != NFS4_OK)
		return status;
	set->mask &= ~RR_ATTR_SET_ACL;
	return rr_nfs4_attributes(c, &c->current, op_setattr_typed);
}
