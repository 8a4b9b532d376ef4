/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_DECODER_H
#define RR_DECODE_DECODER_H

#include "decode/handshake.h"
#include "decode/match.h"
#include "decode/packet.h"

/* A decoder decodes captured packets: TCP connections and iWARP on them; RoCE; and the RPC-over-RDMA messages
 * that these carry. A capture may hold anything, so memory, connections and transactions are bounded, and the
 * oldest of them make room. */

struct rr_decode_limits {
	size_t memory;                      /* octets */
	uint32_t connections, transactions; /* connections: that many of TCP, and that many of RoCE */
};

/* The limits of a decoder for which none are given. */
extern const struct rr_decode_limits rr_decode_limits;

/* The functions that receive what the decoder finds, in the order of the packets. Values and the memory that
 * they point to are valid until the call returns. */
struct rr_decode_sink {
	/* A message, after it was paired with its call or its reply. */
	void (*message)(void *ctx, const struct rr_message *message);
	/* A side's MPA frame, or a message of its connection manager. */
	void (*opened)(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake);
	/* An operation other than a Send. region: the chunk whose octets it moves; NULL: not known. */
	void (*operation)(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
		const struct rr_decode_region *region);
	/* A note on packets that were not, or will not be, decoded. */
	void (*note)(void *ctx, const struct rr_moment *moment, const char *text);
	/* The functions from here on may be NULL. A message as it was sent, before it is paired, and before
	 * it is held back until its front has come (decode/match.h). */
	void (*sent)(void *ctx, const struct rr_message *message);
	/* A DDP segment of iWARP. */
	void (*segment)(void *ctx, const struct rr_moment *moment, const struct rr_ddp_header *header,
		struct rpcrdma_bytes payload);
	/* Octets of the sender that moment names are missing, or cannot be decoded. */
	void (*lost)(void *ctx, const struct rr_moment *moment);
	/* A Send was refused by the sender that moment names, because no Receive was posted. */
	void (*starved)(void *ctx, const struct rr_moment *moment);
	/* Octets of a TCP stream that is not MPA. Returns true if no more of the stream is wanted. */
	bool (*foreign)(void *ctx, const struct rr_moment *moment, struct rpcrdma_bytes data);
	void *ctx;
};

struct rr_decode_counters {
	uint64_t packets, connections, messages;
	uint64_t unread; /* packets of unknown link types, broken packets, fragments */
	uint64_t evicted_connections, evicted_transactions;
	uint64_t lost;         /* octets of streams that are missing */
	uint64_t lost_packets; /* of RoCE */
	uint64_t uncaptured;   /* octets of packets that were not captured whole */
	uint64_t searched;     /* octets in which no FPDU was found */
	uint64_t wrong_crcs;   /* FPDUs with a wrong CRC */
	uint64_t partial;      /* Sends that are not complete, or are too long */
	uint64_t refused;      /* times that the limit of memory was met */
};

struct rr_decoder;

/* Makes a decoder. If limits is NULL, the limits are rr_decode_limits. Errors: NOMEM. */
int rr_decoder_new(const struct rr_env *env, const struct rr_decode_limits *limits,
	const struct rr_decode_sink *sink, struct rr_decoder **decoder);
/* Frees the decoder, which may be NULL. Messages that are held back still go to the sink. */
void rr_decoder_free(struct rr_decoder *decoder);

/* Decodes a packet, of size octets. link is a number of enum rr_link, time is since the epoch, in ns. */
void rr_decoder_packet(struct rr_decoder *decoder, int link, uint64_t time, const void *data, size_t size);

/* Called at the end of the capture: decodes packets that wait for others as far as possible, and ends all
 * connections. */
void rr_decoder_finish(struct rr_decoder *decoder);

/* Returns the counters so far. */
struct rr_decode_counters rr_decoder_counters(const struct rr_decoder *decoder);

#endif
