/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "decode/judge.h"
#include "made.h"
#include "mutate.h"
#include "wire/private_data.h"
#include "wire/properties.h"

/*
 * Each rule has a conversation that breaks it, and no other one. They are made of messages here, as
 * an implementation that has the defect would send them.
 */

static struct made made;

enum {
	XID = 77,
	HANDLE = 0x1234,
	OTHER = 0x5678,
	SINK = 0x99,
	OFFSET = 4096,
	NFS = 100003,
	READ = 6,
	WRITE = 7,
	CREATE = 8,
	BODY = 40
};
enum { CLIENT, SERVER };

/* ---- Messages ---- */

enum rpc { NOTHING, CALL, REPLY };

struct said {
	uint32_t xid, vers, proc, credit; /* 0: XID, 1, RDMA_MSG, 8 */
	bool no_credit;
	uint32_t rpc_xid; /* 0: that of the header */
	enum rpc rpc;
	uint32_t rpc_proc;
	uint32_t tail; /* octets behind the RPC header */
	uint32_t last; /* the last word of them */
	uint32_t invalidated;
	uint32_t err, low, high;
	uint32_t opttype;
	struct rpcrdma_bytes optinfo;
	struct rr_chunk_lists lists;
};

static void
put_rpc(struct rpcrdma_xdr_writer *writer, const struct said *said, uint32_t xid)
{
	const struct rr_call_header call = { .xid = xid, .prog = NFS, .vers = 3, .proc = said->rpc_proc };
	const struct rr_reply_header reply = { .xid = xid };

	if (said->rpc == CALL)
		rr_rpc_put_call(writer, &call);
	if (said->rpc == REPLY)
		rr_rpc_put_reply(writer, &reply);
}

static void
send_octets(uint8_t from, const void *data, uint32_t size, uint32_t invalidated)
{
	const struct rr_ddp_header header = { .last = true,
		.opcode = invalidated ? RR_RDMAP_SEND_INVALIDATE : RR_RDMAP_SEND,
		.queue = RR_DDP_QUEUE_SEND,
		.msn = ++made.msn[from],
		.invalidate_stag = invalidated };

	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ data, size }, false);
}

static void
say(uint8_t from, struct said said)
{
	uint32_t xid = said.xid ? said.xid : XID;
	const struct rr_rdma_header header = { .xid = xid,
		.vers = said.vers ? said.vers : 1,
		.credit = said.no_credit ? 0
			  : said.credit  ? said.credit
					 : 8,
		.proc = said.proc,
		.err = said.err,
		.vers_low = said.low,
		.vers_high = said.high,
		.opttype = said.opttype,
		.optinfo = said.optinfo };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[MADE_PACKET] = { 0 };
	uint32_t size;

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &said.lists);
	put_rpc(&writer, &said, said.rpc_xid ? said.rpc_xid : xid);
	assert_false(writer.failed);
	size = (uint32_t)rpcrdma_xdr_length(&writer) + said.tail;
	if (said.tail >= 4)
		rr_put_be32(out + size - 4, said.last);
	send_octets(from, out, size, said.invalidated);
}

#define CALLS(...)   say(CLIENT, (struct said){ .rpc = CALL, __VA_ARGS__ })
#define REPLIES(...) say(SERVER, (struct said){ .rpc = REPLY, __VA_ARGS__ })

/* ---- Chunk lists ---- */

static struct rr_segment one_segment = { HANDLE, 1000, OFFSET };

static struct rr_chunk_lists
write_chunk(struct rr_segment *segments, uint32_t count)
{
	static struct rr_chunk chunks[2];

	chunks[0] = (struct rr_chunk){ segments, count };
	return (struct rr_chunk_lists){
		.writes = chunks, .write_count = 1, .segments = segments, .segment_count = count
	};
}

static struct rr_chunk_lists
reply_chunk(struct rr_segment *segments, uint32_t count)
{
	return (struct rr_chunk_lists){
		.has_reply = true, .reply = { segments, count }, .segments = segments, .segment_count = count
	};
}

