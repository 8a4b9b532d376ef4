/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_WORKS_H
#define RR_FABRIC_WORKS_H

#include "base/cache.h"
#include "fabric/fabric.h"

/*
 * Work requests on their way, as providers keep them. The fabric keeps those
 * that are done for reuse; an endpoint has as many as are outstanding.
 */
struct rr_work_item {
	struct rr_list link;
	enum rr_work_kind kind;
	uint32_t length; /* of all sges */
	uint32_t remote_handle;
	uint64_t remote_offset;
	void *cookie;
	uint64_t end;      /* for the provider: where in its stream the request ends */
	uint32_t sink, at; /* for the provider: an RDMA Read's sink STag, and octets that have come */
	uint32_t sge_count;
	struct rr_sge sges[RR_MAX_SGE];
};

/* The memory of items; rr_cache_end() frees it. */
void rr_works_init(struct rr_cache *works, const struct rr_env *env);

/* An item for work, in no list; NULL: no memory. */
struct rr_work_item *rr_works_get(struct rr_cache *works, const struct rr_work *work);

/* Takes item out of its list, and frees it. */
void rr_works_put(struct rr_cache *works, struct rr_work_item *item);

/* Takes item out of its list, frees it, and tells the endpoint's handler where it wants to know. */
void rr_works_complete(
	struct rr_cache *works, struct rr_work_item *item, struct rr_endpoint *endpoint, int status);

#endif
