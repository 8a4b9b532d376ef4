/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/tls/tls.h"
#include "nfs/client_private.h"
#include "nfs/nfs_private.h"
#include "nfs/sec.h"

/* This file opens an export: it connects, checks that the server answers, mounts, and asks for the limits. */

/* The time between two checks whether the user has interrupted the client. */
#define TICK (250 * RR_MILLISECOND)

/* The end of a wait. */
struct open_deadline {
	struct rpcrdma_nfs *nfs;
	uint64_t at; /* time of rr_now(); 0: no deadline */
};

/* Tells whether a wait is to end: its deadline is over, or the user interrupts it. */
static bool
open_is_late(void *ctx)
{
	const struct open_deadline *deadline = ctx;

	return (deadline->at && rr_now(deadline->nfs->env) >= deadline->at) ||
	       rr_nfs_interrupted(deadline->nfs);
}

/* Waits until the connection is made, then calls the procedure NULL and waits for its answer, which shows
 * that the server has this version of NFS. */
static int
open_greet(struct rpcrdma_nfs *nfs, const struct rpcrdma_program *program)
{
	struct rr_call call = { .program = program, .proc = NFSPROC3_NULL, .timeout = nfs->config.timeout };
	struct open_deadline deadline = { nfs,
		nfs->config.timeout ? rr_now(nfs->env) + nfs->config.timeout : 0 };
	int error = rr_client_wait_connected(nfs->client, open_is_late, &deadline);

	if (error == -RPCRDMA_ERR_CANCELLED && !rr_nfs_interrupted(nfs))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_TIMEDOUT,
			"no answer; check the port, and that an NFS server for this transport listens there");
	if (error == -RPCRDMA_ERR_CANCELLED)
		return rr_nfs_fail(nfs, error, "interrupted");
	if (error < 0)
		return rr_nfs_fail(nfs, error, "%s", rr_client_error(nfs->client));
	error = rr_nfs_wait(nfs, nfs->client, &call);
	if (error == -RPCRDMA_ERR_DISCONNECTED)
		return rr_nfs_fail(nfs, error, "%.150s; is an NFS server of this transport at this port?",
			rr_client_error(nfs->client));
	return error;
}

/* Asks by FSINFO for the largest READ, WRITE, READDIR and file on the file system of an object, and stores
 * these limits in nfs. Fails if the server's READ or WRITE is too small to be used. */
static int
open_ask_limits(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle)
{
	enum { READDIR_MAX = 1 << 20, READDIR_LEAST = 4096, IO_LEAST = 512 };
	FSINFO3args args = { .fsroot = rr_nfs_fh(handle) };
	FSINFO3res result;
	const FSINFO3resok *info = &result.u.resok;
	int error = rr_nfs_call(nfs, NFSPROC3_FSINFO, &args, &result);

	if (error)
		return error;
	if (info->rtmax < IO_LEAST || info->wtmax < IO_LEAST)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER,
			"the server takes no READ of more than %u and no WRITE "
			"of more than %u octets, which is no use",
			info->rtmax, info->wtmax);
	nfs->read_max = (uint32_t)rr_min(info->rtmax, RR_NFS_IO_MAX);
	nfs->write_max = (uint32_t)rr_min(info->wtmax, RR_NFS_IO_MAX);
	nfs->entries_max = RR_NFS_ENTRIES;
	nfs->readdir_max = (uint32_t)rr_min(info->dtpref, READDIR_MAX);
	if (nfs->readdir_max < READDIR_LEAST)
		nfs->readdir_max = READDIR_LEAST;
	nfs->file_max = info->maxfilesize;
	return 0;
}

/* Called by the loop at each tick, which ends a turn of the loop: whoever turns the loop then checks for an
 * interruption. Sets the timer for the next tick. */
static void
open_tick(struct rr_timer *timer)
{
	struct rpcrdma_nfs *nfs = rr_container(timer, struct rpcrdma_nfs, tick);

	rr_loop_arm(nfs->engine->loop, timer, TICK);
}

/* Opens the export with version 3: waits for the server, mounts the export, and asks for the limits of its
 * file system. */
