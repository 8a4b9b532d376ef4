/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs/posix/store/storer.h"

enum { MANY = 40 };

/* The storer's thread stops in the first of these calls until the test lets it go on. */
static sem_t entered, let_go;
static atomic_bool stops;
static atomic_uint files, whole;
static atomic_int failure;
static atomic_ulong failing; /* the inode number of the file that failure is for; 0: all files */

static int
store(int fd)
{
	struct stat st = { 0 };
	int error = failing == 0 || (fstat(fd, &st) == 0 && st.st_ino == failing) ? failure : 0;

	if (atomic_exchange(&stops, false)) {
		sem_post(&entered);
		sem_wait(&let_go);
	}
	errno = error;
	return error ? -1 : 0;
}

int
fsync(int fd)
{
	files++;
	return store(fd);
}

int
syncfs(int fd)
{
	whole++;
	return store(fd);
}

/* The clock stands still, because measured times would decide how the next jobs are stored. */
static uint64_t
no_time(void *ctx)
{
	(void)ctx;
	return 0;
}

struct job {
	struct rr_store_job base;
	bool done;
};

struct world {
	struct rr_env env;
	struct rr_loop *loop;
	struct rr_storer *storer;
	struct job jobs[MANY];
	int fds[MANY];
	unsigned done; /* jobs that are done */
};

static unsigned *done_count; /* of the present world */

static void
job_done(struct rr_store_job *job)
{
	rr_container(job, struct job, base)->done = true;
	(*done_count)++;
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	sem_init(&entered, 0, 0);
	sem_init(&let_go, 0, 0);
	files = whole = 0;
	failure = 0;
	failing = 0;
	stops = true;
	done_count = &world->done;
	world->loop = rr_loop_new(&rr_env_system);
	assert_non_null(world->loop);
	world->env = rr_env_system;
	world->env.now = no_time;
	assert_int_equal(rr_storer_new(&world->env, world->loop, &world->storer), 0);
	for (int i = 0; i < MANY; i++) {
		char path[] = "/tmp/rr-storer-XXXXXX";

		world->fds[i] = mkstemp(path);
		assert_true(world->fds[i] >= 0);
		unlink(path);
	}
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_storer_free(world->storer);
	rr_loop_free(world->loop);
	for (int i = 0; i < MANY; i++)
		close(world->fds[i]);
	sem_destroy(&entered);
	sem_destroy(&let_go);
	free(world);
	return 0;
}

/* Adds a job that stores the file "number" and the file "other". */
static void
add(struct world *world, int number, int other)
{
	struct job *job = &world->jobs[number];

	job->base = (struct rr_store_job){ .done = job_done };
	rr_stores_add(&job->base.stores, world->fds[number], RR_STORE_FILE);
	rr_stores_add(&job->base.stores, world->fds[other], RR_STORE_FILE);
	rr_storer_add(world->storer, &job->base);
}

/* Waits until one job is being stored, while the loop is free. */
static void
begin(struct world *world)
{
	add(world, 0, 0);
	sem_wait(&entered);
	assert_true(rr_loop_turn(world->loop, 0) >= 0);
	assert_int_equal(world->done, 0);
}

static void
finish(struct world *world, unsigned jobs)
{
	sem_post(&let_go);
	turn_until(world->done == jobs, rr_loop_turn(world->loop, RR_SECOND));
}

static void
what_comes_meanwhile_is_stored_together(void **state)
{
	struct world *world = *state;

	begin(world);
	for (int i = 1; i < 6; i++)
		add(world, i, 0);
	finish(world, 6);
	assert_int_equal(rr_storer_batches(world->storer), 2);
	assert_int_equal(files, 1 + 6); /* a file that all of them changed is stored once */
	assert_int_equal(whole, 0);
}

static void
many_files_are_stored_as_a_file_system(void **state)
{
	struct world *world = *state;

	begin(world);
	for (int i = 1; i < MANY; i++)
		add(world, i, 0);
	finish(world, MANY);
	assert_int_equal(files, 1);
	assert_int_equal(whole, 1);
}

static void
a_failure_is_told_to_all_who_wait_for_it(void **state)
{
	struct world *world = *state;

	begin(world);
	failure = ENOSPC;
	for (int i = 1; i < 3; i++)
		add(world, i, 0);
	finish(world, 3);
	assert_int_equal(world->jobs[0].base.error, 0);
	assert_int_equal(world->jobs[1].base.error, ENOSPC);
	assert_int_equal(world->jobs[2].base.error, ENOSPC);
}

/* A file that several calls changed is stored once, and its failure is the failure of each of these calls. */
static void
a_failure_of_what_is_stored_once_fails_all_its_calls(void **state)
{
	struct world *world = *state;
	struct stat st;

	begin(world);
	assert_int_equal(fstat(world->fds[4], &st), 0);
	failing = st.st_ino;
	failure = EIO;
	for (int i = 1; i < 3; i++)
		add(world, i, 4);
	add(world, 3, 3);
	finish(world, 4);
	assert_int_equal(world->jobs[1].base.error, EIO);
	assert_int_equal(world->jobs[2].base.error, EIO);
	assert_int_equal(world->jobs[3].base.error, 0);
}

static void
what_is_left_is_stored_in_the_end(void **state)
{
	struct world *world = *state;

	begin(world);
	for (int i = 1; i < 4; i++)
		add(world, i, i);
	sem_post(&let_go);
	rr_storer_free(world->storer);
	world->storer = NULL;
	assert_int_equal(world->done, 4);
	assert_int_equal(files, 4);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(what_comes_meanwhile_is_stored_together),
		TEST(many_files_are_stored_as_a_file_system),
		TEST(a_failure_is_told_to_all_who_wait_for_it),
		TEST(a_failure_of_what_is_stored_once_fails_all_its_calls),
		TEST(what_is_left_is_stored_in_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
