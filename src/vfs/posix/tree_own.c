/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file opens a file that belongs to the server's own user, an ordinary user, although the file's mode
 * forbids that, without changing the mode. It opens the file in a user namespace of its own, in which the
 * user has the capability to override the modes of its own files.
 *
 * That takes another process for a moment. It shares memory and descriptors with this process, which stands
 * still until the other has ended: the descriptor that it opens belongs to this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vfs/posix/tree_private.h"

enum { STACK_SIZE = 65536 };

struct own {
	char link[32], uids[32], gids[32]; /* the path that is opened; the maps of the namespace */
	int flags;
	int fd, error;
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
 * up its user namespace, opens the file, stores the descriptor in own->fd, and ends. */
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
