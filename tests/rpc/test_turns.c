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

enum { IN_A_TURN = 16 }; /* how many calls of a millisecond each a turn of the loop serves */

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
	world->takes = RR_MILLISECOND;
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

/* Connections that are answered, and call again, do not overtake the connections that wait. */
static void
a_call_that_waits_is_not_overtaken(void **state)
{
	enum { MANY = IN_A_TURN + 1 };
	struct world *world = *state;
	uint32_t late = MANY;
	int fds[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		fds[i] = connect_from(world, 1 + i % 3);
	world_settle(world);
	world->takes = RR_MILLISECOND;
	for (uint32_t i = 0; i < MANY; i++)
		send_call(world, fds[i], i);
	turn_of_calls(world);
	assert_int_equal(world->handled, IN_A_TURN);
	for (uint32_t i = 0; i < MANY; i++) {
		if (handled_before(world, i) == world->handled)
			late = i;
	}
	assert_int_not_equal(late, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		if (i != late)
			send_call(world, fds[i], MANY + i);
	}
	turn_of_calls(world);
	assert_int_equal(handled_before(world, late), IN_A_TURN);
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
	world->takes = RR_MILLISECOND;
	for (uint32_t i = 0; i < BUSY; i++)
		send_call(world, fds[0], i);
	turn_of_calls(world);
	assert_int_equal(world->handled, IN_A_TURN);
	send_call(world, fds[1], OTHER);
	turn_of_calls(world);
	assert_in_range(handled_before(world, OTHER), IN_A_TURN, IN_A_TURN + 2);
	close_all(world, fds, 2);
}

/* Each new connection has its address found among those of all connections. */
static void
an_address_is_found_without_a_search(void **state)
{
	enum { ADDRESSES = 1024, LONGEST = 16 };
	struct world *world = *state;
	struct rr_host *hosts = rr_alloc_array(&rr_env_system, ADDRESSES, sizeof(*hosts));
	struct rr_line *lines = rr_alloc_array(&rr_env_system, 2 * ADDRESSES, sizeof(*lines));
	uint32_t before = world->server->addresses.count;

	assert_true(hosts && lines);
	for (uint32_t i = 0; i < 2 * ADDRESSES; i++)
		assert_true(rr_line_init(&lines[i], world->server, &hosts[i % ADDRESSES]));
	assert_int_equal(world->server->addresses.count, before + ADDRESSES);
	assert_in_range(longest_chain(&world->server->addresses), 1, LONGEST);
	for (uint32_t i = 0; i < 2 * ADDRESSES; i++) {
		assert_ptr_equal(lines[i].address, lines[(i + ADDRESSES) % (2 * ADDRESSES)].address);
		assert_int_equal(lines[i].address->lines, 2);
	}
	for (uint32_t i = 0; i < 2 * ADDRESSES; i++)
		rr_line_end(&lines[i]);
	assert_int_equal(world->server->addresses.count, before);
	rr_free(&rr_env_system, lines);
	rr_free(&rr_env_system, hosts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(an_address_has_one_turn_whatever_its_connections),
		suite_test(a_call_that_waits_is_not_overtaken),
		suite_test(connections_of_an_address_take_turns),
		suite_test(an_address_is_found_without_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
