/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_ADDRESS_H
#define RR_FABRIC_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

/* "192.0.2.1:20049" or "[2001:db8::1]:20049"; text has room for RR_ADDRESS_TEXT. */
void rr_address_text(const struct sockaddr *address, char *text, size_t size);

#endif
