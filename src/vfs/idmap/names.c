/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/idmap/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "vfs/idmap/idmap_private.h"

/* RFC 8881, 5.9: "owner and group strings that consist of decimal numeric values with no leading zeros can be
 * given a special interpretation". A text with other characters, or that is too large, is no number. */
bool
rr_idmap_is_number(struct rpcrdma_bytes owner, uint32_t *number)
{
	const char *digits = owner.data;
	uint64_t value = 0;

	if (owner.length == 0 || (owner.length > 1 && digits[0] == '0'))
		return false;
	for (uint32_t i = 0; i < owner.length; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(digits[i] - '0');
		if (value >= UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

/* Finds the domain, which is that of the configuration, or that of this machine. */
static enum rr_idmap_status
names_domain(const struct rr_idmap_asking *asking, char domain[RR_IDMAP_NAME + 1])
{
	const struct rr_idmap_question question = { .kind = RR_IDMAP_DOMAIN, .host = asking->host };
	struct rr_idmap_answer answer;
	enum rr_idmap_status status;

	if (asking->idmap->domain[0]) {
		strcpy(domain, asking->idmap->domain);
		return RR_IDMAP_FOUND;
	}
	status = rr_idmap_ask(asking->idmap, &question, asking->waiter, &answer);
	if (status == RR_IDMAP_FOUND)
		snprintf(domain, RR_IDMAP_NAME + 1, "%.*s", (int)answer.name.length,
			(const char *)answer.name.data);
	return status;
}

/* Returns the place of the last '@' in the text, or NULL. */
static const char *
names_at(struct rpcrdma_bytes owner)
{
	const char *text = owner.data;

	for (uint32_t i = owner.length; i > 0; i--)
		if (text[i - 1] == '@')
			return &text[i - 1];
	return NULL;
}

enum rr_idmap_status
rr_idmap_number(
	const struct rr_idmap_asking *asking, struct rpcrdma_bytes owner, bool group, uint32_t *number)
{
	struct rr_idmap_question question = { .kind = group ? RR_IDMAP_GID : RR_IDMAP_UID,
		.host = asking->host };
	const char *at = names_at(owner);
	char domain[RR_IDMAP_NAME + 1];
	struct rr_idmap_answer answer;
	enum rr_idmap_status status;
	uint32_t rest;

	if (rr_idmap_is_number(owner, number))
		return RR_IDMAP_FOUND;
	if (asking->number)
		return asking->number(asking->ctx, owner, group, number);
	/* RFC 8881, 5.9, of a name without '@': "the receiver of the attribute should not use that string as
	 * a basis for translation into its own internal format." */
	if (!asking->idmap || !at || at == owner.data)
		return RR_IDMAP_NONE;
	status = names_domain(asking, domain);
	if (status != RR_IDMAP_FOUND)
		return status;
	rest = owner.length - (uint32_t)(at + 1 - (const char *)owner.data);
	if (strlen(domain) != rest || strncasecmp(at + 1, domain, rest) != 0)
		return RR_IDMAP_NONE;
	question.name = (struct rpcrdma_bytes){ owner.data, owner.length - rest - 1 };
	status = rr_idmap_ask(asking->idmap, &question, asking->waiter, &answer);
	if (status == RR_IDMAP_FOUND)
		*number = answer.number;
	return status;
}

enum rr_idmap_status
rr_idmap_owner(
	const struct rr_idmap_asking *asking, uint32_t number, bool group, char owner[RR_IDMAP_OWNER + 1])
{
	const struct rr_idmap_question question = {
		.kind = group ? RR_IDMAP_GROUP : RR_IDMAP_USER, .number = number, .host = asking->host
	};
	char domain[RR_IDMAP_NAME + 1];
	struct rr_idmap_answer answer;
	enum rr_idmap_status status;

	if (!asking->idmap)
		return RR_IDMAP_NONE;
	status = names_domain(asking, domain);
	if (status == RR_IDMAP_FOUND)
		status = rr_idmap_ask(asking->idmap, &question, asking->waiter, &answer);
	if (status == RR_IDMAP_FOUND)
		snprintf(owner, RR_IDMAP_OWNER + 1, "%.*s@%s", (int)answer.name.length,
			(const char *)answer.name.data, domain);
	return status;
}
