/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_H
#define RR_DECODE_ROCE_H

#include <rpcrdma/xdr.h>
#include <stdbool.h>

/*
 * Packets of RoCEv2, the transport of InfiniBand in UDP datagrams to port 4791 (InfiniBand Architecture
 * Specification, volume 1, chapter 9 and annex A17): Base Transport Header, extended headers, payload.
 */

enum { RR_ROCE_PORT = 4791, RR_ROCE_PSN_MASK = 0xffffff, RR_ROCE_QP_GENERAL = 1 };

enum rr_roce_kind {
	RR_ROCE_SEND,
	RR_ROCE_WRITE,
	RR_ROCE_READ_REQUEST,
	RR_ROCE_READ_RESPONSE,
	RR_ROCE_ACKNOWLEDGE, /* of requests, or of an atomic operation */
	RR_ROCE_ATOMIC,
	RR_ROCE_DATAGRAM /* a Send of an unreliable datagram: the connection manager's messages are such */
};

struct rr_roce_packet {
	enum rr_roce_kind kind;
	bool first, last;     /* of a message */
	bool invalidates;     /* a Send with Invalidate */
	uint32_t invalidated; /* its handle */
	uint32_t qp, psn;     /* the destination's queue pair */
	/* Of the first packet of a Write, and of a Read Request. */
	uint32_t handle, length;
	uint64_t offset;
	uint8_t syndrome; /* of an acknowledgement and a Read Response: see rr_roce_nak_name() */
	struct rpcrdma_bytes payload;
};

/* Reads the payload of a datagram. False: it breaks off, or is of a service other than those above. */
bool rr_roce_parse(const void *data, size_t size, struct rr_roce_packet *packet);

/* Whether a packet belongs to what the sender of requests numbers; the others answer what the receiver of the
 * packet numbers. */
static inline bool
rr_roce_is_request(const struct rr_roce_packet *packet)
{
	return packet->kind != RR_ROCE_READ_RESPONSE && packet->kind != RR_ROCE_ACKNOWLEDGE;
}

/* Whether an acknowledgement says that no Receive was posted. */
static inline bool
rr_roce_is_starved(uint8_t syndrome)
{
	return (syndrome >> 5 & 3) == 1;
}

/* What a negative acknowledgement says; NULL: the syndrome is that of a positive one. */
const char *rr_roce_nak_name(uint8_t syndrome);

#endif
