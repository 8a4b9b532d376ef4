/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This runs the suite on directories of another NFS server (behind.h), by versions 3, 4.1 and 4.2 over iWARP.
 */
#include "behind.h"

#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "suite.h"

static void
setup(struct suite *suite, enum rr_nfs_version version)
{
	struct behind *behind = behind_new(version, 0);

	suite->storage = behind;
	rr_loop_free(suite->loop);
	suite->loop = behind->stage.engine->loop;
	if (!(suite->provider->can & SUITE_IDENTITIES))
		suite->super = (struct rr_vfs_caller){ .uid = geteuid(), .gid = getegid() };
	behind_share(behind);
	suite->vfs = behind_provide(behind);
	rr_vfs_root(suite->vfs, 0, &suite->root);
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
	rr_vfs_destroy(suite->vfs);
	behind_unshare(suite->storage);
	behind_free(suite->storage);
	suite->loop = NULL;
}

static void
restart(struct suite *suite)
{
	rr_vfs_destroy(suite->vfs);
	behind_unshare(suite->storage);
	behind_share(suite->storage);
	suite->vfs = behind_provide(suite->storage);
}

int
main(void)
{
	const unsigned all = geteuid() == 0 ? SUITE_IDENTITIES | SUITE_DEVICES : 0;
	/* The server's directory is there. */
	const unsigned acls =
		getxattr("/dev/shm", "system.posix_acl_access", NULL, 0) >= 0 || errno != ENOTSUP ? SUITE_ACLS
												  : 0;
	const unsigned v41 = all | SUITE_LOCKS | SUITE_OPENS | SUITE_SHARES | acls;
	const unsigned v42 = v41 | SUITE_HOLES | SUITE_COPIES | SUITE_XATTRS;
	const struct suite_provider providers[] = {
		{ "nfs, version 3", all | SUITE_LOCKS | acls | SUITE_MASKS, setup_3, teardown, restart, NULL,
			NULL, NULL, NULL, NULL },
		{ "nfs, version 4.1", v41, setup_41, teardown, restart, NULL, NULL, NULL, NULL, NULL },
		{ "nfs, version 4.2", v42, setup_42, teardown, restart, NULL, NULL, NULL, NULL, NULL },
	};

	return suite_run(providers, 3);
}
