/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This runs the suite on directories of another NFS server, by versions 3, 4.1 and 4.2 over iWARP. The other
 * server is one of this project, in the same process and loop, over a directory in memory.
 */
#include "../gate.h"
#include "../stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "nfs/client.h"
#include "server/nfs3/server.h"
#include "server/nfs4/server.h"
#include "suite.h"
#include "vfs/nfs/v3/v3.h"
#include "vfs/nfs/v4/provider.h"
#include "vfs/posix/posix.h"

struct storage {
	enum rr_nfs_version version;
	struct stage stage;
	char path[64];
	/* The other server. */
	struct rr_tree_export tree;
	struct rr_posix_shared *shared;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs;
	struct rr_nfs4_shared *shared4;
	struct rr_nfs4_server *nfs4;
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	/* The provider. */
	struct rr_remote_export export;
	struct rr_remote_config config;
	struct rr_remote_shared *provided;
};

static void
serve(struct storage *storage)
{
	const struct rr_tree_config tree = {
		.exports = &storage->tree, .export_count = 1, .workers = RR_POSIX_WORKERS
	};
	struct rpcrdma_engine *engine = storage->stage.engine;
	struct rr_service services[RR_NFS_SERVICES + 1];
	struct rr_nfs4_shared_config shared4 = { .tables = rr_nfs4_tables_config_default };
	struct rr_nfs4_server_config nfs4 = { engine->results, &storage->gate, NULL };
	struct rr_text text = { "" };

	storage->tree = (struct rr_tree_export){ storage->path, "/export" };
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &storage->shared), 0);
	if (rr_posix_new(engine->env, engine->loop, &tree, storage->shared, &storage->vfs, &text) < 0)
		fail_msg("%s", text.text);
	test_gate_init(&storage->gate, storage->vfs, TEST_GATE_OPEN);
	assert_int_equal(rr_nfs_server_new(engine->env, engine->results, &storage->gate, &storage->nfs), 0);
	rr_nfs_server_services(storage->nfs, services);
	if (rr_nfs4_shared_new(&rr_env_system, &shared4, &storage->shared4, &text) < 0)
		fail_msg("%s", text.text);
	nfs4.shared = storage->shared4;
	if (rr_nfs4_server_new(engine->env, engine->loop, &nfs4, &storage->nfs4, &text) < 0)
		fail_msg("%s", text.text);
	rr_nfs4_server_service(storage->nfs4, &services[RR_NFS_SERVICES]);
	assert_int_equal(rr_server_new(engine, &rr_server_config_default, services, RR_NFS_SERVICES + 1,
				 &storage->server),
		0);
	if (rr_server_listen(storage->server, RR_TRANSPORT_AUTO, (struct sockaddr *)&storage->address,
		    sizeof(storage->address), NULL, &text) < 0)
		fail_msg("%s", text.text);
}

static void
mount_root(struct storage *storage)
{
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO, .address_size = sizeof(storage->address) },
		.server = "localhost",
		.path = "/export",
		.version = storage->version,
	};
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs *nfs;
	struct rr_text text;

	memcpy(&config.rpc.address, &storage->address, sizeof(storage->address));
	if (rr_nfs_open(storage->stage.engine, &config, &nfs, &text) != 0)
		fail_msg("%s", text.text);
	storage->export.name = "/";
	assert_int_equal(rr_nfs_walk_below(nfs, "", true, &object), 0);
	storage->export.root_length = object.handle.length;
	memcpy(storage->export.root, object.handle.data, object.handle.length);
	storage->config = (struct rr_remote_config){ .exports = &storage->export, .export_count = 1 };
	memset(storage->config.key, 7, sizeof(storage->config.key));
	storage->config.read_max = rr_nfs_read_max(nfs);
	storage->config.write_max = rr_nfs_write_max(nfs);
	storage->config.minor = storage->version == RR_NFS_VERSION_42 ? 2 : 1;
	storage->config.rpc = config.rpc;
	storage->config.rpc.retry = 10 * RR_SECOND;
	rpcrdma_nfs_close(nfs);
}

static void
provide(struct suite *suite)
{
	struct storage *storage = suite->storage;
	struct rr_text text = { "" };

	if (rr_remote_shared_new(&rr_env_system, &storage->config, &storage->provided, &text) < 0 ||
		(storage->version == RR_NFS_VERSION_3 ? rr_v3_new : rr_v4_provide)(
			storage->stage.engine, storage->provided, &suite->vfs, &text) < 0)
		fail_msg("%s", text.text);
	rr_vfs_root(suite->vfs, 0, &suite->root);
}

static void
setup(struct suite *suite, enum rr_nfs_version version)
{
	struct storage *storage = calloc(1, sizeof(*storage));

	assert_non_null(storage);
	storage->version = version;
	suite->storage = storage;
	stage_init(&storage->stage);
	storage->stage.runs = true;
	stage_engine(&storage->stage, NULL, rr_iwarp_fabric_new);
	rr_loop_free(suite->loop);
	suite->loop = storage->stage.engine->loop;
	snprintf(storage->path, sizeof(storage->path), "/dev/shm/rpcrdma-suite-XXXXXX");
	assert_non_null(mkdtemp(storage->path));
	assert_int_equal(chmod(storage->path, 0755), 0);
	storage->address = stage_loopback();
	serve(storage);
	mount_root(storage);
	if (!(suite->provider->can & SUITE_IDENTITIES))
		suite->super = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	provide(suite);
}

static void
setup_3(struct suite *suite)
{
	setup(suite, RR_NFS_VERSION_3);
}

static void
setup_41(struct suite *suite)
{
	setup(suite, RR_NFS_VERSION_41);
}

static void
setup_42(struct suite *suite)
{
	setup(suite, RR_NFS_VERSION_42);
}

static void
teardown(struct suite *suite)
{
	struct storage *storage = suite->storage;

	rr_vfs_destroy(suite->vfs);
	rr_remote_shared_free(storage->provided);
	rr_server_free(storage->server);
	rr_nfs4_server_end(storage->nfs4);
	rr_vfs_destroy(storage->vfs);
	rr_nfs_server_free(storage->nfs);
	rr_nfs4_server_free(storage->nfs4);
	rr_nfs4_shared_free(storage->shared4);
	rr_gate_end(&storage->gate);
	rr_posix_shared_free(storage->shared);
	stage_end(&storage->stage);
	stage_remove(storage->path);
	free(storage);
	suite->loop = NULL;
}

static void
restart(struct suite *suite)
{
	struct storage *storage = suite->storage;
	struct rr_vfs_handle root = suite->root;

	rr_vfs_destroy(suite->vfs);
	rr_remote_shared_free(storage->provided);
	provide(suite);
	suite->root = root;
}

int
main(void)
{
	const unsigned all = geteuid() == 0 ? SUITE_IDENTITIES | SUITE_DEVICES : 0;
	const unsigned v41 = all | SUITE_LOCKS | SUITE_OPENS | SUITE_SHARES;
	const unsigned v42 = v41 | SUITE_HOLES | SUITE_COPIES | SUITE_XATTRS;
	const struct suite_provider providers[] = {
		{ "nfs, version 3", all, setup_3, teardown, restart, NULL, NULL, NULL, NULL, NULL },
		{ "nfs, version 4.1", v41, setup_41, teardown, restart, NULL, NULL, NULL, NULL, NULL },
		{ "nfs, version 4.2", v42, setup_42, teardown, restart, NULL, NULL, NULL, NULL, NULL },
	};

	return suite_run(providers, 3);
}
