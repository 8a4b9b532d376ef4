/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories of another NFS server, as a kind of storage that is served: nfs://HOST/PATH, by version 3, or
 * by that which the URL names. */
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/confine/confine.h"
#include "nfs/client.h"
#include "nfs/known.h"
#include "nfs/lookup.h"
#include "tool/serve/serve.h"
#include "vfs/nfs/v3/v3.h"
#include "vfs/nfs/v4/provider.h"

/* For so long, a lost connection is tried again; then clients get an error that has them try again. */
#define NFS_RETRY (60 * RR_SECOND)

/* What the threads share. */
struct nfs_served {
	struct rr_remote_export exports[RR_SERVE_EXPORTS];
	struct rr_remote_shared *shared;
};

/* Cuts the options off the URL, which are the same for all directories. */
static char *
nfs_path(const struct rr_tool *tool, struct rr_serve *serve, char *argument, int *status)
{
	char *query = argument + strcspn(argument, "?"), *kept = serve->storage.nfs.query, *path;
	struct rr_text text;
	struct rr_url url;

	*status = RR_EXIT_USAGE;
	if (rr_url_parse(argument, &url, &text) < 0) {
		rr_tool_usage(tool, "%s: %s", argument, text.text);
		return NULL;
	}
	if ((serve->provider && strcmp(kept, query) != 0) ||
		strlen(query) >= sizeof(serve->storage.nfs.query)) {
		rr_tool_usage(tool, "%s: the URLs of all directories have the same options", argument);
		return NULL;
	}
	memmove(kept, query, strlen(query) + 1);
	*query = '\0';
	path = strdup(argument);
	if (!path)
		*status = rr_tool_fail(tool, "out of memory");
	return path;
}

/* Returns the path of the URL. */
static const char *
nfs_named(const char *path)
{
	const char *host = strstr(path, "//"), *slash = host ? strchr(host + 2, '/') : NULL;

	return slash ? slash : "/";
}

/* Finds the directory that the URL names, and the service of its server. */
static int
nfs_find(struct rpcrdma_engine *engine, const char *address, struct rr_remote_export *export,
	struct rr_remote_config *found, struct rr_text *text)
{
	const struct rpcrdma_nfs_config config = { 0 };
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs *nfs;
	struct rr_url url;
	int error = rr_url_parse(address, &url, text);

	if (url.version == RR_NFS_VERSION_ANY)
		url.version = RR_NFS_VERSION_3;
	if (!error)
		error = rr_nfs_open_url(engine, &config, &url, url.path, &nfs, text);
	if (error)
		return error;
	error = rr_nfs_walk_below(nfs, "", true, &object);
	if (error) {
		rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%.300s", rr_nfs_explain(nfs));
	} else if (object.type != RPCRDMA_NFS_DIRECTORY) {
		error = rr_fail(text, -RPCRDMA_ERR_INVAL, "it is no directory");
	} else {
		found->rpc = *rr_nfs_service(nfs);
		found->minor = url.version == RR_NFS_VERSION_42 ? 2 : url.version == RR_NFS_VERSION_41;
		found->read_max = rr_nfs_read_max(nfs);
		found->write_max = rr_nfs_write_max(nfs);
		export->root_length = object.handle.length;
		memcpy(export->root, object.handle.data, object.handle.length);
	}
	rpcrdma_nfs_close(nfs);
	return error ? -RPCRDMA_ERR_SYSTEM : 0;
}

/* Finds all directories. They must be of one server. The sizes of READ and WRITE are the least of all. */
static int
nfs_find_all(struct rr_serve *serve, struct rpcrdma_engine *engine, struct nfs_served *served,
	struct rr_remote_config *config, struct rr_text *text)
{
	for (uint32_t i = 0; i < serve->tree.export_count; i++) {
		const char *path = serve->exports[i].path;
		char address[RR_URL_PATH + RR_URL_HOST + sizeof(serve->storage.nfs.query)];
		struct rr_text why = { "" };
		struct rr_remote_config found;

		snprintf(address, sizeof(address), "%s%s", path, serve->storage.nfs.query);
		served->exports[i].name = serve->exports[i].name;
		if (nfs_find(engine, address, &served->exports[i], &found, &why) < 0)
			return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%.200s: %.300s", path, why.text);
		if (i == 0) {
			config->rpc = found.rpc;
			config->minor = found.minor;
			config->read_max = found.read_max;
			config->write_max = found.write_max;
		}
		if (found.rpc.address_size != config->rpc.address_size ||
			memcmp(&found.rpc.address, &config->rpc.address, found.rpc.address_size) != 0)
			return rr_fail(text, -RPCRDMA_ERR_INVAL,
				"%.200s: the directories of one other server can be served", path);
		config->read_max = (uint32_t)rr_min(config->read_max, found.read_max);
		config->write_max = (uint32_t)rr_min(config->write_max, found.write_max);
	}
	return 0;
}

