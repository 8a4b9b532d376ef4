/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "fabric/verbs/endpoint.h"

/*
 * Devices. The fabric opens all devices that can be opened when it is made, to learn which abilities all of
 * them have; it makes queues and domains when the first endpoint needs the device. A device that was removed
 * stays until its endpoints are gone.
 */

/* The numbers of the vendors of two software devices. */
enum { RXE_VENDOR = 0xffffff, SIW_VENDOR = 0x626d74 };

const char *
rr_verbs_device_lacks(const struct ibv_device_attr *attr)
{
	if (attr->max_srq < 2 || attr->max_srq_wr < 1)
		return "it has no two shared receive queues";
	if (attr->max_qp < 1 || attr->max_qp_wr < 1 || attr->max_sge < 1)
		return "it has no connected queue pairs";
	return NULL;
}

bool
rr_verbs_device_has_windows(const struct ibv_device_attr *attr)
{
	return attr->device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B) &&
	       attr->max_mw > 0;
}

bool
rr_verbs_device_is_strict(const struct ibv_device_attr *attr)
{
	return attr->vendor_id == SIW_VENDOR;
}

/* Returns the length of the longest message that all ports of the device allow. */
static uint32_t
device_max_message(const struct rr_verbs_device *device)
{
	uint32_t max = UINT32_MAX;

	for (uint8_t port = 1; port <= device->attr.phys_port_cnt; port++) {
		struct ibv_port_attr attr = { 0 };

		if (device->fabric->library.query_port_(device->context, port, &attr) == 0 &&
			attr.max_msg_sz && attr.max_msg_sz < max)
			max = attr.max_msg_sz;
	}
	return max;
}

/* Makes the descriptor fd of a device non-blocking, and has the event loop call the function ready when fd
 * becomes readable. Returns -RPCRDMA_ERR_SYSTEM on failure. */
static int
device_watch(struct rr_verbs_fabric *fabric, struct rr_watch *watch, int fd,
	void (*ready)(struct rr_watch *watch, unsigned events))
{
	watch->ready = ready;
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return -RPCRDMA_ERR_SYSTEM;
	return rr_loop_watch(fabric->base.loop, watch, fd, RR_READABLE);
}

/* Closes the device if it was opened, and frees it. Always returns NULL, so that the caller can return the
 * result. */
static struct rr_verbs_device *
device_discard(struct rr_verbs_device *device)
{
	struct rr_verbs_fabric *fabric = device->fabric;

	if (device->context)
		fabric->library.close_device(device->context);
	rr_free(fabric->env, device);
	return NULL;
}

/* Whether an open device can be used: asks the device for its attributes and checks them. If the device
 * cannot be used, sets why to the reason. */
static bool
device_suits(struct rr_verbs_device *device, const char *name, struct rr_text *why)
{
	const char *lacks;

	if (device->fabric->library.query_device(device->context, &device->attr) != 0) {
		rr_fail(why, 0, "%s does not tell what it can do: %s", name, strerror(errno));
		return false;
	}
	lacks = rr_verbs_device_lacks(&device->attr);
	if (lacks)
		rr_fail(why, 0, "%s: %s", name, lacks);
	return !lacks;
}

/* Opens a device, and adds it to the list of the fabric's devices. Returns NULL on failure, with the reason
 * in why. The device's events are watched from the beginning, as the kernel removes a device only when all
 * programs have closed it. */
static struct rr_verbs_device *
device_open(struct rr_verbs_fabric *fabric, struct ibv_device *from, struct rr_text *why)
{
	struct rr_verbs_device *device = rr_alloc(fabric->env, sizeof(*device));

	/* The reason of the failures below that set none of their own. */
	rr_fail(why, 0, "%s: no memory, or no descriptor for its events", from->name);
	if (!device)
		return NULL;
	device->fabric = fabric;
	rr_list_init(&device->link);
	device->context = fabric->library.open_device(from);
	if (!device->context)
		rr_verbs_cannot_open(from, why);
	if (!device->context || !device_suits(device, from->name, why) ||
		device_watch(fabric, &device->events, device->context->async_fd, rr_verbs_events_ready) != 0)
		return device_discard(device);
	device->iwarp = from->transport_type == IBV_TRANSPORT_IWARP;
	device->windows = rr_verbs_device_has_windows(&device->attr);
	device->max_message = device_max_message(device);
	device->key = (uint8_t)rr_random_u32(fabric->env);
	device->invalidated = IBV_WC_WITH_INV;
	/* rxe hands the kernel's value of this flag to user space, where that value is another flag, which
	 * has no meaning here. */
	if (device->attr.vendor_id == RXE_VENDOR)
		device->invalidated |= IBV_WC_IP_CSUM_OK;
	rr_list_append(&fabric->devices, &device->link);
	return device;
}

int
rr_verbs_devices_open(struct rr_verbs_fabric *fabric, struct rr_text *text)
{
	struct ibv_device **list = fabric->library.get_device_list(NULL);
	struct rr_fabric_limits *limits = &fabric->ops.limits;
	struct rr_text why;
	int count = 0;

	for (; list && list[count]; count++)
		device_open(fabric, list[count], &why);
	if (list)
		fabric->library.free_device_list(list);
	if (count == 0)
		return rr_verbs_nothing_there(text);
	if (rr_list_empty(&fabric->devices))
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP, "no RDMA device is usable: %.160s", why.text);
	limits->remote_invalidation = true;
	rr_list_for_each (link, &fabric->devices) {
		const struct rr_verbs_device *device = rr_container(link, struct rr_verbs_device, link);

		limits->remote_invalidation &= device->windows;
		limits->receives_must_suffice |= device->iwarp;
	}
	return 0;
}

