/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_TRANSPORT_PULL_H
#define RR_TESTS_TRANSPORT_PULL_H

#include "raw.h"

/* A raw responder that exposes its replies in Read chunks for the world's client to pull. */

enum { PULL_LARGE = 9004 }; /* no multiple of eight */

/* Begin with a client that has settled on version 2, after both sides have announced their properties. */
struct raw *pull_begin_with(
	const struct rr_engine_config *config, uint32_t read_chunks, uint32_t invalidation);
struct raw *pull_begin(void);

/* Start a call whose reply may have so many octets (pull_ask(): any number), and return when it arrived at
 * the raw responder. */
struct call *pull_ask_for(struct raw *raw, uint32_t xid, uint32_t reply_max);
struct call *pull_ask(struct raw *raw, uint32_t xid);

void pull_answer_small(struct raw *raw, uint32_t xid);

/* Make a reply to xid in memory; expose memory to be read; make and expose a reply of PULL_LARGE octets. */
uint8_t *pull_reply_to(struct raw *raw, uint32_t xid, uint32_t length);
struct rr_region pull_expose(struct raw *raw, uint8_t *memory, uint32_t length);
struct rr_region pull_expose_reply(struct raw *raw, uint32_t xid);

/* Send the answer to xid, with the Read chunk that is to be read; with a reply that is exposed for it. */
void pull_answer_from(struct raw *raw, uint32_t xid, struct rr_region region);
struct rr_region pull_answer_large(struct raw *raw, uint32_t xid);

/* Checks that the next message is an RDMA_DONE for xid, which invalidates handle (0: no handle). */
void pull_assert_done(struct raw *raw, uint32_t xid, uint32_t handle);

/* Checks that a call on the connection is still answered. */
void pull_assert_works(struct raw *raw, uint32_t xid);

#endif
