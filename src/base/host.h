/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_HOST_H
#define RR_BASE_HOST_H

enum { RR_HOST_NAME = 64 };

/*
 * Writes the name under which the connections of a peer are counted together, from the peer's address as text
 * ("192.0.2.1:700", "[2001:db8::1]:700"). The name has no port, and of an IPv6 address the first 64 bits
 * alone, as one machine can have all addresses that begin with them. An IPv4 address that is written as an
 * IPv6 address counts as the IPv4 address.
 */
void rr_host_name(const char *peer, char name[RR_HOST_NAME]);

#endif
