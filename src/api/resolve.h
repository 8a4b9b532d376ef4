/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_RESOLVE_H
#define RR_API_RESOLVE_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/text.h"

enum { RR_API_ADDRESSES = 8 };

/* host (NULL: 127.0.0.1) and port as at most max addresses: how many there are, at least 1, or
 * -RPCRDMA_ERR_ADDRESS. May block. */
int rr_api_resolve(
	const char *host, uint16_t port, struct sockaddr_storage *addresses, int max, struct rr_text *text);

/* The size of an address of its family. */
socklen_t rr_api_address_size(const struct sockaddr_storage *address);

/* The port that is in it. */
uint16_t rr_api_port(const struct sockaddr_storage *address);

#endif
