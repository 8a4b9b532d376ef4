/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of open and close, share reservations, leases, and files without a name. */
#include "suite.h"

enum { READ = RR_VFS_SHARE_READ, WRITE = RR_VFS_SHARE_WRITE, BOTH = READ | WRITE };

static enum rr_vfs_status
try_open(struct suite *suite, const struct rr_vfs_handle *file, uint32_t access, uint32_t deny)
{
	struct rr_vfs_opening opening = { .object = suite_at(file), .access = access, .deny = deny };
	enum rr_vfs_status status = suite_do(suite, open, &opening);

	if (status == RR_VFS_OK)
		suite_close(suite, opening.open);
	return status;
}

static void
only_files_are_opened(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	struct rr_vfs_handle fifo = suite_make(suite, &suite->root, "fifo", RR_VFS_FIFO, 0666);

	assert_int_equal(try_open(suite, &directory, READ, 0), RR_VFS_ISDIR);
	assert_int_equal(try_open(suite, &link, READ, 0), RR_VFS_SYMLINK);
	assert_int_equal(try_open(suite, &fifo, READ, 0), RR_VFS_WRONG_TYPE);
}

static void
an_open_outlives_the_last_name(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_OPENS);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, 0);
	struct rr_vfs_object held = { .open = open }, named = suite_at(&file);
	struct rr_vfs_attributes attributes;
	struct rr_vfs_setattr size = { .object = held, .set = { .mask = RR_VFS_SET_SIZE, .size = 6 } };

	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_FILE), RR_VFS_OK);
	suite_holds(suite, &held, 0, "text");
	assert_int_equal(suite_write(suite, &held, 4, "more", RR_VFS_FILE_SYNC), RR_VFS_OK);
	assert_int_equal(suite_do(suite, setattr, &size), RR_VFS_OK);
	suite_holds(suite, &held, 0, "textmo");
	assert_int_equal(suite_getattr(suite, &held, &attributes), RR_VFS_OK);
	assert_int_equal(attributes.links, 0);
	assert_int_equal(attributes.size, 6);
	suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	suite_holds(suite, &held, 0, "textmo");
	suite_close(suite, open);
	assert_int_equal(suite_getattr(suite, &named, NULL), RR_VFS_STALE);
}

static bool
take_nothing(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	(void)readdir;
	(void)entry;
	fail_msg("a file has no entries");
	return false;
}

/* Operations on names in a file that is named by its open, and has no name itself. */
static void
an_open_file_is_no_directory(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_OPENS);
	struct rr_vfs_handle file = suite_file(suite, "file", "text"), other = suite_file(suite, "other", "");
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, 0);
	struct rr_vfs_object held = { .open = open }, root = suite_at(&suite->root);
	struct rpcrdma_bytes name = suite_bytes("other"), fresh = suite_bytes("fresh");
	struct rr_vfs_lookup lookup = { .directory = held, .name = name };
	struct rr_vfs_create create = { .directory = held, .name = fresh, .type = RR_VFS_FILE };
	struct rr_vfs_link link = { .file = suite_at(&other), .directory = held, .name = fresh };
	struct rr_vfs_rename from = { .from = held, .to = root, .old_name = name, .new_name = fresh };
	struct rr_vfs_rename to = { .from = root, .to = held, .old_name = name, .new_name = fresh };
	struct rr_vfs_readdir readdir = {
		.directory = held, .room = { { 4096, 0 }, { 4096, 0 } }, .take = take_nothing
	};

	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_FILE), RR_VFS_OK);
	for (int what = RR_VFS_REMOVE_ANY; what <= RR_VFS_REMOVE_DIRECTORY; what++) {
		struct rr_vfs_remove remove = {
			.directory = held, .name = name, .what = (enum rr_vfs_remove_what)what
		};

		assert_int_equal(suite_do(suite, remove, &remove), RR_VFS_NOTDIR);
	}
	assert_int_equal(suite_do(suite, lookup, &lookup), RR_VFS_NOTDIR);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_NOTDIR);
	assert_int_equal(suite_do(suite, link, &link), RR_VFS_NOTDIR);
	assert_int_equal(suite_do(suite, rename, &from), RR_VFS_NOTDIR);
	assert_int_equal(suite_do(suite, rename, &to), RR_VFS_NOTDIR);
	assert_int_equal(suite_do(suite, readdir, &readdir), RR_VFS_NOTDIR);
	suite_holds(suite, &held, 0, "text");
	suite_close(suite, open);
}