static struct rr_chunk_lists
read_chunk(uint32_t position, uint32_t length)
{
	static struct rr_read_segment read;

	read = (struct rr_read_segment){ position, { HANDLE, length, OFFSET } };
	return (struct rr_chunk_lists){ .reads = &read, .read_count = 1 };
}

/* A Write chunk, or a Reply chunk, as it comes back. */
static struct rr_segment *
returned(uint32_t length)
{
	static struct rr_segment segment;

	segment = (struct rr_segment){ HANDLE, length, OFFSET };
	return &segment;
}

/* ---- RDMA ---- */

static void
rdma_write(uint32_t handle, uint64_t offset, uint32_t size)
{
	static const uint8_t data[MADE_PACKET];
	const struct rr_ddp_header header = {
		.tagged = true, .last = true, .opcode = RR_RDMAP_WRITE, .stag = handle, .to = offset
	};

	made_fpdu(&made, SERVER, &header, (struct rpcrdma_bytes){ data, size }, false);
}

static void
rdma_read(uint8_t from, uint32_t handle, uint64_t offset, uint32_t size)
{
	const struct rr_read_request request = { SINK, 0, size, handle, offset };
	struct rr_ddp_header header = {
		.last = true, .opcode = RR_RDMAP_READ_REQUEST, .queue = RR_DDP_QUEUE_READ_REQUEST
	};
	uint8_t out[RR_READ_REQUEST_SIZE];

	header.msn = ++made.read_msn[from];
	rr_read_request_put(out, &request);
	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ out, sizeof(out) }, false);
}

static void
rdma_response(uint8_t from, uint64_t to, uint32_t size, bool last)
{
	static const uint8_t data[MADE_PACKET];
	const struct rr_ddp_header header = {
		.tagged = true, .last = last, .opcode = RR_RDMAP_READ_RESPONSE, .stag = SINK, .to = to
	};

	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ data, size }, false);
}

/* ---- Connections ---- */

static void
open_side(bool reply, uint32_t size, bool invalidates)
{
	const struct rr_private_data data = { size, size, invalidates };
	struct rr_mpa_frame frame = { .revision = 1, .reply = reply };
	uint8_t out[RR_MPA_FRAME_MAX], octets[RR_PRIVATE_DATA_SIZE];

	rr_private_data_put(octets, &data);
	frame.private_data = octets;
	frame.private_data_length = sizeof(octets);
	made_tcp(&made, reply, RR_TCP_ACK, out, (uint32_t)rr_mpa_put(out, sizeof(out), &frame));
}

/* Both sides announce the size; from_server: whether the server announces remote invalidation, as the client
 * does. */
static void
open_with(uint32_t size, bool from_server)
{
	made_tcp(&made, CLIENT, RR_TCP_SYN, NULL, 0);
	made_tcp(&made, SERVER, RR_TCP_SYN | RR_TCP_ACK, NULL, 0);
	open_side(false, size, true);
	open_side(true, size, from_server);
	made.msn[0] = made.msn[1] = 0;
	made.read_msn[0] = made.read_msn[1] = 0;
}

static void
reopen(uint32_t size)
{
	made.client++;
	made.sequence[0] += 1000;
	made.sequence[1] += 1000;
	open_with(size, true);
}

/* Both sides of version 2 say that they take replies in Read chunks. */
static void
announce(uint8_t from)
{
	uint32_t values[RR_PROPERTIES] = { [RR_PROPERTY_READ_CHUNKS] = 1 };
	struct rr_property_message message = { .set = rr_property_set(
						       1u << RR_PROPERTY_READ_CHUNKS, values) };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[RR_PROPERTY_INFO_MAX];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_property_put(&writer, RR_CONNPROP, &message, message.set.count);
	say(from, (struct said){ .xid = 1,
			  .vers = 2,
			  .proc = RR_RDMA_OPTIONAL,
			  .opttype = RR_CONNPROP,
			  .optinfo = { out, (uint32_t)rpcrdma_xdr_length(&writer) } });
}

/* ---- What breaks each rule ---- */

