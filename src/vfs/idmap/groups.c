/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/idmap/groups.h"

#include <string.h>

/* Takes memory for the groups from the end of the request's arena. */
static uint32_t *
groups_memory(struct rpcrdma_request *request, uint32_t count)
{
	struct rpcrdma_arena *arena = &request->arena;
	size_t size = count * sizeof(uint32_t), skip = (uintptr_t)arena->end % _Alignof(uint32_t);

	if ((size_t)(arena->end - arena->next) < size + skip)
		return NULL;
	arena->end -= size + skip;
	return (uint32_t *)(void *)arena->end;
}

enum rr_idmap_status
rr_idmap_groups(struct rr_idmap *idmap, struct rpcrdma_request *request, struct rr_idmap_waiter *waiter)
{
	struct rr_caller *caller = &request->caller;
	const struct rr_idmap_question question = { .kind = RR_IDMAP_GROUPS,
		.number = caller->uid,
		.host = request->party ? rr_party_host(request->party) : 0 };
	struct rr_idmap_answer answer = { 0 };
	enum rr_idmap_status status;
	uint32_t *groups;

	if (!rr_idmap_manages_gids(idmap) || caller->flavor != RR_AUTH_SYS || !caller->named)
		return RR_IDMAP_FOUND;
	/* Root needs no groups where it is root, and must bring none along where it is squashed. */
	status = caller->uid == 0 ? RR_IDMAP_NONE : rr_idmap_ask(idmap, &question, waiter, &answer);
	if (status == RR_IDMAP_WAIT || status == RR_IDMAP_BUSY)
		return status;
	caller->group_count = 0;
	groups = groups_memory(request, answer.group_count);
	if (!groups)
		return RR_IDMAP_BUSY;
	if (answer.group_count > 0)
		memcpy(groups, answer.groups, answer.group_count * sizeof(groups[0]));
	caller->groups = groups;
	caller->group_count = answer.group_count;
	return RR_IDMAP_FOUND;
}
