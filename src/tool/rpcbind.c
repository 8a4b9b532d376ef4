/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/rpcbind.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "carrier/engine.h"
#include "nfs/lookup.h"
#include "rpc/client.h"
#include "ulb/mount3.h"
#include "ulb/nfs3.h"
#include "ulb/nlm4.h"
#include "ulb/nsm1.h"
#include "ulb/rpcb4.h"
#include "ulb/rquota.h"

const struct rr_option rr_rpcbind_options[] = {
	{ .name = "rpcbind",
		.argument = "SOCKET",
		.help = "register with the rpcbind at this socket, as a rule /run/rpcbind.sock",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_rpcbind, socket) },
	{ .name = "rpcbind-rdma",
		.help = "register RDMA with it, too, as rdma and rdma6: not every rpcbind knows these names",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_rpcbind, rdma) },
	{ 0 },
};

/* rpcbind gets this time for an answer: it is on this machine, and answers at once or not at all. */
#define RPCBIND_LIMIT RR_SECOND

/* Octets of memory for the owner of an entry; the number of NFS version 4. */
enum { RPCBIND_OWNER = 16, RPCBIND_NFS_V4 = 4 };

/* ---- Entries ---- */

/* Writes a universal address (RFC 5665, 5.2.3.3 and 5.2.3.4): the address as text, then the two octets of the
 * port in decimal, each with a dot in front. If any is true, the address that it writes is "0.0.0.0" or "::",
 * which stands for all addresses of this machine. */
static void
rpcbind_address(char text[RR_RPCBIND_ADDRESS], const struct sockaddr *address, bool any)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	unsigned port = rr_address_port(address);
	char host[INET6_ADDRSTRLEN] = "::";

	if (address->sa_family == AF_INET && any)
		strcpy(host, "0.0.0.0");
	else if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	else if (!any)
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
	snprintf(text, RR_RPCBIND_ADDRESS, "%s.%u.%u", host, port >> 8u, port & 255u);
}

/* Adds an entry as rr_rpcbind_add() does, under this name of a transport. */
static void
rpcbind_add(struct rr_rpcbind *rpcbind, uint32_t prog, uint32_t vers, const char *netid,
	const struct sockaddr *address)
{
	struct rr_rpcbind_entry *entry = rpcbind->entries;
	const struct rr_rpcbind_entry *end = entry + rpcbind->count;
	uint16_t port = rr_address_port(address);
	bool another;

	while (entry < end && (entry->prog != prog || entry->vers != vers || entry->netid != netid))
		entry++;
	another = entry < end;
	if (entry == rpcbind->entries + RR_RPCBIND_MAX || (another && entry->port != port))
		return;
	rpcbind->count += !another;
	*entry = (struct rr_rpcbind_entry){ .prog = prog, .vers = vers, .netid = netid, .port = port };
	rpcbind_address(entry->address, address, another);
}

void
rr_rpcbind_add(
	struct rr_rpcbind *rpcbind, uint32_t prog, uint32_t vers, bool tcp, const struct sockaddr *address)
{
	rpcbind_add(rpcbind, prog, vers, rr_lookup_netid(!tcp, address->sa_family), address);
}

/* Adds entries for all versions of MOUNT under this name of a transport. */
static void
rpcbind_add_mount(struct rr_rpcbind *rpcbind, const char *netid, const struct sockaddr *address)
{
	for (uint32_t vers = MOUNT_V1_program.vers; vers <= MOUNT_V3_program.vers; vers++)
		rpcbind_add(rpcbind, MOUNT_V3_program.prog, vers, netid, address);
}

void
rr_rpcbind_add_nfs(
	struct rr_rpcbind *rpcbind, bool version3, bool version4, bool tcp, const struct sockaddr *address)
{
	if (version3) {
		rr_rpcbind_add(rpcbind, NFS_V3_program.prog, NFS_V3_program.vers, tcp, address);
		rpcbind_add_mount(rpcbind, rr_lookup_netid(!tcp, address->sa_family), address);
		rr_rpcbind_add(rpcbind, NFS_ACL_V3_program.prog, NFS_ACL_V3_program.vers, tcp, address);
	}
	if (version4)
		rr_rpcbind_add(rpcbind, NFS_V3_program.prog, RPCBIND_NFS_V4, tcp, address);
}

