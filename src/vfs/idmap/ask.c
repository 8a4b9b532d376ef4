/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions of a process in a sandbox, which cannot reach the directory, to its helper: the form of a
 * question and of its answer, whose groups stand behind it. Both ends are one program on one machine. Neither
 * believes what the other says of lengths. */
#include <stdlib.h>
#include <string.h>

#include "vfs/idmap/idmap_private.h"

struct ask_question {
	uint32_t kind, number;
	char name[RR_IDMAP_NAME + 1];
};

struct ask_answer {
	uint32_t status, number, gid, group_count;
	char name[RR_IDMAP_NAME + 1];
	uint32_t groups[RR_IDMAP_GROUPS_MAX];
};

_Static_assert(sizeof(struct ask_answer) <= RR_HELPER_MESSAGE, "an answer is one message");

/* Returns the octets of an answer with this number of groups. */
static size_t
ask_size(uint32_t group_count)
{
	return offsetof(struct ask_answer, groups) + group_count * sizeof(uint32_t);
}

/* Takes the answer, of this many octets. Returns false if it is none, or there is no memory for its groups.
 */
static bool
ask_take(const struct rr_env *env, const struct ask_answer *answer, size_t size, struct rr_idmap_found *found)
{
	if (size < ask_size(0) || answer->group_count > RR_IDMAP_GROUPS_MAX ||
		size != ask_size(answer->group_count) || answer->name[RR_IDMAP_NAME] != '\0')
		return false;
	if (answer->group_count > 0) {
		found->groups = rr_alloc_array(env, answer->group_count, sizeof(uint32_t));
		if (!found->groups)
			return false;
		memcpy(found->groups, answer->groups, answer->group_count * sizeof(uint32_t));
	}
	found->status = answer->status == RR_IDMAP_FOUND || answer->status == RR_IDMAP_NONE
				? (enum rr_idmap_status)answer->status
				: RR_IDMAP_BUSY;
	found->number = answer->number;
	found->gid = answer->gid;
	found->group_count = answer->group_count;
	memcpy(found->name, answer->name, sizeof(found->name));
	return true;
}

void
rr_idmap_ask_helper(enum rr_helper_kind kind, const struct rr_env *env,
	const struct rr_idmap_question *question, struct rr_idmap_found *found)
{
	struct ask_question asked = { .kind = question->kind, .number = question->number };
	struct ask_answer *answer = rr_alloc(env, sizeof(*answer));
	ptrdiff_t size;

	found->status = RR_IDMAP_BUSY;
	if (!answer)
		return;
	if (question->name.length > 0)
		memcpy(asked.name, question->name.data, question->name.length);
	size = rr_helper_ask(kind, &asked, sizeof(asked), answer, sizeof(*answer));
	if (size < 0 || !ask_take(env, answer, (size_t)size, found))
		found->status = RR_IDMAP_BUSY;
	rr_free(env, answer);
}

size_t
rr_idmap_help(const void *ctx, const void *question, size_t size, void *result)
{
	const struct ask_question *asked = question;
	struct ask_answer *answer = result;
	struct rr_idmap_found found = { .status = RR_IDMAP_BUSY };
	struct rr_idmap_question whole;

	(void)ctx;
	if (size != sizeof(*asked) || asked->kind > RR_IDMAP_MEMBER || asked->name[RR_IDMAP_NAME] != '\0')
		return 0;
	whole = (struct rr_idmap_question){
		.kind = asked->kind, .number = asked->number, .name = { asked->name, strlen(asked->name) }
	};
	rr_idmap_system(&rr_env_system, &whole, &found);
	*answer = (struct ask_answer){ .status = found.status,
		.number = found.number,
		.gid = found.gid,
		.group_count = found.group_count };
	memcpy(answer->name, found.name, sizeof(answer->name));
	if (found.group_count > 0)
		memcpy(answer->groups, found.groups, found.group_count * sizeof(uint32_t));
	rr_free(&rr_env_system, found.groups);
	return ask_size(answer->group_count);
}
