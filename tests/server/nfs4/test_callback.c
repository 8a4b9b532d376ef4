/* SPDX-License-Identifier: BSD-3-Clause */
/* The backchannel: RFC 8881, sections 2.10.3.1, 18.34, 18.46.3 and 20.9. */
#include "server/nfs4/tables/lock.h"
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t
flags_now(struct peer *peer)
{
	assert_int_equal(RUN(peer, op_root()), NFS4_OK);
	return peer_flags(peer);
}

static void
wait_for_flags(struct peer *peer, uint32_t flags)
{
	while (flags_now(peer) != flags)
		continue;
}

/* The server calls back over a new backchannel to learn whether the client answers. */
static void
a_new_backchannel_is_tried(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_caller(world, 0, "client", 0);

	world_wait(world, &peer->answers.nulls, 1);
	assert_int_equal(flags_now(peer), 0);
	assert_int_equal(peer->answers.nulls, 1);
}

/* 18.46.3: "SEQ4_STATUS_CB_PATH_DOWN: When set, indicates that the client has no operational backchannel path
 * for any session associated with the client ID." */
static void
a_client_that_fails_callbacks_has_no_path(void **state)
{
	struct world *world = *state;
	struct peer *peer = &world->peers[0];

	peer->answers.silent = true;
	world_caller(world, 0, "client", 0);
	world_wait(world, &peer->answers.nulls, 1);
	world->stage.now += 11 * RR_SECOND;
	wait_for_flags(peer, SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	/* 18.34: a client that binds the connection anew has a backchannel again. */
	peer->answers.silent = false;
	assert_int_equal(peer_bind(peer, 0), NFS4_OK);
	world_wait(world, &peer->answers.nulls, 2);
	assert_int_equal(flags_now(peer), 0);
}

/* 2.10.3.1: the backchannel ends with the last connection that is bound to it. */
static void
a_lost_connection_takes_the_backchannel_along(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_caller(world, 0, "client", 0);

	world_wait(world, &peer->answers.nulls, 1);
	peer_disconnect(peer);
	peer->calls_back = false;
	peer_connect(peer, 0);
	wait_for_flags(peer, SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	peer_disconnect(peer);
	peer->calls_back = true;
	assert_int_equal(peer_bind(peer, 0), NFS4_OK);
	world_wait(world, &peer->answers.nulls, 2);
	wait_for_flags(peer, 0);
}

static stateid4
lock_file(struct peer *peer, const char *owner, nfs_lock_type4 type, nfsstat4 expected)
{
	stateid4 open;

	assert_int_equal(
		RUN(peer, op_root(), op_open("file", owner, OPEN4_SHARE_ACCESS_BOTH, 0, true)), NFS4_OK);
	assert_true(peer_res(peer, 1)->u.opopen.u.resok4.rflags & OPEN4_RESULT_MAY_NOTIFY_LOCK);
	open = peer_res(peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(peer, op_root(), op_lookup("file"), op_lock(&open, owner, type, 0, 10)), expected);
	return expected == NFS4_OK ? peer_res(peer, 2)->u.oplock.u.resok4.lock_stateid : open;
}

/* Has the holder lock the file and the waiter wait for that lock, with a backchannel that works. Returns the
 * stateid of the holder's lock. */
static stateid4
hold_and_wait(struct world *world, struct peer *holder, struct peer *waiter)
{
	stateid4 held;

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	held = lock_file(holder, "first", WRITE_LT, NFS4_OK);
	lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	return held;
}

/* 20.11: CB_NOTIFY_LOCK "to indicate the possible availability of a byte-range lock", for READW_LT and
 * WRITEW_LT. */
static void
a_client_that_waits_for_a_lock_is_called(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0),
		    *waiter = world_caller(world, 0, "waiter", 0);
	const CB_NOTIFY_LOCK4args *args = &waiter->answers.ops[0].u.opcbnotify_lock;
	nfs_argop4 unlock = { .argop = OP_LOCKU, .u.oplocku = { .locktype = WRITE_LT, .length = 10 } };

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	unlock.u.oplocku.lock_stateid = lock_file(holder, "first", WRITE_LT, NFS4_OK);
	lock_file(waiter, "impatient", WRITE_LT, NFS4ERR_DENIED);
	lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	assert_int_equal(waiter->answers.compounds, 0);
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), unlock), NFS4_OK);
	world_wait(world, &waiter->answers.compounds, 1);
	assert_int_equal(waiter->answers.ops[0].argop, OP_CB_NOTIFY_LOCK);
	assert_true(args->cnla_lock_owner.clientid == waiter->clientid);
	assert_int_equal(args->cnla_lock_owner.owner.length, 6);
	lock_file(waiter, "second", WRITEW_LT, NFS4_OK);
	assert_int_equal(waiter->answers.compounds, 1);
}

