/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "tool/tool.h"

/* The child may take this long to end, which is longer than the times after which it gives up its connections
 * (workers.c) and its storage (serve/run.c). */
#define GUARD_LIMIT (4500 * RR_MILLISECOND)

/* ---- File systems that may hang ---- */

/* Tells whether calls to a file system of that type can hang. They can if a server, or another program, must
 * answer them. */
static bool
guard_may_hang(const char *type)
{
	static const char *const types[] = { "9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs",
		"gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs", "virtiofs" };

	if (strncmp(type, "fuse", strlen("fuse")) == 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

/* Tells whether path is the directory itself or lies below the directory. */
static bool
guard_is_below(const char *path, const char *directory)
{
	size_t length = strcmp(directory, "/") == 0 ? 0 : strlen(directory);

	return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == 0);
}

bool
rr_guard_wanted(const char *path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	bool wanted = false;

	if (!mounts)
		return false;
	while (!wanted && (mount = getmntent(mounts)) != NULL)
		wanted = guard_may_hang(mount->mnt_type) &&
			 (guard_is_below(path, mount->mnt_dir) || guard_is_below(mount->mnt_dir, path));
	endmntent(mounts);
	return wanted;
}

/* ---- The parent ---- */

/* Returns the time from now until the deadline; 0 if the deadline has passed. */
static struct timespec
guard_time_left(uint64_t deadline)
{
	uint64_t now = rr_now(&rr_env_system), left = deadline > now ? deadline - now : 0;

	return (struct timespec){ (time_t)(left / RR_SECOND), (long)(left % RR_SECOND) };
}

/* Translates a status of waitpid() into an exit status, as a shell does: that of the process if it exited; or
 * 128 plus the number of the signal that ended the process. */
static int
guard_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Passes signals on to the child until the child ends, and returns the child's exit status. If the child
 * still runs GUARD_LIMIT after the first signal that is to end it, returns RR_EXIT_OK without waiting longer;
 * the end of this process then ends the child. SIGINT and SIGTERM are to end the child; SIGHUP is, if goes_on
 * is false. SIGUSR1 and SIGUSR2 are not: a child that does not catch SIGUSR2 ends by it at once. */
static int
guard_wait(pid_t child, const sigset_t *signals, bool goes_on)
{
	uint64_t deadline = 0; /* 0: there is no deadline yet */
	int status, signal;

	for (;;) {
		struct timespec left = guard_time_left(deadline);

		signal = sigtimedwait(signals, NULL, deadline ? &left : NULL);
		if (signal < 0 && errno == EAGAIN)
			return RR_EXIT_OK;
		if (waitpid(child, &status, WNOHANG) == child)
			return guard_status(status);
		if (signal < 0 || signal == SIGCHLD)
			continue;
		kill(child, signal);
		if (signal != SIGUSR1 && signal != SIGUSR2 && !(signal == SIGHUP && goes_on) && !deadline)
			deadline = rr_now(&rr_env_system) + GUARD_LIMIT;
	}
}

/* ---- The child ---- */

/* A thread of the child process: kills the child process with SIGKILL once the parent process has ended. The
 * parent never writes to the pipe, so read() returns only when the parent's end of the pipe is closed. */
static void *
guard_watch_parent(void *ctx)
{
	int pipe = (int)(intptr_t)ctx;
	char octet;

	while (read(pipe, &octet, sizeof(octet)) < 0 && errno == EINTR)
		continue;
	kill(getpid(), SIGKILL);
	return NULL;
}

/* Runs in the child process: starts the thread that watches the parent, restores the signal mask `before`,
 * and calls serve(). pipe is the reading end of a pipe whose writing end the parent holds. Returns the result
 * of serve(); or RR_EXIT_FAILED, after a message, if the thread cannot be started. */
static int
guard_serve(const sigset_t *before, int pipe, int (*serve)(void *ctx), void *ctx)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, guard_watch_parent, (void *)(intptr_t)pipe);

	if (error) {
		fprintf(stderr, "rpcrdma: no thread: %s\n", strerror(error));
		return RR_EXIT_FAILED;
	}
	pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	return serve(ctx);
}

int
rr_guard_run(int (*serve)(void *ctx), void *ctx, bool goes_on)
{
	sigset_t signals, before;
	int pipe[2], status;
	pid_t child;

	if (pipe2(pipe, O_CLOEXEC) < 0)
		return serve(ctx);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	if (!rr_tool_is_ignored(SIGINT))
		sigaddset(&signals, SIGINT);
	if (!rr_tool_is_ignored(SIGTERM))
		sigaddset(&signals, SIGTERM);
	if (!rr_tool_is_ignored(SIGHUP) || goes_on)
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	fflush(NULL);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	child = fork();
	/* The child keeps the reading end of the pipe, and the parent the writing end. */
	close(pipe[child == 0]);
	if (child == 0)
		return guard_serve(&before, pipe[0], serve, ctx);
	status = child < 0 ? serve(ctx) : guard_wait(child, &signals, goes_on);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(pipe[1]);
	return status;
}
