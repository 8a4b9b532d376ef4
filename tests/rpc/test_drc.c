/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rpc/drc.h"

struct world {
	struct rr_env env;
	uint64_t now;
	bool no_memory;
	struct rr_drc *drc;
};

static uint64_t
now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static void *
memory(void *ctx, void *old, size_t size)
{
	if (size > 0 && ((struct world *)ctx)->no_memory)
		return NULL;
	return rr_env_system.realloc(NULL, old, size);
}

/* Makes a cache with this configuration, on a clock and a memory of the test. */
static void
start(struct world *world, struct rr_drc_config config)
{
	memset(world, 0, sizeof(*world));
	world->env = rr_env_system;
	world->env.ctx = world;
	world->env.now = now;
	world->env.realloc = memory;
	world->drc = rr_drc_new(&world->env, &config);
	assert_non_null(world->drc);
}

/* Makes the key of a call with this XID; all else is the same in all calls. */
static struct rr_drc_key
key_of(uint32_t xid)
{
	static const struct rpcrdma_message call = { .stream = "head"
							       "args",
		.length = 8 };
	static const struct rr_caller caller = { .flavor = RR_AUTH_SYS, .named = true };

	return (struct rr_drc_key){ .peer = "192.0.2.1:700",
		.xid = xid,
		.prog = 1,
		.vers = 2,
		.proc = 3,
		.caller = &caller,
		.call = &call,
		.args_at = 4 };
}

/* Makes the call. True: it was executed now; false: it was answered again. */
static bool
execute(struct world *world, const struct rr_drc_key *key, uint32_t length)
{
	static const uint8_t octets[RR_DRC_REPLY_MAX + 1];
	const struct rpcrdma_message message = { .stream = octets, .length = length };
	uint8_t reply[RR_DRC_REPLY_MAX];
	struct rr_drc_call call;
	uint32_t got = 0;

	if (rr_drc_begin(world->drc, &call, key, reply, &got) == RR_DRC_ANSWERED) {
		assert_int_equal(got, length);
		return false;
	}
	rr_drc_end(world->drc, &call, &message);
	return true;
}

static bool
executed(struct world *world, uint32_t xid, uint32_t length)
{
	const struct rr_drc_key key = key_of(xid);

	return execute(world, &key, length);
}

static void
row_B7_the_port_of_the_caller_does_not_count(void **state)
{
	struct rr_drc_key key = key_of(1);
	struct world world;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_true(execute(&world, &key, 40));
	key.peer = "192.0.2.1:65535";
	assert_false(execute(&world, &key, 40));
	key.peer = "192.0.2.11:700";
	assert_true(execute(&world, &key, 40));
	key.peer = "[2001:db8::1]:700";
	assert_true(execute(&world, &key, 40));
	key.peer = "[2001:db8::1]:701";
	assert_false(execute(&world, &key, 40));
	key.peer = "in-process";
	assert_true(execute(&world, &key, 40));
	assert_false(execute(&world, &key, 40));
	assert_true(rr_drc_hits(world.drc) == 3);
	rr_drc_free(world.drc);
}

static void
everything_else_counts(void **state)
{
	const struct rpcrdma_message other_args = { .stream = "head"
							      "argt",
		.length = 8 };
	const struct rpcrdma_message fewer_args = { .stream = "head"
							      "args",
		.length = 7 };
	const struct rr_drc_key key = key_of(1);
	struct rr_drc_key others[7];
	struct rr_caller other = { .flavor = RR_AUTH_SYS, .named = true, .uid = 1 };
	struct world world;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_true(execute(&world, &key, 40));
	for (int i = 0; i < 7; i++)
		others[i] = key;
	others[0].xid++;
	others[1].prog++;
	others[2].vers++;
	others[3].proc++;
	others[4].caller = &other;
	others[5].call = &other_args;
	others[6].call = &fewer_args;
	for (int i = 0; i < 7; i++)
		assert_true(execute(&world, &others[i], 40));
	assert_false(execute(&world, &key, 40));
	rr_drc_free(world.drc);
}

