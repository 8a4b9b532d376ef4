/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nfs/identity.h"

static const struct rr_auth_sys alice = { .uid = 1001, .gid = 2001, .gid_count = 2, .gids = { 2001, 2002 } };
static const struct rr_auth_sys root = { .uid = 0, .gid = 0, .gid_count = 2, .gids = { 0, 5 } };

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
	rr_identity_init(&identity, &rr_env_system, true);
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
	struct rr_auth_sys other = { .uid = 1002, .gid = 2001, .gid_count = 1, .gids = { 2001 } };
	struct rr_identity identity;

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system, false);
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
	/* The same gid and groups, another uid; and the same uid again, after the thread acted as itself. */
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

/* RFC 1813, 4.4: "A UNIX server by default maps uid 0 to a distinguished value (UID_NOBODY), as well as
 * mapping the groups list" */
static void
root_is_nobody_where_it_is_squashed(void **state)
{
	struct rr_identity identity;
	gid_t groups[64];

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system, true);
	assert_int_equal(rr_identity_take(&identity, &root), 0);
	assert_acts_as(RR_NOBODY, RR_NOBODY);
	assert_int_equal(getgroups(64, groups), 2);
	assert_true(groups[0] != 0 && groups[1] != 0);
	rr_identity_free(&identity);
}

static void
no_credentials_and_impossible_numbers_are_nobody(void **state)
{
	struct rr_auth_sys none = {
		.uid = UINT32_MAX, .gid = UINT32_MAX, .gid_count = 1, .gids = { UINT32_MAX }
	};
	struct rr_identity identity;

	(void)state;
	skip_unless_root();
	rr_identity_init(&identity, &rr_env_system, false);
	assert_int_equal(rr_identity_take(&identity, NULL), 0);
	assert_acts_as(RR_NOBODY, RR_NOBODY);
	assert_int_equal(getgroups(0, NULL), 0);
	rr_identity_drop(&identity);
	assert_int_equal(rr_identity_take(&identity, &none), 0);
	assert_acts_as(RR_NOBODY, RR_NOBODY);
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
	rr_identity_init(&identity, &rr_env_system, true);
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
	rr_identity_init(&identity, &rr_env_system, true);
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
		cmocka_unit_test(root_is_nobody_where_it_is_squashed),
		cmocka_unit_test(no_credentials_and_impossible_numbers_are_nobody),
		cmocka_unit_test(other_threads_stay_who_they_are),
		cmocka_unit_test(an_ordinary_user_stays_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
