/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_ENDPOINT_H
#define RR_FABRIC_VERBS_ENDPOINT_H

#include "base/cache.h"
#include "fabric/fabric.h"
#include "fabric/verbs/pool.h"
#include "fabric/verbs/verbs.h"

/* Shared by the files of the provider. */

enum {
	RR_VERBS_PRIVATE_MAX = 56, /* the room in a connection request of InfiniBand and RoCE */
	/* The attempts to get a port from the connection manager that no socket of this machine has. */
	RR_VERBS_PORTS_TRIED = 16,
	RR_VERBS_BATCH = 32 /* completions and work requests at a time */
};

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

/* A listener of the provider. */
struct rr_verbs_listener {
	struct rr_listener base;
	struct rr_list link; /* in rr_verbs_fabric.listeners */
	struct rdma_cm_id *id;
};

/* The states of an endpoint. */
enum rr_verbs_state {
	RR_VERBS_RESOLVING,  /* the address, then the route is looked for */
	RR_VERBS_CONNECTING, /* the request was sent */
	RR_VERBS_REQUESTED,  /* the peer's request is neither accepted nor rejected */
	RR_VERBS_ACCEPTED,   /* the handler has not had ESTABLISHED yet */
	RR_VERBS_ESTABLISHED,
	RR_VERBS_ENDED, /* the handler has not had DISCONNECTED yet */
	RR_VERBS_DISCONNECTED,
	RR_VERBS_CLOSED,
	RR_VERBS_STATES
};

/* The events of an endpoint; endpoint.c has the table of states and events. */
enum rr_verbs_event {
	RR_VERBS_TURN,    /* its task is due */
	RR_VERBS_OVERDUE, /* its timer expired: an end takes too long */
	RR_VERBS_EVENTS
};

/* A registered region. */
struct rr_verbs_region {
	struct rr_list link; /* in rr_verbs_endpoint.regions */
	struct ibv_mr *mr;
	struct ibv_mw *mw;          /* NULL where the device has no windows */
	struct rr_verbs_work *bind; /* the binding of the window, until it has completed */
};

/* The kinds of works besides enum rr_work_kind. */
enum { RR_VERBS_BIND = RR_WORK_READ + 1, RR_VERBS_KICK };

/*
 * A work request of the owner, or the binding of a window. It is posted as one request of the queue pair, or
 * as several slices, where it has more sges or octets than a request can have.
 *
 * A work is in the endpoint's queue until its last slice was posted, then in the list `posted` until it
 * completes. It owns the registrations of its payload and the buffer with a copy of it, and gives them back
 * when it completes or is forgotten.
 */
struct rr_verbs_work {
	struct rr_list link;
	int kind; /* an enum rr_work_kind, RR_VERBS_BIND or RR_VERBS_KICK */
	void *cookie;
	uint32_t length, remote_handle;
	uint64_t remote_offset;
	bool inlined;    /* the payload goes into the request: it needs no registration */
	bool finished;   /* all slices were posted */
	uint32_t slices; /* slices that were posted and have not completed */
	uint32_t at_sge, at_offset, at_length; /* the place at which the next slice begins */
	uint32_t sge_count, mr_count;
	struct rr_verbs_buffer *buffer;
	struct rr_verbs_region *region; /* to bind, with sges[0], access and remote_handle */
	unsigned access;
	struct ibv_sge sges[RR_MAX_SGE]; /* these members are not cleared for a new work */
	struct ibv_mr *mrs[RR_MAX_SGE];
};

/*
 * An endpoint of the provider. It has a queue pair and a completion queue of its own, so that a completion of
 * another connection, living or dead, is never taken for one of its own, and an overrun ends one connection
 * only.
 */
struct rr_verbs_endpoint {
	struct rr_endpoint base;
	struct rr_list link; /* in rr_verbs_fabric.living, then in closed */
	struct rr_task task;
	/* Limits a disconnection in good order; after closing, the time for which the queue pair stays. */
	struct rr_timer timer;
	enum rr_verbs_state state;
	struct rdma_cm_id *id;
	struct rr_verbs_device *device;
	struct rr_verbs_receives *receives;  /* the queue of the device for this endpoint's side */
	struct rr_verbs_domain own, *domain; /* domain: own or the device's */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	/* Receives that the completion queue has room for; requests that the send queue has room for;
	 * requests in the send queue; the most octets of a payload that goes into a request; the most sges of
	 * a request. */
	uint32_t cq_receives, sq_size, sq_used, inline_max, sge_max;
	uint32_t cq_events;   /* events of the completion queue that are to be acknowledged */
	uint32_t spins;       /* polls in vain since the last completion or the last wake-up */
	uint32_t ports_tried; /* local ports with which connecting failed, as a socket had them */
	bool armed;           /* an event comes at the next completion */
	bool connects;        /* this side began the connection */
	bool connected;       /* the peer is to be sent a disconnection at the end */
	bool disconnecting; /* the owner wants the connection to end when all work requests have completed */
	bool lost;          /* something was flushed, and the reason is not known yet */
	uint32_t allowed;   /* Sends that the peer may still send */
	struct rr_list queue, posted; /* of struct rr_verbs_work */
	struct rr_list regions;       /* of struct rr_verbs_region */
	uint32_t region_count;
	/* Completions that were taken off the queue; the first stash_at of them were handled. */
	struct ibv_wc *stash;
	uint32_t stashed, stash_at, stash_room;
	uint8_t responder_resources, initiator_depth; /* the RDMA Reads at a time that the peer asks for */
	/* The private data of this side; once the peer has rejected the connection, that of the rejection. */
	uint8_t private_data[UINT8_MAX];
	uint8_t private_size;
	int status;
	struct rr_text text;
};

