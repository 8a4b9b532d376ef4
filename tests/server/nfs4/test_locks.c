/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of octets, and operations of one owner that cross each other, over the loopback. RFC 8881, sections
 * 8.2, 9, 18.10 to 18.12, 18.38 and 18.48. */
#include "world.h"

#include <errno.h>

enum { R = OPEN4_SHARE_ACCESS_READ, RW = OPEN4_SHARE_ACCESS_BOTH };

static stateid4
opened(const struct peer *peer, uint32_t index)
{
	return peer_res(peer, index)->u.opopen.u.resok4.stateid;
}

static nfs_argop4
op_lock_again(const stateid4 *lock, nfs_lock_type4 type, uint64_t offset, uint64_t length)
{
	nfs_argop4 op = op_lock(lock, "", type, offset, length);

	op.u.oplock.locker = (locker4){ false, { .lock_owner = { .lock_stateid = *lock } } };
	return op;
}

static nfs_argop4
op_unlock(const stateid4 *lock, uint64_t offset, uint64_t length)
{
	return (nfs_argop4){ .argop = OP_LOCKU, .u.oplocku = { WRITE_LT, 0, *lock, offset, length } };
}

/* 18.10.3, 18.12.3 */
static void
ranges_are_locked_and_unlocked(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 file = op_lookup("file");
	stateid4 open, lock, read;
	nfs_argop4 reclaim;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	open = opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "r", R, 0, false)), NFS4_OK);
	read = opened(peer, 1);
	assert_int_equal(RUN(peer, op_root(), op_lock(&open, "l", WRITE_LT, 0, 1)), NFS4ERR_ISDIR);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 0, 0)), NFS4ERR_INVAL);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 2, UINT64_MAX - 1)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "l", WRITE_LT, 0, 1)), NFS4ERR_OPENMODE);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&stateid_anonymous, "l", WRITE_LT, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock_again(&open, WRITE_LT, 0, 1)), NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "l", WRITE_LT, 0, 100)), NFS4_OK);
	lock = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	/* Two lock-owners of one client conflict like those of two clients. */
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "m", READ_LT, 50, 1)), NFS4ERR_DENIED);
	assert_int_equal(RUN(peer, op_root(), file, op_lock_again(&lock, READ_LT, 50, 10)), NFS4_OK);
	assert_int_equal(
		RUN(peer, op_root(), file, op_lock_again(&lock, READ_LT, 50, 10)), NFS4ERR_OLD_STATEID);
	lock.seqid = 0;
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "m", READ_LT, 50, 10)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&read, "n", READ_LT, 49, 2)), NFS4ERR_DENIED);
	assert_int_equal(peer_res(peer, 2)->u.oplock.u.denied.offset, 0);
	assert_int_equal(peer_res(peer, 2)->u.oplock.u.denied.length, 50);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 0, 0)), NFS4ERR_INVAL);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&open, 0, 1)), NFS4ERR_BAD_STATEID);
	/* Unlocking a range that is not locked succeeds. */
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 1000, 1)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_unlock(&lock, 0, UINT64_MAX)), NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), file, op_lock(&open, "n", WRITE_LT, 100, UINT64_MAX)), NFS4_OK);
	reclaim = op_lock_again(&lock, WRITE_LT, 0, 1);
	reclaim.u.oplock.reclaim = true;
	assert_int_equal(RUN(peer, op_root(), file, reclaim), NFS4ERR_NO_GRACE);
}

