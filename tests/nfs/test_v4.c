/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests the client of version 4 against a server that loses its sessions, restarts, asks the client to
 * come back later, and lies. */
#include "fake4.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nfs/client_private.h"

static struct fake4 *fake;
static struct rpcrdma_nfs *nfs;
static struct rr_nfs_object object;
static uint8_t data[FAKE4_SIZE];

/* Instead of waiting, the loop moves the clock. */
static bool jumps;

int
epoll_wait(int epoll, struct epoll_event *events, int count, int limit)
{
	int ready = (int)syscall(SYS_epoll_pwait, epoll, events, count, jumps ? 0 : limit, NULL, 0);

	if (jumps && ready == 0 && limit > 0)
		fake->stage.now += (uint64_t)limit * RR_MILLISECOND;
	return ready;
}

static int
setup(void **state)
{
	(void)state;
	fake = fake4_new();
	nfs = NULL;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(nfs);
	fake4_free(fake);
	return 0;
}

struct piece {
	struct rr_nfs_io io;
	bool done;
	int error;
};

static void
piece_done(struct rr_nfs_io *io, int error)
{
	struct piece *piece = io->ctx;

	piece->done = true;
	piece->error = error;
}

static void
piece_start(struct piece *piece, uint64_t offset, uint32_t length)
{
	*piece = (struct piece){ .io = { .file = &object.handle,
					 .data = data + offset,
					 .offset = offset,
					 .length = length,
					 .done = piece_done } };
	piece->io.ctx = piece;
	rr_nfs_read(nfs, &piece->io);
}

static int
piece_end(struct piece *piece)
{
	while (!piece->done)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	return piece->error;
}

static int
read_file(uint64_t offset, uint32_t length)
{
	struct piece piece;

	piece_start(&piece, offset, length);
	return piece_end(&piece);
}

static void
open_file(void)
{
	nfs = fake4_must_open(fake);
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), 0);
	assert_int_equal(object.attributes.type, NF3REG);
	assert_int_equal(object.attributes.uid, 1000);
}

static void
assert_whole(void)
{
	assert_int_equal(read_file(0, FAKE4_SIZE), 0);
	assert_memory_equal(data, fake->data, FAKE4_SIZE);
}

/* ---- The session ---- */

static void
a_session_is_made_and_ended(void **state)
{
	(void)state;
	nfs = fake4_must_open(fake);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 1);
	assert_int_equal(fake->calls[OP_CREATE_SESSION], 1);
	assert_int_equal(fake->calls[OP_RECLAIM_COMPLETE], 1);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->calls[OP_DESTROY_SESSION], 1);
	assert_int_equal(fake->calls[OP_DESTROY_CLIENTID], 1);
}

static void
a_minor_version_that_is_not_there_is_said(void **state)
{
	struct rr_text text;

	(void)state;
	fake->minor_max = 1;
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_42, &nfs, &text), -RPCRDMA_ERR_PROG_MISMATCH);
	assert_non_null(strstr(text.text, "4.2"));
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_41, &nfs, &text), 0);
}

static void
a_path_is_walked_once_while_the_highest_version_is_found(void **state)
{
	struct rr_text text;

	(void)state;
	fake->path = "/file";
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_ANY, &nfs, &text), 0);
	assert_int_equal(fake->calls[OP_LOOKUP], 1);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 1);
}

/* The server of this test does not have version 3, so the client goes back to version 4, with another
 * session. */
static void
only_a_path_whose_first_name_is_missing_is_looked_for_with_version_3(void **state)
{
	struct rr_text text;

	(void)state;
	fake->path = "/missing/file";
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_ANY, &nfs, &text), 0);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 2);
	rpcrdma_nfs_close(nfs);
	fake->path = "/file/missing";
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_ANY, &nfs, &text), 0);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 3);
}

static void
a_file_is_opened_once_and_closed_at_the_end(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	assert_whole();
	assert_int_equal(fake->calls[OP_OPEN], 1);
	assert_int_equal(fake->opens, 1);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->opens, 0);
}

/* The loop closes a file that is not used any more, without further calls. */
static void
a_file_that_is_not_used_is_closed(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	while (fake->opens > 0)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_whole();
	assert_int_equal(fake->calls[OP_OPEN], 2);
}

