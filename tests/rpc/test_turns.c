/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of connections, and of the addresses that they come from, when calls take long. */
#include "octets.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../chain.h"
#include "base/endian.h"
#include "rpc/server_private.h"
#include "suite.h"

/* How long a call takes here, and how many such calls a turn of the loop serves. */
#define TAKES (100 * RR_MICROSECOND)
enum { IN_A_TURN = RR_SERVER_TURN / TAKES };

/* Makes a connection from 127.0.0.last. */
static int
connect_from(struct world *world, uint32_t last)
{
	static const int on = 1;
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000 + last) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&world->address, sizeof(world->address)), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	return fd;
}

/* Calls ECHO_SUM of no numbers, and returns when the server's side of the connection has the call. */
static void
send_call(struct world *world, int fd, uint32_t xid)
{
	struct rr_octets call = rr_hex(CALL "00000002" NO_AUTH "00000000");
	int unsent = 1;

	rr_put_be32(call.data, xid);
	raw_send_record(world, fd, call.data, call.size);
	while (unsent > 0)
		assert_int_equal(ioctl(fd, SIOCOUTQ, &unsent), 0);
}

/* Turns the loop until a turn in which calls are handled. */
static void
turn_of_calls(struct world *world)
{
	uint32_t before = world->handled;

	world_until(world, world->handled > before);
}

/* Returns how many calls had been handled before that call; all of them, if it was not handled. */
static uint32_t
handled_before(const struct world *world, uint32_t xid)
{
	uint32_t count = 0;

	while (count < world->handled && world->xids[count] != xid)
		count++;
	return count;
}

static void
close_all(struct world *world, const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		close(fds[i]);
	world_settle(world);
}

static void
an_address_has_one_turn_whatever_its_connections(void **state)
{
	enum { MANY = 40, CALLS = 4, OTHER = 0x5a5a };
	struct world *world = *state;
	int fds[MANY + 1];
	uint32_t before;

	for (int i = 0; i < MANY; i++)
		fds[i] = connect_from(world, 1);
	fds[MANY] = connect_from(world, 2);
	world_settle(world);
	world->takes = TAKES;
	for (uint32_t i = 0; i < MANY * CALLS; i++)
		send_call(world, fds[i % MANY], i);
	turn_of_calls(world);
	before = world->handled;
	assert_in_range(before, 1, MANY * CALLS / 2);
	send_call(world, fds[MANY], OTHER);
	turn_of_calls(world);
	assert_in_range(handled_before(world, OTHER), before, before + 2);
	close_all(world, fds, MANY + 1);
}

/* Connections that are answered, and call again, do not overtake those connections of their address that
 * wait, whether their calls were read already or not. */
static void
a_call_that_waits_is_not_overtaken(void **state)
{
	enum { MANY = 2 * IN_A_TURN, ADDRESSES = 3 };
	struct world *world = *state;
	int fds[MANY];
	uint32_t first;

	for (uint32_t i = 0; i < MANY; i++)
		fds[i] = connect_from(world, 1 + i % ADDRESSES);
	world_settle(world);
	world->takes = TAKES;
	for (uint32_t i = 0; i < MANY; i++)
		send_call(world, fds[i], i);
	turn_of_calls(world);
	first = world->handled;
	assert_in_range(first, ADDRESSES, IN_A_TURN);
	for (uint32_t i = 0; i < first; i++)
		send_call(world, fds[world->xids[i]], MANY + world->xids[i]);
	world_until(world, world->handled == MANY + first);
	for (uint32_t late = 0; late < MANY; late++)
		for (uint32_t i = 0; handled_before(world, late) >= first && i < first; i++)
			if (world->xids[i] % ADDRESSES == late % ADDRESSES)
				assert_true(handled_before(world, late) <
					    handled_before(world, MANY + world->xids[i]));
	close_all(world, fds, MANY);
}

/* Each connection of an address has its turn among those of that address. */
static void
connections_of_an_address_take_turns(void **state)
{
	enum { BUSY = 32, OTHER = 0x5a5a };
	struct world *world = *state;
	int fds[2];

	for (int i = 0; i < 2; i++)
		fds[i] = connect_from(world, 1);
	world_settle(world);
	world->takes = TAKES;
	for (uint32_t i = 0; i < BUSY; i++)
		send_call(world, fds[0], i);
	turn_of_calls(world);
	assert_int_equal(world->handled, IN_A_TURN);
	send_call(world, fds[1], OTHER);
	turn_of_calls(world);
	assert_in_range(handled_before(world, OTHER), IN_A_TURN, IN_A_TURN + 2);
	close_all(world, fds, 2);
}

