/* SPDX-License-Identifier: BSD-3-Clause */
/* This file opens the public NFS client by a URL, and has the functions that return its properties. */
#include <string.h>

#include "base/address.h"
#include "base/config.h"
#include "nfs/known.h"
#include "nfs/lookup.h"
#include "nfs/nfs_private.h"
#include "nfs/sec.h"
#include "nfs/secure.h"
#include "rpc/credential.h"

/* If the caller names no times: the wait for the first answer of a server, and for a lost connection. */
#define OPEN_TIMEOUT (20 * RR_SECOND)
#define OPEN_RETRY   (120 * RR_SECOND)

enum { OPEN_ADDRESSES = 8 }; /* addresses of a host that are tried, at most */

/* Stores in *user the user and the groups for which calls are made: those of config; if config has none, the
 * user and group of the URL; else those of this process. */
static int
open_credential(const struct rpcrdma_nfs_config *config, const struct rr_url *url,
	struct rpcrdma_auth_sys *user, struct rr_text *text)
{
	int error = rr_credential_sys(config->auth_sys, user, text);

	if (error || config->auth_sys)
		return error;
	if (url->has_uid)
		user->uid = url->uid;
	if (url->has_gid)
		user->gid = url->gid;
	/* The groups that *user has by now are those of this process: the user in the URL has none of them.
	 */
	if (url->has_uid || url->has_gid)
		user->gid_count = 0;
	return 0;
}

/* Opens the export at the address in config. If the URL says so, rpcbind is asked for the port of NFS
 * first. */
static int
open_at(struct rpcrdma_engine *engine, const struct rr_url *url, struct rr_nfs_config *config,
	struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_lookup lookup = { .engine = engine,
		.address = config->rpc.address,
		.timeout = config->timeout,
		.interrupted = config->interrupted,
		.ctx = config->interrupted_ctx };
	int error = rr_lookup_nfs(&lookup, url, text);

	config->rpc.address = lookup.address;
	return error ? error : rr_nfs_open(engine, config, nfs, text);
}

/* Opens the export at the first of the host's addresses where this succeeds. The next address is tried only
 * if the one before refuses, cannot be reached or does not answer; rpcbind, for example, may only know the
 * port for IPv4. */
static int
open_first(struct rpcrdma_engine *engine, const struct rr_url *url, struct rr_nfs_config *config,
	struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct sockaddr_storage addresses[OPEN_ADDRESSES];
	int count = rr_address_resolve(url->host, url->port, addresses, OPEN_ADDRESSES, text), error = count;

	for (int i = 0; i < count; i++) {
		config->rpc.address = addresses[i];
		config->rpc.address_size = rr_address_size(&addresses[i]);
		error = open_at(engine, url, config, nfs, text);
		if (error != -RPCRDMA_ERR_REFUSED && error != -RPCRDMA_ERR_UNREACHABLE &&
			error != -RPCRDMA_ERR_TIMEDOUT)
			return error;
	}
	return error;
}

/* Called when the server could not be opened. If that is because its certificate is of nobody who is known
 * here, asks the caller of the library whether to trust its key. Returns whether that is so, and the server
 * is known from now on. */
static bool
open_trusts(const struct rpcrdma_nfs_config *config, const struct rr_url *url, struct rr_secure *secure,
	struct rr_text *text)
{
	char name[RR_KNOWN_NAME], fingerprint[RR_TLS_FINGERPRINT_TEXT];

	if (!config->trust || !rr_secure_may_trust(url, secure))
		return false;
	rr_known_name(url, name);
	rr_tls_fingerprint_put(secure->stranger->fingerprint, fingerprint);
	return config->trust(config->ctx, name, fingerprint) && rr_secure_trust(url, secure, text) == 0;
}

/* Opens the export with a flavor. That of Kerberos is made first, and belongs to the client then. */
static int
open_by(struct rpcrdma_engine *engine, const struct rr_url *url, enum rr_url_sec sec,
	const struct rr_nfs_config *config, struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_nfs_config inner = *config;
	struct rr_gss_client *gss;
	int error = rr_sec_begin(engine, url->host, sec, inner.timeout, &gss, text);

	if (gss)
		inner.rpc.auth = rr_gss_client_auth(gss);
	if (!error)
		error = open_first(engine, url, &inner, nfs, text);
	if (error) {
		rr_gss_client_free(gss);
		return error;
	}
	(*nfs)->gss = gss;
	(*nfs)->config.offer = NULL;
	return 0;
}

/* Opens the export, of which the server offers these flavors, by the first one of Kerberos for which there is
 * a ticket. Returns 0, or an error; the text is that of the last attempt, if there was one. */
static int
open_by_offer(struct rpcrdma_engine *engine, const struct rr_url *url, const struct rr_sec_offer *offer,
	const struct rr_nfs_config *config, struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	int error = -RPCRDMA_ERR_RPC_DENIED;

	for (uint32_t i = 0; i < offer->count && error; i++) {
		enum rr_url_sec sec = rr_sec_of(offer->flavors[i]);

		if (sec >= RR_URL_SEC_KRB5)
			error = open_by(engine, url, sec, config, nfs, text);
	}
	return error;
}