/* The repetition has another credential of the same user. */
static void
the_header_of_the_call_does_not_count(void **state)
{
	const struct rpcrdma_message other_header = { .stream = "longhead"
								"args",
		.length = 12 };
	struct rr_drc_key key = key_of(1);
	struct world world;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_true(execute(&world, &key, 40));
	key.call = &other_header;
	key.args_at = 8;
	assert_false(execute(&world, &key, 40));
	rr_drc_free(world.drc);
}

/* Returns the call of "key 5 abcde 000 rest", with its five octets and their padding in place, or as an
 * item. */
static struct rpcrdma_message
framed(const struct rpcrdma_item *item)
{
	static const char whole[] = "head"
				    "key "
				    "\0\0\0\5"
				    "abcde\0\0\0"
				    "rest";
	static const char reduced[] = "head"
				      "key "
				      "\0\0\0\5"
				      "rest";

	if (!item)
		return (struct rpcrdma_message){ .stream = whole, .length = sizeof(whole) - 1 };
	return (struct rpcrdma_message){
		.stream = reduced, .length = sizeof(reduced) - 1, .item_count = 1, .items = item
	};
}

/* RFC 8166, 3.4.5.2: a Read chunk may bring the roundup padding of its item or not. */
static void
how_the_arguments_travelled_does_not_count(void **state)
{
	const struct rpcrdma_item bare = { "abcde", 5, 12 }, padded = { "abcde\0\0\0", 8, 12 };
	const struct rpcrdma_item dirty = { "abcdexyz", 8, 12 }, other = { "abcdf", 5, 12 };
	const struct rpcrdma_message calls[] = { framed(NULL), framed(&bare), framed(&padded),
		framed(&dirty) };
	const struct rpcrdma_message different = framed(&other);
	enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

	(void)state;
	for (uint32_t first = 0; first < CALLS; first++) {
		struct rr_drc_key key = key_of(1);
		struct world world;

		start(&world, rr_drc_config_default);
		key.call = &calls[first];
		assert_true(execute(&world, &key, 40));
		for (uint32_t second = 0; second < CALLS; second++) {
			key.call = &calls[second];
			assert_false(execute(&world, &key, 40));
		}
		key.call = &different;
		assert_true(execute(&world, &key, 40));
		rr_drc_free(world.drc);
	}
}

static void
the_oldest_makes_room_where_there_are_too_many(void **state)
{
	struct world world;

	(void)state;
	start(&world, (struct rr_drc_config){ .entries = 3, .octets = 1 << 20, .age = RR_SECOND });
	for (uint32_t xid = 1; xid <= 3; xid++)
		assert_true(executed(&world, xid, 40));
	for (uint32_t xid = 1; xid <= 3; xid++)
		assert_false(executed(&world, xid, 40)); /* looking for an answer does not push out answers */
	assert_true(executed(&world, 4, 40));
	assert_false(executed(&world, 2, 40));
	assert_true(executed(&world, 1, 40));
	rr_drc_free(world.drc);
}

static bool
executed_by(struct world *world, const char *peer, uint32_t uid, uint32_t xid)
{
	const struct rr_caller caller = { .flavor = RR_AUTH_SYS, .named = true, .uid = uid };
	struct rr_drc_key key = key_of(xid);

	key.peer = peer;
	key.caller = &caller;
	return execute(world, &key, 40);
}

/* A client with many calls does not push out the answers of other clients: neither of clients at other
 * addresses, nor of another connection from its own address, whatever users it claims to be. */
