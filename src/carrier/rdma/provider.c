/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/provider.h"

#include "fabric/address.h"
#include "fabric/verbs/verbs.h"

static enum rr_provider
wanted(const struct rr_engine *engine, enum rr_provider provider)
{
	if (engine->only)
		return RR_PROVIDER_IWARP;
	return provider == RR_PROVIDER_AUTO ? engine->config.provider : provider;
}

/* Where nobody asked for adapters by name, those that cannot be used are worth a line in the log, and none at
 * all is how most machines are. */
static void
tell(const struct rr_engine *engine, int error, const struct rr_text *why)
{
	bool usual = error == -RPCRDMA_ERR_NOTSUP || error == -RPCRDMA_ERR_UNREACHABLE;

	rr_log(engine->env, usual ? RR_LOG_DEBUG : RR_LOG_WARNING, "iWARP over sockets, no RDMA adapter: %s",
		why->text);
}

/* The adapters' fabric if it can be had, else NULL. One that could not be opened is not tried again: what
 * is in its way does not go by itself. */
static struct rr_fabric *
try_adapters(struct rr_engine *engine)
{
	struct rr_fabric *fabric = NULL;
	struct rr_text why;
	int error;

	if (engine->adapters_failed)
		return NULL;
	error = rr_engine_adapters(engine, &fabric, &why);
	if (!error)
		return fabric;
	engine->adapters_failed = true;
	tell(engine, error, &why);
	return NULL;
}

/* The adapters' fabric, if this address of the machine is that of an adapter. */
static struct rr_fabric *
adapters_of(struct rr_engine *engine, const struct sockaddr *local, socklen_t size)
{
	struct rr_text why;
	int error = engine->adapters_failed ? 0 : rr_verbs_has_address(local, size, &why);

	if (error) {
		tell(engine, error, &why);
		return NULL;
	}
	return try_adapters(engine);
}

int
rr_provider_to(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *peer,
	socklen_t size, struct rr_fabric **fabric, struct rr_text *text)
{
	struct sockaddr_storage source;
	struct rr_fabric *adapters = NULL;

	switch (wanted(engine, provider)) {
	case RR_PROVIDER_VERBS: return rr_engine_adapters(engine, fabric, text);
	case RR_PROVIDER_IWARP: break;
	case RR_PROVIDER_AUTO:
		if (rr_address_source(peer, size, &source) == 0)
			adapters = adapters_of(engine, (struct sockaddr *)&source, sizeof(source));
		break;
	}
	*fabric = adapters ? adapters : engine->fabric;
	return 0;
}

int
rr_provider_at(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *local,
	socklen_t size, struct rr_fabric *fabrics[RR_FABRICS], struct rr_text *text)
{
	bool elsewhere = engine->config.adapters_elsewhere;
	struct rr_fabric *adapters;
	int error;

	fabrics[0] = engine->fabric;
	switch (wanted(engine, provider)) {
	case RR_PROVIDER_VERBS:
		error = elsewhere ? 0 : rr_engine_adapters(engine, &fabrics[0], text);
		return error ? error : !elsewhere;
	case RR_PROVIDER_IWARP: return 1;
	case RR_PROVIDER_AUTO: break;
	}
	if (!rr_address_is_any(local)) {
		adapters = adapters_of(engine, local, size);
		fabrics[0] = adapters ? adapters : engine->fabric;
		return !adapters || !elsewhere;
	}
	fabrics[1] = elsewhere ? NULL : try_adapters(engine);
	return fabrics[1] ? 2 : 1;
}
