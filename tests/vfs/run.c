/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

static const struct suite_tests *const all[] = {
	&suite_of_objects,
	&suite_of_names,
	&suite_of_making,
	&suite_of_directories,
	&suite_of_data,
	&suite_of_space,
	&suite_of_opens,
	&suite_of_locks,
	&suite_of_xattrs,
	&suite_of_acls,
	&suite_of_callers,
	&suite_of_order,
};

/* Makes a directory in which every user may do everything, as user 0 or as the user who runs the test. */
static void
give_directory(struct suite *suite)
{
	struct rr_vfs_handle root = suite->root;

	suite->caller = &suite->super;
	suite->root = suite_make(suite, &root, "suite", RR_VFS_DIRECTORY, 0777);
	suite_set_mode(suite, &suite->root, 0777);
	suite->caller = suite->provider->can & SUITE_IDENTITIES ? &suite->user : &suite->super;
}

static int
setup(void **state)
{
	const struct suite_provider *provider = *state;
	struct suite *suite = calloc(1, sizeof(*suite));

	assert_non_null(suite);
	suite->provider = provider;
	suite->super = (struct rr_vfs_caller){ 0 };
	suite->user = (struct rr_vfs_caller){ .uid = SUITE_USER, .gid = SUITE_USER };
	suite->other = (struct rr_vfs_caller){ .uid = SUITE_OTHER, .gid = SUITE_OTHER };
	suite->loop = rr_loop_new(&rr_env_system);
	assert_non_null(suite->loop);
	provider->setup(suite);
	give_directory(suite);
	*state = suite;
	return 0;
}

static int
teardown(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_counters counters;

	/* Files whose opens were closed during other operations may still be closing. */
	turn_until((rr_vfs_counters(suite->vfs, &counters), counters.under_way == 0),
		rr_loop_turn(suite->loop, RR_SECOND));
	assert_int_equal(counters.opens, 0);
	suite->provider->teardown(suite);
	rr_loop_free(suite->loop);
	free(suite);
	return 0;
}

static size_t
count_all(void)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		count += all[i]->count;
	return count;
}

static int
run_one(const struct suite_provider *provider)
{
	struct CMUnitTest *tests = calloc(count_all(), sizeof(*tests));
	void *prestate;
	size_t count = 0;
	int failed;

	if (!tests)
		return 1;
	memcpy(&prestate, &(const void *){ provider }, sizeof(prestate));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; j < all[i]->count; j++) {
			tests[count] = all[i]->tests[j];
			tests[count].setup_func = setup;
			tests[count].teardown_func = teardown;
			tests[count++].initial_state = prestate;
		}
	}
	failed = _cmocka_run_group_tests(provider->name, tests, count, NULL, NULL);
	free(tests);
	return failed;
}

int
suite_run(const struct suite_provider *providers, size_t count)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		failed += run_one(&providers[i]);
	return failed;
}