static void
a_client_pushes_out_its_own_answers_only(void **state)
{
	struct world world;

	(void)state;
	start(&world, (struct rr_drc_config){ .entries = 100, .octets = 1 << 20, .age = RR_SECOND });
	for (uint32_t xid = 0; xid < 10; xid++) {
		assert_true(executed_by(&world, "192.0.2.7:800", 1, xid));
		assert_true(executed_by(&world, "192.0.2.1:800", 1, xid));
	}
	for (uint32_t xid = 1000; xid < 18000; xid++)
		assert_true(executed_by(&world, "192.0.2.1:900", xid % 77, xid));
	for (uint32_t xid = 0; xid < 10; xid++) {
		assert_false(executed_by(&world, "192.0.2.7:801", 1, xid));
		assert_false(executed_by(&world, "192.0.2.1:801", 1, xid));
	}
	/* The rest of the room belongs to the busy client. */
	for (uint32_t xid = 17920; xid < 18000; xid++)
		assert_false(executed_by(&world, "192.0.2.1:900", xid % 77, xid));
	rr_drc_free(world.drc);
}

/* Nor can a host that makes a connection for each call push out what another connection of it was answered
 * just now, be that one call or several. */
static void
connections_made_anew_push_out_old_answers_first(void **state)
{
	enum { ENTRIES = 640, SEVERAL = 8, FLOOD = ENTRIES / 2 };
	struct world world;
	char peer[64];

	(void)state;
	start(&world, (struct rr_drc_config){ .entries = ENTRIES, .octets = 1 << 20, .age = RR_SECOND });
	for (uint32_t xid = 1000; xid < 1000 + 4 * ENTRIES; xid++) {
		snprintf(peer, sizeof(peer), "192.0.2.1:%u", xid);
		assert_true(executed_by(&world, peer, 1, xid));
		if (xid == 1000 + 4 * ENTRIES - FLOOD) {
			for (uint32_t own = 0; own < SEVERAL; own++)
				assert_true(executed_by(&world, "192.0.2.1:800", 1, own));
		}
	}
	for (uint32_t own = 0; own < SEVERAL; own++)
		assert_false(executed_by(&world, "192.0.2.1:801", 1, own));
	rr_drc_free(world.drc);
}

/* Many addresses of one IPv6 network cannot do so either. */
static void
many_addresses_of_one_network_have_one_share(void **state)
{
	struct world world;
	char peer[64];

	(void)state;
	start(&world, (struct rr_drc_config){ .entries = 100, .octets = 1 << 20, .age = RR_SECOND });
	for (uint32_t xid = 0; xid < 40; xid++)
		assert_true(executed_by(&world, "192.0.2.7:800", 1, xid));
	for (uint32_t xid = 1000; xid < 3000; xid++) {
		snprintf(peer, sizeof(peer), "[2001:db8::%x]:%u", xid, xid);
		assert_true(executed_by(&world, peer, 1, xid));
	}
	for (uint32_t xid = 0; xid < 40; xid++)
		assert_false(executed_by(&world, "192.0.2.7:801", 1, xid));
	rr_drc_free(world.drc);
}

static void
octets_are_bounded(void **state)
{
	struct world world;
	uint32_t kept = 0;

	(void)state;
	start(&world, (struct rr_drc_config){ .entries = 1000, .octets = 8192, .age = RR_SECOND });
	for (uint32_t xid = 1; xid <= 20; xid++)
		assert_true(executed(&world, xid, 1000));
	for (uint32_t xid = 20; xid > 0 && !executed(&world, xid, 1000); xid--)
		kept++;
	assert_int_equal(kept, 7); /* eight answers with their overhead would be more */
	rr_drc_free(world.drc);
}

static void
answers_grow_old(void **state)
{
	struct world world;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_true(executed(&world, 1, 40));
	world.now += RR_SECOND;
	assert_true(executed(&world, 2, 40));
	world.now += 119 * RR_SECOND;
	assert_false(executed(&world, 2, 40));
	assert_true(executed(&world, 1, 40));
	rr_drc_free(world.drc);
}

