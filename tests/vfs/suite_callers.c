/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests callers: users, groups, nobody. */
#include "suite.h"

#include "vfs/gate.h"

static enum rr_vfs_status
read_one(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_caller *caller)
{
	char data[1];
	struct rr_vfs_read read = {
		.call.caller = caller, .object = suite_at(file), .size = 1, .data = data
	};

	return suite_do(suite, read, &read);
}

static enum rr_vfs_status
write_one(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_caller *caller)
{
	struct rr_vfs_write write = {
		.call.caller = caller, .object = suite_at(file), .data = "x", .length = 1
	};

	return suite_do(suite, write, &write);
}

static void
modes_decide_for_others_and_not_for_the_owner(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;

	suite_needs(suite, SUITE_IDENTITIES);
	file = suite_file(suite, "file", "text");
	suite_set_mode(suite, &file, 0);
	/* RFC 1813, 4.4: "the server's permission checking algorithm should allow the owner of a file to
	 * access it regardless of the permission setting." */
	assert_int_equal(read_one(suite, &file, &suite->user), RR_VFS_OK);
	assert_int_equal(write_one(suite, &file, &suite->user), RR_VFS_OK);
	assert_int_equal(read_one(suite, &file, &suite->other), RR_VFS_ACCESS);
	assert_int_equal(write_one(suite, &file, &suite->other), RR_VFS_ACCESS);
	assert_int_equal(read_one(suite, &file, &suite->super), RR_VFS_OK);
	suite_set_mode(suite, &file, 0004);
	assert_int_equal(read_one(suite, &file, &suite->other), RR_VFS_OK);
	assert_int_equal(write_one(suite, &file, &suite->other), RR_VFS_ACCESS);
	/* RFC 1813, 4.4: "the server allows reading of files if the uid given in the call has either execute
	 * or read permission on the file" */
	suite_set_mode(suite, &file, 0001);
	assert_int_equal(read_one(suite, &file, &suite->other), RR_VFS_OK);
}

static void
every_group_of_the_caller_counts(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	uint32_t groups[64];
	struct rr_vfs_caller caller = { SUITE_OTHER, SUITE_OTHER, 0, groups, false };
	struct rr_vfs_setattr owner = { .call.caller = &suite->super,
		.set = { .mask = RR_VFS_SET_GID, .gid = SUITE_GROUP } };

	suite_needs(suite, SUITE_GROUPS | SUITE_IDENTITIES);
	file = suite_file(suite, "file", "text");
	owner.object = suite_at(&file);
	assert_int_equal(suite_do(suite, setattr, &owner), RR_VFS_OK);
	suite_set_mode(suite, &file, 0640);
	for (uint32_t i = 0; i < 64; i++)
		groups[i] = 5000 + i;
	assert_int_equal(read_one(suite, &file, &caller), RR_VFS_ACCESS);
	for (uint32_t count = 1; count <= 64; count += 7) {
		caller.group_count = count;
		groups[count - 1] = 5000;
		assert_int_equal(read_one(suite, &file, &caller), RR_VFS_ACCESS);
		groups[count - 1] = SUITE_GROUP;
		assert_int_equal(read_one(suite, &file, &caller), RR_VFS_OK);
		assert_int_equal(write_one(suite, &file, &caller), RR_VFS_ACCESS);
		groups[count - 1] = 5000;
	}
	caller = (struct rr_vfs_caller){ SUITE_OTHER, SUITE_GROUP, 0, NULL, false, false };
	assert_int_equal(read_one(suite, &file, &caller), RR_VFS_OK);
}

