/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_CREDITS_H
#define RR_CARRIER_RDMA_CORE_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A requester's account of credits (RFC 8166, section 3.3.1). A credit is
 * used from the moment a call is posted until a message answers it, be that a
 * reply, an error, or a reply to a call that was cancelled meanwhile.
 */
struct rr_credits {
	uint32_t asked; /* what our calls request; above 0 */
	uint32_t limit; /* what may be used now: 1 to asked */
	uint32_t used;
	uint32_t min, max; /* of what was granted; 0 before the first grant */
};

/* The state of a fresh connection. */
void rr_credits_init(struct rr_credits *credits, uint32_t asked);

/* Takes one; false where there is none to be had. */
bool rr_credits_take(struct rr_credits *credits);

/* One was answered, or its call was never sent. */
void rr_credits_return(struct rr_credits *credits);

/* What a valid reply granted. */
void rr_credits_grant(struct rr_credits *credits, uint32_t granted);

/* What a responder that has posted `posted` Receives grants to one that asked for `asked`. */
uint32_t rr_credits_to_grant(uint32_t posted, uint32_t asked);

/*
 * How many calls a responder lets come that has posted `posted` Receives, when `used` of the `max` octets of
 * payload memory that calls may take are out: all up to the half of it, then fewer and fewer, never 0.
 */
uint32_t rr_credits_affordable(uint32_t posted, uint64_t used, uint64_t max);

#endif
