/* SPDX-License-Identifier: BSD-3-Clause */
/* Restarts: of the server, whose hosts are told and reclaim; and of hosts, who lose what they had. */
#include "lockd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
reclaim(struct lockd *lockd, int32_t svid, uint64_t offset, uint64_t length)
{
	struct lockd_range range = lockd_range(svid, offset, length, true);

	range.reclaim = true;
	lockd->state = 0;
	return lockd_call(lockd, NLMPROC4_LOCK, &range);
}

/* Returns how many hosts have a file. */
static int
files(void)
{
	char path[STAGE_PATH + 8];
	struct dirent *entry;
	int count = 0;
	DIR *list;

	snprintf(path, sizeof(path), "%s/nlm", scene.world->records);
	list = opendir(path);
	assert_non_null(list);
	while ((entry = readdir(list)))
		count += entry->d_name[0] != '.' && strcmp(entry->d_name, "state") != 0;
	closedir(list);
	return count;
}

/* XNFS, 11: after the restart of a server, its hosts are told by SM_NOTIFY, and reclaim their locks before
 * others can have them. */
static void
hosts_reclaim_after_a_restart(void **state)
{
	int32_t first;

	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(files(), 1);
	scene_restart(&scene);
	assert_true(scene_held(&scene).grace);
	until(services->notices == 1);
	first = services->state;
	assert_true(first & 1);
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(lockd_call(a, NLMPROC4_TEST, &(struct lockd_range){ .oh = "oh", .length = 1 }),
		NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(lockd_share(a, NLMPROC4_SHARE, "s", fsm_DN, fsa_R), NLM4_DENIED_GRACE_PERIOD);
	/* A host that was not on the list has nothing to reclaim. */
	assert_int_equal(reclaim(b, 1, 0, 10), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(reclaim(a, 1, 0, 10), NLM4_GRANTED);
	/* What is unlocked need not wait. */
	assert_int_equal(lockd_unlock(b, 1, 0, 10), NLM4_GRANTED);
	for (int i = 0; i < 95 && scene_held(&scene).grace; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	assert_false(scene_held(&scene).grace);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_DENIED);
	assert_int_equal(lockd_lock(b, 1, 10, 10, true), NLM4_GRANTED);
	assert_int_equal(reclaim(a, 1, 30, 10), NLM4_DENIED_GRACE_PERIOD);
	scene_restart(&scene);
	until(services->notices == 3);
	assert_true(services->state > first);
}

/* Version 4 gives nothing new either that a host of NLM may reclaim. */
static void
grace_is_that_of_all(void **state)
{
	nfs_argop4 open4 = op_open("f", "o", OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_DENY_NONE, false);

	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	scene_restart(&scene);
	scene.peer = world_caller(scene.world, 1, "other", 0);
	assert_int_equal(RUN(scene.peer, op_root(), open4), NFS4ERR_GRACE);
	for (int i = 0; i < 95 && scene_held(&scene).grace; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	stage_pass(&scene.world->stage, 10 * RR_SECOND);
	scene.peer = world_caller(scene.world, 2, "third", 0);
	assert_int_equal(RUN(scene.peer, op_root(), open4), NFS4_OK);
}

/* A host without locks is not told of anything: its file goes after a while. */
static void
a_host_without_locks_is_forgotten(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_unlock(a, 1, 0, 10), NLM4_GRANTED);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(files(), 2);
	for (int i = 0; i < 30 && files() > 1; i++)
		stage_pass(&scene.world->stage, 10 * RR_SECOND);
	until(files() == 1);
	scene_restart(&scene);
	until(services->notices == 1);
	stage_pass(&scene.world->stage, 5 * RR_SECOND);
	assert_int_equal(services->notices, 1);
}

/* A host that does not answer is told again, and not for ever. */
static void
a_host_that_is_away_is_told_again(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	services->unregistered = true;
	services->lookups = 0;
	scene_restart(&scene);
	for (int i = 0; i < 60 && services->lookups < 3; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	assert_in_range(services->lookups, 3, 6);
	assert_int_equal(services->notices, 0);
	services->unregistered = false;
	for (int i = 0; i < 60 && services->notices < 1; i++)
		stage_pass(&scene.world->stage, RR_SECOND);
	assert_int_equal(services->notices, 1);
}

/* SM_NOTIFY ends the locks that were taken under an older state, not those that the host has taken since. */
static void
a_restart_of_a_host_ends_its_older_locks(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_lock(a, 2, 20, 10, true), NLM4_GRANTED);
	/* Nothing is new in this. */
	lockd_notify(a, "a", 3);
	stage_settle(&scene.world->stage);
	assert_int_equal(scene_held(&scene).claims, 2);
	a->state = 5;
	assert_int_equal(lockd_lock(a, 7, 40, 10, true), NLM4_GRANTED);
	lockd_notify(a, "A.example.org", 5);
	until(scene_held(&scene).claims == 1);
	assert_int_equal(lockd_lock(b, 1, 0, 40, true), NLM4_GRANTED);
	assert_int_equal(lockd_lock(b, 1, 40, 1, true), NLM4_DENIED);
	lockd_notify(a, "a", 7);
	until(scene_held(&scene).claims == 1);
	assert_int_equal(lockd_lock(b, 1, 40, 1, true), NLM4_GRANTED);
}

/* The locks that end with their host are given to those who wait. */
static void
who_waits_for_a_host_that_restarted_gets_its_lock(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_block(b, 7, 0, 10, true), NLM4_BLOCKED);
	lockd_notify(a, "a", 5);
	until(services->granted == 1);
	assert_int_equal(services->args.alock.svid, 7);
}

/* Of two hosts at one address, the name says which is meant; one that is none of them means nobody. */
static void
a_name_says_which_host_of_an_address_is_meant(void **state)
{
	(void)state;
	assert_int_equal(lockd_lock(a, 1, 0, 10, true), NLM4_GRANTED);
	assert_int_equal(lockd_lock(b, 1, 20, 10, true), NLM4_GRANTED);
	lockd_notify(a, "c", 99);
	lockd_notify(a, "", 99);
	stage_settle(&scene.world->stage);
	assert_int_equal(scene_held(&scene).claims, 2);
	lockd_notify(a, "b", 99);
	until(scene_held(&scene).claims == 1);
	assert_int_equal(lockd_lock(b, 1, 0, 10, true), NLM4_DENIED);
}

/* SM_STAT tells the state; SM_MON is refused, so that nobody has this server call what he cannot reach
 * himself. */
static void
nothing_is_monitored_for_others(void **state)
{
	const sm_name name = { text_bytes("victim") };
	const struct mon asked = { { text_bytes("victim"), { text_bytes("me"), 100003, 3, 1 } }, { 0 } };
	sm_stat_res told = { 0 }, refused = { 0 };
	struct rr_call call = {
		.program = &nsm1_SM_VERS_program, .proc = SM_STAT, .args = &name, .result = &told
	};

	(void)state;
	assert_int_equal(rr_client_call_and_wait(a->client, &call, NULL, NULL), 0);
	assert_int_equal(told.res_stat, STAT_SUCC);
	assert_true(told.state & 1);
	call = (struct rr_call){
		.program = &nsm1_SM_VERS_program, .proc = SM_MON, .args = &asked, .result = &refused
	};
	assert_int_equal(rr_client_call_and_wait(a->client, &call, NULL, NULL), 0);
	assert_int_equal(refused.res_stat, STAT_FAIL);
	assert_int_equal(files(), 0);
}

/* A file that is none of a host is left alone, and nobody is told because of it. */
static void
files_that_are_no_hosts_are_ignored(void **state)
{
	char path[STAGE_PATH + 32];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/nlm/0123456789abcdef", scene.world->records);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "nonsense that is long enough", 28), 28);
	close(fd);
	scene_restart(&scene);
	assert_false(scene_held(&scene).grace);
	assert_int_equal(scene_held(&scene).hosts, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hosts_reclaim_after_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(grace_is_that_of_all, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_without_locks_is_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_that_is_away_is_told_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_restart_of_a_host_ends_its_older_locks, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_waits_for_a_host_that_restarted_gets_its_lock, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_name_says_which_host_of_an_address_is_meant, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_monitored_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_are_no_hosts_are_ignored, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