static int
open_v3(struct rpcrdma_nfs *nfs)
{
	int error = open_greet(nfs, &rr_nfs_v3_program);

	if (!error)
		error = rr_nfs_mount(nfs);
	return error ? error : open_ask_limits(nfs, &nfs->root);
}

/* ---- Version 4 ---- */

/* Opens a session of NFS version 4.minor. Fails if the server does not give a session within the timeout of
 * the configuration. */
static int
open_session(struct rpcrdma_nfs *nfs, uint32_t minor)
{
	const struct rr_v4_config config = {
		.engine = nfs->engine,
		.client = nfs->client,
		.minor = minor,
		.retry = nfs->config.rpc.retry,
		.work = rr_v4_procedure,
		.status_text = rpcrdma_nfs_status_text,
	};
	struct open_deadline deadline = { nfs,
		nfs->config.timeout ? rr_now(nfs->env) + nfs->config.timeout : 0 };
	int error = rr_v4_new(&config, &nfs->v4);

	if (error)
		return rr_nfs_fail(nfs, error, "%s", rpcrdma_strerror(error));
	error = rr_v4_wait(nfs->v4, open_is_late, &deadline);
	if (error == -RPCRDMA_ERR_CANCELLED && !rr_nfs_interrupted(nfs))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_TIMEDOUT, "the server does not give a session in time");
	/* RFC 8881, 15.1.6.2, of NFS4ERR_PERM: "either the caller is not a privileged user (root) or the
	 * caller is not the owner of the target of the operation." Of a new client, neither is asked, so the
	 * server does not want this host. */
	if (error == -RPCRDMA_ERR_REJECTED && rr_v4_refusal(nfs->v4) == NFS4ERR_PERM)
		return rr_nfs_fail(nfs, NFS3ERR_ACCES,
			"permission denied: %s does not let this host use %.60s; it exports nothing to it",
			nfs->server, nfs->path);
	return error ? rr_nfs_fail(nfs, error, "%s", rr_v4_error(nfs->v4)) : 0;
}

/* Called when the server has refused a name in a directory with NFS4ERR_WRONGSEC, or the directory itself (no
 * name): asks for the flavors that it takes there, and notes them in config.offer. Sets the error text, and
 * returns the status. */
static int
open_wrong_sec(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	const struct rr_v4_sec_args args = { .directory = rr_nfs_fh(directory), .name = rr_nfs_string(name) };
	struct rr_v4_sec_result result = { 0 };
	char list[64];

	/* Where the server takes this client's flavor, it wants another protection of the connection. */
	if (rr_nfs_call(nfs, RR_V4_SECINFO, &args, &result) != 0 || result.offer.count == 0 ||
		rr_sec_takes(&result.offer, nfs->config.rpc.auth))
		return rr_nfs_fail(nfs, NFS4ERR_WRONGSEC, "%s", rr_nfs_status_text(nfs, NFS4ERR_WRONGSEC));
	if (nfs->config.offer)
		*nfs->config.offer = result.offer;
	rr_sec_list(&result.offer, list, sizeof(list));
	return rr_nfs_fail(nfs, NFS4ERR_WRONGSEC, "%.80s wants sec=%s (NFS4ERR_WRONGSEC)", nfs->path, list);
}

/* Makes the root of the server's tree the mounted root, whose path is "/". RFC 8881, 7.3: in version 4, all
 * exports of a server are in one tree. A LOOKUP of an empty name in an empty handle has the root as its
 * result. */
static int
client_mount_root(struct rpcrdma_nfs *nfs)
{
	const struct rpcrdma_nfs_handle nowhere = { 0 };
	struct rpcrdma_nfs_object root;
	int error = rr_nfs_lookup(nfs, &nowhere, "", &root);

	strcpy(nfs->export, "/");
	if (error == NFS4ERR_WRONGSEC)
		return open_wrong_sec(nfs, &nowhere, "");
	if (!error) {
		nfs->root = root.handle;
		nfs->root_fsid = root.filesystem;
		nfs->exports_known = false;
	}
	return error;
}

/* Called when the server has refused a LOOKUP in the directory `here` with NFS3ERR_ACCES: tells whether an
 * export would be there, which this host may not use. Then the error text says so. */
