/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_DECODE_DECODE_H
#define RR_TOOL_DECODE_DECODE_H

#include <stdio.h>

#include "base/text.h"
#include "decode/judge/judge.h"
#include "tool/tool.h"

/* The most conditions of --filter; octets of memory for the text of an address and port. */
enum { RR_DECODE_FILTERS = 16, RR_DECODE_END_TEXT = 56 };

/* A condition of --filter. A message is printed if all conditions hold. */
struct rr_decode_filter {
	enum { RR_FILTER_XID, RR_FILTER_PROCEDURE, RR_FILTER_CONNECTION } field;
	uint32_t number;
	const char *name; /* of a procedure; NULL if the procedure is given by number */
};

/* The options of `rpcrdma decode`, and its progress. */
struct rr_decode {
	bool json, verbose, check;
	struct rr_decode_filter filters[RR_DECODE_FILTERS];
	uint32_t filter_count;
	bool has_first; /* a packet was read, so that `first` is set */
	uint64_t first; /* time of the first packet, ns; the lines of text show times relative to it */
};

/* Adds the condition in text, FIELD=VALUE, to the filters. Returns 0; or -RPCRDMA_ERR_INVAL, with a text in
 * *error. */
int rr_decode_filter_add(struct rr_decode *decode, const char *text, struct rr_text *error);
/* Tells whether the message meets all conditions of --filter. */
bool rr_decode_filter_message(const struct rr_decode *decode, const struct rr_message *message);
/* Tells whether an event that is no message meets all conditions of --filter. Only conditions on the
 * connection can hold for such an event. */
bool rr_decode_filter_moment(const struct rr_decode *decode, const struct rr_moment *moment);
/* Tells whether a finding (a rule that was broken) meets all conditions of --filter. Only conditions on the
 * connection can hold for a finding, and conditions on the XID if the finding has one. */
bool rr_decode_filter_finding(const struct rr_decode *decode, const struct rr_finding *finding);

/* Returns the callbacks to which a decoder gives its messages and events, and which print them as lines of
 * text. decode becomes their ctx. */
struct rr_decode_sink rr_decode_text_sink(struct rr_decode *decode);
/* Returns callbacks that print a JSON object on each line instead. */
struct rr_decode_sink rr_decode_json_sink(struct rr_decode *decode);

/* Prints frame, time, connection and direction of a packet, as in "12 0.001234 [0] 192.0.2.1:1000 >
 * 192.0.2.2:20049 ". */
void rr_decode_text_moment(const struct rr_decode *decode, const struct rr_moment *moment);
/* Prints an opening brace and the members that all JSON objects begin with; "event" has the value `event`. */
void rr_decode_json_moment(const char *event, const struct rr_moment *moment);

/* check.c, --check: judges the messages of the file, prints each one that breaks a rule, and a
 * summary. Returns an exit status. */
int rr_decode_check(const struct rr_tool *tool, struct rr_decode *decode, const char *path);

/* decode.c: decodes the file and gives its messages to the callbacks in `sink`. Warns of all data that was
 * not decoded. Returns an exit status, after a message if it is not OK. */
int rr_decode_file(const struct rr_tool *tool, struct rr_decode *decode, const struct rr_decode_sink *sink,
	const char *path);

/* text_fields.c: prints the lines that --verbose adds to a message. */
void rr_decode_text_fields(const struct rr_message *message);
/* Prints the line of an RDMA operation, behind its moment. region: the chunk whose octets it moves; NULL: not
 * known. */
void rr_decode_text_operation(const struct rr_op *op, const struct rr_decode_region *region);

/* Writes an address and port, "192.0.2.1:20049" or "[2001:db8::1]:20049", into text, which has
 * RR_DECODE_END_TEXT octets. Returns text. */
const char *rr_decode_end_text(const struct rr_packet_end *end, char *text);

/* These functions return names for people and for programs, such as "call" and "Write chunk". */
const char *rr_decode_kind_name(enum rr_message_kind kind);
const char *rr_decode_region_name(enum rr_region_kind kind);
const char *rr_decode_op_name(enum rr_op_kind kind);
const char *rr_decode_result_name(enum rr_header_result result);

/* Gives each packet of the file to the decoder, and sets decode->first, the time of the first packet. path
 * "-" means standard input. Returns 0; -RPCRDMA_ERR_NOTSUP if the command was built without libpcap;
 * -RPCRDMA_ERR_SYSTEM if the file cannot be read to its end. */
int rr_decode_read(
	struct rr_decode *decode, const char *path, struct rr_decoder *decoder, struct rr_text *error);

#endif
