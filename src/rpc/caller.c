/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers: whether two of them are the same principal, and what is kept of a caller with its state. */
#include "rpc/caller.h"

#include <string.h>

bool
rr_caller_same_principal(const struct rr_caller *a, const struct rr_caller *b)
{
	if (a->flavor != b->flavor)
		return false;
	if (a->principal && b->principal)
		return strcmp(a->principal, b->principal) == 0;
	return !a->principal && !b->principal && a->named == b->named && a->uid == b->uid;
}

void
rr_caller_hash(const struct rr_caller *caller, struct rr_siphash *hash)
{
	const uint32_t words[] = { caller->flavor, caller->principal ? UINT32_MAX : caller->named,
		caller->principal ? (uint32_t)strlen(caller->principal) : caller->uid };

	rr_siphash_add(hash, words, sizeof(words));
	if (caller->principal)
		rr_siphash_add(hash, caller->principal, words[2]);
}

uint64_t
rr_caller_mark(const struct rr_caller *caller)
{
	uint64_t mark = ((uint64_t)caller->flavor << 32 | caller->uid) * 31;

	if (!caller->principal)
		return mark;
	/* FNV-1a */
	mark = UINT64_C(14695981039346656037) ^ caller->flavor;
	for (const char *at = caller->principal; *at; at++)
		mark = (mark ^ (uint8_t)*at) * UINT64_C(1099511628211);
	return mark;
}

bool
rr_caller_keep(const struct rr_env *env, const struct rr_caller *caller, struct rr_caller *kept)
{
	*kept = (struct rr_caller){ .flavor = caller->flavor, .named = caller->named, .uid = caller->uid };
	if (!caller->principal)
		return true;
	kept->principal = rr_strdup(env, caller->principal);
	return kept->principal;
}

void
rr_caller_drop(const struct rr_env *env, struct rr_caller *kept)
{
	rr_free(env, (void *)(uintptr_t)kept->principal);
	kept->principal = NULL;
}
