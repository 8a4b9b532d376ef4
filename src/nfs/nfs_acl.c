/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions on access lists: by NFSACL beside version 3, by the attribute acl in
 * version
 * 4. A function with _take_ in its name handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "base/endian.h"
#include "nfs/nfs_private.h"
#include "vfs/acl/nfsacl.h"
#include "vfs/fattr4/acl.h"

enum { ACL_ACCESS = NA_ACL | NA_ACLCNT, ACL_INHERITED = NA_DFACL | NA_DFACLCNT };

/* The memory of an operation on access lists. */
struct rr_nfs_lists {
	struct rpcrdma_nfs_acl *access, *inherited; /* what the caller of get_acl() wants */
	struct rpcrdma_nfs_acl_names names;         /* number: NULL: there are none */
	/* The lists that came, or that are set; NULL: not given. */
	const struct rr_vfs_acl *given[2];
	struct rr_vfs_acl acls[2];
	struct rr_vfs_ace entries[2][RR_VFS_ACL_MAX];
	union {
		struct rr_attr_lists v4;
		aclent v3[2][RR_VFS_ACL_MAX];                      /* to be set */
		uint8_t arena[2 * RR_VFS_ACL_MAX * sizeof(aclent)] /* for those that come */
			__attribute__((aligned(16)));
	};
};

static int
acl_new(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const struct rpcrdma_nfs_then *then,
	struct rr_nfs_pending **pending)
{
	int error = rr_nfs_pending_on(nfs, handle, then, pending);

	if (error)
		return error;
	(*pending)->lists = rr_alloc(nfs->env, sizeof(*(*pending)->lists));
	if (!(*pending)->lists)
		return rr_nfs_pending_drop(*pending,
			rr_nfs_fail(nfs, -RPCRDMA_ERR_NOMEM, "%s", rpcrdma_strerror(-RPCRDMA_ERR_NOMEM)));
	for (int i = 0; i < 2; i++)
		(*pending)->lists->acls[i].entries = (*pending)->lists->entries[i];
	return 0;
}

void
rr_nfs_acl_prepare(struct rr_nfs_pending *pending, struct rr_call *call)
{
	if (!pending->nfs->v4)
		call->arena = rpcrdma_arena(pending->lists->arena, sizeof(pending->lists->arena));
}

int
rr_nfs_acl_error(struct rr_nfs_pending *pending, int error)
{
	struct rpcrdma_nfs *nfs = pending->nfs;

	if (error == -RPCRDMA_ERR_PROG_UNAVAIL || error == -RPCRDMA_ERR_PROG_MISMATCH ||
		error == -RPCRDMA_ERR_PROC_UNAVAIL)
		return rr_nfs_fail(nfs, NFS3ERR_NOTSUPP, "the server keeps no access lists");
	return rr_nfs_fail(nfs, error, "%s", rr_nfs_why(nfs));
}

/* ---- Reading ---- */

/* Copies a list to the caller. */
static int
acl_give(struct rr_nfs_pending *pending, const struct rr_vfs_acl *from, struct rpcrdma_nfs_acl *to)
{
	if (!to)
		return 0;
	if (from->count > to->room)
		return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_LIMIT, "the access list has no room");
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++)
		to->entries[i] = (struct rpcrdma_nfs_acl_entry){ from->entries[i].tag, from->entries[i].perm,
			from->entries[i].id };
	return 0;
}

static int
acl_give_both(
	struct rr_nfs_pending *pending, const struct rr_vfs_acl *access, const struct rr_vfs_acl *inherited)
{
	int error = acl_give(pending, access, pending->lists->access);

	return error ? error : acl_give(pending, inherited, pending->lists->inherited);
}

static int
acl_none(struct rr_nfs_pending *pending)
{
	return rr_nfs_fail(pending->nfs, NFS3ERR_NOTSUPP, "the server keeps no access lists");
}