static void
nobody_may_what_all_may(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file, made;
	struct rr_vfs_identity identity;
	struct rr_right everybody = rr_right_default;

	everybody.read_only = false;
	suite_needs(suite, SUITE_IDENTITIES);
	/* The caller is root, squashed. */
	rr_gate_identify(NULL, &everybody, &identity);
	file = suite_file(suite, "file", "text");
	suite_set_mode(suite, &file, 0640);
	assert_int_equal(read_one(suite, &file, &identity.caller), RR_VFS_ACCESS);
	suite_set_mode(suite, &file, 0644);
	assert_int_equal(read_one(suite, &file, &identity.caller), RR_VFS_OK);
	assert_int_equal(write_one(suite, &file, &identity.caller), RR_VFS_ACCESS);
	suite->caller = &identity.caller;
	made = suite_make(suite, &suite->root, "made", RR_VFS_FILE, 0644);
	assert_int_equal(suite_attributes(suite, &made).uid, RR_VFS_NOBODY);
	assert_int_equal(suite_attributes(suite, &made).gid, RR_VFS_NOBODY);
}

static void
a_directory_is_changed_by_those_who_may(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory;

	suite_needs(suite, SUITE_IDENTITIES);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	suite_make(suite, &directory, "file", RR_VFS_FILE, 0666);
	suite->caller = &suite->other;
	assert_int_equal(suite_create(suite, &directory, "x", RR_VFS_FILE, 0644, NULL), RR_VFS_ACCESS);
	assert_int_equal(suite_create(suite, &directory, "file", RR_VFS_FILE, 0644, NULL), RR_VFS_EXIST);
	assert_int_equal(suite_remove(suite, &directory, "file", RR_VFS_REMOVE_ANY), RR_VFS_ACCESS);
	assert_int_equal(suite_rename(suite, &directory, "file", &suite->root, "y"), RR_VFS_ACCESS);
	suite_find(suite, &directory, "file");
	suite->caller = &suite->user;
	suite_set_mode(suite, &directory, 0700);
	suite->caller = &suite->other;
	assert_int_equal(suite_lookup(suite, &directory, "file", NULL), RR_VFS_ACCESS);
	suite->caller = &suite->super;
	suite_find(suite, &directory, "file");
}

static void
a_sticky_directory_keeps_what_belongs_to_others(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory;

	suite_needs(suite, SUITE_IDENTITIES);
	suite->caller = &suite->super;
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 01777);
	suite_set_mode(suite, &directory, 01777);
	suite->caller = &suite->user;
	suite_make(suite, &directory, "file", RR_VFS_FILE, 0666);
	suite->caller = &suite->other;
	assert_int_equal(suite_remove(suite, &directory, "file", RR_VFS_REMOVE_ANY), RR_VFS_PERM);
	assert_int_equal(suite_rename(suite, &directory, "file", &directory, "x"), RR_VFS_PERM);
	suite_make(suite, &directory, "mine", RR_VFS_FILE, 0666);
	assert_int_equal(suite_rename(suite, &directory, "mine", &directory, "file"), RR_VFS_PERM);
	suite->caller = &suite->user;
	assert_int_equal(suite_remove(suite, &directory, "file", RR_VFS_REMOVE_ANY), RR_VFS_OK);
}

static enum rr_vfs_status
set(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_caller *caller,
	const struct rr_vfs_set *set)
{
	struct rr_vfs_setattr setattr = { .call.caller = caller, .object = suite_at(file), .set = *set };

	return suite_do(suite, setattr, &setattr);
}