static void
no_more_slots_are_used_than_there_are(void **state)
{
	struct piece pieces[16];

	(void)state;
	open_file();
	for (uint32_t i = 0; i < 16; i++)
		piece_start(&pieces[i], 1000 * i, 1000);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(piece_end(&pieces[i]), 0);
	assert_memory_equal(data, fake->data, 16000);
	assert_int_equal(fake->calls[OP_OPEN], 1);
	assert_true(fake->highest < FAKE4_SLOTS);
}

/* RFC 8881, 18.46.3: "the highest slot ID for which the client has a request outstanding" */
static void
all_of_64_slots_are_used(void **state)
{
	struct piece pieces[FAKE4_SLOTS_MAX + 1];

	(void)state;
	fake->slots = FAKE4_SLOTS_MAX;
	open_file();
	for (uint32_t i = 0; i <= FAKE4_SLOTS_MAX; i++)
		piece_start(&pieces[i], 1000 * i, 1000);
	for (uint32_t i = 0; i <= FAKE4_SLOTS_MAX; i++)
		assert_int_equal(piece_end(&pieces[i]), 0);
	assert_memory_equal(data, fake->data, 1000 * (FAKE4_SLOTS_MAX + 1));
	assert_int_equal(fake->highest, FAKE4_SLOTS_MAX - 1);
	assert_true(fake->beside > 0);
}

/* RFC 8881, 8.3: "a COMPOUND consisting of a single SEQUENCE operation will suffice" */
static void
the_lease_is_renewed_while_nothing_is_asked(void **state)
{
	uint32_t before;

	(void)state;
	open_file();
	before = fake->calls[OP_SEQUENCE];
	while (fake->calls[OP_SEQUENCE] < before + 2)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 1);
}

static void
a_delegation_that_nobody_wanted_is_returned(void **state)
{
	(void)state;
	fake->delegates = true;
	open_file();
	assert_whole();
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->calls[OP_DELEGRETURN], 1);
}

/* ---- Small files: one COMPOUND each ---- */

static void
refuse(uint32_t op, nfsstat4 status, uint32_t times)
{
	fake->refused = op;
	fake->refusal = status;
	fake->times = times;
}

static int
read_once(void)
{
	struct piece piece = { .io = { .file = &object.handle,
				       .data = data,
				       .length = FAKE4_SIZE,
				       .once = true,
				       .done = piece_done } };

	piece.io.ctx = &piece;
	memset(data, 0, sizeof(data));
	rr_nfs_read(nfs, &piece.io);
	return piece_end(&piece);
}

/* RFC 8881, 16.2.3.1.2: the COMPOUND uses the current stateid for READ and CLOSE after OPEN. */
static void
a_small_file_is_opened_and_read_and_closed_by_one_call(void **state)
{
	uint32_t before;

	(void)state;
	open_file();
	before = fake->calls[OP_SEQUENCE];
	assert_int_equal(read_once(), 0);
	assert_memory_equal(data, fake->data, FAKE4_SIZE);
	assert_int_equal(fake->calls[OP_SEQUENCE], before + 1);
	assert_int_equal(fake->calls[OP_CLOSE], 1);
	assert_int_equal(fake->opens, 0);
}

static void
a_small_file_that_cannot_be_read_is_closed_all_the_same(void **state)
{
	(void)state;
	open_file();
	refuse(OP_READ, NFS4ERR_IO, 1);
	assert_int_equal(read_once(), NFS3ERR_IO);
	refuse(OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(read_once(), NFS3ERR_ACCES);
	assert_int_equal(fake->opens, 1);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->opens, 0);
}

static void
a_server_without_current_stateids_reads_small_files_as_others(void **state)
{
	(void)state;
	open_file();
	refuse(OP_READ, NFS4ERR_BAD_STATEID, 1);
	assert_int_equal(read_once(), 0);
	assert_memory_equal(data, fake->data, FAKE4_SIZE);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->opens, 0);
}

static void
small_files_survive_a_restart_and_a_lost_session(void **state)
{
	(void)state;
	open_file();
	refuse(OP_READ, NFS4ERR_IO, 1);
	assert_int_equal(read_once(), NFS3ERR_IO); /* this open waits to be closed */
	fake->lost = true;
	assert_int_equal(read_once(), 0);
	refuse(OP_SEQUENCE, NFS4ERR_BADSESSION, 1);
	assert_int_equal(read_once(), 0);
	refuse(OP_READ, NFS4ERR_RETRY_UNCACHED_REP, 1);
	assert_int_equal(read_once(), 0);
	assert_memory_equal(data, fake->data, FAKE4_SIZE);
	assert_int_equal(fake->reclaims, 0);
}

