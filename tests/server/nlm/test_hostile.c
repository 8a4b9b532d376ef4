/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that mean harm: calls that are damaged, storms, and services that are not what they should be. */
#include "lockd.h"

#include <stdio.h>
#include <string.h>

#include "base/endian.h"

enum { ROOM = 1024 };

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

/* The octets of a procedure's arguments. */
static uint32_t
encode(const struct rpcrdma_program *program, uint32_t proc, const void *args, uint8_t octets[ROOM])
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, octets, ROOM, NULL, 0);
	program->procedures[proc].put_args(&writer, args);
	assert_false(writer.failed);
	return rpcrdma_xdr_written(&writer).length;
}

/* Sends the arguments with each octet changed in some ways, and cut off at each word. */
static void
damage(const struct rpcrdma_program *program, uint32_t proc, const void *args)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	uint8_t octets[ROOM], changed[ROOM];
	uint32_t length = encode(program, proc, args, octets);

	for (uint32_t at = 0; at < length; at++) {
		for (size_t i = 0; i < sizeof(changes); i++) {
			memcpy(changed, octets, length);
			changed[at] ^= changes[i];
			lockd_raw(b, program, proc, changed, length);
		}
	}
	for (uint32_t part = 0; part < length; part += 4)
		assert_true(lockd_raw(b, program, proc, octets, part) < 0);
	/* More than the arguments is no better. */
	memset(octets + length, 0, 4);
	assert_true(lockd_raw(b, program, proc, octets, length + 4) < 0);
}

/* Whatever comes is answered; the locks of a host that is not meant stay, and what the damaged calls have
 * taken can be given up. */
static void
damaged_calls_are_answered(void **state)
{
	const nlm4_lock lock = { text_bytes("b"), scene.fh, text_bytes("oh"), 7, 100, 10 };
	const nlm4_testargs test = { text_bytes("c"), true, lock };
	const nlm4_lockargs locks = { text_bytes("c"), false, true, lock, false, 3 },
			    blocks = { text_bytes("c"), true, true, lock, false, 3 };
	const nlm4_cancargs cancels = { text_bytes("c"), true, true, lock };
	const nlm4_unlockargs unlocks = { text_bytes("c"), lock };
	const nlm4_shareargs shares = { text_bytes("c"),
		{ text_bytes("b"), scene.fh, text_bytes("s"), fsm_DN, fsa_R }, false };
	const nlm4_res result = { text_bytes("12345678"), { NLM4_DENIED } };

	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_TEST, &test);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_LOCK, &locks);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_LOCK, &blocks);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_NM_LOCK, &locks);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_CANCEL, &cancels);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_UNLOCK, &unlocks);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_LOCK_MSG, &locks);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_SHARE, &shares);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_UNSHARE, &shares);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_GRANTED_RES, &result);
	assert_in_range(scene_held(&scene).hosts, 2, 8);
	assert_in_range(scene_held(&scene).waits, 0, 8 * 64);
	assert_int_equal(lockd_lock(b, 1, 5, 1, true), NLM4_DENIED);
	lockd_free_all(b, "b");
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
}

static void
damaged_notices_are_answered(void **state)
{
	const stat_chge change = { text_bytes("other"), 99 };
	const nlm4_notify notify = { text_bytes("other"), 99 };
	struct lockd c;

	(void)state;
	/* Two hosts of the address, so that a name must be that of one of them. */
	lockd_begin(&c, scene.world, "c", scene.fh);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_lock(&c, 1, 20, 10, true), NLM4_GRANTED);
	damage(&nsm1_SM_VERS_program, SM_NOTIFY, &change);
	damage(&nlm4_NLM4_VERS_program, NLMPROC4_FREE_ALL, &notify);
	stage_settle(&scene.world->stage);
	assert_int_equal(lockd_lock(b, 1, 0, 30, true), NLM4_DENIED);
	assert_int_equal(lockd_lock(b, 1, 25, 1, true), NLM4_DENIED);
	lockd_end(&c);
}

/* An address that says that it is ever more hosts gets a few, and others theirs. */
static void
names_without_end_are_few_hosts(void **state)
{
	static char names[32][8];
	struct lockd hosts[32];
	uint32_t granted = 0;

	(void)state;
	for (int i = 0; i < 32; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		lockd_begin(&hosts[i], scene.world, names[i], scene.fh);
		granted += lockd_lock(&hosts[i], 1, (uint64_t)i, 1, true) == NLM4_GRANTED;
	}
	assert_int_equal(granted, 8);
	assert_int_equal(scene_held(&scene).hosts, 8);
	for (int i = 0; i < 32; i++)
		lockd_end(&hosts[i]);
}

/* Ranges without end: 4096 of an owner in a file. */
static void
ranges_without_end_are_bounded(void **state)
{
	uint32_t granted = 0;

	(void)state;
	for (uint64_t i = 0; i < 4200; i++)
		granted += lockd_lock(a, 1, 2 * i, 1, false) == NLM4_GRANTED;
	assert_in_range(granted, 4090, 4096);
	assert_int_equal(lockd_lock(b, 1, 2, 1, false), NLM4_GRANTED);
	assert_int_equal(lockd_lock(a, 2, 9000, 1, true), NLM4_GRANTED);
	/* An unlock is never refused that makes no range. */
	assert_int_equal(lockd_unlock(a, 1, 0, 0), NLM4_GRANTED);
	assert_int_equal(scene_held(&scene).ranges, 2);
}

/* Very many waits become free at once: their calls go over one connection, and each comes once. */
static void
a_flood_of_grants_is_one_connection(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 0, true), NLM4_GRANTED);
	for (int32_t i = 0; i < 60; i++)
		assert_int_equal(lockd_block(b, i, 0, 10, false), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 0), NLM4_GRANTED);
	while (services->granted < 60) {
		assert_in_range(rr_server_connections(services->server), 0, 2);
		stage_turn(&scene.world->stage);
	}
	until(scene_held(&scene).waits == 0);
	assert_int_equal(services->granted, 60);
	assert_int_equal(services->lookups, 1);
}

/* A host whose rpcbind does not answer is given up; the calls of others come and go meanwhile. */
static void
an_rpcbind_that_is_silent_stops_nobody(void **state)
{
	(void)state;
	services->mute = true;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	for (int32_t i = 0; i < 8; i++)
		assert_int_equal(lockd_block(b, i, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	for (int i = 0; i < 400 && scene_held(&scene).waits > 0; i++) {
		stage_pass(&scene.world->stage, RR_SECOND);
		assert_int_equal(lockd_lock(a, 1, 100, 10, true), NLM4_GRANTED);
		assert_int_equal(lockd_unlock(a, 1, 100, 10), NLM4_GRANTED);
	}
	until(scene_held(&scene).waits == 0);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(services->granted, 0);
}

/* A host that has the server call itself gets the answer that nobody waits there: the lock is given back, and
 * the server is none the worse. */
static void
a_server_that_calls_itself_goes_on(void **state)
{
	(void)state;
	services->elsewhere = ntohs(scene.world->address.sin_port);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	until(scene_held(&scene).waits == 0 && services->lookups > 0);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(damaged_calls_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_notices_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(names_without_end_are_few_hosts, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_without_end_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(a_flood_of_grants_is_one_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(an_rpcbind_that_is_silent_stops_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_calls_itself_goes_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
