/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper of a process: what it answers, and what becomes of questions when it crashes. Each test asks
 * from a process of its own, as a process has one helper. */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine/helper.h"

/* The desk of these tests: says its question backwards, behind ctx; "die" crashes it, "wait" has it wait for
 * as long as it lives, "mute" gets no answer, "exec" says what becomes of a program, and "pid" who answers.
 */
static size_t
desk_answer(const void *ctx, const void *question, size_t size, void *answer)
{
	const char *asked = question, *prefix = ctx;
	size_t length = strlen(prefix);
	char *told = answer;

	if (size == 3 && memcmp(asked, "die", 3) == 0)
		abort();
	if (size == 4 && memcmp(asked, "mute", 4) == 0)
		return 0;
	if (size == 4 && memcmp(asked, "wait", 4) == 0)
		pause();
	if (size == 4 && memcmp(asked, "exec", 4) == 0) {
		execl("/no/program", "program", (char *)NULL);
		return (size_t)sprintf(told, "%d", errno);
	}
	if (size == 3 && memcmp(asked, "pid", 3) == 0)
		return (size_t)sprintf(told, "%d", getpid());
	memcpy(told, prefix, length);
	for (size_t i = 0; i < size; i++)
		told[length + i] = asked[size - 1 - i];
	return length + size;
}

static char told[RR_HELPER_MESSAGE];

/* Asks, and returns what was answered as a text; NULL: nothing was. */
static const char *
ask(enum rr_helper_kind kind, const char *question)
{
	ptrdiff_t size = rr_helper_ask(kind, question, strlen(question), told, sizeof(told) - 1);

	told[size > 0 ? size : 0] = '\0';
	return size > 0 ? told : NULL;
}

/* Runs the test in a process that has a helper with this number of threads, and whose standard error is
 * closed. Returns its exit status. */
static int
with_helper(uint32_t threads, int (*does)(void))
{
	const struct rr_helper_config config = { .desks = { [RR_HELPER_USERS] = { desk_answer, "u:" },
							 [RR_HELPER_HOSTS] = { desk_answer, "h:" } },
		.threads = threads };
	struct rr_text text;
	int status;
	pid_t child = fork();

	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		_exit(rr_helper_start(&config, &text) < 0 ? __LINE__ : does());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define SAYS(kind, question, answer)                                                                         \
	do {                                                                                                 \
		const char *said = ask(kind, question);                                                      \
		if (!said || strcmp(said, answer) != 0)                                                      \
			return __LINE__;                                                                     \
	} while (0)

static int
asks(void)
{
	static char large[RR_HELPER_MESSAGE + 1];

	if (!rr_helper_has(RR_HELPER_USERS) || rr_helper_has(RR_HELPER_ADDRESSES))
		return __LINE__;
	SAYS(RR_HELPER_USERS, "abc", "u:cba");
	SAYS(RR_HELPER_HOSTS, "abc", "h:cba");
	if (ask(RR_HELPER_USERS, "mute"))
		return __LINE__;
	/* Nothing is asked that is longer than a message. */
	if (rr_helper_ask(RR_HELPER_USERS, large, sizeof(large), told, sizeof(told)) >= 0 ||
		rr_helper_ask(RR_HELPER_USERS, large, 0, told, sizeof(told)) >= 0)
		return __LINE__;
	if (rr_helper_ask(RR_HELPER_USERS, large, sizeof(large) - 3, told, sizeof(told)) != sizeof(large) - 1)
		return __LINE__;
	return 0;
}

static void
each_kind_of_question_has_its_desk(void **state)
{
	(void)state;
	assert_int_equal(with_helper(2, asks), 0);
}

static int
asks_for_a_program(void)
{
	char refused[16];

	snprintf(refused, sizeof(refused), "%d", EPERM);
	SAYS(RR_HELPER_USERS, "exec", refused);
	return 0;
}

static void
a_helper_executes_nothing(void **state)
{
	(void)state;
	assert_int_equal(with_helper(1, asks_for_a_program), 0);
}

static int
asks_one_that_crashes(void)
{
	char before[32];

	if (!ask(RR_HELPER_USERS, "pid"))
		return __LINE__;
	snprintf(before, sizeof(before), "%.31s", told);
	if (ask(RR_HELPER_USERS, "die"))
		return __LINE__;
	SAYS(RR_HELPER_USERS, "abc", "u:cba");
	if (!ask(RR_HELPER_USERS, "pid") || strcmp(told, before) == 0)
		return __LINE__;
	return 0;
}

static void
another_one_takes_the_place_of_a_helper_that_crashed(void **state)
{
	(void)state;
	assert_int_equal(with_helper(1, asks_one_that_crashes), 0);
}

static int
asks_until_there_is_none(void)
{
	for (int i = 0; i < 100; i++)
		ask(RR_HELPER_USERS, "die");
	return 0;
}

static void
a_service_ends_whose_helper_crashes_without_end(void **state)
{
	(void)state;
	assert_int_equal(with_helper(1, asks_until_there_is_none), EXIT_FAILURE);
}

static void *
thread_waits(void *ctx)
{
	(void)ctx;
	rr_helper_ask(RR_HELPER_HOSTS, "wait", 4, (char[8]){ 0 }, 8);
	return NULL;
}

static int
asks_beside_one_that_hangs(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_waits, NULL) != 0)
		return __LINE__;
	for (int i = 0; i < 100; i++)
		SAYS(RR_HELPER_USERS, "abc", "u:cba");
	return 0;
}

static void
a_desk_that_hangs_delays_no_other(void **state)
{
	(void)state;
	assert_int_equal(with_helper(1, asks_beside_one_that_hangs), 0);
}

/* Finds out who the helper is, and writes it into a pipe. */
static int pid_pipe[2];

static int
says_who_helps(void)
{
	if (!ask(RR_HELPER_USERS, "pid") || write(pid_pipe[1], told, strlen(told) + 1) < 0)
		return __LINE__;
	return 0;
}

static void
a_helper_ends_with_its_service(void **state)
{
	char who[32], octet;

	(void)state;
	assert_int_equal(pipe2(pid_pipe, O_CLOEXEC), 0);
	assert_int_equal(with_helper(4, says_who_helps), 0);
	assert_true(read(pid_pipe[0], who, sizeof(who)) > 0);
	/* Keeper and helper have the other end of the pipe, until they end. */
	close(pid_pipe[1]);
	assert_int_equal(read(pid_pipe[0], &octet, 1), 0);
	close(pid_pipe[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_question_has_its_desk),
		cmocka_unit_test(a_helper_executes_nothing),
		cmocka_unit_test(another_one_takes_the_place_of_a_helper_that_crashed),
		cmocka_unit_test(a_service_ends_whose_helper_crashes_without_end),
		cmocka_unit_test(a_desk_that_hangs_delays_no_other),
		cmocka_unit_test(a_helper_ends_with_its_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
