/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_DEVICE_H
#define RR_FABRIC_VERBS_DEVICE_H

#include "base/cache.h"
#include "fabric/fabric.h"
#include "fabric/verbs/pool.h"
#include "fabric/verbs/verbs.h"

/* The fabric of the provider, and the devices that it uses, with what their endpoints share: protection
 * domains and receives. */

/* The provider's fabric. */
struct rr_verbs_fabric {
	struct rr_fabric base;
	struct rr_fabric_ops ops; /* with the limits of the devices of this machine */
	const struct rr_env *env;
	struct rr_verbs_library library;
	struct rdma_event_channel *channel;
	struct rr_watch watch;
	struct rr_list devices, listeners;
	int address_fd;            /* has messages about removed addresses; -1: there are no such messages */
	struct rr_watch addresses; /* of address_fd */
	struct rr_timer settled;   /* armed by each message: expires a moment after the last one */
	struct rr_list living;     /* endpoints that are not closed */
	struct rr_list closed;     /* endpoints whose queues linger (endpoint.c) */
	struct rr_cache works;     /* free works */
};

/* A protection domain, in which local memory is registered for sending. */
struct rr_verbs_domain {
	struct ibv_pd *pd;
	struct rr_verbs_pool sends; /* buffers for copies of payload that leaves */
};

/*
 * A shared receive queue and the receives for it. Endpoints that connected share a queue, and those that were
 * accepted share another one: Sends to the accepted ones may hold all of their receives until the connected
 * ones have got an answer.
 */
struct rr_verbs_receives {
	struct rr_verbs_device *device;
	struct ibv_srq *srq;
	struct rr_verbs_pool pool;
	uint32_t posted;  /* receives in the queue */
	uint64_t allowed; /* Sends that the peers of all endpoints with this queue are allowed */
};

/* A device in use. Its context is this fabric's own, so that the fabric gets all of its events. */
struct rr_verbs_device {
	struct rr_list link;
	struct rr_verbs_fabric *fabric;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	uint32_t max_message; /* octets of one message */
	bool iwarp, windows;  /* the device is one of iWARP; it has memory windows of type 2 */
	uint8_t key;          /* the lowest eight bits of the last window's handle */
	unsigned invalidated; /* the flags of a completion that say that the peer invalidated a window */
	bool started;         /* the members below exist */
	/* Removed: gets no new endpoints, and is closed once it is not in use any more. */
	bool dead;
	/* The domain of the receives. If the device has windows, also of all endpoints. */
	struct rr_verbs_domain domain;
	struct ibv_comp_channel *channel; /* has the events of all completion queues on the device */
	/* [0]: of endpoints that were accepted, [1]: of those that connected. */
	struct rr_verbs_receives receives[2];
	struct rr_watch completions, events;
	struct rr_task refill; /* posts receives */
	uint32_t endpoints;    /* endpoints with a queue pair on this device */
	uint32_t held;         /* receives that the caller has */
};

static inline struct rr_verbs_fabric *
rr_verbs_fabric_of(struct rr_fabric *fabric)
{
	return rr_container(fabric, struct rr_verbs_fabric, base);
}

/* ---- find.c ---- */

/* Sets name to the name of the first RDMA device that the kernel has, even if it cannot be used. Returns
 * false if the kernel has no such device. */
bool rr_verbs_kernel_device(char name[RR_VERBS_NAME]);

/* Sets device to the name of the device that has the local address, by binding to that address. Returns
 * -RPCRDMA_ERR_UNREACHABLE if no device has it; text has the reason of this and of any other error. */
int rr_verbs_bind_to(const struct rr_verbs_library *library, struct rdma_event_channel *channel,
	struct sockaddr *local, char device[RR_VERBS_NAME], struct rr_text *text);

/* Sets text to the reason why create_event_channel() failed, and to what the user can do. Returns the error
 * code for that reason. */
int rr_verbs_no_channel(struct rr_text *text);

/* Sets text to the reason why the list of devices is empty, and to what the user can do. Returns
 * -RPCRDMA_ERR_NOTSUP. */
int rr_verbs_nothing_there(struct rr_text *text);

/* Sets text to the reason why open_device() failed, and to what the user can do. */
void rr_verbs_cannot_open(const struct ibv_device *device, struct rr_text *text);

/* ---- addresses.c ---- */

/* Begins to watch for local addresses that this machine loses. A connection whose local address is lost is
 * ended. If the kernel does not report lost addresses, the log says so. */
void rr_verbs_addresses_watch(struct rr_verbs_fabric *fabric);
/* Ends the watch for lost addresses, if there is one. */
void rr_verbs_addresses_unwatch(struct rr_verbs_fabric *fabric);

/* ---- device.c ---- */

/* Sets *device to the device that id was bound to, and makes the queues of that device if it has none yet.
 * An error has its reason in text. */
int rr_verbs_device_find(struct rr_verbs_fabric *fabric, struct rdma_cm_id *id,
	struct rr_verbs_device **device, struct rr_text *text);

/* Opens all devices of the machine that can be used, and sets the fabric's limits to those that hold for all
 * of these devices. Returns an error if no device can be used; text then has the reason, if there are several
 * devices that of the last one. */
int rr_verbs_devices_open(struct rr_verbs_fabric *fabric, struct rr_text *text);
/* Destroys what the fabric has made on a device, closes the device, and frees its structure. No endpoint may
 * use the device any more. */
void rr_verbs_device_close(struct rr_verbs_device *device);

/* Closes a device if it was removed from the machine and nothing of it is in use any more. The kernel
 * removes the device only after it is closed. */
void rr_verbs_device_leave(struct rr_verbs_device *device);

/* Returns the reason why a device with these attributes cannot be used by any fabric, or NULL if it can be
 * used. */
const char *rr_verbs_device_lacks(const struct ibv_device_attr *attr);
/* Whether a device with these attributes has memory windows of type 2. */
bool rr_verbs_device_has_windows(const struct ibv_device_attr *attr);
/* Whether a device with these attributes applies the limit of locked memory to privileged processes, too. */
bool rr_verbs_device_is_strict(const struct ibv_device_attr *attr);

/* ---- event.c ---- */

/* Handles the events that a device has reported, which are about its queue pairs, completion queues or the
 * device itself. */
void rr_verbs_device_events(struct rr_verbs_device *device);

/* The loop calls this when a device has events: handles them. If the device was removed and is not in use any
 * more, closes it. */
void rr_verbs_events_ready(struct rr_watch *watch, unsigned events);
/* The loop calls this when completion queues on a device have events: the tasks of their endpoints then poll
 * for completions. */
void rr_verbs_completions_ready(struct rr_watch *watch, unsigned events);

/* ---- refill.c ---- */

/* Runs as a task of the device: posts receive buffers to both of its shared receive queues. Each queue is to
 * have a buffer for each Send that the peers may still send, and one more; it gets fewer if the pool has no
 * more buffers. */
void rr_verbs_device_refill(struct rr_task *task);

/* Gives a receive buffer back to its pool, and schedules the device's task refill, which may post it again.
 */
void rr_verbs_device_recycle(struct rr_verbs_device *device, struct rr_verbs_buffer *buffer);

#endif
