/* SPDX-License-Identifier: BSD-3-Clause */
#include "behind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "vfs/nfs/v3/v3.h"
#include "vfs/nfs/v4/provider.h"

static void
behind_serve(struct behind *behind)
{
	const struct rr_tree_config tree = {
		.exports = &behind->tree, .export_count = 1, .workers = RR_POSIX_WORKERS
	};
	struct rpcrdma_engine *engine = behind->stage.engine;
	struct rr_service services[RR_NFS_SERVICES + 1 + RR_NLM_SERVICES];
	struct rr_nfs4_shared_config shared4 = { .tables = rr_nfs4_tables_config_default };
	struct rr_nfs4_server_config nfs4 = { engine->results, &behind->gate, NULL };
	struct rr_nlm_config nlm = { .grace = 90 * RR_SECOND, .claims = 100 };
	struct rr_text text = { "" };

	behind->tree = (struct rr_tree_export){ behind->path, "/export" };
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &behind->shared), 0);
	if (rr_posix_new(engine->env, engine->loop, &tree, behind->shared, &behind->vfs, &text) < 0)
		fail_msg("%s", text.text);
	test_gate_init(&behind->gate, behind->vfs, TEST_GATE_OPEN);
	assert_int_equal(rr_nfs_server_new(engine->env, engine->results, &behind->gate, &behind->nfs), 0);
	rr_nfs_server_services(behind->nfs, services);
	assert_int_equal(rr_locks_new(&rr_env_system, &behind->locks), 0);
	nlm.locks = shared4.tables.locks = behind->locks;
	if (rr_nlm_shared_new(&rr_env_system, &nlm, &behind->nlm_shared, &text) < 0)
		fail_msg("%s", text.text);
	if (rr_nlm_server_new(engine, &behind->gate, behind->nlm_shared, &behind->nlm, &text) < 0)
		fail_msg("%s", text.text);
	rr_nlm_server_services(behind->nlm, &services[RR_NFS_SERVICES + 1]);
	if (behind->lease > 0)
		shared4.tables.lease = behind->lease * RR_SECOND;
	if (rr_nfs4_shared_new(&rr_env_system, &shared4, &behind->shared4, &text) < 0)
		fail_msg("%s", text.text);
	nfs4.shared = behind->shared4;
	if (rr_nfs4_server_new(engine->env, engine->loop, &nfs4, &behind->nfs4, &text) < 0)
		fail_msg("%s", text.text);
	rr_nfs4_server_service(behind->nfs4, &services[RR_NFS_SERVICES]);
	assert_int_equal(rr_server_new(engine, &rr_server_config_default, services,
				 RR_NFS_SERVICES + 1 + RR_NLM_SERVICES, &behind->server),
		0);
	if (rr_server_listen(behind->server, RR_TRANSPORT_AUTO, (struct sockaddr *)&behind->address,
		    sizeof(behind->address), NULL, &text) < 0)
		fail_msg("%s", text.text);
}

static void
behind_stop(struct behind *behind)
{
	rr_server_free(behind->server);
	rr_nfs4_server_end(behind->nfs4);
	rr_nlm_server_end(behind->nlm);
	rr_vfs_destroy(behind->vfs);
	rr_nfs_server_free(behind->nfs);
	rr_nfs4_server_free(behind->nfs4);
	rr_nfs4_shared_free(behind->shared4);
	rr_nlm_server_free(behind->nlm);
	rr_nlm_shared_free(behind->nlm_shared);
	rr_locks_free(behind->locks);
	rr_gate_end(&behind->gate);
	rr_posix_shared_free(behind->shared);
}

static void
behind_mount(struct behind *behind)
{
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO, .address_size = sizeof(behind->address) },
		.server = "localhost",
		.path = "/export",
		.version = behind->version,
	};
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs *nfs;
	struct rr_text text;

	memcpy(&config.rpc.address, &behind->address, sizeof(behind->address));
	if (rr_nfs_open(behind->stage.engine, &config, &nfs, &text) != 0)
		fail_msg("%s", text.text);
	behind->export.name = "/";
	assert_int_equal(rr_nfs_walk_below(nfs, "", true, &object), 0);
	behind->export.root_length = object.handle.length;
	memcpy(behind->export.root, object.handle.data, object.handle.length);
	behind->config = (struct rr_remote_config){ .exports = &behind->export, .export_count = 1 };
	memset(behind->config.key, 7, sizeof(behind->config.key));
	behind->config.read_max = rr_nfs_read_max(nfs);
	behind->config.write_max = rr_nfs_write_max(nfs);
	behind->config.minor = behind->version == RR_NFS_VERSION_42 ? 2 : 1;
	behind->config.rpc = config.rpc;
	behind->config.rpc.retry = 10 * RR_SECOND;
	if (behind->version == RR_NFS_VERSION_3)
		behind->config.nlm = behind->config.rpc;
	rpcrdma_nfs_close(nfs);
}

struct behind *
behind_new(enum rr_nfs_version version, uint32_t lease)
{
	struct behind *behind = calloc(1, sizeof(*behind));

	assert_non_null(behind);
	behind->version = version;
	behind->lease = lease;
	stage_init(&behind->stage);
	behind->stage.runs = true;
	stage_engine(&behind->stage, NULL, rr_iwarp_fabric_new);
	snprintf(behind->path, sizeof(behind->path), "/dev/shm/rpcrdma-suite-XXXXXX");
	assert_non_null(mkdtemp(behind->path));
	assert_int_equal(chmod(behind->path, 0755), 0);
	behind->address = stage_loopback();
	behind_serve(behind);
	behind_mount(behind);
	return behind;
}

void
behind_free(struct behind *behind)
{
	behind_stop(behind);
	stage_end(&behind->stage);
	stage_remove(behind->path);
	free(behind);
}

void
behind_restart(struct behind *behind)
{
	behind_stop(behind);
	behind_serve(behind);
}

void
behind_share(struct behind *behind)
{
	struct rr_text text = { "" };

	if (rr_remote_shared_new(&rr_env_system, &behind->config, &behind->provided, &text) < 0)
		fail_msg("%s", text.text);
}

void
behind_unshare(struct behind *behind)
{
	rr_remote_shared_free(behind->provided);
}

struct rr_vfs *
behind_provide(struct behind *behind)
{
	struct rr_text text = { "" };
	struct rr_vfs *vfs;

	if ((behind->version == RR_NFS_VERSION_3 ? rr_v3_new : rr_v4_provide)(
		    behind->stage.engine, behind->provided, &vfs, &text) < 0)
		fail_msg("%s", text.text);
	return vfs;
}
