/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of create: all types, and the ways to make a file. */
#include "suite.h"

#include <sys/stat.h>

static struct rr_vfs_create
creation(struct suite *suite, const char *name, enum rr_vfs_type type, enum rr_vfs_how how)
{
	return (struct rr_vfs_create){ .directory = suite_at(&suite->root),
		.name = suite_bytes(name),
		.type = type,
		.how = how,
		.target = suite_bytes("target") };
}

static void
each_type_can_be_made(void **state)
{
	static const enum rr_vfs_type types[] = { RR_VFS_FILE, RR_VFS_DIRECTORY, RR_VFS_LINK, RR_VFS_SOCKET,
		RR_VFS_FIFO };
	struct suite *suite = *state;
	char name[] = "0";

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++, name[0]++) {
		struct rr_vfs_create create = creation(suite, name, types[i], RR_VFS_GUARDED);

		assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
		assert_true(create.created);
		assert_true(create.object_after.valid);
		assert_int_equal(create.object_after.attributes.type, types[i]);
		assert_true(create.directory_change.after.valid);
		assert_int_equal(suite_attributes(suite, &create.handle).type, types[i]);
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
		assert_false(create.created);
	}
}

static void
what_is_no_type_is_not_made(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "name", (enum rr_vfs_type)0, RR_VFS_GUARDED);

	assert_int_equal(suite_do(suite, create, &create), RR_VFS_WRONG_TYPE);
	create.type = (enum rr_vfs_type)(RR_VFS_FIFO + 1);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_WRONG_TYPE);
}

static void
devices_are_made_by_the_privileged_alone(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "device", RR_VFS_CHARACTER_DEVICE, RR_VFS_GUARDED);

	suite_needs(suite, SUITE_DEVICES | SUITE_IDENTITIES);
	create.device[0] = 1;
	create.device[1] = 3;
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_PERM);
	create.call.caller = &suite->super;
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &create.handle).device[0], 1);
	assert_int_equal(suite_attributes(suite, &create.handle).device[1], 3);
}

static void
without_a_mode_only_the_owner_may(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create file = creation(suite, "file", RR_VFS_FILE, RR_VFS_GUARDED);
	struct rr_vfs_create directory = creation(suite, "directory", RR_VFS_DIRECTORY, RR_VFS_GUARDED);

	assert_int_equal(suite_do(suite, create, &file), RR_VFS_OK);
	assert_int_equal(file.object_after.attributes.mode, 0600);
	assert_int_equal(suite_do(suite, create, &directory), RR_VFS_OK);
	assert_int_equal(directory.object_after.attributes.mode & 0777, 0700);
}

static void
a_mask_takes_bits_from_the_mode(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_GUARDED);

	create.set =
		(struct rr_vfs_set){ .mask = RR_VFS_SET_MODE | RR_VFS_SET_UMASK, .mode = 0666, .umask = 027 };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(create.object_after.attributes.mode, 0640);
}

/* RFC 8881, 18.30.3, of the attributes that a client asks for: the result says "what (if any) attributes were
 * successfully set". */
static void
a_new_link_takes_no_mode(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "link", RR_VFS_LINK, RR_VFS_GUARDED);

	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_MODE | RR_VFS_SET_UMASK | RR_VFS_SET_MODIFY_TIME,
		.mode = 0600,
		.umask = 022,
		.modify_time = { 77, 0 } };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(create.applied, RR_VFS_SET_MODIFY_TIME);
	assert_int_equal(create.object_after.attributes.mode, 0777);
	assert_int_equal(suite_attributes(suite, &create.handle).mode, 0777);
}

/* The mask of the server's process is no caller's mask. */
static void
the_mask_of_the_process_takes_no_bits(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_GUARDED);
	mode_t mask = umask(077);
	enum rr_vfs_status status;

	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_MODE, .mode = 0664 };
	status = suite_do(suite, create, &create);
	umask(mask);
	assert_int_equal(status, RR_VFS_OK);
	assert_int_equal(create.object_after.attributes.mode, 0664);
	assert_int_equal(suite_attributes(suite, &create.handle).mode, 0664);
}