static void
an_open_allows_what_it_was_made_for_and_no_more(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *reader = suite_open(suite, &file, READ, 0);
	struct rr_vfs_open *writer = suite_open(suite, &file, WRITE, 0);
	struct rr_vfs_object read_only = { .open = reader }, write_only = { .open = writer };
	char data[4];
	struct rr_vfs_read read = { .object = write_only, .size = 4, .data = data };

	assert_int_equal(suite_write(suite, &read_only, 0, "x", RR_VFS_UNSTABLE), RR_VFS_OPEN_MODE);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OPEN_MODE);
	suite_holds(suite, &read_only, 0, "text");
	assert_int_equal(suite_write(suite, &write_only, 0, "T", RR_VFS_UNSTABLE), RR_VFS_OK);
	suite_holds(suite, &read_only, 0, "Text");
	suite_close(suite, reader);
	suite_close(suite, writer);
}

static void
a_mode_that_changes_later_does_not_close_an_open(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	struct rr_vfs_open *open;
	struct rr_vfs_object held = { 0 };

	suite_needs(suite, SUITE_OPENS | SUITE_IDENTITIES);
	file = suite_file(suite, "file", "text");
	suite_set_mode(suite, &file, 0666);
	suite->caller = &suite->other;
	held.open = open = suite_open(suite, &file, BOTH, 0);
	suite->caller = &suite->user;
	suite_set_mode(suite, &file, 0);
	suite->caller = &suite->other;
	suite_holds(suite, &held, 0, "text");
	assert_int_equal(suite_write(suite, &held, 0, "T", RR_VFS_UNSTABLE), RR_VFS_OK);
	suite_close(suite, open);
	assert_int_equal(try_open(suite, &file, READ, 0), RR_VFS_ACCESS);
}

static void
the_owner_opens_a_file_of_mode_zero(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0);
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, 0);
	struct rr_vfs_object held = { .open = open };

	assert_int_equal(suite_write(suite, &held, 0, "text", RR_VFS_UNSTABLE), RR_VFS_OK);
	suite_holds(suite, &held, 0, "text");
	suite_close(suite, open);
}

/* RFC 8881, 9.9: for each access and deny of two opens, the test knows whether the second conflicts with the
 * first. */
static void
share_reservations_keep_others_out(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_SHARES);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");

	for (uint32_t i = 0; i < 12 * 12; i++) {
		uint32_t access = i % 3 + 1, deny = i / 3 % 4, second = i / 12 % 3 + 1, denies = i / 36 % 4;
		bool conflict = (access & denies) || (deny & second);
		struct rr_vfs_open *open = suite_open(suite, &file, access, deny);

		assert_int_equal(try_open(suite, &file, second, denies), conflict ? RR_VFS_SHARE : RR_VFS_OK);
		suite_close(suite, open);
		assert_int_equal(try_open(suite, &file, second, denies), RR_VFS_OK);
	}
}

static void
what_an_open_denies_is_denied_without_an_open(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_SHARES);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_object object = suite_at(&file);
	struct rr_vfs_open *open = suite_open(suite, &file, BOTH, BOTH);
	struct rr_vfs_object held = { .open = open };
	char data[4];
	struct rr_vfs_read read = { .object = object, .size = 4, .data = data };
	struct rr_vfs_setattr size = { .object = object, .set = { .mask = RR_VFS_SET_SIZE } };
	struct rr_vfs_create create = { .directory = suite_at(&suite->root),
		.name = suite_bytes("file"),
		.type = RR_VFS_FILE,
		.how = RR_VFS_UNCHECKED,
		.set = size.set };

	assert_int_equal(suite_do(suite, read, &read), RR_VFS_LOCKED);
	assert_int_equal(suite_write(suite, &object, 0, "x", RR_VFS_UNSTABLE), RR_VFS_LOCKED);
	assert_int_equal(suite_do(suite, setattr, &size), RR_VFS_LOCKED);
	assert_int_equal(suite_do(suite, create, &create), RR_VFS_LOCKED);
	assert_int_equal(create.applied, 0);
	suite_holds(suite, &held, 0, "text");
	/* The client that has the open asks for another of its users. */
	object.reserved = read.object.reserved = size.object.reserved = true;
	suite_holds(suite, &object, 0, "text");
	assert_int_equal(suite_write(suite, &object, 0, "next", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_do(suite, setattr, &size), RR_VFS_OK);
	object.reserved = false;
	suite_close(suite, open);
	assert_int_equal(suite_write(suite, &object, 0, "text", RR_VFS_UNSTABLE), RR_VFS_OK);
	suite_holds(suite, &object, 0, "text");
}

