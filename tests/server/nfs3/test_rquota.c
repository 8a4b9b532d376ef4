/* SPDX-License-Identifier: BSD-3-Clause */
/* RQUOTA on a directory, with the quotas of a kernel that this file plays: few machines have a file system
 * with quotas. As Linux's quotactl_fd(2), it tells a thread of its own effective user and group alone, where
 * the thread has no CAP_SYS_ADMIN. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ulb/rquota.h"
#include "world.h"

#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif

/* The quota of each user, and, with the hard limit of files doubled, of each group. */
static struct dqblk kernel_quota;
static int kernel_error;
static int kernel_calls;
static uint32_t kernel_asked; /* the number of the last question */

static long
kernel_answer(uint32_t command, uint32_t id, struct dqblk *block)
{
	bool group = (command & SUBCMDMASK) == GRPQUOTA;

	assert_int_equal(command >> SUBCMDSHIFT, Q_GETQUOTA);
	kernel_calls++;
	kernel_asked = id;
	errno = kernel_error;
	if (kernel_error)
		return -1;
	errno = EPERM;
	if (id != (group ? getegid() : geteuid()))
		return -1;
	*block = kernel_quota;
	if (group)
		block->dqb_ihardlimit *= 2;
	return 0;
}

/* Stands before the C library's function of this name, for the library that is tested. As that function does,
 * it reads six arguments, however many there are. */
__attribute__((no_sanitize("address"))) long
syscall(long number, ...)
{
	static long (*real)(long number, ...);
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_quotactl_fd)
		return kernel_answer(
			(uint32_t)arguments[1], (uint32_t)arguments[2], (struct dqblk *)arguments[3]);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(
		number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

static int
kernel_has(void **state)
{
	kernel_quota = (struct dqblk){ .dqb_bhardlimit = 2048,
		.dqb_bsoftlimit = 1024,
		.dqb_curspace = 5000,
		.dqb_ihardlimit = 30,
		.dqb_isoftlimit = 20,
		.dqb_curinodes = 7 };
	kernel_error = kernel_calls = 0;
	return world_setup(state);
}

/* Returns who a caller is in the process: itself, or who runs the test. */
static uint32_t
own(uint32_t id)
{
	return world_is_root() ? id : geteuid();
}

static getquota_rslt
ask(struct world *world, const char *path, uint32_t uid)
{
	getquota_args args = { world_bytes(path), (int32_t)uid };

	return *(const getquota_rslt *)world_quota_call(world, 1, RQUOTAPROC_GETQUOTA, &args);
}

static getquota_rslt
ask_typed(struct world *world, int32_t type, uint32_t id)
{
	ext_getquota_args args = { world_bytes("/export"), type, (int32_t)id };

	return *(const getquota_rslt *)world_quota_call(world, 2, EXT_RQUOTAPROC_GETQUOTA, &args);
}

/* quotactl(2): limits are in blocks of 1024 octets, the usage is in octets. */
static void
a_user_learns_its_own_quota(void **state)
{
	struct world *world = *state;
	getquota_rslt got;

	world_caller(world, own(WORLD_USER));
	got = ask(world, "/export", own(WORLD_USER));
	assert_int_equal(got.status, Q_OK);
	assert_int_equal(got.u.gqr_rquota.rq_bsize, 1024);
	assert_true(got.u.gqr_rquota.rq_active);
	assert_int_equal(got.u.gqr_rquota.rq_bhardlimit, 2048);
	assert_int_equal(got.u.gqr_rquota.rq_bsoftlimit, 1024);
	assert_int_equal(got.u.gqr_rquota.rq_curblocks, 5);
	assert_int_equal(got.u.gqr_rquota.rq_fhardlimit, 30);
	assert_int_equal(got.u.gqr_rquota.rq_fsoftlimit, 20);
	assert_int_equal(got.u.gqr_rquota.rq_curfiles, 7);
	assert_int_equal(got.u.gqr_rquota.rq_btimeleft, 0);
	got = ask_typed(world, RQUOTA_USER, own(WORLD_USER));
	assert_int_equal(got.status, Q_OK);
	assert_int_equal(got.u.gqr_rquota.rq_fhardlimit, 30);
}

static void
others_and_unknown_types_are_refused(void **state)
{
	struct world *world = *state;

	world_caller(world, WORLD_OTHER);
	assert_int_equal(ask(world, "/export", WORLD_USER).status, Q_EPERM);
	assert_int_equal(ask(world, "/export", 0).status, Q_EPERM);
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, WORLD_USER).status, Q_EPERM);
	assert_int_equal(ask_typed(world, 2, WORLD_OTHER).status, Q_NOQUOTA);
	assert_int_equal(kernel_calls, 0);
	world_no_one(world);
	assert_int_equal(ask(world, "/export", 0).status, Q_EPERM);
	assert_int_equal(kernel_calls, 0);
}

/* A path outside of the exports, or one that the caller may not reach, is answered like a file system without
 * quotas. Paths of version 4 begin without a slash. */
