/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs4/names.h"

#include "base/checked.h"
#include "vfs/idmap/groups.h"

/* Called when the directory has answered, or has taken too long: the step that asked asks again. */
static void
names_woken(struct rr_idmap_waiter *waiter)
{
	struct rr_nfs4_compound *c = rr_container(waiter, struct rr_nfs4_compound, names);

	c->resume(c, c->names_then);
}

void
rr_nfs4_names_init(struct rr_nfs4_compound *c)
{
	c->names.wake = names_woken;
	rr_list_init(&c->names.link);
}

bool
rr_nfs4_know_caller(struct rr_nfs4_compound *c)
{
	enum rr_idmap_status status = rr_idmap_groups(c->server->gate->idmap, c->request, &c->names);

	if (status == RR_IDMAP_WAIT) {
		/* NULL: the compound goes on with its next operation, the first. */
		c->names_then = NULL;
		return false;
	}
	c->late = status == RR_IDMAP_BUSY;
	c->is_known = true;
	/* The groups lie behind the end of the arena. */
	c->arena_end = c->writer.end = c->request->arena.end;
	return true;
}

struct rr_idmap_asking
rr_nfs4_asking(struct rr_nfs4_compound *c)
{
	return (struct rr_idmap_asking){ .idmap = c->server->gate->idmap,
		.host = c->request->party ? rr_party_host(c->request->party) : 0,
		.waiter = &c->names };
}

bool
rr_nfs4_wants_names(const struct rr_nfs4_compound *c, const struct rr_attr_mask *mask)
{
	return c->server->gate->idmap && c->request->caller.principal &&
	       (rr_attr_in(mask, FATTR4_OWNER) || rr_attr_in(mask, FATTR4_OWNER_GROUP) ||
		       rr_attr_in(mask, FATTR4_ACL) || rr_attr_in(mask, FATTR4_DACL));
}

enum rr_idmap_status
rr_nfs4_owners(const struct rr_idmap_asking *asking, const struct rr_vfs_attributes *attributes,
	struct rr_nfs4_owners *owners, struct rr_attr_source *source)
{
	enum rr_idmap_status status;

	owners->owner[0] = owners->group[0] = '\0';
	status = rr_idmap_owner(asking, attributes->uid, false, owners->owner);
	if (status == RR_IDMAP_WAIT || status == RR_IDMAP_BUSY)
		return status;
	status = rr_idmap_owner(asking, attributes->gid, true, owners->group);
	if (status == RR_IDMAP_WAIT || status == RR_IDMAP_BUSY)
		return status;
	source->owner = owners->owner;
	source->group = owners->group;
	return RR_IDMAP_FOUND;
}

uint32_t
rr_nfs4_wait_names(struct rr_nfs4_compound *c, rr_nfs4_step *again)
{
	c->names_then = again;
	return RR_NFS4_PENDING;
}

enum rr_idmap_status
rr_nfs4_acl_names(const struct rr_idmap_asking *asking, const struct rr_vfs_acl *acl)
{
	char name[RR_IDMAP_OWNER + 1];

	for (uint32_t i = 0; i < acl->count; i++) {
		const struct rr_vfs_ace *ace = &acl->entries[i];
		enum rr_idmap_status status = RR_IDMAP_FOUND;

		if (ace->tag == RR_VFS_ACL_USER || ace->tag == RR_VFS_ACL_GROUP)
			status = rr_idmap_owner(asking, ace->id, ace->tag == RR_VFS_ACL_GROUP, name);
		if (status == RR_IDMAP_WAIT || status == RR_IDMAP_BUSY)
			return status;
	}
	return RR_IDMAP_FOUND;
}

/* Takes memory for the list that a fattr4 sets, if it may have one: no more than its octets have room for. */
static bool
names_room(struct rr_nfs4_compound *c, const fattr4 *fattr, struct rr_attr_acl *acl)
{
	struct rr_attr_mask mask = rr_attr_mask(&fattr->attrmask);

	*acl = (struct rr_attr_acl){ .room = 0 };
	if (!rr_attr_in(&mask, FATTR4_ACL) && !rr_attr_in(&mask, FATTR4_DACL))
		return true;
	acl->room = (uint32_t)rr_min(fattr->attr_vals.length / 16, RR_ACL4_MAX);
	acl->entries = rr_nfs4_alloc(c, acl->room * sizeof(acl->entries[0]));
	return acl->entries;
}

uint32_t
rr_nfs4_attr_get(struct rr_nfs4_compound *c, const fattr4 *fattr, struct rr_attr_acl *acl,
	struct rr_vfs_set *set, rr_nfs4_step *again)
{
	const struct rr_attr_getting getting = { rr_nfs4_asking(c), acl };
	uint8_t *end = c->writer.end;
	nfsstat4 status = NFS4ERR_DELAY;

	if (!acl || names_room(c, fattr, acl))
		status = rr_attr_get(fattr, c->args->minor->number, &getting, set);
	if (status != NFS4ERR_DELAY || rr_list_empty(&c->names.link))
		return status;
	c->writer.end = end; /* the step takes its memory anew */
	return rr_nfs4_wait_names(c, again);
}