static void
a_delegation_of_a_small_file_is_returned(void **state)
{
	(void)state;
	fake->delegates = true;
	open_file();
	assert_int_equal(read_once(), 0);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->calls[OP_DELEGRETURN], 1);
}

struct putting {
	struct rr_nfs_op op;
	bool done, made;
	int error;
};

static void
put_done(struct rr_nfs_op *op, int error)
{
	struct putting *putting = op->ctx;

	putting->done = true;
	putting->error = error;
}

static int
put_file(bool *made)
{
	struct putting putting = { .op = { .done = put_done } };
	const struct rr_nfs_put put = { rr_nfs_root(nfs), "temporary", "name", { .mode = { true, { 0640 } } },
		data, 1000, &putting.made };

	putting.op.ctx = &putting;
	assert_true(rr_nfs_can_put(nfs));
	rr_nfs_op_put(nfs, &putting.op, &put);
	while (!putting.done)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	*made = putting.made;
	return putting.error;
}

static void
a_small_file_is_made_and_written_and_renamed_by_one_call(void **state)
{
	uint32_t before;
	bool made;

	(void)state;
	nfs = fake4_must_open(fake);
	before = fake->calls[OP_SEQUENCE];
	assert_int_equal(put_file(&made), 0);
	assert_int_equal(fake->calls[OP_SEQUENCE], before + 1);
	assert_int_equal(fake->calls[OP_WRITE], 1);
	assert_int_equal(fake->calls[OP_SETATTR], 1);
	assert_int_equal(fake->calls[OP_RENAME], 1);
	assert_int_equal(fake->calls[OP_CLOSE], 1);
	assert_int_equal(fake->opens, 0);
}

/* RFC 8881, 18.32.3: "The server MAY write fewer bytes than requested by the client". */
static void
a_small_file_that_is_not_whole_is_not_renamed(void **state)
{
	static const struct {
		uint32_t op;
		nfsstat4 status;
		uint32_t opens;
		bool made;
	} refusals[] = {
		{ OP_SAVEFH, NFS4ERR_DELAY, 0, false },
		{ OP_OPEN, NFS4ERR_EXIST, 0, false },
		{ OP_WRITE, NFS4ERR_NOSPC, 1, true },
		{ OP_VERIFY, NFS4ERR_NOT_SAME, 1, true },
		{ OP_SETATTR, NFS4ERR_PERM, 1, true },
		{ OP_CLOSE, NFS4ERR_DELAY, 1, true },
		{ OP_RESTOREFH, NFS4ERR_STALE, 0, true },
		{ OP_RENAME, NFS4ERR_EXIST, 0, true },
	};
	bool made;

	(void)state;
	for (uint32_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		nfs = fake4_must_open(fake);
		refuse(refusals[i].op, refusals[i].status, 1);
		assert_int_equal(put_file(&made), refusals[i].status);
		assert_int_equal(made, refusals[i].made);
		assert_int_equal(fake->opens, refusals[i].opens);
		rpcrdma_nfs_close(nfs);
		nfs = NULL;
		assert_int_equal(fake->opens, 0);
	}
	assert_int_equal(fake->calls[OP_RENAME], 1);
}

static void
a_session_of_few_operations_does_not_make_whole_files(void **state)
{
	(void)state;
	fake->operations = 10;
	nfs = fake4_must_open(fake);
	assert_false(rr_nfs_can_put(nfs));
}

/* The longest COMPOUND that the client cannot do without is that of REMOVE, with six operations. */
static void
a_session_of_six_operations_is_enough(void **state)
{
	struct rr_text text;

	(void)state;
	fake->operations = 5;
	assert_int_equal(fake4_open(fake, RR_NFS_VERSION_42, &nfs, &text), -RPCRDMA_ERR_PEER);
	fake->operations = 6;
	open_file();
	assert_whole();
	assert_int_equal(read_once(), 0);
	assert_int_equal(rr_nfs_remove(nfs, rr_nfs_root(nfs), "file"), 0);
	assert_int_equal(fake->calls[OP_REMOVE], 1);
}

/* ---- Paths ---- */

static uint32_t
calls_of_walk(const char *path, int error)
{
	uint32_t before = fake->calls[OP_SEQUENCE];

	assert_int_equal(rr_nfs_walk(nfs, path, true, &object), error);
	return fake->calls[OP_SEQUENCE] - before;
}

/* RFC 8881, 2.3: "multi-component look up requests can be constructed by combining multiple LOOKUP
 * operations." */
