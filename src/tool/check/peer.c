/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "tool/check/chunk.h"

/* The connection of a test case, its messages, and its memory. */

#define CHECK_KICK (500 * RR_MILLISECOND) /* the time between two empty frames: peer_wait() */

/* ---- Events ---- */

/* Appends a copy of the received message to the queue from which rr_check_receive() takes messages, and gives
 * the buffer of the message back to the provider. The message is dropped if RR_CHECK_QUEUE messages wait
 * already, or there is no memory. */
static void
peer_received(struct rr_check_peer *peer, const struct rr_event *event)
{
	struct rr_check_message *message =
		peer->message_count < RR_CHECK_QUEUE ? malloc(sizeof(*message) + event->length) : NULL;

	if (message) {
		*message = (struct rr_check_message){ .invalidated = event->invalidated,
			.handle = event->invalidated_handle,
			.length = event->length };
		memcpy(message->data, event->data, event->length);
		*peer->last = message;
		peer->last = &message->next;
		peer->message_count++;
	}
	rr_fabric_release(peer->check->fabric, event->data);
	rr_endpoint_allow(peer->endpoint, 1);
}

/* Notes that the connection is established, and what the responder's private data announces: the sizes of its
 * messages, and whether it supports remote invalidation. */
static void
peer_established(struct rr_check_peer *peer, const struct rr_event *event)
{
	struct rr_private_data data;

	peer->established = true;
	peer->has_private_data = rr_private_data_get(event->data, event->length, &data);
	peer->send_size = data.send_size;
	peer->receive_size = data.receive_size;
	peer->invalidates = data.remote_invalidation;
}

/* Handles an event of the connection of a test case: it was established, it ended, a work request has
 * completed, or a message came. */
static void
peer_event(void *ctx, const struct rr_event *event)
{
	struct rr_check_peer *peer = ctx;

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED: peer_established(peer, event); return;
	case RR_EVENT_DISCONNECTED:
		peer->disconnected = true;
		peer->status = event->status;
		rr_fail(&peer->why, 0, "%s", event->text ? event->text : "the connection ended");
		return;
	case RR_EVENT_COMPLETED:
		peer->completions++;
		peer->status = event->status ? event->status : peer->status;
		return;
	case RR_EVENT_RECEIVED: peer_received(peer, event); return;
	}
}

/* ---- Waiting ---- */

/* The timer of peer_wait() has run out. This function does nothing: the event loop has turned, and
 * peer_wait() looks at the time. */
static void
peer_expired(struct rr_timer *timer)
{
	(void)timer;
}

/* Runs the event loop until done() is true, the connection ends, a signal comes, or the timeout is over.
 * Returns whether done() is true at the end. Sends an empty frame from time to time: the Linux driver siw may
 * leave the first message unread if it came while siw accepted the connection, and the frame makes siw
 * read. */
static bool
peer_wait(struct rr_check_peer *peer, bool (*done)(const struct rr_check_peer *peer))
{
	struct rr_loop *loop = peer->check->engine->loop;
	uint64_t end = rr_now(&rr_env_system) + peer->check->timeout * RR_SECOND;
	struct rr_timer timer;

	rr_timer_init(&timer, peer_expired);
	while (!done(peer) && !peer->disconnected && !rr_tool_interrupted(NULL) &&
		rr_now(&rr_env_system) < end) {
		if (!rr_timer_armed(&timer)) {
			rr_loop_arm(loop, &timer, CHECK_KICK);
			if (peer->established)
				rr_endpoint_kick(peer->endpoint);
		}
		if (rr_loop_turn(loop, -1) < 0)
			break;
	}
	rr_loop_disarm(loop, &timer);
	return done(peer);
}

/* The functions that follow are conditions that peer_wait() waits for. */

static bool
peer_is_established(const struct rr_check_peer *peer)
{
	return peer->established;
}

static bool
peer_has_message(const struct rr_check_peer *peer)
{
	return peer->messages;
}

static bool
peer_has_completed(const struct rr_check_peer *peer)
{
	return peer->completions > 0;
}

