/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/address.h"

#include <netdb.h>
#include <rpcrdma/error.h>
#include <string.h>

#include "base/address.h"
#include "tool/option/option.h"

/* Splits spec ("HOST", "HOST:PORT", "[HOST]" or "[HOST]:PORT") in place into *host, without brackets, and
 * *port, which is NULL if spec has no port. Returns 0; or -RPCRDMA_ERR_INVAL if a bracket is not closed, or
 * is followed by other text than ":PORT". */
static int
address_split(char *spec, char **host, char **port)
{
	char *colon;

	*host = spec;
	*port = NULL;
	if (spec[0] == '[') {
		char *close = strchr(spec, ']');

		if (!close || (close[1] && close[1] != ':'))
			return -RPCRDMA_ERR_INVAL;
		*host = spec + 1;
		*close = '\0';
		if (close[1])
			*port = close + 2;
		return 0;
	}
	colon = strchr(spec, ':');
	if (!colon || strchr(colon + 1, ':')) /* no port, or a bare IPv6 address */
		return 0;
	*colon = '\0';
	*port = colon + 1;
	return 0;
}

int
rr_tool_listen_address(const char *spec, uint16_t default_port, struct sockaddr_storage *address,
	socklen_t *size, struct rr_text *text)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM }, *found;
	unsigned long number = default_port;
	char copy[256], *host, *port;
	int error;

	if (strlen(spec) >= sizeof(copy))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the address is too long");
	strcpy(copy, spec);
	if (address_split(copy, &host, &port) < 0 || !*host)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"'%s' is no address: write ADDR, ADDR:PORT or [ADDR]:PORT", spec);
	if (port && rr_options_number(port, 65535, &number) < 0)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "'%s': '%s' is no port: 0 to 65535", spec, port);
	if (strcmp(host, "*") == 0) {
		hints.ai_family = spec[0] == '[' ? AF_INET6 : AF_INET;
		host = NULL;
	}
	/* Without a host, getaddrinfo() must have a port; it is set below. */
	error = getaddrinfo(host, host ? NULL : "0", &hints, &found);
	if (error)
		return rr_fail(
			text, -RPCRDMA_ERR_ADDRESS, "'%s' cannot be resolved: %s", spec, gai_strerror(error));
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	*size = found->ai_addrlen;
	freeaddrinfo(found);
	rr_address_set_port((struct sockaddr *)address, (uint16_t)number);
	return 0;
}
