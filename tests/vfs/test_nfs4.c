/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider of another server's directories by NFS version 4: opens of other threads, restarts, times. */
#include "behind.h"

#include <unistd.h>

#include "suite.h"
#include "vfs/nfs/v4/provider_private.h"
#include "vfs/nfs/v4/session/session.h"

enum { READ = RR_VFS_SHARE_READ, WRITE = RR_VFS_SHARE_WRITE, BOTH = READ | WRITE };

enum { LEASE = 17 }; /* seconds */

/* A server behind, and two providers of it, as those of two threads. */
struct pair {
	struct suite suite;
	struct behind *behind;
	struct rr_vfs *first, *second;
};

static int
setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct suite *suite = &pair->suite;

	assert_non_null(pair);
	pair->behind = behind_new(RR_NFS_VERSION_42, LEASE);
	behind_share(pair->behind);
	pair->first = behind_provide(pair->behind);
	pair->second = behind_provide(pair->behind);
	suite->super = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	suite->caller = &suite->super;
	suite->loop = pair->behind->stage.engine->loop;
	suite->vfs = pair->first;
	rr_vfs_root(suite->vfs, 0, &suite->root);
	*state = pair;
	return 0;
}

static int
teardown(void **state)
{
	struct pair *pair = *state;

	if (pair->first)
		rr_vfs_destroy(pair->first);
	rr_vfs_destroy(pair->second);
	behind_unshare(pair->behind);
	behind_free(pair->behind);
	free(pair);
	return 0;
}

static enum rr_vfs_status
try_open(struct suite *suite, const struct rr_vfs_handle *file, uint32_t access)
{
	struct rr_vfs_opening opening = { .object = suite_at(file), .access = access };
	enum rr_vfs_status status = suite_do(suite, open, &opening);

	if (status == RR_VFS_OK)
		suite_close(suite, opening.open);
	return status;
}

static enum rr_vfs_status
lock(struct suite *suite, struct rr_vfs_open *open, enum rr_vfs_lock_kind kind)
{
	struct rr_vfs_lock lock = { .open = open, .kind = kind, .length = 10 };

	return suite_do(suite, lock, &lock);
}

/* vfs.h: "an open that one of them made may be used with any of them, and any of them can close the open." */
static void
an_open_of_another_thread_is_used_and_closed(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, BOTH);
	struct rr_vfs_object held = { .open = open };
	struct rr_vfs_setattr size = { .object = held, .set = { .mask = RR_VFS_SET_SIZE, .size = 3 } };

	suite->vfs = pair->second;
	suite_holds(suite, &held, 0, "text");
	assert_int_equal(suite_write(suite, &held, 0, "T", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_do(suite, setattr, &size), RR_VFS_OK);
	suite_holds(suite, &held, 0, "Tex");
	assert_int_equal(try_open(suite, &file, READ), RR_VFS_SHARE);
	suite_close(suite, open);
	assert_int_equal(try_open(suite, &file, READ), RR_VFS_OK);
}

static void
its_locks_are_those_of_one_owner(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *one = suite_open(suite, &file, BOTH, 0), *other;

	assert_int_equal(lock(suite, one, RR_VFS_LOCK_READ), RR_VFS_OK);
	suite->vfs = pair->second;
	assert_int_equal(lock(suite, one, RR_VFS_LOCK_WRITE), RR_VFS_OK);
	other = suite_open(suite, &file, BOTH, 0);
	assert_int_equal(lock(suite, other, RR_VFS_LOCK_READ), RR_VFS_LOCK);
	assert_int_equal(lock(suite, one, RR_VFS_UNLOCK), RR_VFS_OK);
	assert_int_equal(lock(suite, other, RR_VFS_LOCK_WRITE), RR_VFS_OK);
	suite->vfs = pair->first;
	assert_int_equal(lock(suite, one, RR_VFS_LOCK_READ), RR_VFS_LOCK);
	suite_close(suite, other);
	assert_int_equal(lock(suite, one, RR_VFS_LOCK_READ), RR_VFS_OK);
	suite_close(suite, one);
}

/* At the end, the threads have ended, and their providers are destroyed one after the other. */
static void
an_open_is_closed_after_its_provider_has_gone(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, 0);
	char data[4];
	struct rr_vfs_read read = { .object = { .open = open }, .size = 4, .data = data };
	enum rr_vfs_status status;

	/* Under way from the second to the first. */
	suite_ready(suite, &read.call);
	status = rr_vfs_read(pair->second, &read);
	assert_int_equal(status, RR_VFS_PENDING);
	rr_vfs_destroy(pair->first);
	pair->first = NULL;
	suite->vfs = pair->second;
	assert_int_equal(suite_end(suite, &read.call, status), RR_VFS_BUSY);
	suite_close(suite, open);
	assert_int_equal(try_open(suite, &file, WRITE), RR_VFS_OK);
}

static void
what_was_open_goes_on_after_a_restart(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, WRITE);
	struct rr_vfs_object held = { .open = open };

	behind_restart(pair->behind);
	suite_holds(suite, &held, 0, "text");
	assert_int_equal(suite_write(suite, &held, 0, "T", RR_VFS_FILE_SYNC), RR_VFS_OK);
	suite_holds(suite, &held, 0, "Text");
	/* The reservation is there again. */
	suite->vfs = pair->second;
	assert_int_equal(try_open(suite, &file, WRITE), RR_VFS_SHARE);
	suite_close(suite, open);
	assert_int_equal(try_open(suite, &file, WRITE), RR_VFS_OK);
}

