/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_ADDRESS_H
#define RR_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The size, in octets, of a buffer that holds any address as text, with its port and a closing zero. */
enum { RR_ADDRESS_TEXT = 64 };

/* The address and port that a peer calls from. address has the form of IPv6 (an IPv4 address is
 * ::ffff:a.b.c.d), without the scope. */
struct rr_source {
	uint8_t address[16];
	uint16_t port;
	bool known; /* false: the address is of no family that is known here, or there is no peer */
	bool tcp;   /* RPC goes over TCP itself, not over RDMA: the port is the one that the caller chose */
	uint8_t security; /* enum rr_security: what protects the connection */
};

/* Writes an address to text, which has room for size octets: "192.0.2.1:20049", "[2001:db8::1]:20049", or the
 * path of a Unix socket, which is cut if it is too long. RR_ADDRESS_TEXT is enough for any address with a
 * port. */
void rr_address_text(const struct sockaddr *address, char *text, size_t size);

struct rr_text;

/* Finds the addresses of host, a name or a numeric address, gives them the port, and writes them to
 * addresses. Returns how many there are, at least 1 and at most max, or -RPCRDMA_ERR_ADDRESS. The function
 * may block in the name service. Where this process has a helper (base/confine/helper.h), that is asked. */
int rr_address_resolve(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text);
/* Answers, in the helper, what rr_address_resolve() asks it. */
size_t rr_address_help(const void *ctx, const void *question, size_t size, void *answer);

/* Returns the size, in octets, of an address of AF_INET or AF_INET6. */
socklen_t rr_address_size(const struct sockaddr_storage *address);

/* Returns the address and the port of a text that rr_address_text() wrote. The member known of the result is
 * false if the text has no IPv4 or IPv6 address. The member tcp is false. */
struct rr_source rr_address_source_of(const char *text);

/* Writes the address and the port to text as rr_address_text() does, with an IPv4 address in its own form. */
void rr_address_source_text(const struct rr_source *source, char text[RR_ADDRESS_TEXT]);

/* Copies the address, without the port, to octets; an IPv4 address is written as ::ffff:a.b.c.d. Returns
 * false if the address is of no known family. */
bool rr_address_octets(const struct sockaddr *address, uint8_t octets[16]);

/* Set and return the port, in host byte order, of an address of AF_INET or AF_INET6. */
void rr_address_set_port(struct sockaddr *address, uint16_t port);
uint16_t rr_address_port(const struct sockaddr *address);

/* Whether the address stands for every address of this machine: 0.0.0.0 or [::]. */
bool rr_address_is_any(const struct sockaddr *address);

/* Sets *source to the address of this machine from which packets to peer would leave, as the routes of the
 * system say. Sends nothing. Returns -RPCRDMA_ERR_UNREACHABLE if there is no route to peer. */
int rr_address_source(const struct sockaddr *peer, socklen_t size, struct sockaddr_storage *source);

#endif
