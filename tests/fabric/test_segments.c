/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mutate.h"
#include "../test.h"
#include "node.h"

/*
 * A conversation with each kind of message, recorded as one side receives it, and then played to a new node
 * in that side's place. However the octets are cut into reads, the node must note the same events and end
 * with the same memory.
 */

enum { SECRET = 30000, SINK = 20000, SMALL = 100 };

struct recording {
	struct rr_fabric_config config;
	uint32_t large; /* octets of a large message */
	uint8_t stream[2 << 20];
	size_t size, setup; /* octets of the stream, and of its MPA frame */
	char log[NODE_LOG];
	uint8_t memory[NODE_MEMORY];
};

static struct recording recording;
static bool markers;
static uint8_t payload[NODE_MEMORY];

/* The recorded side: reads from the peer's memory when a message asks for it. */
static void
react(struct node *node, const struct rr_event *event)
{
	uint32_t handle = 0;
	uint64_t offset = 0;

	if (event->kind != RR_EVENT_RECEIVED || event->length != 12)
		return;
	memcpy(&handle, event->data, 4);
	memcpy(&offset, event->data + 4, 8);
	node_post(node, RR_WORK_READ, node->memory + SINK, recording.large, handle, offset, 7);
	node_post(node, RR_WORK_READ, NULL, 0, 0, 0, 8);
	/* The Send has no cookie, as the time of its completion is up to TCP. */
	node_post(node, RR_WORK_SEND, "thanks", 6, 0, 0, 0);
	/* The requests are sent now, as the recording may have the responses right behind this message. */
	node_collect(node);
}

static struct node *
listener_new(struct rr_region regions[2])
{
	struct node *node = node_new(&recording.config);

	node->then = react;
	regions[0] = node_register(node, 0, SINK, RR_REMOTE_WRITE);
	regions[1] = node_register(node, SECRET + 20000, SMALL, RR_REMOTE_READ);
	assert_int_equal(rr_iwarp_respond(&node->iwarp), 0);
	return node;
}

/* Carries octets between the two nodes and records those that the speaker sends. */
static void
carry(struct node *speaker, struct node *listener)
{
	for (;;) {
		node_collect(speaker);
		if (!speaker->out_size)
			return;
		memcpy(recording.stream + recording.size, speaker->out, speaker->out_size);
		recording.size += speaker->out_size;
		node_feed(listener, speaker->out, speaker->out_size, NODE_STREAM, NULL);
		node_clear(speaker);
		if (listener->iwarp.state == RR_IWARP_ASKED) {
			recording.setup = recording.size;
			assert_int_equal(rr_iwarp_accept(&listener->iwarp, "yes", 3), 0);
		}
		node_collect(listener);
		node_feed(speaker, listener->out, listener->out_size, NODE_STREAM, NULL);
		node_clear(listener);
	}
}

static void
speak(struct node *speaker, const struct rr_region regions[2])
{
	struct rr_region own = node_register(speaker, 0, SECRET, RR_REMOTE_READ);
	static uint8_t where[12];

	memcpy(where, &own.handle, 4);
	memcpy(where + 4, &own.offset, 8);
	node_post(speaker, RR_WORK_SEND, "first", 5, 0, 0, 1);
	node_post(speaker, RR_WORK_SEND, where, sizeof(where), 0, 0, 0);
	node_post(speaker, RR_WORK_WRITE, payload, recording.large, regions[0].handle, regions[0].offset + 3,
		2);
	node_post(speaker, RR_WORK_SEND, payload, recording.large / 4, 0, 0, 3);
	node_post(speaker, RR_WORK_WRITE, payload, 1, regions[0].handle, regions[0].offset, 0);
	node_post(speaker, RR_WORK_READ, speaker->memory + SECRET, SMALL, regions[1].handle,
		regions[1].offset, 4);
	node_post(speaker, RR_WORK_SEND, NULL, 0, 0, 0, 5);
	rr_iwarp_kick(&speaker->iwarp);
	node_post(speaker, RR_WORK_SEND_INVALIDATE, payload, 33, regions[0].handle, 0, 6);
}

