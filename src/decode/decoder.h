/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_DECODER_H
#define RR_DECODE_DECODER_H

#include "decode/handshake.h"
#include "decode/match.h"
#include "decode/packet.h"

/*
 * Decodes captured packets: TCP connections, and iWARP on them; RoCE; RPC-over-RDMA messages on either. A
 * capture may hold anything: memory, connections and transactions are bounded, and the oldest of them make
 * room.
 */

struct rr_decode_limits {
	size_t memory;                      /* octets */
	uint32_t connections, transactions; /* connections: of TCP, and as many of RoCE */
};

extern const struct rr_decode_limits rr_decode_limits;

/* The findings, in the order of the packets that they are in. Values and what they refer to are valid
 * until the call returns. */
struct rr_decode_sink {
	void (*message)(void *ctx, const struct rr_message *message);
	/* The MPA frame of a side, or what its connection manager sent. */
	void (*opened)(void *ctx, const struct rr_place *place, const struct rr_handshake *handshake);
	/* An operation other than a Send. region: the chunk that it moves octets of; NULL: not known. */
	void (*operation)(void *ctx, const struct rr_place *place, const struct rr_op *op,
		const struct rr_decode_region *region);
	/* Something that was not, or will not be, decoded. */
	void (*note)(void *ctx, const struct rr_place *place, const char *text);
	/* The next ones may be NULL. A message as it was sent, before it is paired or held back. */
	void (*sent)(void *ctx, const struct rr_message *message);
	/* A segment of DDP. */
	void (*segment)(void *ctx, const struct rr_place *place, const struct rr_ddp_header *header,
		struct rpcrdma_bytes payload);
	/* Octets that the sender at place sent are missing, or cannot be decoded. */
	void (*lost)(void *ctx, const struct rr_place *place);
	/* The sender at place refused a Send, as it had no Receive for it. */
	void (*starved)(void *ctx, const struct rr_place *place);
	/* Octets of a TCP stream that is not MPA, as they were captured. True: no more of them are wanted. */
	bool (*foreign)(void *ctx, const struct rr_place *place, struct rpcrdma_bytes data);
	void *ctx;
};

struct rr_decode_counters {
	uint64_t packets, connections, messages;
	uint64_t unread; /* packets of link types that are not known, broken ones, fragments */
	uint64_t evicted_connections, evicted_transactions;
	uint64_t lost;         /* octets of streams that are missing */
	uint64_t lost_packets; /* of RoCE */
	uint64_t uncaptured;   /* octets of packets that were not captured whole */
	uint64_t searched;     /* octets in which no FPDU was found */
	uint64_t wrong_crcs;   /* FPDUs */
	uint64_t partial;      /* Sends of which a part is missing, or that are too long */
	uint64_t refused;      /* times that the limit of memory was met */
};

struct rr_decoder;

/* limits NULL: rr_decode_limits. -RPCRDMA_ERR_NOMEM. */
int rr_decoder_new(const struct rr_env *env, const struct rr_decode_limits *limits,
	const struct rr_decode_sink *sink, struct rr_decoder **decoder);
void rr_decoder_free(struct rr_decoder *decoder);

/* A packet: link is a number of enum rr_link, time is since the epoch, in ns. */
void rr_decoder_packet(struct rr_decoder *decoder, int link, uint64_t time, const void *data, size_t size);

/* There are no more packets: what waits for some is decoded as far as it can be. */
void rr_decoder_finish(struct rr_decoder *decoder);

struct rr_decode_counters rr_decoder_counters(const struct rr_decoder *decoder);

#endif
