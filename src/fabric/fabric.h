/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FABRIC_H
#define RR_FABRIC_FABRIC_H

#include <rpcrdma/error.h>
#include <sys/socket.h>

#include "base/address.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/tls/handshakes.h"
#include "base/tls/tls.h"

/*
 * The RDMA provider interface: the RDMA operations that RPC-over-RDMA needs (RFC 8166, section 2.3.2), and no
 * more.
 *
 *   fabric    a provider at work in one event loop
 *   listener  a local address at which connections arrive
 *   endpoint  one connection, either side: Sends, RDMA Reads, RDMA Writes, in
 *             order, with a completion for each
 *   region    registered memory, valid for one endpoint between registration
 *             and invalidation
 *   receive   a buffer of the pool that all endpoints of the fabric share (but see receive_max)
 *
 * Everything happens in the thread that runs the loop. Handlers are called from rr_loop_turn() only, never
 * from inside a function of this interface.
 *
 * Ownership: memory named by a work request or a region stays the caller's and must stay valid until the
 * request completes or the region is invalidated. A receive is the caller's from the event that brings it
 * until rr_fabric_release().
 */

struct rr_fabric;
struct rr_listener;
struct rr_spread_member;
struct rr_endpoint;

/* The access that the peer has to a region. */
enum rr_access { RR_REMOTE_READ = 1, RR_REMOTE_WRITE = 2 };

/* The most sges of a work request, of any provider. */
enum { RR_MAX_SGE = 16 };

/* A piece of memory of a work request. */
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

/* The kinds of work requests. */
enum rr_work_kind {
	RR_WORK_SEND,            /* a message into the peer's next receive */
	RR_WORK_SEND_INVALIDATE, /* likewise, and the peer's region remote_handle becomes invalid */
	RR_WORK_WRITE,           /* RDMA Write of the sges to remote_handle, remote_offset */
	RR_WORK_READ             /* RDMA Read of as many octets from there; exactly one sge */
};

/* A work request. The sge array need not outlive the call of rr_endpoint_post(); the memory that it points to
 * must. */
struct rr_work {
	enum rr_work_kind kind;
	uint32_t sge_count;
	const struct rr_sge *sges;
	uint32_t remote_handle;
	uint64_t remote_offset;
	void *cookie;  /* comes back with the completion; NULL: there is no event if the request succeeds */
	bool may_copy; /* the caller of rr_endpoint_post() accepts the result RR_POST_COPIED */
};

/* A result of rr_endpoint_post() beside 0 and errors: the provider has copied the data of the Send or RDMA
 * Write, whose memory is no longer needed. The request is complete, and no event follows. All Sends and
 * Writes that were posted before it are complete then. */
enum { RR_POST_COPIED = 1 };

/* The kinds of events of an endpoint. */
enum rr_event_kind {
	RR_EVENT_ESTABLISHED, /* after connect or accept; with the peer's private data (connect side only) */
	/* The last event of an endpoint, also where connecting failed; status and text say why it ended.
	 * Status 0: this side disconnected; -RPCRDMA_ERR_DISCONNECTED: the peer did, or the connection was
	 * lost. */
	RR_EVENT_DISCONNECTED,
	RR_EVENT_COMPLETED, /* a work request with a cookie, or any request that failed: work, cookie, status
			     */
	RR_EVENT_RECEIVED   /* a Send of the peer arrived: its receive, and the handle that it invalidated */
};

/* An event of an endpoint. The members that its kind does not name are 0. */
struct rr_event {
	enum rr_event_kind kind;
	int status; /* 0, or the error of a completion or a disconnection; -RPCRDMA_ERR_CANCELLED: flushed */
	const char *text; /* DISCONNECTED: the reason, without the peer's name; valid during the handler */
	enum rr_work_kind work; /* COMPLETED */
	void *cookie;           /* COMPLETED */
	/* RECEIVED: the receive. ESTABLISHED, and DISCONNECTED where the peer rejected the connection: the
	 * peer's private data, valid during the handler. */
	uint8_t *data;
	uint32_t length;  /* octets of data */
	bool invalidated; /* RECEIVED: by Send With Invalidate */
	uint32_t invalidated_handle;
};

