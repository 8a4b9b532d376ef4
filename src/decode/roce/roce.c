/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/roce/roce.h"

#include "base/endian.h"

/* Sizes in octets: of the Base Transport Header (BTH); of the extended headers for RDMA (RETH), datagrams
 * (DETH) and atomic operations; and of the CRC. An acknowledgement (AETH), immediate data and the handle to
 * be invalidated take one word each. */
enum { BTH_SIZE = 12, RETH_SIZE = 16, WORD_SIZE = 4, DETH_SIZE = 8, ATOMIC_SIZE = 28, CRC_SIZE = 4 };

/* Bits for extended headers, in the order in which the headers follow each other. */
enum { HAS_DETH = 1, HAS_RETH = 2, HAS_AETH = 4, HAS_IMMEDIATE = 8, HAS_INVALIDATE = 16, HAS_ATOMIC = 32 };

struct roce_opcode {
	bool known;
	enum rr_roce_kind kind;
	bool first, last;
	uint8_t headers;
};

enum { UNRELIABLE_SEND = 0x64, UNRELIABLE_SEND_IMMEDIATE = 0x65, ROCE_OPCODES = 0x66 };

/* IBTA, volume 1, table 35: opcodes of Reliable Connections begin at 0, those of Unreliable Datagrams at
 * 0x60. */
static const struct roce_opcode roce_opcodes[ROCE_OPCODES] = {
	[0] = { true, RR_ROCE_SEND, true, false, 0 },
	[1] = { true, RR_ROCE_SEND, false, false, 0 },
	[2] = { true, RR_ROCE_SEND, false, true, 0 },
	[3] = { true, RR_ROCE_SEND, false, true, HAS_IMMEDIATE },
	[4] = { true, RR_ROCE_SEND, true, true, 0 },
	[5] = { true, RR_ROCE_SEND, true, true, HAS_IMMEDIATE },
	[6] = { true, RR_ROCE_WRITE, true, false, HAS_RETH },
	[7] = { true, RR_ROCE_WRITE, false, false, 0 },
	[8] = { true, RR_ROCE_WRITE, false, true, 0 },
	[9] = { true, RR_ROCE_WRITE, false, true, HAS_IMMEDIATE },
	[10] = { true, RR_ROCE_WRITE, true, true, HAS_RETH },
	[11] = { true, RR_ROCE_WRITE, true, true, HAS_RETH | HAS_IMMEDIATE },
	[12] = { true, RR_ROCE_READ_REQUEST, true, true, HAS_RETH },
	[13] = { true, RR_ROCE_READ_RESPONSE, true, false, HAS_AETH },
	[14] = { true, RR_ROCE_READ_RESPONSE, false, false, 0 },
	[15] = { true, RR_ROCE_READ_RESPONSE, false, true, HAS_AETH },
	[16] = { true, RR_ROCE_READ_RESPONSE, true, true, HAS_AETH },
	[17] = { true, RR_ROCE_ACKNOWLEDGE, true, true, HAS_AETH },
	[18] = { true, RR_ROCE_ACKNOWLEDGE, true, true, HAS_AETH },
	[19] = { true, RR_ROCE_ATOMIC, true, true, HAS_ATOMIC },
	[20] = { true, RR_ROCE_ATOMIC, true, true, HAS_ATOMIC },
	[22] = { true, RR_ROCE_SEND, false, true, HAS_INVALIDATE },
	[23] = { true, RR_ROCE_SEND, true, true, HAS_INVALIDATE },
	[UNRELIABLE_SEND] = { true, RR_ROCE_DATAGRAM, true, true, HAS_DETH },
	[UNRELIABLE_SEND_IMMEDIATE] = { true, RR_ROCE_DATAGRAM, true, true, HAS_DETH | HAS_IMMEDIATE },
};

/* Returns the size, in octets, of the Base Transport Header together with the extended headers whose bits
 * HAS_... are in headers. */
static size_t
roce_headers_size(uint8_t headers)
{
	size_t size = BTH_SIZE;

	size += headers & HAS_DETH ? DETH_SIZE : 0;
	size += headers & HAS_RETH ? RETH_SIZE : 0;
	size += headers & HAS_AETH ? WORD_SIZE : 0;
	size += headers & HAS_IMMEDIATE ? WORD_SIZE : 0;
	size += headers & HAS_INVALIDATE ? WORD_SIZE : 0;
	size += headers & HAS_ATOMIC ? ATOMIC_SIZE : 0;
	return size;
}

/* Decodes the extended headers that are needed: those for RDMA, acknowledgement and invalidation. The bits
 * HAS_... in headers say which extended headers the packet has. No packet has two of these three, and no
 * other header precedes them, so each of them begins at "at", behind the Base Transport Header. */
static void
roce_get_headers(struct rr_roce_packet *packet, uint8_t headers, const uint8_t *at)
{
	if (headers & HAS_RETH) {
		packet->offset = rr_get_be64(at);
		packet->handle = rr_get_be32(at + 8);
		packet->length = rr_get_be32(at + 12);
	}
	if (headers & HAS_AETH)
		packet->syndrome = at[0];
	if (headers & HAS_INVALIDATE) {
		packet->invalidates = true;
		packet->invalidated = rr_get_be32(at);
	}
}

bool
rr_roce_parse(const void *data, size_t size, size_t captured, struct rr_roce_packet *packet)
{
	const uint8_t *octets = data;
	const struct roce_opcode *opcode;
	size_t headers, pad;

	*packet = (struct rr_roce_packet){ 0 };
	if (size < BTH_SIZE + CRC_SIZE || octets[0] >= ROCE_OPCODES)
		return false;
	opcode = &roce_opcodes[octets[0]];
	headers = roce_headers_size(opcode->headers);
	/* Bits 5 and 4 of the second octet: how many octets of padding follow the payload. */
	pad = octets[1] >> 4 & 3;
	/* The version of the transport header must be 0. */
	if (!opcode->known || octets[1] & 0x0f || size < headers + pad + CRC_SIZE || captured < headers)
		return false;
	packet->kind = opcode->kind;
	packet->first = opcode->first;
	packet->last = opcode->last;
	packet->qp = rr_get_be32(octets + 4) & 0xffffff;
	packet->psn = rr_get_be32(octets + 8) & RR_ROCE_PSN_MASK;
	roce_get_headers(packet, opcode->headers, octets + BTH_SIZE);
	packet->payload =
		(struct rpcrdma_bytes){ octets + headers, (uint32_t)(size - headers - pad - CRC_SIZE) };
	captured -= headers;
	packet->known = captured < packet->payload.length ? (uint32_t)captured : packet->payload.length;
	return true;
}

const char *
rr_roce_nak_name(uint8_t syndrome)
{
	static const char *const names[] = { "NAK: PSN sequence error", "NAK: invalid request",
		"NAK: remote access error", "NAK: remote operational error", "NAK: invalid RD request" };
	uint8_t code = syndrome & 0x1f;

	/* IBTA, volume 1, table 44: bits 6 and 5 are 0 in ACKs, 1 in RNR NAKs and 3 in NAKs. */
	switch (syndrome >> 5 & 3) {
	case 0: return NULL;
	case 1: return "RNR NAK: no Receive is posted";
	case 3: return code < sizeof(names) / sizeof(*names) ? names[code] : "NAK: of an unknown kind";
	default: return "an acknowledgement of an unknown kind";
	}
}