static void
a_path_is_looked_up_by_one_call(void **state)
{
	(void)state;
	nfs = fake4_must_open(fake);
	assert_int_equal(calls_of_walk("/aaaa/bbbb//cccc/dddd/eeee/ffff/gggg/file", 0), 1);
	assert_int_equal(object.attributes.type, NF3REG);
	assert_int_equal(calls_of_walk("/", 0), 1);
	assert_int_equal(object.attributes.type, NF3DIR);
	/* The missing name is found by a walk name by name: the first name is not a directory here. */
	assert_int_equal(calls_of_walk("aaaa/missing/file", NFS3ERR_NOTDIR), 2);
	assert_int_equal(calls_of_walk("missing/file", NFS3ERR_NOENT), 2);
}

static void
a_path_takes_as_many_calls_as_the_session_makes_necessary(void **state)
{
	(void)state;
	fake->operations = 7;
	nfs = fake4_must_open(fake);
	assert_int_equal(calls_of_walk("aaaa/bbbb/cccc/dddd/file", 0), 2);
}

/* ---- Recovery ---- */

static void
a_lost_session_is_made_again(void **state)
{
	static const nfsstat4 losses[] = { NFS4ERR_BADSESSION, NFS4ERR_DEADSESSION, NFS4ERR_BADSLOT,
		NFS4ERR_SEQ_FALSE_RETRY, NFS4ERR_CONN_NOT_BOUND_TO_SESSION };

	(void)state;
	open_file();
	for (uint32_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		refuse(OP_SEQUENCE, losses[i], 1);
		assert_whole();
		assert_int_equal(fake->calls[OP_CREATE_SESSION], i + 2);
	}
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 1);
	assert_int_equal(fake->calls[OP_OPEN], 1);
}

/* RFC 8881, 2.10.6.2: "implementations MAY return NFS4ERR_MISORDERED" to a retry of a call that is under
 * way. */
static void
a_call_that_is_out_of_order_is_sent_again_before_the_session_is_given_up(void **state)
{
	(void)state;
	open_file();
	refuse(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 3);
	assert_whole();
	assert_int_equal(fake->calls[OP_CREATE_SESSION], 1);
	refuse(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 30);
	assert_whole();
	assert_true(fake->calls[OP_CREATE_SESSION] > 1);
}

static void
open_files_are_reclaimed_after_a_restart(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	fake->lost = true;
	assert_whole();
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 2);
	assert_int_equal(fake->reclaims, 1);
	assert_int_equal(fake->opens, 1);
}

static void
what_cannot_be_reclaimed_is_opened_again(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	fake->lost = true;
	refuse(OP_OPEN, NFS4ERR_NO_GRACE, 1);
	assert_whole();
	assert_int_equal(fake->reclaims, 0);
	assert_int_equal(fake->calls[OP_OPEN], 3);
}

static void
a_restart_while_many_calls_are_under_way_is_survived(void **state)
{
	struct piece pieces[16];

	(void)state;
	open_file();
	assert_whole();
	for (uint32_t i = 0; i < 16; i++)
		piece_start(&pieces[i], 1000 * i, 1000);
	fake->lost = true;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(piece_end(&pieces[i]), 0);
	assert_memory_equal(data, fake->data, 16000);
	assert_int_equal(fake->calls[OP_EXCHANGE_ID], 2);
}

static void
a_stateid_that_is_no_good_any_more_is_made_anew(void **state)
{
	static const nfsstat4 losses[] = { NFS4ERR_BAD_STATEID, NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED,
		NFS4ERR_OLD_STATEID };

	(void)state;
	open_file();
	for (uint32_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		refuse(OP_READ, losses[i], 1);
		assert_whole();
		assert_int_equal(fake->calls[OP_OPEN], i + 2);
	}
}

static void
a_server_that_asks_to_come_back_later_is_asked_again(void **state)
{
	static const uint32_t operations[] = { OP_OPEN, OP_SEQUENCE, OP_READ };

	(void)state;
	refuse(OP_EXCHANGE_ID, NFS4ERR_DELAY, 3);
	open_file();
	for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		refuse(operations[i], NFS4ERR_DELAY, 3);
		assert_whole();
		assert_int_equal(fake->times, 0);
	}
	/* The server has lost its state, and is in its grace period. */
	refuse(OP_OPEN, NFS4ERR_GRACE, 3);
	fake->stateid++;
	assert_whole();
	assert_int_equal(fake->calls[OP_CREATE_SESSION], 1);
}

