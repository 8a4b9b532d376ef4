/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests the client of version 4 against a server that loses its sessions, restarts, asks the client to
 * come back later, and lies. */
#include "reader4.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nfs/client_private.h"
#include "vfs/nfs/v4/session/session.h"

/* Instead of waiting, the loop moves the clock. */
static bool jumps;

int
epoll_wait(int epoll, struct epoll_event *events, int count, int limit)
{
	int ready = (int)syscall(SYS_epoll_pwait, epoll, events, count, jumps ? 0 : limit, NULL, 0);

	if (jumps && ready == 0 && limit > 0)
		reader.fake->stage.now += (uint64_t)limit * RR_MILLISECOND;
	return ready;
}

/* ---- Recovery ---- */

static void
a_lost_session_is_made_again(void **state)
{
	static const nfsstat4 losses[] = { NFS4ERR_BADSESSION, NFS4ERR_DEADSESSION, NFS4ERR_BADSLOT,
		NFS4ERR_SEQ_FALSE_RETRY };

	(void)state;
	reader4_open();
	for (uint32_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		fake4_refuse(reader.fake, OP_SEQUENCE, losses[i], 1);
		reader4_assert_whole();
		assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], i + 2);
	}
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 1);
	assert_int_equal(reader.fake->calls[OP_OPEN], 1);
}

/* RFC 8881, 2.10.11.3: the session goes on over a connection that was bound to it; where the server refuses
 * that, another session is made. */
static void
a_connection_is_bound_to_the_session(void **state)
{
	(void)state;
	reader4_open();
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_CONN_NOT_BOUND_TO_SESSION, 3);
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_BIND_CONN_TO_SESSION], 3);
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 1);
}

/* RFC 8881, 2.10.6.2: "implementations MAY return NFS4ERR_MISORDERED" to a retry of a call that is under
 * way. */
static void
a_call_that_is_out_of_order_is_sent_again_before_the_session_is_given_up(void **state)
{
	(void)state;
	reader4_open();
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 3);
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 1);
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 30);
	reader4_assert_whole();
	assert_true(reader.fake->calls[OP_CREATE_SESSION] > 1);
}

static void
open_files_are_reclaimed_after_a_restart(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	reader.fake->lost = true;
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 2);
	assert_int_equal(reader.fake->reclaims, 1);
	assert_int_equal(reader.fake->opens, 1);
}

static void
what_cannot_be_reclaimed_is_opened_again(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	reader.fake->lost = true;
	fake4_refuse(reader.fake, OP_OPEN, NFS4ERR_NO_GRACE, 1);
	reader4_assert_whole();
	assert_int_equal(reader.fake->reclaims, 0);
	assert_int_equal(reader.fake->calls[OP_OPEN], 3);
}

static void
a_restart_while_many_calls_are_under_way_is_survived(void **state)
{
	struct reader4_piece pieces[16];

	(void)state;
	reader4_open();
	reader4_assert_whole();
	for (uint32_t i = 0; i < 16; i++)
		reader4_start(&pieces[i], 1000 * i, 1000);
	reader.fake->lost = true;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(reader4_end(&pieces[i]), 0);
	assert_memory_equal(reader.data, reader.fake->data, 16000);
	assert_int_equal(reader.fake->calls[OP_EXCHANGE_ID], 2);
}

static void
a_stateid_that_is_no_good_any_more_is_made_anew(void **state)
{
	static const nfsstat4 losses[] = { NFS4ERR_BAD_STATEID, NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED,
		NFS4ERR_OLD_STATEID };

	(void)state;
	reader4_open();
	for (uint32_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		fake4_refuse(reader.fake, OP_READ, losses[i], 1);
		reader4_assert_whole();
		assert_int_equal(reader.fake->calls[OP_OPEN], i + 2);
	}
}

static void
a_server_that_asks_to_come_back_later_is_asked_again(void **state)
{
	static const uint32_t operations[] = { OP_OPEN, OP_SEQUENCE, OP_READ };

	(void)state;
	fake4_refuse(reader.fake, OP_EXCHANGE_ID, NFS4ERR_DELAY, 3);
	reader4_open();
	for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		fake4_refuse(reader.fake, operations[i], NFS4ERR_DELAY, 3);
		reader4_assert_whole();
		assert_int_equal(reader.fake->times, 0);
	}
	/* The server has lost its state, and is in its grace period. */
	fake4_refuse(reader.fake, OP_OPEN, NFS4ERR_GRACE, 3);
	reader.fake->stateid++;
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 1);
}

