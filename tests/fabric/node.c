/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/checked.h"
#include "base/crc32c.h"

static uint32_t
next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void
fill(void *ctx, void *data, size_t size)
{
	struct node *node = ctx;

	for (size_t i = 0; i < size; i++)
		((uint8_t *)data)[i] = (uint8_t)next(&node->seed);
}

static void *
allocate(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size)
		return realloc(old, size);
	free(old);
	return NULL;
}

static const char *const kinds[] = { "established", "disconnected", "completed", "received" };

static void
note(void *ctx, const struct rr_event *event)
{
	struct node *node = ctx;
	uint32_t sum = event->length ? rr_crc32c(0, event->data, event->length) : 0;

	node->log_size += (size_t)snprintf(node->log + node->log_size, NODE_LOG - node->log_size,
		"%s %d %lu, %u octets %08x, invalidated %d %08x\n", kinds[event->kind], event->status,
		(unsigned long)(uintptr_t)event->cookie, event->length, sum, event->invalidated,
		event->invalidated_handle);
	assert_true(node->log_size < NODE_LOG);
	if (node->then)
		node->then(node, event);
	if (event->kind == RR_EVENT_RECEIVED && node->keeps)
		node->kept[node->kept_count++ % 16] = event->data;
	else if (event->kind == RR_EVENT_RECEIVED)
		rr_receives_put(&node->shared.receives, event->data);
}

static void
wake(struct rr_receive_wait *wait)
{
	(void)wait;
}

struct node *
node_new(const struct rr_fabric_config *config)
{
	/* The offset of a region, which the peer gets, depends on the region's place within the page. */
	struct node *node = aligned_alloc(NODE_ALIGNMENT, sizeof(*node));

	assert_non_null(node);
	memset(node, 0, sizeof(*node));
	node->env = (struct rr_env){ .realloc = allocate, .random = fill, .ctx = node };
	node->config = *config;
	node->shared.env = &node->env;
	node->shared.config = &node->config;
	assert_int_equal(rr_iwarp_shared_init(&node->shared), 0);
	node->iwarp.base.handler = note;
	node->iwarp.base.ctx = node;
	snprintf(node->iwarp.base.peer, sizeof(node->iwarp.base.peer), "192.0.2.1:20049");
	rr_iwarp_init(&node->iwarp, &node->shared);
	node->iwarp.wait.wake = wake;
	node->iwarp.allowed = 100;
	node->out = malloc(NODE_STREAM);
	assert_non_null(node->out);
	return node;
}

void
node_free(struct node *node)
{
	rr_iwarp_release(&node->iwarp);
	rr_iwarp_shared_destroy(&node->shared);
	free(node->out);
	free(node);
}

void
node_collect(struct node *node)
{
	const struct iovec *vectors;
	uint32_t count;

	while ((count = rr_iwarp_output(&node->iwarp, &vectors))) {
		size_t budget = node->take ? node->take : SIZE_MAX, taken = 0;

		for (uint32_t i = 0; i < count && budget; i++) {
			size_t part = rr_min(vectors[i].iov_len, budget);

			assert_true(node->out_size + part <= NODE_STREAM);
			memcpy(node->out + node->out_size, vectors[i].iov_base, part);
			node->out_size += part;
			taken += part;
			budget -= part;
		}
		rr_iwarp_taken(&node->iwarp, taken);
	}
}

void
node_clear(struct node *node)
{
	node->out_size = 0;
}

/* Copies up to size octets into the vectors of the iWARP connection; returns how many. */
static size_t
scatter(const struct iovec *vectors, int count, const uint8_t *data, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < count && used < size; i++) {
		size_t part = rr_min(vectors[i].iov_len, size - used);

		memcpy(vectors[i].iov_base, data + used, part);
		used += part;
	}
	return used;
}

size_t
node_feed(struct node *node, const uint8_t *data, size_t size, size_t step, uint32_t *seed)
{
	size_t used = 0;

	while (used < size) {
		size_t part = step ? step : next(seed) % 2 ? 1 + next(seed) % 30 : 1 + next(seed) % 20000;
		struct iovec vectors[2];
		int count;

		rr_iwarp_resume(&node->iwarp);
		count = rr_iwarp_space(&node->iwarp, vectors);
		if (!count)
			break;
		part = scatter(vectors, count, data + used, rr_min(part, size - used));
		rr_iwarp_received(&node->iwarp, part);
		used += part;
		node_collect(node);
	}
	return used;
}

void
node_exchange(struct node *one, struct node *other)
{
	do {
		node_collect(one);
		node_feed(other, one->out, one->out_size, NODE_STREAM, NULL);
		node_clear(one);
		node_collect(other);
		node_feed(one, other->out, other->out_size, NODE_STREAM, NULL);
		node_clear(other);
		node_collect(one);
	} while (one->out_size);
}

void
node_connect(struct node *initiator, struct node *responder)
{
	assert_int_equal(rr_iwarp_initiate(&initiator->iwarp, "ask", 3), 0);
	assert_int_equal(rr_iwarp_respond(&responder->iwarp), 0);
	node_exchange(initiator, responder);
	assert_int_equal(responder->iwarp.state, RR_IWARP_ASKED);
	assert_int_equal(rr_iwarp_accept(&responder->iwarp, "answer", 6), 0);
	node_exchange(initiator, responder);
	assert_int_equal(initiator->iwarp.state, RR_IWARP_OPEN);
	assert_int_equal(responder->iwarp.state, RR_IWARP_OPEN);
}

int
node_post(struct node *node, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t remote,
	uint64_t offset, uintptr_t cookie)
{
	struct rr_sge sge = { data, length };
	struct rr_work work = { .kind = kind,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = remote,
		.remote_offset = offset,
		.cookie = (void *)cookie };

	return rr_iwarp_post(&node->iwarp, &work);
}

struct rr_region
node_register(struct node *node, uint32_t at, uint32_t length, unsigned access)
{
	struct rr_region region;

	assert_true(at + length <= NODE_MEMORY);
	assert_int_equal(rr_regions_add(&node->iwarp.regions, node->memory + at, length, access, &region), 0);
	return region;
}

int
node_terminate_cause(const struct node *node)
{
	size_t at = 0, last = 0;
	struct rr_terminate terminate;
	struct rr_ddp_header header;

	while (at + 2 <= node->out_size) {
		last = at;
		at += rr_fpdu_size(rr_get_be16(node->out + at));
	}
	assert_int_equal(at, node->out_size);
	if (!at || rr_ddp_get(node->out + last + 2, at - last - 2, &header) != RR_DDP_OK ||
		header.opcode != RR_RDMAP_TERMINATE)
		return -1;
	assert_true(rr_terminate_get(node->out + last + 20, rr_get_be16(node->out + last) - 18u, &terminate));
	return terminate.cause;
}