static int
nfs_begin(struct rr_serve *serve, void **shared, struct rr_text *text)
{
	struct nfs_served *served = calloc(1, sizeof(*served));
	struct rr_remote_config config = { .export_count = serve->tree.export_count,
		.read_only = serve->tree.read_only };
	struct rpcrdma_engine *engine;
	int error;

	_Static_assert((int)RR_REMOTE_KEY == (int)RR_VFS_KEY, "one key for both");
	if (!served)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "out of memory");
	*shared = served;
	error = rr_engine_new(&rr_env_system, &rr_engine_config_default, &engine);
	if (error)
		return rr_fail(text, error, "the engine cannot start: %s", rpcrdma_strerror(error));
	error = nfs_find_all(serve, engine, served, &config, text);
	if (!error && config.minor == 0 && serve->storage.nfs.locks)
		serve->storage.nfs.locks = rr_lookup_nlm(engine, &config.rpc, &config.nlm);
	rpcrdma_engine_free(engine);
	if (error)
		return error;
	if (config.minor > 0 || !serve->storage.nfs.locks)
		config.nlm.address_size = 0;
	config.nlm.retry = NFS_RETRY;
	config.exports = served->exports;
	config.rpc.retry = NFS_RETRY;
	memcpy(config.key, serve->tree.key, sizeof(config.key));
	return rr_remote_shared_new(&rr_env_system, &config, &served->shared, text);
}

static int
nfs_provide(void *shared, const struct rr_serve *serve, struct rpcrdma_engine *engine, struct rr_vfs **vfs,
	struct rr_text *text)
{
	struct rr_remote_shared *served = ((struct nfs_served *)shared)->shared;

	(void)serve;
	return served->config.minor > 0 ? rr_v4_provide(engine, served, vfs, text)
					: rr_v3_new(engine, served, vfs, text);
}

static void
nfs_end(void *shared)
{
	struct nfs_served *served = shared;

	if (served)
		rr_remote_shared_free(served->shared);
	free(served);
}

/* The files of TLS that the URLs name, the list of servers that are known, and where tickets of Kerberos are
 * by default, whose name may have its kind in front, as FILE:/path. */
static void
nfs_confine(const struct rr_serve *serve, struct rr_confine *confine)
{
	const char *cache = getenv("KRB5CCNAME");
	char address[RR_URL_PATH + RR_URL_HOST + sizeof(serve->storage.nfs.query)], known[PATH_MAX];
	struct rr_text ignored;
	struct rr_url url;

	snprintf(address, sizeof(address), "%s%s", serve->exports[0].path, serve->storage.nfs.query);
	if (rr_url_parse(address, &url, &ignored) == 0) {
		rr_confine_beside(confine, url.tls_ca, RR_CONFINE_READ);
		rr_confine_beside(confine, url.tls_cert, RR_CONFINE_READ);
		rr_confine_beside(confine, url.tls_key, RR_CONFINE_READ);
	}
	if (rr_known_path(known))
		rr_confine_beside(confine, known, RR_CONFINE_READ);
	rr_confine_beside(confine, cache ? cache + strcspn(cache, "/") : NULL, RR_CONFINE_READ);
	rr_confine_beside(confine, getenv("KRB5_CLIENT_KTNAME"), RR_CONFINE_READ);
	rr_confine_path(confine, "/etc/krb5.keytab", RR_CONFINE_READ);
	rr_confine_path(confine, "/tmp", RR_CONFINE_READ);
}

const struct rr_serve_provider rr_serve_nfs = { "nfs:", "of another NFS server", nfs_path, nfs_named, NULL,
	nfs_begin, nfs_provide, NULL, nfs_end, nfs_confine, true };