static void
break_tcp(void)
{
	const struct rr_call_header call = { .xid = 5, .prog = NFS, .vers = 3, .proc = 1 };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256] = { 0 };

	CALLS();
	REPLIES();
	made.client++;
	made_tcp(&made, CLIENT, RR_TCP_SYN, NULL, 0);
	rpcrdma_xdr_writer_init(&writer, out + 4, sizeof(out) - 4, NULL, 0);
	rr_rpc_put_call(&writer, &call);
	out[0] = 0x80;
	made_tcp(&made, CLIENT, RR_TCP_ACK, out, 4 + (uint32_t)rpcrdma_xdr_length(&writer));
}

static void
break_xid(void)
{
	CALLS(.rpc_xid = XID + 1);
}

static void
break_body(void)
{
	say(CLIENT, (struct said){ .rpc = NOTHING });
}

static void
break_no_body(void)
{
	CALLS(.proc = RR_RDMA_NOMSG, .lists = read_chunk(0, 100));
}

static void
break_nowhere(void)
{
	CALLS();
	say(SERVER, (struct said){ .proc = RR_RDMA_NOMSG });
}

static void
break_retired(void)
{
	uint8_t done[28] = { 0 };

	CALLS();
	REPLIES();
	rr_put_be32(done, XID);
	rr_put_be32(done + 4, 1);
	rr_put_be32(done + 8, 1);
	rr_put_be32(done + 12, RR_RDMA_DONE);
	send_octets(CLIENT, done, sizeof(done), 0);
}

static void
break_twice(void)
{
	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	CALLS();
	CALLS();
}

static void
break_unanswered(void)
{
	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	CALLS();
	for (uint32_t i = 0; i < 64; i++) {
		CALLS(.xid = 100 + i);
		REPLIES(.xid = 100 + i);
	}
}

static void
break_chunk_kind(void)
{
	CALLS(.rpc_proc = CREATE, .lists = write_chunk(&one_segment, 1));
}

static void
break_overlap(void)
{
	static struct rr_segment segments[] = { { HANDLE, 1000, OFFSET }, { HANDLE, 1000, OFFSET + 999 } };

	CALLS(.rpc_proc = READ, .lists = write_chunk(segments, 2));
}

static void
break_position(void)
{
	CALLS(.rpc_proc = WRITE, .lists = read_chunk(4000, 100));
}

static void
break_position_zero(void)
{
	CALLS(.rpc_proc = WRITE, .lists = read_chunk(0, 100));
}

static void
break_not_offered(void)
{
	CALLS(.rpc_proc = READ);
	rdma_write(OTHER, OFFSET, 100);
}

static void
break_direction(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_read(SERVER, HANDLE, OFFSET, 100);
}

static void
break_empty_reply(void)
{
	static struct rr_segment segments[] = { { HANDLE, 1000, OFFSET }, { OTHER, 0, OFFSET } };

	CALLS(.lists = reply_chunk(segments, 2));
}

static void
break_returned(void)
{
	static struct rr_segment other = { OTHER, 0, OFFSET };

	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	REPLIES(.lists = write_chunk(&other, 1));
}

static void
break_longer(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 1000);
	REPLIES(.lists = write_chunk(returned(1001), 1), .tail = BODY, .last = 1001);
}

static void
break_reply_reads(void)
{
	CALLS();
	say(SERVER, (struct said){ .proc = RR_RDMA_NOMSG, .rpc = NOTHING, .lists = read_chunk(0, 100) });
}

static void
break_reply_chunk(void)
{
	CALLS(.lists = reply_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 100);
	REPLIES(.lists = reply_chunk(returned(100), 1));
}

static void
break_empty_segment(void)
{
	static struct rr_segment segments[] = { { HANDLE, 1000, OFFSET }, { OTHER, 0, OFFSET } };

	CALLS(.rpc_proc = READ, .lists = write_chunk(segments, 2));
	rdma_write(OTHER, OFFSET, 0);
}

static void
break_outside(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 1001);
}

static void
break_order(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 100);
	rdma_write(HANDLE, OFFSET + 200, 100);
}

static void
break_length(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 100);
	REPLIES(.lists = write_chunk(returned(200), 1), .tail = BODY, .last = 200);
}