static void
a_new_file_has_the_attributes_that_were_asked_for(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_UNCHECKED);

	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_MODE | RR_VFS_SET_SIZE | RR_VFS_SET_MODIFY_TIME,
		.mode = 0604,
		.size = 100,
		.modify_time = { 77, 0 } };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_true(create.created);
	assert_int_equal(create.object_after.attributes.size, 100);
	assert_int_equal(create.object_after.attributes.mode, 0604);
	assert_int_equal(create.object_after.attributes.modify_time.seconds, 77);
	assert_int_equal(create.applied & create.set.mask, create.set.mask);
}

static void
unchecked_takes_an_existing_file_and_sets_only_its_size(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_UNCHECKED);

	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_MODE, .mode = 0600 };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_false(create.created);
	assert_int_equal(suite_attributes(suite, &file).mode, 0644);
	assert_int_equal(suite_attributes(suite, &file).size, 10);
	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_SIZE };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(create.applied, RR_VFS_SET_SIZE);
	assert_int_equal(suite_attributes(suite, &file).size, 0);
}

static void
unchecked_takes_nothing_but_a_file(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "name", RR_VFS_FILE, RR_VFS_UNCHECKED);

	suite_make(suite, &suite->root, "name", RR_VFS_DIRECTORY, 0755);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
	create.name = suite_bytes("link");
	suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
}

static void
exclusive_takes_the_file_that_the_same_verifier_made(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LASTING);
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_EXCLUSIVE);

	memcpy(create.verifier, "\1\2\3\4\5\6\7\10", RR_VFS_VERIFIER);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_true(create.created);
	suite->provider->restart(suite);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_false(create.created);
	create.verifier[2] ^= 1;
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
	create.verifier[2] ^= 1;
	create.verifier[7] ^= 1;
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
	create.verifier[7] ^= 1;
	/* The highest bits of both halves count, too. */
	for (int i = 0; i < 8; i += 4) {
		create.verifier[i] ^= 0x80;
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
		create.verifier[i] ^= 0x80;
	}
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
}

/* A file that was not made exclusively has no verifier, also where its times are those of the beginning of
 * all time. */
static void
exclusive_takes_no_file_without_a_verifier(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_EXCLUSIVE);
	struct rr_vfs_setattr times = { .call.caller = suite->caller,
		.object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME } };

	assert_int_equal(suite_do(suite, setattr, &times), RR_VFS_OK);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_EXIST);
}

static void
exclusive_sets_all_but_the_times(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_EXCLUSIVE);

	create.set = (struct rr_vfs_set){
		.mask = RR_VFS_SET_MODE | RR_VFS_SET_MODIFY_TIME, .mode = 0640, .modify_time = { 77, 0 }
	};
	memcpy(create.verifier, "\1\2\3\4\5\6\7\10", RR_VFS_VERIFIER);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(create.applied, RR_VFS_SET_MODE);
	assert_int_equal(create.object_after.attributes.mode, 0640);
	assert_int_not_equal(create.object_after.attributes.modify_time.seconds, 77);
}

static void
a_group_that_a_directory_gives_is_inherited(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory, below;
	struct rr_vfs_setattr owner = { .call.caller = &suite->super,
		.set = { .mask = RR_VFS_SET_GID, .gid = SUITE_GROUP } };

	suite_needs(suite, SUITE_IDENTITIES);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0777);
	owner.object = suite_at(&directory);
	assert_int_equal(suite_do(suite, setattr, &owner), RR_VFS_OK);
	suite->caller = &suite->super;
	suite_set_mode(suite, &directory, 02777);
	suite->caller = &suite->user;
	below = suite_make(suite, &directory, "below", RR_VFS_DIRECTORY, 0755);
	assert_int_equal(suite_attributes(suite, &below).gid, SUITE_GROUP);
	assert_int_equal(suite_attributes(suite, &below).mode, 02755);
	below = suite_make(suite, &directory, "file", RR_VFS_FILE, 0644);
	assert_int_equal(suite_attributes(suite, &below).gid, SUITE_GROUP);
}

static void
nothing_is_left_of_what_cannot_be_made(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_GUARDED);

	create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_SIZE, .size = UINT64_C(1) << 63 };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_FBIG);
	assert_int_equal(suite_lookup(suite, &suite->root, "file", NULL), RR_VFS_NOENT);
}

