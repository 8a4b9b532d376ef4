/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_WORKS_H
#define RR_FABRIC_WORKS_H

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

struct rr_works {
	const struct rr_env *env;
	struct rr_list free;
	uint32_t kept;
};

void rr_works_init(struct rr_works *works, const struct rr_env *env);
void rr_works_destroy(struct rr_works *works);

/* An item for work, in no list; NULL: no memory. */
struct rr_work_item *rr_works_get(struct rr_works *works, const struct rr_work *work);

void rr_works_put(struct rr_works *works, struct rr_work_item *item);

/* Takes item out of its list, frees it, and tells the endpoint's handler where it wants to know. */
void rr_works_complete(
	struct rr_works *works, struct rr_work_item *item, struct rr_endpoint *endpoint, int status);

#endif
