/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "carrier/rdma/core/trace.h"

/* The blocks of the engine: more than a single connection takes. */
enum { BLOCKS = RR_TRACE_OWN + 3 };

struct world {
	struct rr_env env;
	struct rr_loop *loop;
	uint64_t now;
	bool no_memory;
	uint32_t lines;
	char first[256], second[256], last[256];
	struct rr_traces traces;
	struct rr_trace trace;
};

static uint64_t
now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static void *
reallocate(void *ctx, void *old, size_t size)
{
	if (size == 0) {
		free(old);
		return NULL;
	}
	return ((struct world *)ctx)->no_memory ? NULL : realloc(old, size);
}

/* Counts the lines that are logged, and keeps the first, the second and the last. */
static void
take_line(void *ctx, enum rr_log_level level, const char *line)
{
	struct world *world = ctx;

	assert_int_equal(level, RR_LOG_INFO);
	if (++world->lines == 1)
		strncpy(world->first, line, sizeof(world->first) - 1);
	if (world->lines == 2)
		strncpy(world->second, line, sizeof(world->second) - 1);
	strncpy(world->last, line, sizeof(world->last) - 1);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->env = (struct rr_env){
		.now = now, .realloc = reallocate, .log = take_line, .ctx = world, .log_level = RR_LOG_INFO
	};
	world->loop = rr_loop_new(&world->env);
	assert_non_null(world->loop);
	rr_traces_init(&world->traces, &world->env, BLOCKS);
	rr_trace_init(&world->trace, &world->traces);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_trace_free(&world->trace);
	assert_int_equal(world->traces.count, 0);
	rr_loop_free(world->loop);
	free(world);
	return 0;
}

/* Adds a message to the trace whose header has these words. */
static void
add(struct world *world, bool sent, uint32_t xid, uint32_t proc, const struct rr_chunk_lists *lists)
{
	uint8_t header[RR_RDMA_HEADER_MIN] = { 0 };

	rr_put_be32(header, xid);
	rr_put_be32(header + 4, 1);
	rr_put_be32(header + 8, 64);
	rr_put_be32(header + 12, proc);
	rr_put_be32(header + 16, RR_ERR_CHUNK);
	rr_trace_add(&world->trace, world->loop, sent, header, sizeof(header), lists);
}

static void
nothing_is_allocated_before_the_first_message(void **state)
{
	struct world *world = *state;

	rr_trace_log(&world->trace, &world->env, "peer");
	assert_int_equal(world->lines, 0);
	assert_int_equal(world->traces.count, 0);
	assert_int_equal(sizeof(struct rr_trace_entry), 40);
}

static void
a_message_is_told_in_words(void **state)
{
	struct world *world = *state;
	struct rr_read_segment reads[] = { { 0, { 1, 100, 0 } }, { 0, { 2, 23, 0 } } };
	struct rr_segment segments[] = { { 3, 4096, 0 }, { 4, 1, 0 } };
	struct rr_chunk writes[] = { { segments, 1 } };
	struct rr_chunk_lists lists = { .reads = reads,
		.read_count = 2,
		.writes = writes,
		.write_count = 1,
		.reply = { segments + 1, 1 },
		.has_reply = true };

	world->now = RR_SECOND;
	add(world, true, 0xabc, RR_RDMA_NOMSG, &lists);
	world->now += 1500000;
	rr_trace_log(&world->trace, &world->env, "192.0.2.1:20049");
	assert_int_equal(world->lines, 2);
	assert_string_equal(world->first, "192.0.2.1:20049: the last 1 of 1 headers:");
	assert_string_equal(world->last,
		"192.0.2.1:20049: 1.500 ms ago: sent XID 0x00000abc RDMA_NOMSG, credit 64, 28 octets; "
		"2 read segments, 1 Write chunks, a Reply chunk, 2 segments, 4220 octets in chunks");
}