/* A connection from 127.0.0.1 has calls that take ten times as long as those of a connection from
 * 127.0.0.last. Checks that the time is shared, and not the number of calls. */
static void
check_that_time_is_shared(struct world *world, uint32_t last)
{
	enum { CALLS = 40, LONG_STEPS = 10 };
	uint32_t steps = 0, others = 0;
	int fds[2] = { connect_from(world, 1), connect_from(world, last) };

	world_settle(world);
	world->takes = TAKES;
	world->steps = LONG_STEPS;
	for (uint32_t i = 0; i < CALLS; i++)
		send_call(world, fds[0], WORLD_LONG + i);
	turn_of_calls(world);
	world->handled = 0;
	for (uint32_t i = 0; i < CALLS; i++)
		send_call(world, fds[1], i);
	for (; others < CALLS; others = world->handled - steps) {
		turn_of_calls(world);
		steps = 0;
		for (uint32_t i = 0; i < world->handled; i++)
			steps += world->xids[i] >= WORLD_LONG;
	}
	assert_in_range(steps, CALLS / 2, CALLS + 2 * LONG_STEPS);
	close_all(world, fds, 2);
}

static void
an_address_is_charged_the_time_of_its_calls(void **state)
{
	check_that_time_is_shared(*state, 2);
}

static void
a_connection_is_charged_the_time_of_its_calls(void **state)
{
	check_that_time_is_shared(*state, 1);
}

/* Returns the sum of what all addresses were charged. */
static uint64_t
charged(const struct world *world)
{
	const struct rr_list *hosts = &world->server->engine->shares.hosts;
	uint64_t sum = 0;

	for (struct rr_list *link = hosts->next; link != hosts; link = link->next)
		sum += rr_container(link, struct rr_host, link)->payer.turn.tag;
	return sum;
}

/* A call that nobody waits for is charged if it takes long: others may come meanwhile. */
static void
a_long_call_is_charged_although_nothing_waits(void **state)
{
	struct world *world = *state;
	int fd = connect_from(world, 1);

	world_settle(world);
	world->takes = RR_SERVER_BRIEF;
	send_call(world, fd, 1);
	turn_of_calls(world);
	assert_int_equal(charged(world), 0);
	world->takes = RR_SERVER_BRIEF + 1;
	send_call(world, fd, 2);
	turn_of_calls(world);
	assert_int_equal(charged(world), RR_SERVER_BRIEF + 1);
	close_all(world, &fd, 1);
}

/* Where several connections have something to be read, each pays for all of its time in the loop. */
static void
what_is_read_together_is_paid_for(void **state)
{
	struct world *world = *state;
	int fds[2] = { connect_from(world, 1), connect_from(world, 2) };

	world_settle(world);
	world->takes = RR_SERVER_BRIEF / 2;
	for (uint32_t i = 0; i < 2; i++)
		send_call(world, fds[i], i);
	turn_of_calls(world);
	assert_int_equal(world->handled, 2);
	assert_int_equal(charged(world), RR_SERVER_BRIEF);
	close_all(world, fds, 2);
}

/* A turn of the loop serves calls for a millisecond, be they ever so few. */
static void
a_turn_ends_after_a_single_long_call(void **state)
{
	struct world *world = *state;
	int fd = connect_from(world, 1);

	world_settle(world);
	world->takes = 2 * RR_SERVER_TURN;
	for (uint32_t i = 0; i < 4; i++)
		send_call(world, fd, i);
	for (uint32_t i = 1; i <= 4; i++) {
		turn_of_calls(world);
		assert_int_equal(world->handled, i);
	}
	close_all(world, &fd, 1);
}

/* Returns whether a reply to the connection has come. */
static bool
is_answered(struct world *world, int fd)
{
	uint8_t octets[64];

	for (int i = 0; i < 10; i++)
		world_turn(world);
	return recv(fd, octets, sizeof(octets), MSG_DONTWAIT) > 0;
}

/* A long call pauses: others that wait are served before it has ended. Then it goes on, and is answered. */
static void
a_long_call_lets_others_pass(void **state)
{
	enum { STEPS = 200, OTHER = 0x5a5a };
	struct world *world = *state;

	for (uint32_t last = 1; last <= 2; last++) {
		int fds[2] = { connect_from(world, 1), connect_from(world, last) };

		world_settle(world);
		world->takes = TAKES;
		world->steps = STEPS;
		world->pausing = true;
		world->handled = 0;
		send_call(world, fds[0], WORLD_LONG);
		turn_of_calls(world);
		assert_int_equal(world->handled, IN_A_TURN);
		send_call(world, fds[1], OTHER);
		turn_of_calls(world);
		assert_in_range(handled_before(world, OTHER), IN_A_TURN, IN_A_TURN + 2);
		assert_true(is_answered(world, fds[1]));
		world_until(world, world->handled == STEPS + 1);
		assert_true(is_answered(world, fds[0]));
		close_all(world, fds, 2);
	}
}