/* Begins a call, which the server does not answer, and cancels it: its slot is in doubt. */
static void
give_up_a_call(void)
{
	struct reader4_piece piece;

	reader.fake->silent = true;
	reader4_start(&piece, 0, 1000);
	for (int turn = 0; turn < 100; turn++)
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	assert_false(piece.done);
	rr_nfs_io_cancel(&piece.io);
	reader.fake->silent = false;
}

static void
a_call_that_is_given_up_takes_its_slot_with_it(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	for (uint32_t i = 0; i < FAKE4_SLOTS; i++)
		give_up_a_call();
	/* No slot is left, so another session is made. */
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 2);
}

/* RFC 8881, 2.10.6.1: the server lowers "the value of sr_target_highest_slotid", here to the slot whose call
 * is given up next. */
static void
a_call_that_is_given_up_in_the_only_slot_allowed_makes_another_session(void **state)
{
	(void)state;
	reader4_open();
	reader.fake->one_slot = true;
	reader4_assert_whole();
	give_up_a_call();
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_CREATE_SESSION], 2);
}

static void
timer_expires(struct rr_timer *timer)
{
	(void)timer;
}

/* nfs.h: the function "first closes the files at the server and ends the session, which takes five seconds at
 * most". A timer of the caller ends a turn of the loop after four of them. */
static void
a_server_that_is_silent_at_the_end_is_left_in_time(void **state)
{
	struct rr_loop *loop;
	struct rr_timer timer;
	uint64_t begin;

	(void)state;
	reader4_open();
	reader4_assert_whole();
	loop = reader.fake->stage.loop;
	reader.fake->silent = true;
	rr_loop_disarm(loop, &reader.fake->stage.ticker);
	rr_timer_init(&timer, timer_expires);
	rr_loop_arm(loop, &timer, 4 * RR_SECOND);
	begin = reader.fake->stage.now;
	jumps = true;
	rpcrdma_nfs_close(reader.nfs);
	jumps = false;
	reader.nfs = NULL;
	assert_in_range(reader.fake->stage.now - begin, 4 * RR_SECOND, 5 * RR_SECOND + RR_MILLISECOND);
	rr_loop_disarm(loop, &timer);
	rr_loop_arm(loop, &reader.fake->stage.ticker, 0);
}

static void
turn_while(bool (*holds)(void))
{
	for (int turn = 0; turn < 20000 && holds(); turn++)
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	assert_false(holds());
}

static bool
refusals_are_left(void)
{
	return reader.fake->times > 0;
}

/* Makes the server forget the session, and refuse to make another one, once. */
static void
lose_session(void)
{
	reader.fake->session += 100;
	fake4_refuse(reader.fake, OP_CREATE_SESSION, NFS4ERR_SERVERFAULT, 1);
}

static struct reader4_piece group[3];
static int group_error;

/* Called when one piece of the group ends: cancels all others. */
static void
group_done(struct rr_nfs_io *io, int error)
{
	reader4_done(io, error);
	group_error = error;
	for (uint32_t i = 0; i < 3; i++) {
		if (!group[i].done)
			rr_nfs_io_cancel(&group[i].io);
		group[i].done = true;
	}
}

static void
a_call_that_ends_may_cancel_those_that_end_with_it(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	lose_session();
	for (uint32_t i = 0; i < 3; i++) {
		reader4_start(&group[i], 1000 * i, 1000);
		group[i].io.done = group_done;
	}
	reader4_end(&group[0]);
	assert_int_equal(group_error, -RPCRDMA_ERR_REJECTED);
	reader4_assert_whole();
}

static struct reader4_piece paused;

static bool
paused_is_under_way(void)
{
	return !paused.done;
}

/* Starts a call that the server asks to come back later, so that the call is in its slot for some time. */
static void
start_paused(void)
{
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_DELAY, 1);
	reader4_start(&paused, 0, 1000);
	turn_while(refusals_are_left);
}