static void
break_late(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	REPLIES(.lists = write_chunk(returned(0), 1));
	rdma_write(HANDLE, OFFSET, 100);
}

static void
break_read_response(void)
{
	CALLS(.rpc_proc = WRITE, .tail = BODY, .lists = read_chunk(48, 100));
	rdma_read(SERVER, HANDLE, OFFSET, 100);
	rdma_response(CLIENT, 0, 96, true);
}

static void
break_send_segments(void)
{
	CALLS();
	made.msn[SERVER]++;
	REPLIES();
	CALLS();
	REPLIES();
}

static void
break_credits(void)
{
	CALLS(.xid = 1);
	CALLS(.xid = 2);
}

static void
break_grant(void)
{
	CALLS();
	REPLIES(.no_credit = true);
}

/* Over RoCE. */
static void
break_no_receive(void)
{
	static const uint8_t syndrome[4] = { 0x20 };
	const struct rr_rdma_header header = { .xid = XID, .vers = 1, .credit = 1 };
	const struct said said = { .rpc = CALL };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	made_begin(&made);
	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	put_rpc(&writer, &said, XID);
	made_roce(&made, CLIENT, 4, 0x101, 9,
		(struct rpcrdma_bytes){ out, (uint32_t)rpcrdma_xdr_length(&writer) });
	made_roce(&made, SERVER, 17, 0x100, 9, (struct rpcrdma_bytes){ syndrome, 4 });
}

static void
break_threshold(void)
{
	made_begin(&made);
	open_with(1024, true);
	CALLS(.tail = 1024);
}

static void
break_range(void)
{
	CALLS();
	say(SERVER, (struct said){ .proc = RR_RDMA_ERROR, .err = RR_ERR_VERS, .low = 2, .high = 1 });
}

static void
break_error_version(void)
{
	CALLS();
	say(SERVER, (struct said){ .vers = 2, .proc = RR_RDMA_ERROR, .err = RR_ERR_BAD_HEADER });
}

static void
break_error_of_error(void)
{
	CALLS();
	say(SERVER, (struct said){ .proc = RR_RDMA_ERROR, .err = RR_ERR_CHUNK });
	say(CLIENT, (struct said){ .proc = RR_RDMA_ERROR, .err = RR_ERR_CHUNK });
}

static void
break_malformed(void)
{
	uint8_t octets[40] = { 0 };

	memset(octets, 0xff, sizeof(octets));
	rr_put_be32(octets, XID);
	rr_put_be32(octets + 4, 1);
	rr_put_be32(octets + 12, RR_RDMA_MSG);
	send_octets(CLIENT, octets, sizeof(octets), 0);
}

static void
break_padding(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 104);
	REPLIES(.lists = write_chunk(returned(104), 1), .tail = BODY, .last = 101);
}

static void
break_reverse_version(void)
{
	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	say(SERVER, (struct said){ .vers = 2, .rpc = CALL });
}

static void
break_repeated(void)
{
	CALLS(.rpc_proc = CREATE);
	REPLIES(.tail = 4, .last = 0);
	reopen(4096);
	CALLS(.rpc_proc = CREATE);
	REPLIES(.tail = 4, .last = 17);
}

static void
break_stray_reply(void)
{
	CALLS();
	REPLIES();
	REPLIES();
}

static void
break_write_chunks(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	REPLIES();
}

static void
break_invalidation(void)
{
	made_begin(&made);
	open_with(4096, false);
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	REPLIES(.lists = write_chunk(returned(0), 1), .invalidated = HANDLE);
}

