/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what files in memory can do beyond other providers: lose their power, and follow a script. */
#include "suite.h"

#include "memory/memory.h"

static const struct rr_vfs_export exports[] = { { "/" } };

/* Makes a suite for its functions, without its directory. */
static struct suite
world(struct rr_memory **memory)
{
	static const struct rr_vfs_caller super = { 0 };
	const struct rr_memory_config config = { .exports = exports, .export_count = 1, .seed = 3 };
	struct suite suite = { .caller = &super };

	suite.loop = rr_loop_new(&rr_env_system);
	assert_non_null(suite.loop);
	assert_int_equal(rr_memory_new(&rr_env_system, &config, memory), 0);
	assert_int_equal(rr_memory_provider(*memory, suite.loop, &suite.vfs), 0);
	rr_vfs_root(suite.vfs, 0, &suite.root);
	return suite;
}

static void
world_end(struct suite *suite, struct rr_memory *memory)
{
	rr_vfs_destroy(suite->vfs);
	rr_memory_free(memory);
	rr_loop_free(suite->loop);
}

static uint64_t
commit(struct suite *suite, const struct rr_vfs_handle *file)
{
	struct rr_vfs_commit commit = { .object = suite_at(file) };

	assert_int_equal(suite_do(suite, commit, &commit), RR_VFS_OK);
	return commit.verifier;
}

static void
without_power_what_was_not_committed_is_lost(void **state)
{
	struct rr_memory *memory;
	struct suite suite = world(&memory);
	struct rr_vfs_handle file = suite_file(&suite, "file", "stable");
	struct rr_vfs_object object = suite_at(&file);
	uint64_t verifier = commit(&suite, &file);

	(void)state;
	assert_int_equal(suite_write(&suite, &object, 0, "lost", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_write(&suite, &object, 10000, "lost", RR_VFS_UNSTABLE), RR_VFS_OK);
	rr_memory_lose_power(memory);
	suite_holds(&suite, &object, 0, "stable");
	assert_int_not_equal(suite_attributes(&suite, &file).used, 0);
	assert_true(commit(&suite, &file) != verifier);
	world_end(&suite, memory);
}

static void
without_power_what_was_committed_stays(void **state)
{
	struct rr_memory *memory;
	struct suite suite = world(&memory);
	struct rr_vfs_handle file = suite_file(&suite, "file", "old");
	struct rr_vfs_object object = suite_at(&file);

	(void)state;
	assert_int_equal(suite_write(&suite, &object, 0, "new text", RR_VFS_UNSTABLE), RR_VFS_OK);
	commit(&suite, &file);
	rr_memory_lose_power(memory);
	suite_holds(&suite, &object, 0, "new text");
	assert_int_equal(suite_write(&suite, &object, 0, "N", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_write(&suite, &object, 8, "!", RR_VFS_FILE_SYNC), RR_VFS_OK);
	rr_memory_lose_power(memory);
	suite_holds(&suite, &object, 0, "New text!");
	world_end(&suite, memory);
}

static void
dice_repeat_with_their_seed(void **state)
{
	struct rr_memory_dice a = { 5, 500, 300, 9 }, b = a;
	uint32_t late = 0, failed = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct rr_memory_fate x = { 0 }, y = { 0 };

		rr_memory_dice(&a, RR_VFS_OP_WRITE, NULL, &x);
		rr_memory_dice(&b, RR_VFS_OP_WRITE, NULL, &y);
		assert_memory_equal(&x, &y, sizeof(x));
		assert_true(x.before <= 9 && x.after <= 9);
		late += x.before > 0 || x.after > 0;
		failed += x.status != RR_VFS_OK;
	}
	assert_in_range(late, 350, 650);
	assert_in_range(failed, 200, 400);
}

static void
every_operation_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < RR_VFS_OPERATIONS; i++)
		assert_non_null(rr_vfs_rows[i].name);
}

static void
hold_all(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	(void)ctx;
	(void)operation;
	(void)call;
	fate->held = true;
}

static void
what_is_held_is_counted(void **state)
{
	struct rr_memory *memory;
	struct suite suite = world(&memory);
	struct rr_vfs_getattr getattr = { .object = suite_at(&suite.root) };

	(void)state;
	rr_memory_steer(memory, &(struct rr_memory_script){ hold_all, NULL });
	suite_ready(&suite, &getattr.call);
	assert_int_equal(rr_vfs_getattr(suite.vfs, &getattr), RR_VFS_PENDING);
	assert_int_equal(rr_memory_held(memory), 1);
	rr_memory_release(memory);
	assert_int_equal(rr_memory_held(memory), 0);
	assert_int_equal(suite_end(&suite, &getattr.call, RR_VFS_PENDING), RR_VFS_OK);
	world_end(&suite, memory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_power_what_was_not_committed_is_lost),
		cmocka_unit_test(without_power_what_was_committed_stays),
		cmocka_unit_test(dice_repeat_with_their_seed),
		cmocka_unit_test(every_operation_has_a_name),
		cmocka_unit_test(what_is_held_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
