/* SPDX-License-Identifier: BSD-3-Clause */
#include "made.h"

#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "decode/roce/roce.h"

/* ---- Packets ---- */

void
made_begin(struct made *made)
{
	memset(made, 0, sizeof(*made));
	made->client = MADE_CLIENT;
	made->sequence[0] = UINT32_C(0xfffffff0); /* it wraps around soon */
	made->sequence[1] = 7;
}

void
made_tcp(struct made *made, uint8_t from, uint8_t flags, const void *data, uint32_t size)
{
	struct made_packet *packet = &made->packets[made->count++];
	uint8_t *ip = packet->data, *tcp = ip + 20;

	assert_true(made->count <= MADE_PACKETS && size <= MADE_PACKET - 40);
	packet->size = 40 + size;
	ip[0] = 0x45;
	rr_put_be16(ip + 2, (uint16_t)packet->size);
	ip[8] = 64;
	ip[9] = RR_IP_TCP;
	rr_put_be32(ip + 12, 0x0a000001u + from);
	rr_put_be32(ip + 16, 0x0a000002u - from);
	rr_put_be16(tcp, from ? MADE_SERVER : made->client);
	rr_put_be16(tcp + 2, from ? made->client : MADE_SERVER);
	rr_put_be32(tcp + 4, made->sequence[from]);
	rr_put_be32(tcp + 8, made->sequence[!from]);
	tcp[12] = 0x50;
	tcp[13] = flags;
	if (size > 0)
		memcpy(tcp + 20, data, size);
	made->sequence[from] += size + (flags & RR_TCP_SYN ? 1 : 0);
}

void
made_roce(
	struct made *made, uint8_t from, uint8_t opcode, uint32_t qp, uint32_t psn, struct rpcrdma_bytes data)
{
	struct made_packet *packet = &made->packets[made->count++];
	uint8_t *ip = packet->data, *udp = ip + 20, *bth = udp + 8;

	assert_true(made->count <= MADE_PACKETS && data.length <= MADE_PACKET - 44);
	packet->size = 44 + data.length; /* IP 20, UDP 8, BTH 12, CRC 4 */
	memset(packet->data, 0, packet->size);
	ip[0] = 0x45;
	rr_put_be16(ip + 2, (uint16_t)packet->size);
	ip[9] = RR_IP_UDP;
	rr_put_be32(ip + 12, 0x0a000001u + from);
	rr_put_be32(ip + 16, 0x0a000002u - from);
	rr_put_be16(udp, 50000);
	rr_put_be16(udp + 2, RR_ROCE_PORT);
	rr_put_be16(udp + 4, (uint16_t)(24 + data.length));
	bth[0] = opcode;
	rr_put_be32(bth + 4, qp);
	rr_put_be32(bth + 8, psn);
	if (data.length > 0)
		memcpy(bth + 12, data.data, data.length);
}

static void
made_manager(struct made *made, uint8_t from, uint8_t attribute, const uint8_t message[232])
{
	uint8_t data[8 + 256] = { [9] = 7, [10] = 2, [25] = attribute };

	data[8] = 1;
	memcpy(data + 8 + 24, message, 232);
	made_roce(made, from, 0x64, 1, 0, (struct rpcrdma_bytes){ data, sizeof(data) });
}

void
made_connect_request(struct made *made, uint32_t id, uint32_t psn)
{
	uint8_t message[232] = { 0 };

	rr_put_be32(message, id);
	rr_put_be64(message + 8, 0x01060000 + MADE_SERVER);
	rr_put_be32(message + 32, MADE_CLIENT_QP << 8);
	rr_put_be32(message + 44, psn << 8);
	message[50] = 1 << 4;
	made_manager(made, 0, 0x10, message);
}

void
made_connect_reply(struct made *made, uint8_t attribute, uint32_t id)
{
	uint8_t message[232] = { 0 };

	rr_put_be32(message + 4, id);
	rr_put_be32(message + 12, MADE_SERVER_QP << 8);
	message[11] = 28;
	made_manager(made, 1, attribute, message);
}

void
made_open(struct made *made, bool crc, bool markers)
{
	struct rr_mpa_frame frame = { .revision = 1, .crc = crc, .markers = markers };
	uint8_t out[RR_MPA_FRAME_MAX];

	made_tcp(made, 0, RR_TCP_SYN, NULL, 0);
	made_tcp(made, 1, RR_TCP_SYN | RR_TCP_ACK, NULL, 0);
	made_tcp(made, 0, RR_TCP_ACK, out, (uint32_t)rr_mpa_put(out, sizeof(out), &frame));
	frame.reply = true;
	made_tcp(made, 1, RR_TCP_ACK, out, (uint32_t)rr_mpa_put(out, sizeof(out), &frame));
}

void
made_fpdu(struct made *made, uint8_t from, const struct rr_ddp_header *header, struct rpcrdma_bytes payload,
	bool crc)
{
	uint8_t out[MADE_PACKET] = { 0 };
	size_t size = rr_ddp_put(out + RR_FPDU_LENGTH_SIZE, header), whole;

	memcpy(out + RR_FPDU_LENGTH_SIZE + size, payload.data, payload.length);
	size += payload.length;
	rr_put_be16(out, (uint16_t)size);
	whole = rr_fpdu_size(size);
	if (crc)
		rr_fpdu_put_crc(out + whole - RR_FPDU_CRC_SIZE, rr_crc32c(0, out, whole - RR_FPDU_CRC_SIZE));
	made_tcp(made, from, RR_TCP_ACK, out, (uint32_t)whole);
}

