/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what the provider of CephFS does where its library fails, without a cluster. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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
	struct rr_ceph_job job = { .ceph = ceph, .base.call = &commit.call };

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

/* The attributes of a file that every caller may read and write. */
static int
get_attributes(struct ceph_mount_info *mount, struct Inode *inode, struct ceph_statx *st, unsigned want,
	unsigned flags, const UserPerm *perms)
{
	(void)mount, (void)inode, (void)want, (void)flags, (void)perms;
	*st = (struct ceph_statx){ .stx_mode = S_IFREG | 0666 };
	return 0;
}

/* A value that becomes longer between two calls. As libcephfs does, returns the length where size is 0. */
static int
get_growing_value(struct ceph_mount_info *mount, struct Inode *inode, const char *name, void *value,
	size_t size, const UserPerm *perms)
{
	static const char octets[] = "grown";
	static bool grown;
	int length = grown ? sizeof(octets) - 1 : 0;

	(void)mount, (void)inode, (void)name, (void)perms;
	grown = true;
	if (size > 0 && length > 0)
		memcpy(value, octets, (size_t)length);
	return length;
}

/* The caller of getxattr takes "length" octets of its memory for the value, and has none there. */
static void
a_value_that_grows_is_never_longer_than_the_memory_for_it(void **state)
{
	struct rr_vfs_caller caller = { 0 };
	struct rr_vfs_xattr xattr = { .call.caller = &caller, .name = { "a", 1 } };
	struct rr_ceph ceph = { .lib = { .ll_getattr = get_attributes, .ll_getxattr = get_growing_value } };
	struct rr_ceph_job job = { .ceph = &ceph, .base.call = &xattr.call };

	(void)state;
	assert_int_equal(rr_ceph_getxattr(&job), RR_VFS_OK);
	assert_int_equal(xattr.length, 0);
	assert_int_equal(rr_ceph_getxattr(&job), RR_VFS_XATTR_SIZE);
	assert_int_equal(xattr.length, 5);
}

static int
write_two_octets_and_then_none(
	struct ceph_mount_info *mount, struct Fh *file, int64_t offset, uint64_t length, const char *data)
{
	static int calls;

	(void)mount, (void)file, (void)offset, (void)length, (void)data;
	/* The test ends also where the loop of the provider does not. */
	assert_true(++calls < 10);
	return calls == 1 ? 2 : 0;
}

/* Writes four octets, which has to end with this status and count. */
static void
write_four(struct rr_ceph *ceph, enum rr_vfs_status status, uint32_t count)
{
	struct rr_vfs_open open = { .base.reservation.access = RR_VFS_SHARE_WRITE };
	struct rr_vfs_write write = { .data = "text", .length = 4 };
	struct rr_ceph_job job = { .ceph = ceph, .base.call = &write.call, .object.open = &open };

	assert_int_equal(rr_ceph_write(&job), status);
	assert_int_equal(write.count, count);
}

/* A library that takes no octet would keep the thread for ever. */
static void
a_write_ends_where_no_octet_is_taken(void **state)
{
	struct rr_ceph ceph = { .lib.ll_write = write_two_octets_and_then_none };

	(void)state;
	write_four(&ceph, RR_VFS_OK, 2);
	write_four(&ceph, RR_VFS_IO, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verifier_changes_where_data_could_not_be_stored),
		cmocka_unit_test(a_value_that_grows_is_never_longer_than_the_memory_for_it),
		cmocka_unit_test(a_write_ends_where_no_octet_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
