/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_CREDITS_H
#define RR_CARRIER_RDMA_CORE_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

/* A requester's account of credits (RFC 8166, section 3.3.1). A credit is used from the moment a call is
 * posted until a message answers it, be that a reply, an error, or a reply to a call that was cancelled
 * meanwhile. */
struct rr_credits {
	uint32_t asked; /* that each call requests; above 0 */
	uint32_t limit; /* that may be used now: 1 to asked */
	uint32_t used;
	uint32_t min, max; /* that were ever granted; 0 before the first grant */
};

/* Sets the account to the state of a fresh connection. */
void rr_credits_init(struct rr_credits *credits, uint32_t asked);

/* Takes a credit. Returns false if there is no free credit. */
bool rr_credits_take(struct rr_credits *credits);

/* Returns the credit of a call that was answered, or never sent. */
void rr_credits_return(struct rr_credits *credits);

/* Sets how many credits may be used to the number that a valid reply granted. */
void rr_credits_grant(struct rr_credits *credits, uint32_t granted);

/* Returns how many credits a responder that has posted `posted` Receives grants to a requester that asked
 * for `asked` credits: no more than either number, but at least 1 also if `asked` is 0, as a requester
 * without a credit could never call again. */
uint32_t rr_credits_to_grant(uint32_t posted, uint32_t asked);

/* Returns how many calls a responder that has posted `posted` Receives lets its peer send. Calls hold `used`
 * octets of payload memory, of at most max. While used is at most half of max, the result is `posted`; then
 * it gets smaller and smaller, but never 0. */
uint32_t rr_credits_affordable(uint32_t posted, uint64_t used, uint64_t max);

#endif
