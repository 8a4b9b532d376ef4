/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breaks.h"
#include "mutate.h"
#include "talk.h"

struct verdict {
	uint32_t counts[RR_RULES];
	uint64_t messages;
};

static void
judge_found(void *ctx, const struct rr_finding *finding)
{
	struct verdict *verdict = ctx;

	assert_true(finding->rule < RR_RULES && finding->detail);
	verdict->counts[finding->rule]++;
}

/* A judge that is given packets, with the decoder in front of it. */
struct court {
	struct verdict verdict;
	struct rr_decoder *decoder;
	struct rr_judge *judge;
	uint32_t frame;
};

static void
court_open(struct court *court, const struct rr_env *env)
{
	struct rr_decode_sink sink;

	*court = (struct court){ .frame = 0 };
	assert_int_equal(rr_judge_new(env, judge_found, &court->verdict, &court->judge), 0);
	sink = rr_judge_sink(court->judge);
	assert_int_equal(rr_decoder_new(&rr_env_system, NULL, &sink, &court->decoder), 0);
}

/* Passes the packets of made on, so that there is room for others. */
static void
court_hear(struct court *court)
{
	for (uint32_t i = 0; i < made.count; i++)
		rr_decoder_packet(court->decoder, RR_LINK_RAW, court->frame++, made.packets[i].data,
			made.packets[i].size);
	made.count = 0;
}

static void
court_close(struct court *court)
{
	rr_decoder_finish(court->decoder);
	rr_judge_finish(court->judge);
	court->verdict.messages = rr_judge_messages(court->judge);
	rr_decoder_free(court->decoder);
	rr_judge_free(court->judge);
}

static struct verdict
judge(void)
{
	struct court court;
	uint32_t count = made.count;

	court_open(&court, &rr_env_system);
	court_hear(&court);
	made.count = count;
	court_close(&court);
	return court.verdict;
}

static void
assert_only(const struct verdict *verdict, enum rr_rule rule)
{
	for (uint32_t i = 0; i < RR_RULES; i++) {
		if (i != rule && verdict->counts[i] > 0)
			fail_msg("%s (%s) is found where %s (%s) is broken", rr_rules[i].row,
				rr_rules[i].text, rule < RR_RULES ? rr_rules[rule].row : "nothing",
				rule < RR_RULES ? rr_rules[rule].text : "");
		if (i == rule && verdict->counts[i] == 0)
			fail_msg("%s (%s) is not found", rr_rules[i].row, rr_rules[i].text);
	}
}

static void
make_broken(uint32_t rule)
{
	made_begin(&made);
	open_with(4096, true);
	assert_non_null(breaks[rule].make);
	breaks[rule].make();
}

static void
each_rule_is_found_where_it_alone_is_broken(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RR_RULES; i++) {
		struct verdict verdict;

		make_broken(i);
		verdict = judge();
		assert_only(&verdict, (enum rr_rule)i);
	}
}

static void
each_rule_has_a_row_a_section_and_a_text(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RR_RULES; i++)
		assert_true(rr_rules[i].row && rr_rules[i].section && rr_rules[i].text);
}

