/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the data that the attributes of an object are written from: its attributes, the space of its file
 * system and the limits of its file system, by one storage operation after another. */
#include "server/nfs4/gather.h"
#include "server/nfs4/support.h"

/* The attributes maxread and maxwrite: the most octets of data in a READ or WRITE, which shares its message
 * with all other operations of the COMPOUND. */
enum { GATHER_IO_MAX = 1 << 20 };

/* Finds the names of the owner and the group, for a caller that gets names, and goes on with the operation.
 * Runs once more when the directory has answered. */
static uint32_t
gather_names(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_gathered *gathered = c->own.gathered;
	const struct rr_idmap_asking asking = rr_nfs4_asking(c);

	enum rr_idmap_status status =
		rr_nfs4_owners(&asking, &gathered->fh->attributes, gathered->named, &gathered->source);

	if (status == RR_IDMAP_FOUND && gathered->source.acl) {
		status = rr_nfs4_acl_names(&asking, &gathered->acl->access);
		if (status == RR_IDMAP_FOUND)
			status = rr_nfs4_acl_names(&asking, &gathered->acl->inherited);
	}
	/* When the list is written, nobody waits any more. */
	gathered->asking = asking;
	gathered->asking.waiter = NULL;
	gathered->source.names = &gathered->asking;
	switch (status) {
	case RR_IDMAP_WAIT: return rr_nfs4_wait_names(c, gather_names);
	case RR_IDMAP_BUSY: c->vfs_status = RR_VFS_BUSY; break;
	default: break;
	}
	return gathered->then(c);
}

/* Runs when all data for the attributes has been read: fills gathered->source, from which the attributes are
 * encoded, and goes on with the operation by gathered->then(). */
static uint32_t
gather_finish(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_gathered *gathered = c->own.gathered;
	const struct rr_nfs4_shared *shared = c->server->shared;

	gathered->source = (struct rr_attr_source){
		.attributes = &gathered->fh->attributes,
		.statfs = &gathered->statfs,
		.limits = &gathered->limits,
		.acl = gathered->acl && gathered->acl->is_supported ? gathered->acl : NULL,
		.handle = &gathered->handle,
		.minor = c->args->minor->number,
		.lease = (uint32_t)(shared->config.tables.lease / RR_SECOND),
		.io_max = GATHER_IO_MAX,
	};
	return gathered->named ? gather_names(c) : gathered->then(c);
}

/* Runs when the storage has answered with the lists of the object. Storage that keeps no lists is no error.
 */
static uint32_t
gather_acl_done(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_gathered *gathered = c->own.gathered;

	if (c->vfs_status != RR_VFS_OK && c->vfs_status != RR_VFS_NOTSUPP)
		return gathered->then(c);
	*gathered->acl = c->vfs.getacl;
	gathered->acl->is_supported &= c->vfs_status == RR_VFS_OK;
	c->vfs_status = RR_VFS_OK;
	return gather_finish(c);
}

/* Asks the storage for the lists of the object if the attributes need them; else finishes the gathering. */
static uint32_t
gather_acl(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_gathered *gathered = c->own.gathered;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_getacl *getacl;
	struct rr_vfs_ace *entries;

	if (!(gathered->needs & RR_ATTR_ACL))
		return gather_finish(c);
	gathered->acl = rr_nfs4_alloc(c, sizeof(*gathered->acl));
	entries = rr_nfs4_alloc(c, 2 * RR_VFS_ACL_MAX * sizeof(*entries));
	if (!gathered->acl || !entries)
		return NFS4ERR_REP_TOO_BIG;
	getacl = &rr_nfs4_vfs_begin(c)->getacl;
	getacl->object = rr_nfs4_object(gathered->fh);
	getacl->access.entries = entries;
	getacl->inherited.entries = entries + RR_VFS_ACL_MAX;
	return rr_nfs4_vfs(c, rr_vfs_getacl(vfs, getacl), gather_acl_done);
}

/* Runs when the storage has answered with the limits of a file system: keeps the limits and goes on with
 * the lists. After an error, the operation goes on with the error in c->vfs_status. */
static uint32_t
gather_limits_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return c->own.gathered->then(c);
	c->own.gathered->limits = c->vfs.limits;
	c->own.gathered->limits.acls &= !c->identity.caller.no_acl;
	return gather_acl(c);
}

/* Asks the storage for the limits of the file system if the attributes need them; else goes on
 * with the lists. */
static uint32_t
gather_limits(struct rr_nfs4_compound *c)
{
	struct rr_vfs *vfs = c->server->vfs;

	if (!(c->own.gathered->needs & RR_ATTR_LIMITS))
		return gather_acl(c);
	rr_nfs4_vfs_begin(c)->limits.object = rr_nfs4_object(c->own.gathered->fh);
	return rr_nfs4_vfs(c, rr_vfs_limits(vfs, &c->vfs.limits), gather_limits_done);
}

/* Runs when the storage has answered with the space of a file system: stores the answer, and asks for the
 * limits next. After an error, the operation goes on with the error in c->vfs_status. */
static uint32_t
gather_statfs_done(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return c->own.gathered->then(c);
	c->own.gathered->statfs = c->vfs.statfs;
	return gather_limits(c);
}

/* Runs when the storage has answered with the attributes of the object. Asks the storage for the space of the
 * file system if the attributes need it; else goes on with the limits of the file system. After an error, the
 * operation goes on with the error in c->vfs_status. */
static uint32_t
gather_attributes_done(struct rr_nfs4_compound *c)
{
	struct rr_vfs *vfs = c->server->vfs;

	if (c->vfs_status != RR_VFS_OK)
		return c->own.gathered->then(c);
	if (!(c->own.gathered->needs & RR_ATTR_STATFS))
		return gather_limits(c);
	rr_nfs4_vfs_begin(c)->statfs.object = rr_nfs4_object(c->own.gathered->fh);
	return rr_nfs4_vfs(c, rr_vfs_statfs(vfs, &c->vfs.statfs), gather_statfs_done);
}

/* Fills in the attributes of a directory above the exports, and the limits of its file system. The storage is
 * not asked, as it does not have such directories. */
static uint32_t
gather_pseudo(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_gathered *gathered = c->own.gathered;

	rr_pseudo_attributes(&c->server->pseudo, gathered->fh->pseudo, &gathered->fh->attributes);
	gathered->limits = (struct rr_vfs_limits){ .file_max = INT64_MAX,
		.link_max = 255,
		.name_max = RR_VFS_NAME_MAX,
		.time_delta = { 0, 1 },
		.case_preserving = true };
	c->vfs_status = RR_VFS_OK;
	return gather_finish(c);
}

uint32_t
rr_nfs4_gather(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, const struct rr_attr_mask *mask,
	rr_nfs4_step *then)
{
	struct rr_nfs4_gathered *gathered = rr_nfs4_alloc(c, sizeof(*gathered));

	/* The arena is used up by the results in front, so this result would not fit either. */
	if (!gathered)
		return NFS4ERR_REP_TOO_BIG;
	c->own.gathered = gathered;
	gathered->fh = fh;
	gathered->then = then;
	gathered->needs = rr_attr_needs(mask, c->args->minor->number);
	gathered->handle = fh->handle;
	if (rr_nfs4_wants_names(c, mask)) {
		gathered->named = rr_nfs4_alloc(c, sizeof(*gathered->named));
		if (!gathered->named)
			return NFS4ERR_REP_TOO_BIG;
	}
	if (fh->kind == RR_NFS4_FH_PSEUDO)
		return gather_pseudo(c);
	return rr_nfs4_attributes(c, fh, gather_attributes_done);
}
