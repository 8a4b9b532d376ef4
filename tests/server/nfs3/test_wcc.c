/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This tests weak cache consistency data. A client that finds its cached times in "before" takes all changes
 * up to "after" for its own, so no change by another client may lie between "before" and "after". RFC 1813,
 * 2.6: "the client can use the pre-operation and post-operation attributes to detect changes by others".
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world.h"

enum { ROUNDS = 200, THREADS = 2 };

/* The directory that another client changes while data is stored, and how often it did so. */
static int others_fd = -1;
static unsigned others_made;

static void
make_another(void)
{
	char name[32];

	snprintf(name, sizeof name, "other%u", others_made++);
	assert_int_equal(mkdirat(others_fd, name, 0755), 0);
}

static int
setup(void **state)
{
	int error = world_setup(state);

	others_fd = ((struct world *)*state)->fd;
	others_made = 0;
	return error;
}

static int
teardown(void **state)
{
	world_sync_meanwhile = NULL;
	return world_teardown(state);
}

/* Returns the links of the directory: two, and one for each directory in it. */
static uint32_t
links(struct world *world)
{
	return (uint32_t)world_stat(world, "").st_nlink;
}

/* Checks that the call stored something, and that its reply does not show the objects that were made
 * meanwhile. */
static void
check_not_seen(const wcc_data *wcc, uint32_t links_before, unsigned made_before)
{
	assert_int_not_equal(others_made, made_before);
	assert_true(wcc->after.attributes_follow);
	assert_int_equal(wcc->after.u.attributes.nlink, links_before);
}

static wcc_data
create(struct world *world, const char *name)
{
	CREATE3args args = { .where = world_where(world->root, name), .how.mode = GUARDED };
	const CREATE3res *res = world_call(world, NFSPROC3_CREATE, &args);

	return res->status == NFS3_OK ? res->u.resok.dir_wcc : (wcc_data){ 0 };
}

static void
changes_while_a_directory_is_stored_are_not_in_the_reply(void **state)
{
	struct world *world = *state;
	RENAME3args rename = { world_where(world->root, "f"), world_where(world->root, "g") };
	REMOVE3args remove = { world_where(world->root, "g") };
	uint32_t count = links(world);
	unsigned made = others_made;
	wcc_data wcc;

	world_sync_meanwhile = make_another;
	wcc = create(world, "f");
	check_not_seen(&wcc, count, made);
	count = links(world);
	made = others_made;
	wcc = ((const RENAME3res *)world_call(world, NFSPROC3_RENAME, &rename))->u.resok.todir_wcc;
	check_not_seen(&wcc, count, made);
	count = links(world);
	made = others_made;
	wcc = ((const REMOVE3res *)world_call(world, NFSPROC3_REMOVE, &remove))->u.resok.dir_wcc;
	check_not_seen(&wcc, count, made);
}

static void
changes_while_attributes_are_stored_are_not_in_the_reply(void **state)
{
	struct world *world = *state;
	SETATTR3args set = { world->root, { .mode = { true, { 0711 } } }, { 0 } };
	uint32_t count = links(world);
	wcc_data wcc;

	world_sync_meanwhile = make_another;
	wcc = ((const SETATTR3res *)world_call(world, NFSPROC3_SETATTR, &set))->u.resok.obj_wcc;
	check_not_seen(&wcc, count, 0);
}

static void
append_something(void)
{
	int fd = openat(others_fd, "file", O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write(fd, "more", 4), 4);
	close(fd);
}

/* Other clients write to a file without any lock, so the reply has no "before". */
static void
a_write_tells_the_state_after_it_alone(void **state)
{
	struct world *world = *state;
	WRITE3args args = { .count = 3, .stable = FILE_SYNC, .data = world_bytes("new") };
	COMMIT3args commit;
	const wcc_data *wcc;

	commit.file = args.file = world_made(world, "file", "", 0644);
	world_sync_meanwhile = append_something;
	wcc = &((const WRITE3res *)world_call(world, NFSPROC3_WRITE, &args))->u.resok.file_wcc;
	assert_false(wcc->before.attributes_follow);
	assert_int_equal(wcc->after.u.attributes.size, 3);
	wcc = &((const COMMIT3res *)world_call(world, NFSPROC3_COMMIT, &commit))->u.resok.file_wcc;
	assert_false(wcc->before.attributes_follow);
	assert_int_equal(wcc->after.u.attributes.size, 7);
}

/* The changes that a thread made: the directory's time of change before and after each, in ns since 1970. */
struct creator {
	struct world *world;
	int number;
	uint64_t before[ROUNDS], after[ROUNDS];
};

static uint64_t
nanoseconds(nfstime3 time)
{
	return (uint64_t)time.seconds * RR_SECOND + time.nseconds;
}

static void *
create_many(void *argument)
{
	struct creator *creator = argument;

	for (int i = 0; i < ROUNDS; i++) {
		char name[32];
		wcc_data wcc;

		snprintf(name, sizeof name, "f%d-%d", creator->number, i);
		wcc = create(creator->world, name);
		creator->after[i] = nanoseconds(wcc.after.u.attributes.ctime);
		creator->before[i] = wcc.before.attributes_follow ? nanoseconds(wcc.before.u.attributes.ctime)
								  : creator->after[i];
	}
	return NULL;
}

/* Counts the replies of one thread that have a change of the other thread between "before" and "after". */
static int
enclosed(const struct creator *one, const struct creator *other)
{
	int count = 0;

	for (int i = 0; i < ROUNDS; i++)
		for (int j = 0; j < ROUNDS; j++)
			count += one->before[i] < other->after[j] && other->after[j] < one->after[i];
	return count;
}

static void
no_thread_takes_anothers_change_for_its_own(void **state)
{
	struct creator *creators = calloc(THREADS, sizeof *creators);
	pthread_t threads[THREADS];

	assert_non_null(creators);
	for (int i = 0; i < THREADS; i++) {
		creators[i].world = world_beside(*state);
		creators[i].number = i;
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, create_many, &creators[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_not_equal(creators[0].after[ROUNDS - 1], 0);
	assert_int_equal(enclosed(&creators[0], &creators[1]), 0);
	assert_int_equal(enclosed(&creators[1], &creators[0]), 0);
	for (int i = 0; i < THREADS; i++)
		world_beside_free(creators[i].world);
	free(creators);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		test(changes_while_a_directory_is_stored_are_not_in_the_reply),
		test(changes_while_attributes_are_stored_are_not_in_the_reply),
		test(a_write_tells_the_state_after_it_alone),
		test(no_thread_takes_anothers_change_for_its_own),
	};

	return world_run(tests, sizeof tests / sizeof *tests, NULL, 0);
}