static void
record(uint32_t large, bool crc, uint32_t emss)
{
	struct rr_region regions[2];
	struct node *speaker, *listener;

	recording.config = rr_fabric_config_default;
	recording.config.crc = crc;
	recording.config.markers = markers;
	recording.config.read_max = 2;
	recording.config.receive_size = 8192;
	recording.large = large;
	recording.size = 0;
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / 256);
	speaker = node_new(&recording.config);
	memcpy(speaker->memory, payload, sizeof(payload));
	listener = listener_new(regions);
	assert_int_equal(rr_iwarp_initiate(&speaker->iwarp, "hello", 5), 0);
	carry(speaker, listener);
	rr_iwarp_set_emss(&speaker->iwarp, emss);
	speak(speaker, regions);
	carry(speaker, listener);
	assert_true(rr_iwarp_output(&speaker->iwarp, &(const struct iovec *){ NULL }) == 0);
	assert_int_equal(listener->iwarp.state, RR_IWARP_OPEN);
	assert_int_equal(listener->iwarp.base.outstanding, 0);
	assert_int_equal(speaker->iwarp.base.outstanding, 0);
	assert_memory_equal(listener->memory + 3, payload, large);
	assert_memory_equal(listener->memory + SINK, payload, large);
	memcpy(recording.log, listener->log, NODE_LOG);
	memcpy(recording.memory, listener->memory, NODE_MEMORY);
	node_free(speaker);
	node_free(listener);
}

/* Accepts, and has the reply leave: until then, the node takes nothing in. */
static void
answer(struct node *node)
{
	assert_int_equal(rr_iwarp_accept(&node->iwarp, "yes", 3), 0);
	node_collect(node);
}

/* Plays the first size octets of the recording to a new node. */
static struct node *
play(const uint8_t *data, size_t size, size_t step, uint32_t seed)
{
	struct rr_region regions[2];
	struct node *node = listener_new(regions);
	size_t used = node_feed(node, data, size, step, &seed);

	if (node->iwarp.state == RR_IWARP_ASKED) {
		answer(node);
		node_feed(node, data + used, size - used, step, &seed);
	}
	return node;
}

static void
is_as_recorded(struct node *node)
{
	assert_string_equal(node->log, recording.log);
	assert_memory_equal(node->memory, recording.memory, NODE_MEMORY);
	assert_int_equal(node->iwarp.state, RR_IWARP_OPEN);
	node_free(node);
}

static void
every_segmentation_gives_the_same_events(void **state)
{
	static const uint32_t sizes[] = { 500, 5000, 15000 };
	static const uint32_t emss[] = { 136, 1448, 65483 };

	(void)state;
	for (int i = 0; i < 9; i++) {
		record(sizes[i / 3], i % 2, emss[i % 3]);
		for (size_t step = 1; step < 80; step += 1 + step / 8)
			is_as_recorded(play(recording.stream, recording.size, step, 0));
		for (uint32_t seed = 0; seed < 60; seed++)
			is_as_recorded(play(recording.stream, recording.size, 0, seed));
		is_as_recorded(play(recording.stream, recording.size, SIZE_MAX, 0));
	}
}

/* The octets come in two reads, of which the first ends behind any octet of any FPDU. */
static void
each_cut_gives_the_same_events(void **state)
{
	(void)state;
	for (int crc = 0; crc < 2; crc++) {
		record(500, crc, 300);
		for (size_t cut = recording.setup; cut < recording.size; cut++) {
			struct rr_region regions[2];
			struct node *node = listener_new(regions);
			size_t used = 0;

			used += node_feed(node, recording.stream, recording.setup, SIZE_MAX, NULL);
			answer(node);
			used += node_feed(node, recording.stream + used, cut - used, SIZE_MAX, NULL);
			node_feed(node, recording.stream + used, recording.size - used, SIZE_MAX, NULL);
			is_as_recorded(node);
		}
	}
}

