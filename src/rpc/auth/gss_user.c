/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/auth/gss_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/gss/gss.h"

enum { USER_NAME = 256, USER_ENTRY = 16384 };

static int
user_compare(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* Stores the groups of the user of that name. Where there are too many, or no memory, the user has fewer:
 * that only takes rights away. */
static void
user_find_groups(const char *name, struct rr_gss_user *user)
{
	int count = RR_GSS_GROUPS;
	gid_t *groups = calloc(RR_GSS_GROUPS, sizeof(*groups));

	_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are numbers of 32 bits");
	if (!groups)
		return;
	if (getgrouplist(name, user->gid, groups, &count) < 0)
		count = RR_GSS_GROUPS;
	for (int i = 0; i < count; i++)
		if (groups[i] != UINT32_MAX)
			groups[user->group_count++] = groups[i];
	qsort(groups, user->group_count, sizeof(*groups), user_compare);
	user->groups = realloc(groups, (user->group_count + 1) * sizeof(*groups));
	if (!user->groups)
		user->groups = groups;
}

/* getpwnam_r(3): "The given name or uid was not found", in the errors that there are for that beside none. */
static bool
user_is_none(int error)
{
	return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

bool
rr_gss_user_find(const char *principal, struct rr_gss_user *user)
{
	char name[USER_NAME], *memory;
	struct passwd entry, *found = NULL;
	int error = ENOMEM;

	*user = (struct rr_gss_user){ 0 };
	if (!rr_gss_local_name(principal, name, sizeof(name)))
		return true;
	memory = malloc(USER_ENTRY);
	if (memory)
		error = getpwnam_r(name, &entry, memory, USER_ENTRY, &found);
	if (error == 0 && found) {
		user->known = true;
		user->uid = found->pw_uid;
		user->gid = found->pw_gid;
		user_find_groups(name, user);
	}
	free(memory);
	return user_is_none(error);
}

void
rr_gss_user_free(struct rr_gss_user *user)
{
	free(user->groups);
	*user = (struct rr_gss_user){ 0 };
}
