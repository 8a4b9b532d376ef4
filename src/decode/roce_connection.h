/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_CONNECTION_H
#define RR_DECODE_ROCE_CONNECTION_H

#include "base/list.h"
#include "decode/connection.h"
#include "decode/roce_hold.h"

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
	uint32_t qp;           /* packets to this side name it */
	uint32_t next;         /* the PSN that its next request has, */
	uint32_t slack;        /* or up to so many more */
	uint32_t seen;         /* the last PSN of its requests that was seen, in requests or in answers */
	uint32_t acknowledged; /* packets that acknowledge requests which have not been seen */
	uint32_t msn, mo;      /* of the Send under way; mo is 0 where no Send is under way */
	bool is_cut;           /* a packet of that Send was not captured whole */
	bool has_write;        /* an RDMA Write is under way, */
	uint32_t handle;       /* whose next octets go there */
	uint64_t offset;
	struct rr_rdmap rdmap;
	struct rr_roce_read reads[RR_RDMAP_READS];
	uint32_t read_count;
	struct rr_roce_hold requests, responses; /* held packets; responses: to this side */
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

/* Ends the connection's transactions and frees its memory. */
void rr_roce_connection_end(struct rr_decode_connections *shared, struct rr_roce_connection *connection);

#endif