static void
give_back(struct node *node)
{
	while (node->kept_count)
		rr_receives_put(&node->shared.receives, node->kept[--node->kept_count]);
}

static void
a_pool_that_runs_empty_anywhere_changes_nothing(void **state)
{
	(void)state;
	record(5000, true, 1448);
	for (uint32_t seed = 0; seed < 100; seed++) {
		struct rr_region regions[2];
		struct node *node;
		size_t used = 0;
		uint32_t rest = seed;

		recording.config.receive_max = 1 + seed % 2;
		node = listener_new(regions);
		node->keeps = true;
		while (used < recording.size) {
			used += node_feed(node, recording.stream + used, recording.size - used, 0, &rest);
			if (node->iwarp.state == RR_IWARP_ASKED)
				answer(node);
			give_back(node);
		}
		while (node->iwarp.rx.blocked) {
			rr_iwarp_resume(&node->iwarp);
			give_back(node);
		}
		is_as_recorded(node);
	}
}

/* Between the MPA frames and the end, CRCs cover every octet except their own. */
static void
no_corrupt_octet_passes_the_crc(void **state)
{
	(void)state;
	record(500, true, 300);
	for (size_t i = recording.setup; i < recording.size; i++) {
		struct node *node;

		recording.stream[i] ^= (uint8_t)(1 << i % 8);
		node = play(recording.stream, recording.size, SIZE_MAX, 0);
		recording.stream[i] ^= (uint8_t)(1 << i % 8);
		if (node->iwarp.state == RR_IWARP_OPEN)
			/* A length became larger: the node still waits for the end. */
			assert_string_not_equal(node->log, recording.log);
		node_free(node);
	}
}

static void
a_corrupt_payload_is_answered_with_a_crc_error(void **state)
{
	struct node *node;
	size_t at;

	(void)state;
	record(500, true, 300);
	/* The octet lies in the payload of the first Send: behind the kick, the length and the header. */
	at = recording.setup + 20 + 20 + 2;
	recording.stream[at] ^= 1;
	node = play(recording.stream, recording.size, SIZE_MAX, 0);
	assert_int_equal(node->iwarp.state, RR_IWARP_CLOSING);
	assert_int_equal(node->iwarp.status, -RPCRDMA_ERR_PEER);

	assert_non_null(strstr(node->iwarp.text.text, "CRC"));
	assert_null(strstr(node->log, "received"));
	node_free(node);
}

static const char *
survives(const uint8_t *data, size_t size, void *context)
{
	struct node *node = play(data, size, *(const size_t *)context, 0);

	rr_iwarp_eof(&node->iwarp);
	rr_iwarp_flush(&node->iwarp);
	node_free(node);
	return NULL;
}

static void
no_mutation_does_any_harm(void **state)
{
	size_t step = SIZE_MAX;

	(void)state;
	record(40, false, 136);
	assert_true(recording.size < 1000);
	rr_mutate(recording.stream, recording.size, survives, &step);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_segmentation_gives_the_same_events),
		cmocka_unit_test(each_cut_gives_the_same_events),
		cmocka_unit_test(a_pool_that_runs_empty_anywhere_changes_nothing),
		cmocka_unit_test(no_corrupt_octet_passes_the_crc),
		cmocka_unit_test(a_corrupt_payload_is_answered_with_a_crc_error),
		cmocka_unit_test(no_mutation_does_any_harm),
	};

	const struct CMUnitTest with_markers[] = {
		cmocka_unit_test(every_segmentation_gives_the_same_events),
		cmocka_unit_test(each_cut_gives_the_same_events),
		cmocka_unit_test(a_pool_that_runs_empty_anywhere_changes_nothing),
		cmocka_unit_test(no_corrupt_octet_passes_the_crc),
		cmocka_unit_test(no_mutation_does_any_harm),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	markers = true;
	return failed + cmocka_run_group_tests_name("with markers", with_markers, NULL, NULL);
}
