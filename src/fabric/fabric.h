/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FABRIC_H
#define RR_FABRIC_FABRIC_H

#include <rpcrdma/error.h>
#include <sys/socket.h>

#include "base/address.h"
#include "base/loop.h"
#include "base/text.h"

/*
 * The RDMA provider interface: what RPC-over-RDMA needs of RDMA (RFC 8166,
 * section 2.3.2), and no more.
 *
 *   fabric    a provider at work in one event loop
 *   listener  a local address at which connections arrive
 *   endpoint  one connection, either side: Sends, RDMA Reads, RDMA Writes, in
 *             order, with a completion for each
 *   region    registered memory, valid for one endpoint between registration
 *             and invalidation
 *   receive   a buffer of the pool that all endpoints of the fabric share (but see receive_max)
 *
 * Everything happens in the thread that runs the loop. Handlers are called
 * from rr_loop_turn() only, never from inside a function of this interface.
 *
 * Who owns what: memory named by a work request or a region stays the
 * caller's and must stay valid until the request completes or the region is
 * invalidated. A receive is the caller's from the event that brings it until
 * rr_fabric_release().
 */

struct rr_fabric;
struct rr_listener;
struct rr_spread_member;
struct rr_endpoint;

enum rr_access { RR_REMOTE_READ = 1, RR_REMOTE_WRITE = 2 };

enum { RR_MAX_SGE = 16 };

struct rr_sge {
	const void *addr; /* written to by an RDMA Read, only read from otherwise */
	uint32_t length;
};

/*
 * A registered region, as its endpoint's owner holds it. RFC 8166, 2.3.2: it "MUST be identified with a
 * steering tag of no more than 32 bits and memory addresses of up to 64 bits in length."
 */
struct rr_region {
	uint32_t handle; /* the steering tag, which the peer gets; never 0 */
	uint32_t length;
	uint64_t offset; /* the offset of the region's first octet, as the peer gets it */
	void *provider;  /* the provider's own */
};

enum rr_work_kind {
	RR_WORK_SEND,            /* one message into the peer's next receive */
	RR_WORK_SEND_INVALIDATE, /* the same, and the peer's region remote_handle becomes invalid */
	RR_WORK_WRITE,           /* RDMA Write of the sges to remote_handle, remote_offset */
	RR_WORK_READ             /* RDMA Read of the sges' length from there; one sge */
};

/* A work request. The sge array need not outlive the call of rr_endpoint_post(), what it points to must. */
struct rr_work {
	enum rr_work_kind kind;
	uint32_t sge_count;
	const struct rr_sge *sges;
	uint32_t remote_handle;
	uint64_t remote_offset;
	void *cookie;  /* comes back with the completion; NULL: no event if it succeeds */
	bool may_copy; /* whoever posts takes RR_POST_COPIED for an answer */
};

/* A result of rr_endpoint_post() beside 0 and errors: the provider has copied the Send, which is complete.
 * No event follows. */
enum { RR_POST_COPIED = 1 };

enum rr_event_kind {
	RR_EVENT_ESTABLISHED, /* after connect or accept; private data of the peer (connect side only) */
	/* The last event of an endpoint; status and text say why. Also where connecting failed. Status 0:
	 * this side disconnected; -RPCRDMA_ERR_DISCONNECTED: the peer did, or the connection was lost. */
	RR_EVENT_DISCONNECTED,
	RR_EVENT_COMPLETED, /* a work request with a cookie, or any that failed: kind, cookie, status */
	RR_EVENT_RECEIVED   /* a Send of the peer arrived: receive, and the handle that it invalidated */
};

struct rr_event {
	enum rr_event_kind kind;
	int status; /* 0, or the error of a completion or a disconnection; -RPCRDMA_ERR_CANCELLED: flushed */
	const char *text;       /* DISCONNECTED: why, for people who know of whom; valid during the handler */
	enum rr_work_kind work; /* COMPLETED */
	void *cookie;           /* COMPLETED */
	/* RECEIVED: the receive. ESTABLISHED, and DISCONNECTED where the peer rejected the connection: its
	 * private data, during the handler. */
	uint8_t *data;
	uint32_t length;  /* octets of data */
	bool invalidated; /* RECEIVED: by Send With Invalidate */
	uint32_t invalidated_handle;
};

typedef void rr_endpoint_handler(void *ctx, const struct rr_event *event);

/* A connection request at a listener. The handler accepts or rejects endpoint, at once or later; private_data
 * is there until it does. */
typedef void rr_listener_handler(
	void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size);

