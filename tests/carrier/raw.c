/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "carrier/rdma/core/room.h"
#include "wire/private_data.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

enum { ALLOWED = 256 };

/* Keeps a copy of a message that arrived, and gives its Receive back at once. */
static void
note_message(struct raw *raw, const struct rr_event *event)
{
	struct raw_message *message = &raw->messages[raw->message_count++];

	assert_true(raw->message_count <= RAW_MESSAGES);
	message->data = world_memory(raw->world, event->length);
	memcpy(message->data, event->data, event->length);
	message->length = event->length;
	message->invalidated = event->invalidated;
	message->handle = event->invalidated_handle;
	rr_fabric_release(rr_room_in(raw->world->stage.engine)->fabric, event->data);
	if (!raw->exact)
		rr_endpoint_allow(raw->endpoint, 1);
}

static void
note_private_data(struct raw *raw, const void *data, size_t size)
{
	raw->peer_private_size = (uint32_t)rr_min(size, sizeof(raw->peer_private_data));
	if (raw->peer_private_size > 0)
		memcpy(raw->peer_private_data, data, raw->peer_private_size);
}

/* Keeps what happened to the connection. */
static void
on_event(void *ctx, const struct rr_event *event)
{
	struct raw *raw = ctx;

	switch (event->kind) {
	case RR_EVENT_ESTABLISHED:
		raw->established = true;
		if (!raw->listener)
			note_private_data(raw, event->data, event->length);
		break;
	case RR_EVENT_DISCONNECTED:
		raw->disconnected = true;
		raw->status = event->status;
		break;
	case RR_EVENT_COMPLETED:
		raw->completions++;
		if (event->status)
			raw->status = event->status;
		break;
	case RR_EVENT_RECEIVED: note_message(raw, event); break;
	}
}

struct raw *
raw_new(struct world *world)
{
	const struct rr_private_data data = { 4096, 4096, true };
	struct raw *raw = calloc(1, sizeof(*raw));

	assert_non_null(raw);
	raw->world = world;
	raw->receives = ALLOWED;
	rr_private_data_put(raw->private_data, &data);
	raw->private_size = RR_PRIVATE_DATA_SIZE;
	return raw;
}

/* Closes the connection, and forgets all that came on it. */
static void
close_endpoint(struct raw *raw)
{
	if (raw->endpoint)
		rr_endpoint_close(raw->endpoint);
	raw->endpoint = NULL;
	raw->established = raw->disconnected = false;
	raw->status = 0;
	raw->message_count = 0;
}

void
raw_free(struct raw *raw)
{
	close_endpoint(raw);
	if (raw->listener)
		rr_fabric_unlisten(raw->listener);
	free(raw);
}

void
raw_connect(struct raw *raw)
{
	struct rr_text text;

	close_endpoint(raw);
	assert_int_equal(
		rr_fabric_connect(rr_room_in(raw->world->stage.engine)->fabric,
			&(struct rr_connect){ (void *)&raw->world->address, sizeof(raw->world->address),
				raw->private_data, raw->private_size, on_event, raw },
			&raw->endpoint, &text),
		0);
	rr_endpoint_allow(raw->endpoint, ALLOWED);
	world_until(raw->world, raw->established && raw->world->server_connected);
}

/* Accepts a connection in place of the one before it. */
static void
asked(void *ctx, struct rr_endpoint *endpoint, const void *data, size_t size)
{
	struct raw *raw = ctx;

	close_endpoint(raw);
	raw->endpoint = endpoint;
	note_private_data(raw, data, size);
	rr_endpoint_allow(endpoint, raw->receives);
	assert_int_equal(
		rr_endpoint_accept(endpoint, on_event, raw, raw->private_data, raw->private_size), 0);
}

void
raw_serve(struct raw *raw)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_fabric *fabric = rr_room_in(raw->world->stage.engine)->fabric;
	struct rr_text text;

	assert_int_equal(
		rr_fabric_listen(fabric, &(struct rr_listen){ (void *)&any, sizeof(any), asked, raw },
			&raw->listener, &text),
		0);
	assert_int_equal(rr_listener_address(raw->listener, &raw->address), 0);
	raw->world->address = raw->address;
	world_connect(raw->world);
	world_until(raw->world, raw->established && raw->world->client_connected);
}

struct raw *
raw_requester(const struct rr_engine_config *config)
{
	struct raw *raw = raw_new(world_listening(config));

	raw_connect(raw);
	return raw;
}

struct raw *
raw_responder_with_receives(const struct rr_engine_config *config, uint32_t receives)
{
	struct raw *raw = raw_new(world_listening(config));

	raw->exact = true;
	raw->receives = receives;
	raw_serve(raw);
	return raw;
}

struct raw *
raw_requester_uninvalidated(const struct rr_engine_config *config)
{
	struct raw *raw = raw_new(world_listening(config));

	raw->private_data[5] = 0;
	raw_connect(raw);
	return raw;
}

struct raw *
raw_responder(const struct rr_engine_config *config)
{
	struct raw *raw = raw_new(world_listening(config));

	raw_serve(raw);
	return raw;
}

void
raw_end(struct raw *raw)
{
	struct world *world = raw->world;

	raw_free(raw);
	world_settle(world);
	world_free(world);
}

void
raw_end_client(struct raw *raw)
{
	world_close_client(raw->world);
	raw_end(raw);
}

/* Sends these octets as one message; kind tells whether the Send also invalidates the handle. */
static void
post_send(struct raw *raw, const void *data, uint32_t length, enum rr_work_kind kind, uint32_t handle)
{
	/* The message must stay until it was sent: the world keeps it. */
	uint8_t *copy = world_memory(raw->world, length);
	struct rr_sge sge = { copy, length };
	struct rr_work work = { .kind = kind, .sge_count = 1, .sges = &sge, .remote_handle = handle };

	memcpy(copy, data, length);
	assert_int_equal(rr_endpoint_post(raw->endpoint, &work), 0);
}

