/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/packet.h"

#include <string.h>

#include "base/endian.h"

enum { ETHER_IPV4 = 0x0800, ETHER_IPV6 = 0x86dd, ETHER_VLAN = 0x8100, ETHER_QINQ = 0x88a8 };
enum { VLAN_TAGS = 4, IPV6_EXTENSIONS = 16 };

/* The rest of the packet, which is not parsed yet. */
struct packet_rest {
	const uint8_t *next;
	size_t size;
};

/* Removes size octets from the front of rest. Returns false if rest has fewer octets. */
static bool
packet_skip(struct packet_rest *rest, size_t size)
{
	if (rest->size < size)
		return false;
	rest->next += size;
	rest->size -= size;
	return true;
}

/* ---- UDP and TCP ---- */

/* In these functions, rest is what was captured from the header of UDP or TCP on, and wire is how many octets
 * that was on the wire. A capture may cut packets, so rest can be shorter than wire. A padded frame of
 * Ethernet makes it longer. */

/* Sets the payload of a TCP or UDP packet, whose header has "header" octets. wire is the size of header and
 * payload on the wire. Octets of the payload that were not captured are counted as missing. Returns
 * RR_PACKET_BROKEN if the header is incomplete. */
static enum rr_packet_result
packet_payload(struct rr_packet *packet, struct packet_rest rest, size_t header, size_t wire)
{
	if (wire < header || !packet_skip(&rest, header))
		return RR_PACKET_BROKEN;
	wire -= header;
	packet->payload = rest.next;
	packet->length = (uint32_t)(rest.size < wire ? rest.size : wire);
	packet->missing = (uint32_t)wire - packet->length;
	return RR_PACKET_OK;
}

static enum rr_packet_result
packet_tcp(struct rr_packet *packet, struct packet_rest rest, size_t wire)
{
	size_t header;

	if (rest.size < 20)
		return RR_PACKET_BROKEN;
	packet->source.port = rr_get_be16(rest.next);
	packet->destination.port = rr_get_be16(rest.next + 2);
	packet->sequence = rr_get_be32(rest.next + 4);
	packet->acknowledged = rr_get_be32(rest.next + 8);
	packet->flags = rest.next[13];
	header = (size_t)(rest.next[12] >> 4) * 4;
	return header < 20 ? RR_PACKET_BROKEN : packet_payload(packet, rest, header, wire);
}

/* Parses a UDP packet. The datagram ends where its own length says, or where the IP packet ends, if that is
 * earlier. */
static enum rr_packet_result
packet_udp(struct rr_packet *packet, struct packet_rest rest, size_t wire)
{
	uint16_t length;

	if (rest.size < 8)
		return RR_PACKET_BROKEN;
	packet->source.port = rr_get_be16(rest.next);
	packet->destination.port = rr_get_be16(rest.next + 2);
	length = rr_get_be16(rest.next + 4);
	return packet_payload(packet, rest, 8, length < wire ? length : wire);
}

/* Parses the payload of an IP packet by its protocol number. Returns RR_PACKET_FOREIGN if it is neither TCP
 * nor UDP. */
static enum rr_packet_result
packet_transport(struct rr_packet *packet, uint8_t protocol, struct packet_rest rest, size_t wire)
{
	packet->protocol = protocol;
	switch (protocol) {
	case RR_IP_TCP: return packet_tcp(packet, rest, wire);
	case RR_IP_UDP: return packet_udp(packet, rest, wire);
	default: return RR_PACKET_FOREIGN;
	}
}

/* ---- IP ---- */

static enum rr_packet_result
packet_ipv4(struct rr_packet *packet, struct packet_rest rest)
{
	const uint8_t *ip = rest.next;
	size_t header, wire;

	if (rest.size < 20)
		return RR_PACKET_BROKEN;
	header = (size_t)(ip[0] & 15) * 4;
	/* A host that leaves the segmentation to its adapter captures packets with length 0. */
	wire = rr_get_be16(ip + 2) ? rr_get_be16(ip + 2) : rest.size;
	if (header < 20 || wire < header || !packet_skip(&rest, header))
		return RR_PACKET_BROKEN;
	/* The flag for more fragments, and the offset of this fragment. */
	if (rr_get_be16(ip + 6) & 0x3fff)
		return RR_PACKET_FRAGMENT;
	packet->source.family = packet->destination.family = 4;
	memcpy(packet->source.address, ip + 12, 4);
	memcpy(packet->destination.address, ip + 16, 4);
	return packet_transport(packet, ip[9], rest, wire - header);
}