/* While others wait, a call goes on for RR_SERVER_SLICE at a time. */
static void
long_calls_take_turns(void **state)
{
	enum { CALLS = 3, STEPS = 20, SLICE = RR_SERVER_SLICE / TAKES };
	struct world *world = *state;
	uint32_t changes = 0;
	int fds[CALLS];

	for (uint32_t i = 0; i < CALLS; i++)
		fds[i] = connect_from(world, 1 + i);
	world_settle(world);
	world->takes = TAKES;
	world->steps = STEPS;
	world->pausing = true;
	for (uint32_t i = 0; i < CALLS; i++)
		send_call(world, fds[i], WORLD_LONG + i);
	world_until(world, world->handled == CALLS * STEPS);
	for (uint32_t i = 1; i < world->handled; i++)
		changes += world->xids[i] != world->xids[i - 1];
	/* The first call is alone until its first turn of the loop ends, and the last one at its end. */
	assert_true(changes >= CALLS * STEPS / SLICE - 2 * IN_A_TURN / SLICE);
	for (uint32_t i = 0; i < CALLS; i++)
		assert_true(is_answered(world, fds[i]));
	close_all(world, fds, CALLS);
}

/* What has begun is finished, although nobody waits for its answer. */
static void
a_call_whose_connection_ends_goes_on(void **state)
{
	enum { STEPS = 50 };
	struct world *world = *state;
	int fd = connect_from(world, 1);

	world_settle(world);
	world->takes = TAKES;
	world->steps = STEPS;
	world->pausing = true;
	send_call(world, fd, WORLD_LONG);
	turn_of_calls(world);
	assert_in_range(world->handled, 1, IN_A_TURN);
	close(fd);
	world_until(world, world->handled == STEPS);
	world_settle(world);
	assert_int_equal(world->server->block_count, 0);
}

static void
a_call_is_finished_when_its_server_is_freed(void **state)
{
	enum { STEPS = 50 };
	struct world *world = *state;
	int fd = connect_from(world, 1);

	world_settle(world);
	world->takes = TAKES;
	world->steps = STEPS;
	world->pausing = true;
	send_call(world, fd, WORLD_LONG);
	turn_of_calls(world);
	assert_in_range(world->handled, 1, IN_A_TURN);
	world_kill_server(world);
	assert_int_equal(world->handled, STEPS);
	world_start_server(world);
	close(fd);
}

/* Ends the call of ECHO_TALLY that the world has kept. */
static void
answer_kept(void *above, struct rpcrdma_request *request)
{
	(void)above;
	world_answer_kept(request->server->services[1].ctx);
}

/* A call that goes on waits for its turn like a new one; and it goes on at once where nothing else waits. */
static void
a_call_that_was_kept_goes_on_in_its_turn(void **state)
{
	enum { MANY = 4 * IN_A_TURN };
	struct world *world = *state;
	int fd = connect_from(world, 2);

	world_settle(world);
	world->keeping = true;
	for (int i = 0; i < 2; i++) {
		struct call *call = call_new(ECHO_TALLY);

		call_start(world, call);
		world_until(world, world->kept_count == 1);
		world->takes = TAKES;
		if (i == 1) {
			for (uint32_t j = 0; j < MANY; j++)
				send_call(world, fd, j);
			turn_of_calls(world);
		}
		world->kept[0]->above = NULL;
		rr_request_go_on(world->kept[0], answer_kept);
		assert_int_equal(world->kept_count, i);
		if (i == 1)
			turn_of_calls(world);
		assert_int_equal(world->kept_count, 0);
		assert_int_equal(call_wait(world, call), 0);
		call_free(call);
	}
	close_all(world, &fd, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(an_address_has_one_turn_whatever_its_connections),
		suite_test(a_call_that_waits_is_not_overtaken),
		suite_test(connections_of_an_address_take_turns),
		suite_test(an_address_is_charged_the_time_of_its_calls),
		suite_test(a_connection_is_charged_the_time_of_its_calls),
		suite_test(a_long_call_is_charged_although_nothing_waits),
		suite_test(what_is_read_together_is_paid_for),
		suite_test(a_turn_ends_after_a_single_long_call),
		suite_test(a_long_call_lets_others_pass),
		suite_test(long_calls_take_turns),
		suite_test(a_call_whose_connection_ends_goes_on),
		suite_test(a_call_is_finished_when_its_server_is_freed),
		suite_test(a_call_that_was_kept_goes_on_in_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
