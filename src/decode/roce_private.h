/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_PRIVATE_H
#define RR_DECODE_ROCE_PRIVATE_H

#include "decode/roce_connection.h"

/* Between roce_connection.c, which has the requests of a connection, and roce_response.c. */

enum { RR_ROCE_MTU_MIN = 256 };

/* Which side of a connection a function is about, and what all connections share. */
struct rr_roce_at {
	struct rr_decode_connections *shared;
	struct rr_roce_connection *connection;
	uint8_t from; /* sent the packet */
};

/* IBTA, volume 1, 9.7.2.1: a Read Request takes as many PSNs as its response has packets. */
static inline uint32_t
rr_roce_packets(uint32_t size, uint32_t mtu)
{
	return size == 0 ? 1 : (size - 1) / mtu + 1;
}

/* An operation of the sender, as the DDP segment that iWARP has for it. */
void rr_roce_segment(
	const struct rr_roce_at *at, const struct rr_ddp_header *header, struct rpcrdma_bytes payload);

/* ---- roce_response.c ---- */

/* The first packet of a message that has several is as long as all of them can be. */
void rr_roce_learn_mtu(struct rr_roce_connection *connection, const struct rr_roce_packet *packet);

/* A packet of a Read Response. */
void rr_roce_response(const struct rr_roce_at *at, const struct rr_roce_packet *packet);

/* Responses that are held and due. all: also those that are not, as others before them will not come. */
void rr_roce_responses(const struct rr_roce_at *at, bool all);

#endif
