/* SPDX-License-Identifier: BSD-3-Clause */
#include "talk.h"

#include "base/endian.h"
#include "wire/private_data.h"
#include "wire/properties.h"

struct made made;

/* ---- Messages ---- */

void
put_rpc(struct rpcrdma_xdr_writer *writer, const struct said *said, uint32_t xid)
{
	const struct rr_call_header call = { .xid = xid, .prog = NFS, .vers = 3, .proc = said->rpc_proc };
	const struct rr_reply_header reply = { .xid = xid };

	if (said->rpc == CALL)
		rr_rpc_put_call(writer, &call);
	if (said->rpc == REPLY)
		rr_rpc_put_reply(writer, &reply);
}

void
send_octets(uint8_t from, const void *data, uint32_t size, uint32_t invalidated)
{
	const struct rr_ddp_header header = { .last = true,
		.opcode = invalidated ? RR_RDMAP_SEND_INVALIDATE : RR_RDMAP_SEND,
		.queue = RR_DDP_QUEUE_SEND,
		.msn = ++made.msn[from],
		.invalidate_stag = invalidated };

	made_fpdu(&made, from, &header, (struct rpcrdma_bytes){ data, size }, false);
}

/* Writes the message into out. Returns its size. */
static uint32_t
put_said(uint8_t out[MADE_PACKET], struct said said)
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
	uint32_t size;

	rpcrdma_xdr_writer_init(&writer, out, MADE_PACKET, NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &said.lists);
	put_rpc(&writer, &said, said.rpc_xid ? said.rpc_xid : xid);
	assert_false(writer.failed);
	size = (uint32_t)rpcrdma_xdr_length(&writer) + said.tail;
	if (said.tail >= 4)
		rr_put_be32(out + size - 4, said.last);
	return size;
}

void
say(uint8_t from, struct said said)
{
	uint8_t out[MADE_PACKET] = { 0 };

	send_octets(from, out, put_said(out, said), said.invalidated);
}

void
say_roce(uint8_t from, uint32_t psn, struct said said)
{
	enum { SEND_ONLY = 4 };
	uint8_t out[MADE_PACKET] = { 0 };
	uint32_t size = put_said(out, said);

	made_roce(&made, from, SEND_ONLY, from == CLIENT ? MADE_SERVER_QP : MADE_CLIENT_QP, psn,
		(struct rpcrdma_bytes){ out, size });
}

/* ---- Chunk lists ---- */

struct rr_segment one_segment = { HANDLE, 1000, OFFSET };

struct rr_chunk_lists
write_chunk(struct rr_segment *segments, uint32_t count)
{
	static struct rr_chunk chunks[2];

	chunks[0] = (struct rr_chunk){ segments, count };
	return (struct rr_chunk_lists){
		.writes = chunks, .write_count = 1, .segments = segments, .segment_count = count
	};
}

struct rr_chunk_lists
reply_chunk(struct rr_segment *segments, uint32_t count)
{
	return (struct rr_chunk_lists){
		.has_reply = true, .reply = { segments, count }, .segments = segments, .segment_count = count
	};
}

struct rr_chunk_lists
read_chunk(uint32_t position, uint32_t length)
{
	static struct rr_read_segment read;

	read = (struct rr_read_segment){ position, { HANDLE, length, OFFSET } };
	return (struct rr_chunk_lists){ .reads = &read, .read_count = 1 };
}

/* Returns the segment of a Write chunk or Reply chunk, as a reply returns it. */
struct rr_segment *
returned(uint32_t length)
{
	static struct rr_segment segment;

	segment = (struct rr_segment){ HANDLE, length, OFFSET };
	return &segment;
}

/* ---- RDMA ---- */

void
rdma_write(uint32_t handle, uint64_t offset, uint32_t size)
{
	static const uint8_t data[MADE_PACKET];
	const struct rr_ddp_header header = {
		.tagged = true, .last = true, .opcode = RR_RDMAP_WRITE, .stag = handle, .to = offset
	};

	made_fpdu(&made, SERVER, &header, (struct rpcrdma_bytes){ data, size }, false);
}

void
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

void
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

/* Connects both sides, which announce the size. from_server: the server announces remote invalidation, as the
 * client does. */
void
open_with(uint32_t size, bool from_server)
{
	made_tcp(&made, CLIENT, RR_TCP_SYN, NULL, 0);
	made_tcp(&made, SERVER, RR_TCP_SYN | RR_TCP_ACK, NULL, 0);
	open_side(false, size, true);
	open_side(true, size, from_server);
	made.msn[0] = made.msn[1] = 0;
	made.read_msn[0] = made.read_msn[1] = 0;
}

void
reopen(uint32_t size)
{
	made.client++;
	made.sequence[0] += 1000;
	made.sequence[1] += 1000;
	open_with(size, true);
}

/* Lets a side announce, in version 2, that it accepts replies in Read chunks. */
void
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

void
pull_reply(void)
{
	announce(CLIENT);
	announce(SERVER);
	CALLS(.vers = 2);
	say(SERVER, (struct said){ .vers = 2, .proc = RR_RDMA_NOMSG, .lists = read_chunk(0, 100) });
	rdma_read(CLIENT, HANDLE, OFFSET, 100);
	rdma_response(SERVER, 0, 100, true);
	say(CLIENT, (struct said){ .vers = 2, .proc = RR_RDMA_DONE });
}
