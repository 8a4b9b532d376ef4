/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "fabric/verbs/work.h"

/*
 * Regions. A region is a memory region of exactly its octets, because rxe (Linux 6.1) holds accesses through
 * a window to the bounds of the memory region only.
 *
 * With windows, the memory region gives the peer no access. A window over it does: the window is made with
 * the region, bound in the queue in front of the Sends that carry its handle, and destroyed with the region.
 * A window may be destroyed in any state, also after the peer has invalidated it, so that no request of the
 * queue pair is needed for that. But a window must not be destroyed before it was bound: the binding would
 * fail and end the connection.
 */

/* Returns the flags for registering the memory of a region to which the peer is to have this access. On a
 * device with memory windows, the window gives the peer its access, and the memory itself only allows
 * windows. */
static int
region_memory_access(const struct rr_verbs_device *device, unsigned access)
{
	int flags = access & RR_REMOTE_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (device->windows)
		return flags | IBV_ACCESS_MW_BIND;
	if (access & RR_REMOTE_WRITE)
		flags |= IBV_ACCESS_REMOTE_WRITE;
	if (access & RR_REMOTE_READ)
		flags |= IBV_ACCESS_REMOTE_READ;
	return flags;
}

/* Ends the peer's access to a region: destroys its memory window, if it has one, and then its memory region.
 * If the window is just being bound, waits for the end of that first. Returns -RPCRDMA_ERR_SYSTEM if the
 * device fails. */
static int
end_access(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region)
{
	bool failed = false;

	/* A binding that was not posted yet is never posted. */
	if (region->bind && !region->bind->finished)
		rr_verbs_work_free(endpoint, region->bind);
	/* The binding was posted and may have completed: the work stays, as a completion may still name it.
	 */
	if (region->bind && endpoint->state == RR_VERBS_ESTABLISHED)
		rr_verbs_await(endpoint, region);
	if (region->bind)
		region->bind->region = NULL;
	region->bind = NULL;
	if (region->mw)
		failed = ibv_dealloc_mw(region->mw) != 0;
	region->mw = NULL;
	if (region->mr)
		failed |= rr_verbs_fabric(endpoint)->library.dereg_mr(region->mr) != 0;
	region->mr = NULL;
	return failed ? -RPCRDMA_ERR_SYSTEM : 0;
}

/* Ends the peer's access to a region and frees the region. Returns 0, or the error of the device if the
 * access could not be ended. */
static int
region_free(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region)
{
	int error = end_access(endpoint, region);

	rr_list_remove(&region->link);
	rr_free(rr_verbs_fabric(endpoint)->env, region);
	endpoint->region_count--;
	return error;
}

/* Makes the memory window of a region, sets *handle to the handle of the region, and queues the binding of
 * the window. The device chooses the upper 24 bits of the handle. The lowest eight bits are a count, so that
 * the same handle comes again as late as possible, even if the device uses one window again and again. The
 * handle must differ from the key that the window has before it is bound. */
static int
region_make_window(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region, void *addr,
	uint32_t length, unsigned access, uint32_t *handle)
{
	region->mw = ibv_alloc_mw(endpoint->domain->pd, IBV_MW_TYPE_2);
	if (!region->mw)
		return -RPCRDMA_ERR_NOMEM;
	do
		*handle = (region->mw->rkey & ~UINT32_C(0xff)) | ++endpoint->device->key;
	while (*handle == region->mw->rkey || *handle == 0);
	return rr_verbs_bind(endpoint, region, addr, length, access, *handle);
}

int
rr_verbs_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct rr_verbs_region *new;
	uint32_t handle;
	int error = 0;

	if (endpoint->state != RR_VERBS_ESTABLISHED)
		return -RPCRDMA_ERR_DISCONNECTED;
	if (endpoint->region_count == fabric->base.config.region_max)
		return -RPCRDMA_ERR_LIMIT;
	new = rr_alloc(fabric->env, sizeof(*new));
	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	rr_list_append(&endpoint->regions, &new->link);
	endpoint->region_count++;
	new->mr = fabric->library.reg_mr_(
		endpoint->domain->pd, addr, length, region_memory_access(endpoint->device, access));
	if (!new->mr)
		/* EFAULT: the memory is not there, or does not allow the access. */
		error = errno == EFAULT ? -RPCRDMA_ERR_INVAL : -RPCRDMA_ERR_NOMEM;
	else if (endpoint->device->windows)
		error = region_make_window(endpoint, new, addr, length, access, &handle);
	else
		handle = new->mr->rkey;
	if (error) {
		region_free(endpoint, new);
		return error;
	}
	*region = (struct rr_region){
		.handle = handle, .length = length, .offset = (uintptr_t)addr, .provider = new
	};
	return 0;
}

int
rr_verbs_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);

	return region_free(endpoint, region->provider);
}

int
rr_verbs_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);

	return end_access(endpoint, region->provider);
}

void
rr_verbs_regions_close(struct rr_verbs_endpoint *endpoint)
{
	while (!rr_list_empty(&endpoint->regions))
		region_free(endpoint, rr_container(endpoint->regions.next, struct rr_verbs_region, link));
}
