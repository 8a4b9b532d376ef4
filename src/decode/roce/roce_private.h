/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_ROCE_PRIVATE_H
#define RR_DECODE_ROCE_ROCE_PRIVATE_H

#include "decode/roce/connection.h"

/* These declarations are shared by connection.c, which has the requests of a connection, and
 * response.c. */

enum { RR_ROCE_MTU_MIN = 256 };

/* A side of a connection, as functions pass it on: mostly the sender of the packet that is being decoded. */
struct rr_roce_at {
	struct rr_decode_connections *shared;
	struct rr_roce_connection *connection;
	uint8_t from; /* the side */
};

/* Returns how many packets a Read Response of size octets has, if each but the last has mtu octets. IBTA,
 * volume 1, 9.7.2.1: a Read Request takes as many PSNs as its response has packets. */
static inline uint32_t
rr_roce_packets(uint32_t size, uint32_t mtu)
{
	return size == 0 ? 1 : (size - 1) / mtu + 1;
}

/* Passes on what a packet of the side at->from does, as the DDP segment that iWARP has for it. */
void rr_roce_segment(const struct rr_roce_at *at, const struct rr_rdmap_segment *segment);

/* ---- response.c ---- */

/* Learns the connection's MTU from a packet that is not the last one of its message, because such a packet is
 * as long as the MTU allows. Then sets how many packets the responses to Reads under way have. Does nothing
 * if the MTU is known already, or if the payload is shorter than the smallest MTU. */
void rr_roce_learn_mtu(struct rr_roce_connection *connection, const struct rr_roce_packet *packet);

/* Decodes a packet of a Read Response, which the side at->from sent. If earlier packets of the response have
 * not come, holds the packet. */
void rr_roce_response(const struct rr_roce_at *at, const struct rr_roce_packet *packet);

/* Decodes, in order, the held packets of the Read Responses that the side at->from sent, as long as no
 * earlier packet is missing. If all is true, decodes all held packets, also behind missing ones: the caller
 * sets it when the missing packets are given up. */
void rr_roce_responses(const struct rr_roce_at *at, bool all);

#endif
