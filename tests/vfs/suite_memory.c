/* SPDX-License-Identifier: BSD-3-Clause */
/* This runs the suite on files in memory, whose operations end at once, or late and not in the order in which
 * they began. */
#include <stdlib.h>

#include "memory/memory.h"
#include "suite.h"

static const struct rr_vfs_export exports[] = { { "/" }, { "/other" } };

struct storage {
	struct rr_memory *memory;
	struct rr_memory_dice dice;
	enum rr_vfs_status status;
	bool held;
};

static void
decide(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	struct storage *storage = ctx;

	rr_memory_dice(&storage->dice, operation, call, fate);
	fate->status = storage->status;
	fate->held = storage->held;
}

static void
provide(struct suite *suite)
{
	struct storage *storage = suite->storage;

	assert_int_equal(rr_memory_provider(storage->memory, suite->loop, &suite->vfs), 0);
}

static void
setup_of(struct suite *suite, uint32_t late)
{
	static const struct rr_memory_config config = {
		.exports = exports,
		.export_count = 2,
		.seed = 1,
		.link_max = 100,
		.octets = UINT64_C(1) << 30,
	};
	struct storage *storage = calloc(1, sizeof(*storage));

	assert_non_null(storage);
	suite->storage = storage;
	assert_int_equal(rr_memory_new(&rr_env_system, &config, &storage->memory), 0);
	storage->dice = (struct rr_memory_dice){ .state = 7, .late = late, .turns = 5 };
	rr_memory_steer(storage->memory, &(struct rr_memory_script){ decide, storage });
	provide(suite);
	rr_vfs_root(suite->vfs, 0, &suite->root);
}

static void
setup_at_once(struct suite *suite)
{
	setup_of(suite, 0);
}

static void
setup_late(struct suite *suite)
{
	setup_of(suite, 700);
}

static void
teardown(struct suite *suite)
{
	struct storage *storage = suite->storage;

	rr_vfs_destroy(suite->vfs);
	rr_memory_free(storage->memory);
	free(storage);
}

static void
restart(struct suite *suite)
{
	rr_vfs_destroy(suite->vfs);
	provide(suite);
}

static void
shrink(struct suite *suite, uint64_t octets)
{
	struct storage *storage = suite->storage;
	struct rr_vfs_statfs statfs = { .object = suite_at(&suite->root) };

	assert_int_equal(suite_do(suite, statfs, &statfs), RR_VFS_OK);
	rr_memory_space(storage->memory, statfs.octets - statfs.octets_free + octets, 0);
}

static void
quota(struct suite *suite, uint64_t octets)
{
	struct storage *storage = suite->storage;

	assert_true(rr_memory_quota(storage->memory, SUITE_USER, octets, UINT64_MAX));
}

static void
fail_all(struct suite *suite, enum rr_vfs_status status)
{
	((struct storage *)suite->storage)->status = status;
}

static void
hold(struct suite *suite, bool held)
{
	struct storage *storage = suite->storage;

	storage->held = held;
}

static void
release(struct suite *suite)
{
	struct storage *storage = suite->storage;

	rr_memory_release(storage->memory);
}

enum { CAN_ALL = ~(SUITE_ACLS | SUITE_MASKS) };

int
main(void)
{
	static const struct suite_provider providers[] = {
		{ "memory, at once", (unsigned)CAN_ALL, setup_at_once, teardown, restart, shrink, quota,
			fail_all, hold, release },
		{ "memory, late", (unsigned)CAN_ALL, setup_late, teardown, restart, shrink, quota, fail_all,
			hold, release },
	};

	return suite_run(providers, 2);
}
