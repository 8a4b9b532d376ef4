/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists as values: which are valid, and the form in which Linux stores them. */
#include "../test.h"

#include <string.h>

#include "vfs/acl/list.h"

enum { UO = RR_VFS_ACL_USER_OBJ, U = RR_VFS_ACL_USER, GO = RR_VFS_ACL_GROUP_OBJ, G = RR_VFS_ACL_GROUP };
enum { M = RR_VFS_ACL_MASK, O = RR_VFS_ACL_OTHER };

/* acl(5): "A valid ACL contains exactly one entry with each of the ACL_USER_OBJ, ACL_GROUP_OBJ, and ACL_OTHER
 * tag types." */
static void
lists_are_checked_and_sorted(void **state)
{
	static const struct {
		struct rr_vfs_ace entries[6];
		uint32_t count;
		bool valid, valid_default;
	} rows[] = {
		{ { { 0 } }, 0, false, true },
		{ { { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 } }, 3, true, true },
		{ { { O, 0, 9 }, { M, 4, 0 }, { GO, 5, 0 }, { U, 6, 12 }, { U, 6, 11 }, { UO, 7, 0 } }, 6,
			true, true },
		{ { { UO, 7, 0 }, { GO, 5, 0 } }, 2, false, false },
		{ { { UO, 7, 0 }, { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 } }, 4, false, false },
		/* A user without a mask; the same user twice; nobody; rights and tags that there are not. */
		{ { { UO, 7, 0 }, { U, 6, 11 }, { GO, 5, 0 }, { O, 0, 0 } }, 4, false, false },
		{ { { UO, 7, 0 }, { U, 6, 11 }, { U, 5, 11 }, { GO, 5, 0 }, { M, 5, 0 }, { O, 0, 0 } }, 6,
			false, false },
		{ { { UO, 7, 0 }, { G, 6, UINT32_MAX }, { GO, 5, 0 }, { M, 5, 0 }, { O, 0, 0 } }, 5, false,
			false },
		{ { { UO, 8, 0 }, { GO, 5, 0 }, { O, 0, 0 } }, 3, false, false },
		{ { { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 }, { 0x40, 0, 0 } }, 4, false, false },
		{ { { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 }, { 0, 0, 0 } }, 4, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rr_vfs_ace entries[6];
		struct rr_vfs_acl acl = { rows[i].count, entries };

		memcpy(entries, rows[i].entries, sizeof(entries));
		assert_int_equal(rr_acl_check(&acl, false), rows[i].valid ? RR_VFS_OK : RR_VFS_INVAL);
		memcpy(entries, rows[i].entries, sizeof(entries));
		assert_int_equal(rr_acl_check(&acl, true), rows[i].valid_default ? RR_VFS_OK : RR_VFS_INVAL);
		for (uint32_t j = 1; rows[i].valid && j < acl.count; j++)
			assert_true(entries[j - 1].tag < entries[j].tag || entries[j - 1].id < entries[j].id);
	}
}

static void
the_longest_list_is_valid_and_no_longer_one(void **state)
{
	static struct rr_vfs_ace entries[RR_VFS_ACL_MAX + 1];
	struct rr_vfs_acl acl = { RR_VFS_ACL_MAX, entries };

	(void)state;
	for (uint32_t i = 0; i <= RR_VFS_ACL_MAX; i++)
		entries[i] = (struct rr_vfs_ace){ U, 1, i };
	entries[0].tag = UO;
	entries[1].tag = GO;
	entries[2].tag = M;
	entries[3].tag = O;
	assert_int_equal(rr_acl_check(&acl, false), RR_VFS_OK);
	acl.count++;
	assert_int_equal(rr_acl_check(&acl, false), RR_VFS_INVAL);
}

/* <linux/posix_acl_xattr.h>: version 2, and tag, permissions and number of each entry, little-endian. */
static const uint8_t stored[] = { 2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0xe8, 3, 0, 0, 4, 0,
	4, 0, 255, 255, 255, 255, 16, 0, 7, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255 };

static void
lists_are_stored_as_linux_stores_them(void **state)
{
	struct rr_vfs_ace entries[RR_VFS_ACL_MAX];
	struct rr_vfs_acl acl = { 0, entries };
	uint8_t octets[RR_ACL_STORED_MAX];

	(void)state;
	assert_int_equal(rr_acl_get_stored(stored, sizeof(stored), &acl), RR_VFS_OK);
	assert_int_equal(acl.count, 5);
	assert_int_equal(entries[1].tag, U);
	assert_int_equal(entries[1].id, 1000);
	assert_int_equal(rr_acl_put_stored(&acl, octets), sizeof(stored));
	assert_memory_equal(octets, stored, sizeof(stored));
	rr_acl_from_mode(0754, &acl);
	assert_int_equal(acl.count, RR_ACL_LEAST);
	assert_int_equal(entries[0].perm, 7);
	assert_int_equal(entries[1].perm, 5);
	assert_int_equal(entries[2].perm, 4);
}

/* What is stored may be damaged: no octets make a list that is invalid. */
static void
what_is_stored_is_not_believed(void **state)
{
	struct rr_vfs_ace entries[RR_VFS_ACL_MAX];
	struct rr_vfs_acl acl = { 0, entries };
	uint8_t octets[sizeof(stored)];

	(void)state;
	for (size_t size = 0; size < sizeof(stored); size++)
		assert_int_equal(rr_acl_get_stored(stored, size, &acl) == RR_VFS_OK, size == 4);
	for (size_t bit = 0; bit < 8 * sizeof(stored); bit++) {
		memcpy(octets, stored, sizeof(stored));
		octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (rr_acl_get_stored(octets, sizeof(octets), &acl) == RR_VFS_OK)
			assert_int_equal(rr_acl_check(&acl, false), RR_VFS_OK);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_checked_and_sorted),
		cmocka_unit_test(the_longest_list_is_valid_and_no_longer_one),
		cmocka_unit_test(lists_are_stored_as_linux_stores_them),
		cmocka_unit_test(what_is_stored_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
