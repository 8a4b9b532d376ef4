/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the port of a program by the rpcbind of its host. All entries are listed (RFC 1833, section 2.1,
 * RPCBPROC_DUMP), and the entry of the program, version and netid is chosen. GETADDR would not do: an
 * rpcbind answers it with the address of its own host in place of 0.0.0.0, which it can do only for netids
 * of its /etc/netconfig, where rdma is rare. */
#include <netconfig.h>
#include <rpc/rpcb_clnt.h>
#include <stdio.h>
#include <string.h>

#include "tirpc/tirpc.h"

/* Returns the port in a universal address, or 0 if there is no port in it. RFC 5665, section 5.2.3.3: the
 * address ends with the two octets of the port in decimal. */
static uint16_t
lookup_port(const char *address)
{
	unsigned high, low;
	const char *dot = address ? strrchr(address, '.') : NULL;

	while (dot && dot > address && dot[-1] != '.')
		dot--;
	if (!dot || sscanf(dot, "%3u.%3u", &high, &low) != 2 || high > UINT8_MAX || low > UINT8_MAX)
		return 0;
	return (uint16_t)(high << 8 | low);
}

/* Returns the port of the entry with that program, version and netid, or 0 if there is no such entry. */
static uint16_t
lookup_find(const rpcblist *entries, rpcprog_t prog, rpcvers_t vers, const char *netid)
{
	for (; entries; entries = entries->rpcb_next) {
		const rpcb *entry = &entries->rpcb_map;

		if (entry->r_prog == prog && entry->r_vers == vers && strcmp(entry->r_netid, netid) == 0)
			return lookup_port(entry->r_addr);
	}
	return 0;
}

/* Asks the rpcbind at host for all its entries, and returns them. Asks over TCP, by IPv6 if the netid
 * contains a 6, otherwise by IPv4. Returns NULL if there are no entries; rpc_createerr then has the
 * reason. */
static rpcblist *
lookup_ask(const char *host, const char *netid)
{
	struct netconfig *transport = getnetconfigent(strchr(netid, '6') ? "tcp6" : "tcp");
	rpcblist *entries;

	if (!transport) {
		rpc_createerr.cf_stat = RPC_UNKNOWNPROTO;
		return NULL;
	}
	rpc_createerr.cf_stat = RPC_SUCCESS;
	entries = rpcb_getmaps(transport, host);
	freenetconfigent(transport);
	if (!entries && rpc_createerr.cf_stat == RPC_SUCCESS)
		rpc_createerr.cf_stat = RPC_RPCBFAILURE;
	return entries;
}

uint16_t
rr_tirpc_lookup(const char *host, rpcprog_t prog, rpcvers_t vers, const char *netid)
{
	rpcblist *entries = lookup_ask(host, netid);
	uint16_t port;

	if (!entries)
		return 0;
	port = lookup_find(entries, prog, vers, netid);
	xdr_free((xdrproc_t)xdr_rpcblist_ptr, &entries);
	if (!port)
		rpc_createerr.cf_stat = RPC_PROGNOTREGISTERED;
	return port;
}