/* Opens "file" as a local program, which then locks the octets 0 to 9, for writing or for reading. */
static int
lock_locally(const struct world *world, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_len = 10 };
	char path[STAGE_PATH + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/file", world->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &range), 0);
	return fd;
}

/* Lets the storage be asked about the lock of the local program, which is still there. */
static void
storage_is_asked_in_vain(struct world *world, const struct peer *waiter)
{
	for (int i = 0; i < 3; i++) {
		world->stage.now += 2 * RR_SECOND;
		for (int turn = 0; turn < 10; turn++)
			assert_true(rr_loop_turn(world->stage.engine->loop, RR_MILLISECOND) >= 0);
	}
	assert_int_equal(waiter->answers.compounds, 0);
	assert_false(rr_list_empty(&world->shared->tables.probes));
}

/* The same for the lock of a local program, which tells nobody when it unlocks the range. */
static void
a_client_that_waits_for_a_local_program_is_called(void **state)
{
	struct world *world = *state;
	struct peer *waiter = world_caller(world, 0, "waiter", 0);
	int fd;

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	fd = lock_locally(world, F_WRLCK);
	lock_file(waiter, "impatient", WRITE_LT, NFS4ERR_DENIED);
	assert_true(rr_list_empty(&world->shared->tables.probes));
	lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	storage_is_asked_in_vain(world, waiter);
	close(fd);
	world->stage.now += 2 * RR_SECOND;
	world_wait(world, &waiter->answers.compounds, 1);
	assert_int_equal(waiter->answers.ops[0].argop, OP_CB_NOTIFY_LOCK);
	assert_true(rr_list_empty(&world->shared->tables.probes));
	lock_file(waiter, "second", WRITEW_LT, NFS4_OK);
	assert_int_equal(waiter->answers.compounds, 1);
}

/* The lock to read that a lock-owner has is not in the way of the lock to write that it waits for. The file
 * is not asked for any more when it is closed. */
static void
a_reader_that_waits_for_a_local_reader_is_called(void **state)
{
	struct world *world = *state;
	struct peer *waiter = world_caller(world, 0, "waiter", 0);
	nfs_argop4 upgrade = { .argop = OP_LOCK, .u.oplock = { .locktype = WRITEW_LT, .length = 10 } };
	int fd;

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	fd = lock_locally(world, F_RDLCK);
	upgrade.u.oplock.locker.u.lock_owner.lock_stateid = lock_file(waiter, "reader", READ_LT, NFS4_OK);
	assert_int_equal(RUN(waiter, op_root(), op_lookup("file"), upgrade), NFS4ERR_DENIED);
	storage_is_asked_in_vain(world, waiter);
	close(fd);
	world->stage.now += 2 * RR_SECOND;
	world_wait(world, &waiter->answers.compounds, 1);
	assert_int_equal(RUN(waiter, op_root(), op_lookup("file"), upgrade), NFS4_OK);
}

/* When the client has closed the file, the storage is not asked any more, and the server can end. */
static void
a_client_that_closes_the_file_waits_no_more(void **state)
{
	struct world *world = *state;
	struct peer *waiter = world_caller(world, 0, "waiter", 0);
	stateid4 open;
	int fd;

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	fd = lock_locally(world, F_WRLCK);
	open = lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	storage_is_asked_in_vain(world, waiter);
	assert_int_equal(RUN(waiter, op_root(), op_lookup("file"), op_close(&open)), NFS4_OK);
	world->stage.now += 2 * RR_SECOND;
	while (!rr_list_empty(&world->shared->tables.probes))
		assert_true(rr_loop_turn(world->stage.engine->loop, RR_SECOND) >= 0);
	assert_int_equal(waiter->answers.compounds, 0);
	close(fd);
}

