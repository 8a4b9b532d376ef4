/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/checked.h"
#include "nfs/lookup.h"
#include "nfs/sec.h"
#include "ulb/mount3.h"

/* This file finds the export that a path is in: by MOUNT version 3 (RFC 1813, section 5), and by rpcbind for
 * its port. */

/* The most octets of results that the schema does not bound: the flavors of MNT, and the list of EXPORT. */
enum { MNT_REPLY_MAX = 1024, EXPORT_REPLY_MAX = 32 << 10 };

/* Returns a prepared call, whose results will be stored in the memory of the NFS client (keep and arena). */
static struct rr_call
mount_prepare(struct rpcrdma_nfs *nfs, const struct rpcrdma_program *program, uint32_t proc, const void *args,
	void *result)
{
	return (struct rr_call){
		.program = program,
		.proc = proc,
		.args = args,
		.result = result,
		.keep = nfs->keep,
		.keep_size = sizeof(nfs->keep),
		.arena = rpcrdma_arena(nfs->arena, sizeof(nfs->arena)),
		.timeout = nfs->config.timeout,
	};
}

/* ---- The connection to MOUNT ---- */

/* Makes an RPC client that connects to the given port of the NFS server over TCP, even if NFS itself uses
 * RDMA. It goes inside of TLS if MOUNT has that there: Linux's mountd has none, and Linux's client asks it
 * without, also with xprtsec=tls. Who changes its answer can lead the client to another directory of the same
 * server: calls with that handle go inside of TLS. */
static int
mount_open_tcp(
	struct rpcrdma_nfs *nfs, uint16_t port, const struct rr_auth *auth, struct rpcrdma_client **client)
{
	struct rr_client_config config = nfs->config.rpc;

	config.auth = auth;
	config.transport = RR_TRANSPORT_TCP;
	config.retry = 0; /* if the connection is lost, its calls fail at once */
	config.connections = 1;
	if (config.secure) {
		nfs->mount_secure = *config.secure;
		nfs->mount_secure.optional = true;
		config.secure = &nfs->mount_secure;
	}
	rr_address_set_port((struct sockaddr *)&config.address, port);
	return rr_client_new(nfs->engine, &config, client, &nfs->text);
}

/* Asks the rpcbind service of the server for the TCP port of MOUNT, and stores it in *port. */
static int
mount_ask_port(struct rpcrdma_nfs *nfs, uint16_t *port)
{
	const struct rr_nfs_config *config = &nfs->config;
	const struct rr_lookup lookup = {
		.engine = nfs->engine,
		.address = config->rpc.address,
		.rpcbind = config->rpcbind,
		.prog = MOUNT_V3_program.prog,
		.low = MOUNT_V3_program.vers,
		.high = MOUNT_V3_program.vers,
		.timeout = config->timeout,
		.interrupted = config->interrupted,
		.ctx = config->interrupted_ctx,
	};
	struct rr_text why;
	int error = rr_lookup_port(&lookup, port, &why);

	if (!error)
		return 0;
	return rr_nfs_fail(nfs, error,
		"MOUNT is not served on this connection, and %.150s; give its port with ?mountport=N",
		why.text);
}

/* ---- The answers of MOUNT ---- */

/* Copies the list of flavors of MNT, as long as there is room. RFC 1813, 5.2.1: "auth_flavors contains the
 * values of the authentication flavors that are acceptable to the server." Those of Kerberos are named by
 * pseudo-flavors (RFC 2623, 2.2.2). */
static struct rr_sec_offer
mount_offer(const mountres3_ok *mounted)
{
	struct rr_sec_offer offer = { .count = (uint32_t)rr_min(mounted->auth_flavors.count, RR_SEC_OFFERS) };

	for (uint32_t i = 0; i < offer.count; i++)
		offer.flavors[i] = (uint32_t)mounted->auth_flavors.values[i];
	return offer;
}

/* Sets the client's root to the handle that MNT returned. Fails if the export lists flavors of authentication
 * without that of this client. */
static int
mount_accept_root(struct rpcrdma_nfs *nfs, const mountres3_ok *mounted)
{
	const struct rr_sec_offer offer = mount_offer(mounted);
	char list[64];

	if (nfs->config.offer)
		*nfs->config.offer = offer;
	if (!rr_sec_takes(&offer, nfs->config.rpc.auth)) {
		rr_sec_list(&offer, list, sizeof(list));
		return rr_nfs_fail(
			nfs, -RPCRDMA_ERR_RPC_DENIED, "the export %.100s wants sec=%s", nfs->export, list);
	}
	if (!rr_nfs_handle_set(&nfs->root, mounted->fhandle))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the server gave an empty file handle for %.150s",
			nfs->export);
	return 0;
}