/* 18.38.3, 18.48.3 */
static void
stateids_are_tested_and_freed(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0), *other = world_peer(*state, 1, "b", 0);
	nfs_argop4 test = { .argop = OP_TEST_STATEID }, free_it = { .argop = OP_FREE_STATEID };
	stateid4 ids[5] = { stateid_anonymous, stateid_current };
	const nfsstat4 *codes;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	ids[2] = ids[3] = opened(peer, 1);
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_lock(&ids[2], "l", WRITE_LT, 0, 1)), NFS4_OK);
	ids[4] = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	ids[3].seqid = 7;
	test.u.optest_stateid.ts_stateids.count = 5;
	test.u.optest_stateid.ts_stateids.values = ids;
	assert_int_equal(RUN(peer, test), NFS4_OK);
	codes = peer_res(peer, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values;
	assert_int_equal(codes[0], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[1], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[2], NFS4_OK);
	assert_int_equal(codes[3], NFS4ERR_BAD_STATEID);
	assert_int_equal(codes[4], NFS4_OK);
	assert_int_equal(RUN(other, test), NFS4_OK);
	codes = peer_res(other, 0)->u.optest_stateid.u.tsr_resok4.tsr_status_codes.values;
	assert_int_equal(codes[2], NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = ids[2];
	assert_int_equal(RUN(peer, free_it), NFS4ERR_LOCKS_HELD);
	assert_int_equal(RUN(other, free_it), NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = ids[4];
	assert_int_equal(RUN(peer, free_it), NFS4ERR_LOCKS_HELD);
	ids[4].seqid = 0;
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_unlock(&ids[4], 0, 1)), NFS4_OK);
	free_it.u.opfree_stateid.fsa_stateid.seqid = 0;
	assert_int_equal(RUN(peer, free_it), NFS4_OK);
	assert_int_equal(RUN(peer, free_it), NFS4ERR_BAD_STATEID);
	free_it.u.opfree_stateid.fsa_stateid = stateid_anonymous;
	assert_int_equal(RUN(peer, free_it), NFS4ERR_BAD_STATEID);
}

/* 16.2.3.1.2: SAVEFH and RESTOREFH keep the current stateid, too; what sets another filehandle leaves none.
 */
static void
the_current_stateid_goes_with_the_filehandle(void **state)
{
	struct peer *peer = world_peer(*state, 0, "a", 0);
	const nfs_argop4 save = op_plain(OP_SAVEFH), restore = op_plain(OP_RESTOREFH);

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true), save, op_root(), restore,
				 op_write(&stateid_current, 0, "x"), op_close(&stateid_current)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false), op_root(),
				 op_lookup("file"), op_read(&stateid_current, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_read(&stateid_current, 0, 1)),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false),
				 op_lock(&stateid_current, "l", WRITE_LT, 0, 1),
				 op_write(&stateid_current, 0, "y"), op_unlock(&stateid_current, 0, 1)),
		NFS4_OK);
}

static void
hold_open(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	const bool *fails = ctx;

	(void)call;
	fate->held = operation == RR_VFS_OP_OPEN;
	if (fate->held && *fails)
		fate->status = RR_VFS_IO;
}

/* Connects peers[1] with a second session of the client, for calls beside those of `peer`. */
static struct peer *
second_session(struct world *world, const struct peer *peer)
{
	struct peer *beside = &world->peers[1];

	*beside = (struct peer){ .world = world,
		.minor = 2,
		.clientid = peer->clientid,
		.create_sequence = peer->create_sequence };
	peer_connect(beside, 0);
	assert_int_equal(peer_create_session(beside), NFS4_OK);
	return beside;
}

/* Starts the operations by `beside`. While the storage holds its open, `peer` gets `expected` for `op`. Then
 * lets the storage go on, and returns the status that `beside` got. */
static nfsstat4
cross_expecting(struct peer *beside, const nfs_argop4 *ops, struct peer *peer, nfs_argop4 op, bool fails,
	nfsstat4 expected)
{
	const struct rr_memory_script script = { hold_open, &fails };
	struct world *world = peer->world;
	struct started first;

	rr_memory_steer(world->memory, &script);
	beside->sequence++;
	peer_start_all(beside, ops, 3, &first);
	while (rr_memory_held(world->memory) == 0)
		rr_loop_turn(world->stage.engine->loop, -1);
	rr_memory_steer(world->memory, NULL);
	assert_int_equal(RUN(peer, ops[0], ops[1], op), expected);
	rr_memory_release(world->memory);
	while (!first.done)
		rr_loop_turn(world->stage.engine->loop, -1);
	return beside->res.status;
}

/* The same where `op` is put off. */
static nfsstat4
cross(struct peer *beside, const nfs_argop4 *ops, struct peer *peer, nfs_argop4 op, bool fails)
{
	return cross_expecting(beside, ops, peer, op, fails, NFS4ERR_DELAY);
}