void
raw_send(struct raw *raw, const void *data, uint32_t length)
{
	post_send(raw, data, length, RR_WORK_SEND, 0);
}

void
raw_send_invalidate(struct raw *raw, const void *data, uint32_t length, uint32_t handle)
{
	post_send(raw, data, length, RR_WORK_SEND_INVALIDATE, handle);
}

void
raw_send_words(struct raw *raw, const uint32_t *words, uint32_t count, uint32_t invalidate)
{
	uint8_t data[4096];

	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(data + i * 4, words[i]);
	if (invalidate)
		raw_send_invalidate(raw, data, count * 4, invalidate);
	else
		raw_send(raw, data, count * 4);
}

struct raw_message *
raw_next(struct raw *raw)
{
	static struct raw_message next;

	world_until(raw->world, raw->message_count > 0);
	next = raw->messages[0];
	raw->message_count--;
	memmove(raw->messages, raw->messages + 1, raw->message_count * sizeof(next));
	return &next;
}

uint32_t
word(const struct raw_message *message, uint32_t index)
{
	assert_true(message->length >= index * 4 + 4);
	return rr_get_be32(message->data + (size_t)index * 4);
}

struct raw_message *
raw_introduced(struct raw *raw, uint32_t *xid)
{
	struct raw_message *message = raw_next(raw);

	assert_int_equal(word(message, 1), RR_RPCRDMA_VERSION_2);
	assert_int_equal(word(message, 3), RR_RDMA_OPTIONAL);
	assert_int_equal(word(message, 4), RR_CONNPROP);
	*xid = word(message, 0);
	return message;
}

void
raw_agree(struct raw *raw, uint32_t grant)
{
	uint32_t xid;

	raw_introduced(raw, &xid);
	SEND(raw, xid, 2, grant, RR_RDMA_OPTIONAL, CONNPROP(4096, RR_REVERSE_INLINE, 0, 1));
	world_settle(raw->world);
}

void
raw_agree_without_properties(struct raw *raw)
{
	uint32_t xid;

	raw_introduced(raw, &xid);
	SEND(raw, xid, 2, 1, RR_RDMA_ERROR, RR_ERR_INVAL_OPTION);
	world_settle(raw->world);
}

void
raw_answer(struct raw *raw, uint32_t xid, uint32_t grant)
{
	SEND(raw, xid, 1, grant, RR_RDMA_MSG, 0, 0, 0, xid, RR_REPLY, 7);
}

void
raw_warm_up(struct raw *raw, uint32_t grant)
{
	struct call *call = call_begin(raw->world, 0xffff, 40);

	raw_next(raw);
	raw_answer(raw, 0xffff, grant);
	call_answered(call);
}

void
raw_still_works(struct raw *raw)
{
	raw_warm_up(raw, 32);
	assert_false(raw->world->client_closed);
}

struct rr_region
raw_register(struct raw *raw, void *memory, uint32_t length, unsigned access)
{
	struct rr_region region;

	assert_int_equal(rr_endpoint_register(raw->endpoint, memory, length, access, &region), 0);
	return region;
}

int
raw_rdma(struct raw *raw, enum rr_work_kind kind, void *memory, uint32_t length, uint32_t handle,
	uint64_t offset)
{
	struct rr_sge sge = { memory, length };
	struct rr_work work = { .kind = kind,
		.sge_count = 1,
		.sges = &sge,
		.remote_handle = handle,
		.remote_offset = offset,
		.cookie = raw };
	uint32_t before = raw->completions;

	assert_int_equal(rr_endpoint_post(raw->endpoint, &work), 0);
	world_until(raw->world, raw->completions > before || raw->disconnected);
	world_settle(raw->world);
	return raw->disconnected ? -RPCRDMA_ERR_DISCONNECTED : raw->status;
}

void
raw_fill(struct raw *raw, const struct rr_segment *segment, void *data, uint32_t length)
{
	fill(data, length, 1);
	assert_int_equal(raw_rdma(raw, RR_WORK_WRITE, data, length, segment->handle, segment->offset), 0);
}

/* Parses the header of a message, which must be valid, and finds what follows the header. */
void
raw_parse(const struct raw_message *message, struct raw_header *header)
{
	struct rpcrdma_message in = { .stream = message->data, .length = message->length };
	struct rpcrdma_xdr_reader reader;

	header->lists = (struct rr_chunk_lists){ .reads = header->reads,
		.writes = header->writes,
		.segments = header->segments,
		.read_max = 32,
		.write_max = 8,
		.segment_max = 64 };
	rpcrdma_xdr_reader_init(&reader, &in, NULL);
	assert_int_equal(
		rr_rdma_get_any_header(&reader, RR_RPCRDMA_VERSION_2, &header->fixed, &header->lists),
		RR_HEADER_OK);
	header->body_length = (uint32_t)rpcrdma_xdr_left(&reader);
	header->body = message->data + message->length - header->body_length;
}

struct call *
raw_offered_write_chunk(struct raw *raw, struct raw_header *header)
{
	struct call *call = call_new(raw->world, 5, 40);

	call_add_sink(raw->world, call, 10000);
	call_start(raw->world, call);
	raw_parse(raw_next(raw), header);
	assert_int_equal(header->lists.write_count, 1);
	assert_int_equal(header->lists.writes[0].count, 1);
	assert_int_equal(header->segments[0].length, 10000);
	assert_false(header->lists.has_reply);
	return call;
}