bool
rr_nfs_cut(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length == 1)
		return false;
	while (path[length - 1] != '/')
		length--;
	while (length > 1 && path[length - 1] == '/')
		length--;
	path[length] = '\0';
	return true;
}

/* Writes the paths of the server's exports into text, for an error message. text becomes empty if the server
 * does not answer. */
static void
client_list_exports(struct rpcrdma_nfs *nfs, struct rpcrdma_client *client, char *text, size_t size)
{
	exports result = NULL;
	struct rr_call call = mount_prepare(nfs, &MOUNT_V3_program, MOUNTPROC3_EXPORT, NULL, &result);
	char list[128] = "", path[RR_NFS_PATH];
	bool fits = true;

	call.reply_max = EXPORT_REPLY_MAX;
	text[0] = '\0';
	if (rr_nfs_wait(nfs, client, &call) < 0)
		return;
	for (struct exportnode *node = result; node && fits; node = node->ex_next) {
		snprintf(path, sizeof(path), "%.*s", (int)node->ex_dir.length,
			(const char *)node->ex_dir.data);
		fits = rr_text_list(list, sizeof(list), path);
	}
	snprintf(text, size, "; it exports %s", result ? list : "nothing");
}

/* Sets the error text for a mount that the server refused, and returns the status. The status needs no
 * translation, because the statuses of MOUNT have the same numbers as those of NFS. */
static int
mount_refuse(struct rpcrdma_nfs *nfs, struct rpcrdma_client *client, mountstat3 status)
{
	char list[160];

	client_list_exports(nfs, client, list, sizeof(list));
	if (status == MNT3ERR_ACCES || status == MNT3ERR_PERM)
		return rr_nfs_fail(nfs, (int)status,
			"permission denied: %.40s does not let this host mount %.40s%s", nfs->server,
			nfs->path, list);
	return rr_nfs_fail(
		nfs, (int)status, "%.40s has no export of the path %.40s%s", nfs->server, nfs->path, list);
}

/* Asks MOUNT for the path, then for each directory above it, until the server accepts one. The handle of the
 * accepted directory becomes the root. If the server accepts none, reports the first refusal, but rather a
 * later MNT3ERR_ACCES than a first refusal that only says that the path does not exist. A path that is too
 * long for MOUNT is left out. */
static int
mount_on(struct rpcrdma_nfs *nfs, struct rpcrdma_client *client)
{
	mountstat3 first = MNT3_OK;

	strcpy(nfs->export, nfs->path);
	do {
		dirpath args = rr_nfs_string(nfs->export);
		mountres3 result;
		struct rr_call call = mount_prepare(nfs, &MOUNT_V3_program, MOUNTPROC3_MNT, &args, &result);
		int error;

		if (args.length > MNTPATHLEN)
			continue;
		call.reply_max = MNT_REPLY_MAX;
		error = rr_nfs_wait(nfs, client, &call);
		if (error)
			return error;
		if (result.fhs_status == MNT3_OK)
			return mount_accept_root(nfs, &result.u.mountinfo);
		if (first == MNT3_OK || (first == MNT3ERR_NOENT && result.fhs_status == MNT3ERR_ACCES))
			first = result.fhs_status;
	} while (rr_nfs_cut(nfs->export));
	return mount_refuse(nfs, client, first);
}

/* Mounts by MOUNT over TCP at that port, with calls of this flavor. */
static int
mount_at(struct rpcrdma_nfs *nfs, uint16_t port, const struct rr_auth *auth)
{
	struct rpcrdma_client *client;
	int error = mount_open_tcp(nfs, port, auth, &client);

	if (error)
		return error;
	error = mount_on(nfs, client);
	rr_client_free(client);
	return error;
}

/* Unless the configuration names a port of MOUNT, asks for MOUNT on the connection of NFS first. If MOUNT is
 * not served there, asks rpcbind for its port, and MOUNT over TCP at that port. Linux's mountd has no
 * Kerberos, and is asked by AUTH_SYS, as Linux's client does: who changes its answer can lead the client to
 * another directory of the same server, which calls with that handle name with Kerberos. */
int
rr_nfs_mount(struct rpcrdma_nfs *nfs)
{
	const struct rr_auth *auth = nfs->config.rpc.auth;
	uint16_t port = nfs->config.mount_port;
	int error;

	if (port == 0) {
		error = mount_on(nfs, nfs->client);
		if (error != -RPCRDMA_ERR_PROG_UNAVAIL && error != -RPCRDMA_ERR_PROG_MISMATCH)
			return error;
		error = mount_ask_port(nfs, &port);
		if (error)
			return error;
	}
	error = mount_at(nfs, port, auth);
	if (error == -RPCRDMA_ERR_RPC_DENIED && auth && auth->flavor == RR_RPCSEC_GSS)
		error = mount_at(nfs, port, NULL);
	return error;
}
