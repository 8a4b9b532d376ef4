/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of holes, copies, a full disk, and a quota. */
#include "suite.h"

#include <stdlib.h>

enum { BLOCK = 65536 };

static void
write_block(struct suite *suite, const struct rr_vfs_handle *file, uint64_t offset, uint8_t octet)
{
	static uint8_t data[BLOCK];
	struct rr_vfs_write write = {
		.object = suite_at(file), .offset = offset, .data = data, .length = BLOCK
	};

	memset(data, octet, sizeof(data));
	assert_int_equal(suite_do(suite, write, &write), RR_VFS_OK);
	assert_int_equal(write.count, BLOCK);
}

static struct rr_vfs_seek
seek(struct suite *suite, const struct rr_vfs_handle *file, uint64_t offset, bool data)
{
	struct rr_vfs_seek seek = { .object = suite_at(file), .offset = offset, .data = data };

	assert_int_equal(suite_do(suite, seek, &seek), RR_VFS_OK);
	return seek;
}

static void
seek_tells_data_from_holes(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_HOLES);
	struct rr_vfs_handle file;
	struct rr_vfs_seek found;
	struct rr_vfs_seek behind;

	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	write_block(suite, &file, 0, 1);
	write_block(suite, &file, 4 * BLOCK, 2);
	found = seek(suite, &file, 10, true);
	assert_int_equal(found.found, 10);
	found = seek(suite, &file, 10, false);
	assert_int_equal(found.found, BLOCK);
	assert_false(found.eof);
	found = seek(suite, &file, BLOCK, true);
	assert_int_equal(found.found, 4 * BLOCK);
	found = seek(suite, &file, 4 * BLOCK, false);
	assert_int_equal(found.found, 5 * BLOCK);
	assert_true(found.eof);
	behind = (struct rr_vfs_seek){ .object = suite_at(&file), .offset = 5 * BLOCK, .data = true };
	assert_int_equal(suite_do(suite, seek, &behind), RR_VFS_NXIO);
}

static void
no_data_behind_an_offset_is_the_end_of_the_file(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_HOLES);
	struct rr_vfs_handle file;
	struct rr_vfs_setattr setattr = { .set = { .mask = RR_VFS_SET_SIZE, .size = 4 * BLOCK } };
	struct rr_vfs_seek found;

	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	setattr.object = suite_at(&file);
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	found = seek(suite, &file, 5, true);
	assert_true(found.eof);
	assert_int_equal(found.found, 4 * BLOCK);
}

static void
deallocate_makes_a_hole_and_keeps_the_size(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_HOLES);
	struct rr_vfs_handle file;
	struct rr_vfs_space space = { .offset = BLOCK, .length = BLOCK };
	uint8_t *data = malloc(3 * BLOCK);
	struct rr_vfs_read read = { .size = 3 * BLOCK, .data = data };

	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	for (uint64_t i = 0; i < 3; i++)
		write_block(suite, &file, i * BLOCK, 7);
	space.object = read.object = suite_at(&file);
	assert_int_equal(suite_do(suite, deallocate, &space), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).size, 3 * BLOCK);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 3 * BLOCK);
	for (uint32_t i = 0; i < 3 * BLOCK; i++)
		assert_int_equal(data[i], i / BLOCK == 1 ? 0 : 7);
	assert_int_equal(seek(suite, &file, 0, false).found, BLOCK);
	/* The ranges are parts of blocks, and lie behind the end. */
	space.offset = 10;
	space.length = 5;
	assert_int_equal(suite_do(suite, deallocate, &space), RR_VFS_OK);
	space.offset = 10 * BLOCK;
	assert_int_equal(suite_do(suite, deallocate, &space), RR_VFS_OK);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(data[9], 7);
	assert_int_equal(data[10], 0);
	assert_int_equal(data[15], 7);
	assert_int_equal(suite_attributes(suite, &file).size, 3 * BLOCK);
	free(data);
}

static void
allocate_makes_the_file_as_long(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_HOLES);
	struct rr_vfs_handle file;
	struct rr_vfs_object object;
	struct rr_vfs_space space = { .offset = 2, .length = BLOCK };

	file = suite_file(suite, "file", "text");
	object = space.object = suite_at(&file);
	assert_int_equal(suite_do(suite, allocate, &space), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).size, BLOCK + 2);
	assert_true(suite_attributes(suite, &file).used >= BLOCK);
	assert_int_equal(suite_write(suite, &object, 4, "x", RR_VFS_UNSTABLE), RR_VFS_OK);
	space.length = 0;
	assert_int_equal(suite_do(suite, allocate, &space), RR_VFS_INVAL);
	space.length = UINT64_MAX;
	assert_int_equal(suite_do(suite, allocate, &space), RR_VFS_FBIG);
}