/* ---- The connection ---- */

int
rr_check_connect(struct rr_check_peer *peer, const void *private_data, size_t size)
{
	struct rr_private_data own = { 4096, 4096, true };
	uint8_t octets[RR_PRIVATE_DATA_SIZE];
	struct rr_check *check = peer->check;
	int error;

	rr_private_data_put(octets, &own);
	peer->last = &peer->messages;
	error = rr_fabric_connect(check->fabric,
		&(struct rr_connect){ (const struct sockaddr *)&check->address,
			rr_address_size(&check->address), private_data ? private_data : octets,
			private_data ? size : sizeof(octets), peer_event, peer },
		&peer->endpoint, &peer->why);
	if (error)
		return error;
	rr_endpoint_allow(peer->endpoint, RR_CHECK_QUEUE);
	if (peer_wait(peer, peer_is_established))
		return 0;
	if (!peer->disconnected)
		return rr_fail(&peer->why, -RPCRDMA_ERR_TIMEDOUT,
			"the connection was not established within %u s", peer->check->timeout);
	return peer->status ? peer->status : -RPCRDMA_ERR_DISCONNECTED;
}

void
rr_check_close(struct rr_check_peer *peer)
{
	if (peer->endpoint)
		rr_endpoint_close(peer->endpoint);
	while (peer->messages) {
		struct rr_check_message *next = peer->messages->next;

		free(peer->messages);
		peer->messages = next;
	}
	free(peer->called);
	while (peer->memory) {
		struct rr_check_memory *next = peer->memory->next;

		free(peer->memory);
		peer->memory = next;
	}
	*peer = (struct rr_check_peer){ .check = peer->check, .version = peer->version };
}

void *
rr_check_keep(struct rr_check_peer *peer, size_t size)
{
	struct rr_check_memory *memory = calloc(1, sizeof(*memory) + size);

	if (!memory)
		return NULL;
	memory->next = peer->memory;
	peer->memory = memory;
	return memory->data;
}

int
rr_check_send(struct rr_check_peer *peer, const void *data, uint32_t size, uint32_t invalidate)
{
	void *copy = rr_check_keep(peer, size);
	const struct rr_sge sge = { copy, size };
	const struct rr_work work = { .kind = invalidate ? RR_WORK_SEND_INVALIDATE : RR_WORK_SEND,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = invalidate };

	if (!copy)
		return -RPCRDMA_ERR_NOMEM;
	memcpy(copy, data, size);
	return rr_endpoint_post(peer->endpoint, &work);
}

struct rr_check_message *
rr_check_receive(struct rr_check_peer *peer)
{
	struct rr_check_message *message;

	if (!peer_wait(peer, peer_has_message))
		return NULL;
	message = peer->messages;
	peer->messages = message->next;
	if (!peer->messages)
		peer->last = &peer->messages;
	peer->message_count--;
	return message;
}

/* ---- Memory that the peer reads and writes ---- */

int
rr_check_register(struct rr_check_peer *peer, uint32_t size, unsigned access, uint8_t **data,
	struct rr_segment *segment)
{
	struct rr_region region;
	int error;

	*data = rr_check_keep(peer, size);
	if (!*data)
		return -RPCRDMA_ERR_NOMEM;
	memset(*data, RR_CHECK_PATTERN, size);
	error = rr_endpoint_register(peer->endpoint, *data, size, access, &region);
	if (error)
		return error;
	*segment = (struct rr_segment){ region.handle, size, region.offset };
	return 0;
}

int
rr_check_pull(struct rr_check_peer *peer, const struct rr_segment *segment, void *data)
{
	const struct rr_sge sge = { data, segment->length };
	const struct rr_work work = { .kind = RR_WORK_READ,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = segment->handle,
		.remote_offset = segment->offset,
		.cookie = peer };
	int error;

	peer->completions = 0;
	error = rr_endpoint_post(peer->endpoint, &work);
	if (error)
		return error;
	return peer_wait(peer, peer_has_completed) ? peer->status : -RPCRDMA_ERR_TIMEDOUT;
}
