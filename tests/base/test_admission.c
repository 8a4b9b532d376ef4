/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of the connection that is cut off when there are as many as there may be, and another client
 * comes. */
#include "../stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/share/share.h"

enum { MAX = 16, MEMBERS = 64 };

struct member {
	struct rr_party *party; /* NULL: gone */
	struct world *world;
	bool busy, cut;
	uint32_t looks; /* how often its connection was asked whether it is busy */
};

struct world {
	struct stage stage;
	struct rr_shares shares;
	struct member members[MEMBERS];
	uint32_t count;
};

static bool
member_is_busy(void *ctx)
{
	struct member *member = ctx;

	member->looks++;
	return member->busy;
}

static void
member_cut(void *ctx, const char *why)
{
	struct member *member = ctx;

	(void)why;
	member->cut = true;
}

static const struct rr_party_ops member_ops = { .is_busy = member_is_busy, .cut = member_cut };

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	stage_loop(&world->stage);
	rr_shares_init(&world->shares, world->stage.loop);
	world->shares.accepted_max = MAX;
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	for (uint32_t i = 0; i < world->count; i++)
		rr_party_end(world->members[i].party, &world->members[i]);
	assert_int_equal(rr_shares_accepted(&world->shares), 0);
	rr_shares_end(&world->shares);
	stage_end(&world->stage);
	free(world);
	return 0;
}

/* A client connects from that address. Returns its connection; NULL: it was declined. Connections that were
 * cut off to make room end. */
static struct member *
arrive(struct world *world, const char *peer, enum rr_accepted kind)
{
	struct member *member = &world->members[world->count];

	if (!rr_shares_admit(&world->shares, peer))
		return NULL;
	for (uint32_t i = 0; i < world->count; i++) {
		struct member *other = &world->members[i];

		if (other->cut)
			rr_party_end(other->party, other);
		if (other->cut)
			other->party = NULL;
	}
	assert_true(world->count < MEMBERS);
	world->count++;
	member->world = world;
	member->party = rr_party_new(&world->shares, peer, &member_ops, member);
	assert_non_null(member->party);
	rr_party_accepted(member->party, kind);
	assert_true(rr_shares_accepted(&world->shares) <= MAX);
	return member;
}

static struct member *
arrive_tcp(struct world *world, const char *peer)
{
	return arrive(world, peer, RR_ACCEPTED_TCP);
}

static void
fill(struct world *world, const char *peer, bool call)
{
	while (rr_shares_accepted(&world->shares) < MAX) {
		struct member *member = arrive_tcp(world, peer);

		if (call)
			rr_party_called(member->party);
	}
}

static void
silent_connections_keep_nobody_out(void **state)
{
	struct world *world = *state;
	struct member *caller = arrive_tcp(world, "10.0.0.1:1");

	rr_party_called(caller->party);
	fill(world, "10.0.0.1:2", false);
	/* Silent connections make room for others at once, and also when they have been silent for long; the
	 * oldest goes first. */
	assert_non_null(arrive_tcp(world, "10.0.0.1:3"));
	assert_true(world->members[1].cut);
	world->stage.now += 100 * RR_SECOND;
	assert_non_null(arrive_tcp(world, "10.0.0.2:3"));
	assert_true(world->members[2].cut);
	assert_non_null(arrive(world, "10.0.0.1:3", RR_ACCEPTED_RDMA));
	assert_true(world->members[3].cut);
	assert_false(caller->cut);
}

/* Silent connections, one from each of many addresses, do not drive out the connections of an address that
 * calls. */
static void
silent_ones_go_before_any_that_called(void **state)
{
	struct world *world = *state;
	struct member *callers[3];
	char peer[32];

	for (int i = 0; i < 3; i++) {
		callers[i] = arrive_tcp(world, "10.0.0.1:1");
		rr_party_called(callers[i]->party);
	}
	for (int i = 3; i < MAX; i++) {
		snprintf(peer, sizeof(peer), "10.1.0.%d:1", i);
		arrive_tcp(world, peer);
	}
	world->stage.now += 2 * RR_SECOND;
	for (int i = 0; i < 10; i++)
		assert_non_null(arrive_tcp(world, "10.0.0.9:1"));
	for (int i = 0; i < 3; i++)
		assert_false(callers[i]->cut);
	for (int i = 3; i < 13; i++)
		assert_true(world->members[i].cut);
}

/* A newcomer has some time for its first call: connections that call once and come again do not take its
 * place. */
static void
a_newcomer_has_time_for_its_first_call(void **state)
{
	struct world *world = *state;
	struct member *newcomer;

	fill(world, "10.0.0.1:1", true);
	newcomer = arrive_tcp(world, "10.0.0.2:1");
	for (int i = 0; i < 40; i++) {
		struct member *again = arrive_tcp(world, "10.0.0.1:1");

		assert_non_null(again);
		rr_party_called(again->party);
	}
	assert_false(newcomer->cut);
}