static inline struct rr_verbs_fabric *
rr_verbs_fabric_of(struct rr_fabric *fabric)
{
	return rr_container(fabric, struct rr_verbs_fabric, base);
}

static inline struct rr_verbs_listener *
rr_verbs_listener_of(struct rr_listener *listener)
{
	return rr_container(listener, struct rr_verbs_listener, base);
}

static inline struct rr_verbs_endpoint *
rr_verbs_endpoint_of(struct rr_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_verbs_endpoint, base);
}

/* Returns the provider's fabric that an endpoint belongs to. */
static inline struct rr_verbs_fabric *
rr_verbs_fabric(const struct rr_verbs_endpoint *endpoint)
{
	return rr_verbs_fabric_of(endpoint->base.fabric);
}

/* find.c */

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

/* addresses.c */

/* Begins to watch for local addresses that this machine loses. A connection whose local address is lost is
 * ended. If the kernel does not report lost addresses, the log says so. */
void rr_verbs_addresses_watch(struct rr_verbs_fabric *fabric);
/* Ends the watch for lost addresses, if there is one. */
void rr_verbs_addresses_unwatch(struct rr_verbs_fabric *fabric);

/* device.c */

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

/* event.c */

/* Handles the events that a device has reported, which are about its queue pairs, completion queues or the
 * device itself. */
void rr_verbs_device_events(struct rr_verbs_device *device);

/* The loop calls this when a device has events: handles them. If the device was removed and is not in use any
 * more, closes it. */
void rr_verbs_events_ready(struct rr_watch *watch, unsigned events);
/* The loop calls this when completion queues on a device have events: the tasks of their endpoints then poll
 * for completions. */
void rr_verbs_completions_ready(struct rr_watch *watch, unsigned events);

/* refill.c */

/* Runs as a task of the device: posts receive buffers to both of its shared receive queues. Each queue is to
 * have a buffer for each Send that the peers may still send, and one more; it gets fewer if the pool has no
 * more buffers. */
void rr_verbs_device_refill(struct rr_task *task);

/* Gives a receive buffer back to its pool, and schedules the device's task refill, which may post it again.
 */
void rr_verbs_device_recycle(struct rr_verbs_device *device, struct rr_verbs_buffer *buffer);

/* end.c */

/* Changes the state of the endpoint, and writes a trace of that. */
void rr_verbs_set_state(struct rr_verbs_endpoint *endpoint, enum rr_verbs_state state);

/* Ends the connection, if it has not ended, with status and a text for the owner; the endpoint's task then
 * calls the owner's handler with DISCONNECTED. */
