/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/hand.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

struct note {
	pid_t thread;
	uint32_t count;
	sigset_t blocked;
};

static void
take_note(void *ctx)
{
	struct note *note = ctx;

	note->thread = gettid();
	note->count++;
	pthread_sigmask(SIG_SETMASK, NULL, &note->blocked);
}

static void
work_is_done_in_one_other_thread(void **state)
{
	struct note note = { 0 };
	struct rr_hand *hand;
	pid_t first;

	(void)state;
	assert_int_equal(rr_hand_new(&rr_env_system, &hand), 0);
	rr_hand_do(hand, take_note, &note);
	first = note.thread;
	assert_int_not_equal(first, gettid());
	for (uint32_t i = 2; i < 1000; i++) {
		rr_hand_do(hand, take_note, &note);
		assert_int_equal(note.count, i);
		assert_int_equal(note.thread, first);
	}
	rr_hand_free(hand);
}

static void
a_hand_without_work_ends(void **state)
{
	struct rr_hand *hand;

	(void)state;
	assert_int_equal(rr_hand_new(&rr_env_system, &hand), 0);
	rr_hand_free(hand);
	rr_hand_free(NULL);
}

static void
signals_are_left_to_others(void **state)
{
	struct note note = { 0 };
	struct rr_hand *hand;
	sigset_t own;

	(void)state;
	assert_int_equal(rr_hand_new(&rr_env_system, &hand), 0);
	rr_hand_do(hand, take_note, &note);
	rr_hand_free(hand);
	assert_true(sigismember(&note.blocked, SIGTERM));
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	assert_false(sigismember(&own, SIGTERM));
}

static void
become_nobody(void *ctx)
{
	/* Without root, the thread may set its own user only. */
	uid_t uid = geteuid() == 0 ? 65534 : geteuid();

	(void)ctx;
	syscall(SYS_setfsuid, uid);
	assert_int_equal(syscall(SYS_setfsuid, -1), uid);
}

static void
what_it_becomes_the_first_thread_does_not(void **state)
{
	struct rr_hand *hand;

	(void)state;
	assert_int_equal(rr_hand_new(&rr_env_system, &hand), 0);
	rr_hand_do(hand, become_nobody, NULL);
	assert_int_equal(syscall(SYS_setfsuid, -1), geteuid());
	rr_hand_free(hand);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_done_in_one_other_thread),
		cmocka_unit_test(a_hand_without_work_ends),
		cmocka_unit_test(signals_are_left_to_others),
		cmocka_unit_test(what_it_becomes_the_first_thread_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
