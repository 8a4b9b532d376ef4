/* SPDX-License-Identifier: BSD-3-Clause */
/* The credits of a requester, and how many credits a responder grants: credits.h. */
#include "carrier/rdma/core/credits.h"

#include "base/checked.h"

void
rr_credits_init(struct rr_credits *credits, uint32_t asked)
{
	/* RFC 8166, 3.3.3: "a Requester MUST NOT assume more than one credit is available and MUST receive a
	 * valid reply from the Responder carrying the actual number of available credits" */
	*credits = (struct rr_credits){ .asked = asked, .limit = 1 };
}

bool
rr_credits_take(struct rr_credits *credits)
{
	/* RFC 8166, 3.3.1: "A Requester MUST NOT send unacknowledged requests in excess of the Responder's
	 * granted credit limit." The limit may have fallen below what is used. */
	if (credits->used >= credits->limit)
		return false;
	credits->used++;
	return true;
}

void
rr_credits_return(struct rr_credits *credits)
{
	credits->used--;
}

void
rr_credits_grant(struct rr_credits *credits, uint32_t granted)
{
	/* RFC 8166, 3.3.1: "The granted value MUST NOT be zero, since such a value would result in deadlock."
	 * A grant of 0 is taken as 1. */
	if (granted == 0)
		granted = 1;
	credits->limit = (uint32_t)rr_min(granted, credits->asked);
	if (credits->min == 0 || credits->limit < credits->min)
		credits->min = credits->limit;
	if (credits->limit > credits->max)
		credits->max = credits->limit;
}

uint32_t
rr_credits_affordable(uint32_t posted, uint64_t used, uint64_t max)
{
	uint64_t half = max / 2, left = used < max ? max - used : 0;

	if (left >= half)
		return posted;
	/* RFC 8166, 3.3.1: "a Responder may reduce the granted credit value to accommodate the available
	 * resources", but "The granted value MUST NOT be zero, since such a value would result in
	 * deadlock." */
	return posted * left / half > 0 ? (uint32_t)(posted * left / half) : 1;
}

uint32_t
rr_credits_to_grant(uint32_t posted, uint32_t asked)
{
	return asked == 0 ? 1 : (uint32_t)rr_min(posted, asked);
}