static void
a_call_that_comes_back_after_the_session_was_refused_makes_another_one(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	start_paused();
	lose_session();
	assert_int_equal(reader4_read(1000, 1000), -RPCRDMA_ERR_REJECTED);
	assert_false(paused.done);
	turn_while(paused_is_under_way);
	assert_int_equal(paused.error, 0);
	assert_memory_equal(reader.data, reader.fake->data, 1000);
}

/* The OPEN fails while another call still has the stateid that the server does not know any more. */
static void
a_file_that_a_call_still_uses_stays_in_the_table_if_it_cannot_be_opened_again(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	start_paused();
	reader.fake->stateid++;
	fake4_refuse(reader.fake, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(reader4_read(1000, 1000), NFS3ERR_ACCES);
	assert_false(paused.done);
	assert_int_equal(rr_v4_opens(reader.nfs->v4), 1);
	turn_while(paused_is_under_way);
	assert_int_equal(paused.error, 0);
	assert_int_equal(rr_v4_opens(reader.nfs->v4), 1);
}

static bool
close_is_under_way(void)
{
	return reader.fake->calls[OP_CLOSE] == 0;
}

static void
a_file_that_is_made_while_it_is_closed_stays_open(void **state)
{
	struct rpcrdma_nfs_changes changes = { .size = sizeof(changes) };

	(void)state;
	reader4_open();
	reader4_assert_whole();
	/* The file is not used any more. The server lets its CLOSE wait. */
	fake4_refuse(reader.fake, OP_SEQUENCE, NFS4ERR_DELAY, 1);
	turn_while(refusals_are_left);
	assert_int_equal(rpcrdma_nfs_create(
				 reader.nfs, rr_nfs_root(reader.nfs), "file", &changes, &reader.object, NULL),
		0);
	assert_int_equal(reader.fake->calls[OP_OPEN], 2);
	assert_true(close_is_under_way());
	turn_while(close_is_under_way);
	reader4_assert_whole();
	assert_int_equal(reader.fake->calls[OP_OPEN], 2);
	assert_int_equal(rr_v4_opens(reader.nfs->v4), 1);
	rpcrdma_nfs_close(reader.nfs);
	reader.nfs = NULL;
	assert_int_equal(reader.fake->opens, 0);
}

static void
a_file_that_is_made_while_it_is_opened_waits_for_the_open(void **state)
{
	struct rpcrdma_nfs_changes changes = { .size = sizeof(changes) };

	(void)state;
	reader4_open();
	start_paused();
	assert_int_equal(rpcrdma_nfs_create(
				 reader.nfs, rr_nfs_root(reader.nfs), "file", &changes, &reader.object, NULL),
		0);
	assert_int_equal(reader.fake->calls[OP_OPEN], 1);
	assert_false(paused.done);
	assert_int_equal(reader4_read(1000, 1000), 0);
	assert_int_equal(reader.fake->calls[OP_OPEN], 2);
	turn_while(paused_is_under_way);
	assert_int_equal(paused.error, 0);
	assert_int_equal(rr_v4_opens(reader.nfs->v4), 1);
}

static void
a_close_that_is_refused_for_ever_is_given_up(void **state)
{
	(void)state;
	reader4_open();
	reader4_assert_whole();
	fake4_refuse(reader.fake, OP_CLOSE, NFS4ERR_RETRY_UNCACHED_REP, 1000);
	for (int turn = 0; turn < 1000 && rr_v4_opens(reader.nfs->v4) > 0; turn++) {
		rr_v4_close_idle(reader.nfs->v4, 0, 0);
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	}
	assert_int_equal(rr_v4_opens(reader.nfs->v4), 0);
	assert_int_equal(1000 - reader.fake->times, RR_V4_RETRIES + 1);
}

/* ---- Hostile servers ---- */

/* The client neither crashes nor goes on for ever. */
static void
a_server_that_always_asks_for_the_same_gets_it_so_often(void **state)
{
	static const struct {
		uint32_t op;
		nfsstat4 status;
	} always[] = {
		{ OP_SEQUENCE, NFS4ERR_BADSESSION },
		{ OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED },
		{ OP_SEQUENCE, NFS4ERR_DELAY },
		{ OP_READ, NFS4ERR_BAD_STATEID },
		{ OP_READ, NFS4ERR_RETRY_UNCACHED_REP },
		{ OP_READ, NFS4ERR_DELAY },
		{ OP_OPEN, NFS4ERR_GRACE },
		{ OP_OPEN, NFS4ERR_RETRY_UNCACHED_REP },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		reader4_open();
		if (always[i].op != OP_OPEN)
			reader4_assert_whole();
		fake4_refuse(reader.fake, always[i].op, always[i].status, UINT32_MAX);
		assert_int_not_equal(reader4_read(0, 1000), 0);
		rpcrdma_nfs_close(reader.nfs);
		reader.nfs = NULL;
		reader.fake->times = 0;
	}
}

static void
steps_that_are_refused_for_ever_end_the_opening(void **state)
{
	static const struct {
		uint32_t op;
		nfsstat4 status;
	} always[] = {
		{ OP_EXCHANGE_ID, NFS4ERR_DELAY },
		{ OP_EXCHANGE_ID, NFS4ERR_STALE_CLIENTID },
		{ OP_EXCHANGE_ID, NFS4ERR_SERVERFAULT },
		{ OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID },
		{ OP_CREATE_SESSION, NFS4ERR_SEQ_MISORDERED },
		{ OP_CREATE_SESSION, NFS4ERR_TOOSMALL },
		{ OP_RECLAIM_COMPLETE, NFS4ERR_BADSESSION },
		{ OP_SEQUENCE, NFS4ERR_BADSESSION },
		{ OP_SEQUENCE, NFS4ERR_STALE_CLIENTID },
	};
	struct rr_text text;

	(void)state;
	for (uint32_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		fake4_refuse(reader.fake, always[i].op, always[i].status, UINT32_MAX);
		assert_int_not_equal(fake4_open(reader.fake, RR_NFS_VERSION_42, &reader.nfs, &text), 0);
		reader.nfs = NULL;
	}
}

static void
lies_end_what_is_under_way_with_an_error(void **state)
{
	struct rr_text text;

	(void)state;
	for (int lie = FAKE4_HONEST + 1; lie < FAKE4_LIES; lie++) {
		reader.fake->lie = (enum fake4_lie)lie;
		if (fake4_open(reader.fake, RR_NFS_VERSION_42, &reader.nfs, &text) == 0)
			fail_msg("lie %d was believed", lie);
		reader.nfs = NULL;
	}
}

static void
lies_about_open_files_end_what_is_under_way_with_an_error(void **state)
{
	(void)state;
	for (int lie = FAKE4_HONEST + 1; lie < FAKE4_DEAD_SESSIONS; lie++) {
		reader.fake->lie = FAKE4_HONEST;
		reader4_open();
		reader.fake->lie = (enum fake4_lie)lie;
		if (rr_nfs_walk(reader.nfs, "file", true, &reader.object) == 0)
			fail_msg("lie %d was believed", lie);
		rpcrdma_nfs_close(reader.nfs);
		reader.nfs = NULL;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reader4_setup, reader4_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_server_that_is_silent_at_the_end_is_left_in_time),
		TEST(a_lost_session_is_made_again),
		TEST(a_connection_is_bound_to_the_session),
		TEST(a_call_that_is_out_of_order_is_sent_again_before_the_session_is_given_up),
		TEST(open_files_are_reclaimed_after_a_restart),
		TEST(what_cannot_be_reclaimed_is_opened_again),
		TEST(a_restart_while_many_calls_are_under_way_is_survived),
		TEST(a_stateid_that_is_no_good_any_more_is_made_anew),
		TEST(a_server_that_asks_to_come_back_later_is_asked_again),
		TEST(a_call_that_is_given_up_takes_its_slot_with_it),
		TEST(a_call_that_is_given_up_in_the_only_slot_allowed_makes_another_session),
		TEST(a_call_that_ends_may_cancel_those_that_end_with_it),
		TEST(a_call_that_comes_back_after_the_session_was_refused_makes_another_one),
		TEST(a_file_that_a_call_still_uses_stays_in_the_table_if_it_cannot_be_opened_again),
		TEST(a_file_that_is_made_while_it_is_closed_stays_open),
		TEST(a_file_that_is_made_while_it_is_opened_waits_for_the_open),
		TEST(a_close_that_is_refused_for_ever_is_given_up),
		TEST(a_server_that_always_asks_for_the_same_gets_it_so_often),
		TEST(steps_that_are_refused_for_ever_end_the_opening),
		TEST(lies_end_what_is_under_way_with_an_error),
		TEST(lies_about_open_files_end_what_is_under_way_with_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
