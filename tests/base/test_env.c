/* SPDX-License-Identifier: BSD-3-Clause */
/* A system that refuses getrandom(2), by a seccomp filter in a process of its own. */
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rpcrdma/engine.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { NO_FILTER = 99 };

/* From here on the process gets EPERM for getrandom(2), as containers with a strict profile give it. */
static void
refuse_random(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(steps) / sizeof(*steps), steps };
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(NO_FILTER);
}

/* Runs `what` in a process that gets no random numbers, and returns how it ended, as waitpid() tells it. What
 * it wrote to standard error is in text. */
static int
run_refused(void (*what)(void), char *text, size_t size)
{
	int fds[2], status;
	size_t length = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(fds[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL); /* cmocka takes it */
		refuse_random();
		what();
		_exit(0);
	}
	close(fds[1]);
	while ((got = read(fds[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
		skip(); /* a kernel without seccomp filters */
	return status;
}

static void
take_random(void)
{
	fprintf(stderr, "%u\n", rr_random_u32(&rr_env_system));
}

/* Handles that can be guessed are worse than no program; but it must be known why there is none. */
static void
the_end_without_random_numbers_has_a_reason(void **state)
{
	char text[1024];
	int status;

	(void)state;
	status = run_refused(take_random, text, sizeof(text));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "getrandom(2)"));
	assert_non_null(strstr(text, "Operation not permitted"));
	assert_non_null(strstr(text, "seccomp"));
}

static void
log_here(void *ctx, const char *line)
{
	fprintf(stderr, "%s: %s\n", (const char *)ctx, line);
	errno = 0;
}

static void
make_engine(void)
{
	static char name[] = "my log";
	const struct rpcrdma_engine_config config = { .size = sizeof(config), .log = log_here, .ctx = name };
	struct rpcrdma_engine *engine;
	int error = rpcrdma_engine_new(&config, &engine);

	fprintf(stderr, "%d %d\n", error == -RPCRDMA_ERR_SYSTEM, errno == EPERM);
}

static void
an_engine_without_random_numbers_is_an_error(void **state)
{
	char text[1024];
	int status;

	(void)state;
	status = run_refused(make_engine, text, sizeof(text));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(text, "my log: getrandom(2)"));
	assert_non_null(strstr(text, "Operation not permitted"));
	assert_non_null(strstr(text, "\n1 1\n"));
}

static void
random_numbers_are_there(void **state)
{
	(void)state;
	assert_int_equal(rr_system_random_ready(), 0);
	assert_true(rr_random_u64(&rr_env_system) != rr_random_u64(&rr_env_system));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_numbers_are_there),
		cmocka_unit_test(the_end_without_random_numbers_has_a_reason),
		cmocka_unit_test(an_engine_without_random_numbers_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