/* Adds entries for NLM, NSM and RQUOTA under this name of a transport. */
static void
rpcbind_add_beside(struct rr_rpcbind *rpcbind, const char *netid, const struct sockaddr *address)
{
	static const uint32_t versions[] = { 1, 3, NLM4_VERS };

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		rpcbind_add(rpcbind, NLM_PROG, versions[i], netid, address);
	rpcbind_add(rpcbind, SM_PROG, SM_VERS, netid, address);
	rpcbind_add(rpcbind, RQUOTAPROG, RQUOTAVERS, netid, address);
	rpcbind_add(rpcbind, RQUOTAPROG, EXT_RQUOTAVERS, netid, address);
}

void
rr_rpcbind_add_beside(struct rr_rpcbind *rpcbind, bool tcp, const struct sockaddr *address)
{
	rpcbind_add_beside(rpcbind, rr_lookup_netid(!tcp, address->sa_family), address);
}

void
rr_rpcbind_add_datagrams(struct rr_rpcbind *rpcbind, const struct sockaddr *address)
{
	const char *netid = address->sa_family == AF_INET6 ? "udp6" : "udp";

	rpcbind_add_mount(rpcbind, netid, address);
	rpcbind_add_beside(rpcbind, netid, address);
}

/* ---- Calls ---- */

/* A connection to rpcbind. */
struct rpcbind_talk {
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
};

/* Begins to connect to rpcbind. rpcbind_close() is to be called in any case. Returns 0; or an error, with its
 * text in `why`. */
static int
rpcbind_open(const struct rr_rpcbind *rpcbind, struct rpcbind_talk *talk, struct rr_text *why)
{
	struct rr_client_config config = { .transport = RR_TRANSPORT_TCP,
		.address_size = sizeof(struct sockaddr_un) };
	struct sockaddr_un *address = (void *)&config.address;

	*talk = (struct rpcbind_talk){ 0 };
	if (strlen(rpcbind->socket) >= sizeof(address->sun_path))
		return rr_fail(why, -RPCRDMA_ERR_INVAL, "the path of the socket is too long");
	address->sun_family = AF_UNIX;
	strcpy(address->sun_path, rpcbind->socket);
	if (rr_engine_new(&rr_env_system, &rr_engine_config_default, &talk->engine) < 0)
		return rr_fail(
			why, -RPCRDMA_ERR_SYSTEM, "an event loop cannot be set up: %s", strerror(errno));
	return rr_client_new(talk->engine, &config, &talk->client, why);
}

static void
rpcbind_close(struct rpcbind_talk *talk)
{
	rr_client_free(talk->client);
	rpcrdma_engine_free(talk->engine);
}