static void
locks_are_there_again_after_a_restart(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *one = suite_open(suite, &file, BOTH, 0), *other;
	struct rr_vfs_object held = { .open = one };

	assert_int_equal(lock(suite, one, RR_VFS_LOCK_WRITE), RR_VFS_OK);
	behind_restart(pair->behind);
	suite_holds(suite, &held, 0, "text");
	suite->vfs = pair->second;
	other = suite_open(suite, &file, BOTH, 0);
	assert_int_equal(lock(suite, other, RR_VFS_LOCK_READ), RR_VFS_LOCK);
	suite_close(suite, one);
	assert_int_equal(lock(suite, other, RR_VFS_LOCK_READ), RR_VFS_OK);
	suite_close(suite, other);
}

/* RFC 8881, 9.1: where another client has had the lock, the data may have changed under the first. */
static void
an_open_whose_locks_others_have_is_of_no_use(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *one = suite_open(suite, &file, BOTH, 0), *other;
	struct rr_vfs_object held = { .open = one };
	char data[4];
	struct rr_vfs_read read = { .object = held, .size = 4, .data = data };

	assert_int_equal(lock(suite, one, RR_VFS_LOCK_WRITE), RR_VFS_OK);
	behind_restart(pair->behind);
	suite->vfs = pair->second;
	other = suite_open(suite, &file, BOTH, 0);
	assert_int_equal(lock(suite, other, RR_VFS_LOCK_WRITE), RR_VFS_OK);
	suite->vfs = pair->first;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_IO);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_IO);
	suite_close(suite, one);
	suite_close(suite, other);
}

/* RFC 8881, 8.3: "the client is responsible for renewing leases": so it has to know how long they last. */
static void
the_lease_is_that_of_the_server(void **state)
{
	struct pair *pair = *state;
	const struct rr_v4 *v4 = ((struct rr_v4_vfs *)pair->first)->v4;

	turn_until(v4->lease_known, rr_loop_turn(pair->suite.loop, RR_SECOND));
	assert_true(v4->lease == LEASE * RR_SECOND);
}

/* RFC 8881, 3.3.1: "The nfstime4 gives the number of seconds and nanoseconds since midnight or zero hour
 * January 1, 1970 Coordinated Universal Time (UTC)", with 64 bits and a sign. */
static void
times_have_their_full_width(void **state)
{
	static const struct rr_vfs_time times[] = { { -2147483648, 123456789 }, { -1, 999999999 },
		{ 4294967296, 1 }, { 16725225600, 5 } };
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct rr_vfs_setattr setattr = { .object = suite_at(&file),
			.set = { .mask = RR_VFS_SET_MODIFY_TIME, .modify_time = times[i] } };
		struct rr_vfs_attributes got;

		assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
		got = suite_attributes(suite, &file);
		assert_true(got.modify_time.seconds == times[i].seconds);
		assert_int_equal(got.modify_time.nanoseconds, times[i].nanoseconds);
	}
}

/* One list of a directory is set with the other one as it was: so the directory must not change meanwhile.
 * The VERIFY and the SETATTR that say so are one COMPOUND, but RFC 8881, 4.4: "Note that the COMPOUND
 * procedure does not provide atomicity": between them, the mode may be set, and be lost. Where the provider
 * says that the directory has changed, it has set nothing. */
static void
a_list_is_not_set_on_a_directory_that_has_changed(void **state)
{
	struct pair *pair = *state;
	struct suite *suite = &pair->suite;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0700);
	enum rr_vfs_status status = RR_VFS_OK, changed;

	/* Sooner or later, the mode is set between the two calls. */
	for (uint32_t i = 0; i < 1000 && status == RR_VFS_OK; i++) {
		const struct rr_vfs_acl none = { 0, NULL };
		struct rr_vfs_setacl setacl = { .object = suite_at(&directory), .inherited = &none };
		struct rr_vfs_setattr mode = { .object = suite_at(&directory),
			.set = { .mask = RR_VFS_SET_MODE, .mode = 0700 | (i + 1) % 8 } };

		suite_ready(suite, &setacl.call);
		suite_ready(suite, &mode.call);
		status = rr_vfs_setacl(pair->first, &setacl);
		for (uint32_t turns = i % 20; turns > 0; turns--)
			rr_loop_turn(suite->loop, 0);
		changed = rr_vfs_setattr(pair->second, &mode);
		assert_int_equal(suite_end(suite, &mode.call, changed), RR_VFS_OK);
		status = suite_end(suite, &setacl.call, status);
		if (status == RR_VFS_BUSY)
			assert_int_equal(suite_attributes(suite, &directory).mode, 0700 | (i + 1) % 8);
	}
	assert_int_equal(status, RR_VFS_BUSY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_open_of_another_thread_is_used_and_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(its_locks_are_those_of_one_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_open_is_closed_after_its_provider_has_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_open_goes_on_after_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_are_there_again_after_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_open_whose_locks_others_have_is_of_no_use, setup, teardown),
		cmocka_unit_test_setup_teardown(the_lease_is_that_of_the_server, setup, teardown),
		cmocka_unit_test_setup_teardown(times_have_their_full_width, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_list_is_not_set_on_a_directory_that_has_changed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
