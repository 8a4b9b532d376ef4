/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is confined, as `serve` and `gateway` are: what it may still do, and what it may not. */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../stage.h"
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
		_exit(rr_confine(RR_CONFINE_FILES, NULL, &text) < 0 ? 77 : does());
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

/* ---- Rules for files and ports ---- */

/* Leaves with the line where the call was not refused with this error, or failed. */
#define FAILS(error, call)                                                                                   \
	do {                                                                                                 \
		errno = 0;                                                                                   \
		if ((call) != -1 || errno != (error))                                                        \
			return __LINE__;                                                                     \
	} while (0)
#define HOLDS(call)                                                                                          \
	do {                                                                                                 \
		if ((call) < 0)                                                                              \
			return __LINE__;                                                                     \
	} while (0)

static int
makes(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static char held_top[STAGE_PATH]; /* a directory of the test */

/* Makes directories in that of the test, and goes there. */
static int
makes_directories(void)
{
	static const char *const names[] = { "open", "open/below", "read", "shut", "beside", "archive" };
	static const char *const files[] = { "read/file", "shut/file", "archive/now", "archive/next" };

	HOLDS(chdir(held_top));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		HOLDS(mkdir(names[i], 0700));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		HOLDS(makes(files[i]));
	HOLDS(symlink("../shut/file", "open/link"));
	HOLDS(symlink("../archive/now", "beside/now"));
	return 0;
}

static int
uses_what_rules_name(void)
{
	char path[32];
	int fd;

	HOLDS(makes("open/file"));
	HOLDS(rename("open/file", "open/below/file"));
	HOLDS(mkdir("open/new", 0700));
	HOLDS(open("read/file", O_RDONLY | O_CLOEXEC));
	FAILS(EACCES, open("read/file", O_WRONLY | O_CLOEXEC));
	FAILS(EACCES, makes("read/other"));
	FAILS(EACCES, open("shut/file", O_RDONLY | O_CLOEXEC));
	FAILS(EACCES, makes("shut/other"));
	FAILS(EACCES, rename("open/below/file", "shut/new"));
	/* Neither a symbolic link, nor a descriptor that only names a file, leads elsewhere. */
	FAILS(EACCES, open("open/link", O_RDONLY | O_CLOEXEC));
	HOLDS(fd = open("shut/file", O_PATH | O_CLOEXEC));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	FAILS(EACCES, open(path, O_RDONLY | O_CLOEXEC));
	/* Beside the file to which a symbolic link leads is the one that comes next. */
	HOLDS(open("beside/now", O_RDONLY | O_CLOEXEC));
	HOLDS(open("archive/next", O_RDONLY | O_CLOEXEC));
	HOLDS(unlink("open/below/file"));
	return 0;
}

/* Asks the kernel for the version of its rules: those for TCP are of version 4. */
static bool
has_rules(long version)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= version;
}

static int
held_to_rules(void)
{
	const struct rr_confine_tcp tcp = { false, false };
	struct rr_confine confine;
	struct rr_text text;

	if (makes_directories() != 0)
		return __LINE__;
	rr_confine_begin(&confine, &tcp);
	rr_confine_path(&confine, "open", RR_CONFINE_WRITE);
	rr_confine_path(&confine, "read", RR_CONFINE_READ);
	rr_confine_path(&confine, "is not there", RR_CONFINE_READ);
	rr_confine_path(&confine, NULL, RR_CONFINE_READ);
	rr_confine_beside(&confine, "beside/now", RR_CONFINE_READ);
	rr_confine_path(&confine, "/proc", RR_CONFINE_READ);
	HOLDS(rr_confine(RR_CONFINE_FILES, &confine, &text));
	return uses_what_rules_name();
}

static int
binds(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	return bind(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&address, sizeof(address));
}

/* Nobody listens at this port of the loopback. */
static int
connects(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&address, sizeof(address));
}

static int
held_to_ports(void)
{
	const struct rr_confine_tcp tcp = { false, false };
	struct rr_confine confine;
	struct rr_text text;

	rr_confine_begin(&confine, &tcp);
	rr_confine_listens(&confine, 0);
	rr_confine_connects(&confine, 1);
	HOLDS(rr_confine(RR_CONFINE_RELAY, &confine, &text));
	HOLDS(binds(0));
	FAILS(EACCES, binds(20049));
	FAILS(ECONNREFUSED, connects(1));
	FAILS(EACCES, connects(2));
	return 0;
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

/* Runs the function in a process of its own, which it confines itself. */
static void
held(long version, int (*does)(void))
{
	int status;
	pid_t child;

	if (!has_rules(version))
		skip();
	stage_directory(held_top);
	child = fork();
	if (child == 0)
		_exit(does());
	assert_int_equal(waitpid(child, &status, 0), child);
	stage_remove(held_top);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
files_are_those_of_the_rules(void **state)
{
	(void)state;
	held(2, held_to_rules);
}

static void
ports_are_those_of_the_rules(void **state)
{
	(void)state;
	held(4, held_to_ports);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_program_is_executed_and_no_process_looked_into),
		cmocka_unit_test(there_are_no_namespaces_and_few_families_of_sockets),
		cmocka_unit_test(a_thread_that_is_made_later_is_confined),
		cmocka_unit_test(files_and_threads_are_as_before),
		cmocka_unit_test(files_are_those_of_the_rules),
		cmocka_unit_test(ports_are_those_of_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