/* Called with each event of an endpoint. */
typedef void rr_endpoint_handler(void *ctx, const struct rr_event *event);

/* Called when a connection request came to a listener. The handler accepts or rejects endpoint, at once or
 * later; private_data, which the peer sent, is valid until then. */
typedef void rr_listener_handler(
	void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size);

/* The sizes and limits of a fabric. */
struct rr_fabric_config {
	uint32_t receive_size; /* octets of each receive: the largest Send that can arrive */
	/* While so many receives of the pool are in use, an endpoint that was accepted gets no further one.
	 * If it has RDMA Reads under way, whose data may come behind a Send, it gets one while fewer than
	 * twice as many are in use. Endpoints that connected are not bound by this. */
	uint32_t receive_max;
	uint32_t work_max;   /* work requests that an endpoint may have outstanding */
	uint32_t read_max;   /* RDMA Reads outstanding per endpoint, each way (IRD and ORD); 1 to 128 */
	uint32_t region_max; /* regions that an endpoint may have registered at a time */
	bool crc;            /* iWARP: ask for CRC32c */
	bool markers;        /* iWARP, for tests: ask the peer for markers in what it sends */
	bool peer_to_peer;   /* iWARP: ask for peer-to-peer mode, in which the responder may send first */
	bool reuse_port;     /* several fabrics (threads) listen at one address */
	/* IWARP: the member (base/share/spread.h) by which the listeners of this fabric share connections
	 * with those of other engines; or NULL. */
	struct rr_spread_member *spread;
	/* IWARP: connections that are accepted may be inside of TLS, with the certificates to which this
	 * points, if any, when they come; and the handshakes of TLS of the loop. Both are the caller's. NULL:
	 * there is no TLS. */
	struct rr_tls *const *tls;
	struct rr_tls_handshakes *handshakes;
};

/* A configuration that is enough for a client or one server thread; the caller changes members of a copy. */
extern const struct rr_fabric_config rr_fabric_config_default;

/* Whether every number in config is above 0 and within its range. Providers call this for the configuration
 * of a new fabric. */
bool rr_fabric_config_is_good(const struct rr_fabric_config *config);

/* The limits of a provider. */
struct rr_fabric_limits {
	uint32_t private_data_max; /* octets */
	uint32_t sge_max;          /* per work request; 2 at least: a header, and what it is about */
	bool remote_invalidation;  /* Send With Invalidate can be sent and received */
	/* A Send of the peer that comes when the pool has no free receive ends the connection; where this is
	 * false, the Send waits. */
	bool receives_must_suffice;
};

/* The arguments of rr_fabric_listen(). */
struct rr_listen {
	const struct sockaddr *address;
	socklen_t size;
	rr_listener_handler *handler;
	void *ctx;
};

/* The arguments of rr_fabric_connect(). */
struct rr_connect {
	const struct sockaddr *address;
	socklen_t size;
	const void *private_data;
	size_t private_size;
	rr_endpoint_handler *handler;
	void *ctx;
	/* That the connection is to be inside of TLS; lives as long as the endpoint. NULL: without TLS. */
	const struct rr_secure *secure;
};

/* The functions of a provider. The front door (the functions below) has checked their arguments. */
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
	bool (*is_short)(struct rr_fabric *fabric); /* NULL: it is never short */
	int (*post)(struct rr_endpoint *endpoint, const struct rr_work *work);
	int (*kick)(struct rr_endpoint *endpoint);
	int (*register_region)(struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access,
		struct rr_region *region);
	int (*invalidate)(struct rr_endpoint *endpoint, struct rr_region *region);
	int (*revoke)(struct rr_endpoint *endpoint, struct rr_region *region);
	int (*corrupt)(struct rr_endpoint *endpoint);          /* NULL: the provider cannot do it */
	uint64_t (*moved)(const struct rr_endpoint *endpoint); /* NULL: the endpoint's member moved counts */
	void (*pay)(struct rr_endpoint *endpoint, struct rr_payer *const *payer); /* NULL: nobody can pay */
	/* NULL: the provider has no TLS. */
	const struct rr_tls_session *(*session)(const struct rr_endpoint *endpoint);
	void (*disconnect)(struct rr_endpoint *endpoint);
	void (*close)(struct rr_endpoint *endpoint);
};