static void
a_call_that_is_given_up_takes_its_slot_with_it(void **state)
{
	struct piece piece;

	(void)state;
	open_file();
	assert_whole();
	for (uint32_t i = 0; i < FAKE4_SLOTS; i++) {
		fake->silent = true;
		piece_start(&piece, 0, 1000);
		for (int turn = 0; turn < 100; turn++)
			assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
		assert_false(piece.done);
		rr_nfs_io_cancel(&piece.io);
		fake->silent = false;
	}
	/* No slot is left, so another session is made. */
	assert_whole();
	assert_int_equal(fake->calls[OP_CREATE_SESSION], 2);
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
	open_file();
	assert_whole();
	loop = fake->stage.loop;
	fake->silent = true;
	rr_loop_disarm(loop, &fake->stage.ticker);
	rr_timer_init(&timer, timer_expires);
	rr_loop_arm(loop, &timer, 4 * RR_SECOND);
	begin = fake->stage.now;
	jumps = true;
	rpcrdma_nfs_close(nfs);
	jumps = false;
	nfs = NULL;
	assert_in_range(fake->stage.now - begin, 4 * RR_SECOND, 5 * RR_SECOND + RR_MILLISECOND);
	rr_loop_disarm(loop, &timer);
	rr_loop_arm(loop, &fake->stage.ticker, 0);
}

static void
turn_while(bool (*holds)(void))
{
	for (int turn = 0; turn < 20000 && holds(); turn++)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	assert_false(holds());
}

static bool
refusals_are_left(void)
{
	return fake->times > 0;
}

/* Makes the server forget the session, and refuse to make another one, once. */
static void
lose_session(void)
{
	fake->session += 100;
	refuse(OP_CREATE_SESSION, NFS4ERR_SERVERFAULT, 1);
}

static struct piece group[3];
static int group_error;

/* Called when one piece of the group ends: cancels all others. */
static void
group_done(struct rr_nfs_io *io, int error)
{
	piece_done(io, error);
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
	open_file();
	assert_whole();
	lose_session();
	for (uint32_t i = 0; i < 3; i++) {
		piece_start(&group[i], 1000 * i, 1000);
		group[i].io.done = group_done;
	}
	piece_end(&group[0]);
	assert_int_equal(group_error, -RPCRDMA_ERR_REJECTED);
	assert_whole();
}

static struct piece paused;

static bool
paused_is_under_way(void)
{
	return !paused.done;
}

/* Starts a call that the server asks to come back later, so that the call is in its slot for some time. */
static void
start_paused(void)
{
	refuse(OP_SEQUENCE, NFS4ERR_DELAY, 1);
	piece_start(&paused, 0, 1000);
	turn_while(refusals_are_left);
}

static void
a_call_that_comes_back_after_the_session_was_refused_makes_another_one(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	start_paused();
	lose_session();
	assert_int_equal(read_file(1000, 1000), -RPCRDMA_ERR_REJECTED);
	assert_false(paused.done);
	turn_while(paused_is_under_way);
	assert_int_equal(paused.error, 0);
	assert_memory_equal(data, fake->data, 1000);
}

/* The OPEN fails while another call still has the stateid that the server does not know any more. */
static void
a_file_that_a_call_still_uses_stays_in_the_table_if_it_cannot_be_opened_again(void **state)
{
	(void)state;
	open_file();
	assert_whole();
	start_paused();
	fake->stateid++;
	refuse(OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(read_file(1000, 1000), NFS3ERR_ACCES);
	assert_false(paused.done);
	assert_int_equal(rr_v4_opens(nfs->v4), 1);
	turn_while(paused_is_under_way);
	assert_int_equal(paused.error, 0);
	assert_int_equal(rr_v4_opens(nfs->v4), 1);
}

static bool
close_is_under_way(void)
{
	return fake->calls[OP_CLOSE] == 0;
}

static void
a_file_that_is_made_while_it_is_closed_stays_open(void **state)
{
	sattr3 attributes = { 0 };

	(void)state;
	open_file();
	assert_whole();
	/* The file is not used any more. The server lets its CLOSE wait. */
	refuse(OP_SEQUENCE, NFS4ERR_DELAY, 1);
	turn_while(refusals_are_left);
	assert_int_equal(rr_nfs_create(nfs, rr_nfs_root(nfs), "file", false, &attributes, &object), 0);
	assert_int_equal(fake->calls[OP_OPEN], 2);
	assert_true(close_is_under_way());
	turn_while(close_is_under_way);
	assert_whole();
	assert_int_equal(fake->calls[OP_OPEN], 2);
	assert_int_equal(rr_v4_opens(nfs->v4), 1);
	rpcrdma_nfs_close(nfs);
	nfs = NULL;
	assert_int_equal(fake->opens, 0);
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
		open_file();
		if (always[i].op != OP_OPEN)
			assert_whole();
		refuse(always[i].op, always[i].status, UINT32_MAX);
		assert_int_not_equal(read_file(0, 1000), 0);
		rpcrdma_nfs_close(nfs);
		nfs = NULL;
		fake->times = 0;
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
		refuse(always[i].op, always[i].status, UINT32_MAX);
		assert_int_not_equal(fake4_open(fake, RR_NFS_VERSION_42, &nfs, &text), 0);
		nfs = NULL;
	}
}

