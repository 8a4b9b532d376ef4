/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/owners.h"

#include <string.h>
#include <strings.h>

#include "vfs/idmap/names.h"

/* Asks the directory of users. RFC 8881, 5.9, of names without '@': "the receiver of the attribute should not
 * use that string as a basis for translation into its own internal format". */
static uint32_t
owners_ask(struct rr_owners *owners, const char *name, bool is_group)
{
	struct rr_idmap_question question = { .kind = is_group ? RR_IDMAP_GID : RR_IDMAP_UID };
	char user[RPCRDMA_NFS_OWNER_MAX + 1];
	struct rr_idmap_found found = { .status = RR_IDMAP_NONE };
	const char *at = strrchr(name, '@');

	if (!owners->domain[0] && !owners->asked)
		rr_idmap_domain(owners->domain);
	owners->asked = true;
	if (!at || !owners->domain[0] || strcasecmp(at + 1, owners->domain) != 0)
		return RR_OWNERS_NOBODY;
	question.name = (struct rpcrdma_bytes){ user, (uint32_t)(at - name) };
	memcpy(user, name, question.name.length);
	user[question.name.length] = '\0';
	rr_idmap_system(&rr_env_system, &question, &found);
	return found.status == RR_IDMAP_FOUND ? found.number : RR_OWNERS_NOBODY;
}

/* Returns the place of the name in the memory. */
static uint32_t
owners_slot(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % RR_OWNERS_MEMORY;
}

uint32_t
rr_owners_number(struct rr_owners *owners, const char *name, bool is_group)
{
	uint32_t slot = owners_slot(name);

	if (strcmp(owners->memory[slot].name, name) != 0 || owners->memory[slot].is_group != is_group) {
		owners->memory[slot].number = owners_ask(owners, name, is_group);
		owners->memory[slot].is_group = is_group;
		strncpy(owners->memory[slot].name, name, RPCRDMA_NFS_OWNER_MAX);
	}
	return owners->memory[slot].number;
}