/* Opens the export by the flavor of the URL. If the URL has none, opens it by AUTH_SYS; but by Kerberos, if
 * the server refuses AUTH_SYS or prefers Kerberos, and there is a ticket. */
static int
open_by_any(struct rpcrdma_engine *engine, const struct rr_url *url, struct rr_nfs_config *config,
	struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_sec_offer offer = { 0 };
	struct rpcrdma_nfs *better;
	struct rr_text first, why = { "" };
	int error;

	if (url->sec != RR_URL_SEC_ANY)
		return open_by(engine, url, url->sec, config, nfs, text);
	config->offer = &offer;
	error = open_by(engine, url, RR_URL_SEC_SYS, config, nfs, text);
	config->offer = NULL;
	first = *text;
	/* If AUTH_SYS does, only what the server prefers to it is tried. */
	for (uint32_t i = 0; i < offer.count && error == 0; i++) {
		if (rr_sec_of(offer.flavors[i]) < RR_URL_SEC_KRB5)
			offer.count = i;
	}
	if (open_by_offer(engine, url, &offer, config, &better, &why) == 0) {
		if (error == 0)
			rpcrdma_nfs_close(*nfs);
		*nfs = better;
		return 0;
	}
	if (error && why.text[0])
		rr_fail(text, 0, "%.100s: %.150s", first.text, why.text);
	return error;
}

int
rr_nfs_open_url(struct rpcrdma_engine *engine, const struct rpcrdma_nfs_config *config,
	const struct rr_url *url, const char *path, struct rpcrdma_nfs **nfs, struct rr_text *text)
{
	struct rr_nfs_config inner = {
		.server = url->host,
		.path = path,
		.mount_port = url->mount_port,
		.rpcbind = url->rpcbind,
		.version = url->version,
		.timeout = config->timeout ? config->timeout : OPEN_TIMEOUT,
		.interrupted = config->interrupted,
		.interrupted_ctx = config->ctx,
		.rpc.transport = url->transport,
		.rpc.retry = config->retry ? config->retry : OPEN_RETRY,
		.rpc.connections = config->connections,
	};
	struct rr_tls_stranger stranger = { 0 };
	struct rr_secure secure = { 0 };
	int error = open_credential(config, url, &inner.rpc.user, text);

	/* UINT64_MAX: a lost connection is not tried again. The inner configuration has 0 for that. */
	if (config->retry == UINT64_MAX)
		inner.rpc.retry = 0;
	if (!error)
		error = rr_secure_begin(url, &secure, &inner.rpc.secure, text);
	secure.stranger = &stranger;
	if (!error)
		error = open_by_any(engine, url, &inner, nfs, text);
	if (error && open_trusts(config, url, &secure, text))
		error = open_by_any(engine, url, &inner, nfs, text);
	if (error) {
		rr_secure_end(&secure);
		return error;
	}
	(*nfs)->own_tls = secure.tls;
	(*nfs)->secure.stranger = NULL; /* which ends here */
	return 0;
}

int
rpcrdma_nfs_open(
	struct rpcrdma_engine *engine, const struct rpcrdma_nfs_config *theirs, struct rpcrdma_nfs **nfs)
{
	struct rpcrdma_nfs_config config;
	struct rr_url url;
	int error;

	if (!engine || !nfs)
		return -RPCRDMA_ERR_INVAL;
	error = rr_engine_may_wait(engine, __func__, &engine->text);
	if (!error)
		error = rr_config_take(&config, sizeof(config), sizeof(config), theirs,
			"struct rpcrdma_nfs_config", &engine->text);
	if (error)
		return error;
	if (!config.url)
		return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL, "the NFS client's config has no URL");
	if (config.connections > RPCRDMA_CONNECTIONS_MAX)
		return rr_fail(&engine->text, -RPCRDMA_ERR_INVAL,
			"the NFS client's config has more than %d connections", RPCRDMA_CONNECTIONS_MAX);
	error = rr_url_parse(config.url, &url, &engine->text);
	if (error)
		return error;
	if (config.tcp)
		rr_url_prefer_tcp(&url);
	return rr_nfs_open_url(engine, &config, &url, url.path, nfs, &engine->text);
}

int
rpcrdma_nfs_root(const struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_handle *root, const char **rest)
{
	if (!nfs || !root)
		return -RPCRDMA_ERR_INVAL;
	*root = nfs->root;
	if (rest)
		*rest = rr_nfs_rest(nfs);
	return 0;
}

void
rpcrdma_nfs_limits(const struct rpcrdma_nfs *nfs, uint32_t *read_max, uint32_t *write_max)
{
	if (read_max)
		*read_max = nfs ? nfs->read_max : 0;
	if (write_max)
		*write_max = nfs ? nfs->write_max : 0;
}

int
rpcrdma_nfs_counters(const struct rpcrdma_nfs *nfs, struct rpcrdma_counters *counters)
{
	struct rpcrdma_counters mine;

	if (!nfs)
		return -RPCRDMA_ERR_INVAL;
	rr_client_counters(nfs->client, &mine);
	return rr_config_give(counters, &mine, sizeof(mine), sizeof(mine));
}