static struct rpcrdma_bytes
rpcbind_string(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

/* Calls the procedure proc of rpcbind, which registers or withdraws the entry, and stores in *done whether
 * rpcbind did so. Returns 0, or an error of the call. */
static int
rpcbind_call(struct rpcbind_talk *talk, uint32_t proc, const struct rr_rpcbind_entry *entry, bool *done)
{
	char owner[RPCBIND_OWNER];
	rpcb args = { entry->prog, entry->vers, rpcbind_string(entry->netid), rpcbind_string(entry->address),
		{ 0 } };
	struct rr_call call = { .program = &RPCBVERS4_program,
		.proc = proc,
		.args = &args,
		.result = done,
		.timeout = RPCBIND_LIMIT };

	snprintf(owner, sizeof(owner), "%u", (unsigned)geteuid());
	args.r_owner = rpcbind_string(owner);
	return rr_client_call_and_wait(talk->client, &call, NULL, NULL);
}

static void
rpcbind_warn(const struct rr_tool *tool, const struct rr_rpcbind *rpcbind, const char *why)
{
	rr_tool_warn(
		tool, "rpcbind at %s: %s; clients that ask it do not find this server", rpcbind->socket, why);
}

/* NLM and NSM are one program of a machine each, which mostly its kernel and its statd have. */
static bool
rpcbind_is_of_locks(const struct rr_rpcbind_entry *entry)
{
	return entry->prog == NLM_PROG || entry->prog == SM_PROG;
}

/* If rpcbind has refused an entry of NLM or NSM, the entries of both are withdrawn: half of a lock manager
 * here and half of it there would lose locks. */
static void
rpcbind_leave_locks(const struct rr_tool *tool, struct rr_rpcbind *rpcbind, struct rpcbind_talk *talk)
{
	struct rr_rpcbind_entry *end = rpcbind->entries + rpcbind->count;
	bool refused = false, gone;

	for (const struct rr_rpcbind_entry *entry = rpcbind->entries; entry < end; entry++)
		refused |= rpcbind_is_of_locks(entry) && !entry->registered;
	if (!refused)
		return;
	for (struct rr_rpcbind_entry *entry = rpcbind->entries; entry < end; entry++) {
		if (!rpcbind_is_of_locks(entry) || !entry->registered)
			continue;
		entry->registered = false;
		if (rpcbind_call(talk, RPCBPROC_UNSET, entry, &gone) < 0)
			break;
	}
	rr_tool_warn(tool,
		"rpcbind at %s: the lockd or statd of this machine has the locks of version 3, or this user "
		"may "
		"not register them: clients of version 3 mount with nolock, or with vers=4.1",
		rpcbind->socket);
}

/* Registers all entries, and notes which of them rpcbind took. Warns of those that it refuses. Stops after a
 * call without an answer. */
static void
rpcbind_set_all(const struct rr_tool *tool, struct rr_rpcbind *rpcbind, struct rpcbind_talk *talk)
{
	for (struct rr_rpcbind_entry *entry = rpcbind->entries; entry < rpcbind->entries + rpcbind->count;
		entry++) {
		if (rpcbind_call(talk, RPCBPROC_SET, entry, &entry->registered) < 0) {
			rpcbind_warn(tool, rpcbind, rr_client_error(talk->client));
			return;
		}
		if (!entry->registered && !rpcbind_is_of_locks(entry))
			rr_tool_warn(tool,
				"rpcbind at %s: program %u version %u is registered under %s by another "
				"server, or "
				"this user may not do so",
				rpcbind->socket, entry->prog, entry->vers, entry->netid);
	}
	rpcbind_leave_locks(tool, rpcbind, talk);
}

void
rr_rpcbind_register(const struct rr_tool *tool, struct rr_rpcbind *rpcbind)
{
	struct rpcbind_talk talk;
	struct rr_text why;

	if (!rpcbind->socket)
		return;
	if (rpcbind_open(rpcbind, &talk, &why) < 0)
		rpcbind_warn(tool, rpcbind, why.text);
	else
		rpcbind_set_all(tool, rpcbind, &talk);
	rpcbind_close(&talk);
}

/* Withdraws the entries that were registered. Warns and stops after a call without an answer. It is no error
 * if rpcbind answers that an entry is not there any more. */
static void
rpcbind_unset_all(const struct rr_tool *tool, struct rr_rpcbind *rpcbind, struct rpcbind_talk *talk)
{
	for (struct rr_rpcbind_entry *entry = rpcbind->entries; entry < rpcbind->entries + rpcbind->count;
		entry++) {
		bool gone, registered = entry->registered;

		entry->registered = false;
		if (!registered || rpcbind_call(talk, RPCBPROC_UNSET, entry, &gone) == 0)
			continue;
		rr_tool_warn(tool, "rpcbind at %s: %s", rpcbind->socket, rr_client_error(talk->client));
		return;
	}
}

void
rr_rpcbind_withdraw(const struct rr_tool *tool, struct rr_rpcbind *rpcbind)
{
	bool registered = false;
	struct rpcbind_talk talk;
	struct rr_text why;

	for (size_t i = 0; i < rpcbind->count; i++)
		registered |= rpcbind->entries[i].registered;
	if (!registered)
		return;
	if (rpcbind_open(rpcbind, &talk, &why) < 0)
		rr_tool_warn(tool, "rpcbind at %s: %s", rpcbind->socket, why.text);
	else
		rpcbind_unset_all(tool, rpcbind, &talk);
	rpcbind_close(&talk);
}
