/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking locks: BLOCKED, and the call back with GRANTED to the host's own lockd. */
#include "lockd.h"

#include <fcntl.h>
#include <string.h>

static struct lockd_scene scene;
static struct lockd *const a = &scene.hosts[0], *const b = &scene.hosts[1];
static struct lockd_services *const services = &scene.services;

static int
setup(void **state)
{
	return scene_begin_services(state, &scene);
}

static int
teardown(void **state)
{
	return scene_end(state, &scene);
}

#define until(expression) stage_until(&scene.world->stage, expression)

static nlm4_stats
cancel(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length, bool exclusive)
{
	struct lockd_range range = lockd_range(svid, offset, length, exclusive);

	range.block = true;
	return lockd_call(lockd, NLMPROC4_CANCEL, &range);
}

/* When the range is unlocked, the lock is set for the one that waits, and the host is called back. */
static void
a_lock_is_granted_when_it_is_free(void **state)
{
	const nlm4_lock *lock = &services->args.alock;

	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 5, 10, true), NLM4_BLOCKED);
	assert_int_equal(scene_held(&scene).waits, 1);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 1);
	assert_int_equal(services->vers, 4);
	assert_true(services->args.exclusive);
	assert_int_equal(services->args.cookie.length, 8);
	assert_int_equal(lock->svid, 7);
	assert_int_equal(lock->l_offset, 5);
	assert_int_equal(lock->l_len, 10);
	assert_memory_equal(lock->oh.data, "oh", 2);
	assert_int_equal(lock->fh.length, scene.fh.length);
	assert_memory_equal(lock->fh.data, scene.fh.data, scene.fh.length);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(lockd_unlock(b, 7, 0, 0), NLM4_GRANTED);
	assert_int_equal(services->granted, 1);
}

/* A host asks again, as it was not called for a while: it has one wait, and one call. */
static void
who_asks_again_waits_once(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	for (int i = 0; i < 5; i++)
		assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(scene_held(&scene).waits, 1);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(services->granted, 1);
}

/* A host that asks again after the lock was set for it gets it by this answer. */
static void
who_asks_again_takes_what_was_granted(void **state)
{
	(void)state;
	services->silent = true;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 1);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(scene_held(&scene).waits, 0);
	stage_pass(&scene.world->stage, 40 * RR_SECOND);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_DENIED);
}

/* XNFS, 10: a host that does not want the lock any more answers GRANTED with DENIED: then the next has its
 * turn. */
static void
what_a_host_does_not_want_goes_to_the_next(void **state)
{
	(void)state;
	services->answer = NLM4_DENIED;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_block(b, 8, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 2);
	until(scene_held(&scene).claims == 0);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
}