void
made_send(struct made *made, uint8_t from, const void *data, uint32_t size)
{
	const struct rr_ddp_header header = {
		.last = true, .opcode = RR_RDMAP_SEND, .queue = RR_DDP_QUEUE_SEND, .msn = ++made->msn[from]
	};

	made_fpdu(made, from, &header, (struct rpcrdma_bytes){ data, size }, false);
}

static void
made_message(struct made *made, uint8_t from, const struct rpcrdma_xdr_writer *writer)
{
	assert_false(writer->failed);
	made_send(made, from, writer->start, (uint32_t)rpcrdma_xdr_length(writer));
}

void
made_call(struct made *made, uint8_t from, uint32_t xid)
{
	const struct rr_rdma_header header = { .xid = xid, .vers = 1, .credit = 1, .proc = RR_RDMA_MSG };
	const struct rr_call_header call = { .xid = xid, .prog = 100003, .vers = 3 };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	rr_rpc_put_call(&writer, &call);
	made_message(made, from, &writer);
}

void
made_reply(struct made *made, uint8_t from, uint32_t xid)
{
	const struct rr_rdma_header header = { .xid = xid, .vers = 1, .credit = 1, .proc = RR_RDMA_MSG };
	const struct rr_reply_header reply = { .xid = xid };
	struct rpcrdma_xdr_writer writer;
	uint8_t out[256];

	rpcrdma_xdr_writer_init(&writer, out, sizeof(out), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	rr_rpc_put_reply(&writer, &reply);
	made_message(made, from, &writer);
}

/* ---- A capture file ---- */

static bool
made_write_words(FILE *file, const uint32_t *words, uint32_t count)
{
	uint8_t out[4];

	for (uint32_t i = 0; i < count; i++) {
		rr_put_be32(out, words[i]);
		if (fwrite(out, sizeof(out), 1, file) != 1)
			return false;
	}
	return true;
}

static bool
made_write_packets(const struct made *made, FILE *file)
{
	enum { VERSION = 2 << 16 | 4, RAW_IP = 101, MICROSECONDS = 1000 };
	const uint32_t begin[] = { UINT32_C(0xa1b2c3d4), VERSION, 0, 0, MADE_PACKET, RAW_IP };

	if (!made_write_words(file, begin, 6))
		return false;
	for (uint32_t i = 0; i < made->count; i++) {
		const struct made_packet *packet = &made->packets[i];
		const uint32_t record[] = { 0, i * MICROSECONDS, packet->size, packet->size };

		if (!made_write_words(file, record, 4) || fwrite(packet->data, packet->size, 1, file) != 1)
			return false;
	}
	return true;
}

bool
made_write(const struct made *made, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool written = file && made_write_packets(made, file);

	return file && fclose(file) == 0 && written;
}

/* ---- What is found ---- */

static void
found_message(void *ctx, const struct rr_message *message)
{
	struct found *found = ctx;

	if (found->count == MADE_LINES)
		return;
	found->messages[found->count].kind = message->kind;
	found->messages[found->count].xid = message->header.xid;
	found->messages[found->count].rdma_proc = message->header.proc;
	found->messages[found->count].proc = message->proc;
	found->messages[found->count].has_procedure = message->has_procedure;
	found->messages[found->count].is_paired = message->is_paired;
	memcpy(found->messages[found->count].moved, message->moved, sizeof(message->moved));
	found->count++;
}

static void
found_opened(void *ctx, const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	(void)moment;
	(void)handshake;
	((struct found *)ctx)->opened++;
}

static void
found_operation(void *ctx, const struct rr_moment *moment, const struct rr_op *op,
	const struct rr_decode_region *region)
{
	(void)moment;
	(void)op;
	(void)region;
	((struct found *)ctx)->operations++;
}

static void
found_note(void *ctx, const struct rr_moment *moment, const char *text)
{
	struct found *found = ctx;

	(void)moment;
	snprintf(found->note, sizeof(found->note), "%s", text);
	found->notes++;
}

struct rr_decode_sink
made_sink(struct found *found)
{
	return (struct rr_decode_sink){ .message = found_message,
		.opened = found_opened,
		.operation = found_operation,
		.note = found_note,
		.ctx = found };
}

void
made_decode(const struct made *made, const struct rr_decode_limits *limits, struct found *found)
{
	struct rr_decode_sink sink = made_sink(found);
	struct rr_decoder *decoder;

	memset(found, 0, sizeof(*found));
	assert_int_equal(rr_decoder_new(&rr_env_system, limits, &sink, &decoder), 0);
	for (uint32_t i = 0; i < made->count; i++)
		rr_decoder_packet(decoder, RR_LINK_RAW, i, made->packets[i].data, made->packets[i].size);
	rr_decoder_finish(decoder);
	found->counters = rr_decoder_counters(decoder);
	rr_decoder_free(decoder);
}
