/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_CONNECTION_H
#define RR_DECODE_CONNECTION_H

#include "decode/decoder.h"
#include "decode/fpdu.h"
#include "decode/stream.h"

/* This is a TCP connection of a capture. It belongs to the decoder. */

struct rr_decode_connection_side {
	struct rr_stream stream;
	uint32_t first; /* the sequence number behind its SYN, if fpdus.begun */
	struct rr_fpdus fpdus;
	struct rr_rdmap rdmap;
	uint64_t wrong_crcs;       /* FPDUs */
	bool is_known;             /* the stream is not MPA, and the sink wants no more of it */
	struct rr_mpa_frame frame; /* its MPA frame, without the private data */
};

struct rr_decode_connection {
	struct rr_map_link link; /* by the two ends */
	struct rr_list age;
	uint32_t number; /* from 0, in the order of the capture */
	struct rr_packet_end ends[2];
	struct rr_decode_connection_side sides[2];
};

/* The parts that all connections of a decoder share, those of TCP and those of RoCE. */
struct rr_decode_connections {
	struct rr_decode_memory *memory;
	struct rr_match *match;
	const struct rr_decode_sink *sink;
	struct rr_chunk_lists lists; /* arrays for decoding */
	struct rr_decode_counters counters;
	uint64_t frame, time; /* of the current packet */
};

/* Returns the moment of the packet that is being decoded: its connection, side and time. */
struct rr_moment rr_decode_moment(const struct rr_decode_connections *shared, uint32_t connection,
	uint8_t from, const struct rr_packet_end *ends);

/* Handles an RDMA operation of the side that moment names. Decodes a Send, and passes its message to the
 * sink. Passes any other operation to the sink, with the offered memory that it is for. */
void rr_decode_operation(
	struct rr_decode_connections *shared, const struct rr_moment *moment, const struct rr_op *op);

/* Tells the sink that octets or packets of the side that moment names are missing, or cannot be decoded. */
void rr_decode_lost(struct rr_decode_connections *shared, const struct rr_moment *moment);

/* Decodes a packet that side "from" of the connection sent. */
void rr_decode_connection_packet(struct rr_decode_connections *shared,
	struct rr_decode_connection *connection, uint8_t from, const struct rr_packet *packet);

/* Decodes what can be decoded although no more packets will come. */
void rr_decode_connection_finish(
	struct rr_decode_connections *shared, struct rr_decode_connection *connection);

/* Ends the connection's transactions, frees its memory, and adds its counters to those that all connections
 * share. */
void rr_decode_connection_end(struct rr_decode_connections *shared, struct rr_decode_connection *connection);

#endif
