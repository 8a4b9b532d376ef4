/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/lookup.h"

#include <netinet/in.h>
#include <string.h>

#include "base/address.h"
#include "nfs/url.h"
#include "rpc/client.h"
#include "ulb/nfs3.h"
#include "ulb/portmap2.h"
#include "ulb/rpcb4.h"

/* Sizes of the list of entries in a reply, and of memory for it. A machine has some dozens of entries, of
 * about 60 octets. */
enum { LOOKUP_REPLY_MAX = 64 << 10, LOOKUP_KEEP = LOOKUP_REPLY_MAX + 1024, LOOKUP_ARENA = 128 << 10 };

/* The most digits of an octet in an address, and the number of NFS version 4. */
enum { LOOKUP_OCTET_DIGITS = 3, LOOKUP_VERSION_4 = 4 };

/* Memory for the results of a call (struct rr_call). */
struct lookup_memory {
	uint8_t keep[LOOKUP_KEEP];
	uint8_t arena[LOOKUP_ARENA] __attribute__((aligned(16)));
};

const char *
rr_lookup_netid(bool rdma, int family)
{
	static const char *const netids[2][2] = { { "tcp", "tcp6" }, { "rdma", "rdma6" } };

	return netids[rdma][family == AF_INET6];
}

static const char *
lookup_netid(const struct rr_lookup *lookup)
{
	return rr_lookup_netid(lookup->rdma, lookup->address.ss_family);
}

/* ---- Entries ---- */

/* Parses the decimal number from 0 to 255 at the end of text, and shortens text by that number and the dot in
 * front of it. Returns false if text does not end with a dot and such a number. */
static bool
lookup_octet(struct rpcrdma_bytes *text, uint32_t *octet)
{
	const char *digits = text->data;
	uint32_t place = 1, count = 0;

	for (*octet = 0; text->length > 0 && count <= LOOKUP_OCTET_DIGITS; count++, place *= 10) {
		char digit = digits[text->length - 1];

		text->length--;
		if (digit == '.')
			return count > 0 && *octet <= UINT8_MAX;
		if (digit < '0' || digit > '9')
			return false;
		*octet += (uint32_t)(digit - '0') * place;
	}
	return false;
}

/* Returns the port of a universal address, or 0 if the text is no such address. RFC 5665, 5.2.3.3, for IPv4:
 * "h1.h2.h3.h4.p1.p2"; RFC 5665, 5.2.3.4, for IPv6: "x1:x2:x3:x4:x5:x6:x7:x8.p1.p2". Only p1 and p2 are used:
 * the host is the one that was asked. */
static uint16_t
lookup_address_port(struct rpcrdma_bytes address)
{
	uint32_t low, high;

	return lookup_octet(&address, &low) && lookup_octet(&address, &high) ? (uint16_t)(high << 8 | low)
									     : 0;
}

/* Tells whether an entry of rpcbind is for the wanted program, in one of the wanted versions, over the wanted
 * transport. */
static bool
lookup_fits(const struct rr_lookup *lookup, const rpcb *entry)
{
	const char *netid = lookup_netid(lookup);

	return entry->r_prog == lookup->prog && entry->r_vers >= lookup->low &&
	       entry->r_vers <= lookup->high && entry->r_netid.length == strlen(netid) &&
	       memcmp(entry->r_netid.data, netid, strlen(netid)) == 0;
}

/* Returns the port of the entry that fits the lookup and has the highest version, or 0 if no entry fits. */
static uint16_t
lookup_choose(const struct rr_lookup *lookup, const struct rp__list *entries)
{
	uint16_t port = 0;
	uint32_t version = 0;

	for (; entries; entries = entries->rpcb_next) {
		uint16_t found = lookup_address_port(entries->rpcb_map.r_addr);

		if (!lookup_fits(lookup, &entries->rpcb_map) || found == 0 ||
			entries->rpcb_map.r_vers <= version)
			continue;
		version = entries->rpcb_map.r_vers;
		port = found;
	}
	return port;
}

/* ---- Calls ---- */

/* Asks rpcbind for all its entries. Stores in *port the port of the fitting entry with the highest version,
 * or 0 if no entry fits. Returns 0 even then; or the error with which the call failed, or NOMEM. */