/* Makes a conversation with everything that a judge checks. */
static void
converse(void)
{
	static struct rr_segment two[] = { { HANDLE, 1000, OFFSET }, { OTHER, 1000, 0 } };
	static struct rr_segment back[] = { { HANDLE, 1000, OFFSET }, { OTHER, 1, 0 } };

	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	CALLS(.xid = 2, .rpc_proc = READ, .lists = write_chunk(two, 2));
	CALLS(.xid = 3, .rpc_proc = WRITE, .tail = BODY, .lists = read_chunk(48, 101));
	rdma_write(HANDLE, OFFSET, 500);
	rdma_read(SERVER, HANDLE, OFFSET, 101);
	rdma_write(HANDLE, OFFSET + 500, 500);
	rdma_response(CLIENT, 0, 100, false);
	rdma_write(OTHER, 0, 1);
	rdma_response(CLIENT, 100, 1, true);
	REPLIES(.xid = 3, .invalidated = HANDLE);
	REPLIES(.xid = 2, .lists = write_chunk(back, 2), .tail = BODY, .last = 1001, .invalidated = OTHER);
	CALLS(.xid = 4, .rpc_proc = 17, .lists = reply_chunk(&one_segment, 1));
	REPLIES(.xid = 4);
	CALLS(.xid = 5, .rpc_proc = 17, .lists = reply_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 900);
	say(SERVER, (struct said){ .xid = 5, .proc = RR_RDMA_NOMSG, .lists = reply_chunk(returned(900), 1) });
	say(SERVER, (struct said){ .xid = 5, .rpc = CALL });
	say(CLIENT, (struct said){ .xid = 5, .rpc = REPLY });
	CALLS(.xid = 6, .rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	say(SERVER, (struct said){ .xid = 6, .proc = RR_RDMA_ERROR, .err = RR_ERR_CHUNK });
}

static void
good_traffic_has_no_findings(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	converse();
	verdict = judge();
	assert_only(&verdict, RR_RULES);
	assert_int_equal(verdict.messages, 14);
}

/* Messages that were not captured may make the captured messages right. */
static void
what_is_missing_in_a_capture_is_no_finding(void **state)
{
	uint32_t count;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	converse();
	count = made.count;
	for (uint32_t first = 0; first < count; first++) {
		for (uint32_t lost = 1; lost < 4 && first + lost < count; lost++) {
			struct verdict verdict;

			made_begin(&made);
			open_with(4096, true);
			converse();
			made.count -= lost;
			memmove(&made.packets[first], &made.packets[first + lost],
				(made.count - first) * sizeof(made.packets[0]));
			verdict = judge();
			assert_only(&verdict, RR_RULES);
		}
	}
}

static void
converse_over_roce(void)
{
	made_begin(&made);
	made_connect_request(&made, 3, 1);
	made_connect_reply(&made, 0x13, 3);
	say_roce(CLIENT, 1,
		(struct said){ .xid = 3,
			.rpc = CALL,
			.rpc_proc = WRITE,
			.tail = BODY,
			.lists = read_chunk(48, 100) });
	say_roce(SERVER, 0, (struct said){ .xid = 3, .rpc = REPLY, .tail = BODY });
	say_roce(CLIENT, 2, (struct said){ .xid = 4, .rpc = CALL });
	say_roce(SERVER, 1, (struct said){ .xid = 4, .rpc = REPLY });
}

/* A capture of RoCE may have only the first octets of each packet. The others count as 0, which is no mistake
 * of whoever sent them. */
static void
what_is_cut_in_a_capture_is_no_finding(void **state)
{
	struct verdict verdict;

	(void)state;
	converse_over_roce();
	verdict = judge();
	assert_only(&verdict, RR_RULES);
	for (uint32_t size = 28; size < 400; size++) {
		converse_over_roce();
		for (uint32_t i = 0; i < made.count; i++)
			if (made.packets[i].size > size)
				made.packets[i].size = size;
		verdict = judge();
		assert_only(&verdict, RR_RULES);
	}
}

/* A message that is no call needs no reply: the judge may forget it, and goes on judging all rules. */
static void
many_calls_after_properties_leave_the_connection_whole(void **state)
{
	struct court court;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	court_open(&court, &rr_env_system);
	announce(CLIENT);
	announce(SERVER);
	for (uint32_t xid = 2; xid < 4200; xid++) {
		CALLS(.vers = 2, .xid = xid);
		REPLIES(.vers = 2, .xid = xid);
		court_hear(&court);
	}
	assert_int_equal(rr_judge_evicted(court.judge), 0);
	REPLIES(.vers = 2, .xid = 5000);
	court_hear(&court);
	court_close(&court);
	assert_only(&court.verdict, RR_RULE_STRAY_REPLY);
}

/* A call that takes the place of a call with the same XID has one reply, which gives both credits back. */
static void
a_call_that_comes_twice_takes_no_credit_for_ever(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	for (uint32_t xid = 2; xid < 22; xid++) {
		CALLS(.xid = xid);
		CALLS(.xid = xid);
		REPLIES(.xid = xid);
	}
	verdict = judge();
	assert_only(&verdict, RR_RULE_TWICE);
	assert_int_equal(verdict.counts[RR_RULE_TWICE], 20);
}

/* A position counts the octets of the whole RPC message, whatever length a chunk has. */
static void
a_position_behind_a_chunk_of_any_length_is_found(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	CALLS(.rpc_proc = WRITE, .tail = BODY, .lists = read_chunk(500, UINT32_MAX - 1));
	verdict = judge();
	assert_only(&verdict, RR_RULE_POSITION);
}

static void
an_empty_reply_chunk_may_be_offered_and_returned(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	CALLS(.xid = 1, .lists = reply_chunk(NULL, 0));
	REPLIES(.xid = 1, .lists = reply_chunk(NULL, 0));
	verdict = judge();
	assert_only(&verdict, RR_RULES);
}

/* An empty segment overlaps nothing, and does not hide that its neighbours overlap. */
static void
segments_around_an_empty_one_may_not_overlap(void **state)
{
	static struct rr_segment segments[] = { { HANDLE, 100, OFFSET }, { HANDLE, 0, OFFSET + 50 },
		{ HANDLE, 100, OFFSET + 60 } };
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	CALLS(.rpc_proc = READ, .lists = write_chunk(segments, 2));
	verdict = judge();
	assert_only(&verdict, RR_RULES);
	made_begin(&made);
	open_with(4096, true);
	CALLS(.rpc_proc = READ, .lists = write_chunk(segments, 3));
	verdict = judge();
	assert_only(&verdict, RR_RULE_OVERLAP);
}

/* RFC 8167, 2.4.1: "a forward-direction Requester MAY use the same XID value" as a reverse-direction one. */
static void
a_long_call_of_the_server_may_have_the_xid_of_a_call_of_the_client(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	say(SERVER, (struct said){ .xid = 1, .rpc = CALL });
	say(CLIENT, (struct said){ .xid = 1, .rpc = REPLY });
	CALLS(.xid = 2);
	say(SERVER, (struct said){ .xid = 2, .proc = RR_RDMA_NOMSG, .lists = read_chunk(0, 100) });
	REPLIES(.xid = 2);
	say(CLIENT, (struct said){ .xid = 2, .rpc = REPLY });
	verdict = judge();
	assert_only(&verdict, RR_RULES);
}

/* ---- Memory ---- */

/* Allocates memory for a judge, except the one time when the count of allocations reaches 0. */
static void *
scarce_realloc(void *ctx, void *old, size_t size)
{
	uint32_t *left = ctx;

	if (size > 0 && (*left)-- == 0)
		return NULL;
	return rr_env_system.realloc(rr_env_system.ctx, old, size);
}

/* Without memory for one thing, the judge knows less, and does not take good traffic for wrong. */
static void
a_lack_of_memory_is_no_finding(void **state)
{
	uint32_t left;
	struct rr_env env = rr_env_system;

	(void)state;
	env.realloc = scarce_realloc;
	env.ctx = &left;
	for (uint32_t lacks = 0; lacks < 40; lacks++) {
		struct court court;

		made_begin(&made);
		open_with(4096, true);
		pull_reply();
		say(CLIENT, (struct said){ .xid = 9, .vers = 2, .proc = RR_RDMA_OPTIONAL, .opttype = 99 });
		say(SERVER, (struct said){
				    .xid = 9, .vers = 2, .proc = RR_RDMA_ERROR, .err = RR_ERR_INVAL_OPTION });
		left = UINT32_MAX;
		court_open(&court, &env);
		left = lacks;
		court_hear(&court);
		court_close(&court);
		assert_only(&court.verdict, RR_RULES);
	}
}

/* ---- Anything may be captured ---- */

static const char *
judge_changed(const uint8_t *data, size_t size, void *context)
{
	uint32_t *index = context;

	if (size > MADE_PACKET)
		return "too large";
	memcpy(made.packets[*index].data, data, size);
	made.packets[*index].size = (uint32_t)size;
	judge();
	return NULL;
}

static void
no_change_of_a_packet_breaks_anything(void **state)
{
	(void)state;
	for (uint32_t index = 2; index < 10; index++) {
		struct made_packet packet;

		made_begin(&made);
		open_with(4096, true);
		converse();
		packet = made.packets[index];
		rr_mutate(packet.data, packet.size, judge_changed, &index);
	}
}

/* ---- The same as files, for other tools ---- */

static int
write_corpus(const char *directory)
{
	for (uint32_t i = 0; i < RR_RULES; i++) {
		char path[4096];
		int size = snprintf(
			path, sizeof(path), "%s/%s-%s.pcap", directory, rr_rules[i].row, breaks[i].name);

		make_broken(i);
		if (size >= (int)sizeof(path) || !made_write(&made, path)) {
			fprintf(stderr, "%s/%s-%s.pcap: the capture could not be written\n", directory,
				rr_rules[i].row, breaks[i].name);
			return 1;
		}
	}
	return 0;
}

/* With the name of a directory as argument, the program writes a capture for each rule into it. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_a_row_a_section_and_a_text),
		cmocka_unit_test(each_rule_is_found_where_it_alone_is_broken),
		cmocka_unit_test(good_traffic_has_no_findings),
		cmocka_unit_test(what_is_missing_in_a_capture_is_no_finding),
		cmocka_unit_test(what_is_cut_in_a_capture_is_no_finding),
		cmocka_unit_test(many_calls_after_properties_leave_the_connection_whole),
		cmocka_unit_test(a_call_that_comes_twice_takes_no_credit_for_ever),
		cmocka_unit_test(a_position_behind_a_chunk_of_any_length_is_found),
		cmocka_unit_test(an_empty_reply_chunk_may_be_offered_and_returned),
		cmocka_unit_test(segments_around_an_empty_one_may_not_overlap),
		cmocka_unit_test(a_long_call_of_the_server_may_have_the_xid_of_a_call_of_the_client),
		cmocka_unit_test(a_lack_of_memory_is_no_finding),
		cmocka_unit_test(no_change_of_a_packet_breaks_anything),
	};

	if (argc == 2)
		return write_corpus(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
