/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_ROCE_H
#define RR_DECODE_ROCE_ROCE_H

#include <rpcrdma/xdr.h>
#include <stdbool.h>

/*
 * This parses packets of RoCEv2, the transport of InfiniBand in UDP datagrams to port 4791 (InfiniBand
 * Architecture Specification, volume 1, chapter 9 and annex A17): Base Transport Header, extended headers,
 * payload.
 */

/* The UDP port; the bits of a packet sequence number (PSN); and the queue pair that receives the messages of
 * connection managers. */
enum { RR_ROCE_PORT = 4791, RR_ROCE_PSN_MASK = 0xffffff, RR_ROCE_QP_GENERAL = 1 };

enum rr_roce_kind {
	RR_ROCE_SEND,
	RR_ROCE_WRITE,
	RR_ROCE_READ_REQUEST,
	RR_ROCE_READ_RESPONSE,
	RR_ROCE_ACKNOWLEDGE, /* of requests, or of an atomic operation */
	RR_ROCE_ATOMIC,
	RR_ROCE_DATAGRAM /* a Send of an unreliable datagram, as messages of connection managers are */
};

struct rr_roce_packet {
	enum rr_roce_kind kind;
	bool first, last;     /* the first, the last packet of its message */
	bool invalidates;     /* a Send with Invalidate */
	uint32_t invalidated; /* the handle that such a Send invalidates */
	uint32_t qp, psn;     /* the queue pair that the packet goes to; the packet's sequence number */
	/* The memory that an RDMA Write or Read is for: only in the first packet of a Write, and in a Read
	 * Request. */
	uint32_t handle, length;
	uint64_t offset;
	uint8_t syndrome; /* of an acknowledgement and a Read Response: see rr_roce_nak_name() */
	struct rpcrdma_bytes payload;
	uint32_t known; /* octets of its payload that were captured; the rest counts as 0 */
};

/* Parses the payload of a datagram, of which "captured" octets were captured, and the rest counts as 0.
 * packet->payload then points into data. Returns false if the packet is incomplete, if its headers were not
 * captured, or if it is of no kind that enum rr_roce_kind has. */
bool rr_roce_parse(const void *data, size_t size, size_t captured, struct rr_roce_packet *packet);

/* Tells whether the PSN of a packet is a number of its sender's requests. Otherwise the packet is a response
 * or an acknowledgement, and its PSN is a number of the other side's requests. */
static inline bool
rr_roce_is_request(const struct rr_roce_packet *packet)
{
	return packet->kind != RR_ROCE_READ_RESPONSE && packet->kind != RR_ROCE_ACKNOWLEDGE;
}

/* Tells whether an acknowledgement says that no Receive was posted. */
static inline bool
rr_roce_is_starved(uint8_t syndrome)
{
	return (syndrome >> 5 & 3) == 1;
}

/* Returns the meaning of a negative acknowledgement, or NULL if the acknowledgement is positive. */
const char *rr_roce_nak_name(uint8_t syndrome);

#endif