static void
attributes_are_set_by_those_who_may(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	const struct rr_vfs_set mode = { .mask = RR_VFS_SET_MODE, .mode = 0600 };
	const struct rr_vfs_set uid = { .mask = RR_VFS_SET_UID, .uid = SUITE_OTHER };
	const struct rr_vfs_set gid = { .mask = RR_VFS_SET_GID, .gid = SUITE_GROUP };
	const struct rr_vfs_set time = { .mask = RR_VFS_SET_MODIFY_TIME, .modify_time = { 5, 0 } };
	const struct rr_vfs_set now = { .mask = RR_VFS_SET_MODIFY_NOW | RR_VFS_SET_ACCESS_NOW };
	/* The Linux client sends these for ftruncate(2). */
	const struct rr_vfs_set modified = { .mask = RR_VFS_SET_MODIFY_NOW };
	const struct rr_vfs_set cut = { .mask = RR_VFS_SET_SIZE | RR_VFS_SET_MODIFY_NOW, .size = 2 };
	const uint32_t group = SUITE_GROUP;
	const struct rr_vfs_caller member = { SUITE_USER, SUITE_USER, 1, &group, false };

	suite_needs(suite, SUITE_IDENTITIES);
	file = suite_file(suite, "file", "text");
	assert_int_equal(set(suite, &file, &suite->other, &mode), RR_VFS_PERM);
	assert_int_equal(set(suite, &file, &suite->user, &uid), RR_VFS_PERM);
	assert_int_equal(set(suite, &file, &suite->user, &gid), RR_VFS_PERM);
	assert_int_equal(set(suite, &file, &member, &gid), RR_VFS_OK);
	assert_int_equal(set(suite, &file, &suite->other, &time), RR_VFS_PERM);
	assert_int_equal(set(suite, &file, &suite->other, &now), RR_VFS_ACCESS);
	assert_int_equal(set(suite, &file, &suite->other, &modified), RR_VFS_ACCESS);
	suite_set_mode(suite, &file, 0666);
	assert_int_equal(set(suite, &file, &suite->other, &now), RR_VFS_OK);
	assert_int_equal(set(suite, &file, &suite->other, &modified), RR_VFS_OK);
	assert_int_equal(set(suite, &file, &suite->other, &cut), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).size, 2);
	assert_int_equal(set(suite, &file, &suite->other, &time), RR_VFS_PERM);
	assert_int_equal(set(suite, &file, &suite->super, &uid), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).uid, SUITE_OTHER);
	assert_int_equal(suite_attributes(suite, &file).gid, SUITE_GROUP);
	assert_int_equal(set(suite, &file, &suite->user, &mode), RR_VFS_PERM);
}

static void
access_is_that_of_the_caller(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	struct rr_vfs_access access = { .call.caller = &suite->other,
		.asked = RR_VFS_MAY_READ | RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXECUTE };

	suite_needs(suite, SUITE_IDENTITIES);
	file = suite_file(suite, "file", "text");
	suite_set_mode(suite, &file, 0754);
	access.object = suite_at(&file);
	assert_int_equal(suite_do(suite, access, &access), RR_VFS_OK);
	assert_int_equal(access.granted, RR_VFS_MAY_READ);
	access.call.caller = &suite->user;
	assert_int_equal(suite_do(suite, access, &access), RR_VFS_OK);
	assert_int_equal(access.granted, access.asked);
}

static void
a_directory_is_listed_by_those_who_may_read_it(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory;
	struct rr_vfs_readdir readdir = { .call.caller = &suite->other };

	suite_needs(suite, SUITE_IDENTITIES);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0700);
	readdir.directory = suite_at(&directory);
	assert_int_equal(suite_do(suite, readdir, &readdir), RR_VFS_ACCESS);
}

static uint32_t
granted(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_caller *caller)
{
	struct rr_vfs_access access = { .call.caller = caller,
		.object = suite_at(file),
		.asked = RR_VFS_MAY_READ | RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND };

	assert_int_equal(suite_do(suite, access, &access), RR_VFS_OK);
	return access.granted;
}

static enum rr_vfs_status
open_as(struct suite *suite, const struct rr_vfs_handle *file, const struct rr_vfs_caller *caller,
	uint32_t share)
{
	struct rr_vfs_opening opening = { .call.caller = caller, .object = suite_at(file), .access = share };
	enum rr_vfs_status status = suite_do(suite, open, &opening);

	rr_vfs_close(suite->vfs, opening.open, NULL);
	return status;
}