static void
break_invalidated(void)
{
	CALLS(.rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	REPLIES(.lists = write_chunk(returned(0), 1), .invalidated = OTHER);
}

static void
break_old_threshold(void)
{
	reopen(1024);
	CALLS(.tail = 1024);
}

static void
break_version_refused(void)
{
	CALLS(.xid = 1, .vers = 2);
	say(SERVER, (struct said){ .xid = 1,
			    .vers = 2,
			    .proc = RR_RDMA_ERROR,
			    .err = RR_ERR_VERS,
			    .low = 1,
			    .high = 1 });
	CALLS(.vers = 2);
}

static void
break_option(void)
{
	say(CLIENT, (struct said){ .vers = 2, .proc = RR_RDMA_OPTIONAL, .opttype = 4711 });
	say(SERVER, (struct said){ .vers = 2, .proc = RR_RDMA_ERROR, .err = RR_ERR_BAD_HEADER });
}

static void
break_provided(void)
{
	announce(CLIENT);
	CALLS(.vers = 2);
	say(SERVER, (struct said){ .vers = 2, .proc = RR_RDMA_NOMSG, .lists = read_chunk(0, 100) });
}

static void
break_done(void)
{
	announce(CLIENT);
	announce(SERVER);
	CALLS(.vers = 2);
	say(SERVER, (struct said){ .vers = 2, .proc = RR_RDMA_NOMSG, .lists = read_chunk(0, 100) });
	rdma_read(CLIENT, HANDLE, OFFSET, 100);
	rdma_response(SERVER, 0, 100, true);
	say(CLIENT, (struct said){ .vers = 2, .proc = RR_RDMA_DONE });
	say(CLIENT, (struct said){ .vers = 2, .proc = RR_RDMA_DONE });
}

/* name: that of its capture in corpus/, behind the row. */
static const struct {
	const char *name;
	void (*make)(void);
} breaks[RR_RULES] = {
	[RR_RULE_TCP] = { "tcp", break_tcp },
	[RR_RULE_XID] = { "xid", break_xid },
	[RR_RULE_BODY] = { "body", break_body },
	[RR_RULE_NO_BODY] = { "no-body", break_no_body },
	[RR_RULE_NOWHERE] = { "nowhere", break_nowhere },
	[RR_RULE_RETIRED] = { "retired", break_retired },
	[RR_RULE_TWICE] = { "twice", break_twice },
	[RR_RULE_UNANSWERED] = { "unanswered", break_unanswered },
	[RR_RULE_CHUNK_KIND] = { "chunk-kind", break_chunk_kind },
	[RR_RULE_OVERLAP] = { "overlap", break_overlap },
	[RR_RULE_POSITION] = { "position", break_position },
	[RR_RULE_POSITION_ZERO] = { "position-zero", break_position_zero },
	[RR_RULE_NOT_OFFERED] = { "not-offered", break_not_offered },
	[RR_RULE_DIRECTION] = { "direction", break_direction },
	[RR_RULE_EMPTY_REPLY] = { "empty-reply", break_empty_reply },
	[RR_RULE_RETURNED] = { "returned", break_returned },
	[RR_RULE_LONGER] = { "longer", break_longer },
	[RR_RULE_REPLY_READS] = { "reply-reads", break_reply_reads },
	[RR_RULE_REPLY_CHUNK] = { "reply-chunk", break_reply_chunk },
	[RR_RULE_EMPTY_SEGMENT] = { "empty-segment", break_empty_segment },
	[RR_RULE_OUTSIDE] = { "outside", break_outside },
	[RR_RULE_ORDER] = { "order", break_order },
	[RR_RULE_LENGTH] = { "length", break_length },
	[RR_RULE_LATE] = { "late", break_late },
	[RR_RULE_READ_RESPONSE] = { "read-response", break_read_response },
	[RR_RULE_SEND_SEGMENTS] = { "send-segments", break_send_segments },
	[RR_RULE_CREDITS] = { "credits", break_credits },
	[RR_RULE_GRANT] = { "grant", break_grant },
	[RR_RULE_NO_RECEIVE] = { "no-receive", break_no_receive },
	[RR_RULE_THRESHOLD] = { "threshold", break_threshold },
	[RR_RULE_RANGE] = { "range", break_range },
	[RR_RULE_ERROR_VERSION] = { "error-version", break_error_version },
	[RR_RULE_ERROR_OF_ERROR] = { "error-of-error", break_error_of_error },
	[RR_RULE_MALFORMED] = { "malformed", break_malformed },
	[RR_RULE_PADDING] = { "padding", break_padding },
	[RR_RULE_REVERSE_VERSION] = { "reverse-version", break_reverse_version },
	[RR_RULE_REPEATED] = { "repeated", break_repeated },
	[RR_RULE_STRAY_REPLY] = { "stray-reply", break_stray_reply },
	[RR_RULE_WRITE_CHUNKS] = { "write-chunks", break_write_chunks },
	[RR_RULE_INVALIDATION] = { "invalidation", break_invalidation },
	[RR_RULE_INVALIDATED] = { "invalidated", break_invalidated },
	[RR_RULE_OLD_THRESHOLD] = { "old-threshold", break_old_threshold },
	[RR_RULE_VERSION_REFUSED] = { "version-refused", break_version_refused },
	[RR_RULE_OPTION] = { "option", break_option },
	[RR_RULE_PROVIDED] = { "provided", break_provided },
	[RR_RULE_DONE] = { "done", break_done },
};

/* ---- Judging ---- */

struct verdict {
	uint32_t counts[RR_RULES];
	uint64_t messages;
};

static void
judge_found(void *ctx, const struct rr_finding *finding)
{
	struct verdict *verdict = ctx;

	assert_true(finding->rule < RR_RULES && finding->detail);
	verdict->counts[finding->rule]++;
}

static struct verdict
judge(void)
{
	struct verdict verdict = { { 0 }, 0 };
	struct rr_decode_sink sink;
	struct rr_decoder *decoder;
	struct rr_judge *judge;

	assert_int_equal(rr_judge_new(&rr_env_system, judge_found, &verdict, &judge), 0);
	sink = rr_judge_sink(judge);
	assert_int_equal(rr_decoder_new(&rr_env_system, NULL, &sink, &decoder), 0);
	for (uint32_t i = 0; i < made.count; i++)
		rr_decoder_packet(decoder, RR_LINK_RAW, i, made.packets[i].data, made.packets[i].size);
	rr_decoder_finish(decoder);
	rr_judge_finish(judge);
	verdict.messages = rr_judge_messages(judge);
	rr_decoder_free(decoder);
	rr_judge_free(judge);
	return verdict;
}

static void
assert_only(const struct verdict *verdict, enum rr_rule rule)
{
	for (uint32_t i = 0; i < RR_RULES; i++) {
		if (i != rule && verdict->counts[i] > 0)
			fail_msg("%s (%s) is found where %s (%s) is broken", rr_rules[i].row,
				rr_rules[i].text, rule < RR_RULES ? rr_rules[rule].row : "nothing",
				rule < RR_RULES ? rr_rules[rule].text : "");
		if (i == rule && verdict->counts[i] == 0)
			fail_msg("%s (%s) is not found", rr_rules[i].row, rr_rules[i].text);
	}
}

static void
make_broken(uint32_t rule)
{
	made_begin(&made);
	open_with(4096, true);
	assert_non_null(breaks[rule].make);
	breaks[rule].make();
}

static void
each_rule_is_found_where_it_alone_is_broken(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RR_RULES; i++) {
		struct verdict verdict;

		make_broken(i);
		verdict = judge();
		assert_only(&verdict, (enum rr_rule)i);
	}
}

