/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/address.h"

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
	unsigned long number = default_port;
	char copy[256], *host, *port;
	struct rr_text why;

	if (strlen(spec) >= sizeof(copy))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the address is too long");
	strcpy(copy, spec);
	if (address_split(copy, &host, &port) < 0 || !*host)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"'%s' is no address: write ADDR, ADDR:PORT or [ADDR]:PORT", spec);
	if (port && rr_options_number(port, 65535, &number) < 0)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "'%s': '%s' is no port: 0 to 65535", spec, port);
	memset(address, 0, sizeof(*address));
	if (strcmp(host, "*") == 0) /* all zero is any address */
		address->ss_family = spec[0] == '[' ? AF_INET6 : AF_INET;
	else if (rr_address_resolve(host, 0, address, 1, &why) < 0)
		return rr_fail(
			text, -RPCRDMA_ERR_ADDRESS, "'%.100s' cannot be resolved: %.140s", spec, why.text);
	*size = rr_address_size(address);
	rr_address_set_port((struct sockaddr *)address, (uint16_t)number);
	return 0;
}