static int
acl_take_3(struct rr_nfs_pending *pending)
{
	struct rr_nfs_lists *lists = pending->lists;
	const secattr *acl = &pending->result.getacl.u.resok.acl;
	struct rr_vfs_acl *acls = lists->acls;

	/* Every list has three entries: an object without one is that of a server that keeps none, as
	 * nfs-ganesha says it. */
	if (lists->access && acl->mask == pending->args.getacl.mask && acl->aclent_list.count == 0)
		return acl_none(pending);
	if (acl->mask != pending->args.getacl.mask || acl->aclent_list.count > RR_VFS_ACL_MAX ||
		acl->dfaclent_list.count > RR_VFS_ACL_MAX ||
		(lists->access && rr_nfsacl_take(acl->aclent_list.values, acl->aclent_list.count, false,
					  &acls[0]) != RR_VFS_OK) ||
		(lists->inherited && rr_nfsacl_take(acl->dfaclent_list.values, acl->dfaclent_list.count, true,
					     &acls[1]) != RR_VFS_OK))
		return rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_PEER, "the server's access list makes no sense");
	return acl_give_both(pending, &acls[0], &acls[1]);
}

/* Finds the number of a user or a group, for the entries of a list of version 4. */
static enum rr_idmap_status
acl_number(void *ctx, struct rpcrdma_bytes owner, bool is_group, uint32_t *number)
{
	const struct rpcrdma_nfs_acl_names *names = ctx;
	char name[RPCRDMA_NFS_OWNER_MAX + 1];

	if (!names->number || owner.length == 0 || owner.length > RPCRDMA_NFS_OWNER_MAX ||
		memchr(owner.data, 0, owner.length))
		return RR_IDMAP_NONE;
	memcpy(name, owner.data, owner.length);
	name[owner.length] = '\0';
	return names->number(names->ctx, name, is_group, number) ? RR_IDMAP_FOUND : RR_IDMAP_NONE;
}

/* Makes lists of POSIX of what the server sent. */
static int
acl_read_4(struct rr_nfs_pending *pending)
{
	const struct rr_idmap_asking asking = { .number = acl_number, .ctx = &pending->lists->names };
	enum rr_vfs_status status =
		rr_attr_lists_read(&pending->lists->v4, pending->result.acl.is_directory, &asking);

	if (status == RR_VFS_OK)
		return 0;
	if (status == RR_VFS_IO)
		return rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_PEER, "the server's access list makes no sense");
	return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_NOTSUP,
		"its access list says what those of POSIX cannot say, or names somebody who is nobody here");
}

static int
acl_take_4(struct rr_nfs_pending *pending)
{
	int error = pending->result.acl.has ? acl_read_4(pending) : acl_none(pending);

	return error ? error
		     : acl_give_both(pending, &pending->lists->v4.access, &pending->lists->v4.inherited);
}

/* Begins the first call of an operation by version 4. */
static void
acl_ask_4(struct rr_nfs_pending *pending, int (*take)(struct rr_nfs_pending *pending))
{
	pending->take = take;
	pending->args.acl = (struct rr_v4_acl_args){ .file = rr_nfs_fh(&pending->handles[0]),
		.lists = &pending->lists->v4 };
	rr_nfs_pending_call(pending, RR_V4_GETACL);
}

int
rpcrdma_nfs_get_acl(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_acl *access, struct rpcrdma_nfs_acl *inherited,
	const struct rpcrdma_nfs_acl_names *names, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = (access && !access->entries) || (inherited && !inherited->entries)
			    ? -RPCRDMA_ERR_INVAL
			    : acl_new(nfs, handle, then, &pending);

	if (error)
		return error;
	pending->lists->access = access;
	pending->lists->inherited = inherited;
	if (names)
		pending->lists->names = *names;
	if (nfs->v4) {
		acl_ask_4(pending, acl_take_4);
		return rr_nfs_pending_wait(pending, then);
	}
	pending->take = acl_take_3;
	pending->args.getacl = (GETACL3args){ rr_nfs_fh(&pending->handles[0]),
		(access ? ACL_ACCESS : 0u) | (inherited ? ACL_INHERITED : 0u) };
	rr_nfs_pending_call(pending, RR_V4_GETACL);
	return rr_nfs_pending_wait(pending, then);
}

