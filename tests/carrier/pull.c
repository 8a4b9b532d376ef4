/* SPDX-License-Identifier: BSD-3-Clause */
#include "pull.h"

#include "base/endian.h"
#include "wire/rpc.h"

struct call *
pull_ask_for(struct raw *raw, uint32_t xid, uint32_t reply_max)
{
	struct call *call = call_new(raw->world, xid, 40);

	call->transaction.reply_max = reply_max;
	call_start(raw->world, call);
	assert_int_equal(word(raw_next(raw), 0), xid);
	return call;
}

struct call *
pull_ask(struct raw *raw, uint32_t xid)
{
	return pull_ask_for(raw, xid, RPCRDMA_XDR_UNBOUNDED);
}

void
pull_answer_small(struct raw *raw, uint32_t xid)
{
	SEND(raw, xid, 2, 32, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 0, 0, 0, 0);
}

struct raw *
pull_begin_with(const struct rr_engine_config *config, uint32_t read_chunks, uint32_t invalidation)
{
	struct raw *raw = raw_responder(config);
	uint32_t xid;

	raw_introduced(raw, &xid);
	SEND(raw, xid, 2, 32, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, read_chunks, invalidation));
	world_until(raw->world, world_negotiated(raw->world->client).properties);
	world_settle(raw->world);
	return raw;
}

struct raw *
pull_begin(void)
{
	return pull_begin_with(NULL, 1, 1);
}

uint8_t *
pull_reply_to(struct raw *raw, uint32_t xid, uint32_t length)
{
	uint8_t *reply = world_memory(raw->world, length);

	fill(reply, length, xid);
	rr_put_be32(reply, xid);
	rr_put_be32(reply + 4, RR_REPLY);
	return reply;
}

struct rr_region
pull_expose(struct raw *raw, uint8_t *memory, uint32_t length)
{
	return raw_register(raw, memory, length, RR_REMOTE_READ);
}

struct rr_region
pull_expose_reply(struct raw *raw, uint32_t xid)
{
	return pull_expose(raw, pull_reply_to(raw, xid, PULL_LARGE), PULL_LARGE);
}

void
pull_answer_from(struct raw *raw, uint32_t xid, struct rr_region region)
{
	SEND(raw, xid, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0);
}

struct rr_region
pull_answer_large(struct raw *raw, uint32_t xid)
{
	struct rr_region region = pull_expose_reply(raw, xid);

	pull_answer_from(raw, xid, region);
	return region;
}

void
pull_assert_done(struct raw *raw, uint32_t xid, uint32_t handle)
{
	struct raw_message *message = raw_next(raw);

	assert_int_equal(message->length, RR_RDMA_FIXED_SIZE);
	assert_int_equal(word(message, 0), xid);
	assert_int_equal(word(message, 1), 2);
	assert_int_equal(word(message, 3), RR_RDMA_DONE);
	assert_int_equal(message->invalidated, handle != 0);
	assert_int_equal(message->handle, handle);
}

void
pull_assert_works(struct raw *raw, uint32_t xid)
{
	struct call *call = pull_ask_for(raw, xid, 100);

	pull_answer_small(raw, xid);
	call_answered(call);
	assert_false(raw->world->client_closed);
}
