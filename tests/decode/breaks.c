/* SPDX-License-Identifier: BSD-3-Clause */
#include "breaks.h"

#include <string.h>

#include "base/endian.h"
#include "talk.h"

/* Each rule has a conversation that breaks this rule, and no other rule. */

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

/* This conversation goes over RoCE. */
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
	pull_reply();
	say(CLIENT, (struct said){ .vers = 2, .proc = RR_RDMA_DONE });
}

const struct broken breaks[RR_RULES] = {
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
