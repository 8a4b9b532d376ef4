/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_CONNECTION_H
#define RR_DECODE_ROCE_CONNECTION_H

#include "base/list.h"
#include "decode/connection.h"
#include "decode/roce/hold.h"

/* This is a reliable connection of RoCE. Packets of requests (Sends, RDMA Writes, Read Requests) are put
 * in the order of their PSNs, and translated into the segments that iWARP has for the same operations,
 * which rdmap.h assembles. A Read Response has the PSNs that its Request took, which show which octets
 * it brings. */

/* An RDMA Read under way. */
struct rr_roce_read {
	uint32_t psn, size;
	uint32_t packets; /* of its response; 0: not known until the first packet has come */
	uint32_t next;    /* index of the packet that comes next */
};

struct rr_roce_side {
	bool has_qp, has_next, has_seen;
	uint32_t qp;    /* its queue pair, which packets to this side name; if has_qp is set */
	uint32_t next;  /* the PSN of its next request; if has_next is set */
	uint32_t slack; /* the PSN of its next request may be up to so many larger than next */
	uint32_t seen;  /* the last PSN that was seen, in a request of this side or its answer; if has_seen */
	uint32_t acknowledged; /* packets that acknowledge requests which have not been seen */
	uint32_t msn, mo;      /* of the Send under way; mo is 0 if no Send is under way */
	bool has_write;        /* an RDMA Write is under way */
	/* The memory that the next octets of that RDMA Write go to. */
	uint32_t handle;
	uint64_t offset;
	struct rr_rdmap rdmap;
	struct rr_roce_read reads[RR_RDMAP_READS]; /* of this side, in the order of their Requests */
	uint32_t read_count;
	/* Packets that came too early: this side's requests, and responses to its Reads. */
	struct rr_roce_hold requests, responses;
};

struct rr_roce_connection {
	struct rr_list link;
	uint32_t number;
	bool is_requested;   /* the message of side 0's connection manager that asked for it was captured */
	uint32_t request_id; /* the number that this manager has for it */
	uint32_t mtu;        /* octets of payload in each packet of a message except the last; 0: not known */
	struct rr_packet_end ends[2];
	struct rr_roce_side sides[2];
};

/* Decodes a packet that side "from" sent. */
void rr_roce_connection_packet(struct rr_decode_connections *shared, struct rr_roce_connection *connection,
	uint8_t from, const struct rr_roce_packet *packet);

/* Decodes the packets that are held, as no more packets will come. */
void rr_roce_connection_finish(struct rr_decode_connections *shared, struct rr_roce_connection *connection);

/* Ends the connection's transactions, frees the memory that its sides have, and adds its counters to those
 * that all connections share. The caller frees the connection itself. */
void rr_roce_connection_end(struct rr_decode_connections *shared, struct rr_roce_connection *connection);

#endif
