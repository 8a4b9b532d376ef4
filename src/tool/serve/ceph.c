/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories in CephFS, as a kind of storage that is served: ceph:PATH, or ceph:PATH?fs=NAME. */
#include <stdlib.h>
#include <string.h>

#include "base/confine/confine.h"
#include "tool/serve/serve.h"
#include "vfs/ceph/ceph.h"

#define CEPH_WORD "ceph:"

const struct rr_option rr_serve_ceph_options[] = {
	{ .name = "ceph-conf",
		.argument = "FILE",
		.help = "of directories in CephFS: the cluster's configuration",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve_ceph, conf) },
	{ .name = "ceph-user",
		.argument = "NAME",
		.help = "of directories in CephFS: the user of the cluster (admin)",
		.kind = RR_OPTION_TEXT,
		.at = offsetof(struct rr_serve_ceph, user) },
	{ 0 },
};

/* Cuts "?fs=NAME" off the argument. It is an error if an earlier directory named another file system. */
static char *
ceph_path(const struct rr_tool *tool, struct rr_serve *serve, char *argument, int *status)
{
	static const char query[] = "?fs=";
	char *found = strstr(argument, query), *file_system = serve->storage.ceph.file_system, *path;
	const char *name = found ? found + strlen(query) : file_system;

	*status = RR_EXIT_USAGE;
	if (argument[strlen(CEPH_WORD)] != '/') {
		rr_tool_usage(tool, "%s: a path in CephFS begins with '/'", argument);
		return NULL;
	}
	if ((file_system[0] && strcmp(file_system, name) != 0) ||
		strlen(name) >= sizeof(serve->storage.ceph.file_system)) {
		rr_tool_usage(tool, "one server serves one file system of a cluster");
		return NULL;
	}
	memmove(file_system, name, strlen(name) + 1);
	if (found)
		*found = '\0';
	path = strdup(argument);
	if (!path)
		*status = rr_tool_fail(tool, "out of memory");
	return path;
}

/* Connects to the cluster. */
static int
ceph_begin(struct rr_serve *serve, void **shared, struct rr_text *text)
{
	struct rr_ceph_export exports[RR_SERVE_EXPORTS];
	struct rr_ceph_config config = { .exports = exports,
		.export_count = serve->tree.export_count,
		.read_only = serve->tree.read_only,
		.conf = serve->storage.ceph.conf,
		.user = serve->storage.ceph.user,
		.file_system = serve->storage.ceph.file_system[0] ? serve->storage.ceph.file_system : NULL };
	struct rr_ceph *made;
	int error;

	_Static_assert((int)RR_CEPH_KEY == (int)RR_VFS_KEY, "one key for both");
	for (uint32_t i = 0; i < serve->tree.export_count; i++)
		exports[i] = (struct rr_ceph_export){ serve->exports[i].path + strlen(CEPH_WORD),
			serve->exports[i].name };
	memcpy(config.key, serve->tree.key, sizeof(config.key));
	error = rr_ceph_new(&rr_env_system, &config, &made, text);
	if (error == 0)
		*shared = made;
	return error;
}

static int
ceph_provide(void *shared, const struct rr_serve *serve, struct rpcrdma_engine *engine, struct rr_vfs **vfs,
	struct rr_text *text)
{
	(void)serve;
	return rr_ceph_provider(shared, engine->loop, vfs, text);
}

static void
ceph_end(void *shared)
{
	rr_ceph_free(shared);
}

/* ceph.conf(5), the keys of clients, and where libceph says what it does. */
static void
ceph_confine(const struct rr_serve *serve, struct rr_confine *confine)
{
	rr_confine_path(confine, "/etc/ceph", RR_CONFINE_READ);
	rr_confine_beside(confine, serve->storage.ceph.conf, RR_CONFINE_READ);
	rr_confine_beside(confine, getenv("CEPH_CONF"), RR_CONFINE_READ);
	rr_confine_path(confine, "/var/log/ceph", RR_CONFINE_WRITE);
	rr_confine_path(confine, "/run/ceph", RR_CONFINE_WRITE);
}

/* No system call is made for CephFS, so none can hang. */
const struct rr_serve_provider rr_serve_ceph = { CEPH_WORD, "of CephFS", ceph_path, NULL, NULL, ceph_begin,
	ceph_provide, NULL, ceph_end, ceph_confine, true };