static bool
open_is_closed(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *here)
{
	/* The list of the exports is read within the limits of the root. */
	if (open_ask_limits(nfs, &nfs->root) != 0)
		return false;
	rr_nfs_refused(nfs, here, nfs->path, NFS3ERR_ACCES);
	(void)rr_nfs_explain(nfs);
	return nfs->exports[0] != '\0' && rr_nfs_is_at_root(nfs, here);
}

/* Cuts nfs->path behind the name that follows the path above it, and returns that name. The rest of the path
 * is not needed any more, as the client is closed. */
static const char *
open_next_name(struct rpcrdma_nfs *nfs, const char *above)
{
	char *name = nfs->path + strlen(above);

	name += strspn(name, "/");
	name[strcspn(name, "/")] = '\0';
	return name;
}

/* Asks for the limits of the file system at the path, or at the closest directory above it that exists. RFC
 * 8881, 5.4: attributes such as maxfilesize belong to a file system, and the root of a server is often a file
 * system of its own, which can hold no file. *missing becomes true if the root has no object with the first
 * name of the path. Fails if the path is in an export that this host may not use. */
static int
open_ask_limits_there(struct rpcrdma_nfs *nfs, bool *missing)
{
	char path[RR_NFS_PATH];
	struct rpcrdma_nfs_object there;
	int error, refusal = 0;

	strcpy(path, nfs->path);
	error = rr_nfs_reach(nfs, path, &there);
	if (error == NFS3ERR_ACCES && open_is_closed(nfs, &there))
		return error;
	while (error > 0 && rr_nfs_cut(path)) {
		refusal = error;
		error = rr_nfs_reach(nfs, path, &there);
	}
	if (refusal == NFS4ERR_WRONGSEC && !error)
		return open_wrong_sec(nfs, &there.handle, open_next_name(nfs, path));
	*missing = strcmp(path, "/") == 0 && refusal == NFS3ERR_NOENT;
	return open_ask_limits(nfs, error ? &nfs->root : &there.handle);
}

/* Opens the export with NFS version 4.minor: makes a session, and asks for the limits of the file system.
 * *missing becomes true if the root of the server's tree has no object with the first name of the path. */
static int
open_v4(struct rpcrdma_nfs *nfs, uint32_t minor, bool *missing)
{
	int error = open_greet(nfs, &rr_v4_program);

	if (!error)
		error = open_session(nfs, minor);
	if (!error)
		error = client_mount_root(nfs);
	return error ? error : open_ask_limits_there(nfs, missing);
}

/* ---- The highest version ---- */

/* Ends the client's session of version 4, if there is one, and frees its memory. */
static void
open_leave_v4(struct rpcrdma_nfs *nfs)
{
	if (nfs->v4)
		rr_v4_leave(nfs->v4, RR_NFS_CLEANING_TIME);
	rr_v4_free(nfs->v4);
	nfs->v4 = NULL;
}

/* Opens a path that the tree of version 4 does not have. That tree may begin elsewhere than the names of
 * MOUNT: the Linux server uses the directory of an export with fsid=0 as its root (exports(5)). So version 3
 * is tried; if it fails or only exports "/", the client uses version 4.minor after all. */
static int
open_where_it_is(struct rpcrdma_nfs *nfs, uint32_t minor)
{
	bool missing;
	int error;

	open_leave_v4(nfs);
	error = open_v3(nfs);
	if (!error && strcmp(nfs->export, "/") != 0)
		return 0;
	return open_v4(nfs, minor, &missing);
}

/* Opens a path that the server refuses to this host by version 4, with the error text that is set: the rule
 * for this host may be for version 3 alone. If version 3 fails, too, the first refusal counts. */
static int
open_where_it_is_let_in(struct rpcrdma_nfs *nfs)
{
	const struct rr_text why = nfs->text;

	open_leave_v4(nfs);
	if (open_v3(nfs) == 0)
		return 0;
	nfs->text = why;
	return NFS3ERR_ACCES;
}

