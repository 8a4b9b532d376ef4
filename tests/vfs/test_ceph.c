/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what the provider of CephFS does where its library fails, without a cluster. */
#include <errno.h>

#include "../test.h"
#include "vfs/ceph/ceph_private.h"

static int sync_result;

static int
sync_inode(struct ceph_mount_info *mount, struct Inode *inode, int data_only)
{
	(void)mount, (void)inode, (void)data_only;
	return sync_result;
}

/* Commits, which has to end with this status. Returns the verifier. */
static uint64_t
commit(struct rr_ceph *ceph, int result, enum rr_vfs_status status)
{
	struct rr_vfs_commit commit = { 0 };
	struct rr_ceph_job job = { .ceph = ceph, .call = &commit.call };

	sync_result = result;
	assert_int_equal(rr_ceph_commit(&job), status);
	return commit.verifier;
}

/* Another client, whose commit comes after the failure, has to notice it, too. */
static void
the_verifier_changes_where_data_could_not_be_stored(void **state)
{
	struct rr_ceph ceph = { .lib.ll_sync_inode = sync_inode, .verifier = 7 };

	(void)state;
	assert_int_equal(commit(&ceph, 0, RR_VFS_OK), 7);
	assert_int_equal(commit(&ceph, 0, RR_VFS_OK), 7);
	commit(&ceph, -EIO, RR_VFS_IO);
	assert_int_not_equal(commit(&ceph, 0, RR_VFS_OK), 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verifier_changes_where_data_could_not_be_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