static void
what_cannot_be_kept_is_executed_again(void **state)
{
	static const uint8_t octets[40];
	const struct rpcrdma_item item = { octets, 4, 8 };
	const struct rpcrdma_message with_item = { octets, 40, 1, &item };
	const struct rpcrdma_message *const replies[] = { NULL, &with_item };
	const struct rr_drc_key key = key_of(9);
	uint8_t reply[RR_DRC_REPLY_MAX];
	struct rr_drc_call call;
	struct world world;
	uint32_t length;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_true(executed(&world, 1, RR_DRC_REPLY_MAX));
	assert_false(executed(&world, 1, RR_DRC_REPLY_MAX));
	assert_true(executed(&world, 2, RR_DRC_REPLY_MAX + 1));
	assert_true(executed(&world, 2, RR_DRC_REPLY_MAX + 1));
	world.no_memory = true;
	assert_true(executed(&world, 3, 40));
	world.no_memory = false;
	assert_true(executed(&world, 3, 40));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rr_drc_begin(world.drc, &call, &key, reply, &length), RR_DRC_NEW);
		rr_drc_end(world.drc, &call, replies[i]);
	}
	assert_true(executed(&world, 9, 40));
	rr_drc_free(world.drc);
	start(&world, (struct rr_drc_config){ .entries = 0, .octets = 8192, .age = RR_SECOND });
	assert_true(executed(&world, 1, 40));
	assert_true(executed(&world, 1, 40));
	rr_drc_free(world.drc);
}

/* Lets the first call come again while it is executed. Returns the world if the cache calls it busy. */
static void *
come_again(void *arg)
{
	const struct rr_drc_key key = key_of(1);
	struct world *world = arg;
	uint8_t reply[RR_DRC_REPLY_MAX];
	struct rr_drc_call call;
	uint32_t length;

	return rr_drc_begin(world->drc, &call, &key, reply, &length) == RR_DRC_BUSY ? world : NULL;
}

/* No caller waits, in this thread or in another: a thread has other calls to serve. */
static void
what_is_being_executed_is_busy_for_all_threads(void **state)
{
	static const uint8_t octets[40];
	const struct rpcrdma_message message = { .stream = octets, .length = 40 };
	const struct rr_drc_key key = key_of(1);
	uint8_t reply[RR_DRC_REPLY_MAX];
	struct rr_drc_call call;
	struct world world;
	uint32_t length;
	void *result;
	pthread_t thread;

	(void)state;
	start(&world, rr_drc_config_default);
	assert_int_equal(rr_drc_begin(world.drc, &call, &key, reply, &length), RR_DRC_NEW);
	assert_ptr_equal(come_again(&world), &world);
	assert_int_equal(pthread_create(&thread, NULL, come_again, &world), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &world);
	assert_true(executed(&world, 2, 40));
	rr_drc_end(world.drc, &call, &message);
	assert_false(executed(&world, 1, 40));
	assert_true(rr_drc_hits(world.drc) == 1);
	rr_drc_free(world.drc);
}

static void
without_memory_there_is_no_cache(void **state)
{
	struct world world;

	(void)state;
	start(&world, rr_drc_config_default);
	world.no_memory = true;
	assert_null(rr_drc_new(&world.env, &rr_drc_config_default));
	rr_drc_free(world.drc);
	rr_drc_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B7_the_port_of_the_caller_does_not_count),
		cmocka_unit_test(everything_else_counts),
		cmocka_unit_test(the_header_of_the_call_does_not_count),
		cmocka_unit_test(how_the_arguments_travelled_does_not_count),
		cmocka_unit_test(the_oldest_makes_room_where_there_are_too_many),
		cmocka_unit_test(a_client_pushes_out_its_own_answers_only),
		cmocka_unit_test(connections_made_anew_push_out_old_answers_first),
		cmocka_unit_test(many_addresses_of_one_network_have_one_share),
		cmocka_unit_test(octets_are_bounded),
		cmocka_unit_test(answers_grow_old),
		cmocka_unit_test(what_cannot_be_kept_is_executed_again),
		cmocka_unit_test(what_is_being_executed_is_busy_for_all_threads),
		cmocka_unit_test(without_memory_there_is_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
