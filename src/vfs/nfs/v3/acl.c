/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists, by NFSACL version 3 of the other server. One without NFSACL keeps no lists. */
#include "vfs/acl/nfsacl.h"
#include "vfs/nfs/v3/v3_private.h"

#define INPUT(job, type) rr_container((job)->base.call, struct rr_vfs_##type, call)

enum { ACL_ACCESS = NA_ACL | NA_ACLCNT, ACL_INHERITED = NA_DFACL | NA_DFACLCNT };

/* ---- Reading ---- */

/* Takes a list that came, if it is wanted. RR_VFS_IO: it is longer than a list may be, or makes no sense. */
static enum rr_vfs_status
acl_take(const aclent *from, uint32_t count, bool is_default, struct rr_vfs_acl *acl)
{
	if (!acl->entries)
		return RR_VFS_OK;
	if (count > RR_VFS_ACL_MAX || rr_nfsacl_take(from, count, is_default, acl) != RR_VFS_OK) {
		acl->count = 0;
		return RR_VFS_IO;
	}
	return RR_VFS_OK;
}

/* Tells whether the answer says that there are no access lists. Every list has three entries: a server
 * without lists, as nfs-ganesha can be, sends none. */
static bool
acl_is_none(const struct rr_v3_job *job)
{
	const secattr *acl = &job->result.getacl.u.resok.acl;

	return acl->mask == job->args.getacl.mask && acl->mask & NA_ACL && acl->aclent_list.count == 0 &&
	       INPUT(job, getacl)->object_after.valid;
}

static void
acl_got(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_getacl *getacl = INPUT(job, getacl);
	const GETACL3resok *ok = &job->result.getacl.u.resok;
	const secattr *acl = &ok->acl;

	rr_v3_known(&ok->attr, &getacl->object_after);
	if (status == RR_VFS_OK && acl_is_none(job)) {
		getacl->is_supported = false;
		rr_acl_from_mode(getacl->object_after.attributes.mode, &getacl->access);
		getacl->inherited.count = 0;
		rr_remote_end(&job->base, RR_VFS_OK);
		return;
	}
	/* Lists that were asked for, and did not come, are not taken for empty ones. */
	if (status == RR_VFS_OK && acl->mask != job->args.getacl.mask)
		status = RR_VFS_IO;
	if (status == RR_VFS_OK)
		status = acl_take(acl->aclent_list.values, acl->aclent_list.count, false, &getacl->access);
	if (status == RR_VFS_OK)
		status = acl_take(
			acl->dfaclent_list.values, acl->dfaclent_list.count, true, &getacl->inherited);
	getacl->is_supported = status == RR_VFS_OK;
	rr_remote_end(&job->base, status);
}

enum rr_vfs_status
rr_v3_getacl(struct rr_v3_job *job)
{
	const struct rr_vfs_getacl *getacl = INPUT(job, getacl);

	job->base.arena = rr_alloc(job->base.vfs->env, RR_REMOTE_ARENA);
	if (!job->base.arena)
		return RR_VFS_BUSY;
	job->args.getacl = (GETACL3args){ rr_v3_fh(&job->base.objects[0]),
		(getacl->access.entries ? ACL_ACCESS : 0u) |
			(getacl->inherited.entries ? ACL_INHERITED : 0u) };
	return rr_v3_acl_call(job, ACLPROC3_GETACL, acl_got);
}

/* ---- Setting ---- */

static void
acl_set(struct rr_v3_job *job, enum rr_vfs_status status)
{
	rr_v3_known(&job->result.setacl.u.resok.attr, &INPUT(job, setacl)->change.after);
	rr_remote_end(&job->base, status);
}

/* Writes a list into memory of the job, and returns the entries behind it. The other server knows the owner
 * and the group. */
static aclent *
acl_give(const struct rr_vfs_acl *acl, uint32_t flags, aclent *to)
{
	rr_nfsacl_put(acl, 0, 0, flags, to);
	return to + rr_nfsacl_count(acl);
}

enum rr_vfs_status
rr_v3_setacl(struct rr_v3_job *job)
{
	const struct rr_vfs_setacl *setacl = INPUT(job, setacl);
	const struct rr_vfs_acl *access = setacl->access, *inherited = setacl->inherited;
	SETACL3args *args = &job->args.setacl;
	aclent *at;

	_Static_assert(
		2 * RR_VFS_ACL_MAX * sizeof(aclent) <= RR_REMOTE_ARENA, "there is room for both lists");
	job->base.arena = rr_alloc(job->base.vfs->env, RR_REMOTE_ARENA);
	if (!job->base.arena)
		return RR_VFS_BUSY;
	at = (aclent *)(void *)job->base.arena;
	*args = (SETACL3args){ .fh = rr_v3_fh(&job->base.objects[0]) };
	if (access) {
		args->acl.mask |= ACL_ACCESS;
		args->acl.aclcnt = (int32_t)rr_nfsacl_count(access);
		args->acl.aclent_list.count = rr_nfsacl_count(access);
		args->acl.aclent_list.values = at;
		at = acl_give(access, 0, at);
	}
	if (inherited) {
		args->acl.mask |= ACL_INHERITED;
		args->acl.dfaclcnt = (int32_t)rr_nfsacl_count(inherited);
		args->acl.dfaclent_list.count = rr_nfsacl_count(inherited);
		args->acl.dfaclent_list.values = at;
		acl_give(inherited, RR_NFSACL_DEFAULT, at);
	}
	return rr_v3_acl_call(job, ACLPROC3_SETACL, acl_set);
}