static void
an_owner_that_may_not_be_given_is_left_out(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "file", RR_VFS_FILE, RR_VFS_GUARDED);

	suite_needs(suite, SUITE_IDENTITIES);
	create.set = (struct rr_vfs_set){
		.mask = RR_VFS_SET_UID | RR_VFS_SET_MODE, .mode = 0640, .uid = SUITE_OTHER
	};
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	assert_int_equal(create.applied & RR_VFS_SET_UID, 0);
	assert_int_equal(create.object_after.attributes.uid, SUITE_USER);
	assert_int_equal(create.object_after.attributes.mode, 0640);
}

/* RFC 8881, 18.4.3: "The error to be returned in this instance is NFS4ERR_PERM." */
static void
an_owner_that_must_be_given_or_nothing_is_made(void **state)
{
	static const enum rr_vfs_type types[] = { RR_VFS_FILE, RR_VFS_DIRECTORY, RR_VFS_LINK };
	struct suite *suite = *state;

	suite_needs(suite, SUITE_IDENTITIES);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct rr_vfs_create create = creation(suite, "name", types[i], RR_VFS_GUARDED);

		create.must_own = true;
		create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_UID, .uid = SUITE_OTHER };
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_PERM);
		assert_false(create.created);
		assert_int_equal(create.applied, 0);
		create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_GID, .gid = SUITE_GROUP };
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_PERM);
		assert_int_equal(suite_lookup(suite, &suite->root, "name", NULL), RR_VFS_NOENT);
		create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_UID, .uid = SUITE_USER };
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
		assert_int_equal(create.applied, RR_VFS_SET_UID);
		assert_int_equal(suite_remove(suite, &suite->root, "name", RR_VFS_REMOVE_ANY), RR_VFS_OK);
		create.call.caller = &suite->super;
		create.set = (struct rr_vfs_set){ .mask = RR_VFS_SET_UID, .uid = SUITE_OTHER };
		assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
		assert_int_equal(create.object_after.attributes.uid, SUITE_OTHER);
		assert_int_equal(suite_remove(suite, &suite->root, "name", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	}
}

static void
the_longest_target_of_a_link_is_kept(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create = creation(suite, "link", RR_VFS_LINK, RR_VFS_GUARDED);
	char text[RR_VFS_TARGET_MAX + 2], target[RR_VFS_TARGET_MAX];
	struct rr_vfs_readlink readlink = { .target = target, .size = sizeof(target) };

	memset(text, 't', sizeof(text));
	create.target = (struct rpcrdma_bytes){ text, RR_VFS_TARGET_MAX + 1 };
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_NAME_TOO_LONG);
	create.target.length = RR_VFS_TARGET_MAX;
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_OK);
	readlink.object = suite_at(&create.handle);
	assert_int_equal(suite_do(suite, readlink, &readlink), RR_VFS_OK);
	assert_int_equal(readlink.length, RR_VFS_TARGET_MAX);
	assert_memory_equal(target, text, RR_VFS_TARGET_MAX);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_type_can_be_made),
	cmocka_unit_test(what_is_no_type_is_not_made),
	cmocka_unit_test(devices_are_made_by_the_privileged_alone),
	cmocka_unit_test(without_a_mode_only_the_owner_may),
	cmocka_unit_test(a_mask_takes_bits_from_the_mode),
	cmocka_unit_test(a_new_link_takes_no_mode),
	cmocka_unit_test(the_mask_of_the_process_takes_no_bits),
	cmocka_unit_test(a_new_file_has_the_attributes_that_were_asked_for),
	cmocka_unit_test(unchecked_takes_an_existing_file_and_sets_only_its_size),
	cmocka_unit_test(unchecked_takes_nothing_but_a_file),
	cmocka_unit_test(exclusive_takes_the_file_that_the_same_verifier_made),
	cmocka_unit_test(exclusive_takes_no_file_without_a_verifier),
	cmocka_unit_test(exclusive_sets_all_but_the_times),
	cmocka_unit_test(a_group_that_a_directory_gives_is_inherited),
	cmocka_unit_test(nothing_is_left_of_what_cannot_be_made),
	cmocka_unit_test(an_owner_that_may_not_be_given_is_left_out),
	cmocka_unit_test(an_owner_that_must_be_given_or_nothing_is_made),
	cmocka_unit_test(the_longest_target_of_a_link_is_kept),
};

const struct suite_tests suite_of_making = { tests, sizeof(tests) / sizeof(tests[0]) };
