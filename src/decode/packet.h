/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_PACKET_H
#define RR_DECODE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This parses a captured packet, from its link layer to the payload of TCP or UDP. */

/* Link types, by the numbers of https://www.tcpdump.org/linktypes.html. */
enum rr_link {
	RR_LINK_NULL = 0,     /* loopback of the BSDs: the address family in host order */
	RR_LINK_ETHERNET = 1, /* with or without VLAN tags */
	RR_LINK_RAW_BSD = 12, /* IP, by the number that libpcap uses on most systems */
	RR_LINK_RAW = 101,    /* IP */
	RR_LINK_LOOP = 108,   /* loopback of OpenBSD: the address family in network order */
	RR_LINK_SLL = 113,    /* Linux "cooked", version 1 */
	RR_LINK_IPV4 = 228,
	RR_LINK_IPV6 = 229,
	RR_LINK_SLL2 = 276 /* Linux "cooked", version 2 */
};

enum rr_packet_result {
	RR_PACKET_OK,
	RR_PACKET_LINK,     /* a link type that is not decoded */
	RR_PACKET_FOREIGN,  /* neither TCP nor UDP over IPv4 or IPv6 */
	RR_PACKET_FRAGMENT, /* a fragment of an IP packet: fragments are not reassembled */
	RR_PACKET_BROKEN    /* a header that is incomplete, or whose lengths contradict each other */
};

enum { RR_IP_TCP = 6, RR_IP_UDP = 17 };
enum { RR_TCP_FIN = 1, RR_TCP_SYN = 2, RR_TCP_RST = 4, RR_TCP_ACK = 16 };

/* An address and a port, which can be compared octet by octet. An IPv4 address takes the first four
 * octets. */
struct rr_packet_end {
	uint8_t address[16];
	uint16_t port;
	uint16_t family; /* 4 or 6 */
};

struct rr_packet {
	struct rr_packet_end source, destination;
	uint8_t protocol; /* RR_IP_TCP or RR_IP_UDP */
	uint8_t flags;    /* of TCP, as the next two */
	uint32_t sequence, acknowledged;
	const uint8_t *payload; /* points into the given packet */
	uint32_t length;        /* of the payload, as far as it was captured */
	uint32_t missing;       /* octets of payload that were on the wire and not captured */
};

/* Parses a packet that was captured on a link of type link (enum rr_link). If the result is RR_PACKET_OK,
 * *packet is complete, and its payload points into data; otherwise *packet is not to be used. */
enum rr_packet_result rr_packet_parse(int link, const void *data, size_t size, struct rr_packet *packet);

#endif
