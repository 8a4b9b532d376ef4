/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ADDRESS_H
#define RR_TOOL_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/text.h"

/* Resolves the text of a local address to listen at: "ADDR", "ADDR:PORT", "[ADDR]" or "[ADDR]:PORT". ADDR is
 * numeric or a host name; "*" means every IPv4 address, and "[*]" every IPv6 address. Without PORT, the port
 * is default_port. Stores in *address the first address that is found, and in *size its length in octets.
 * Returns 0; or -RPCRDMA_ERR_INVAL or -RPCRDMA_ERR_ADDRESS, with a text in `text`. */
int rr_tool_listen_address(const char *spec, uint16_t default_port, struct sockaddr_storage *address,
	socklen_t *size, struct rr_text *text);

#endif
