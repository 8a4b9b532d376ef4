/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations on extended attributes. vfs.h describes what each of them does, with its
 * arguments and results. */
#include <string.h>

#include "node.h"
#include "run.h"

/* Checks that the operation's object is a file or a directory, as other types have no extended attributes,
 * and that the caller has the permissions "bits" on the object (RR_MEMORY_READ_BIT and so on). */
static enum rr_vfs_status
xattr_check(const struct rr_memory_run *run, unsigned bits)
{
	const struct rr_memory_node *node = run->node;

	if (node->attributes.type != RR_VFS_FILE && node->attributes.type != RR_VFS_DIRECTORY)
		return RR_VFS_WRONG_TYPE;
	return rr_memory_may(node, run->caller, bits) ? RR_VFS_OK : RR_VFS_ACCESS;
}

static enum rr_vfs_status
xattr_name(struct rpcrdma_bytes name)
{
	if (name.length == 0 || memchr(name.data, 0, name.length))
		return RR_VFS_BAD_CHAR;
	return name.length > RR_VFS_NAME_MAX ? RR_VFS_NAME_TOO_LONG : RR_VFS_OK;
}

static struct rr_memory_xattr *
xattr_find(const struct rr_memory_node *node, struct rpcrdma_bytes name)
{
	rr_list_for_each (link, &node->xattrs) {
		struct rr_memory_xattr *xattr = rr_container(link, struct rr_memory_xattr, link);

		if (xattr->name_length == name.length && memcmp(xattr->octets, name.data, name.length) == 0)
			return xattr;
	}
	return NULL;
}

/* Finds the extended attribute that the call names, and stores its address in *found. Returns RR_VFS_NO_XATTR
 * if the object has none of that name, or another error if the name is invalid or the caller lacks the
 * permissions "bits". */
static enum rr_vfs_status
xattr_look(const struct rr_memory_run *run, unsigned bits, struct rr_memory_xattr **found)
{
	const struct rr_vfs_xattr *xattr = (const struct rr_vfs_xattr *)run->call;
	enum rr_vfs_status status = xattr_check(run, bits);

	if (status == RR_VFS_OK)
		status = xattr_name(xattr->name);
	if (status != RR_VFS_OK)
		return status;
	*found = xattr_find(run->node, xattr->name);
	return *found ? RR_VFS_OK : RR_VFS_NO_XATTR;
}

enum rr_vfs_status
rr_memory_getxattr(struct rr_memory_run *run)
{
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)run->call;
	struct rr_memory_xattr *found;
	enum rr_vfs_status status = xattr_look(run, RR_MEMORY_READ_BIT, &found);

	if (status != RR_VFS_OK)
		return status;
	xattr->length = found->size;
	if (found->size > xattr->size)
		return RR_VFS_XATTR_SIZE;
	memcpy(xattr->value, found->octets + found->name_length, found->size);
	return RR_VFS_OK;
}

/* Makes an attribute with the name and the value of the call. Returns NULL if there is no memory. */
static struct rr_memory_xattr *
xattr_make(struct rr_memory *memory, const struct rr_vfs_xattr *wanted)
{
	struct rr_memory_xattr *xattr =
		rr_alloc(memory->env, sizeof(*xattr) + wanted->name.length + wanted->size);

	if (!xattr)
		return NULL;
	xattr->name_length = wanted->name.length;
	xattr->size = wanted->size;
	memcpy(xattr->octets, wanted->name.data, wanted->name.length);
	if (wanted->size > 0)
		memcpy(xattr->octets + wanted->name.length, wanted->value, wanted->size);
	return xattr;
}

static void
xattr_remove(struct rr_memory *memory, struct rr_memory_xattr *xattr)
{
	rr_list_remove(&xattr->link);
	rr_free(memory->env, xattr);
}

enum rr_vfs_status
rr_memory_setxattr(struct rr_memory_run *run)
{
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)run->call;
	enum rr_vfs_status status = xattr_check(run, RR_MEMORY_WRITE_BIT);
	struct rr_memory_xattr *found, *made;

	if (status == RR_VFS_OK)
		status = xattr_name(xattr->name);
	if (status != RR_VFS_OK)
		return status;
	if (xattr->size > RR_MEMORY_XATTR_MAX)
		return RR_VFS_XATTR_SIZE;
	found = xattr_find(run->node, xattr->name);
	if (found && xattr->how == RR_VFS_XATTR_CREATE)
		return RR_VFS_EXIST;
	if (!found && xattr->how == RR_VFS_XATTR_REPLACE)
		return RR_VFS_NO_XATTR;
	made = xattr_make(run->memory, xattr);
	if (!made)
		return RR_VFS_BUSY;
	if (found)
		xattr_remove(run->memory, found);
	rr_list_append(&run->node->xattrs, &made->link);
	rr_memory_touch(run->memory, run->node, false);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_listxattr(struct rr_memory_run *run)
{
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)run->call;
	enum rr_vfs_status status = xattr_check(run, RR_MEMORY_READ_BIT);
	char *names = xattr->value;

	if (status != RR_VFS_OK)
		return status;
	xattr->length = 0;
	rr_list_for_each (link, &run->node->xattrs) {
		const struct rr_memory_xattr *found = rr_container(link, struct rr_memory_xattr, link);
		uint32_t end = xattr->length + found->name_length + 1;

		if (end <= xattr->size) {
			memcpy(names + xattr->length, found->octets, found->name_length);
			names[end - 1] = 0;
		}
		xattr->length = end;
	}
	return xattr->length <= xattr->size ? RR_VFS_OK : RR_VFS_XATTR_SIZE;
}

enum rr_vfs_status
rr_memory_removexattr(struct rr_memory_run *run)
{
	struct rr_memory_xattr *found;
	enum rr_vfs_status status = xattr_look(run, RR_MEMORY_WRITE_BIT, &found);

	if (status != RR_VFS_OK)
		return status;
	xattr_remove(run->memory, found);
	rr_memory_touch(run->memory, run->node, false);
	return RR_VFS_OK;
}