static void
paths_are_those_of_exports(void **state)
{
	struct world *world = *state;
	uint32_t user = own(WORLD_USER);

	world_directory(world, "d", 0755);
	world_caller(world, user);
	assert_int_equal(ask(world, "/export/d", user).status, Q_OK);
	assert_int_equal(ask(world, "export/d", user).status, Q_OK);
	assert_int_equal(kernel_calls, 2);
	assert_int_equal(ask(world, "/export/none", user).status, Q_NOQUOTA);
	assert_int_equal(ask(world, "/etc", user).status, Q_NOQUOTA);
	assert_int_equal(ask(world, "", user).status, Q_NOQUOTA);
	assert_int_equal(kernel_calls, 2);
}

static void
no_quotas_are_said_to_be_none(void **state)
{
	static const int errors[] = { ESRCH, ENOSYS, EPERM, EIO };
	struct world *world = *state;

	world_caller(world, own(WORLD_USER));
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		kernel_error = errors[i];
		assert_int_equal(ask(world, "/export", own(WORLD_USER)).status, Q_NOQUOTA);
	}
	assert_int_equal(kernel_calls, 4);
}

static void
large_numbers_take_larger_blocks(void **state)
{
	struct world *world = *state;
	getquota_rslt got;

	kernel_quota.dqb_bhardlimit = 1ULL << 34;
	kernel_quota.dqb_curspace = (1ULL << 40) + 1;
	kernel_quota.dqb_btime = (uint64_t)time(NULL) + 1000;
	kernel_quota.dqb_itime = (uint64_t)time(NULL) - 1000;
	world_caller(world, own(WORLD_USER));
	got = ask(world, "/export", own(WORLD_USER));
	assert_int_equal(got.u.gqr_rquota.rq_bsize, 8192);
	assert_int_equal(got.u.gqr_rquota.rq_bhardlimit, 1U << 31);
	assert_int_equal(got.u.gqr_rquota.rq_curblocks, (1U << 27) + 1);
	assert_in_range(got.u.gqr_rquota.rq_btimeleft, 990, 1000);
	assert_in_range(-(int32_t)got.u.gqr_rquota.rq_ftimeleft, 1000, 1010);
}

static void
setting_is_refused(void **state)
{
	struct world *world = *state;
	setquota_args args = { .sqa_pathp = world_bytes("/export") };
	const setquota_rslt *got = world_quota_call(world, 1, RQUOTAPROC_SETQUOTA, &args);

	assert_int_equal(got->status, Q_EPERM);
	got = world_quota_call(world, 1, RQUOTAPROC_SETACTIVEQUOTA, &args);
	assert_int_equal(got->status, Q_EPERM);
}

/* The superuser of an export with no_root_squash learns all; groups are for their members. After each
 * question the thread is the server itself again. */
static void
root_learns_all_and_members_their_groups(void **state)
{
	struct world *world = *state;

	world_caller(world, WORLD_USER);
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, WORLD_USER).status, Q_OK);
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, WORLD_USER).u.gqr_rquota.rq_fhardlimit, 60);
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, 77).status, Q_EPERM);
	world->groups[0] = 77;
	world->request.caller.group_count = 1;
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, 77).status, Q_OK);
	world_caller(world, 0);
	assert_int_equal(ask(world, "/export", WORLD_USER).status, Q_EPERM);
	world->rule = "*(rw,no_root_squash)";
	world_restart(world);
	assert_int_equal(ask(world, "/export", WORLD_USER).status, Q_OK);
	assert_int_equal(ask_typed(world, RQUOTA_GROUP, WORLD_OTHER).status, Q_OK);
	assert_int_equal(geteuid(), 0);
	assert_int_equal(getegid(), 0);
	/* Files are still made as their callers. */
	world_caller(world, WORLD_OTHER);
	assert_int_equal(ask(world, "/export", WORLD_OTHER).status, Q_OK);
	assert_int_equal(ask(world, "/export", WORLD_USER).status, Q_EPERM);
}

/* With all_squash, the files of a caller are those of the anonymous user, and so is the quota. */
static void
a_squashed_user_learns_the_quota_of_its_files(void **state)
{
	struct world *world = *state;

	world->rule = "*(rw,all_squash,anonuid=4242,anongid=4242)";
	world_restart(world);
	world_caller(world, WORLD_USER);
	assert_int_equal(ask(world, "/export", WORLD_USER).status, Q_OK);
	assert_int_equal(kernel_asked, 4242);
	assert_int_equal(ask(world, "/export", 4242).status, Q_EPERM);
}

#define quota_test(function) cmocka_unit_test_setup_teardown(function, kernel_has, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		quota_test(a_user_learns_its_own_quota),
		quota_test(others_and_unknown_types_are_refused),
		quota_test(paths_are_those_of_exports),
		quota_test(no_quotas_are_said_to_be_none),
		quota_test(large_numbers_take_larger_blocks),
		quota_test(setting_is_refused),
	};
	const struct CMUnitTest root_tests[] = {
		quota_test(root_learns_all_and_members_their_groups),
		quota_test(a_squashed_user_learns_the_quota_of_its_files),
	};

	return world_run(tests, sizeof(tests) / sizeof(tests[0]), root_tests,
		sizeof(root_tests) / sizeof(root_tests[0]));
}