/* 20.11.3: the lock "might be available". A client that waits for [0, 10) is not called when a part of that
 * range is unlocked, or another range, however much is locked; it is called when the rest is unlocked. */
static void
where_very_much_is_locked_clients_are_called_in_time(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0),
		    *waiter = world_caller(world, 0, "waiter", 0);
	static const uint64_t unlocked[][2] = { { 0, 2 }, { 5000, 2 }, { 4, 6 }, { 2, 2 } };
	nfs_argop4 unlock = { .argop = OP_LOCKU, .u.oplocku.locktype = WRITE_LT };
	struct rr_nfs4_state *many = NULL;
	struct rr_nfs4_client *client;

	unlock.u.oplocku.lock_stateid = hold_and_wait(world, holder, waiter);
	client = rr_nfs4_client_find(&world->shared->tables.clients, holder->clientid);
	rr_list_for_each (link, &client->states)
		if (rr_container(link, struct rr_nfs4_state, of_client)->kind == RR_NFS4_LOCK)
			many = rr_container(link, struct rr_nfs4_state, of_client);
	assert_non_null(many);
	for (uint64_t offset = 13000; offset > 1000; offset -= 4)
		assert_int_equal(rr_nfs4_lock(many, (struct rr_span){ offset, offset + 1 }, true), NFS4_OK);
	for (size_t i = 0; i < sizeof(unlocked) / sizeof(*unlocked); i++) {
		assert_int_equal(world->shared->tables.waits.count, 1);
		unlock.u.oplocku.offset = unlocked[i][0];
		unlock.u.oplocku.length = unlocked[i][1];
		assert_int_equal(RUN(holder, op_root(), op_lookup("file"), unlock), NFS4_OK);
		unlock.u.oplocku.lock_stateid = peer_res(holder, 2)->u.oplocku.u.lock_stateid;
	}
	assert_int_equal(world->shared->tables.waits.count, 0);
	world_wait(world, &waiter->answers.compounds, 1);
	assert_int_equal(waiter->answers.ops[0].argop, OP_CB_NOTIFY_LOCK);
}

/* The waiting for a lock ends with the client that waits. The locks of a client that has ended are given to
 * the clients that wait for them. */
static void
locks_of_a_client_that_ends_are_waited_for(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0),
		    *waiter = world_caller(world, 0, "waiter", 0);

	world_wait(world, &waiter->answers.nulls, 1);
	assert_int_equal(flags_now(waiter), 0);
	lock_file(holder, "first", WRITE_LT, NFS4_OK);
	lock_file(waiter, "second", READW_LT, NFS4ERR_DENIED);
	/* The holder restarts: its verifier is another one, so its state ends. */
	assert_int_equal(peer_exchange(holder, "holder", 2, 0), NFS4_OK);
	assert_int_equal(peer_create_session(holder), NFS4_OK);
	world_wait(world, &waiter->answers.compounds, 1);
	assert_int_equal(waiter->answers.ops[0].argop, OP_CB_NOTIFY_LOCK);
}

/* A notification for a client that cannot be reached ends with that client. */
static void
a_client_that_ends_is_not_called(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0),
		    *waiter = world_caller(world, 0, "waiter", 0);
	nfs_argop4 unlock = { .argop = OP_LOCKU, .u.oplocku = { .locktype = WRITE_LT, .length = 10 } };

	unlock.u.oplocku.lock_stateid = hold_and_wait(world, holder, waiter);
	peer_disconnect(waiter);
	waiter->calls_back = false;
	peer_connect(waiter, 0);
	wait_for_flags(waiter, SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), unlock), NFS4_OK);
	assert_int_equal(peer_exchange(waiter, "waiter", 2, 0), NFS4_OK);
	assert_int_equal(peer_create_session(waiter), NFS4_OK);
	assert_true(rr_list_empty(&world->shared->tables.sessions.callbacks));
	assert_true(rr_list_empty(&world->shared->tables.sessions.looked_at));
	assert_int_equal(world->shared->tables.wait_count, 0);
}