/* A host that does not answer is called again, and does not get the lock in the end. */
static void
a_host_that_is_silent_is_given_up(void **state)
{
	(void)state;
	services->silent = true;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_block(a, 8, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted >= 1);
	for (int i = 0; i < 50 && services->args.alock.svid == 7; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	until(services->args.alock.svid == 8);
	assert_in_range(services->granted, 3, 8);
}

/* A host whose rpcbind knows no lockd is not called, and does not keep the range for ever. */
static void
a_host_without_lockd_is_given_up(void **state)
{
	(void)state;
	services->unregistered = true;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->lookups >= 1);
	for (int i = 0; i < 90 && scene_held(&scene).waits > 0; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(services->granted, 0);
	assert_in_range(services->lookups, 2, 8);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
}

/* XNFS, 10: CANCEL ends the wait for this very lock; after GRANTED was sent, it gives the lock back. */
static void
a_wait_is_cancelled(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	/* Another range, and another type: not that lock. */
	assert_int_equal(cancel(b, 7, 0, 11, true), NLM4_GRANTED);
	assert_int_equal(cancel(b, 7, 0, 10, false), NLM4_GRANTED);
	assert_int_equal(scene_held(&scene).waits, 1);
	assert_int_equal(cancel(b, 7, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(scene_held(&scene).waits, 0);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	services->silent = true;
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 1);
	assert_int_equal(cancel(b, 7, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
}

/* XNFS, 10: the asynchronous procedures are answered by calls of the host's own procedures, with its cookie;
 * and GRANTED_MSG by GRANTED_RES. */
static void
messages_are_answered_by_messages(void **state)
{
	struct lockd_range range = lockd_range(1, 0, 10, true), other = lockd_range(2, 0, 10, true);
	nlm4_res answer;
	struct rr_call call = {
		.program = &nlm4_NLM4_VERS_program, .proc = NLMPROC4_GRANTED_RES, .args = &answer
	};

	(void)state;
	lockd_call(a, NLMPROC4_LOCK_MSG, &range);
	until(services->results == 1);
	assert_int_equal(services->proc, NLMPROC4_LOCK_RES);
	assert_int_equal(services->stat, NLM4_GRANTED);
	assert_int_equal(services->cookie, 'c');
	lockd_call(b, NLMPROC4_TEST_MSG, &other);
	until(services->results == 2);
	assert_int_equal(services->proc, NLMPROC4_TEST_RES);
	assert_int_equal(services->stat, NLM4_DENIED);
	other.block = true;
	lockd_call(b, NLMPROC4_LOCK_MSG, &other);
	until(services->results == 3);
	assert_int_equal(services->stat, NLM4_BLOCKED);
	lockd_call(a, NLMPROC4_UNLOCK_MSG, &range);
	until(services->results == 4 && services->messages == 1);
	assert_int_equal(services->granted, 0);
	assert_int_equal(scene_held(&scene).waits, 1);
	/* A cookie that is not that of the call changes nothing. */
	answer = (nlm4_res){ { "12345678", 8 }, { NLM4_DENIED } };
	assert_int_equal(rr_client_call_and_wait(b->client, &call, NULL, NULL), 0);
	stage_settle(&scene.world->stage);
	assert_int_equal(scene_held(&scene).waits, 1);
	answer = (nlm4_res){ services->args.cookie, { NLM4_GRANTED } };
	call = (struct rr_call){
		.program = &nlm4_NLM4_VERS_program, .proc = NLMPROC4_GRANTED_RES, .args = &answer
	};
	assert_int_equal(rr_client_call_and_wait(b->client, &call, NULL, NULL), 0);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_DENIED);
	lockd_call(b, NLMPROC4_CANCEL_MSG, &other);
	until(services->results == 5);
	assert_int_equal(services->proc, NLMPROC4_CANCEL_RES);
}

/* A host of version 3 is called by version 3. */
static void
a_host_of_version_3_is_called_by_version_3(void **state)
{
	(void)state;
	b->vers = 3;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 5, 0, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 1);
	assert_int_equal(services->vers, 3);
	assert_int_equal(services->args.alock.l_offset, 5);
	assert_int_equal(services->args.alock.l_len, 0);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(lockd_lock(a, 1, 20, 1, true), NLM4_DENIED);
}

/* A client of version 4 unlocks what a host of NLM waits for, and the other way round. */
static void
those_of_other_protocols_are_waited_for(void **state)
{
	nfs_argop4 open4 = op_open("f", "owner", OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_DENY_NONE, false);
	nfs_argop4 unlock4 = { .argop = OP_LOCKU,
		.u.oplocku = { .locktype = WRITE_LT, .length = UINT64_MAX } };
	stateid4 stateid;

	(void)state;
	assert_int_equal(RUN(scene.peer, op_root(), open4), NFS4_OK);
	stateid = peer_res(scene.peer, 1)->u.opopen.u.resok4.stateid;
	assert_int_equal(
		RUN(scene.peer, op_putfh(scene.fh), op_lock(&stateid, "lock", WRITE_LT, 0, 10)), NFS4_OK);
	unlock4.u.oplocku.lock_stateid = peer_res(scene.peer, 1)->u.oplock.u.resok4.lock_stateid;
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(RUN(scene.peer, op_putfh(scene.fh), unlock4), NFS4_OK);
	until(services->granted == 1);
	until(scene_held(&scene).waits == 0);
	assert_int_equal(RUN(scene.peer, op_putfh(scene.fh), op_lock(&stateid, "lock2", WRITEW_LT, 0, 10)),
		NFS4ERR_DENIED);
	assert_int_equal(lockd_unlock(b, 7, 0, 0), NLM4_GRANTED);
	until(scene.peer->answers.compounds == 1);
	assert_int_equal(scene.peer->answers.ops[0].argop, OP_CB_NOTIFY_LOCK);
}

/* Nobody says when a local program unlocks: it is looked for now and then. */
static void
local_programs_are_waited_for(void **state)
{
	struct flock mine = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10 };

	(void)state;
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), 0);
	assert_int_equal(lockd_block(b, 7, 0, 20, true), NLM4_BLOCKED);
	stage_pass(&scene.world->stage, 3 * RR_SECOND);
	assert_int_equal(services->granted, 0);
	assert_int_equal(scene_held(&scene).waits, 1);
	mine.l_type = F_UNLCK;
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), 0);
	for (int i = 0; i < 10 && services->granted == 0; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	until(services->granted == 1);
	mine.l_type = F_WRLCK;
	assert_int_equal(fcntl(scene.local, F_OFD_SETLK, &mine), -1);
}

