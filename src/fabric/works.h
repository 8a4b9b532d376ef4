/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_WORKS_H
#define RR_FABRIC_WORKS_H

#include "base/cache.h"
#include "fabric/fabric.h"

/* A work request that is not complete, as providers keep it. The fabric keeps the memory of requests that
 * are done for reuse; an endpoint has as many items as it has requests outstanding. */
struct rr_work_item {
	struct rr_list link;
	enum rr_work_kind kind;
	uint32_t length; /* of all sges */
	uint32_t remote_handle;
	uint64_t remote_offset;
	void *cookie;
	uint64_t end; /* for the provider: the place in its stream at which the request ends */
	/* For the provider: the sink STag of an RDMA Read, and the octets that have come. */
	uint32_t sink, at;
	uint32_t sge_count;
	struct rr_sge sges[RR_MAX_SGE];
};

/* Initialises the cache that work requests are kept in; rr_cache_end() frees it. */
void rr_works_init(struct rr_cache *works, const struct rr_env *env);

/* Makes a copy of work and its sges as an item, which is in no list. Returns NULL if there is no memory. */
struct rr_work_item *rr_works_get(struct rr_cache *works, const struct rr_work *work);

/* Removes the item of a work request from its list and frees it, without calling a handler. */
void rr_works_put(struct rr_cache *works, struct rr_work_item *item);

/* Removes the item of a work request from its list, frees it, and calls the endpoint's handler with the
 * completion, if the request has a cookie or status is an error. */
void rr_works_complete(
	struct rr_cache *works, struct rr_work_item *item, struct rr_endpoint *endpoint, int status);

#endif