static void
each_rule_has_a_row_a_section_and_a_text(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < RR_RULES; i++)
		assert_true(rr_rules[i].row && rr_rules[i].section && rr_rules[i].text);
}

/* A conversation of all that a judge looks at. */
static void
converse(void)
{
	static struct rr_segment two[] = { { HANDLE, 1000, OFFSET }, { OTHER, 1000, 0 } };
	static struct rr_segment back[] = { { HANDLE, 1000, OFFSET }, { OTHER, 1, 0 } };

	CALLS(.xid = 1);
	REPLIES(.xid = 1);
	CALLS(.xid = 2, .rpc_proc = READ, .lists = write_chunk(two, 2));
	CALLS(.xid = 3, .rpc_proc = WRITE, .tail = BODY, .lists = read_chunk(48, 101));
	rdma_write(HANDLE, OFFSET, 500);
	rdma_read(SERVER, HANDLE, OFFSET, 101);
	rdma_write(HANDLE, OFFSET + 500, 500);
	rdma_response(CLIENT, 0, 100, false);
	rdma_write(OTHER, 0, 1);
	rdma_response(CLIENT, 100, 1, true);
	REPLIES(.xid = 3, .invalidated = HANDLE);
	REPLIES(.xid = 2, .lists = write_chunk(back, 2), .tail = BODY, .last = 1001, .invalidated = OTHER);
	CALLS(.xid = 4, .rpc_proc = 17, .lists = reply_chunk(&one_segment, 1));
	REPLIES(.xid = 4);
	CALLS(.xid = 5, .rpc_proc = 17, .lists = reply_chunk(&one_segment, 1));
	rdma_write(HANDLE, OFFSET, 900);
	say(SERVER, (struct said){ .xid = 5, .proc = RR_RDMA_NOMSG, .lists = reply_chunk(returned(900), 1) });
	say(SERVER, (struct said){ .xid = 5, .rpc = CALL });
	say(CLIENT, (struct said){ .xid = 5, .rpc = REPLY });
	CALLS(.xid = 6, .rpc_proc = READ, .lists = write_chunk(&one_segment, 1));
	say(SERVER, (struct said){ .xid = 6, .proc = RR_RDMA_ERROR, .err = RR_ERR_CHUNK });
}

