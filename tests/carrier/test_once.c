/* SPDX-License-Identifier: BSD-3-Clause */
#include "../fabric/loop/loop.h"

#include "pull.h"
#include "wire/rpc.h"
#include "wire/rpcrdma2.h"

/* A header is parsed once, whatever kind of message it belongs to, on either side. The linker puts these
 * functions in front of the parser's own (--wrap), so that they count the calls. */

static uint32_t headers, fixed, lists;
static bool inside; /* rr_rdma_get_of() is running */

enum rr_header_result __real_rr_rdma_get_of(const struct rr_rdma_version *version,
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *chunks);
enum rr_header_result __wrap_rr_rdma_get_of(const struct rr_rdma_version *version,
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *chunks);
bool __real_rr_rdma_get_fixed(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header);
bool __wrap_rr_rdma_get_fixed(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header);
enum rr_header_result __real_rr_rdma_get_lists(
	struct rpcrdma_xdr_reader *reader, struct rr_chunk_lists *chunks);
enum rr_header_result __wrap_rr_rdma_get_lists(
	struct rpcrdma_xdr_reader *reader, struct rr_chunk_lists *chunks);

/* Counts the headers that are read as a whole. */
enum rr_header_result
__wrap_rr_rdma_get_of(const struct rr_rdma_version *version, struct rpcrdma_xdr_reader *reader,
	struct rr_rdma_header *header, struct rr_chunk_lists *chunks)
{
	enum rr_header_result result;

	headers++;
	inside = true;
	result = __real_rr_rdma_get_of(version, reader, header, chunks);
	inside = false;
	return result;
}

/* Counts the reads of the fixed words outside rr_rdma_get_of(), which reads them itself: some linkers wrap
 * that call, too. */
bool
__wrap_rr_rdma_get_fixed(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	fixed += !inside;
	return __real_rr_rdma_get_fixed(reader, header);
}

enum rr_header_result
__wrap_rr_rdma_get_lists(struct rpcrdma_xdr_reader *reader, struct rr_chunk_lists *chunks)
{
	lists++;
	return __real_rr_rdma_get_lists(reader, chunks);
}

static void
forget(void)
{
	headers = fixed = lists = 0;
}

/* Checks how many messages arrived since forget(), and how many of them have chunk lists. */
static void
assert_parsed(struct raw *raw, uint32_t messages, uint32_t with_lists)
{
	world_settle(raw->world);
	assert_int_equal(headers, messages);
	assert_int_equal(fixed, 0);
	assert_true(lists <= with_lists); /* the lists of most headers are known to be empty without that */
	forget();
}

#define SENDS(raw, with_lists, ...)                                                                          \
	do {                                                                                                 \
		forget();                                                                                    \
		SEND(raw, __VA_ARGS__);                                                                      \
		assert_parsed(raw, 1, with_lists);                                                           \
	} while (0)

static void
calls_are_parsed_once(void **state)
{
	struct raw *raw = raw_requester(NULL);
	uint8_t memory[64] = { 0 }, more[64];
	struct rr_region region = raw_register(raw, memory, sizeof(memory), RR_REMOTE_READ);
	struct rr_region sink = raw_register(raw, more, sizeof(more), RR_REMOTE_WRITE);

	(void)state;
	raw->world->answer = answer_small;
	for (uint32_t version = 1; version <= 2; version++) {
		SENDS(raw, 1, 5, version, 2, RR_RDMA_MSG, 0, 0, 0, 5, RR_CALL, 2);
		SENDS(raw, 1, 6, version, 2, RR_RDMA_MSG, 1, 12, SEGMENT(region), 0, 1, 1, SEGMENT(sink), 0,
			0, 6, RR_CALL, 2);
		SENDS(raw, 1, 7, version, 2, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0);
		SENDS(raw, 1, 8, version, 2, RR_RDMA_NOMSG, 0, 0, 0);
		SENDS(raw, 1, 9, version, 2, RR_RDMA_MSG, 0, 0, 0, 9, RR_REPLY, 2);
	}
	raw_end(raw);
}

static void
messages_that_are_no_calls_are_parsed_once(void **state)
{
	struct raw *raw = raw_requester(NULL);

	(void)state;
	raw->world->answer = answer_small;
	SENDS(raw, 1, 5, 2, 2, RR_RDMA_MSG, 0, 0, 0, 5, RR_CALL, 2);
	SENDS(raw, 0, 6, 2, 2, RR_RDMA_OPTIONAL, CONNPROP(4096, 1, 1, 1));
	SENDS(raw, 0, 7, 2, 2, RR_RDMA_OPTIONAL, 99, 0);
	SENDS(raw, 0, 8, 2, 2, RR_RDMA_DONE);
	SENDS(raw, 0, 9, 2, 2, RR_RDMA_ERROR, RR_ERR_BAD_HEADER);
	SENDS(raw, 0, 10, 2, 2, RR_RDMA_MSGP, 0, 0, 0);
	SENDS(raw, 0, 11, 9, 2, RR_RDMA_MSG, 0, 0, 0);
	SENDS(raw, 0, 12, 2);
	raw_end(raw);
}

static void
answers_are_parsed_once(void **state)
{
	struct raw *raw = pull_begin();
	struct rr_region region;

	(void)state;
	pull_ask(raw, 2);
	SENDS(raw, 1, 2, 2, 32, RR_RDMA_MSG, 0, 0, 0, 2, RR_REPLY, 7);
	pull_ask(raw, 3);
	SENDS(raw, 0, 3, 2, 32, RR_RDMA_ERROR, RR_ERR_BAD_HEADER);
	pull_ask(raw, 4);
	region = pull_expose_reply(raw, 4);
	SENDS(raw, 1, 4, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0);
	SENDS(raw, 1, 9, 2, 32, RR_RDMA_NOMSG, 1, 0, SEGMENT(region), 0, 0, 0);
	SENDS(raw, 1, 9, 2, 32, RR_RDMA_MSG, 0, 0, 0, 9, RR_REPLY, 7);
	raw_end(raw);
}

/* Between two sides of this project, headers are parsed as often as there were messages; in version 2
 * those of properties count, too. */
static void
two_of_ours_parse_each_message_once(void **state)
{
	struct world *world = world_new(NULL);
	uint32_t calls = 50;

	(void)state;
	world->answer = answer_small;
	call_answered(call_begin(world, 1000, 40));
	world_settle(world);
	forget();
	for (uint32_t i = 0; i < calls; i++)
		call_answered(call_begin(world, i, 40));
	assert_int_equal(headers, 2 * calls);
	assert_int_equal(fixed, 0);
	assert_true(lists <= 2 * calls);
	world_free(world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_parsed_once),
		cmocka_unit_test(messages_that_are_no_calls_are_parsed_once),
		cmocka_unit_test(answers_are_parsed_once),
		cmocka_unit_test(two_of_ours_parse_each_message_once),
	};

	provider = rr_loop_fabric_new;
	return cmocka_run_group_tests(tests, world_speak_both, world_speak_version_1);
}
