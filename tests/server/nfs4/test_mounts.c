/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of directories in which file systems are mounted. RFC 8881, section 18.23. */
#include "world.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/endian.h"

enum { MOUNTED_ON = FATTR4_MOUNTED_ON_FILEID - 32 };

static void
path_of(const struct world *world, const char *name, char path[STAGE_PATH + 8])
{
	snprintf(path, STAGE_PATH + 8, "%s/%s", world->path, name);
}

static uint64_t
inode_of(const struct world *world, const char *name)
{
	char path[STAGE_PATH + 8];
	struct stat st;

	path_of(world, name, path);
	assert_int_equal(lstat(path, &st), 0);
	return st.st_ino;
}

/* Mounts a file system of this type on a new directory of the export. Returns the directory's inode number.
 */
static uint64_t
mounted(const struct world *world, const char *name, const char *type)
{
	char path[STAGE_PATH + 8];
	uint64_t number;

	path_of(world, name, path);
	assert_int_equal(mkdir(path, 0755), 0);
	number = inode_of(world, name);
	assert_int_equal(mount("none", path, type, 0, NULL), 0);
	return number;
}

/* Makes a server whose export is a local file system, in mounts that this process has for itself. Where that
 * is not permitted, *state is NULL. */
static int
setup_apart(void **state)
{
	struct world *world;

	*state = NULL;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 0;
	world_setup(state);
	world = *state;
	assert_int_equal(mount("none", world->path, "tmpfs", 0, "mode=755"), 0);
	world_restart(world);
	return 0;
}

static int
teardown_apart(void **state)
{
	const struct world *world = *state;

	if (!world)
		return 0;
	umount2(world->path, MNT_DETACH);
	return world_teardown(state);
}

/* Returns the entry of this name in the list of the last READDIR, whose result is that of operation 1. */
static const entry4 *
entry_named(const struct peer *peer, const char *name)
{
	const entry4 *entry = peer_res(peer, 1)->u.opreaddir.u.resok4.reply.entries;

	while (entry && (entry->name.length != strlen(name) ||
				memcmp(entry->name.data, name, entry->name.length) != 0))
		entry = entry->nextentry;
	assert_non_null(entry);
	return entry;
}

/* The server does not look at a file system that may hang. 18.23.3: "With this, the server is able to
 * communicate the failure to the client and not fail the entire operation in the instance of what might be a
 * transient failure." */
static void
a_list_does_not_wait_for_what_is_mounted(void **state)
{
	static uint32_t words[2];
	struct world *world = *state;
	nfs_argop4 list = op_readdir(0, 0, 4096);
	struct peer *peer;
	const entry4 *entry;
	uint64_t number;

	if (!world)
		skip();
	peer = world_kinds(world);
	number = mounted(world, "far", "ramfs");
	list.u.opreaddir.attr_request = (bitmap4){ 2, words };
	words[0] = UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_RDATTR_ERROR;
	words[1] = UINT32_C(1) << MOUNTED_ON;
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	entry = entry_named(peer, "far");
	assert_int_equal(entry->attrs.attrmask.values[0], UINT32_C(1) << FATTR4_RDATTR_ERROR);
	assert_int_equal(entry->attrs.attrmask.values[1], UINT32_C(1) << MOUNTED_ON);
	assert_int_equal(entry->attrs.attr_vals.length, 12);
	assert_int_equal(rr_get_be32(entry->attrs.attr_vals.data), NFS4ERR_DELAY);
	assert_int_equal(rr_get_be64((const uint8_t *)entry->attrs.attr_vals.data + 4), number);
	assert_int_equal(entry_named(peer, "dir")->attrs.attrmask.values[0], words[0]);
	words[1] = 0;
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	assert_int_equal(entry_named(peer, "far")->attrs.attr_vals.length, 4);
	/* The number alone can be had, with rdattr_error or without. */
	words[0] = UINT32_C(1) << FATTR4_RDATTR_ERROR;
	words[1] = UINT32_C(1) << MOUNTED_ON;
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	entry = entry_named(peer, "far");
	assert_int_equal(entry->attrs.attr_vals.length, 12);
	assert_int_equal(rr_get_be32(entry->attrs.attr_vals.data), NFS4_OK);
	words[0] = 0;
	words[1] = UINT32_C(1) << MOUNTED_ON;
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	entry = entry_named(peer, "far");
	assert_int_equal(entry->attrs.attr_vals.length, 8);
	assert_int_equal(rr_get_be64(entry->attrs.attr_vals.data), number);
	words[0] = UINT32_C(1) << FATTR4_TYPE;
	assert_int_equal(RUN(peer, op_root(), list), NFS4ERR_IO);
	assert_int_equal(RUN(peer, op_root(), op_lookup("far")), NFS4_OK);
}

/* A local file system that is mounted below the export does not hang, so its root has all attributes in the
 * list. 5.8.2.23, of mounted_on_fileid: "if the target filehandle is the root of a file system, this
 * attribute represents the fileid of the underlying directory." */
static void
a_list_has_the_attributes_of_a_local_file_system_that_is_mounted(void **state)
{
	static uint32_t words[2] = { UINT32_C(1) << FATTR4_TYPE | UINT32_C(1) << FATTR4_RDATTR_ERROR |
					     UINT32_C(1) << FATTR4_FILEID,
		UINT32_C(1) << MOUNTED_ON };
	struct world *world = *state;
	nfs_argop4 list = op_readdir(0, 0, 4096);
	const uint8_t *values;
	struct peer *peer;
	const entry4 *entry;
	uint64_t number;

	if (!world)
		skip();
	peer = world_kinds(world);
	number = mounted(world, "near", "tmpfs");
	assert_int_not_equal(number, inode_of(world, "near"));
	list.u.opreaddir.attr_request = (bitmap4){ 2, words };
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	entry = entry_named(peer, "near");
	assert_int_equal(entry->attrs.attrmask.values[0], words[0]);
	assert_int_equal(entry->attrs.attrmask.values[1], words[1]);
	assert_int_equal(entry->attrs.attr_vals.length, 4 + 4 + 8 + 8);
	values = entry->attrs.attr_vals.data;
	assert_int_equal(rr_get_be32(values), NF4DIR);
	assert_int_equal(rr_get_be32(values + 4), NFS4_OK);
	assert_int_equal(rr_get_be64(values + 8), inode_of(world, "near"));
	assert_int_equal(rr_get_be64(values + 16), number);
	values = entry_named(peer, "dir")->attrs.attr_vals.data;
	assert_int_equal(rr_get_be64(values + 8), inode_of(world, "dir"));
	assert_int_equal(rr_get_be64(values + 16), inode_of(world, "dir"));
	/* Without rdattr_error, the list does not fail, whoever calls. */
	list.u.opreaddir.attr_request.count = 1;
	words[0] = UINT32_C(1) << FATTR4_TYPE;
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	assert_int_equal(entry_named(peer, "near")->attrs.attr_vals.length, 4);
	peer = world_peer(world, 1, "b", 1000);
	assert_int_equal(RUN(peer, op_root(), list), NFS4_OK);
	assert_int_equal(entry_named(peer, "near")->attrs.attr_vals.length, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_list_does_not_wait_for_what_is_mounted, setup_apart, teardown_apart),
		cmocka_unit_test_setup_teardown(
			a_list_has_the_attributes_of_a_local_file_system_that_is_mounted, setup_apart,
			teardown_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
