/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_PRIVATE_H
#define RR_DECODE_ROCE_PRIVATE_H

#include "decode/roce_connection.h"

/* These declarations are shared by roce_connection.c, which has the requests of a connection, and
 * roce_response.c. */

enum { RR_ROCE_MTU_MIN = 256 };

/* The side of a connection that a function works on. */
struct rr_roce_at {
	struct rr_decode_connections *shared;
	struct rr_roce_connection *connection;
	uint8_t from; /* the side that sent the packet */
};

/* Returns how many packets a Read Response of size octets has. IBTA, volume 1, 9.7.2.1: a Read Request takes
 * as many PSNs as its response has packets. */
static inline uint32_t
rr_roce_packets(uint32_t size, uint32_t mtu)
{
	return size == 0 ? 1 : (size - 1) / mtu + 1;
}

/* Passes on an operation of the sender, as the DDP segment that iWARP has for it. */
void rr_roce_segment(
	const struct rr_roce_at *at, const struct rr_ddp_header *header, struct rpcrdma_bytes payload);

/* ---- roce_response.c ---- */

/* Learns the MTU from the first packet of a message with several packets, because that packet is as long as
 * the MTU allows. */
void rr_roce_learn_mtu(struct rr_roce_connection *connection, const struct rr_roce_packet *packet);

/* Decodes a packet of a Read Response. */
void rr_roce_response(const struct rr_roce_at *at, const struct rr_roce_packet *packet);

/* Decodes the held packets of responses that come next in order. If all is true, also decodes those that wait
 * for earlier packets, because these will not come. */
void rr_roce_responses(const struct rr_roce_at *at, bool all);

#endif