/* Copies a whole file, by as many copies as that takes. */
static void
copy_all(struct suite *suite, const struct rr_vfs_handle *from, const struct rr_vfs_handle *to, uint64_t size)
{
	struct rr_vfs_copy copy = { .from = suite_at(from), .to = suite_at(to) };

	for (uint64_t done = 0; done < size; done += copy.copied) {
		copy.from_offset = copy.to_offset = done;
		assert_int_equal(suite_do(suite, copy, &copy), RR_VFS_OK);
		assert_int_not_equal(copy.copied, 0);
	}
}

static void
copy_takes_data_and_holes(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_COPIES);
	struct rr_vfs_handle from, to;
	uint8_t *a = calloc(5, BLOCK), *b = malloc(5 * BLOCK);
	struct rr_vfs_read read = { .size = 5 * BLOCK, .data = b };

	from = suite_make(suite, &suite->root, "from", RR_VFS_FILE, 0644);
	to = suite_file(suite, "to", "old text");
	write_block(suite, &from, BLOCK, 3);
	write_block(suite, &from, 4 * BLOCK, 4);
	memset(a + BLOCK, 3, BLOCK);
	memset(a + 4 * BLOCK, 4, BLOCK);
	copy_all(suite, &from, &to, 5 * BLOCK);
	read.object = suite_at(&to);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 5 * BLOCK);
	assert_memory_equal(a, b, 5 * BLOCK);
	free(a);
	free(b);
}

static void
clone_is_a_copy_that_changes_by_itself(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_CLONES);
	struct rr_vfs_handle from, to;
	struct rr_vfs_object object;
	struct rr_vfs_copy clone = { .length = BLOCK };
	char first[2] = { 0 };
	struct rr_vfs_read read = { .size = 1, .data = first };

	from = suite_make(suite, &suite->root, "from", RR_VFS_FILE, 0644);
	to = suite_make(suite, &suite->root, "to", RR_VFS_FILE, 0644);
	write_block(suite, &from, 0, 'a');
	clone.from = suite_at(&from);
	clone.to = suite_at(&to);
	assert_int_equal(suite_do(suite, clone, &clone), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &to).size, BLOCK);
	object = suite_at(&from);
	assert_int_equal(suite_write(suite, &object, 0, "b", RR_VFS_UNSTABLE), RR_VFS_OK);
	read.object = suite_at(&to);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_string_equal(first, "a");
	clone.to_offset = 1;
	assert_int_equal(suite_do(suite, clone, &clone), RR_VFS_INVAL);
}

/* Writes blocks until that fails. Returns the status, and in *written the octets before the failure. */
static enum rr_vfs_status
fill(struct suite *suite, const struct rr_vfs_handle *file, enum rr_vfs_stable stable, uint64_t *written)
{
	static uint8_t data[BLOCK];
	struct rr_vfs_write write = {
		.object = suite_at(file), .data = data, .length = BLOCK, .stable = stable
	};
	enum rr_vfs_status status;

	for (*written = 0; *written < 1000 * BLOCK; *written += write.count) {
		write.offset = *written;
		status = suite_do(suite, write, &write);
		if (status != RR_VFS_OK)
			return status;
		assert_int_not_equal(write.count, 0);
	}
	return RR_VFS_OK;
}

static void
a_full_disk_takes_what_there_is_space_for(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	uint64_t written;

	if (!suite->provider->shrink)
		skip();
	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	suite->provider->shrink(suite, 3 * BLOCK + BLOCK / 2);
	assert_int_equal(fill(suite, &file, RR_VFS_FILE_SYNC, &written), RR_VFS_NOSPC);
	assert_true(written >= 3 * BLOCK);
	assert_int_equal(suite_attributes(suite, &file).size, written);
	/* Removing a file frees its space. */
	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	write_block(suite, &file, 0, 1);
}

static void
a_quota_bounds_its_user_alone(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_IDENTITIES);
	struct rr_vfs_handle file;
	uint64_t written;

	if (!suite->provider->quota)
		skip();
	file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	suite->provider->quota(suite, 2 * BLOCK);
	assert_int_equal(fill(suite, &file, RR_VFS_UNSTABLE, &written), RR_VFS_DQUOT);
	assert_int_equal(written, 2 * BLOCK);
	suite->caller = &suite->other;
	file = suite_make(suite, &suite->root, "other", RR_VFS_FILE, 0644);
	write_block(suite, &file, 0, 1);
	write_block(suite, &file, BLOCK, 1);
	write_block(suite, &file, 2 * BLOCK, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(seek_tells_data_from_holes),
	cmocka_unit_test(no_data_behind_an_offset_is_the_end_of_the_file),
	cmocka_unit_test(deallocate_makes_a_hole_and_keeps_the_size),
	cmocka_unit_test(allocate_makes_the_file_as_long),
	cmocka_unit_test(copy_takes_data_and_holes),
	cmocka_unit_test(clone_is_a_copy_that_changes_by_itself),
	cmocka_unit_test(a_full_disk_takes_what_there_is_space_for),
	cmocka_unit_test(a_quota_bounds_its_user_alone),
};

const struct suite_tests suite_of_space = { tests, sizeof(tests) / sizeof(tests[0]) };
