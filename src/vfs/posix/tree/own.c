/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an ordinary user runs the server, this file opens a file of that user although the file's mode
 * forbids it, without changing the mode: it opens the file in a new user namespace, in which the user has the
 * capability to override the modes of its own files.
 *
 * A child process enters that namespace and opens the file. The child shares memory and descriptors with this
 * process, so the descriptor that it opens belongs to this process, too. The calling thread stands still
 * until the child has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

enum { STACK_SIZE = 65536 };

/* An order to the child process, and its result. */
struct own {
	/* The path to be opened; the uid_map and gid_map of the namespace. */
	char link[32], uids[32], gids[32];
	int flags;     /* for open(2) */
	int fd, error; /* out: the descriptor, or -1 and an errno */
};

/* Writes text into the file path. Returns whether that succeeded. */
static bool
own_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* The main function of the child process, which shares the memory and the descriptors of this process: sets
 * up its user namespace, opens the file, stores the descriptor in own->fd, and ends. After a failure own->fd
 * stays negative, and own->error is the errno. */
static int
own_open(void *argument)
{
	struct own *own = argument;

	if (own_put("/proc/self/uid_map", own->uids) && own_put("/proc/self/setgroups", "deny") &&
		own_put("/proc/self/gid_map", own->gids))
		own->fd = open(own->link, own->flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	own->error = errno;
	_exit(0);
}

int
rr_tree_open_own(struct rr_tree *tree, int fd, int flags)
{
	struct own own = { .flags = flags, .fd = -1 };
	uint8_t *stack = rr_alloc(tree->env, STACK_SIZE);
	pid_t child;

	if (!stack) {
		errno = ENOMEM;
		return -1;
	}
	snprintf(own.link, sizeof(own.link), "/proc/self/fd/%d", fd);
	snprintf(own.uids, sizeof(own.uids), "%u %u 1", geteuid(), geteuid());
	snprintf(own.gids, sizeof(own.gids), "%u %u 1", getegid(), getegid());
	child = clone(
		own_open, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER, &own);
	if (child < 0)
		own.error = errno;
	else
		waitpid(child, NULL, __WCLONE);
	rr_free(tree->env, stack);
	errno = own.error;
	return own.fd;
}