/* Destroys the shared receive queues, the protection domain and the completion channel of a device, as far
 * as they exist. */
static void
device_stop(struct rr_verbs_device *device)
{
	const struct rr_verbs_library *library = &device->fabric->library;

	for (int i = 0; i < 2; i++) {
		if (device->receives[i].srq)
			library->destroy_srq(device->receives[i].srq);
		rr_verbs_pool_destroy(&device->receives[i].pool);
		device->receives[i].srq = NULL;
	}
	rr_verbs_pool_destroy(&device->domain.sends);
	if (device->domain.pd)
		library->dealloc_pd(device->domain.pd);
	if (device->channel)
		library->destroy_comp_channel(device->channel);
	device->domain.pd = NULL;
	device->channel = NULL;
}

/* Makes a shared receive queue and the pool of buffers for it. The queue has the configured size, or the
 * largest size that the device allows if that is smaller. */
static int
device_make_receives(struct rr_verbs_device *device, struct rr_verbs_receives *receives)
{
	struct rr_verbs_fabric *fabric = device->fabric;
	const struct rr_fabric_config *config = &fabric->base.config;
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = config->receive_max, .max_sge = 1 } };

	if (attr.attr.max_wr > (uint32_t)device->attr.max_srq_wr)
		attr.attr.max_wr = (uint32_t)device->attr.max_srq_wr;
	receives->device = device;
	receives->srq = fabric->library.create_srq(device->domain.pd, &attr);
	if (!receives->srq)
		return -RPCRDMA_ERR_SYSTEM;
	/* create_srq() may have raised max_wr to the size that the queue really has. */
	rr_verbs_pool_init(&receives->pool, fabric->env, &fabric->library, device->domain.pd,
		config->receive_size,
		attr.attr.max_wr < config->receive_max ? attr.attr.max_wr : config->receive_max);
	return 0;
}

/* Makes the protection domain of a device, its completion channel, its buffers for sending, and both of its
 * shared receive queues. */
static int
device_make_queues(struct rr_verbs_device *device)
{
	struct rr_verbs_fabric *fabric = device->fabric;

	/* After an error, the caller destroys what was made: device_stop(). */
	device->domain.pd = fabric->library.alloc_pd(device->context);
	device->channel = fabric->library.create_comp_channel(device->context);
	if (!device->channel || !device->domain.pd)
		return -RPCRDMA_ERR_SYSTEM;
	rr_verbs_pool_init(&device->domain.sends, fabric->env, &fabric->library, device->domain.pd,
		fabric->base.config.receive_size, UINT32_MAX);
	return device_make_receives(device, &device->receives[0]) == 0
		       ? device_make_receives(device, &device->receives[1])
		       : -RPCRDMA_ERR_SYSTEM;
}

/* Makes the queues of a device, and begins to watch for its completions. On failure, destroys what was made,
 * and returns -RPCRDMA_ERR_SYSTEM with the reason in text. */
static int
device_start(struct rr_verbs_device *device, struct rr_text *text)
{
	rr_task_init(&device->refill, rr_verbs_device_refill);
	if (device_make_queues(device) == 0 &&
		device_watch(device->fabric, &device->completions, device->channel->fd,
			rr_verbs_completions_ready) == 0) {
		device->started = true;
		return 0;
	}
	rr_fail(text, 0, "%s: cannot make its queues: %s", device->context->device->name, strerror(errno));
	device_stop(device);
	return -RPCRDMA_ERR_SYSTEM;
}

void
rr_verbs_device_close(struct rr_verbs_device *device)
{
	struct rr_verbs_fabric *fabric = device->fabric;

	rr_list_remove(&device->link);
	rr_loop_unwatch(fabric->base.loop, &device->events);
	if (device->started) {
		rr_task_cancel(&device->refill);
		rr_loop_unwatch(fabric->base.loop, &device->completions);
		device_stop(device);
	}
	device_discard(device);
}

void
rr_verbs_device_leave(struct rr_verbs_device *device)
{
	if (device->dead && !device->endpoints && !device->held)
		rr_verbs_device_close(device);
}

int
rr_verbs_device_find(struct rr_verbs_fabric *fabric, struct rdma_cm_id *id, struct rr_verbs_device **found,
	struct rr_text *text)
{
	struct ibv_device *wanted = id->verbs->device;
	struct rr_verbs_device *device = NULL;
	struct rr_text why;

	rr_list_for_each (link, &fabric->devices) {
		struct rr_verbs_device *candidate = rr_container(link, struct rr_verbs_device, link);

		if (!candidate->dead && strcmp(candidate->context->device->name, wanted->name) == 0)
			device = candidate;
	}
	if (!device)
		device = device_open(fabric, wanted, &why); /* the device came after the fabric was made */
	if (!device)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the RDMA device %s cannot be used: %.160s",
			wanted->name, why.text);
	/* The fabric has promised Send With Invalidate to its user; a device without memory windows cannot do
	 * it. */
	if (fabric->ops.limits.remote_invalidation && !device->windows)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"the RDMA device %s came late and can do less than the others", wanted->name);
	*found = device;
	return device->started ? 0 : device_start(device, text);
}