/* Skips the extension headers of IPv6, and parses the payload behind them. RFC 8200, 4: each extension header
 * names the next header, and has its own length. protocol is the number of the first header: 0 for hop-by-hop
 * options, 43 for a routing header, 44 for a fragment header, 60 for destination options. A packet with more
 * than IPV6_EXTENSIONS extension headers counts as foreign. */
static enum rr_packet_result
packet_ipv6_next(struct rr_packet *packet, uint8_t protocol, struct packet_rest rest, size_t wire)
{
	for (int i = 0; i < IPV6_EXTENSIONS; i++) {
		bool is_options = protocol == 0 || protocol == 43 || protocol == 60;
		size_t size;

		if (protocol == 44)
			return RR_PACKET_FRAGMENT;
		if (!is_options)
			return packet_transport(packet, protocol, rest, wire);
		if (rest.size < 2)
			return RR_PACKET_BROKEN;
		protocol = rest.next[0];
		size = ((size_t)rest.next[1] + 1) * 8;
		if (wire < size || !packet_skip(&rest, size))
			return RR_PACKET_BROKEN;
		wire -= size;
	}
	return RR_PACKET_FOREIGN;
}

static enum rr_packet_result
packet_ipv6(struct rr_packet *packet, struct packet_rest rest)
{
	const uint8_t *ip = rest.next;
	size_t wire;

	if (!packet_skip(&rest, 40))
		return RR_PACKET_BROKEN;
	/* As with IPv4, the length is 0 if the host leaves the segmentation to its adapter. */
	wire = rr_get_be16(ip + 4) ? rr_get_be16(ip + 4) : rest.size;
	packet->source.family = packet->destination.family = 6;
	memcpy(packet->source.address, ip + 8, 16);
	memcpy(packet->destination.address, ip + 24, 16);
	return packet_ipv6_next(packet, ip[6], rest, wire);
}

static enum rr_packet_result
packet_ip(struct rr_packet *packet, struct packet_rest rest)
{
	if (rest.size == 0)
		return RR_PACKET_BROKEN;
	switch (rest.next[0] >> 4) {
	case 4: return packet_ipv4(packet, rest);
	case 6: return packet_ipv6(packet, rest);
	default: return RR_PACKET_FOREIGN;
	}
}

/* ---- Links ---- */

/* Parses a packet from the end of its link header on. type is the Ethernet type in that header; VLAN tags are
 * skipped. */
static enum rr_packet_result
packet_ether(struct rr_packet *packet, uint16_t type, struct packet_rest rest)
{
	for (int i = 0; i < VLAN_TAGS && (type == ETHER_VLAN || type == ETHER_QINQ); i++) {
		if (rest.size < 4)
			return RR_PACKET_BROKEN;
		type = rr_get_be16(rest.next + 2);
		packet_skip(&rest, 4);
	}
	return type == ETHER_IPV4 || type == ETHER_IPV6 ? packet_ip(packet, rest) : RR_PACKET_FOREIGN;
}

/* Parses a packet whose link header has "header" octets, and has the Ethernet type of the payload at offset
 * "type". */
static enum rr_packet_result
packet_typed(struct rr_packet *packet, struct packet_rest rest, size_t type, size_t header)
{
	const uint8_t *start = rest.next;

	if (!packet_skip(&rest, header))
		return RR_PACKET_BROKEN;
	return packet_ether(packet, rr_get_be16(start + type), rest);
}

enum rr_packet_result
rr_packet_parse(int link, const void *data, size_t size, struct rr_packet *packet)
{
	struct packet_rest rest = { data, size };

	*packet = (struct rr_packet){ 0 };
	switch (link) {
	case RR_LINK_ETHERNET: return packet_typed(packet, rest, 12, 14);
	case RR_LINK_SLL: return packet_typed(packet, rest, 14, 16);
	case RR_LINK_SLL2: return packet_typed(packet, rest, 0, 20);
	case RR_LINK_NULL:
	case RR_LINK_LOOP: return packet_skip(&rest, 4) ? packet_ip(packet, rest) : RR_PACKET_BROKEN;
	case RR_LINK_RAW:
	case RR_LINK_RAW_BSD:
	case RR_LINK_IPV4:
	case RR_LINK_IPV6: return packet_ip(packet, rest);
	default: return RR_PACKET_LINK;
	}
}
