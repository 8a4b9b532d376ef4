/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <string.h>

#include "fabric/verbs/network.h"

/* Network interfaces as getifaddrs() reports them, and the ports of RDMA devices that belong to them. */

static const uint8_t gid[RR_VERBS_GID] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

/* An entry with a hardware address, which may be longer than the structure. */
struct interface {
	struct ifaddrs entry;
	char name[16];
	union {
		struct sockaddr_ll link;
		uint8_t octets[offsetof(struct sockaddr_ll, sll_addr) + 20];
	};
};

static struct ifaddrs *
make(struct interface *interface, const char *name, unsigned short type, const uint8_t *hardware,
	uint8_t length)
{
	*interface = (struct interface){ .entry.ifa_name = interface->name };
	strcpy(interface->name, name);
	interface->link =
		(struct sockaddr_ll){ .sll_family = AF_PACKET, .sll_hatype = type, .sll_halen = length };
	memcpy(interface->octets + offsetof(struct sockaddr_ll, sll_addr), hardware, length);
	interface->entry.ifa_addr = (struct sockaddr *)&interface->link;
	return &interface->entry;
}

static void
a_port_of_iwarp_has_the_hardware_address_of_its_interface(void **state)
{
	uint8_t hardware[6];
	struct interface interface;

	(void)state;
	memcpy(hardware, gid, sizeof(hardware));
	assert_true(rr_verbs_is_interface(make(&interface, "eth0", ARPHRD_ETHER, hardware, 6), gid));
	hardware[5] ^= 1;
	assert_false(rr_verbs_is_interface(make(&interface, "eth0", ARPHRD_ETHER, hardware, 6), gid));
	assert_false(rr_verbs_is_interface(make(&interface, "tun0", ARPHRD_NONE, hardware, 0), gid));
}

/* RFC 4391, 9.1.1: four octets with the number of a queue pair come before the GID. */
static void
the_address_of_ip_over_infiniband_ends_in_the_gid_of_its_port(void **state)
{
	uint8_t hardware[20] = { 0x80, 0, 2, 8 };
	struct interface interface;

	(void)state;
	memcpy(hardware + 4, gid, sizeof(gid));
	assert_true(rr_verbs_is_interface(make(&interface, "ib0", ARPHRD_INFINIBAND, hardware, 20), gid));
	hardware[19] ^= 1;
	assert_false(rr_verbs_is_interface(make(&interface, "ib0", ARPHRD_INFINIBAND, hardware, 20), gid));
}

static void
what_is_bonded_is_not_taken_for_the_bond(void **state)
{
	struct interface slave, bond;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201) };
	struct ifaddrs address = { .ifa_name = (char[]){ "bond0" }, .ifa_addr = (struct sockaddr *)&in };
	struct rr_verbs_port port = { .network = "" };

	(void)state;
	make(&slave, "eth0", ARPHRD_ETHER, gid, 6)->ifa_flags = IFF_SLAVE;
	make(&bond, "bond0", ARPHRD_ETHER, gid, 6);
	slave.entry.ifa_next = &bond.entry;
	bond.entry.ifa_next = &address;
	rr_verbs_find_network("no-such-device", 1, gid, &slave.entry, &port);
	assert_string_equal(port.network, "bond0");
	assert_int_equal(port.address_count, 1);
	assert_string_equal(port.addresses[0], "192.0.2.1");
}

static void
interfaces_without_a_hardware_address_are_passed_over(void **state)
{
	struct ifaddrs nothing = { .ifa_name = (char[]){ "wg0" } };
	struct rr_verbs_port port = { .network = "" };

	(void)state;
	rr_verbs_find_network("no-such-device", 1, gid, &nothing, &port);
	assert_string_equal(port.network, "");
	assert_int_equal(port.address_count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_of_iwarp_has_the_hardware_address_of_its_interface),
		cmocka_unit_test(the_address_of_ip_over_infiniband_ends_in_the_gid_of_its_port),
		cmocka_unit_test(what_is_bonded_is_not_taken_for_the_bond),
		cmocka_unit_test(interfaces_without_a_hardware_address_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
