/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_BOUND_H
#define RR_BASE_BOUND_H

#include <stdbool.h>
#include <sys/socket.h>

/* Makes a socket of this type, SOCK_STREAM or SOCK_DGRAM, that does not block, and binds it to the address.
 * An address of IPv6 does not take the port of IPv4, too, so that [::] and 0.0.0.0 stand beside each other.
 * reuse_port: several sockets may be bound to the address, which share what comes. Returns the descriptor, or
 * the negative errno. */
int rr_bound_socket(int type, const struct sockaddr *address, socklen_t size, bool reuse_port);

#endif
