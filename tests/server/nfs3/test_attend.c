/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what a server does from the timer of its loop, while no client calls it. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/tree/tree_private.h"
#include "world.h"

/* Descriptors are closed when they were not used for two seconds, and the timer runs each second. */
enum { CLOSED_AFTER = 4 };

static int
setup(void **state)
{
	struct world *world;

	assert_int_equal(world_setup(state), 0);
	world = *state;
	world->stage.runs = false;
	world->vfs_loop = world->stage.loop;
	world_restart(world);
	return 0;
}

static void
pass(struct world *world, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		world->stage.now += RR_SECOND;
		stage_turn(&world->stage);
	}
}

/* Returns how many descriptors the server has open for files and directories, without those of the
 * exports. */
static uint32_t
open_count(const struct world *world)
{
	const struct rr_tree *tree = rr_container(world->vfs, struct rr_posix, vfs)->tree;

	return tree->core->nodes.open_count - tree->core->config.export_count;
}

static void
descriptors_out_of_use_are_closed_without_a_call(void **state)
{
	struct world *world = *state;

	world_directory(world, "d", 0755);
	world_file(world, "d/file", "hello", 0644);
	world_handle(world, "d/file");
	pass(world, 1);
	assert_int_equal(open_count(world), 2);
	pass(world, CLOSED_AFTER - 1);
	assert_int_equal(open_count(world), 0);
}

/* Calls for one file do not keep descriptors of other files open. */
static void
descriptors_out_of_use_are_closed_while_others_are_used(void **state)
{
	struct world *world = *state;
	GETATTR3args get;

	get.object = world_made(world, "used", "hello", 0644);
	world_file(world, "unused", "hello", 0644);
	world_handle(world, "unused");
	for (unsigned i = 0; i < CLOSED_AFTER; i++) {
		assert_int_equal(
			((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3_OK);
		pass(world, 1);
	}
	assert_int_equal(open_count(world), 1);
}

/* ---- A file system that is mounted below an export ---- */

/* Gives this process mounts of its own. Returns false where that is not permitted. */
static bool
mounts_apart(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static int
setup_apart(void **state)
{
	*state = NULL;
	return mounts_apart() ? setup(state) : 0;
}

static int
teardown_apart(void **state)
{
	return *state ? world_teardown(state) : 0;
}

static void
a_file_system_mounted_below_an_export_can_be_unmounted(void **state)
{
	struct world *world = *state;
	char path[100];

	if (!world) {
		print_message("skipped: this process may not mount file systems\n");
		skip();
	}
	world_directory(world, "mounted", 0755);
	snprintf(path, sizeof path, "%s/mounted", world->path);
	assert_int_equal(mount("none", path, "tmpfs", 0, "mode=755"), 0);
	world_file(world, "mounted/file", "hello", 0644);
	world_handle(world, "mounted/file");
	assert_int_equal(umount2(path, 0), -1);
	pass(world, CLOSED_AFTER);
	assert_int_equal(umount2(path, 0), 0);
}

/* Returns the entry of this name that READDIRPLUS lists. */
static const entryplus3 *
listed(struct world *world, nfs_fh3 directory, const char *name)
{
	const READDIRPLUS3args plus = { .dir = directory, .dircount = 4096, .maxcount = 1 << 14 };
	const READDIRPLUS3res *res = world_call(world, NFSPROC3_READDIRPLUS, &plus);
	const entryplus3 *entry = res->u.resok.reply.entries;

	assert_int_equal(res->status, NFS3_OK);
	while (entry && (entry->name.length != strlen(name) ||
				memcmp(entry->name.data, name, entry->name.length) != 0))
		entry = entry->nextentry;
	assert_non_null(entry);
	return entry;
}

/* READDIRPLUS gives the attributes of a local file system that is mounted, and the number that READDIR gives:
 * that of the directory below the mount. */
static void
a_file_system_mounted_below_an_export_is_listed(void **state)
{
	struct world *world = *state;
	const entryplus3 *entry;
	struct stat root;
	char path[100];
	uint64_t number;

	if (!world) {
		print_message("skipped: this process may not mount file systems\n");
		skip();
	}
	world_directory(world, "mounted", 0755);
	number = world_stat(world, "mounted").st_ino;
	snprintf(path, sizeof path, "%s/mounted", world->path);
	assert_int_equal(mount("none", path, "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(stat(path, &root), 0);
	entry = listed(world, world->root, "mounted");
	assert_int_equal(entry->fileid, number);
	assert_true(entry->name_attributes.attributes_follow);
	assert_int_equal(entry->name_attributes.u.attributes.fileid, root.st_ino);
	entry = listed(world, world_handle(world, "mounted"), "..");
	assert_int_equal(entry->fileid, world_stat(world, "").st_ino);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, world_teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		test(descriptors_out_of_use_are_closed_without_a_call),
		test(descriptors_out_of_use_are_closed_while_others_are_used),
	};
	static const struct CMUnitTest root_tests[] = {
		cmocka_unit_test_setup_teardown(
			a_file_system_mounted_below_an_export_can_be_unmounted, setup_apart, teardown_apart),
		cmocka_unit_test_setup_teardown(
			a_file_system_mounted_below_an_export_is_listed, setup_apart, teardown_apart),
	};

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
