/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_CAPTURE_PRIVATE_H
#define RR_FABRIC_FILTER_CAPTURE_PRIVATE_H

#include <rpcrdma/xdr.h>
#include <stdio.h>

#include "fabric/filter/capture.h"
#include "fabric/filter/filter.h"
#include "wire/ddp.h"
#include "wire/mpa.h"
#include "wire/rpcrdma2.h"

/*
 * Shared by the files of the capture filter: capture.c sees the operations of this side, capture_peer.c
 * derives those of the peer, capture_file.c makes packets of both.
 */

/* A connection as packets show it. Side 0 opened the connection. */
struct rr_capture_flow {
	struct sockaddr_storage ends[2]; /* the addresses of both sides */
	uint32_t sequence[2];            /* the TCP sequence number of the next octet of each side */
	uint32_t msn[2][RR_DDP_QUEUES];  /* the last MSN that each side sent to each DDP queue */
	uint32_t sinks;                  /* RDMA Reads so far; the number of a Read is its sink STag */
};

/* The most messages whose Read chunks the peer may read, and the most RDMA Reads under way, that an endpoint
 * remembers. */
enum { RR_CAPTURE_EXPOSED = 256 };

/* Memory that the peer may reach. */
struct rr_capture_region {
	struct rr_list link;
	uint32_t handle;
	const uint8_t *addr;
	uint32_t length;
	uint64_t offset; /* the offset of the octet at addr, as the peer has it */
};

/* A message of this side with Read chunks, which the peer has not answered yet. */
struct rr_capture_exposed {
	struct rr_list link;
	uint32_t xid, count;
	struct rr_segment segments[];
};

/* An RDMA Read of this side that is under way. */
struct rr_capture_read {
	struct rr_list link;
	void *cookie;     /* of the work request: the completion is known by it */
	const void *addr; /* where the octets go */
	uint32_t length, sink;
};

/* The filter's fabric. */
struct rr_capture_fabric {
	struct rr_filter_fabric filter; /* comes first */
	struct rr_capture *capture;
	uint16_t listened;           /* the port of its last listener */
	uint32_t endpoints;          /* endpoints that connected so far: each shows a port of its own */
	struct rr_chunk_lists lists; /* arrays for decoding */
};

/* An endpoint of the filter. */
struct rr_capture_endpoint {
	struct rr_filter_endpoint filter; /* comes first */
	struct rr_capture_flow flow;
	uint8_t own;  /* the number of this side in the flow: 0 if it opened the connection, else 1 */
	bool is_open; /* the opening of the connection was written, and its end was not */
	uint8_t first[RR_MPA_PRIVATE_MAX]; /* private data of side 0 */
	uint32_t first_size;
	struct rr_list regions, exposed, reads;
	uint32_t exposed_count, read_count;
};

/* Returns the fabric that an endpoint belongs to. */
static inline struct rr_capture_fabric *
rr_capture_fabric_of(struct rr_filter_endpoint *endpoint)
{
	return rr_container(rr_filter_fabric(endpoint), struct rr_capture_fabric, filter);
}

/* Returns the capture that an endpoint writes to. */
static inline struct rr_capture *
rr_capture_of(struct rr_capture_endpoint *endpoint)
{
	return rr_capture_fabric_of(&endpoint->filter)->capture;
}

/* ---- capture_peer.c ---- */

/* Remembers the memory in the Read chunks of a message that this side sends, so that the peer's RDMA Reads
 * of it can be written when the answer comes. If the message is a call, also notes that a call waits for its
 * answer: rr_capture_set_waiting(). sges are those of the Send. */
void rr_capture_expose(struct rr_capture_endpoint *endpoint, const struct rr_sge *sges, uint32_t count);

/* Writes a Send of the peer to the capture. The message in the Send shows which RDMA operations the peer has
 * done: these are written before the Send. */
void rr_capture_received(struct rr_capture_endpoint *endpoint, const struct rr_event *event);

/* Returns the registered region with that handle, or NULL if there is no such region. */
struct rr_capture_region *rr_capture_find(const struct rr_capture_endpoint *endpoint, uint32_t handle);

/* ---- capture_pcapng.c ---- */

enum { RR_CAPTURE_PACKET_MAX = 65535 };

/* Writes the blocks of a pcapng file that come before the first packet. */
void rr_capture_begin_file(FILE *file);

/* Writes a packet of size octets to a pcapng file. Only the first `kept` octets of the packet are at data,
 * and only these are written. time: nanoseconds since 1970. */
void rr_capture_put_packet(FILE *file, uint64_t time, const void *data, uint32_t kept, uint32_t size);

/* ---- capture_file.c ---- */

/* Sets a function that is called when a connection of the capture ends with an error of the protocol, in the
 * thread of that connection. */
void rr_capture_on_failure(struct rr_capture *capture, void (*failed)(void *ctx), void *ctx);
/* Called when a connection has ended with an error of the protocol: calls the function that
 * rr_capture_on_failure() has set, if there is one. */
void rr_capture_failed(const struct rr_capture *capture);

/* Notes that a call of this side was sent (waits is true), or that a message of a peer came (waits is
 * false), on any connection of the capture. */
void rr_capture_set_waiting(struct rr_capture *capture, bool waits);

/* Returns the time (ns, monotonic) of the first call of this side after which nothing has come from
 * any peer, or 0 if there is no such call. Any thread may call this. */
uint64_t rr_capture_waits_since(struct rr_capture *capture);

/* TCP's flags, RFC 9293, 3.1. */
enum { RR_CAPTURE_FIN = 1, RR_CAPTURE_SYN = 2, RR_CAPTURE_ACK = 16 };

/* Writes the opening of a connection: both SYNs, and both MPA frames with the private data first and second;
 * if rejected is true, the second frame declines the connection. */
void rr_capture_opened(struct rr_capture *capture, struct rr_capture_flow *flow, struct rpcrdma_bytes first,
	struct rpcrdma_bytes second, bool rejected);
/* Writes the end of a connection, which side `from` began, and flushes the file if the capture has one. */
void rr_capture_closed(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from);

/* Writes a DDP message of side `from` to the capture, in as many segments as it needs. Its octets are those
 * of sges. The caller fills in header, except for last, the MSN, and the MO and TO of later segments. */
void rr_capture_message(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	struct rr_ddp_header header, const struct rr_sge *sges, uint32_t sge_count);

/* Writes the request of an RDMA Read, which side `from` of the connection sends: it reads size octets at
 * handle and offset. Returns the sink, the STag for the answer, which rr_capture_read_response() needs. */
uint32_t rr_capture_read_request(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	uint32_t handle, uint64_t offset, uint32_t size);
/* Writes the response to an RDMA Read, which side `from` sends, with the size octets at data. sink is the
 * result of rr_capture_read_request(). */
void rr_capture_read_response(struct rr_capture *capture, struct rr_capture_flow *flow, uint8_t from,
	uint32_t sink, const void *data, uint32_t size);

#endif
