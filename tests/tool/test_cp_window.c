/* SPDX-License-Identifier: BSD-3-Clause */
/* How many pieces cp moves at a time, with servers near and far. The time is a number that the tests move. */
#include "tool/cp/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { US = 1000, PIECE = 1 << 19, PIECES = 400 };

/* A server: an answer takes `latency` to come, however many are under way, and the data of two pieces come
 * one behind the other, each within `service`. */
struct server {
	uint64_t latency, service;
};

/* Moves pieces, as many at a time as the window says. Returns when the last one was moved; *now is when the
 * first one begins. Pieces end in the order of their beginning, so the oldest one is always the next to end.
 */
static uint64_t
move(struct rr_window *window, const struct server *server, uint64_t now, uint32_t pieces)
{
	uint64_t begun[RR_WINDOW_MOST], ends[RR_WINDOW_MOST], last = 0;
	uint32_t first = 0, next = 0;

	while (first < pieces) {
		uint32_t slot;

		for (; next < pieces && next - first < window->size; next++) {
			uint64_t came = now + server->latency;

			assert_true(window->size <= RR_WINDOW_MOST);
			slot = next % RR_WINDOW_MOST;
			begun[slot] = now;
			last = (came > last ? came : last) + server->service;
			ends[slot] = last;
		}
		slot = first++ % RR_WINDOW_MOST;
		now = ends[slot];
		rr_window_moved(window, begun[slot], now);
	}
	return now;
}

/* Returns the window's size after a copy from this server. */
static uint32_t
size_with(uint64_t latency, uint64_t service, uint32_t piece_size)
{
	struct rr_window window = { 0 };
	const struct server server = { latency, service };

	rr_window_begin(&window, piece_size, 1);
	move(&window, &server, 1, PIECES);
	return window.size;
}

static void
the_window_is_small_with_a_near_server(void **state)
{
	(void)state;
	assert_int_equal(size_with(0, 1000 * US, PIECE), 3);
	assert_int_equal(size_with(50 * US, 1000 * US, PIECE), 4);
	assert_int_equal(size_with(300 * US, 1000 * US, PIECE), 4);
}

static void
the_window_is_large_with_a_distant_server(void **state)
{
	(void)state;
	assert_int_equal(size_with(40000 * US, 1000 * US, PIECE), RR_WINDOW_MOST);
	assert_int_equal(size_with(10000 * US, 100 * US, PIECE), RR_WINDOW_MOST);
}

/* The answers of a server that waits for many disks come after some time, and then fast. */
static void
the_window_is_large_with_a_server_that_does_much_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(size_with(10000 * US, 0, PIECE), RR_WINDOW_MOST);
}

/* A server between: 4 ms away, and 1 ms for each piece. Five pieces are under way; the window has room for
 * twice as many. */
static void
the_window_has_room_for_what_is_under_way(void **state)
{
	uint32_t size = size_with(4000 * US, 1000 * US, PIECE);

	(void)state;
	assert_in_range(size, 10, 11);
}

static void
pieces_that_are_small_have_as_many_octets_under_way(void **state)
{
	(void)state;
	assert_int_equal(size_with(50 * US, 1000 * US, PIECE / 4), 8);
	assert_int_equal(size_with(50 * US, 1000 * US, 32768), RR_WINDOW_MOST);
	assert_int_equal(size_with(50 * US, 1000 * US, 0), RR_WINDOW_MOST);
}

static void
the_first_pieces_are_moved_alone(void **state)
{
	struct rr_window window = { 0 };

	(void)state;
	rr_window_begin(&window, PIECE, 1);
	assert_int_equal(window.size, 1);
	rr_window_moved(&window, 1, 5000 * US);
	assert_int_equal(window.size, 1);
	rr_window_begin(&window, PIECE, 6000 * US);
	assert_int_equal(window.size, 1);
	rr_window_moved(&window, 6000 * US, 7000 * US);
	assert_int_equal(window.size, 2);
	assert_int_equal(window.shortest, 1000 * US);
}

static void
large_pieces_are_still_read_while_others_are_written(void **state)
{
	struct rr_window window = { 0 };

	(void)state;
	rr_window_begin(&window, 16 * PIECE, 1);
	rr_window_moved(&window, 1, 1000 * US);
	rr_window_moved(&window, 1000 * US, 2000 * US);
	assert_int_equal(window.size, 2);
}

/* What passes between two files is not taken for time in which pieces were moved. */
static void
the_time_between_two_files_does_not_count(void **state)
{
	struct rr_window window = { 0 };
	const struct server server = { 40000 * US, 1000 * US };
	uint64_t now;

	(void)state;
	rr_window_begin(&window, PIECE, 1);
	now = move(&window, &server, 1, PIECES);
	now += 3600u * 1000000u * (uint64_t)US;
	rr_window_begin(&window, PIECE, now);
	assert_int_equal(window.size, RR_WINDOW_MOST);
	move(&window, &server, now, PIECES);
	assert_int_equal(window.size, RR_WINDOW_MOST);
}

/* The path becomes slow: fewer pieces are enough. */
static void
the_window_shrinks_with_the_rate(void **state)
{
	struct rr_window window = { 0 };
	const struct server fast = { 10000 * US, 100 * US }, slow = { 10000 * US, 10000 * US };
	uint64_t now;

	(void)state;
	rr_window_begin(&window, PIECE, 1);
	now = move(&window, &fast, 1, PIECES);
	assert_int_equal(window.size, RR_WINDOW_MOST);
	move(&window, &slow, now, PIECES);
	assert_int_equal(window.size, 4);
}

/* A clock that stands still, or a piece of hours, divides by no zero and overflows nothing. */
static void
times_at_the_edge_are_taken(void **state)
{
	struct rr_window window = { 0 };

	(void)state;
	rr_window_begin(&window, PIECE, 0);
	for (int i = 0; i < 50; i++)
		rr_window_moved(&window, 0, 0);
	assert_in_range(window.size, 2, RR_WINDOW_MOST);
	window = (struct rr_window){ 0 };
	rr_window_begin(&window, PIECE, 0);
	for (uint64_t i = 1; i < 50; i++)
		rr_window_moved(&window, 0, UINT64_MAX / 50 * i);
	assert_in_range(window.size, 2, RR_WINDOW_MOST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_is_small_with_a_near_server),
		cmocka_unit_test(the_window_is_large_with_a_distant_server),
		cmocka_unit_test(the_window_is_large_with_a_server_that_does_much_at_a_time),
		cmocka_unit_test(the_window_has_room_for_what_is_under_way),
		cmocka_unit_test(pieces_that_are_small_have_as_many_octets_under_way),
		cmocka_unit_test(the_first_pieces_are_moved_alone),
		cmocka_unit_test(large_pieces_are_still_read_while_others_are_written),
		cmocka_unit_test(the_time_between_two_files_does_not_count),
		cmocka_unit_test(the_window_shrinks_with_the_rate),
		cmocka_unit_test(times_at_the_edge_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
