/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs have written and is not at the server yet, or not stable there. */
#include "world.h"

/* 100 writes of 4 KiB become one WRITE, for which close(2) waits, and which is stable a second later. */
static void
writes_are_gathered(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(write_at(&world, node, file, i * PIECE, 'x', PIECE), 0);
	assert_int_equal(counted(&world).writes, 0);
	assert_true(counted(&world).behind >= 100 * PIECE);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(counted(&world).writes, 1);
	assert_int_equal(counted(&world).commits, 0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).commits, 1);
	assert_int_equal(counted(&world).behind, 0);
	read_is(&world, node, file, 50 * PIECE, 'x', PIECE);
	world_end(&world);
}

/* What nobody closes is at the server after a second, as sync(2) asks nobody. */
static void
what_is_old_is_written(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'x', 10), 0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).writes, 1);
	world_end(&world);
}

/* A name is looked up while the file is being written: the kernel must not cut the file to what the server
 * has. */
static void
what_is_behind_counts_for_the_size(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 1000, 'x', 24), 0);
	assert_int_equal(call(&world, FUSE_LOOKUP, FUSE_ROOT_ID, NULL, 0, "file", 5), 0);
	assert_int_equal(((const struct fuse_entry_out *)world.body)->attr.size, 1024);
	assert_int_equal(counted(&world).writes, 0);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(
		call(&world, FUSE_SETATTR, node, &(struct fuse_setattr_in){ .valid = FATTR_SIZE, .size = 3 },
			sizeof(struct fuse_setattr_in), NULL, 0),
		0);
	assert_int_equal(((const struct fuse_attr_out *)world.body)->attr.size, 3);
	world_end(&world);
}

/* RFC 1813, 4.8: the server loses what was not committed, and its verifier changes: the data is written
 * again. */
static void
what_the_server_loses_is_written_again(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'a', PIECE), 0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).writes, 1);
	rr_memory_lose_power(world.memory);
	assert_int_equal(write_at(&world, node, file, PIECE, 'b', PIECE), 0);
	assert_int_equal(synced(&world, node, file), 0);
	/* Each of both again: what came later may be of the same octets. */
	assert_int_equal(counted(&world).writes, 4);
	rr_memory_lose_power(world.memory);
	read_is(&world, node, file, 0, 'a', PIECE);
	read_is(&world, node, file, PIECE, 'b', PIECE);
	world_end(&world);
}

/* So it is where the program has closed the file meanwhile, and the time that it has set stays. */
static void
what_is_lost_behind_close_is_written_again(void **state)
{
	struct fuse_setattr_in set = { .valid = FATTR_MTIME, .mtime = 1000, .mtimensec = 7 };
	const struct fuse_getattr_in get = { 0 };
	const struct fuse_attr_out *out;
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'a', PIECE), 0);
	assert_int_equal(CALL(&world, FUSE_SETATTR, node, set, NULL, 0), 0);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(counted(&world).commits, 0);
	rr_memory_lose_power(world.memory);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).writes, 2);
	assert_int_equal(counted(&world).behind, 0);
	rr_memory_lose_power(world.memory);
	read_is(&world, node, file, 0, 'a', PIECE);
	assert_int_equal(CALL(&world, FUSE_GETATTR, node, get, NULL, 0), 0);
	out = (const struct fuse_attr_out *)world.body;
	assert_int_equal(out->attr.mtime, 1000);
	assert_int_equal(out->attr.mtimensec, 7);
	world_end(&world);
}

/* What was written after the server had lost earlier octets is not overwritten by these. */
static void
what_is_written_again_overwrites_nothing_newer(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'a', PIECE), 0);
	assert_int_equal(flush(&world, node, file), 0);
	rr_memory_lose_power(world.memory);
	assert_int_equal(write_at(&world, node, file, 100, 'b', 200), 0);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(write_at(&world, node, file, 200, 'c', 10), 0);
	assert_int_equal(synced(&world, node, file), 0);
	assert_int_equal(counted(&world).behind, 0);
	read_is(&world, node, file, 0, 'a', 100);
	read_is(&world, node, file, 100, 'b', 100);
	read_is(&world, node, file, 200, 'c', 10);
	read_is(&world, node, file, 210, 'b', 90);
	read_is(&world, node, file, 300, 'a', PIECE - 300);
	world_end(&world);
}

/* A size that is set is not undone by what was written before. */
static void
what_is_cut_off_is_not_written_again(void **state)
{
	struct fuse_setattr_in set = { .valid = FATTR_SIZE, .size = 3 };
	const struct fuse_getattr_in get = { 0 };
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'a', PIECE), 0);
	assert_int_equal(CALL(&world, FUSE_SETATTR, node, set, NULL, 0), 0);
	assert_int_equal(counted(&world).commits, 1);
	rr_memory_lose_power(world.memory);
	stage_pass(&world.stage, 2 * RR_SECOND);
	assert_int_equal(CALL(&world, FUSE_GETATTR, node, get, NULL, 0), 0);
	assert_int_equal(((const struct fuse_attr_out *)world.body)->attr.size, 3);
	world_end(&world);
}

/* A later write of the same octets is not overtaken. */
static void
writes_that_overlap_keep_their_order(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	for (char octet = 'a'; octet <= 'z'; octet++)
		assert_int_equal(write_at(&world, node, file, 100, octet, 50), 0);
	read_is(&world, node, file, 100, 'z', 50);
	assert_int_equal(flush(&world, node, file), 0);
	world_end(&world);
}

/* A full disk is told by close(2), and only once; the file can be written when there is space again. */
static void
an_error_is_told_once(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	rr_memory_space(world.memory, 1, 0);
	assert_int_equal(write_at(&world, node, file, 0, 'x', PIECE), 0);
	assert_int_equal(flush(&world, node, file), ENOSPC);
	assert_int_equal(flush(&world, node, file), 0);
	rr_memory_space(world.memory, 0, 0);
	assert_int_equal(write_at(&world, node, file, 0, 'y', PIECE), 0);
	assert_int_equal(flush(&world, node, file), 0);
	read_is(&world, node, file, 0, 'y', PIECE);
	world_end(&world);
}

/* More than may be behind is not taken over before there is room. */
static void
memory_is_bounded(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 * PIECE, &file);
	for (uint64_t i = 0; i < 200; i++) {
		/* Not one behind the other, so that each is a piece. */
		assert_int_equal(write_at(&world, node, file, 2 * i * PIECE, 'x', PIECE), 0);
		assert_true(counted(&world).behind <= (64 + 8) * PIECE);
	}
	assert_int_equal(flush(&world, node, file), 0);
	read_is(&world, node, file, 2 * 199 * PIECE, 'x', PIECE);
	world_end(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_are_gathered),
		cmocka_unit_test(what_is_old_is_written),
		cmocka_unit_test(what_is_behind_counts_for_the_size),
		cmocka_unit_test(what_the_server_loses_is_written_again),
		cmocka_unit_test(what_is_lost_behind_close_is_written_again),
		cmocka_unit_test(what_is_written_again_overwrites_nothing_newer),
		cmocka_unit_test(what_is_cut_off_is_not_written_again),
		cmocka_unit_test(writes_that_overlap_keep_their_order),
		cmocka_unit_test(an_error_is_told_once),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
