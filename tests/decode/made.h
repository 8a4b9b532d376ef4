/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_DECODE_MADE_H
#define RR_TESTS_DECODE_MADE_H

#include "decode/decoder.h"
#include "test.h"
#include "wire/rpcrdma1.h"

/* This makes a capture for a test, of packets of raw IP, and keeps what a decoder finds in it. */

enum {
	MADE_PACKETS = 256,
	MADE_PACKET = 2048,
	MADE_LINES = 256,
	MADE_CLIENT = 1000,
	MADE_SERVER = 20049,
	MADE_CLIENT_QP = 0x100,
	MADE_SERVER_QP = 0x101
};

struct made_packet {
	uint8_t data[MADE_PACKET];
	uint32_t size;
};

struct made {
	struct made_packet packets[MADE_PACKETS];
	uint32_t count;
	uint16_t client;      /* its port */
	uint32_t sequence[2]; /* the next sequence number of each side */
	uint32_t msn[2], read_msn[2];
};

struct found {
	struct {
		enum rr_message_kind kind;
		uint32_t xid, proc, rdma_proc;
		bool has_procedure, is_paired;
		uint64_t moved[RR_REGIONS];
	} messages[MADE_LINES];
	uint32_t count, notes, operations, opened;
	char note[64]; /* the last note */
	struct rr_decode_counters counters;
};

void made_begin(struct made *made);

/* Adds a TCP segment with these flags. A SYN takes a sequence number. */
void made_tcp(struct made *made, uint8_t from, uint8_t flags, const void *data, uint32_t size);

/* Adds a UDP datagram to port 4791 with a packet of RoCE: data behind a Base Transport Header, without
 * padding. */
void made_roce(struct made *made, uint8_t from, uint8_t opcode, uint32_t qp, uint32_t psn,
	struct rpcrdma_bytes data);

/* These add a message of a connection manager of RoCE: a request with the client's first PSN, and the answer
 * to the request with that id. */
void made_connect_request(struct made *made, uint32_t id, uint32_t psn);
void made_connect_reply(struct made *made, uint8_t attribute, uint32_t id);

/* Adds both SYNs and both MPA frames. */
void made_open(struct made *made, bool crc, bool markers);

/* Adds an FPDU with the header and the payload, in a packet of its own. crc: its CRC is right, else the CRC
 * field is 0. */
void made_fpdu(struct made *made, uint8_t from, const struct rr_ddp_header *header,
	struct rpcrdma_bytes payload, bool crc);
void made_send(struct made *made, uint8_t from, const void *data, uint32_t size);

/* These add a NULL call of NFS version 3, or the reply to it, inline. */
void made_call(struct made *made, uint8_t from, uint32_t xid);
void made_reply(struct made *made, uint8_t from, uint32_t xid);

/* Decodes the packets of made, in order, into found. */
void made_decode(const struct made *made, const struct rr_decode_limits *limits, struct found *found);

/* Writes the packets of made to a capture file of libpcap's first format, a millisecond apart. Returns
 * whether that succeeded. */
bool made_write(const struct made *made, const char *path);

/* Returns the sink of found, for tests that decode the packets themselves. */
struct rr_decode_sink made_sink(struct found *found);

#endif
