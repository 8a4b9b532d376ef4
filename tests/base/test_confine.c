/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is confined, as `serve` and `gateway` are: what it may still do, and what it may not. */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine/confine.h"

/* Runs the function in a process that is confined. Returns its exit status: 0 if all held, 77 if the kernel
 * has no filters, or the line that did not hold. */
static int
confined(int (*does)(void))
{
	struct rr_text text;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(rr_confine(RR_CONFINE_FILES, &text) < 0 ? 77 : does());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Leaves with the line where the call was not refused with EPERM. */
#define REFUSED(call)                                                                                        \
	do {                                                                                                 \
		errno = 0;                                                                                   \
		if ((call) != -1 || errno != EPERM)                                                          \
			return __LINE__;                                                                     \
	} while (0)

static int
does_what_is_refused(void)
{
	char *const arguments[] = { (char *)(uintptr_t) "false", NULL };
	char octet, other;
	struct iovec here = { &octet, 1 }, there = { &other, 1 };

	REFUSED(execve("/bin/false", arguments, NULL));
	REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/false", arguments, NULL, 0));
#if !RR_CONFINE_TRACES
	REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
#endif
	/* Of its own memory, which needs no right. */
	REFUSED(process_vm_readv(getpid(), &here, 1, &there, 1, 0));
	REFUSED(mount("none", "/", NULL, MS_REMOUNT, NULL));
	REFUSED(chroot("/"));
	/* personality(2): this argument only asks. */
	REFUSED(syscall(SYS_personality, 0xffffffff));
	/* Numbers that no kernel has are not in the list either. */
	REFUSED(syscall(4000));
	return 0;
}

static int
child_ends(void *ctx)
{
	(void)ctx;
	return 0;
}

static int
makes_namespaces_and_strange_sockets(void)
{
	static char stack[65536];

	REFUSED(unshare(CLONE_NEWNS));
	REFUSED(unshare(CLONE_FS | CLONE_NEWNET));
	REFUSED(clone(child_ends, stack + sizeof(stack), CLONE_NEWPID | SIGCHLD, NULL));
	/* clone3(2) hides its flags from a filter: the C library knows what to do without it. */
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return __LINE__;
	if (socket(AF_PACKET, SOCK_DGRAM, 0) != -1 || errno != EAFNOSUPPORT)
		return __LINE__;
	return socket(AF_NETLINK, SOCK_DGRAM, 0) >= 0 ? 0 : __LINE__;
}

static void *
thread_executes(void *refused)
{
	char *const arguments[] = { (char *)(uintptr_t) "false", NULL };

	*(int *)refused = execve("/bin/false", arguments, NULL) == -1 && errno == EPERM;
	return NULL;
}

static int
makes_a_thread_that_executes(void)
{
	pthread_t thread;
	int refused = 0;

	if (pthread_create(&thread, NULL, thread_executes, &refused) != 0)
		return __LINE__;
	pthread_join(thread, NULL);
	return refused ? 0 : __LINE__;
}

static int
does_what_is_needed(void)
{
	int fds[2];

	if (pipe(fds) != 0 || write(fds[1], "x", 1) != 1)
		return __LINE__;
	if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		return __LINE__;
	return unshare(CLONE_FS) == 0 ? 0 : __LINE__;
}

static void
confined_or_skipped(int (*does)(void))
{
	int status = confined(does);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static void
no_program_is_executed_and_no_process_looked_into(void **state)
{
	(void)state;
	confined_or_skipped(does_what_is_refused);
}

static void
there_are_no_namespaces_and_few_families_of_sockets(void **state)
{
	(void)state;
	confined_or_skipped(makes_namespaces_and_strange_sockets);
}

static void
a_thread_that_is_made_later_is_confined(void **state)
{
	(void)state;
	confined_or_skipped(makes_a_thread_that_executes);
}

static void
files_and_threads_are_as_before(void **state)
{
	(void)state;
	confined_or_skipped(does_what_is_needed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_program_is_executed_and_no_process_looked_into),
		cmocka_unit_test(there_are_no_namespaces_and_few_families_of_sockets),
		cmocka_unit_test(a_thread_that_is_made_later_is_confined),
		cmocka_unit_test(files_and_threads_are_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
