/* SPDX-License-Identifier: BSD-3-Clause */
/* Share reservations (reserve.h). RFC 8881, 9.7. */
#include "../test.h"

#include <string.h>

#include "vfs/reserve.h"

enum { R = RR_VFS_SHARE_READ, W = RR_VFS_SHARE_WRITE, RW = R | W };

static const struct rr_reserve_file file = { 1, 2 };
static struct rr_reserve reserve;
static struct rr_reservation held[4];

static int
setup(void **state)
{
	(void)state;
	memset(&reserve, 0, sizeof(reserve));
	rr_reserve_init(&reserve);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	assert_int_equal(reserve.opens, 0);
	assert_int_equal(reserve.denying, 0);
	rr_reserve_free(&reserve);
	return 0;
}

static enum rr_vfs_status
reserves(int i, uint32_t access, uint32_t deny, enum rr_vfs_relation relation,
	const struct rr_reservation *other)
{
	struct rr_vfs_opening opening = { .access = access, .deny = deny, .relation = relation };

	memcpy(&opening.object.open, &other, sizeof(other));
	return rr_reserve_open(&reserve, &opening, file, &held[i]);
}

static void
ends(int i)
{
	rr_reserve_close(&reserve, &held[i]);
}

/* Each pair of accesses and denials: the two opens exclude each other where one denies what the other has. */
static void
opens_exclude_each_other_where_one_denies_what_the_other_has(void **state)
{
	(void)state;
	for (uint32_t access = R; access <= RW; access++)
		for (uint32_t deny = 0; deny <= RW; deny++)
			for (uint32_t other = R; other <= RW; other++)
				for (uint32_t denied = 0; denied <= RW; denied++) {
					bool fits = !(access & denied) && !(other & deny);

					assert_int_equal(
						reserves(0, access, deny, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
					assert_int_equal(reserves(1, other, denied, RR_VFS_ANOTHER, NULL),
						fits ? RR_VFS_OK : RR_VFS_SHARE);
					assert_int_equal(reserve.opens, fits ? 2 : 1);
					ends(0);
					if (fits)
						ends(1);
				}
}

static void
other_files_are_not_concerned(void **state)
{
	(void)state;
	assert_int_equal(reserves(0, R, RW, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	assert_true(rr_reserve_denies(&reserve, file, R));
	/* Many of them are in the same shard. */
	for (uint64_t i = 0; i < 1000; i++) {
		if (i != file.system)
			assert_false(
				rr_reserve_denies(&reserve, (struct rr_reserve_file){ i, file.number }, RW));
		if (i != file.number)
			assert_false(
				rr_reserve_denies(&reserve, (struct rr_reserve_file){ file.system, i }, RW));
	}
	ends(0);
}

static void
what_no_open_denies_is_free(void **state)
{
	(void)state;
	assert_false(rr_reserve_denies(&reserve, file, RW));
	assert_int_equal(reserves(0, R, W, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	assert_true(rr_reserve_denies(&reserve, file, W));
	assert_true(rr_reserve_denies(&reserve, file, RW));
	assert_false(rr_reserve_denies(&reserve, file, R));
	ends(0);
	assert_false(rr_reserve_denies(&reserve, file, RW));
}

/* vfs.h, RR_VFS_REPLACES: "The reservation of object.open is no obstacle, and ends when the operation
 * succeeds". */
static void
an_open_takes_the_place_of_another(void **state)
{
	(void)state;
	assert_int_equal(reserves(0, R, W, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	assert_int_equal(reserves(1, RW, 0, RR_VFS_REPLACES, &held[0]), RR_VFS_OK);
	assert_false(rr_reserve_denies(&reserve, file, W));
	assert_int_equal(reserves(2, R, W, RR_VFS_ANOTHER, NULL), RR_VFS_SHARE);
	/* Another open is in the way: the replaced one keeps its reservation. */
	assert_int_equal(reserves(2, W, 0, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	assert_int_equal(reserves(3, R, W, RR_VFS_REPLACES, &held[1]), RR_VFS_SHARE);
	assert_true(held[1].stands);
	for (int i = 0; i < 3; i++)
		ends(i);
}

/* RR_VFS_BESIDE: "The reservation of object.open counts for both opens, and deny is not used". */
static void
an_open_beside_another_one_has_no_reservation_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(reserves(0, RW, RW, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	assert_int_equal(reserves(1, W, R, RR_VFS_BESIDE, &held[0]), RR_VFS_OK);
	assert_int_equal(reserve.opens, 2);
	assert_int_equal(held[1].access, W);
	ends(0);
	assert_false(rr_reserve_denies(&reserve, file, RW));
	assert_int_equal(reserves(2, R, W, RR_VFS_ANOTHER, NULL), RR_VFS_OK);
	ends(1);
	ends(2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(opens_exclude_each_other_where_one_denies_what_the_other_has),
		TEST(other_files_are_not_concerned),
		TEST(what_no_open_denies_is_free),
		TEST(an_open_takes_the_place_of_another),
		TEST(an_open_beside_another_one_has_no_reservation_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
