/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/auth/gss_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/confine/helper.h"
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

/* The helper's answer about a principal, whose groups stand behind. */
struct user_answer {
	uint32_t answered, known, uid, gid, group_count;
	uint32_t groups[RR_GSS_GROUPS];
};

/* Returns the octets of an answer with this number of groups. */
static size_t
user_answer_size(uint32_t group_count)
{
	return offsetof(struct user_answer, groups) + group_count * sizeof(uint32_t);
}

/* Has the helper find the user. */
static bool
user_ask(const char *principal, struct rr_gss_user *user)
{
	size_t length = strnlen(principal, RR_GSS_NAME_MAX);
	uint8_t question[1 + RR_GSS_NAME_MAX] = { RR_GSS_ASKED_USER };
	struct user_answer answer;
	ptrdiff_t size;

	memcpy(question + 1, principal, length);
	size = rr_helper_ask(RR_HELPER_KERBEROS, question, 1 + length, &answer, sizeof(answer));
	if (size < (ptrdiff_t)user_answer_size(0) || answer.group_count > RR_GSS_GROUPS ||
		(size_t)size != user_answer_size(answer.group_count) || !answer.answered)
		return false;
	if (answer.known && answer.group_count > 0) {
		user->groups = calloc(answer.group_count, sizeof(uint32_t));
		if (!user->groups)
			return false;
		memcpy(user->groups, answer.groups, answer.group_count * sizeof(uint32_t));
		user->group_count = answer.group_count;
	}
	user->known = answer.known;
	user->uid = answer.uid;
	user->gid = answer.gid;
	return true;
}

/* Answers which user the principal is, whose name has this many octets. */
static size_t
user_help(const void *name, size_t size, struct user_answer *answer)
{
	char principal[RR_GSS_NAME_MAX + 1] = "";
	struct rr_gss_user user;

	if (size > RR_GSS_NAME_MAX)
		return 0;
	memcpy(principal, name, size);
	answer->answered = rr_gss_user_find(principal, &user);
	answer->known = user.known;
	answer->uid = user.uid;
	answer->gid = user.gid;
	answer->group_count = user.group_count;
	if (user.group_count > 0)
		memcpy(answer->groups, user.groups, user.group_count * sizeof(uint32_t));
	rr_gss_user_free(&user);
	return user_answer_size(answer->group_count);
}

size_t
rr_gss_help(const void *ctx, const void *question, size_t size, void *answer)
{
	const uint8_t *asked = question;

	if (size == 0)
		return 0;
	return asked[0] == RR_GSS_ASKED_ACCEPT ? rr_gss_accept_help(ctx, asked + 1, size - 1, answer)
					       : user_help(asked + 1, size - 1, answer);
}

bool
rr_gss_user_find(const char *principal, struct rr_gss_user *user)
{
	char name[USER_NAME], *memory;
	struct passwd entry, *found = NULL;
	int error = ENOMEM;

	*user = (struct rr_gss_user){ 0 };
	if (rr_helper_has(RR_HELPER_KERBEROS))
		return user_ask(principal, user);
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