/*
 * The front part of a provider's own structures, as a member named base; the provider finds its own structure
 * from the base by rr_container(). Only the provider and the front door look inside.
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
	uint32_t outstanding; /* work requests posted and not completed; counted by the provider */
	uint64_t moved; /* octets that the peer took or brought; 0 if the provider does not count them */
	char peer[RR_ADDRESS_TEXT]; /* "192.0.2.1:20049" or "[2001:db8::1]:20049", for messages */
	struct rr_grave grave;
};

/* For providers: frees an endpoint at the end of the turn of the loop. It is not freed at once, as its owner
 * may close it inside the endpoint's own handler. The provider's structure begins with endpoint. */
void rr_endpoint_bury(struct rr_endpoint *endpoint);

/* A function that puts filters in front of *fabric, and sets *fabric to the filter in front. A filter is a
 * fabric that passes each operation on to the fabric below it, which it owns from then on. The caller is to
 * destroy *fabric, also after a failure. */
typedef int rr_fabric_filter(void *ctx, struct rr_fabric **fabric);

/* ---- The front door ---- */

/* Returns the name of the fabric's provider. */
const char *rr_fabric_name(const struct rr_fabric *fabric);
/* Returns the limits of the fabric's provider. */
const struct rr_fabric_limits *rr_fabric_limits(const struct rr_fabric *fabric);
/* Returns the fabric's own copy of the configuration with which it was made. */
const struct rr_fabric_config *rr_fabric_config(const struct rr_fabric *fabric);
/* Returns the event loop in which the fabric works. */
struct rr_loop *rr_fabric_loop(const struct rr_fabric *fabric);

/* Destroys the fabric, which may be NULL. The caller must have closed every listener and endpoint before.
 * Must not be called inside a handler. */
void rr_fabric_destroy(struct rr_fabric *fabric);

/* Listens at an address; if its port is 0, the system chooses the port. Errors: SYSTEM (for example, the
 * port is in use or permission is missing: text says which), NOMEM, INVAL (the family of the address). */
int rr_fabric_listen(struct rr_fabric *fabric, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text);

/* Sets *address to the address of the listener, with the port that was chosen. Returns -RPCRDMA_ERR_SYSTEM if
 * the system does not give the address. */
int rr_listener_address(struct rr_listener *listener, struct sockaddr_storage *address);

/* Closes a listener: its handler is not called any more. Endpoints that were handed to the handler live on.
 * Connection requests that were not handed over yet are dropped. */
void rr_fabric_unlisten(struct rr_listener *listener);

/* Makes an endpoint and begins to connect it; the event ESTABLISHED or DISCONNECTED follows. The private
 * data, which the peer gets, is copied. Errors that are returned at once: NOMEM, INVAL (private data too
 * long, family of the address), SYSTEM, NOTSUP (TLS is demanded, and the provider has none). */
int rr_fabric_connect(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text);

/* Accepts a connection request that a listener handed over; the event ESTABLISHED (or DISCONNECTED) follows.
 * The peer gets the private data. Returns -RPCRDMA_ERR_INVAL if there are more private data than the provider
 * allows; the request can then still be accepted or rejected. Other errors: NOMEM, SYSTEM; the caller must
 * then close the endpoint. */
int rr_endpoint_accept(struct rr_endpoint *endpoint, rr_endpoint_handler *handler, void *ctx,
	const void *private_data, size_t private_size);

/* Declines a connection request that a listener handed over, and frees the endpoint. The peer gets the
 * private data, or none if they are longer than the provider allows. */
void rr_endpoint_reject(struct rr_endpoint *endpoint, const void *private_data, size_t private_size);

/*
 * Allows the peer to send count more Sends; RFC 8166 calls this posting Receives. Each event RECEIVED uses up
 * one of them. A Send that arrives when none is left ends the connection. If a Send is allowed but the shared
 * pool has no free buffer, the endpoint waits until a buffer is released. May be called before the connection
 * is established: on the connect side right after rr_fabric_connect(), on the accept side before
 * rr_endpoint_accept().
 */
void rr_endpoint_allow(struct rr_endpoint *endpoint, uint32_t count);

