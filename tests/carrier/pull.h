/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_PULL_H
#define RR_TESTS_TRANSPORT_PULL_H

#include "raw.h"

/* A raw responder that exposes its replies in Read chunks for the world's client to pull. */

enum { PULL_LARGE = 9004 }; /* no multiple of eight */

/* Its client has settled on version 2, and both sides have told their properties. */
struct raw *pull_begin_with(
	const struct rr_engine_config *config, uint32_t read_chunks, uint32_t invalidation);
struct raw *pull_begin(void);

/* A call whose reply may have so many octets (without bound), as it arrives at the raw responder. */
struct call *pull_ask_for(struct raw *raw, uint32_t xid, uint32_t reply_max);
struct call *pull_ask(struct raw *raw, uint32_t xid);

void pull_answer_small(struct raw *raw, uint32_t xid);

/* Memory that holds a reply to xid; memory that may be read; a reply of PULL_LARGE octets that may. */
uint8_t *pull_reply_to(struct raw *raw, uint32_t xid, uint32_t length);
struct rr_region pull_expose(struct raw *raw, uint8_t *memory, uint32_t length);
struct rr_region pull_expose_reply(struct raw *raw, uint32_t xid);

/* The answer to xid is to be read from there; from a reply that is exposed for it. */
void pull_answer_from(struct raw *raw, uint32_t xid, struct rr_region region);
struct rr_region pull_answer_large(struct raw *raw, uint32_t xid);

/* The next message is an RDMA_DONE for xid, which invalidates handle (0: nothing). */
void pull_assert_done(struct raw *raw, uint32_t xid, uint32_t handle);

/* The connection is as good as before. */
void pull_assert_works(struct raw *raw, uint32_t xid);

#endif