void rr_verbs_end(struct rr_verbs_endpoint *endpoint, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Asks the connection manager to disconnect, if that was not done before. Puts the queue pair into its error
 * state: nothing is sent or received any more, and outstanding requests are flushed. */
void rr_verbs_stop(struct rr_verbs_endpoint *endpoint);

/* Calls the handler of the endpoint's owner with an event. */
void rr_verbs_emit(struct rr_verbs_endpoint *endpoint, const struct rr_event *event);
/* Changes the state to ESTABLISHED, and calls the owner's handler with ESTABLISHED and the peer's private
 * data. */
void rr_verbs_established(struct rr_verbs_endpoint *endpoint, uint8_t *data, uint32_t size);
/* Schedules the endpoint's task, as there is work for it to do: the task polls for completions again. Has no
 * effect on a closed endpoint. */
void rr_verbs_wake(struct rr_verbs_endpoint *endpoint);

/* endpoint.c */

/* Makes an endpoint without a queue pair. Returns NULL if there is no memory. */
struct rr_verbs_endpoint *rr_verbs_endpoint_new(struct rr_verbs_fabric *fabric);

/* Closes an endpoint: does what rr_endpoint_close() asks for. */
void rr_verbs_endpoint_close(struct rr_endpoint *base);

/* Destroys the queues of a closed endpoint, and frees the endpoint at the end of the turn of the loop. */
void rr_verbs_endpoint_end(struct rr_verbs_endpoint *endpoint);

/* queues.c */

/* Makes the queue pair and the completion queue of the endpoint, on the device that the endpoint's id was
 * bound to. An error has its reason in text. */
int rr_verbs_queues_make(struct rr_verbs_endpoint *endpoint, struct rr_text *text);
/* Destroys the queue pair and the completion queue of the endpoint, if it has them. */
void rr_verbs_queues_destroy(struct rr_verbs_endpoint *endpoint);
/* Allows the peer count more Sends: does what rr_endpoint_allow() asks for. Makes the completion queue larger
 * if it has no room for so many receives; if the device cannot do that, the queue stays as it is. Before the
 * endpoint has queues the Sends are only counted; rr_verbs_queues_make() then makes room for them. */
void rr_verbs_allow(struct rr_endpoint *base, uint32_t count);

/* connect.c */

/* Has the connection manager begin to look for the device that leads to the peer, with a new id. Returns -1,
 * with errno, if there is no new id; a later failure ends the endpoint's connection. */
int rr_verbs_resolve(struct rr_verbs_endpoint *endpoint, const struct sockaddr_storage *peer);

/* The loop calls this when the connection manager has events: handles these events. */
void rr_verbs_cm_ready(struct rr_watch *watch, unsigned events);
/* Accepts the peer's connection request: does what rr_endpoint_accept() asks for. Always returns 0: a failure
 * ends the connection. */
int rr_verbs_accept(struct rr_endpoint *base, const void *private_data, size_t size);

/* work.c */

/* Queues a work request, which the endpoint's task posts as soon as the queue pair has room: does what
 * rr_endpoint_post() asks for. */
int rr_verbs_post(struct rr_endpoint *base, const struct rr_work *work);
/* Queues a frame without contents: does what rr_endpoint_kick() asks for. */
int rr_verbs_kick(struct rr_endpoint *base);

/* Queues the request that binds the region's memory window to length octets at addr, with this handle and
 * the access that the peer gets. Returns -RPCRDMA_ERR_NOMEM if there is no memory. */
int rr_verbs_bind(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region, void *addr,
	uint32_t length, unsigned access, uint32_t handle);

/* Removes a work request from its list, and frees it with its registrations and its buffer. */
void rr_verbs_work_free(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work);

/* Frees a work request as rr_verbs_work_free() does, and calls the owner's handler with the completion, if
 * the request has a cookie or failed. There is no such call for a binding or a kick. */
void rr_verbs_work_complete(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, int status);

/* post.c */

/* Posts the work requests of the endpoint's queue, as far as the queue pair has room for them. Ends the
 * connection if the device takes no work request. */
void rr_verbs_post_queue(struct rr_verbs_endpoint *endpoint);

/* completion.c */

/* A bit of wr_id that marks a receive: a completion that failed does not say which operation it was. */
enum { RR_VERBS_RECEIVE = 1 };

/* Makes room in the stash (completions that were taken off the queue) for RR_VERBS_BATCH more. Returns false
 * if there is no memory. */
bool rr_verbs_stash_room(struct rr_verbs_endpoint *endpoint);

/* Handles up to RR_VERBS_BATCH completions of work requests and receives. Returns the number of completions
 * that it has handled. Ends the connection if the queue cannot be polled, or if a completion showed that the
 * connection was lost. */
int rr_verbs_poll(struct rr_verbs_endpoint *endpoint);

/* Handles all completions of work requests and receives that there are, as long as the connection is up. */
void rr_verbs_drain(struct rr_verbs_endpoint *endpoint);

/* Waits until the binding of the region's window has completed. If that takes longer than a fixed time, ends
 * the connection. The owner's handler is not called meanwhile. */
void rr_verbs_await(struct rr_verbs_endpoint *endpoint, const struct rr_verbs_region *region);

/* Takes all completions off the queue after the connection has ended, and gives their receive buffers back
 * to the pool. */
void rr_verbs_discard(struct rr_verbs_endpoint *endpoint);

/* region.c */

/* Registers a region: does what rr_endpoint_register() asks for. The connection must be established. */
int rr_verbs_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region);
/* Ends the peer's access to a region, and frees the region: does what rr_endpoint_invalidate() asks for. */
int rr_verbs_invalidate(struct rr_endpoint *base, struct rr_region *region);
/* Ends the peer's access to a region, but keeps the region: does what rr_endpoint_revoke() asks for. */
int rr_verbs_revoke(struct rr_endpoint *base, struct rr_region *region);

/* Ends the peer's access to all regions of the endpoint, and frees the regions. */
void rr_verbs_regions_close(struct rr_verbs_endpoint *endpoint);

#endif
