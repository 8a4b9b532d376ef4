/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_HOST_H
#define RR_BASE_HOST_H

enum { RR_HOST_NAME = 64 };

/* Writes to name the name under which all connections of a host are counted together. peer is the address of
 * one of them as text ("192.0.2.1:700", "[2001:db8::1]:700"). The name has no port. Of an IPv6 address it has
 * only the first 64 bits, as one machine can have all addresses that begin with these. An IPv4 address that
 * is written as an IPv6 address counts as the IPv4 address. */
void rr_host_name(const char *peer, char name[RR_HOST_NAME]);

#endif
