/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ADDRESS_H
#define RR_TOOL_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/text.h"

/*
 * Resolves a local address to listen at: "ADDR", "ADDR:PORT", "[ADDR]" or "[ADDR]:PORT", where ADDR is
 * numeric or a host name; "*" means every IPv4 address, "[*]" every IPv6 address. Errors, with text:
 * -RPCRDMA_ERR_INVAL, -RPCRDMA_ERR_ADDRESS.
 */
int rr_tool_listen_address(const char *spec, uint16_t default_port, struct sockaddr_storage *address,
	socklen_t *size, struct rr_text *text);

#endif
