/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the directory of this machine: nsswitch.conf(5). These functions wait for its name servers,
 * and are called in threads of the crew. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vfs/idmap/idmap_private.h"

/* Octets for the text of one user or group: at first, and at most. The members of a group are among them. */
enum { DIRECTORY_ROOM = 4096, DIRECTORY_ROOM_MAX = 8 << 20 };

/* An entry of the directory, with its memory. */
struct directory_entry {
	const struct rr_env *env;
	char *memory;
	size_t size;
	union {
		struct passwd user;
		struct group group;
	} u;
};

/* The one of the four questions that is asked: error numbers as getpwnam_r(3) returns them. */
static int
directory_get(const struct rr_idmap_question *question, struct directory_entry *entry, bool *there)
{
	const char *name = question->name.data;
	struct passwd *user = NULL;
	struct group *group = NULL;
	int error = 0;

	switch (question->kind) {
	case RR_IDMAP_UID:
	case RR_IDMAP_ACCOUNT:
		error = getpwnam_r(name, &entry->u.user, entry->memory, entry->size, &user);
		break;
	case RR_IDMAP_USER:
	case RR_IDMAP_GROUPS:
		error = getpwuid_r(question->number, &entry->u.user, entry->memory, entry->size, &user);
		break;
	case RR_IDMAP_GID:
		error = getgrnam_r(name, &entry->u.group, entry->memory, entry->size, &group);
		break;
	case RR_IDMAP_GROUP:
		error = getgrgid_r(question->number, &entry->u.group, entry->memory, entry->size, &group);
		break;
	default: break;
	}
	*there = user || group;
	return error;
}

/* Finds the entry, with as much memory as it needs. getpwnam_r(3) lists the errors that stand for "not
 * found". */
static enum rr_idmap_status
directory_find(const struct rr_idmap_question *question, struct directory_entry *entry)
{
	bool there;

	for (entry->size = DIRECTORY_ROOM; entry->size <= DIRECTORY_ROOM_MAX; entry->size *= 4) {
		int error;

		rr_free(entry->env, entry->memory);
		entry->memory = rr_alloc(entry->env, entry->size);
		if (!entry->memory)
			return RR_IDMAP_BUSY;
		error = directory_get(question, entry, &there);
		if (there)
			return RR_IDMAP_FOUND;
		if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM)
			return RR_IDMAP_NONE;
		if (error != ERANGE)
			return RR_IDMAP_BUSY;
	}
	return RR_IDMAP_BUSY;
}

static int
directory_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the groups, and removes those that stand there twice, and UINT32_MAX, which is no group. */
static void
directory_sort(struct rr_idmap_found *found)
{
	uint32_t kept = 0;

	qsort(found->groups, found->group_count, sizeof(found->groups[0]), directory_compare);
	for (uint32_t i = 0; i < found->group_count; i++)
		if (found->groups[i] != UINT32_MAX &&
			(kept == 0 || found->groups[kept - 1] != found->groups[i]))
			found->groups[kept++] = found->groups[i];
	found->group_count = kept < RR_IDMAP_GROUPS_MAX ? kept : RR_IDMAP_GROUPS_MAX;
}

/* The most groups that Linux lets a process have: NGROUPS_MAX. */
enum { DIRECTORY_GROUPS = 65536 };

_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "getgrouplist(3) writes numbers of this size");

/* Finds all groups of a user. */
static enum rr_idmap_status
directory_groups(const struct rr_env *env, const struct passwd *user, struct rr_idmap_found *found)
{
	for (int room = 64; room <= DIRECTORY_GROUPS; room *= 4) {
		int count = room;

		rr_free(env, found->groups);
		found->groups = rr_alloc_array(env, (size_t)room, sizeof(found->groups[0]));
		if (!found->groups)
			return RR_IDMAP_BUSY;
		if (getgrouplist(user->pw_name, user->pw_gid, found->groups, &count) >= 0) {
			found->group_count = (uint32_t)count;
			directory_sort(found);
			return RR_IDMAP_FOUND;
		}
	}
	return RR_IDMAP_BUSY;
}

/* Takes what the question asks for from the entry of a user. */
static enum rr_idmap_status
directory_take_user(const struct rr_env *env, enum rr_idmap_kind kind, const struct passwd *user,
	struct rr_idmap_found *found)
{
	if (user->pw_uid == UINT32_MAX || strlen(user->pw_name) > RR_IDMAP_NAME)
		return RR_IDMAP_NONE;
	found->number = user->pw_uid;
	found->gid = user->pw_gid;
	snprintf(found->name, sizeof(found->name), "%s", user->pw_name);
	if (kind == RR_IDMAP_ACCOUNT || kind == RR_IDMAP_GROUPS)
		return directory_groups(env, user, found);
	return RR_IDMAP_FOUND;
}

static enum rr_idmap_status
directory_take_group(const struct group *group, struct rr_idmap_found *found)
{
	if (group->gr_gid == UINT32_MAX || strlen(group->gr_name) > RR_IDMAP_NAME)
		return RR_IDMAP_NONE;
	found->number = group->gr_gid;
	snprintf(found->name, sizeof(found->name), "%s", group->gr_name);
	return RR_IDMAP_FOUND;
}

void
rr_idmap_system(
	const struct rr_env *env, const struct rr_idmap_question *question, struct rr_idmap_found *found)
{
	struct directory_entry entry = { .env = env };
	bool is_of_host = question->kind == RR_IDMAP_HOST || question->kind == RR_IDMAP_MEMBER;
	enum rr_helper_kind kind = is_of_host ? RR_HELPER_HOSTS : RR_HELPER_USERS;

	if (rr_helper_has(kind)) {
		rr_idmap_ask_helper(kind, env, question, found);
		return;
	}
	if (is_of_host) {
		rr_idmap_find_host(question, found);
		return;
	}
	if (question->kind == RR_IDMAP_DOMAIN) {
		rr_idmap_find_domain(found);
		return;
	}
	found->status = directory_find(question, &entry);
	if (found->status == RR_IDMAP_FOUND)
		found->status = question->kind == RR_IDMAP_GID || question->kind == RR_IDMAP_GROUP
					? directory_take_group(&entry.u.group, found)
					: directory_take_user(env, question->kind, &entry.u.user, found);
	rr_free(env, entry.memory);
	if (found->status == RR_IDMAP_FOUND)
		return;
	rr_free(env, found->groups);
	found->groups = NULL;
	found->group_count = 0;
}
