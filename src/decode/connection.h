/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_CONNECTION_H
#define RR_DECODE_CONNECTION_H

#include "decode/decoder.h"
#include "decode/fpdu.h"
#include "decode/stream.h"

/* A TCP connection of a capture. The decoder owns it. */

struct rr_decode_connection_side {
	struct rr_stream stream;
	uint32_t first; /* the sequence number behind its SYN, where fpdus.begun */
	struct rr_fpdus fpdus;
	struct rr_rdmap rdmap;
	bool is_known;             /* what it carries, which is not MPA */
	struct rr_mpa_frame frame; /* what it opened with; its private data is gone */
};

struct rr_decode_connection {
	struct rr_map_link link; /* by its ends */
	struct rr_list age;
	uint32_t number; /* from 0, in the order of the capture */
	struct rr_packet_end ends[2];
	struct rr_decode_connection_side sides[2];
};

/* What connections share. */
struct rr_decode_connections {
	struct rr_decode_memory *memory;
	struct rr_match *match;
	const struct rr_decode_sink *sink;
	struct rr_chunk_lists lists; /* to decode into */
	struct rr_decode_counters counters;
	uint64_t frame, time; /* of the packet */
	bool is_cut;          /* it was not captured whole */
};

/* The connection, side and time of the packet that is being decoded. */
struct rr_place rr_decode_place(const struct rr_decode_connections *shared, uint32_t connection, uint8_t from,
	const struct rr_packet_end *ends);

/* Pairs what the sender at place did, and shows it. */
void rr_decode_operation(
	struct rr_decode_connections *shared, const struct rr_place *place, const struct rr_op *op);

/* Octets, or packets, of the sender at place are missing. */
void rr_decode_lost(struct rr_decode_connections *shared, const struct rr_place *place);

/* A packet of the connection, sent by a side of it. */
void rr_decode_connection_packet(struct rr_decode_connections *shared,
	struct rr_decode_connection *connection, uint8_t from, const struct rr_packet *packet);

/* No more packets will come. */
void rr_decode_connection_finish(
	struct rr_decode_connections *shared, struct rr_decode_connection *connection);

/* Ends its transactions, frees what it has, and adds up what it counted. */
void rr_decode_connection_end(struct rr_decode_connections *shared, struct rr_decode_connection *connection);

#endif