static void
a_caller_for_reading_only_changes_nothing(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_caller reader = *suite->caller;
	const struct rr_vfs_set mode = { .mask = RR_VFS_SET_MODE, .mode = 0600 };
	const struct rr_vfs_set size = { .mask = RR_VFS_SET_SIZE };
	struct rr_vfs_open *open = suite_open(suite, &file, RR_VFS_SHARE_WRITE, 0);
	struct rr_vfs_write write = {
		.call.caller = &reader, .object = { .open = open }, .data = "x", .length = 1
	};
	struct rr_vfs_create create = { .call.caller = &reader,
		.directory = suite_at(&suite->root),
		.name = suite_bytes("file"),
		.type = RR_VFS_FILE,
		.how = RR_VFS_UNCHECKED,
		.set = size };

	reader.read_only = true;
	assert_int_equal(read_one(suite, &file, &reader), RR_VFS_OK);
	assert_int_equal(granted(suite, &file, &reader), RR_VFS_MAY_READ);
	assert_int_equal(open_as(suite, &file, &reader, RR_VFS_SHARE_READ), RR_VFS_OK);
	assert_int_equal(open_as(suite, &file, &reader, RR_VFS_SHARE_WRITE), RR_VFS_ROFS);
	assert_int_equal(write_one(suite, &file, &reader), RR_VFS_ROFS);
	/* An open that was made before does not help. */
	assert_int_equal(suite_do(suite, write, &write), RR_VFS_ROFS);
	assert_int_equal(set(suite, &file, &reader, &mode), RR_VFS_ROFS);
	assert_int_equal(set(suite, &file, &reader, &size), RR_VFS_ROFS);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_ROFS);
	assert_int_equal(create.applied, 0);
	suite_close(suite, open);
	suite->caller = &reader;
	assert_int_equal(suite_create(suite, &suite->root, "new", RR_VFS_FILE, 0644, NULL), RR_VFS_ROFS);
	assert_int_equal(suite_create(suite, &suite->root, "new", RR_VFS_DIRECTORY, 0755, NULL), RR_VFS_ROFS);
	assert_int_equal(suite_link(suite, &file, &suite->root, "new"), RR_VFS_ROFS);
	assert_int_equal(suite_rename(suite, &suite->root, "file", &suite->root, "new"), RR_VFS_ROFS);
	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_ANY), RR_VFS_ROFS);
	suite_holds(suite, &(struct rr_vfs_object){ .handle = { file.data, file.length } }, 0, "text");
}

static void
handles_say_which_export_they_lie_in(void **state)
{
	struct suite *suite = *state;
	const struct rr_vfs *vfs = suite->vfs;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	uint8_t octets[RR_VFS_HANDLE_MAX];

	assert_int_equal(rr_vfs_export_of(vfs, suite_at(&suite->root).handle), 0);
	assert_int_equal(rr_vfs_export_of(vfs, suite_at(&file).handle), 0);
	memset(octets, 0xee, sizeof(octets));
	for (uint32_t length = 0; length <= sizeof(octets); length++)
		assert_int_equal(
			rr_vfs_export_of(vfs, (struct rpcrdma_bytes){ octets, length }), vfs->export_count);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(modes_decide_for_others_and_not_for_the_owner),
	cmocka_unit_test(every_group_of_the_caller_counts),
	cmocka_unit_test(nobody_may_what_all_may),
	cmocka_unit_test(a_directory_is_changed_by_those_who_may),
	cmocka_unit_test(a_sticky_directory_keeps_what_belongs_to_others),
	cmocka_unit_test(attributes_are_set_by_those_who_may),
	cmocka_unit_test(access_is_that_of_the_caller),
	cmocka_unit_test(a_directory_is_listed_by_those_who_may_read_it),
	cmocka_unit_test(a_caller_for_reading_only_changes_nothing),
	cmocka_unit_test(handles_say_which_export_they_lie_in),
};

const struct suite_tests suite_of_callers = { tests, sizeof(tests) / sizeof(tests[0]) };