/* A host may have 64 waits; what it has beyond that is refused, and others wait nevertheless. */
static void
waits_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 1000, true), NLM4_GRANTED);
	for (int32_t i = 0; i < 64; i++)
		assert_int_equal(lockd_block(b, i, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_block(b, 64, 0, 10, true), NLM4_DENIED_NOLOCKS);
	assert_int_equal(lockd_block(a, 2, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(scene_held(&scene).waits, 65);
	lockd_free_all(b, "b");
	until(scene_held(&scene).waits == 1);
	assert_int_equal(lockd_block(b, 64, 0, 10, true), NLM4_BLOCKED);
}

/* The server ends while locks are being granted: nothing is left, and nothing is used after it was freed. */
static void
the_server_ends_in_the_middle(void **state)
{
	(void)state;
	services->silent = true;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	for (int32_t i = 0; i < 8; i++)
		assert_int_equal(lockd_block(b, i, 0, 10, i < 4), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted >= 1);
	scene_restart(&scene);
	assert_int_equal(scene_held(&scene).claims, 0);
}

/* Of two servers that share the tables, as those of two threads do, one ends before the other: its waits end
 * with it, and those who wait at the other one still get their locks. */
static void
a_server_ends_before_another(void **state)
{
	struct rr_service all[RR_NLM_SERVICES];
	struct sockaddr_in address = stage_loopback();
	struct rpcrdma_server *rpc;
	struct rr_nlm_server *other;
	struct lockd c;
	struct rr_text text;

	(void)state;
	assert_int_equal(rr_nlm_server_new(scene.world->stage.engine, &scene.world->gate,
				 scene.world->nlm_shared, &other, &text),
		0);
	rr_nlm_server_services(other, all);
	assert_int_equal(rr_server_new(scene.world->stage.engine, &rr_server_config_default, all,
				 RR_NLM_SERVICES, &rpc),
		0);
	assert_int_equal(rr_server_listen(rpc, RR_TRANSPORT_TCP, (struct sockaddr *)&address, sizeof(address),
				 NULL, &text),
		0);
	lockd_begin_at(&c, scene.world, "c", scene.fh, (struct sockaddr *)&address, sizeof(address));
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(&c, 5, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(scene_held(&scene).waits, 2);
	lockd_end(&c);
	rr_server_free(rpc);
	rr_nlm_server_end(other);
	rr_nlm_server_free(other);
	assert_int_equal(scene_held(&scene).waits, 1);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(services->granted == 1);
	assert_int_equal(services->args.alock.svid, 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_is_granted_when_it_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(who_asks_again_waits_once, setup, teardown),
		cmocka_unit_test_setup_teardown(who_asks_again_takes_what_was_granted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_host_does_not_want_goes_to_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_that_is_silent_is_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_without_lockd_is_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wait_is_cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_are_answered_by_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_of_version_3_is_called_by_version_3, setup, teardown),
		cmocka_unit_test_setup_teardown(those_of_other_protocols_are_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(local_programs_are_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(the_server_ends_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_ends_before_another, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
