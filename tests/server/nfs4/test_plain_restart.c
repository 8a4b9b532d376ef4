/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients of version 4.0 that reclaim after a restart of the server: RFC 7530, sections 9.6.2 and 9.14. */
#include "plain.h"

#include <string.h>

enum { R = OPEN4_SHARE_ACCESS_READ, W = OPEN4_SHARE_ACCESS_WRITE, RW = OPEN4_SHARE_ACCESS_BOTH };

#define LEASE (90 * RR_SECOND)

/* An OPEN that reclaims the file of the current filehandle. */
static nfs_argop4
reclaim(const struct peer *peer, struct plain_owner *owner, uint32_t access)
{
	nfs_argop4 op = plain_open(peer, owner, "", access, 0, false);

	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_PREVIOUS, .u.delegate_type = OPEN_DELEGATE_NONE };
	return op;
}

/* Has the housekeeping end the grace period, if its time has come. */
static void
look(struct world *world)
{
	struct rr_nfs4_tables *tables = &world->shared->tables;

	rr_nfs4_look(tables, rr_now(&world->stage.env));
	while (tables->grace.ends)
		assert_true(rr_loop_turn(world->stage.engine->loop, RR_SECOND) >= 0);
}

/* 9.6.2: a client learns of the restart by its stale client ID and stateids, and reclaims in the grace
 * period, without OPEN_CONFIRM; new opens and locks wait for its end. */
static void
opens_and_locks_are_reclaimed(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 }, locker = { "l", 0 }, other = { "p", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);
	stateid4 open = plain_opened(peer, &owner, "file", RW), lock;
	nfs_argop4 op;

	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"),
				 plain_lock(peer, &owner, &open, &locker, WRITE_LT, 0, 10)),
		NFS4_OK);
	lock = plain_res(peer, 2)->u.oplock.u.resok4.lock_stateid;
	world_restart(world);
	plain_connect(world, 0, 0);
	assert_int_equal(PLAIN(peer, plain_renew(peer->clientid)), NFS4ERR_STALE_CLIENTID);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), op_read(&open, 0, 1)), NFS4ERR_STALE_STATEID);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), plain_locku(&locker, &lock, 0, 10)),
		NFS4ERR_STALE_STATEID);
	peer_disconnect(peer);
	plain_peer(world, 0, "x", 0);
	assert_int_equal(
		PLAIN(peer, op_root(), plain_open(peer, &other, "file", R, 0, false)), NFS4ERR_GRACE);
	owner.seqid = locker.seqid = 0;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), reclaim(peer, &owner, RW)), NFS4_OK);
	assert_int_equal(plain_res(peer, 2)->u.opopen.u.resok4.rflags, OPEN4_RESULT_LOCKTYPE_POSIX);
	open = plain_res(peer, 2)->u.opopen.u.resok4.stateid;
	op = plain_lock(peer, &owner, &open, &locker, WRITE_LT, 0, 10);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4ERR_GRACE);
	op = plain_lock(peer, &owner, &open, &locker, WRITE_LT, 0, 10);
	op.u.oplock.reclaim = true;
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op), NFS4_OK);
	/* Nobody says that all was reclaimed: the period does not end early. */
	look(world);
	assert_true(world->shared->tables.grace.active);
	world->stage.now += LEASE - RR_SECOND;
	assert_int_equal(PLAIN(peer, plain_renew(peer->clientid)), NFS4_OK);
	world->stage.now += 6 * RR_SECOND;
	look(world);
	assert_false(world->shared->tables.grace.active);
	assert_int_equal(
		PLAIN(peer, op_root(), op_lookup("file"), reclaim(peer, &owner, R)), NFS4ERR_NO_GRACE);
	assert_int_equal(PLAIN(peer, op_root(), op_lookup("file"), op_write(&open, 0, "x")), NFS4_OK);
}

/* A client that has reclaimed may do so after the next restart, too, although that comes after the period. */
static void
a_client_that_reclaimed_reclaims_again(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);

	plain_opened(peer, &owner, "file", RW);
	for (int i = 0; i < 2; i++) {
		world_restart(world);
		plain_peer(world, 0, "x", 0);
		owner.seqid = 0;
		assert_int_equal(
			PLAIN(peer, op_root(), op_lookup("file"), reclaim(peer, &owner, RW)), NFS4_OK);
		world->stage.now += LEASE - RR_SECOND;
		assert_int_equal(PLAIN(peer, plain_renew(peer->clientid)), NFS4_OK);
		world->stage.now += 6 * RR_SECOND;
		look(world);
		assert_false(world->shared->tables.grace.active);
		peer_disconnect(peer);
	}
	plain_connect(world, 0, 0);
}

/* Who held nothing reclaims nothing: nor another client, nor a client with sessions of the same name, nor
 * another principal. */
static void
nobody_else_reclaims(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0), *other;
	nfs_argop4 op;

	plain_opened(peer, &owner, "file", RW);
	world_restart(world);
	owner.seqid = 0;
	other = plain_peer(world, 1, "y", 0);
	assert_int_equal(
		PLAIN(other, op_root(), op_lookup("file"), reclaim(other, &owner, RW)), NFS4ERR_RECLAIM_BAD);
	peer_disconnect(other);
	other = world_new_peer(world, 1, "x", 0);
	op = op_open("", "o", RW, 0, false);
	op.u.opopen.claim = (open_claim4){ .claim = CLAIM_PREVIOUS, .u.delegate_type = OPEN_DELEGATE_NONE };
	assert_int_equal(RUN(other, op_root(), op_lookup("file"), op), NFS4ERR_RECLAIM_BAD);
	peer_disconnect(other);
	world_open_to_all(world);
	other = plain_peer(world, 1, "x", 7);
	owner.seqid = 0;
	assert_int_equal(
		PLAIN(other, op_root(), op_lookup("file"), reclaim(other, &owner, R)), NFS4ERR_RECLAIM_BAD);
}

/* A server that has no records on its disk has no grace period. */
static void
without_clients_there_is_no_grace_period(void **state)
{
	struct world *world = *state;
	struct plain_owner owner = { "o", 0 };
	struct peer *peer = plain_peer(world, 0, "x", 0);

	world_restart(world);
	plain_peer(world, 0, "x", 0);
	plain_opened(peer, &owner, "file", R);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup_plain, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opens_and_locks_are_reclaimed),
		TEST(a_client_that_reclaimed_reclaims_again),
		TEST(nobody_else_reclaims),
		TEST(without_clients_there_is_no_grace_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
