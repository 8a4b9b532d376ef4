/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ADDRESS_H
#define RR_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { RR_ADDRESS_TEXT = 64 };

/* Where a peer calls from: an address as of IPv6 (IPv4 ones are ::ffff:a.b.c.d), without the scope. */
struct rr_source {
	uint8_t address[16];
	uint16_t port;
	bool known; /* false: the address is of no family that is known here, or there is no peer */
	bool tcp;   /* RPC goes over TCP itself, not over RDMA: the port is the one that the caller chose */
};

/* "192.0.2.1:20049", "[2001:db8::1]:20049", or the path of a Unix socket, cut where it is too long; text has
 * room for RR_ADDRESS_TEXT. */
void rr_address_text(const struct sockaddr *address, char *text, size_t size);

struct rr_text;

/* The addresses of a host, a name or a numeric address, with the port: how many there are, at least 1 and at
 * most max, or -RPCRDMA_ERR_ADDRESS. May block in the name service. */
int rr_address_resolve(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text);

/* Octets of an address of AF_INET or AF_INET6. */
socklen_t rr_address_size(const struct sockaddr_storage *address);

/* The address and the port of what rr_address_text() wrote. */
struct rr_source rr_address_source_of(const char *text);

/* The address alone. False: its family is not known here. */
bool rr_address_octets(const struct sockaddr *address, uint8_t octets[16]);

/* Of AF_INET or AF_INET6. */
void rr_address_set_port(struct sockaddr *address, uint16_t port);
uint16_t rr_address_port(const struct sockaddr *address);

/* Every address of this machine: 0.0.0.0 or [::]. */
bool rr_address_is_any(const struct sockaddr *address);

/* The address of this machine from which packets to peer would leave: what the routes say, nothing is sent.
 * -RPCRDMA_ERR_UNREACHABLE: there is no route. */
int rr_address_source(const struct sockaddr *peer, socklen_t size, struct sockaddr_storage *source);

#endif
