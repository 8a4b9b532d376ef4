/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/packet.h"
#include "mutate.h"

#define TCP4                                                                                                 \
	"4500002c 00000000 40060000 0a000001 0a000002" /* IPv4 */                                            \
	"03e84e51 00000010 00000020 50180000 00000000" /* TCP, ports 1000 and 20049 */                       \
	"deadbeef"
#define TCP6                                                                                                 \
	"60000000 00200040 20010db8000000000000000000000001 20010db8000000000000000000000002"                \
	"0600000000000000"                             /* hop-by-hop options */                              \
	"03e84e51 00000010 00000020 50180000 00000000" /* TCP */                                             \
	"deadbeef"

struct linked {
	int link;
	uint16_t family;
	const char *digits;
};

static const struct linked good[] = {
	{ RR_LINK_RAW, 4, TCP4 },
	{ RR_LINK_RAW_BSD, 4, TCP4 },
	{ RR_LINK_IPV4, 4, TCP4 },
	{ RR_LINK_IPV6, 6, TCP6 },
	{ RR_LINK_NULL, 4, "02000000" TCP4 },
	{ RR_LINK_LOOP, 4, "00000002" TCP4 },
	{ RR_LINK_ETHERNET, 4, "020000000001 020000000002 0800" TCP4 },
	{ RR_LINK_ETHERNET, 6, "020000000001 020000000002 86dd" TCP6 },
	{ RR_LINK_ETHERNET, 4, "020000000001 020000000002 88a80001 81000002 0800" TCP4 },
	{ RR_LINK_SLL, 4, "0000 0304 0006 0000000000000000 0800" TCP4 },
	{ RR_LINK_SLL2, 6, "86dd 0000 00000001 0304 00 06 0000000000000000" TCP6 },
};

enum { GOOD = sizeof(good) / sizeof(good[0]) };

static void
each_link_layer_is_read(void **state)
{
	struct rr_packet packet;

	(void)state;
	for (size_t i = 0; i < GOOD; i++) {
		struct rr_octets octets = rr_hex(good[i].digits);

		assert_int_equal(
			rr_packet_parse(good[i].link, octets.data, octets.size, &packet), RR_PACKET_OK);
		assert_int_equal(packet.source.family, good[i].family);
		assert_int_equal(packet.source.port, 1000);
		assert_int_equal(packet.destination.port, 20049);
		assert_int_equal(packet.protocol, RR_IP_TCP);
		assert_int_equal(packet.sequence, 0x10);
		assert_int_equal(packet.acknowledged, 0x20);
		assert_int_equal(packet.length, 4);
		assert_memory_equal(packet.payload, "\xde\xad\xbe\xef", 4);
	}
}

/* Ethernet pads short frames, so octets behind the IP packet are no payload. */
static void
what_follows_the_ip_packet_is_no_payload(void **state)
{
	struct rr_octets octets = rr_hex(TCP4 "000000000000");
	struct rr_packet packet;

	(void)state;
	assert_int_equal(rr_packet_parse(RR_LINK_RAW, octets.data, octets.size, &packet), RR_PACKET_OK);
	assert_int_equal(packet.length, 4);
	assert_int_equal(packet.missing, 0);
}

static void
octets_that_were_not_captured_are_counted(void **state)
{
	struct rr_octets octets = rr_hex(TCP4);
	struct rr_packet packet;

	(void)state;
	assert_int_equal(rr_packet_parse(RR_LINK_RAW, octets.data, octets.size - 3, &packet), RR_PACKET_OK);
	assert_int_equal(packet.length, 1);
	assert_int_equal(packet.missing, 3);
}

static void
fragments_and_strangers_are_refused(void **state)
{
	struct rr_octets octets = rr_hex(TCP4);
	struct rr_packet packet;

	(void)state;
	assert_int_equal(rr_packet_parse(4711, octets.data, octets.size, &packet), RR_PACKET_LINK);
	octets.data[9] = 1;
	assert_int_equal(rr_packet_parse(RR_LINK_RAW, octets.data, octets.size, &packet), RR_PACKET_FOREIGN);
	octets.data[6] = 0x20;
	assert_int_equal(rr_packet_parse(RR_LINK_RAW, octets.data, octets.size, &packet), RR_PACKET_FRAGMENT);
}

static const char *
packet_changed(const uint8_t *data, size_t size, void *context)
{
	const struct linked *linked = context;
	struct rr_packet packet;

	if (rr_packet_parse(linked->link, data, size, &packet) != RR_PACKET_OK)
		return NULL;
	if (packet.payload < data || packet.length > size || packet.payload + packet.length > data + size)
		return "the payload is not in the packet";
	return packet.length + packet.missing > 0xffff ? "the payload is longer than IP has it" : NULL;
}

static void
no_change_breaks_anything(void **state)
{
	(void)state;
	for (size_t i = 0; i < GOOD; i++) {
		struct rr_octets octets = rr_hex(good[i].digits);
		struct linked linked = good[i];

		rr_mutate(octets.data, octets.size, packet_changed, &linked);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_link_layer_is_read),
		cmocka_unit_test(what_follows_the_ip_packet_is_no_payload),
		cmocka_unit_test(octets_that_were_not_captured_are_counted),
		cmocka_unit_test(fragments_and_strangers_are_refused),
		cmocka_unit_test(no_change_breaks_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
