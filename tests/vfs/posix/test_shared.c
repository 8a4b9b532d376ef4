/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include "vfs/posix/shared.h"

enum { OBJECTS = 1000 };

/* A lock that is taken already would be waited for. */
static bool waits;

int
pthread_mutex_lock(pthread_mutex_t *lock)
{
	int error = pthread_mutex_trylock(lock);

	waits |= error != 0;
	return error;
}

static struct statx
object_of(uint32_t device, uint64_t inode)
{
	return (struct statx){ .stx_dev_major = 8, .stx_dev_minor = device, .stx_ino = inode };
}

/* Tells whether a change of two waits for a change of one. */
static bool
waits_for(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two)
{
	waits = false;
	rr_posix_lock(shared, one, NULL);
	rr_posix_lock(shared, two, NULL);
	if (!waits)
		rr_posix_unlock(shared, two, NULL);
	rr_posix_unlock(shared, one, NULL);
	return waits;
}

/* A change in a file system that hangs keeps its lock. */
static void
no_change_waits_for_one_in_another_file_system(void **state)
{
	const struct statx hangs = object_of(1, 1);
	struct rr_posix_shared *shared;

	(void)state;
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &shared), 0);
	assert_true(waits_for(shared, &hangs, &hangs));
	for (uint32_t device = 2; device <= RR_POSIX_DEVICES; device++)
		for (uint64_t inode = 1; inode < OBJECTS; inode++) {
			const struct statx object = object_of(device, inode);

			assert_false(waits_for(shared, &hangs, &object));
		}
	rr_posix_shared_free(shared);
}

/* File systems that found no set of locks left have locks all the same. */
static void
an_object_has_its_lock_whatever_the_number_of_file_systems(void **state)
{
	struct rr_posix_shared *shared;

	(void)state;
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &shared), 0);
	for (uint32_t device = 1; device < 3 * RR_POSIX_DEVICES; device++) {
		const struct statx object = object_of(device, 1);

		assert_true(waits_for(shared, &object, &object));
	}
	rr_posix_shared_free(shared);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_change_waits_for_one_in_another_file_system),
		cmocka_unit_test(an_object_has_its_lock_whatever_the_number_of_file_systems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
