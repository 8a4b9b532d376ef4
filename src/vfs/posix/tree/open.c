/* SPDX-License-Identifier: BSD-3-Clause */
/* This file opens the data of files and directories, with the permission of a caller. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

/* Returns 0 where the identity in force has the permissions "mode" (a sum of R_OK, W_OK, X_OK) on the object
 * of fd, as open(2) checks them; else an errno. */
static int
open_access_of(int fd, int mode)
{
	return syscall(SYS_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0 ? 0 : errno;
}

/* Tells whether the user as whom the thread acts owns the object: the caller where a caller's identity is in
 * force, else the server's own user. */
static bool
open_is_owner(const struct rr_tree *tree, const struct rr_object *object)
{
	uint32_t uid = tree->identity.in_force ? tree->identity.uid : geteuid();

	return object->st.stx_uid == uid;
}

/* Checks the caller's permission for an access (O_RDONLY and so on), where open(2) does not check it: for a
 * descriptor that is open already, or that the server opens as itself. The owner of a regular file always has
 * the permission, and permission to execute a regular file is enough to read it. Returns 0 or an errno. */
static int
open_check_caller(const struct rr_tree *tree, const struct rr_object *object, int access)
{
	bool regular = S_ISREG(object->st.stx_mode);
	int mode = access == O_RDONLY ? R_OK : access == O_WRONLY ? W_OK : R_OK | W_OK;
	int error;

	/* RFC 1813, 4.4: "the server's permission checking algorithm should allow the owner of a file to
	 * access it regardless of the permission setting." */
	if (regular && open_is_owner(tree, object))
		return 0;
	error = open_access_of(object->fd, mode);
	/* RFC 1813, 4.4: "the server allows reading of files if the uid given in the call has either execute
	 * or read permission on the file". */
	if (error == EACCES && regular && access == O_RDONLY && open_access_of(object->fd, X_OK) == 0)
		return 0;
	return error;
}

/* Opens a file that belongs to the server's own user, an ordinary user, although the mode of the file forbids
 * that: in a user namespace or, where the system allows none, by a change of the mode for the moment of
 * open(2). Returns a descriptor, or -1 with errno: EACCES where the file belongs to another user. */
static int
open_own(struct rr_tree *tree, struct rr_object *object, int access)
{
	char link[32];
	int fd, error;

	if (rr_object_stat(object) != RR_VFS_OK || !open_is_owner(tree, object)) {
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
		rr_log_limited(&tree->core->open_log, tree->env, "a file of mode %o stays open to its owner",
			object->st.stx_mode & 07777);
	errno = error;
	return fd;
}

/* Opens a file that open(2) refused to the caller with EACCES, but that NFS allows (open_check_caller()): as
 * root where the server may take on callers' identities, else as the file's owner by open_own(). Returns a
 * descriptor, or -1 with errno. */
static int
open_for_caller(struct rr_tree *tree, struct rr_object *object, int access)
{
	int fd, error;

	if (!rr_tree_may_open(tree))
		return -1;
	error = open_check_caller(tree, object, access);
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
		fd = -1;
		error = EIO;
	}
	errno = error;
	return fd;
}

/* Opens the data of a file or directory with this access. For O_WRONLY, tries first to get a descriptor for
 * reading and writing, because the cache can then use it for other callers' reads, too; *readable tells
 * whether the descriptor can read. A regular file that the system refuses to the caller (EACCES) is opened by
 * open_for_caller() where NFS allows that. Returns a descriptor, or -1 with errno. */
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

/* Returns a descriptor that the node keeps open and that allows this access, or -1 if it has none. */
static int
open_cached(const struct rr_node *node, int access)
{
	int both = node->readable ? node->data_fd[RR_NODE_WRITE] : -1;

	if (access == O_RDONLY)
		return node->data_fd[RR_NODE_READ] >= 0 ? node->data_fd[RR_NODE_READ] : both;
	return access == O_RDWR ? both : node->data_fd[RR_NODE_WRITE];
}

/* Checks that the access suits the object: only regular files and directories can be opened, directories only
 * for reading, and in a read-only tree all objects only for reading. */
static enum rr_vfs_status
open_sense(const struct rr_tree *tree, const struct rr_object *object, int access)
{
	bool directory = S_ISDIR(object->st.stx_mode);

	if (!directory && !S_ISREG(object->st.stx_mode))
		return RR_VFS_WRONG_TYPE;
	if (directory && access != O_RDONLY)
		return RR_VFS_ISDIR;
	return tree->core->config.read_only && access != O_RDONLY ? RR_VFS_ROFS : RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_open_apart(struct rr_tree *tree, struct rr_object *object, int access, int *fd)
{
	enum rr_vfs_status status = open_sense(tree, object, access);
	bool readable, was_locked;

	if (status != RR_VFS_OK)
		return status;
	was_locked = rr_tree_out(tree);
	*fd = open_data(tree, object, access, &readable);
	rr_tree_in(tree, was_locked);
	return *fd < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
}

/* Keeps fd in the node for later calls with this access, and returns fd. readable says whether a descriptor
 * for writing can also be read from. Where another thread has put such a descriptor into the node meanwhile,
 * closes fd and returns that thread's descriptor. */
static int
open_keep(struct rr_tree *tree, struct rr_node *node, int access, int fd, bool readable)
{
	int slot = access == O_RDONLY ? RR_NODE_READ : RR_NODE_WRITE, there = open_cached(node, access);

	if (there >= 0) {
		close(fd);
		return there;
	}
	rr_nodes_set_fd(&tree->core->nodes, node, &node->data_fd[slot], fd);
	if (slot == RR_NODE_WRITE)
		node->readable = readable;
	return fd;
}

/* Stores in *fd a descriptor of the object's data for this access: the one that the node keeps, after a check
 * of the caller's permission, or a new one. This is the work of rr_tree_open(). The caller holds the lock,
 * which is released for system calls. */
static enum rr_vfs_status
open_locked(struct rr_tree *tree, struct rr_object *object, int access, int *fd)
{
	struct rr_node *node = object->node;
	bool readable, was_locked;
	int error = 0, there = open_cached(node, access);

	was_locked = rr_tree_out(tree);
	if (there >= 0 && tree->identity.in_force)
		error = open_check_caller(tree, object, access);
	else if (there < 0)
		*fd = open_data(tree, object, access, &readable);
	if (there < 0 && *fd < 0)
		error = errno;
	rr_tree_in(tree, was_locked);
	if (error)
		return rr_vfs_errno(error);
	if (there >= 0 && access != O_RDONLY)
		rr_nodes_wrote(&tree->core->nodes, node);
	*fd = there >= 0 ? there : open_keep(tree, node, access, *fd, readable);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_open(struct rr_tree *tree, struct rr_object *object, int access, int *fd)
{
	enum rr_vfs_status status = open_sense(tree, object, access);

	if (status != RR_VFS_OK)
		return status;
	rr_tree_enter(tree);
	status = open_locked(tree, object, access, fd);
	rr_tree_leave(tree);
	return status;
}

enum rr_vfs_status
rr_tree_open_near(struct rr_tree *tree, const struct rr_object *object, int *fd)
{
	enum rr_vfs_status status = RR_VFS_IO;

	rr_tree_enter(tree);
	for (struct rr_node *node = object->node; node && status != RR_VFS_OK; node = node->parent) {
		struct rr_object at;

		if (rr_tree_reach(tree, node, &at) != RR_VFS_OK)
			break;
		if (S_ISDIR(at.st.stx_mode) && at.st.stx_dev_major == object->st.stx_dev_major &&
			at.st.stx_dev_minor == object->st.stx_dev_minor)
			status = rr_tree_open(tree, &at, O_RDONLY, fd);
		rr_object_put(tree, &at);
	}
	rr_tree_leave(tree);
	return status;
}