static void
an_open_that_replaces_another_takes_its_reservation_over(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_SHARES);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *first = suite_open(suite, &file, BOTH, BOTH);
	struct rr_vfs_opening narrow = { .object = { suite_at(&file).handle, first },
		.access = READ,
		.deny = 0,
		.relation = RR_VFS_REPLACES };

	assert_int_equal(suite_do(suite, open, &narrow), RR_VFS_OK);
	/* The reservation of the first open has ended, although the first is still open. */
	assert_int_equal(try_open(suite, &file, BOTH, 0), RR_VFS_OK);
	assert_int_equal(try_open(suite, &file, BOTH, READ), RR_VFS_SHARE);
	suite_close(suite, first);
	assert_int_equal(try_open(suite, &file, BOTH, READ), RR_VFS_SHARE);
	suite_close(suite, narrow.open);
	assert_int_equal(try_open(suite, &file, BOTH, READ), RR_VFS_OK);
}

static void
an_open_beside_another_has_the_same_reservation(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_SHARES);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *first = suite_open(suite, &file, BOTH, BOTH);
	struct rr_vfs_opening beside = {
		.object = { suite_at(&file).handle, first }, .access = BOTH, .relation = RR_VFS_BESIDE
	};
	struct rr_vfs_object held = { 0 };

	assert_int_equal(suite_do(suite, open, &beside), RR_VFS_OK);
	held.open = beside.open;
	suite_holds(suite, &held, 0, "text");
	assert_int_equal(try_open(suite, &file, READ, 0), RR_VFS_SHARE);
	suite_close(suite, beside.open);
	assert_int_equal(try_open(suite, &file, READ, 0), RR_VFS_SHARE);
	suite_close(suite, first);
}

static void
no_open_may_be_closed(void **state)
{
	suite_close(*state, NULL);
}

static void
recalled(void *ctx)
{
	(*(int *)ctx)++;
}

static void
a_lease_is_recalled_before_somebody_writes(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	struct rr_vfs_open *open;
	int recalls = 0;
	struct rr_vfs_lease lease = { .recall = recalled, .ctx = &recalls };
	struct rr_vfs_opening writer = { .access = WRITE };
	enum rr_vfs_status status;

	suite_needs(suite, SUITE_LEASES);
	file = suite_file(suite, "file", "text");
	lease.open = open = suite_open(suite, &file, READ, 0);
	assert_int_equal(suite_do(suite, lease, &lease), RR_VFS_OK);
	assert_int_equal(try_open(suite, &file, READ, 0), RR_VFS_OK);
	assert_int_equal(recalls, 0);
	writer.object = suite_at(&file);
	suite_ready(suite, &writer.call);
	status = rr_vfs_open(suite->vfs, &writer);
	turn_until(recalls > 0, rr_loop_turn(suite->loop, RR_SECOND));
	lease.recall = NULL;
	assert_int_equal(suite_do(suite, lease, &lease), RR_VFS_OK);
	status = suite_end(suite, &writer.call, status);
	/* The open for writing waits, or has to be tried again. */
	if (status == RR_VFS_BUSY)
		status = suite_do(suite, open, &writer);
	assert_int_equal(status, RR_VFS_OK);
	assert_int_equal(recalls, 1);
	suite_close(suite, writer.open);
	suite_close(suite, open);
}

static void
no_lease_is_given_where_somebody_writes(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	struct rr_vfs_open *writer, *open;
	int recalls = 0;
	struct rr_vfs_lease lease = { .recall = recalled, .ctx = &recalls };

	suite_needs(suite, SUITE_LEASES);
	file = suite_file(suite, "file", "text");
	writer = suite_open(suite, &file, BOTH, 0);
	lease.open = open = suite_open(suite, &file, READ, 0);
	assert_int_equal(suite_do(suite, lease, &lease), RR_VFS_BUSY);
	suite_close(suite, writer);
	assert_int_equal(suite_do(suite, lease, &lease), RR_VFS_OK);
	suite_close(suite, open);
	assert_int_equal(try_open(suite, &file, WRITE, 0), RR_VFS_OK);
	assert_int_equal(recalls, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(only_files_are_opened),
	cmocka_unit_test(an_open_outlives_the_last_name),
	cmocka_unit_test(an_open_file_is_no_directory),
	cmocka_unit_test(an_open_allows_what_it_was_made_for_and_no_more),
	cmocka_unit_test(a_mode_that_changes_later_does_not_close_an_open),
	cmocka_unit_test(the_owner_opens_a_file_of_mode_zero),
	cmocka_unit_test(share_reservations_keep_others_out),
	cmocka_unit_test(what_an_open_denies_is_denied_without_an_open),
	cmocka_unit_test(an_open_that_replaces_another_takes_its_reservation_over),
	cmocka_unit_test(an_open_beside_another_has_the_same_reservation),
	cmocka_unit_test(no_open_may_be_closed),
	cmocka_unit_test(a_lease_is_recalled_before_somebody_writes),
	cmocka_unit_test(no_lease_is_given_where_somebody_writes),
};

const struct suite_tests suite_of_opens = { tests, sizeof(tests) / sizeof(tests[0]) };
