/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include "../fence.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

static suite_fabric_new *provider;
static const struct suite_adapter *provider_adapter;
static bool on_ipv6;

void
world_provider(suite_fabric_new *make, const struct suite_adapter *adapter)
{
	provider = make;
	provider_adapter = adapter;
}

void
world_ipv6(void)
{
	on_ipv6 = true;
}

bool
world_is_adapter(void)
{
	return provider_adapter;
}

bool
world_checks_reads(void)
{
	return !provider_adapter || !provider_adapter->reads_are_unchecked;
}

/* An adapter reports a refused access to one side at most; the other side often only sees that the connection
 * ends. */
bool
world_tells_refusal(int status)
{
	if (!provider_adapter)
		return status == -RPCRDMA_ERR_ACCESS;
	return status == -RPCRDMA_ERR_ACCESS || status == -RPCRDMA_ERR_DISCONNECTED ||
	       status == -RPCRDMA_ERR_PEER;
}

static void
note_receive(struct side *side, const struct rr_event *event)
{
	struct world_receive *to = &side->received[side->receives++ % WORLD_LOG];

	free(side->keep_receives ? NULL : to->data);
	to->length = event->length;
	to->invalidated = event->invalidated;
	to->handle = event->invalidated_handle;
	to->data = event->data;
	assert_non_null(event->data);
	if (side->keep_receives)
		return;
	to->data = malloc(event->length + 1);
	assert_non_null(to->data);
	memcpy(to->data, event->data, event->length);
	rr_fabric_release(side->world->fabric, event->data);
}

/* Sends an octet as an answer, and notes whether earlier ones have left. */
static void
answer(struct side *side)
{
	uint64_t moved = rr_endpoint_moved(side->endpoint);

	if (side->receives == 1)
		side->moved_then = moved;
	if (!side->answered_before && moved != side->moved_then)
		side->answered_before = side->receives;
	assert_int_equal(side_send(side, "x", 1, 0), 0);
}

static void
handle(void *ctx, const struct rr_event *event)
{
	struct side *side = ctx;

	assert_false(side->disconnected);
	assert_non_null(side->endpoint);
	switch (event->kind) {
	case RR_EVENT_ESTABLISHED:
		assert_false(side->established);
		side->established = true;
		side->private_size = event->length;
		if (event->length)
			memcpy(side->private_data, event->data, event->length);
		break;
	case RR_EVENT_DISCONNECTED:
		side->disconnected = true;
		side->status = event->status;
		side->private_size = event->length;
		if (event->length)
			memcpy(side->private_data, event->data, event->length);
		assert_non_null(event->text);
		strncpy(side->text, event->text, sizeof(side->text) - 1);
		break;
	case RR_EVENT_COMPLETED:
		assert_true(side->established);
		side->completed[side->completions++ % WORLD_LOG] =
			(struct world_completion){ event->work, (uintptr_t)event->cookie, event->status };
		break;
	case RR_EVENT_RECEIVED:
		assert_true(side->established);
		note_receive(side, event);
		if (side->answers)
			answer(side);
		break;
	}
	if (side->closes && event->kind == side->close_on)
		side_close(side);
}

void
world_accept(struct world *world, struct side *side)
{
	side->endpoint = world->asking;
	world->asking = NULL;
	rr_endpoint_allow(side->endpoint, world->server_allows);
	assert_int_equal(
		rr_endpoint_accept(side->endpoint, handle, side, world->reply, world->reply_size), 0);
}

static void
asked(void *ctx, struct rr_endpoint *endpoint, const void *data, size_t size)
{
	struct world *world = ctx;

	world->requests++;
	world->request_size = (uint32_t)size;
	if (size)
		memcpy(world->request, data, size);
	world->asking = endpoint;
	if (world->answer == WORLD_ACCEPT)
		world_accept(world, &world->server);
	if (world->answer == WORLD_REJECT) {
		rr_endpoint_reject(endpoint, world->reply, world->reply_size);
		world->asking = NULL;
	}
}

struct world *
world_new(const struct rr_fabric_config *config)
{
	struct sockaddr_in loopback = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 loopback6 = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	struct sockaddr_storage any = { 0 };
	struct world *world = calloc(1, sizeof(*world));
	struct rr_text text;

	assert_non_null(world);
	memcpy(&any, &loopback, sizeof(loopback));
	if (on_ipv6)
		memcpy(&any, &loopback6, sizeof(loopback6));
	if (provider_adapter)
		any = provider_adapter->address;
	world->client.world = world->server.world = world;
	world->client_allows = world->server_allows = WORLD_LOG;
	stage_init(&world->stage);
	world->stage.runs = true;
	stage_loop(&world->stage);
	assert_int_equal(provider(world->stage.loop, config, &world->fabric), 0);
	assert_int_equal(rr_fabric_listen(world->fabric,
				 &(struct rr_listen){ (void *)&any, sizeof(any), asked, world },
				 &world->listener, &text),
		0);
	assert_int_equal(rr_listener_address(world->listener, &world->address), 0);
	return world;
}

int
world_setup(void **state)
{
	*state = world_new(&rr_fabric_config_default);
	return 0;
}

void
side_free(struct side *side)
{
	for (uint32_t i = 0; i < WORLD_LOG && !side->keep_receives; i++)
		free(side->received[i].data);
	side_close(side);
}

void
world_free(struct world *world)
{
	side_free(&world->client);
	side_free(&world->server);
	if (world->asking)
		rr_endpoint_reject(world->asking, NULL, 0);
	if (world->listener)
		rr_fabric_unlisten(world->listener);
	rr_fabric_destroy(world->fabric);
	stage_end(&world->stage);
	free(world);
}

int
world_teardown(void **state)
{
	world_free(*state);
	return 0;
}

void
world_turn(struct world *world)
{
	assert_true(rr_loop_turn(world->stage.loop, 10 * (int64_t)RR_MILLISECOND) >= 0);
}

void
world_settle(struct world *world)
{
	settle_turns(rr_loop_turn(world->stage.loop, RR_MILLISECOND));
}

void
world_dial(struct world *world, struct side *side, const void *data, uint32_t size)
{
	struct rr_text text;

	assert_int_equal(rr_fabric_connect(world->fabric,
				 &(struct rr_connect){ (void *)&world->address, sizeof(world->address), data,
					 size, handle, side },
				 &side->endpoint, &text),
		0);
	rr_endpoint_allow(side->endpoint, world->client_allows);
}

void
world_connect(struct world *world)
{
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->client.established && world->server.established);
}

int
side_post(struct side *side, enum rr_work_kind kind, const void *data, uint32_t length, uint32_t remote,
	uint64_t offset, uintptr_t cookie)
{
	struct rr_sge sge = { data, length };
	struct rr_work work = { .kind = kind,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = remote,
		.remote_offset = offset,
		.cookie = (void *)cookie };

	return rr_endpoint_post(side->endpoint, &work);
}

int
side_send(struct side *side, const void *data, uint32_t length, uintptr_t cookie)
{
	return side_post(side, RR_WORK_SEND, data, length, 0, 0, cookie);
}

void
side_close(struct side *side)
{
	if (side->endpoint)
		rr_endpoint_close(side->endpoint);
	side->endpoint = NULL;
}

uint8_t *
filled(size_t size, unsigned seed)
{
	uint8_t *memory = malloc(size + 1);
	uint32_t x = seed * 2654435761u + 1;

	assert_non_null(memory);
	for (size_t i = 0; i < size; i++) {
		x = x * 1664525 + 1013904223;
		memory[i] = (uint8_t)(x >> 24);
	}
	return memory;
}