static int
lookup_list(const struct rr_lookup *lookup, struct rpcrdma_client *client, uint16_t *port)
{
	struct lookup_memory *memory = rr_alloc(lookup->engine->env, sizeof(*memory));
	rpcblist_ptr entries = NULL;
	struct rr_call call = {
		.program = &RPCBVERS4_program,
		.proc = RPCBPROC_DUMP,
		.result = &entries,
		.reply_max = LOOKUP_REPLY_MAX,
		.timeout = lookup->timeout,
	};
	int error;

	if (!memory)
		return -RPCRDMA_ERR_NOMEM;
	call.keep = memory->keep;
	call.keep_size = sizeof(memory->keep);
	call.arena = rpcrdma_arena(memory->arena, sizeof(memory->arena));
	error = rr_client_call_and_wait(client, &call, lookup->interrupted, lookup->ctx);
	*port = error ? 0 : lookup_choose(lookup, entries);
	rr_free(lookup->engine->env, memory);
	return error;
}

/* Asks the port mapper for the TCP port of each wanted version, from the highest down. Stores in *port the
 * first port that is not 0, or 0 if there is none. Returns 0 even then, or the error with which a call
 * failed. RFC 1833, section 3: "PMAPPROC_GETPORT: ... A port value of zeros indicates the program has not
 * been registered." */
static int
lookup_get_port(const struct rr_lookup *lookup, struct rpcrdma_client *client, uint16_t *port)
{
	mapping args = { .prog = lookup->prog, .vers = lookup->high, .prot = IPPROTO_TCP };
	int error = 0;

	*port = 0;
	for (; !error && *port == 0 && args.vers >= lookup->low; args.vers--) {
		uint32_t result = 0;
		struct rr_call call = {
			.program = &PMAP_VERS_program,
			.proc = PMAPPROC_GETPORT,
			.args = &args,
			.result = &result,
			.timeout = lookup->timeout,
		};

		error = rr_client_call_and_wait(client, &call, lookup->interrupted, lookup->ctx);
		if (!error && result <= UINT16_MAX)
			*port = (uint16_t)result;
	}
	return error;
}

/* Connects to rpcbind and asks for the port of the program. *port becomes 0 if rpcbind has no entry for it. A
 * host that only has the older port mapper is asked by that protocol, which knows TCP over IPv4 only. */
static int
lookup_ask(const struct rr_lookup *lookup, uint16_t *port, struct rr_text *why)
{
	struct rr_client_config config = {
		.transport = RR_TRANSPORT_TCP,
		.address = lookup->address,
		.address_size = rr_address_size(&lookup->address),
		.auth = &rr_auth_none,
	};
	struct rpcrdma_client *client;
	int error;

	rr_address_set_port(
		(struct sockaddr *)&config.address, lookup->rpcbind ? lookup->rpcbind : PMAP_PORT);
	error = rr_client_new(lookup->engine, &config, &client, why);
	if (error)
		return error;
	error = lookup_list(lookup, client, port);
	if (error == -RPCRDMA_ERR_PROG_MISMATCH && !lookup->rdma && lookup->address.ss_family == AF_INET)
		error = lookup_get_port(lookup, client, port);
	if (error)
		rr_fail(why, error, "%s", rr_client_error(client));
	rr_client_free(client);
	return error;
}

int
rr_lookup_port(const struct rr_lookup *lookup, uint16_t *port, struct rr_text *why)
{
	struct rr_text text = { "" };
	int error = lookup_ask(lookup, port, &text);

	if (error)
		return rr_fail(why, error, "rpcbind cannot be asked: %.200s", text.text);
	if (*port == 0)
		return rr_fail(why, -RPCRDMA_ERR_PROG_UNAVAIL,
			"rpcbind there has no entry of the program %u, version %u%s, for %s", lookup->prog,
			lookup->high, lookup->low < lookup->high ? " or less" : "", lookup_netid(lookup));
	return 0;
}

int
rr_lookup_nfs(struct rr_lookup *lookup, const struct rr_url *url, struct rr_text *why)
{
	struct rr_text text = { "" };
	uint16_t port;
	int error;

	if (url->rpcbind == 0)
		return 0;
	lookup->rpcbind = url->rpcbind;
	lookup->prog = NFS_PROGRAM;
	lookup->low = url->version == RR_NFS_VERSION_ANY ? NFS_V3 : LOOKUP_VERSION_4;
	lookup->high = LOOKUP_VERSION_4;
	if (url->version == RR_NFS_VERSION_3)
		lookup->low = lookup->high = NFS_V3;
	lookup->rdma = url->transport != RR_TRANSPORT_TCP;
	error = rr_lookup_port(lookup, &port, &text);
	if (error)
		return rr_fail(why, error == -RPCRDMA_ERR_PROG_UNAVAIL ? -RPCRDMA_ERR_REFUSED : error,
			"%.190s; give the port of NFS: nfs://HOST:PORT/PATH", text.text);
	rr_address_set_port((struct sockaddr *)&lookup->address, port);
	return 0;
}
