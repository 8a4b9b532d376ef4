/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <dlfcn.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs/posix/identity.h"

/* The number of calls that change the uid or the gid for files, or ask for it. */
static atomic_uint changes;

static bool
is_change(long number)
{
	bool is = number == SYS_setfsuid || number == SYS_setfsgid;

#ifdef SYS_setfsuid32
	is |= number == SYS_setfsuid32 || number == SYS_setfsgid32;
#endif
	return is;
}

/* Counts these calls, which have one argument, and makes them. Other calls here have two arguments. */
long
syscall(long number, ...)
{
	union {
		void *address;
		long (*call)(long, ...);
	} system = { .address = dlsym(RTLD_NEXT, "syscall") };
	long first, second;
	va_list list;

	changes += is_change(number);
	va_start(list, number);
	first = va_arg(list, long);
	second = is_change(number) ? 0 : va_arg(list, long);
	va_end(list);
	return system.call(number, first, second);
}

static const uint32_t groups_of_alice[] = { 2001, 2002 }, groups_of_root[] = { 0, 5 };
static const struct rr_vfs_caller alice = { 1001, 2001, 2, groups_of_alice, false };
static const struct rr_vfs_caller root = { 0, 0, 2, groups_of_root, false };

static void
skip_unless_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root can take on an identity\n");
	skip();
}

static void
assert_acts_as(uint32_t uid, uint32_t gid)
{
	assert_int_equal(setfsuid((uid_t)-1), uid);
	assert_int_equal(setfsgid((gid_t)-1), gid);
}

static uint32_t
effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	return data[0].effective;
}

static void
takes_on_uid_gid_and_groups_and_gives_them_back(void **state)
{
	struct rr_identity identity;
	int own_count = getgroups(0, NULL);
	uint32_t own_effective = effective();
	gid_t groups[64];

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system);
	assert_int_equal(rr_identity_take(&identity, &alice), 0);
	assert_acts_as(1001, 2001);
	assert_int_equal(getgroups(64, groups), 2);
	assert_int_equal(groups[0], 2001);
	assert_int_equal(groups[1], 2002);
	assert_false(effective() & CAP_TO_MASK(CAP_DAC_OVERRIDE));
	assert_false(effective() & CAP_TO_MASK(CAP_SYS_RESOURCE));
	rr_identity_suspend(&identity);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_true(rr_identity_resume(&identity));
	assert_acts_as(1001, 2001);
	rr_identity_drop(&identity);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_true(rr_identity_resume(&identity));
	assert_int_equal(setfsuid((uid_t)-1), 0);
	rr_identity_free(&identity);
	assert_acts_as(0, 0);
	assert_int_equal(getgroups(0, NULL), own_count);
	assert_int_equal(effective(), own_effective);
}

static void
one_caller_follows_another(void **state)
{
	struct rr_vfs_caller other = { 1002, 2001, 1, groups_of_alice, false };
	struct rr_identity identity;

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system);
	assert_int_equal(rr_identity_take(&identity, &alice), 0);
	assert_int_equal(rr_identity_take(&identity, &other), 0);
	assert_acts_as(1002, 2001);
	assert_int_equal(getgroups(0, NULL), 1);
	assert_int_equal(rr_identity_take(&identity, &root), 0);
	assert_acts_as(0, 0);
	assert_true(effective() & CAP_TO_MASK(CAP_DAC_OVERRIDE));
	assert_int_equal(rr_identity_take(&identity, &alice), 0);
	assert_acts_as(1001, 2001);
	assert_int_equal(getgroups(0, NULL), 2);
	/* The next caller has the same gid and groups and another uid; then the same uid is taken again after
	 * the thread acted as itself. */
	other = alice;
	other.uid = 1003;
	assert_int_equal(rr_identity_take(&identity, &other), 0);
	assert_acts_as(1003, 2001);
	rr_identity_drop(&identity);
	assert_int_equal(rr_identity_take(&identity, &other), 0);
	assert_acts_as(1003, 2001);
	other.gid = 2002;
	assert_int_equal(rr_identity_take(&identity, &other), 0);
	assert_acts_as(1003, 2002);
	rr_identity_free(&identity);
}

