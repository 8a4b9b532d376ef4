/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_ENDPOINT_H
#define RR_FABRIC_VERBS_ENDPOINT_H

#include "base/cache.h"
#include "fabric/fabric.h"
#include "fabric/verbs/pool.h"
#include "fabric/verbs/verbs.h"

/* What the files of this provider share. */

enum {
	RR_VERBS_PRIVATE_MAX = 56, /* what a connection request of InfiniBand and RoCE has room for */
	RR_VERBS_BATCH = 32        /* completions and work requests at a time */
};

struct rr_verbs_fabric {
	struct rr_fabric base;
	struct rr_fabric_ops ops; /* with the limits of the devices that are there */
	const struct rr_env *env;
	struct rr_verbs_library library;
	struct rdma_event_channel *channel;
	struct rr_watch watch;
	struct rr_list devices, listeners;
	int address_fd; /* tells that addresses of this machine have changed; -1: nobody does */
	struct rr_watch addresses;
	struct rr_timer settled; /* since the last change */
	struct rr_list living;   /* endpoints that are not closed */
	struct rr_list closed;   /* endpoints whose queues linger (endpoint.c) */
	struct rr_cache works;   /* their memory */
};

/* Where local memory is registered for sending. */
struct rr_verbs_domain {
	struct ibv_pd *pd;
	struct rr_verbs_pool sends;
};

/*
 * A shared receive queue and the receives for it. Endpoints that connected have one, those that were accepted
 * another one: what comes to these may hold all receives until those have got an answer.
 */
struct rr_verbs_receives {
	struct rr_verbs_device *device;
	struct ibv_srq *srq;
	struct rr_verbs_pool pool;
	uint32_t posted;  /* receives in the queue */
	uint64_t allowed; /* Sends, by all endpoints with this queue */
};

/* A device in use: its own context, so that its events are this fabric's alone. */
struct rr_verbs_device {
	struct rr_list link;
	struct rr_verbs_fabric *fabric;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	uint32_t max_message;
	bool iwarp, windows;
	uint8_t key;          /* of the last window */
	unsigned invalidated; /* flags of a completion: the peer invalidated a window */
	bool started;         /* what follows exists */
	bool dead;            /* removed: no new endpoints, and closed once nothing of it is in use */
	struct rr_verbs_domain domain; /* of all endpoints where there are windows; of receives in any case */
	struct ibv_comp_channel *channel;
	struct rr_verbs_receives receives[2]; /* of endpoints that were accepted, and that connected */
	struct rr_watch completions, events;
	struct rr_task refill;
	uint32_t endpoints; /* with a queue pair here */
	uint32_t held;      /* receives that the caller has */
};

struct rr_verbs_listener {
	struct rr_listener base;
	struct rr_list link; /* in rr_verbs_fabric.listeners */
	struct rdma_cm_id *id;
};

enum rr_verbs_state {
	RR_VERBS_RESOLVING,  /* address, then route */
	RR_VERBS_CONNECTING, /* the request is on its way */
	RR_VERBS_REQUESTED,  /* by the peer: neither accepted nor rejected */
	RR_VERBS_ACCEPTED,   /* but the handler has not had ESTABLISHED */
	RR_VERBS_ESTABLISHED,
	RR_VERBS_ENDED, /* its handler has not had DISCONNECTED */
	RR_VERBS_DISCONNECTED,
	RR_VERBS_CLOSED,
	RR_VERBS_STATES
};

/* What makes an endpoint act; endpoint.c has the table of states and events. */
enum rr_verbs_event {
	RR_VERBS_TURN,    /* its task is due */
	RR_VERBS_OVERDUE, /* its timer is: what it limits takes too long */
	RR_VERBS_EVENTS
};

struct rr_verbs_region {
	struct rr_list link; /* in rr_verbs_endpoint.regions */
	struct ibv_mr *mr;
	struct ibv_mw *mw;          /* where the device has windows */
	struct rr_verbs_work *bind; /* until it has completed */
};

enum { RR_VERBS_BIND = RR_WORK_READ + 1, RR_VERBS_KICK };

/*
 * A work request, or a window to be bound on the way. It becomes one request of the queue pair, or several
 * slices, where it has more sges or octets than one can have.
 *
 * It is in the endpoint's queue until its last slice was posted, then among the posted ones until it
 * completes. It owns the registrations of its payload and the buffer with a copy of it, and gives them back
 * when it completes or is forgotten.
 */
