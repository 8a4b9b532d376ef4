/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

enum { UO = RR_VFS_ACL_USER_OBJ, U = RR_VFS_ACL_USER, GO = RR_VFS_ACL_GROUP_OBJ };
enum { M = RR_VFS_ACL_MASK, O = RR_VFS_ACL_OTHER };

/* A list that gives user SUITE_OTHER the rights perm, as far as the mask lets them through. */
static struct rr_vfs_ace given[5];

static struct rr_vfs_acl
list_of(uint8_t perm, uint8_t mask)
{
	given[0] = (struct rr_vfs_ace){ UO, 6, 0 };
	given[1] = (struct rr_vfs_ace){ U, perm, SUITE_OTHER };
	given[2] = (struct rr_vfs_ace){ GO, 4, 0 };
	given[3] = (struct rr_vfs_ace){ M, mask, 0 };
	given[4] = (struct rr_vfs_ace){ O, 0, 0 };
	return (struct rr_vfs_acl){ 5, given };
}

static enum rr_vfs_status
set(struct suite *suite, const struct rr_vfs_handle *object, const struct rr_vfs_acl *access,
	const struct rr_vfs_acl *inherited)
{
	struct rr_vfs_setacl setacl = {
		.object = suite_at(object), .access = access, .inherited = inherited
	};
	enum rr_vfs_status status = suite_do(suite, setacl, &setacl);

	if (status == RR_VFS_OK)
		assert_true(setacl.change.after.valid);
	return status;
}

/* The lists of an object, in memory that the next call takes. */
static struct rr_vfs_getacl
get(struct suite *suite, const struct rr_vfs_handle *object)
{
	static struct rr_vfs_ace entries[2][RR_VFS_ACL_MAX];
	struct rr_vfs_getacl getacl = {
		.object = suite_at(object), .access.entries = entries[0], .inherited.entries = entries[1]
	};

	assert_int_equal(suite_do(suite, getacl, &getacl), RR_VFS_OK);
	assert_true(getacl.object_after.valid);
	return getacl;
}

/* Of reading and writing, what the caller may do. */
static uint32_t
granted(struct suite *suite, const struct rr_vfs_handle *object)
{
	struct rr_vfs_access access = { .object = suite_at(object),
		.asked = RR_VFS_MAY_READ | RR_VFS_MAY_MODIFY };

	assert_int_equal(suite_do(suite, access, &access), RR_VFS_OK);
	return access.granted;
}

static void
check_list(const struct rr_vfs_acl *acl, const struct rr_vfs_acl *expected)
{
	assert_int_equal(acl->count, expected->count);
	for (uint32_t i = 0; i < acl->count; i++) {
		assert_int_equal(acl->entries[i].tag, expected->entries[i].tag);
		assert_int_equal(acl->entries[i].perm, expected->entries[i].perm);
		assert_int_equal(acl->entries[i].id, expected->entries[i].id);
	}
}

static void
an_object_without_a_list_has_one_by_its_mode(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_ace entries[3] = { { UO, 6, 0 }, { GO, 4, 0 }, { O, 0, 0 } };
	const struct rr_vfs_acl expected = { 3, entries };
	struct rr_vfs_handle file;
	struct rr_vfs_getacl got;

	suite_needs(suite, SUITE_ACLS);
	file = suite_file(suite, "file", "x");
	suite_set_mode(suite, &file, 0640);
	got = get(suite, &file);
	assert_true(got.is_supported);
	check_list(&got.access, &expected);
	assert_int_equal(got.inherited.count, 0);
}

static void
a_list_is_set_read_and_obeyed(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_acl acl = list_of(6, 4);
	struct rr_vfs_handle file;
	struct rr_vfs_getacl got;

	suite_needs(suite, SUITE_ACLS | SUITE_IDENTITIES);
	file = suite_file(suite, "file", "x");
	suite_set_mode(suite, &file, 0600);
	suite->caller = &suite->other;
	assert_int_equal(granted(suite, &file), 0);
	assert_int_equal(set(suite, &file, &acl, NULL), RR_VFS_PERM);
	suite->caller = &suite->user;
	assert_int_equal(set(suite, &file, &acl, NULL), RR_VFS_OK);
	got = get(suite, &file);
	if (!(suite->provider->can & SUITE_MASKS))
		given[1].perm = 4;
	check_list(&got.access, &acl);
	assert_int_equal(got.object_after.attributes.mode, 0640);
	suite->caller = &suite->other;
	assert_int_equal(granted(suite, &file), RR_VFS_MAY_READ);
}

static void
a_list_is_inherited_until_it_is_removed(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_acl acl = list_of(7, 7), none = { 0, given };
	struct rr_vfs_ace mine[3] = { { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 } };
	struct rr_vfs_handle directory, inner, file;
	struct rr_vfs_getacl got;

	suite_needs(suite, SUITE_ACLS);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0750);
	assert_int_equal(set(suite, &directory, NULL, &acl), RR_VFS_OK);
	got = get(suite, &directory);
	check_list(&got.inherited, &acl);
	assert_int_equal(got.access.count, 3);
	inner = suite_make(suite, &directory, "inner", RR_VFS_DIRECTORY, 0777);
	got = get(suite, &inner);
	check_list(&got.inherited, &acl);
	assert_int_equal(got.access.count, 5);
	/* The list of the directory itself is another one. */
	assert_int_equal(set(suite, &inner, &(struct rr_vfs_acl){ 3, mine }, NULL), RR_VFS_OK);
	got = get(suite, &inner);
	check_list(&got.access, &(struct rr_vfs_acl){ 3, mine });
	check_list(&got.inherited, &acl);
	assert_int_equal(set(suite, &directory, NULL, &none), RR_VFS_OK);
	assert_int_equal(get(suite, &directory).inherited.count, 0);
	/* Only directories have such a list. */
	file = suite_file(suite, "file", "x");
	assert_int_equal(set(suite, &file, NULL, &acl), RR_VFS_INVAL);
}

static void
the_limits_say_that_there_are_lists(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_limits limits = { .object = suite_at(&suite->root) };

	suite_needs(suite, SUITE_ACLS);
	assert_int_equal(suite_do(suite, limits, &limits), RR_VFS_OK);
	assert_true(limits.acls);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_object_without_a_list_has_one_by_its_mode),
	cmocka_unit_test(a_list_is_set_read_and_obeyed),
	cmocka_unit_test(a_list_is_inherited_until_it_is_removed),
	cmocka_unit_test(the_limits_say_that_there_are_lists),
};

const struct suite_tests suite_of_acls = { tests, sizeof(tests) / sizeof(tests[0]) };
