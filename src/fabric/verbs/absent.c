/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/verbs.h"

/* This file takes the place of the provider where the library was built without the headers of libibverbs and
 * librdmacm. */

/* Sets text to the reason why no function of the provider for RDMA adapters works in this build. Returns
 * -RPCRDMA_ERR_NOTSUP. */
static int
absent(struct rr_text *text)
{
	return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
		"this build has no support for RDMA adapters: libibverbs-dev and librdmacm-dev were missing");
}

int
rr_verbs_fabric_open(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric,
	struct rr_text *text)
{
	(void)loop;
	(void)config;
	(void)fabric;
	return absent(text);
}

int
rr_verbs_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_text text;

	return rr_verbs_fabric_open(loop, config, fabric, &text);
}

int
rr_verbs_has_address(const struct sockaddr *local, socklen_t size, struct rr_text *text)
{
	(void)local;
	(void)size;
	return absent(text);
}

int
rr_verbs_devices(const struct rr_env *env, rr_verbs_device_handler *handler, void *ctx, struct rr_text *text)
{
	(void)env;
	(void)handler;
	(void)ctx;
	return absent(text);
}