/* ---- Setting ---- */

/* Takes a list from the caller, and checks it. */
static bool
acl_get(struct rr_nfs_lists *lists, int number, const struct rpcrdma_nfs_acl *from)
{
	struct rr_vfs_acl *to = &lists->acls[number];

	if (!from)
		return true;
	if (from->count > RR_VFS_ACL_MAX || (from->count > 0 && !from->entries))
		return false;
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct rpcrdma_nfs_acl_entry *entry = &from->entries[i];

		if (entry->tag > RR_VFS_ACL_OTHER || entry->perm > 7)
			return false;
		to->entries[i] = (struct rr_vfs_ace){ (uint8_t)entry->tag, (uint8_t)entry->perm, entry->id };
	}
	lists->given[number] = to;
	return rr_acl_check(to, number == 1) == RR_VFS_OK;
}

/* Handles the answer of GETACL in front of SETACL: the object may be no directory, or keep one of its lists.
 */
static int
acl_take_old(struct rr_nfs_pending *pending)
{
	struct rr_nfs_lists *lists = pending->lists;
	bool is_directory = pending->result.acl.is_directory;
	bool keeps = is_directory && (!lists->given[0] || !lists->given[1]);
	int error = pending->result.acl.has ? 0 : acl_none(pending);

	if (!error && !is_directory && lists->given[1] && lists->given[1]->count > 0)
		error = rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_INVAL, "only directories have a list that is inherited");
	if (!error && keeps)
		error = acl_read_4(pending);
	if (error || (!is_directory && !lists->given[0]))
		return error;
	if (rr_attr_lists_write(&lists->v4, is_directory, lists->given[0], lists->given[1]) != RR_VFS_OK)
		return rr_nfs_fail(pending->nfs, -RPCRDMA_ERR_LIMIT, "the access list is too long");
	pending->take = NULL;
	pending->args.acl.guarded = keeps;
	rr_put_be64(pending->args.acl.guard, pending->result.acl.change);
	rr_nfs_pending_call(pending, RR_V4_SETACL);
	return PENDING_GOES_ON;
}

/* Writes the lists into the arguments of NFSACL. */
static void
acl_put_3(struct rr_nfs_pending *pending)
{
	struct rr_nfs_lists *lists = pending->lists;
	SETACL3args *args = &pending->args.setacl;

	*args = (SETACL3args){ .fh = rr_nfs_fh(&pending->handles[0]) };
	if (lists->given[0]) {
		args->acl.mask |= ACL_ACCESS;
		args->acl.aclent_list.count = rr_nfsacl_count(lists->given[0]);
		args->acl.aclcnt = (int32_t)args->acl.aclent_list.count;
		args->acl.aclent_list.values = lists->v3[0];
		rr_nfsacl_put(lists->given[0], 0, 0, 0, lists->v3[0]);
	}
	if (lists->given[1]) {
		args->acl.mask |= ACL_INHERITED;
		args->acl.dfaclent_list.count = rr_nfsacl_count(lists->given[1]);
		args->acl.dfaclcnt = (int32_t)args->acl.dfaclent_list.count;
		args->acl.dfaclent_list.values = lists->v3[1];
		rr_nfsacl_put(lists->given[1], 0, 0, RR_NFSACL_DEFAULT, lists->v3[1]);
	}
}

int
rpcrdma_nfs_set_acl(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_acl *access, const struct rpcrdma_nfs_acl *inherited,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = acl_new(nfs, handle, then, &pending);

	if (error)
		return error;
	if (!acl_get(pending->lists, 0, access) || !acl_get(pending->lists, 1, inherited))
		return rr_nfs_pending_drop(
			pending, rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "an access list is not valid"));
	if (nfs->v4) {
		acl_ask_4(pending, acl_take_old);
		return rr_nfs_pending_wait(pending, then);
	}
	acl_put_3(pending);
	rr_nfs_pending_call(pending, RR_V4_SETACL);
	return rr_nfs_pending_wait(pending, then);
}
