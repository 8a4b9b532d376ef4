/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/cache.h"

enum { SIZE = 64, MOST = 2 };

static void
a_block_is_used_again(void **state)
{
	struct rr_cache cache;
	void *block;

	(void)state;
	rr_cache_init(&cache, &rr_env_system, SIZE, MOST);
	block = rr_cache_get(&cache);
	assert_non_null(block);
	rr_cache_put(&cache, block);
	assert_int_equal(cache.count, 1);
	assert_ptr_equal(rr_cache_get(&cache), block);
	assert_int_equal(cache.count, 0);
	rr_cache_put(&cache, block);
	rr_cache_end(&cache);
}

/* A block that was neither kept nor freed would be found by the sanitizers. */
static void
no_more_blocks_are_kept_than_the_bound(void **state)
{
	struct rr_cache cache;
	void *blocks[MOST + 2];

	(void)state;
	rr_cache_init(&cache, &rr_env_system, SIZE, MOST);
	for (size_t i = 0; i < MOST + 2; i++)
		blocks[i] = rr_cache_get(&cache);
	for (size_t i = 0; i < MOST + 2; i++)
		rr_cache_put(&cache, blocks[i]);
	assert_int_equal(cache.count, MOST);
	rr_cache_end(&cache);
	assert_null(cache.first);
	assert_int_equal(cache.count, 0);
}

static void *
realloc_fails(void *ctx, void *old, size_t size)
{
	(void)ctx;
	(void)old;
	(void)size;
	return NULL;
}

static void
no_memory_is_no_block(void **state)
{
	struct rr_env env = rr_env_system;
	struct rr_cache cache;

	(void)state;
	env.realloc = realloc_fails;
	rr_cache_init(&cache, &env, SIZE, MOST);
	assert_null(rr_cache_get(&cache));
	rr_cache_end(&cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_used_again),
		cmocka_unit_test(no_more_blocks_are_kept_than_the_bound),
		cmocka_unit_test(no_memory_is_no_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