static void
of_those_that_called_the_longest_without_a_call_goes(void **state)
{
	struct world *world = *state;

	fill(world, "10.0.0.1:1", true);
	rr_party_called(world->members[0].party);
	assert_non_null(arrive_tcp(world, "10.0.0.1:1"));
	assert_false(world->members[0].cut);
	assert_true(world->members[1].cut);
	assert_int_equal(world->count, MAX + 1);
}

/* Every connection of an address has calls under way: other addresses get their share of the connections all
 * the same, and this address gets no more connections. */
static void
an_address_keeps_no_more_than_its_share(void **state)
{
	struct world *world = *state;

	fill(world, "10.0.0.1:1", true);
	for (uint32_t i = 0; i < world->count; i++)
		world->members[i].busy = true;
	assert_null(arrive_tcp(world, "10.0.0.1:1"));
	for (int i = 0; i < MAX / 2; i++) {
		struct member *member = arrive_tcp(world, "10.0.0.2:1");

		assert_non_null(member);
		rr_party_called(member->party);
		member->busy = true;
	}
	assert_null(arrive_tcp(world, "10.0.0.2:1"));
	assert_null(arrive_tcp(world, "10.0.0.1:1"));
	for (uint32_t i = MAX; i < world->count; i++)
		assert_false(world->members[i].cut);
	/* A call that is never answered, as the peer does not read, protects its connection for a limited
	 * time. */
	world->stage.now += 61 * RR_SECOND;
	assert_non_null(arrive_tcp(world, "10.0.0.1:1"));
	assert_true(rr_shares_accepted(&world->shares) <= MAX);
}

/* An address with few connections does not lose them to an address with more. */
static void
an_address_with_more_takes_none_from_one_with_fewer(void **state)
{
	struct world *world = *state;
	struct member *few = arrive_tcp(world, "10.0.0.2:1");

	rr_party_called(few->party);
	fill(world, "10.0.0.1:1", true);
	for (uint32_t i = 1; i < world->count; i++)
		world->members[i].busy = true;
	world->stage.now += 10 * RR_SECOND;
	assert_null(arrive_tcp(world, "10.0.0.1:1"));
	assert_false(few->cut);
}

static void
the_first_half_of_an_ipv6_address_is_one_host(void **state)
{
	static const struct {
		const char *peer, *name;
	} rows[] = {
		{ "192.0.2.1:2049", "192.0.2.1" },
		{ "[::ffff:192.0.2.1]:2049", "192.0.2.1" },
		{ "[2001:db8:1:2:3:4:5:6]:1", "[2001:db8:1:2::/64]" },
		{ "[2001:db8:1:2::9]:700", "[2001:db8:1:2::/64]" },
		{ "[2001:db8:1:3::9]:700", "[2001:db8:1:3::/64]" },
		{ "[fe80::1%eth0]:700", "[fe80::/64]" },
		{ "[::1]:1", "[::/64]" },
		{ "loop", "loop" },
		{ "", "" },
		{ "[", "[" },
		{ "[zz]:1", "[zz]" },
	};
	char name[RR_HOST_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rr_host_name(rows[i].peer, name);
		assert_string_equal(name, rows[i].name);
	}
}

/* With very many connections, too: and the next newcomer has others looked at. */
static void
a_newcomer_costs_a_bounded_number_of_looks(void **state)
{
	enum { LOOKS = 1024, CONNECTIONS = 3 * LOOKS };
	struct world *world = *state;
	struct member *members = calloc(CONNECTIONS, sizeof(*members));
	char peer[32];

	assert_non_null(members);
	world->shares.accepted_max = CONNECTIONS;
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		snprintf(peer, sizeof(peer), "10.0.%u.%u:1", i / 256, i % 256);
		members[i].party = rr_party_new(&world->shares, peer, &member_ops, &members[i]);
		assert_non_null(members[i].party);
		rr_party_accepted(members[i].party, RR_ACCEPTED_TCP);
		rr_party_called(members[i].party);
	}
	for (uint32_t newcomer = 1; newcomer <= 3; newcomer++) {
		uint32_t looks = 0;

		assert_true(rr_shares_make_room(&world->shares, "10.1.0.0:1", RR_NOT_ACCEPTED));
		for (uint32_t i = 0; i < CONNECTIONS; i++)
			looks += members[i].looks;
		assert_int_equal(looks, newcomer * LOOKS);
	}
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		assert_int_equal(members[i].looks, 1);
		/* Of each 1024, that without a call for the longest time. */
		assert_int_equal(members[i].cut, i % LOOKS == 0);
		rr_party_end(members[i].party, &members[i]);
	}
	free(members);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silent_connections_keep_nobody_out),
		TEST(silent_ones_go_before_any_that_called),
		TEST(a_newcomer_has_time_for_its_first_call),
		TEST(of_those_that_called_the_longest_without_a_call_goes),
		TEST(an_address_keeps_no_more_than_its_share),
		TEST(an_address_with_more_takes_none_from_one_with_fewer),
		TEST(a_newcomer_costs_a_bounded_number_of_looks),
		cmocka_unit_test(the_first_half_of_an_ipv6_address_is_one_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