/* Gives a receive, the buffer that a RECEIVED event brought, back to the pool of the fabric. */
void rr_fabric_release(struct rr_fabric *fabric, uint8_t *receive);

/* Whether some endpoint waits for a buffer, because all buffers for receives are in use. */
bool rr_fabric_is_short(struct rr_fabric *fabric);

/*
 * Posts a work request, and returns 0, or RR_POST_COPIED for a Send or Write if work->may_copy is set and it
 * is complete already. Work requests start in the order of their posting; Sends and Writes also complete and
 * arrive in that order; a Read may complete later than requests that were posted after it. The work requests
 * of one turn of the loop leave together at its end. Errors: LIMIT (work_max requests are outstanding),
 * DISCONNECTED, NOMEM, INVAL (the kind, or the sges: their number, which must be 1 for a Read; their memory;
 * or their length altogether), NOTSUP (a Read, where the peer allows no Reads).
 */
int rr_endpoint_post(struct rr_endpoint *endpoint, const struct rr_work *work);

/* Sends a frame without contents (over iWARP a zero-length RDMA Write), to wake a peer that missed the first
 * frame of this side. The owner gets no completion of this. Errors: DISCONNECTED, NOMEM. */
int rr_endpoint_kick(struct rr_endpoint *endpoint);

/* Registers length (above 0) octets at addr, so that the peer has the access that the flags in access say,
 * and fills in *region. Errors: LIMIT (region_max regions exist), NOMEM, INVAL, DISCONNECTED (an adapter
 * needs the connection to register). */
int rr_endpoint_register(
	struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access, struct rr_region *region);

/*
 * Ends the peer's access to a region before the function returns, and sets region->handle to 0. Has no other
 * effect if the peer has invalidated the region already. If the peer is in the middle of reading from the
 * region or writing to it, the connection ends. After an error, which only an adapter can have, the peer may
 * have access until the endpoint is closed.
 */
int rr_endpoint_invalidate(struct rr_endpoint *endpoint, struct rr_region *region);

/*
 * Ends the peer's access as rr_endpoint_invalidate() does, but the handle stays known until that function is
 * called, too: a peer that does not know yet that its access has ended may still send a Send With Invalidate
 * for the handle. Over an RDMA adapter the handle does not stay known, and such a Send ends the connection.
 * Errors: those of rr_endpoint_invalidate().
 */
int rr_endpoint_revoke(struct rr_endpoint *endpoint, struct rr_region *region);

/* For tests: damages one octet of the next frame that leaves, so that the checksum which the peer checks is
 * wrong. Returns -RPCRDMA_ERR_NOTSUP where frames have no such checksum. */
int rr_endpoint_corrupt(struct rr_endpoint *endpoint);

/* Has the time that the loop spends for the endpoint paid by the payer to which *payer points (base/loop.h).
 * Has no effect where the provider has no descriptor for each endpoint. */
void rr_endpoint_pay(struct rr_endpoint *endpoint, struct rr_payer *const *payer);

/* Ends the connection in good order: work requests that were posted before still leave, if the peer takes
 * them. The event DISCONNECTED follows, after the completions of all outstanding requests. Has no effect on
 * an endpoint that is disconnected. */
void rr_endpoint_disconnect(struct rr_endpoint *endpoint);

/* Ends the connection at once, if it has not ended, and frees the endpoint: its regions become invalid, its
 * work requests are dropped, and its handler is not called any more. An endpoint may be closed inside its
 * own handler. */
void rr_endpoint_close(struct rr_endpoint *endpoint);

/* Returns the number of octets that the peer has taken and sent so far, including those of work requests
 * that are not complete. Returns 0 if the provider does not count octets. */
uint64_t rr_endpoint_moved(const struct rr_endpoint *endpoint);

/* Returns the session of TLS that the connection is inside of, or NULL if it is not, or not any more. */
const struct rr_tls_session *rr_endpoint_session(const struct rr_endpoint *endpoint);

/* Returns the peer's address as text, for messages. */
const char *rr_endpoint_peer(const struct rr_endpoint *endpoint);

/* Returns the fabric that an endpoint belongs to. */
struct rr_fabric *rr_endpoint_fabric(const struct rr_endpoint *endpoint);

#endif
