/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/crew.h"

enum { MANY = 40 };

/* The signals of the crew are counted. Signals that are held back reach no thread. */
static atomic_uint signals;
static atomic_bool held_back;
static pthread_cond_t *_Atomic wanted;

int
pthread_cond_signal(pthread_cond_t *cond)
{
	signals++;
	wanted = cond;
	return held_back ? 0 : pthread_cond_broadcast(cond);
}

/* Where this is set, no eventfd can be made. */
static atomic_bool refused;

int
eventfd(unsigned count, int flags)
{
	if (refused) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_eventfd2, count, flags);
}

struct world {
	struct rr_loop *loop;
	struct rr_crew *crew;
	struct rr_crew_job jobs[MANY];
	unsigned begun, done; /* number of jobs */
};

static struct world *there_is;

/* The scheduling policy of the thread that did the last job. */
static atomic_int policy;

static bool
job_run(struct rr_crew_job *job, void *member)
{
	(void)job;
	(void)member;
	policy = sched_getscheduler(0);
	return true;
}

static void
job_done(struct rr_crew_job *job)
{
	(void)job;
	there_is->done++;
}

/* Makes a crew with one thread. */
static int
setup(void **state)
{
	static const struct rr_crew_config config = { .max = 1 };
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	there_is = world;
	signals = 0;
	held_back = false;
	world->loop = rr_loop_new(&rr_env_system);
	assert_non_null(world->loop);
	assert_int_equal(rr_crew_new(&rr_env_system, world->loop, &config, &world->crew), 0);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rr_crew_free(world->crew);
	rr_loop_free(world->loop);
	free(world);
	return 0;
}

static void
add(struct world *world)
{
	struct rr_crew_job *job = &world->jobs[world->begun++ % MANY];

	*job = (struct rr_crew_job){ .run = job_run, .done = job_done };
	rr_crew_add(world->crew, job);
}

static void
finish(struct world *world)
{
	turn_until(world->done == world->begun, rr_loop_turn(world->loop, RR_SECOND));
}

static void
jobs_that_come_at_once_wake_a_thread_once(void **state)
{
	struct world *world = *state;

	/* A job is done without a signal where its thread has not begun to wait. */
	held_back = true;
	for (add(world); signals == 0; add(world))
		finish(world);
	for (int i = 0; i < MANY / 2; i++)
		add(world);
	assert_int_equal(signals, 1);

	held_back = false;
	pthread_cond_broadcast(wanted);
	finish(world);
}

static void
a_thread_that_was_woken_is_woken_again(void **state)
{
	struct world *world = *state;

	for (unsigned before = signals; signals < before + 3;) {
		add(world);
		finish(world);
	}
}

/* Threads of a crew take the processor from no thread that runs, or else short jobs have Linux keep its own
 * threads for the disk off that processor. */
static void
a_thread_that_is_woken_takes_no_processor_away(void **state)
{
	struct world *world = *state;

	add(world);
	finish(world);
	assert_int_equal(policy, SCHED_BATCH);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

/* The caller may free what it was given: a crew that could not be made is not given to it. */
static void
a_crew_that_cannot_be_made_is_not_returned(void **state)
{
	static const struct rr_crew_config config = { .max = 1 };
	struct world *world = *state;
	struct rr_crew *crew = NULL;
	int error;

	refused = true;
	error = rr_crew_new(&rr_env_system, world->loop, &config, &crew);
	refused = false;
	assert_int_equal(error, -RPCRDMA_ERR_SYSTEM);
	assert_null(crew);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(jobs_that_come_at_once_wake_a_thread_once),
		TEST(a_thread_that_was_woken_is_woken_again),
		TEST(a_thread_that_is_woken_takes_no_processor_away),
		TEST(a_crew_that_cannot_be_made_is_not_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