struct rr_fabric_config {
	uint32_t receive_size; /* octets of each receive: the largest Send that can arrive */
	/* How many of them may be out at a time at the endpoints that were accepted, all together; twice as
	 * many where one waits for data behind a Send. Those that connected have at least as many for
	 * themselves. */
	uint32_t receive_max;
	uint32_t work_max;   /* how many work requests an endpoint may have outstanding */
	uint32_t read_max;   /* RDMA Reads outstanding per endpoint, each way (IRD and ORD); 1 to 128 */
	uint32_t region_max; /* regions that an endpoint may have registered at a time */
	bool crc;            /* iWARP: ask for CRC32c */
	bool markers;        /* iWARP, for tests: ask the peer for markers in what it sends */
	bool peer_to_peer;   /* iWARP: ask for peer-to-peer mode, in which the responder may send first */
	bool reuse_port;     /* several fabrics (threads) listen at one address */
	struct rr_spread_member *spread; /* iWARP: by which these share connections; or NULL */
};

/* Enough for a client or one server thread; the caller changes what it wants. */
extern const struct rr_fabric_config rr_fabric_config_default;

/* For providers: whether nothing in config is 0 or out of range. */
bool rr_fabric_config_is_good(const struct rr_fabric_config *config);

struct rr_fabric_limits {
	uint32_t private_data_max; /* octets */
	uint32_t sge_max;          /* per work request */
	bool remote_invalidation;  /* Send With Invalidate can be sent and received */
	/* A Send of the peer that finds the pool empty ends its connection, instead of waiting. */
	bool receives_must_suffice;
};

/* What a listener is made from. */
struct rr_listen {
	const struct sockaddr *address;
	socklen_t size;
	rr_listener_handler *handler;
	void *ctx;
};

/* What a connection is made from. */
struct rr_connect {
	const struct sockaddr *address;
	socklen_t size;
	const void *private_data;
	size_t private_size;
	rr_endpoint_handler *handler;
	void *ctx;
};

/* What a provider implements. The front door (the functions below) has checked the arguments. */
struct rr_fabric_ops {
	const char *name;
	struct rr_fabric_limits limits;
	void (*destroy)(struct rr_fabric *fabric);
	int (*listen)(struct rr_fabric *fabric, const struct rr_listen *how, struct rr_listener **listener,
		struct rr_text *text);
	int (*listener_address)(struct rr_listener *listener, struct sockaddr_storage *address);
	void (*unlisten)(struct rr_listener *listener);
	int (*connect)(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
		struct rr_text *text);
	int (*accept)(struct rr_endpoint *endpoint, const void *private_data, size_t private_size);
	void (*reject)(struct rr_endpoint *endpoint, const void *private_data, size_t private_size);
	void (*allow)(struct rr_endpoint *endpoint, uint32_t count);
	void (*release)(struct rr_fabric *fabric, uint8_t *receive);
	bool (*is_short)(struct rr_fabric *fabric); /* NULL: it never is */
	int (*post)(struct rr_endpoint *endpoint, const struct rr_work *work);
	int (*kick)(struct rr_endpoint *endpoint);
	int (*register_region)(struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access,
		struct rr_region *region);
	int (*invalidate)(struct rr_endpoint *endpoint, struct rr_region *region);
	int (*revoke)(struct rr_endpoint *endpoint, struct rr_region *region);
	int (*corrupt)(struct rr_endpoint *endpoint); /* NULL: it cannot */
	void (*disconnect)(struct rr_endpoint *endpoint);
	void (*close)(struct rr_endpoint *endpoint);
};

/*
 * A provider's own structures begin with these, as a member named base; the provider finds its own structure
 * from the base by rr_container(). Nobody but the provider and the front door looks inside.
 */
struct rr_fabric {
	const struct rr_fabric_ops *ops;
	struct rr_loop *loop;
	struct rr_fabric_config config;
};

struct rr_listener {
	struct rr_fabric *fabric;
	rr_listener_handler *handler;
	void *ctx;
};

struct rr_endpoint {
	const struct rr_fabric_ops *ops;
	struct rr_fabric *fabric;
	rr_endpoint_handler *handler;
	void *ctx;
	uint32_t outstanding;       /* work requests posted and not completed; kept by the provider */
	uint64_t moved;             /* octets that the peer took, or brought; where the provider knows */
	char peer[RR_ADDRESS_TEXT]; /* "192.0.2.1:20049" or "[2001:db8::1]:20049", for messages */
	struct rr_grave grave;
};

/* For providers: frees an endpoint that is closed at the end of the turn, as its own handler may have closed
 * it. The provider's structure begins with endpoint. */
void rr_endpoint_bury(struct rr_endpoint *endpoint);

/* Puts filters before a fabric, which they own from then on. *fabric stays a fabric that is to be destroyed,
 * also after a failure. */
typedef int rr_fabric_filter(void *ctx, struct rr_fabric **fabric);

/* ---- The front door ---- */

const char *rr_fabric_name(const struct rr_fabric *fabric);
const struct rr_fabric_limits *rr_fabric_limits(const struct rr_fabric *fabric);
const struct rr_fabric_config *rr_fabric_config(const struct rr_fabric *fabric);
struct rr_loop *rr_fabric_loop(const struct rr_fabric *fabric);