struct rr_verbs_work {
	struct rr_list link;
	int kind; /* enum rr_work_kind or the above */
	void *cookie;
	uint32_t length, remote_handle;
	uint64_t remote_offset;
	bool inlined;    /* the payload goes into the request: it needs no registration */
	bool finished;   /* all slices were posted */
	uint32_t slices; /* posted and not completed */
	uint32_t at_sge, at_offset, at_length; /* where the next slice begins */
	uint32_t sge_count, mr_count;
	struct rr_verbs_buffer *buffer;
	struct rr_verbs_region *region; /* to bind, with sges[0], access and remote_handle */
	unsigned access;
	struct ibv_sge sges[RR_MAX_SGE]; /* from here on, not cleared for a new one */
	struct ibv_mr *mrs[RR_MAX_SGE];
};

/*
 * An endpoint has a queue pair and a completion queue of its own, so that nothing of another connection,
 * living or dead, can be taken for its own, and an overrun costs one connection.
 */
struct rr_verbs_endpoint {
	struct rr_endpoint base;
	struct rr_list link; /* in rr_verbs_fabric.living, then in closed */
	struct rr_task task;
	struct rr_timer
		timer; /* limits a disconnection in good order, and how long a closed queue pair lingers */
	enum rr_verbs_state state;
	struct rdma_cm_id *id;
	struct rr_verbs_device *device;
	struct rr_verbs_receives *receives;  /* the device's for its side */
	struct rr_verbs_domain own, *domain; /* domain: own or the device's */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t cq_receives, sq_size, sq_used, inline_max, sge_max;
	uint32_t cq_events; /* to be acknowledged */
	uint32_t spins;
	bool armed; /* the completion queue will tell */
	bool connects;
	bool connected; /* the end is to be signalled to the peer */
	bool disconnecting;
	bool lost; /* something was flushed, and nobody has said why */
	uint32_t allowed;
	struct rr_list queue, posted; /* of struct rr_verbs_work */
	struct rr_list regions;
	uint32_t region_count;
	struct ibv_wc *stash; /* completions that were taken off the queue; the first stash_at are handled */
	uint32_t stashed, stash_at, stash_room;
	uint8_t responder_resources, initiator_depth; /* what the peer asks for */
	/* Ours; once the peer has rejected the connection, what came with that. */
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

/* The fabric that an endpoint belongs to. */
static inline struct rr_verbs_fabric *
rr_verbs_fabric(const struct rr_verbs_endpoint *endpoint)
{
	return rr_verbs_fabric_of(endpoint->base.fabric);
}

/* find.c */

/* The first device that the kernel has, whether it can be used or not. */
bool rr_verbs_kernel_device(char name[RR_VERBS_NAME]);

/* Binds to a local address, to see which device has it. UNREACHABLE: none; text says so, or what else is in
 * the way. */
int rr_verbs_bind_to(const struct rr_verbs_library *library, struct rdma_event_channel *channel,
	struct sockaddr *local, char device[RR_VERBS_NAME], struct rr_text *text);

/* After create_event_channel() failed: why, and what to do. */
int rr_verbs_no_channel(struct rr_text *text);

/* The list of devices is empty: why, and what to do. -RPCRDMA_ERR_NOTSUP. */
int rr_verbs_nothing_there(struct rr_text *text);

/* After open_device() failed: why, and what to do. */
void rr_verbs_cannot_open(const struct ibv_device *device, struct rr_text *text);

/* addresses.c */

/* Ends connections whose own address is lost. Where the kernel does not tell of that, it is logged. */
void rr_verbs_addresses_watch(struct rr_verbs_fabric *fabric);
void rr_verbs_addresses_unwatch(struct rr_verbs_fabric *fabric);

/* device.c */

/* The device that id has been bound to; text says why there is none. */
int rr_verbs_device_find(struct rr_verbs_fabric *fabric, struct rdma_cm_id *id,
	struct rr_verbs_device **device, struct rr_text *text);

/* Opens what can be opened and sets the fabric's limits. -RPCRDMA_ERR_NOTSUP: nothing could be. */
int rr_verbs_devices_open(struct rr_verbs_fabric *fabric, struct rr_text *text);
void rr_verbs_device_close(struct rr_verbs_device *device);

/* Closes it if it was removed and nothing of it is in use: until then, the kernel keeps it. */
void rr_verbs_device_leave(struct rr_verbs_device *device);

/* Why nobody can use a device with these attributes, or NULL. */
const char *rr_verbs_device_lacks(const struct ibv_device_attr *attr);
bool rr_verbs_device_has_windows(const struct ibv_device_attr *attr);
bool rr_verbs_device_is_strict(const struct ibv_device_attr *attr); /* about locked memory */

/* event.c */

/* Handles what the device has to tell about queue pairs and itself. */
void rr_verbs_device_events(struct rr_verbs_device *device);

void rr_verbs_events_ready(struct rr_watch *watch, unsigned events);
void rr_verbs_completions_ready(struct rr_watch *watch, unsigned events);

/* refill.c */

void rr_verbs_device_refill(struct rr_task *task);

/* Takes a receive back into the pool. */
void rr_verbs_device_recycle(struct rr_verbs_device *device, struct rr_verbs_buffer *buffer);

/* end.c */

/* Changes the state, which is traced. */
void rr_verbs_set_state(struct rr_verbs_endpoint *endpoint, enum rr_verbs_state state);

/* Ends the connection, if it has not ended; the endpoint's task calls the handler. */
void rr_verbs_end(struct rr_verbs_endpoint *endpoint, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Nothing is sent or received any more; what is outstanding is flushed. */
void rr_verbs_stop(struct rr_verbs_endpoint *endpoint);

void rr_verbs_emit(struct rr_verbs_endpoint *endpoint, const struct rr_event *event);
void rr_verbs_established(struct rr_verbs_endpoint *endpoint, uint8_t *data, uint32_t size);
void rr_verbs_wake(struct rr_verbs_endpoint *endpoint);

/* endpoint.c */

struct rr_verbs_endpoint *rr_verbs_endpoint_new(struct rr_verbs_fabric *fabric);

void rr_verbs_endpoint_close(struct rr_endpoint *base);

/* The endpoint gives its queues back, and is buried. */
void rr_verbs_endpoint_end(struct rr_verbs_endpoint *endpoint);

/* queues.c */

/* Makes the queue pair on the device that the endpoint's id was bound to; text says why it failed. */
int rr_verbs_queues_make(struct rr_verbs_endpoint *endpoint, struct rr_text *text);
void rr_verbs_queues_destroy(struct rr_verbs_endpoint *endpoint);
void rr_verbs_allow(struct rr_endpoint *base, uint32_t count);

/* connect.c */

void rr_verbs_cm_ready(struct rr_watch *watch, unsigned events);
int rr_verbs_accept(struct rr_endpoint *base, const void *private_data, size_t size);

/* work.c */

int rr_verbs_post(struct rr_endpoint *base, const struct rr_work *work);
int rr_verbs_kick(struct rr_endpoint *base);

/* Queues the binding of a region's window; -RPCRDMA_ERR_NOMEM. */
int rr_verbs_bind(struct rr_verbs_endpoint *endpoint, struct rr_verbs_region *region, void *addr,
	uint32_t length, unsigned access, uint32_t handle);

/* Takes work out of its list and frees all that it has. */
void rr_verbs_work_free(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work);

/* The same, and tells the handler where it wants to know. */
void rr_verbs_work_complete(struct rr_verbs_endpoint *endpoint, struct rr_verbs_work *work, int status);

/* post.c */

/* Posts what the queue pair has room for. */
void rr_verbs_post_queue(struct rr_verbs_endpoint *endpoint);

/* completion.c */

/* Values of wr_id: a receive is marked, so that it is known where the operation is not. */
enum { RR_VERBS_RECEIVE = 1 };

/* Makes room in the stash for a batch more: that is what polling takes. False: there is no memory. */
bool rr_verbs_stash_room(struct rr_verbs_endpoint *endpoint);

/* Handles what has completed, up to a batch; how many there were. */
int rr_verbs_poll(struct rr_verbs_endpoint *endpoint);

/* Handles all that has completed. */
void rr_verbs_drain(struct rr_verbs_endpoint *endpoint);

/* Waits, for a bounded time, until bind has completed, without telling any handler. Ends the connection if
 * not. */
void rr_verbs_await(struct rr_verbs_endpoint *endpoint, const struct rr_verbs_region *region);

/* Gives the receives back that have completed and are not wanted any more. */
void rr_verbs_discard(struct rr_verbs_endpoint *endpoint);

/* region.c */

int rr_verbs_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region);
int rr_verbs_invalidate(struct rr_endpoint *base, struct rr_region *region);
int rr_verbs_revoke(struct rr_endpoint *base, struct rr_region *region);

/* Takes the peer's access to all of them. */
void rr_verbs_regions_close(struct rr_verbs_endpoint *endpoint);

#endif
