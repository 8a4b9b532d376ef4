/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists, which programs get and set as extended attributes of the system (acl(5)); the server checks
 * them. */
#include <errno.h>
#include <string.h>

#include "fuse/fuse_private.h"
#include "fuse/ops.h"
#include "vfs/acl/list.h"

/* A list, and the form in which the kernel has it. */
struct acl_memory {
	struct rr_vfs_acl acl;
	struct rr_vfs_ace entries[RR_VFS_ACL_MAX];
	uint8_t stored[RR_ACL_STORED_MAX];
};

static bool
acl_is_default(const struct rr_fuse_request *request)
{
	return strcmp(request->names[0], RR_ACL_DEFAULT) == 0;
}

bool
rr_fuse_is_acl(const struct rr_fuse_request *request)
{
	return !request->fuse->config.no_lists &&
	       (acl_is_default(request) || strcmp(request->names[0], RR_ACL_ACCESS) == 0);
}

/* A list that says no more than the mode is none: acl_get_file(3) makes it of the mode. */
static void
acl_get_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_getacl *getacl = &request->vfs.getacl;
	const struct rr_vfs_acl *acl = acl_is_default(request) ? &getacl->inherited : &getacl->access;
	struct acl_memory *memory = request->data;

	if (status != RR_VFS_OK || !getacl->is_supported) {
		rr_fuse_answer_status(request, status == RR_VFS_OK ? RR_VFS_NOTSUPP : status);
		return;
	}
	if (acl->count == 0 || (acl->count == RR_ACL_LEAST && !acl_is_default(request))) {
		rr_fuse_answer(request, ENODATA, NULL, 0);
		return;
	}
	rr_fuse_answer_value(request, memory->stored, rr_acl_put_stored(acl, memory->stored));
}

void
rr_fuse_acl_get(struct rr_fuse_request *request)
{
	struct acl_memory *memory = rr_alloc(request->fuse->env, sizeof(*memory));
	struct rr_vfs_getacl *getacl = &RR_FUSE_ZERO(request)->getacl;

	if (!memory) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	request->data = memory;
	getacl->object = rr_fuse_node_object(request->node);
	if (acl_is_default(request))
		getacl->inherited.entries = memory->entries;
	else
		getacl->access.entries = memory->entries;
	rr_fuse_begin(request, RR_VFS_OP_GETACL, acl_get_done);
}

/* The mode may be another one now. */
static void
acl_set_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_drop_attributes(request->fuse, request->node);
	rr_fuse_answer_status(request, status);
}

static void
acl_set(struct rr_fuse_request *request)
{
	struct acl_memory *memory = request->data;
	struct rr_vfs_setacl *setacl = &RR_FUSE_ZERO(request)->setacl;

	setacl->object = rr_fuse_node_object(request->node);
	if (acl_is_default(request))
		setacl->inherited = &memory->acl;
	else
		setacl->access = &memory->acl;
	rr_fuse_begin(request, RR_VFS_OP_SETACL, acl_set_done);
}

/* Takes the list that the kernel has sent. */
void
rr_fuse_acl_set(struct rr_fuse_request *request, uint32_t size)
{
	struct acl_memory *memory = rr_alloc(request->fuse->env, sizeof(*memory));
	enum rr_vfs_status status = RR_VFS_BUSY;

	if (memory) {
		memory->acl.entries = memory->entries;
		status = size <= RR_ACL_STORED_MAX ? rr_acl_get_stored(request->data, size, &memory->acl)
						   : RR_VFS_INVAL;
		rr_free(request->fuse->env, request->data);
		request->data = memory;
	}
	if (status == RR_VFS_OK && !acl_is_default(request))
		status = rr_acl_check(&memory->acl, false);
	if (status == RR_VFS_OK)
		acl_set(request);
	else
		rr_fuse_answer(request, memory ? EINVAL : ENOMEM, NULL, 0);
}

/* Runs when the mode is known, of which a list without names is made. */
static void
acl_remove_known(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct acl_memory *memory = request->data;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	rr_acl_from_mode(request->vfs.getattr.attributes.mode, &memory->acl);
	acl_set(request);
}

void
rr_fuse_acl_remove(struct rr_fuse_request *request)
{
	struct acl_memory *memory = rr_alloc(request->fuse->env, sizeof(*memory));

	if (!memory) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	memory->acl.entries = memory->entries;
	request->data = memory;
	if (acl_is_default(request)) {
		acl_set(request);
		return;
	}
	RR_FUSE_ZERO(request)->getattr.object = rr_fuse_node_object(request->node);
	rr_fuse_begin(request, RR_VFS_OP_GETATTR, acl_remove_known);
}