/* Every listener and endpoint must have been closed. fabric may be NULL. Not inside a handler. */
void rr_fabric_destroy(struct rr_fabric *fabric);

/* Listens at address (port 0: any). Errors: SYSTEM (port in use, no permission: text says which), NOMEM. */
int rr_fabric_listen(struct rr_fabric *fabric, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text);

/* The address that it listens at, with the port that was chosen. */
int rr_listener_address(struct rr_listener *listener, struct sockaddr_storage *address);

/* No new requests; endpoints that were handed over live on, requests that were not are dropped. */
void rr_fabric_unlisten(struct rr_listener *listener);

/*
 * Begins to connect; ESTABLISHED or DISCONNECTED follows. Private data is copied.
 * Errors (at once): NOMEM, INVAL (private data too long, address family), SYSTEM.
 */
int rr_fabric_connect(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text);

/* Accepts a request that a listener handed over; ESTABLISHED (or DISCONNECTED) follows. */
int rr_endpoint_accept(struct rr_endpoint *endpoint, rr_endpoint_handler *handler, void *ctx,
	const void *private_data, size_t private_size);

/* Declines it; the endpoint is gone. */
void rr_endpoint_reject(struct rr_endpoint *endpoint, const void *private_data, size_t private_size);

/*
 * Allows the peer count more Sends: "posts count Receives". Each RECEIVED event uses one up. A Send that
 * arrives when none is left ends the connection; where the shared pool is empty, the endpoint waits for a
 * release instead. May be called before the connection is established: on the connect side right after
 * rr_fabric_connect(), on the accept side before rr_endpoint_accept().
 */
void rr_endpoint_allow(struct rr_endpoint *endpoint, uint32_t count);

/* Gives a receive back to the pool. */
void rr_fabric_release(struct rr_fabric *fabric, uint8_t *receive);

/* Whether some endpoint waits for that. */
bool rr_fabric_is_short(struct rr_fabric *fabric);

/*
 * Posts a work request: they start in the order of their posting, Sends and Writes also complete and arrive
 * in that order; a Read may complete later than what was posted after it. The work requests of one turn of
 * the loop leave together at its end. 0; RR_POST_COPIED for a Send, if work->may_copy. Errors: LIMIT
 * (work_max outstanding), DISCONNECTED, NOMEM, INVAL.
 */
int rr_endpoint_post(struct rr_endpoint *endpoint, const struct rr_work *work);

/* Sends a frame that carries nothing (iWARP: a zero-length RDMA Write): it wakes a peer that missed our first
 * one. */
int rr_endpoint_kick(struct rr_endpoint *endpoint);

/*
 * Registers length (above 0) octets at addr for the peer. Errors: LIMIT (region_max), NOMEM, INVAL,
 * DISCONNECTED (an adapter needs the connection for it).
 */
int rr_endpoint_register(
	struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access, struct rr_region *region);

/*
 * Ends the peer's access before it returns; also for a region that the peer has invalidated already (no
 * effect then). If the peer is in the middle of reading from or writing to it, the connection ends.
 * region->handle becomes 0. An error, which only an adapter can have: the peer may have access until the
 * endpoint is closed.
 */
int rr_endpoint_invalidate(struct rr_endpoint *endpoint, struct rr_region *region);

/*
 * Ends the peer's access as rr_endpoint_invalidate() does, but the handle stays known until that is called: a
 * peer that does not know of this may still Send With Invalidate. Over an RDMA adapter the handle is not
 * known any more, and such a Send ends the connection. Errors are as there.
 */
int rr_endpoint_revoke(struct rr_endpoint *endpoint, struct rr_region *region);

/*
 * For tests: the next frame that leaves is damaged in one place on its way, below the checksum that the peer
 * looks at. -RPCRDMA_ERR_NOTSUP where there is no such checksum.
 */
int rr_endpoint_corrupt(struct rr_endpoint *endpoint);

/*
 * Ends the connection in good order: what was posted before still leaves if the peer takes it. DISCONNECTED
 * follows, after the completions of all that was outstanding. No effect on one that is disconnected.
 */
void rr_endpoint_disconnect(struct rr_endpoint *endpoint);

/*
 * Ends the connection at once, if it has not ended, and frees the endpoint: its regions are invalid, its work
 * requests forgotten, and no event comes any more. Also allowed inside its own handler.
 */
void rr_endpoint_close(struct rr_endpoint *endpoint);

/* Octets that the peer took and brought so far, as far as the provider knows before work requests complete.
 */
uint64_t rr_endpoint_moved(const struct rr_endpoint *endpoint);

/* The peer's address, for messages. */
const char *rr_endpoint_peer(const struct rr_endpoint *endpoint);

/* Whose endpoint it is. */
struct rr_fabric *rr_endpoint_fabric(const struct rr_endpoint *endpoint);

#endif
