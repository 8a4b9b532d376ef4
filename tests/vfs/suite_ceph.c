/* SPDX-License-Identifier: BSD-3-Clause */
/* This runs the suite on the cluster that CEPH_CONF names: see tests/ceph/check. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "vfs/ceph/ceph.h"

/* The directory that is exported: that of this run, so that there is something above the export. */
static char path[32] = "/";

static void
provide(struct suite *suite)
{
	static const struct rr_ceph_export export = { path, "/" };
	const struct rr_ceph_config config = { .exports = &export,
		.export_count = 1,
		.conf = getenv("CEPH_CONF"),
		.threads = 8,
		.key = { 1, 2, 3 } };
	struct rr_ceph *ceph;
	struct rr_text text;

	if (rr_ceph_new(&rr_env_system, &config, &ceph, &text) < 0)
		fail_msg("%s", text.text);
	if (rr_ceph_provider(ceph, suite->loop, &suite->vfs, &text) < 0)
		fail_msg("%s", text.text);
	suite->storage = ceph;
}

static void
teardown(struct suite *suite)
{
	rr_vfs_destroy(suite->vfs);
	rr_ceph_free(suite->storage);
}

/* Begins again as another server of the same cluster. */
static void
restart(struct suite *suite)
{
	teardown(suite);
	provide(suite);
}

/* Makes a directory in the root of the export. */
static struct rr_vfs_handle
make(struct suite *suite, const char *name)
{
	struct rr_vfs_handle root;

	rr_vfs_root(suite->vfs, 0, &root);
	suite->caller = &suite->super;
	return suite_make(suite, &root, name, RR_VFS_DIRECTORY, 0755);
}

/* Makes a directory of its own for each test, and before the first test the one that is exported. */
static void
setup(struct suite *suite)
{
	static unsigned count;
	char name[16];

	provide(suite);
	if (count == 0) {
		snprintf(path, sizeof(path), "/suite-%d", (int)getpid());
		make(suite, path + 1);
		restart(suite);
	}
	snprintf(name, sizeof(name), "%u", count++);
	suite->root = make(suite, name);
}

int
main(void)
{
	static const struct suite_provider provider = { "ceph",
		SUITE_IDENTITIES | SUITE_XATTRS | SUITE_DEVICES | SUITE_PLACES | SUITE_LOCKS | SUITE_OPENS |
			SUITE_LASTING | SUITE_GROUPS | SUITE_SHARES,
		setup, teardown, restart, NULL, NULL, NULL, NULL, NULL };

	if (!getenv("CEPH_CONF")) {
		puts("CEPH_CONF names no cluster");
		return 77;
	}
	return suite_run(&provider, 1);
}
