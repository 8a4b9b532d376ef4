/* SPDX-License-Identifier: BSD-3-Clause */
/* This file replaces the provider where the headers of libcephfs were not found at compile time. */
#include <rpcrdma/error.h>

#include "vfs/ceph/ceph.h"

int
rr_ceph_new(const struct rr_env *env, const struct rr_ceph_config *config, struct rr_ceph **ceph,
	struct rr_text *text)
{
	(void)env;
	(void)config;
	(void)ceph;
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "this program was built without CephFS");
}

void
rr_ceph_free(struct rr_ceph *ceph)
{
	(void)ceph;
}

int
rr_ceph_provider(struct rr_ceph *ceph, struct rr_loop *loop, struct rr_vfs **vfs, struct rr_text *text)
{
	(void)ceph;
	(void)loop;
	(void)vfs;
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "this program was built without CephFS");
}