static void
good_traffic_has_no_findings(void **state)
{
	struct verdict verdict;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	converse();
	verdict = judge();
	assert_only(&verdict, RR_RULES);
	assert_int_equal(verdict.messages, 14);
}

/* What was not captured may be what makes the rest good. */
static void
what_is_missing_in_a_capture_is_no_finding(void **state)
{
	uint32_t count;

	(void)state;
	made_begin(&made);
	open_with(4096, true);
	converse();
	count = made.count;
	for (uint32_t first = 0; first < count; first++) {
		for (uint32_t lost = 1; lost < 4 && first + lost < count; lost++) {
			struct verdict verdict;

			made_begin(&made);
			open_with(4096, true);
			converse();
			made.count -= lost;
			memmove(&made.packets[first], &made.packets[first + lost],
				(made.count - first) * sizeof(made.packets[0]));
			verdict = judge();
			assert_only(&verdict, RR_RULES);
		}
	}
}

/* ---- Anything may be captured ---- */

static const char *
judge_changed(const uint8_t *data, size_t size, void *context)
{
	uint32_t *index = context;

	if (size > MADE_PACKET)
		return "too large";
	memcpy(made.packets[*index].data, data, size);
	made.packets[*index].size = (uint32_t)size;
	judge();
	return NULL;
}

static void
no_change_of_a_packet_breaks_anything(void **state)
{
	(void)state;
	for (uint32_t index = 2; index < 10; index++) {
		struct made_packet packet;

		made_begin(&made);
		open_with(4096, true);
		converse();
		packet = made.packets[index];
		rr_mutate(packet.data, packet.size, judge_changed, &index);
	}
}

/* ---- The same as files, for other tools ---- */

static int
write_corpus(const char *directory)
{
	for (uint32_t i = 0; i < RR_RULES; i++) {
		char path[4096];
		int size = snprintf(
			path, sizeof(path), "%s/%s-%s.pcap", directory, rr_rules[i].row, breaks[i].name);

		make_broken(i);
		if (size >= (int)sizeof(path) || !made_write(&made, path)) {
			fprintf(stderr, "%s/%s-%s.pcap: the capture could not be written\n", directory,
				rr_rules[i].row, breaks[i].name);
			return 1;
		}
	}
	return 0;
}

/* With the name of a directory: writes a capture for each rule there. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_a_row_a_section_and_a_text),
		cmocka_unit_test(each_rule_is_found_where_it_alone_is_broken),
		cmocka_unit_test(good_traffic_has_no_findings),
		cmocka_unit_test(what_is_missing_in_a_capture_is_no_finding),
		cmocka_unit_test(no_change_of_a_packet_breaks_anything),
	};

	if (argc == 2)
		return write_corpus(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
