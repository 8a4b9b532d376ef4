/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs/posix/tree_private.h"

/* With the identity that is in force, as if by open(2): 0 or errno. */
static int
access_of(int fd, int mode)
{
	return syscall(SYS_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0 ? 0 : errno;
}

static bool
is_owner(const struct rr_tree *tree, const struct rr_object *object)
{
	uint32_t uid = tree->identity.in_force ? tree->identity.uid : geteuid();

	return object->st.stx_uid == uid;
}

/* Whether the caller may have what is open already, or what the server itself can open: 0 or errno. */
static int
check_caller(const struct rr_tree *tree, const struct rr_object *object, int access)
{
	bool regular = S_ISREG(object->st.stx_mode);
	int mode = access == O_RDONLY ? R_OK : access == O_WRONLY ? W_OK : R_OK | W_OK;
	int error;

	/* RFC 1813, 4.4: "the server's permission checking algorithm should allow the owner of a file to
	 * access it regardless of the permission setting." */
	if (regular && is_owner(tree, object))
		return 0;
	error = access_of(object->fd, mode);
	/* RFC 1813, 4.4: "the server allows reading of files if the uid given in the call has either execute
	 * or read permission on the file". */
	if (error == EACCES && regular && access == O_RDONLY && access_of(object->fd, X_OK) == 0)
		return 0;
	return error;
}

/* The owner's way to a file that its mode closes even to the server, where that is an ordinary user. Where
 * the system has no other way, the mode is opened for the moment of open(2). */
static int
open_own(struct rr_tree *tree, struct rr_object *object, int access)
{
	char link[32];
	int fd, error;

	if (rr_object_stat(object) != RR_VFS_OK || !is_owner(tree, object)) {
		errno = EACCES;
		return -1;
	}
	fd = rr_tree_open_own(tree, object->fd, access);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", object->fd);
	if (chmod(link, (object->st.stx_mode & 07777) | S_IRUSR | S_IWUSR) != 0)
		return -1;
	fd = rr_tree_reopen(tree, object->fd, access);
	error = errno;
	if (chmod(link, object->st.stx_mode & 07777) != 0)
		rr_log(tree->env, RR_LOG_WARNING, "a file of mode %o stays open to its owner",
			object->st.stx_mode & 07777);
	errno = error;
	return fd;
}

/* With the server's identity, for a caller that may: -1 with errno. */
static int
open_for_caller(struct rr_tree *tree, struct rr_object *object, int access)
{
	int fd, error = check_caller(tree, object, access);

	if (error) {
		errno = error;
		return -1;
	}
	if (!tree->identity.root)
		return open_own(tree, object, access);
	rr_identity_suspend(&tree->identity);
	fd = rr_tree_reopen(tree, object->fd, access);
	error = errno;
	if (!rr_identity_resume(&tree->identity)) {
		if (fd >= 0)
			close(fd);
		fd = rr_tree_open_own(tree, object->fd, access);
		error = EIO;
	}
	errno = error;
	return fd;
}

/* What is written is often read as well, and by others: if possible, one descriptor for both. */
static int
open_data(struct rr_tree *tree, struct rr_object *object, int access, bool *readable)
{
	int fd;

	*readable = true;
	fd = rr_tree_reopen(tree, object->fd, access == O_WRONLY ? O_RDWR : access);
	if (fd >= 0 || errno != EACCES)
		return fd;
	if (access == O_WRONLY) {
		*readable = false;
		fd = rr_tree_reopen(tree, object->fd, O_WRONLY);
	}
	if (fd >= 0 || errno != EACCES || !S_ISREG(object->st.stx_mode))
		return fd;
	return open_for_caller(tree, object, access);
}

/* A descriptor that is open already, for this access; or -1. */
static int
cached(const struct rr_node *node, int access)
{
	int both = node->readable ? node->data_fd[RR_NODE_WRITE] : -1;

	if (access == O_RDONLY)
		return node->data_fd[RR_NODE_READ] >= 0 ? node->data_fd[RR_NODE_READ] : both;
	return access == O_RDWR ? both : node->data_fd[RR_NODE_WRITE];
}

/* Whether the access makes sense at all. */
static enum rr_vfs_status
open_sense(const struct rr_tree *tree, const struct rr_object *object, int access)
{
	bool directory = S_ISDIR(object->st.stx_mode);

	if (!directory && !S_ISREG(object->st.stx_mode))
		return RR_VFS_WRONG_TYPE;
	if (directory && access != O_RDONLY)
		return RR_VFS_ISDIR;
	return tree->config.read_only && access != O_RDONLY ? RR_VFS_ROFS : RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_open_apart(struct rr_tree *tree, struct rr_object *object, int access, int *fd)
{
	enum rr_vfs_status status = open_sense(tree, object, access);
	bool readable;

	if (status != RR_VFS_OK)
		return status;
	*fd = open_data(tree, object, access, &readable);
	return *fd < 0 ? rr_tree_status(errno) : RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_open(struct rr_tree *tree, struct rr_object *object, int access, int *fd)
{
	enum rr_vfs_status status = open_sense(tree, object, access);
	struct rr_node *node = object->node;
	bool readable;

	if (status != RR_VFS_OK)
		return status;
	*fd = cached(node, access);
	if (*fd >= 0)
		return tree->identity.in_force ? rr_tree_status(check_caller(tree, object, access))
					       : RR_VFS_OK;
	*fd = open_data(tree, object, access, &readable);
	if (*fd < 0)
		return rr_tree_status(errno);
	if (access == O_RDONLY) {
		rr_nodes_set_fd(&tree->nodes, node, &node->data_fd[RR_NODE_READ], *fd);
	} else {
		rr_nodes_set_fd(&tree->nodes, node, &node->data_fd[RR_NODE_WRITE], *fd);
		node->readable = readable;
	}
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_open_near(struct rr_tree *tree, const struct rr_object *object, int *fd)
{
	enum rr_vfs_status status = RR_VFS_IO;

	for (struct rr_node *node = object->node; node && status != RR_VFS_OK; node = node->parent) {
		struct rr_object at;

		if (rr_tree_reach(tree, node, &at) != RR_VFS_OK)
			return RR_VFS_IO;
		if (S_ISDIR(at.st.stx_mode) && at.st.stx_dev_major == object->st.stx_dev_major &&
			at.st.stx_dev_minor == object->st.stx_dev_minor)
			status = rr_tree_open(tree, &at, O_RDONLY, fd);
		rr_object_put(tree, &at);
	}
	return status;
}
