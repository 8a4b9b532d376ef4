/* SPDX-License-Identifier: BSD-3-Clause */
/* This file replaces ring.c where liburing was not found at compile time. */
#include <rpcrdma/error.h>

#include "vfs/posix/ring.h"

int
rr_ring_new(const struct rr_env *env, struct rr_loop *loop, uint32_t most, struct rr_ring **ring)
{
	(void)env;
	(void)loop;
	(void)most;
	(void)ring;
	return -RPCRDMA_ERR_NOTSUP;
}

void
rr_ring_free(struct rr_ring *ring)
{
	(void)ring;
}

bool
rr_ring_begin(struct rr_ring *ring, struct rr_ring_read *read)
{
	(void)ring;
	(void)read;
	return false;
}
