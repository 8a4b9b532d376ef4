/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/posix/identity.h"

#include <linux/capability.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 32-bit systems also have an older set of these calls, with 16-bit numbers. */
#ifdef SYS_setfsuid32
enum { SET_UID = SYS_setfsuid32, SET_GID = SYS_setfsgid32, SET_GROUPS = SYS_setgroups32 };
enum { SET_UIDS = SYS_setresuid32, SET_GIDS = SYS_setresgid32 };
#else
enum { SET_UID = SYS_setfsuid, SET_GID = SYS_setfsgid, SET_GROUPS = SYS_setgroups };
enum { SET_UIDS = SYS_setresuid, SET_GIDS = SYS_setresgid };
#endif

/* Sets the thread's uid or gid for files by "call", which is setfsuid(2) or setfsgid(2). Returns whether the
 * thread has that number now. These system calls report no error. With an invalid number (UINT32_MAX) they
 * change nothing and return the present number. */
static bool
set_number(long call, uint32_t number)
{
	syscall(call, number);
	return (uint32_t)syscall(call, UINT32_MAX) == number;
}

void
rr_identity_suspend(struct rr_identity *identity)
{
	if (identity->acts_as != 0)
		syscall(SET_UID, 0);
	identity->acts_as = 0;
}

/* Sets the thread's uid for files. Makes system calls only where the thread has another uid: so for a caller
 * with the uid 0, which the server itself has, it makes none. After a failure the thread acts as the server
 * itself, and false is returned. */
static bool
identity_set_uid(struct rr_identity *identity, uint32_t uid)
{
	if (identity->acts_as == uid)
		return true;
	identity->acts_as = uid;
	if (set_number(SET_UID, uid))
		return true;
	rr_identity_suspend(identity);
	return false;
}

/* Switches CAP_SYS_RESOURCE of the thread on or off, and stores in *before whether it was on. With this
 * capability a thread may exceed quotas and use the blocks that a file system reserves, so a thread that acts
 * as a caller must not have it; unlike other capabilities, it stays on when the uid changes. Returns false
 * where the system refuses. */
static bool
set_reserves(bool on, bool *before)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint32_t bit = CAP_TO_MASK(CAP_SYS_RESOURCE);
	uint32_t *effective = &data[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective;

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	*before = *effective & bit;
	if (*before == on)
		return true;
	*effective ^= bit;
	return syscall(SYS_capset, &header, data) == 0;
}

/* Keeps the groups that the thread began with, and whether it had CAP_SYS_RESOURCE, so that
 * rr_identity_free() can restore both; switches that capability off. Returns 0 or a negative error. */
static int
identity_keep_own(struct rr_identity *identity)
{
	int count = getgroups(0, NULL);

	if (count < 0)
		return -RPCRDMA_ERR_SYSTEM;
	identity->own_gids = rr_alloc_array(identity->env, (size_t)count + 1, sizeof(gid_t));
	if (!identity->own_gids)
		return -RPCRDMA_ERR_NOMEM;
	identity->own_gid_count = getgroups(count, identity->own_gids);
	if (identity->own_gid_count >= 0 && set_reserves(false, &identity->own_reserves))
		return 0;
	rr_free(identity->env, identity->own_gids);
	identity->own_gids = NULL;
	return -RPCRDMA_ERR_SYSTEM;
}

void
rr_identity_init(struct rr_identity *identity, const struct rr_env *env)
{
	*identity = (struct rr_identity){ .root = geteuid() == 0, .env = env };
}

void
rr_identity_free(struct rr_identity *identity)
{
	bool before;

	/* The thread's identity was never changed. */
	if (!identity->own_gids)
		return;
	rr_identity_drop(identity);
	syscall(SET_GID, getegid());
	syscall(SET_GROUPS, (long)identity->own_gid_count, identity->own_gids);
	set_reserves(identity->own_reserves, &before);
	rr_free(identity->env, identity->own_gids);
	identity->own_gids = NULL;
}

/* Notes the caller's identity as that of the thread's last caller. Returns true where the thread has that
 * caller's gid and groups already. More than RR_VFS_GROUPS groups are not noted, so the result is false for
 * them each time. */
static bool
identity_note(struct rr_identity *identity, const struct rr_vfs_caller *caller)
{
	uint32_t count = caller->group_count;
	bool same = identity->taken && identity->gid == caller->gid && identity->gid_count == count &&
		    count <= RR_VFS_GROUPS &&
		    (count == 0 ||
			    memcmp(identity->gids, caller->groups, count * sizeof(identity->gids[0])) == 0);

	identity->uid = caller->uid;
	identity->gid = caller->gid;
	identity->gid_count = count;
	if (!same && count > 0 && count <= RR_VFS_GROUPS)
		memcpy(identity->gids, caller->groups, count * sizeof(identity->gids[0]));
	return same;
}

/* Ends a failed attempt to take on a caller's identity: the thread acts as the server itself, and does not
 * rely on the noted groups any more. Returns SYSTEM in any case. */
static int
identity_give_up(struct rr_identity *identity)
{
	identity->taken = false;
	rr_identity_drop(identity);
	return -RPCRDMA_ERR_SYSTEM;
}

int
rr_identity_take(struct rr_identity *identity, const struct rr_vfs_caller *caller)
{
	int error;

	if (!identity->root)
		return 0;
	error = identity->own_gids ? 0 : identity_keep_own(identity);
	if (error)
		return error;
	if (!identity_note(identity, caller)) {
		/* The uid for files is 0 while the groups change, and groups have no effect then: so the
		 * last caller's uid is never in force with this caller's groups. */
		rr_identity_drop(identity);
		if (syscall(SET_GROUPS, (long)caller->group_count, caller->groups) != 0 ||
			!set_number(SET_GID, identity->gid))
			return identity_give_up(identity);
		identity->taken = true;
	}
	identity->in_force = true;
	return identity_set_uid(identity, identity->uid) ? 0 : identity_give_up(identity);
}

void
rr_identity_drop(struct rr_identity *identity)
{
	rr_identity_suspend(identity);
	identity->in_force = false;
}

bool
rr_identity_resume(struct rr_identity *identity)
{
	if (!identity->in_force || identity_set_uid(identity, identity->uid))
		return true;
	identity_give_up(identity);
	return false;
}

bool
rr_identity_pose(struct rr_identity *identity, bool group, uint32_t id)
{
	if (!identity->root)
		return true;
	identity->own_gid = getegid();
	return syscall(group ? SET_GIDS : SET_UIDS, UINT32_MAX, id, UINT32_MAX) == 0;
}

/* The effective ids become those for files, too: so the noted groups of the last caller are not in force any
 * more. An effective uid that becomes 0 again gives the thread all its capabilities back. */
void
rr_identity_unpose(struct rr_identity *identity)
{
	bool before;

	if (!identity->root)
		return;
	syscall(SET_UIDS, UINT32_MAX, 0, UINT32_MAX);
	syscall(SET_GIDS, UINT32_MAX, identity->own_gid, UINT32_MAX);
	identity->taken = false;
	if (identity->own_gids)
		set_reserves(false, &before);
}
