/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "fake_private.h"
#include "ulb/mount3.h"

/* This is MOUNT of the fake server, which has one export. */

static enum rpcrdma_handled
mnt(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	static const uint8_t root[4] = { 0, 0, 0, 0 };
	const dirpath *path = args;
	struct fake *fake = ctx;
	mountres3 *res = result;

	(void)request;
	fake->mounts++;
	if (path->length != strlen(fake->export) || memcmp(path->data, fake->export, path->length) != 0) {
		res->fhs_status = (mountstat3)(fake->mounts > 1 && fake->refusal_above ? fake->refusal_above
										       : fake->refusal);
		return RPCRDMA_HANDLED;
	}
	res->u.mountinfo.fhandle = (struct rpcrdma_bytes){ root, sizeof(root) };
	res->u.mountinfo.auth_flavors.count = 1;
	res->u.mountinfo.auth_flavors.values = &fake->flavor;
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
list_exports(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	static exportnode node;
	struct fake *fake = ctx;

	(void)request, (void)args;
	node.ex_dir = (struct rpcrdma_bytes){ fake->export, (uint32_t)strlen(fake->export) };
	*(exports *)result = &node;
	return RPCRDMA_HANDLED;
}

rpcrdma_handler *const fake_mount_handlers[] = {
	[MOUNTPROC3_MNT] = mnt,
	[MOUNTPROC3_EXPORT] = list_exports,
};

const struct rpcrdma_program *
fake_mount_program(void)
{
	return &MOUNT_V3_program;
}
