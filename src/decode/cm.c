/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/cm.h"

#include "base/endian.h"

enum { MAD_SIZE = 256, MAD_HEADER = 24, MAD_CLASS_CM = 7, MAD_CLASS_VERSION = 2 };
enum { ATTRIBUTE_REQUEST = 0x10, ATTRIBUTE_REJECT = 0x12, ATTRIBUTE_REPLY = 0x13 };

/* Offsets in the message, behind the header of the datagram: IBTA, volume 1, 12.6.5 to 12.6.8. */
enum {
	REQUEST_SERVICE = 8,
	REQUEST_QP = 32,
	REQUEST_IRD = 35,
	REQUEST_ORD = 39,
	REQUEST_PSN = 44,
	REQUEST_MTU = 50,
	REQUEST_PRIVATE = 140,
	REPLY_QP = 12,
	REPLY_PSN = 20,
	REPLY_IRD = 24,
	REPLY_ORD = 25,
	REPLY_PRIVATE = 36,
	REJECT_REASON = 10,
	REJECT_PRIVATE = 84
};

/* Service IDs of connections by IP address, and the header at the front of their private data: annex A11. */
enum { IP_SERVICE_PREFIX = 0x0106, IP_HEADER_SIZE = 36, IP_HEADER_PORT = 2 };

/* Returns the octets of the message that begin at the offset "from" and reach to its end. */
static struct rpcrdma_bytes
cm_rest(const uint8_t *message, uint32_t from)
{
	return (struct rpcrdma_bytes){ message + from, MAD_SIZE - MAD_HEADER - from };
}

/* Decodes a connection manager's request for a connection into *cm. If the connection is by IP address, its
 * two ports precede the private data, and are decoded, too. */
static void
cm_request(const uint8_t *message, struct rr_cm *cm)
{
	uint64_t service = rr_get_be64(message + REQUEST_SERVICE);
	uint8_t mtu = message[REQUEST_MTU] >> 4;

	cm->kind = RR_CM_REQUEST;
	cm->qp = rr_get_be32(message + REQUEST_QP) >> 8;
	cm->ird = message[REQUEST_IRD];
	cm->ord = message[REQUEST_ORD];
	cm->psn = rr_get_be32(message + REQUEST_PSN) >> 8;
	cm->mtu = mtu >= 1 && mtu <= 5 ? (uint16_t)(128 << mtu) : 0;
	cm->private_data = cm_rest(message, REQUEST_PRIVATE);
	if (service >> 16 != IP_SERVICE_PREFIX)
		return;
	cm->port = (uint16_t)service;
	cm->source_port = rr_get_be16(message + REQUEST_PRIVATE + IP_HEADER_PORT);
	cm->private_data = cm_rest(message, REQUEST_PRIVATE + IP_HEADER_SIZE);
}

bool
rr_cm_parse(const void *data, size_t size, struct rr_cm *cm)
{
	const uint8_t *octets = data, *message = octets + MAD_HEADER;

	*cm = (struct rr_cm){ 0 };
	if (size < MAD_SIZE || octets[1] != MAD_CLASS_CM || octets[2] != MAD_CLASS_VERSION)
		return false;
	cm->local_id = rr_get_be32(message);
	cm->remote_id = rr_get_be32(message + 4);
	switch (rr_get_be16(octets + 16)) {
	case ATTRIBUTE_REQUEST: cm_request(message, cm); return true;
	case ATTRIBUTE_REPLY:
		cm->kind = RR_CM_REPLY;
		cm->qp = rr_get_be32(message + REPLY_QP) >> 8;
		cm->psn = rr_get_be32(message + REPLY_PSN) >> 8;
		cm->ird = message[REPLY_IRD];
		cm->ord = message[REPLY_ORD];
		cm->private_data = cm_rest(message, REPLY_PRIVATE);
		return true;
	case ATTRIBUTE_REJECT:
		cm->kind = RR_CM_REJECT;
		cm->reason = rr_get_be16(message + REJECT_REASON);
		cm->private_data = cm_rest(message, REJECT_PRIVATE);
		return true;
	default: return false;
	}
}

const char *
rr_cm_reason_name(uint16_t reason)
{
	/* IBTA, volume 1, table 86. */
	switch (reason) {
	case 1: return "no queue pair available";
	case 4: return "timeout";
	case 8: return "invalid service ID: nobody listens at this port";
	case 10: return "stale connection";
	case 28: return "rejected by the consumer";
	default: return NULL;
	}
}