static void
what_is_no_header_is_told_as_well(void **state)
{
	struct world *world = *state;

	rr_trace_add(&world->trace, world->loop, false, (const uint8_t *)"abc", 3, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_string_equal(world->last, "p: 0.000 ms ago: received 3 octets, no header");
	add(world, false, 1, 77, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_string_equal(world->last,
		"p: 0.000 ms ago: received XID 0x00000001 unknown procedure, credit 64, 28 octets, no chunk "
		"lists that could be read");
	add(world, false, 1, RR_RDMA_ERROR, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_non_null(strstr(world->last, "RDMA_ERROR ERR_CHUNK"));
}

/* draft-cel-nfsv4-rpcrdma-version-two-00, 4.2, has names of its own for errors, and one procedure more. */
static void
names_are_those_of_the_version(void **state)
{
	struct world *world = *state;
	uint8_t header[RR_RDMA_HEADER_MIN] = { 0 };
	static const struct {
		uint32_t vers, proc, err;
		const char *name;
	} rows[] = {
		{ 1, RR_RDMA_OPTIONAL, 0, "unknown procedure," },
		{ 2, RR_RDMA_OPTIONAL, 0, "RDMA_OPTIONAL," },
		{ 2, RR_RDMA_DONE, 0, "RDMA_DONE," },
		{ 1, RR_RDMA_ERROR, RR_ERR_VERS, "RDMA_ERROR ERR_VERS," },
		{ 1, RR_RDMA_ERROR, RR_ERR_INVAL_OPTION, "RDMA_ERROR unknown error," },
		{ 2, RR_RDMA_ERROR, RR_ERR_VERS, "RDMA_ERROR RDMA_ERR_VERS," },
		{ 2, RR_RDMA_ERROR, RR_ERR_BAD_HEADER, "RDMA_ERROR RDMA_ERR_BAD_HEADER," },
		{ 2, RR_RDMA_ERROR, RR_ERR_INVAL_OPTION, "RDMA_ERROR RDMA_ERR_INVAL_OPTION," },
		{ 9, RR_RDMA_ERROR, 255, "RDMA_ERROR unknown error," },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rr_put_be32(header + 4, rows[i].vers);
		rr_put_be32(header + 12, rows[i].proc);
		rr_put_be32(header + 16, rows[i].err);
		rr_trace_add(&world->trace, world->loop, false, header, sizeof(header), NULL);
		rr_trace_log(&world->trace, &world->env, "p");
		assert_non_null(strstr(world->last, rows[i].name));
	}
}

static void
the_last_256_are_kept_oldest_first(void **state)
{
	struct world *world = *state;

	for (uint32_t i = 0; i < 1000; i++)
		add(world, i % 2, i, RR_RDMA_MSG, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_int_equal(world->lines, 1 + RR_TRACE_ENTRIES);
	assert_string_equal(world->first, "p: the last 256 of 1000 headers:");
	assert_non_null(strstr(world->second, "received XID 0x000002e8")); /* the XID is 744 */
	assert_non_null(strstr(world->last, "sent XID 0x000003e7"));
}

static void
add_to(struct world *world, struct rr_trace *trace, uint32_t count)
{
	static const uint8_t header[RR_RDMA_HEADER_MIN];

	for (uint32_t i = 0; i < count; i++)
		rr_trace_add(trace, world->loop, false, header, sizeof(header), NULL);
}

/* The memory of all headers together is bounded, for any number of connections and messages. A connection
 * that begins to carry messages takes the block that was begun first. */
static void
connections_share_a_bounded_number_of_blocks(void **state)
{
	enum { OTHERS = 5 * BLOCKS };
	struct world *world = *state;
	static struct rr_trace others[OTHERS];

	add_to(world, &world->trace, 1);
	for (uint32_t i = 0; i < OTHERS; i++) {
		rr_trace_init(&others[i], &world->traces);
		add_to(world, &others[i], 1);
		assert_true(world->traces.count <= BLOCKS);
	}
	/* The blocks of the first connection, and of all but the last connections, went to other
	 * connections. */
	rr_trace_log(&world->trace, &world->env, "p");
	assert_int_equal(world->lines, 0);
	for (uint32_t i = 0; i < OTHERS; i++)
		assert_int_equal(others[i].block_count, i >= OTHERS - BLOCKS);
	/* The connection's headers are kept again as soon as it carries messages. */
	add(world, true, 7, RR_RDMA_MSG, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_string_equal(world->first, "p: the last 1 of 2 headers:");
	assert_int_equal(world->traces.count, BLOCKS);
	for (uint32_t i = 0; i < OTHERS; i++)
		rr_trace_free(&others[i]);
}

/* A busy connection fills its own two blocks in turns if there are no free blocks. */
static void
a_busy_connection_leaves_others_their_headers(void **state)
{
	struct world *world = *state;
	struct rr_trace quiet[BLOCKS - 1];

	for (uint32_t i = 0; i < BLOCKS - 1; i++) {
		rr_trace_init(&quiet[i], &world->traces);
		add_to(world, &quiet[i], 1);
	}
	add_to(world, &world->trace, 100 * RR_TRACE_BLOCK);
	assert_int_equal(world->trace.block_count, 2);
	for (uint32_t i = 1; i < BLOCKS - 1; i++)
		assert_int_equal(quiet[i].block_count, 1);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_int_equal(world->lines, 1 + 2 * RR_TRACE_BLOCK);
	for (uint32_t i = 0; i < BLOCKS - 1; i++)
		rr_trace_free(&quiet[i]);
}

static void
without_memory_nothing_is_kept(void **state)
{
	struct world *world = *state;

	world->no_memory = true;
	add(world, true, 1, RR_RDMA_MSG, NULL);
	rr_trace_log(&world->trace, &world->env, "p");
	assert_int_equal(world->lines, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_is_allocated_before_the_first_message, setup, teardown),
		cmocka_unit_test_setup_teardown(a_message_is_told_in_words, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_header_is_told_as_well, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_those_of_the_version, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_256_are_kept_oldest_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			connections_share_a_bounded_number_of_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_busy_connection_leaves_others_their_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(without_memory_nothing_is_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