static void
lies_end_what_is_under_way_with_an_error(void **state)
{
	struct rr_text text;

	(void)state;
	for (int lie = FAKE4_HONEST + 1; lie < FAKE4_LIES; lie++) {
		fake->lie = (enum fake4_lie)lie;
		if (fake4_open(fake, RR_NFS_VERSION_42, &nfs, &text) == 0)
			fail_msg("lie %d was believed", lie);
		nfs = NULL;
	}
}

static void
lies_about_open_files_end_what_is_under_way_with_an_error(void **state)
{
	(void)state;
	for (int lie = FAKE4_HONEST + 1; lie < FAKE4_DEAD_SESSIONS; lie++) {
		fake->lie = FAKE4_HONEST;
		open_file();
		fake->lie = (enum fake4_lie)lie;
		if (rr_nfs_walk(nfs, "file", true, &object) == 0)
			fail_msg("lie %d was believed", lie);
		rpcrdma_nfs_close(nfs);
		nfs = NULL;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_is_made_and_ended),
		TEST(a_minor_version_that_is_not_there_is_said),
		TEST(a_server_that_is_silent_at_the_end_is_left_in_time),
		TEST(a_path_is_walked_once_while_the_highest_version_is_found),
		TEST(only_a_path_whose_first_name_is_missing_is_looked_for_with_version_3),
		TEST(a_file_is_opened_once_and_closed_at_the_end),
		TEST(a_file_that_is_not_used_is_closed),
		TEST(no_more_slots_are_used_than_there_are),
		TEST(all_of_64_slots_are_used),
		TEST(the_lease_is_renewed_while_nothing_is_asked),
		TEST(a_delegation_that_nobody_wanted_is_returned),
		TEST(a_small_file_is_opened_and_read_and_closed_by_one_call),
		TEST(a_small_file_that_cannot_be_read_is_closed_all_the_same),
		TEST(a_server_without_current_stateids_reads_small_files_as_others),
		TEST(small_files_survive_a_restart_and_a_lost_session),
		TEST(a_delegation_of_a_small_file_is_returned),
		TEST(a_small_file_is_made_and_written_and_renamed_by_one_call),
		TEST(a_small_file_that_is_not_whole_is_not_renamed),
		TEST(a_session_of_few_operations_does_not_make_whole_files),
		TEST(a_session_of_six_operations_is_enough),
		TEST(a_path_is_looked_up_by_one_call),
		TEST(a_path_takes_as_many_calls_as_the_session_makes_necessary),
		TEST(a_lost_session_is_made_again),
		TEST(a_call_that_is_out_of_order_is_sent_again_before_the_session_is_given_up),
		TEST(open_files_are_reclaimed_after_a_restart),
		TEST(what_cannot_be_reclaimed_is_opened_again),
		TEST(a_restart_while_many_calls_are_under_way_is_survived),
		TEST(a_stateid_that_is_no_good_any_more_is_made_anew),
		TEST(a_server_that_asks_to_come_back_later_is_asked_again),
		TEST(a_call_that_is_given_up_takes_its_slot_with_it),
		TEST(a_call_that_ends_may_cancel_those_that_end_with_it),
		TEST(a_call_that_comes_back_after_the_session_was_refused_makes_another_one),
		TEST(a_file_that_a_call_still_uses_stays_in_the_table_if_it_cannot_be_opened_again),
		TEST(a_file_that_is_made_while_it_is_closed_stays_open),
		TEST(a_server_that_always_asks_for_the_same_gets_it_so_often),
		TEST(steps_that_are_refused_for_ever_end_the_opening),
		TEST(lies_end_what_is_under_way_with_an_error),
		TEST(lies_about_open_files_end_what_is_under_way_with_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