/* While the storage opens the file for an OPEN, another OPEN of the same open-owner is put off. So none takes
 * from what the other has, and a failure undoes nothing that an answer has named. */
static void
opens_of_an_owner_do_not_cross(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	const nfs_argop4 save = op_plain(OP_SAVEFH), both = op_open("file", "o", RW, 0, false);
	const nfs_argop4 ops[] = { op_root(), save, op_open("file", "o", R, 0, false) };
	stateid4 stateid;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", "p", RW, 0, true), op_close(&stateid_current)), NFS4_OK);
	for (int fails = 0; fails < 2; fails++) {
		assert_int_equal(cross(beside, ops, peer, both, fails), fails ? NFS4ERR_IO : NFS4_OK);
		assert_int_equal(RUN(peer, op_root(), both), NFS4_OK);
		stateid = opened(peer, 1);
		assert_int_equal(RUN(peer, op_root(), op_lookup("file"), op_write(&stateid, 0, "x"),
					 op_close(&stateid)),
			NFS4_OK);
	}
}

/* The same for the first LOCKs of a lock-owner. */
static void
first_locks_of_an_owner_do_not_cross(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) }, other;
	stateid4 stateid;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	stateid = opened(peer, 1);
	ops[2] = op_lock(&stateid, "l", WRITE_LT, 0, 1);
	other = op_lock(&stateid, "l", WRITE_LT, 5, 1);
	assert_int_equal(cross(beside, ops, peer, other, false), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], other), NFS4_OK);
}

/* While the storage opens the file once more, as a lock-owner begins to write, a LOCKU of the lock-owner is
 * put off: it would unlock by the open that is replaced. If the storage fails, the lock state keeps that
 * open, and the next LOCK tries again. */
static void
a_lock_owner_that_begins_to_write_does_not_unlock_meanwhile(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) };
	stateid4 open, lock;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	lock = peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	lock.seqid = 0;
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	open = opened(peer, 1);
	ops[2] = op_lock_again(&lock, WRITE_LT, 5, 1);
	assert_int_equal(cross(beside, ops, peer, op_unlock(&lock, 0, 10), true), NFS4ERR_SERVERFAULT);
	assert_int_equal(cross(beside, ops, peer, op_unlock(&lock, 0, 10), false), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_lock(&open, "m", READ_LT, 5, 1)), NFS4ERR_DENIED);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_unlock(&lock, 0, 10)), NFS4_OK);
	assert_int_equal(RUN(peer, ops[0], ops[1], op_lock(&open, "m", WRITE_LT, 0, 20)), NFS4_OK);
}

/* The same. If the client closes the file meanwhile, the LOCK fails, and leaves no open in the storage. */
static void
a_lock_owner_that_begins_to_write_may_end_meanwhile(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "a", 0), *beside = second_session(world, peer);
	nfs_argop4 ops[] = { op_root(), op_lookup("file"), op_plain(OP_LOCK) }, deny;
	stateid4 open;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", R, 0, true),
				 op_lock(&stateid_current, "l", READ_LT, 0, 10)),
		NFS4_OK);
	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, false)), NFS4_OK);
	open = opened(peer, 1);
	ops[2] = op_lock(&open, "l", WRITE_LT, 5, 1);
	assert_int_equal(cross_expecting(beside, ops, peer, op_close(&open), false, NFS4_OK), NFS4ERR_DELAY);
	deny = op_open("file", "p", RW, RW, false);
	assert_int_equal(RUN(peer, ops[0], deny), NFS4_OK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ranges_are_locked_and_unlocked),
		TEST(stateids_are_tested_and_freed),
		TEST(the_current_stateid_goes_with_the_filehandle),
		cmocka_unit_test_setup_teardown(
			opens_of_an_owner_do_not_cross, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			first_locks_of_an_owner_do_not_cross, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(a_lock_owner_that_begins_to_write_does_not_unlock_meanwhile,
			world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(a_lock_owner_that_begins_to_write_may_end_meanwhile,
			world_setup_memory, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