/* Changes the credential of the session's callbacks to AUTH_SYS with this user ID. */
static void
change_credential(struct peer *peer, uint32_t uid)
{
	callback_sec_parms4 sec = { .cb_secflavor = AUTH_SYS, .u.cbsp_sys_cred.uid = uid };
	const nfs_argop4 change = { .argop = OP_BACKCHANNEL_CTL,
		.u.opbackchannel_ctl = { .bca_cb_program = 0x40000000, .bca_sec_parms = { 1, &sec } } };

	assert_int_equal(RUN(peer, change), NFS4_OK);
}

/* 18.33.3: "The BACKCHANNEL_CTL operation replaces the backchannel's callback program number and adds (not
 * replaces) RPCSEC_GSS handles for use by the backchannel." The server calls back with the last credential,
 * however often it has changed, and still calls the other client of the same connection with its own
 * credential. */
static void
a_credential_may_change_often(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0), *waiter = world_caller(world, 0, "first", 0);
	nfs_argop4 unlock = { .argop = OP_LOCKU, .u.oplocku = { .locktype = WRITE_LT, .length = 10 } };
	uint32_t first; /* the number of the callback of the first client */

	world_wait(world, &waiter->answers.nulls, 1);
	unlock.u.oplocku.lock_stateid = lock_file(holder, "holder", WRITE_LT, NFS4_OK);
	lock_file(waiter, "first", WRITEW_LT, NFS4ERR_DENIED);
	/* The second client has the same connection. */
	assert_int_equal(peer_exchange(waiter, "second", 1, 0), NFS4_OK);
	assert_int_equal(peer_create_session(waiter), NFS4_OK);
	assert_int_equal(RUN(waiter, op_plain(OP_RECLAIM_COMPLETE)), NFS4_OK);
	for (uint32_t uid = 1; uid <= 20; uid++)
		change_credential(waiter, uid);
	lock_file(waiter, "second", WRITEW_LT, NFS4ERR_DENIED);
	/* The two sessions have a sequence of callbacks each. */
	waiter->answers.replays = true;
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), unlock), NFS4_OK);
	for (int i = 0; i < 100 && waiter->answers.compounds < 2; i++)
		assert_int_equal(flags_now(waiter), 0);
	assert_int_equal(waiter->answers.compounds, 2);
	first = waiter->answers.uids[0] == 20 ? 1 : 0;
	assert_int_equal(waiter->answers.uids[first], WORLD_NOBODY);
	assert_int_equal(waiter->answers.uids[1 - first], 20);
}

/* A credential changes while a callback that was sent with an earlier one has no answer yet. That callback
 * still ends, and is sent again over the next backchannel. */
static void
a_credential_may_change_during_a_callback(void **state)
{
	struct world *world = *state;
	struct peer *holder = world_peer(world, 1, "holder", 0),
		    *waiter = world_caller(world, 0, "waiter", 0);
	nfs_argop4 unlock = { .argop = OP_LOCKU, .u.oplocku = { .locktype = WRITE_LT, .length = 10 } };

	unlock.u.oplocku.lock_stateid = hold_and_wait(world, holder, waiter);
	waiter->answers.silent = waiter->answers.replays = true;
	assert_int_equal(RUN(holder, op_root(), op_lookup("file"), unlock), NFS4_OK);
	world_wait(world, &waiter->answers.compounds, 1);
	for (uint32_t uid = 1; uid <= 20; uid++)
		change_credential(waiter, uid);
	waiter->answers.silent = false;
	world->stage.now += 11 * RR_SECOND;
	for (int i = 0; i < 100 && flags_now(waiter) == 0; i++)
		continue;
	assert_int_equal(peer_flags(waiter), SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	assert_int_equal(peer_bind(waiter, 0), NFS4_OK);
	world_wait(world, &waiter->answers.compounds, 2);
	assert_int_equal(waiter->answers.retries, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_new_backchannel_is_tried, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_fails_callbacks_has_no_path, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_lost_connection_takes_the_backchannel_along, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_waits_for_a_lock_is_called, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_waits_for_a_local_program_is_called, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_reader_that_waits_for_a_local_reader_is_called, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_closes_the_file_waits_no_more, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(where_very_much_is_locked_clients_are_called_in_time,
			world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			locks_of_a_client_that_ends_are_waited_for, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_ends_is_not_called, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_credential_may_change_often, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_credential_may_change_during_a_callback, world_setup_memory, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