/* Opens the export with the highest version of NFS that the server has: 4.2, 4.1, or 3. If the tree of
 * version 4 does not have the path, or is closed to this host, open_where_it_is() or
 * open_where_it_is_let_in() chooses the version. */
static int
open_highest(struct rpcrdma_nfs *nfs)
{
	bool missing;

	for (uint32_t minor = 2; minor > 0; minor--) {
		int error = open_v4(nfs, minor, &missing);

		if (!error && missing)
			return open_where_it_is(nfs, minor);
		if (error == NFS3ERR_ACCES)
			return open_where_it_is_let_in(nfs);
		if (error != -RPCRDMA_ERR_PROG_MISMATCH && error != -RPCRDMA_ERR_PROG_UNAVAIL)
			return error;
		open_leave_v4(nfs);
	}
	return open_v3(nfs);
}

/* Connects to the server, and opens the export with the version that the configuration names, or with the
 * highest version of the server if it names none. */
static int
open_all(struct rpcrdma_nfs *nfs)
{
	int error = rr_client_new(nfs->engine, &nfs->config.rpc, &nfs->client, &nfs->text);
	bool missing;

	if (error)
		return error;
	switch (nfs->config.version) {
	case RR_NFS_VERSION_3: return open_v3(nfs);
	case RR_NFS_VERSION_41: return open_v4(nfs, 1, &missing);
	case RR_NFS_VERSION_42: return open_v4(nfs, 2, &missing);
	default: return open_highest(nfs);
	}
}

int
rr_nfs_open(struct rpcrdma_engine *engine, const struct rr_nfs_config *config, struct rpcrdma_nfs **out,
	struct rr_text *text)
{
	struct rpcrdma_nfs *nfs;
	int error;

	if (config->path[0] != '/' || strlen(config->path) >= RR_NFS_PATH)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the path must begin with '/' and be shorter than %d octets", RR_NFS_PATH);
	nfs = rr_alloc(engine->env, sizeof(*nfs));
	if (!nfs)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "%s", rpcrdma_strerror(-RPCRDMA_ERR_NOMEM));
	nfs->engine = engine;
	nfs->env = engine->env;
	nfs->config = *config;
	rr_nfs_pending_init(nfs);
	rr_engine_use(engine);
	snprintf(nfs->server, sizeof(nfs->server), "%s", config->server);
	strcpy(nfs->path, config->path);
	nfs->config.server = nfs->server;
	nfs->config.path = nfs->path;
	if (config->rpc.secure) {
		nfs->secure = *config->rpc.secure;
		nfs->secure.name = nfs->server;
		nfs->config.rpc.secure = &nfs->secure;
	}
	rr_timer_init(&nfs->tick, open_tick);
	if (config->interrupted)
		rr_loop_arm(engine->loop, &nfs->tick, TICK);
	error = open_all(nfs);
	if (error) {
		rr_fail(text, error, "%s", nfs->text.text);
		rpcrdma_nfs_close(nfs);
		return error;
	}
	*out = nfs;
	return 0;
}

void
rpcrdma_nfs_close(struct rpcrdma_nfs *nfs)
{
	struct rpcrdma_engine *engine;

	if (!nfs)
		return;
	engine = nfs->engine;
	rr_nfs_pending_end(nfs);
	rr_loop_disarm(engine->loop, &nfs->tick);
	/* Leaving turns the loop, which is not possible inside one of its callbacks. The server then keeps
	 * its state of this client until the lease ends. */
	if (nfs->v4 && !rr_loop_calls_back(engine->loop))
		rr_v4_leave(nfs->v4, RR_NFS_CLEANING_TIME);
	rr_v4_free(nfs->v4);
	if (nfs->gss && nfs->client && !rr_loop_calls_back(engine->loop))
		rr_gss_client_leave(nfs->gss, nfs->client, nfs->v4 ? &rr_v4_program : &rr_nfs_v3_program,
			RR_NFS_CLEANING_TIME);
	rr_client_free(nfs->client);
	rr_gss_client_free(nfs->gss);
	if (nfs->own_tls)
		rr_tls_free(nfs->own_tls);
	rr_free(nfs->env, nfs);
	rr_engine_leave(engine);
}