/* Groups are compared only as far as they are kept. */
static void
more_groups_than_are_kept_are_taken_on_each_time(void **state)
{
	uint32_t many[RR_VFS_GROUPS + 1], other[RR_VFS_GROUPS + 1];
	const struct rr_vfs_caller first = { 1001, 2001, RR_VFS_GROUPS + 1, many, false };
	const struct rr_vfs_caller second = { 1001, 2001, RR_VFS_GROUPS + 1, other, false };
	struct rr_identity identity;
	gid_t groups[64];

	(void)state;
	skip_unless_root();
	for (uint32_t i = 0; i <= RR_VFS_GROUPS; i++) {
		many[i] = 3000 + i;
		other[i] = 4000 + i;
	}
	rr_identity_init(&identity, &rr_env_system);
	assert_int_equal(rr_identity_take(&identity, &first), 0);
	assert_int_equal(getgroups(64, groups), RR_VFS_GROUPS + 1);
	assert_int_equal(groups[RR_VFS_GROUPS], 3000 + RR_VFS_GROUPS);
	assert_int_equal(rr_identity_take(&identity, &second), 0);
	assert_int_equal(getgroups(64, groups), RR_VFS_GROUPS + 1);
	assert_int_equal(groups[RR_VFS_GROUPS], 4000 + RR_VFS_GROUPS);
	rr_identity_free(&identity);
}

static unsigned
changes_of_a_turn(struct rr_identity *identity, const struct rr_vfs_caller *caller)
{
	unsigned before = changes;

	assert_int_equal(rr_identity_take(identity, caller), 0);
	rr_identity_suspend(identity);
	assert_true(rr_identity_resume(identity));
	rr_identity_drop(identity);
	return changes - before;
}

static void
a_caller_who_is_root_costs_no_call(void **state)
{
	struct rr_identity identity;

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system);
	changes_of_a_turn(&identity, &root);
	assert_int_equal(changes_of_a_turn(&identity, &root), 0);
	assert_true(changes_of_a_turn(&identity, &alice) > 0);
	assert_acts_as(0, 2001);
	changes_of_a_turn(&identity, &root);
	assert_int_equal(changes_of_a_turn(&identity, &root), 0);
	assert_acts_as(0, 0);
	rr_identity_free(&identity);
}

/* This number is no uid, so the system refuses it. */
static void
a_uid_that_is_no_number_is_refused(void **state)
{
	const struct rr_vfs_caller nobody = { UINT32_MAX, 2001, 2, groups_of_alice, false };
	struct rr_identity identity;

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system);
	for (int i = 0; i < 2; i++) {
		assert_true(rr_identity_take(&identity, &nobody) < 0);
		assert_int_equal(setfsuid((uid_t)-1), 0);
		assert_int_equal(rr_identity_take(&identity, &alice), 0);
		assert_true(rr_identity_take(&identity, &nobody) < 0);
		assert_int_equal(setfsuid((uid_t)-1), 0);
	}
	rr_identity_free(&identity);
}

struct look {
	uint32_t uid, gid;
	int groups;
};

static void *
look(void *argument)
{
	struct look *seen = argument;

	seen->uid = (uint32_t)setfsuid((uid_t)-1);
	seen->gid = (uint32_t)setfsgid((gid_t)-1);
	seen->groups = getgroups(0, NULL);
	return NULL;
}

struct waiter {
	pthread_barrier_t barrier;
	struct look seen;
};

static void *
wait_and_look(void *argument)
{
	struct waiter *waiter = argument;

	pthread_barrier_wait(&waiter->barrier);
	return look(&waiter->seen);
}

static void
other_threads_stay_who_they_are(void **state)
{
	struct rr_identity identity;
	struct waiter waiter;
	pthread_t thread;
	int own_count = getgroups(0, NULL);

	(void)state;
	skip_unless_root();
	pthread_barrier_init(&waiter.barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_and_look, &waiter), 0);
	rr_identity_init(&identity, &rr_env_system);
	assert_int_equal(rr_identity_take(&identity, &alice), 0);
	pthread_barrier_wait(&waiter.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&waiter.barrier);
	rr_identity_free(&identity);
	assert_int_equal(waiter.seen.uid, 0);
	assert_int_equal(waiter.seen.gid, 0);
	assert_int_equal(waiter.seen.groups, own_count);
}

static void
an_ordinary_user_stays_itself(void **state)
{
	struct rr_identity identity;

	(void)state;
	rr_identity_init(&identity, &rr_env_system);
	identity.root = false;
	assert_int_equal(rr_identity_take(&identity, &alice), 0);
	assert_acts_as(geteuid(), getegid());
	rr_identity_suspend(&identity);
	assert_true(rr_identity_resume(&identity));
	rr_identity_drop(&identity);
	assert_acts_as(geteuid(), getegid());
	rr_identity_free(&identity);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_on_uid_gid_and_groups_and_gives_them_back),
		cmocka_unit_test(one_caller_follows_another),
		cmocka_unit_test(more_groups_than_are_kept_are_taken_on_each_time),
		cmocka_unit_test(a_caller_who_is_root_costs_no_call),
		cmocka_unit_test(a_uid_that_is_no_number_is_refused),
		cmocka_unit_test(other_threads_stay_who_they_are),
		cmocka_unit_test(an_ordinary_user_stays_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
