/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ulb/mount3.h"
#include "world.h"

static mountres3
mount_of(struct world *world, const char *text)
{
	dirpath path = world_bytes(text);

	return *(const mountres3 *)world_mount_call(world, MOUNTPROC3_MNT, &path);
}

/* RFC 1813, 5.2.1: "the server returns an NFS version 3 protocol file handle and a vector of RPC
 * authentication flavors" */
static void
mnt_gives_the_handle_of_an_export(void **state)
{
	struct world *world = *state;
	mountres3 res = mount_of(world, "/export");
	GETATTR3args get;

	assert_int_equal(res.fhs_status, MNT3_OK);
	assert_int_equal(res.u.mountinfo.auth_flavors.count, 2);
	assert_int_equal(res.u.mountinfo.auth_flavors.values[0], RR_AUTH_SYS);
	assert_int_equal(res.u.mountinfo.auth_flavors.values[1], RR_AUTH_NONE);
	get.object = world_keep(world, (nfs_fh3){ res.u.mountinfo.fhandle });
	assert_int_equal(((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3_OK);
}

static void
mnt_gives_directories_below_too(void **state)
{
	struct world *world = *state;

	world_directory(world, "d", 0755);
	world_file(world, "file", "", 0644);
	world_directory(world, "d/b", 0755);
	assert_int_equal(symlinkat("d", world->fd, "link"), 0);
	assert_int_equal(mount_of(world, "/export/d").fhs_status, MNT3_OK);
	assert_int_equal(mount_of(world, "/export/d//b/").fhs_status, MNT3_OK);
	assert_int_equal(mount_of(world, "/export/../..").fhs_status, MNT3_OK);
	assert_int_equal(mount_of(world, "/export/link").fhs_status, MNT3ERR_NOTDIR);
	assert_int_equal(mount_of(world, "/export/file/g").fhs_status, MNT3ERR_NOTDIR);
	assert_int_equal(mount_of(world, "/export/file").fhs_status, MNT3ERR_NOTDIR);
	assert_int_equal(mount_of(world, "/export/nothing").fhs_status, MNT3ERR_NOENT);
}

static void
mnt_gives_nothing_else(void **state)
{
	struct world *world = *state;

	assert_int_equal(mount_of(world, "/").fhs_status, MNT3ERR_NOENT);
	assert_int_equal(mount_of(world, "").fhs_status, MNT3ERR_NOENT);
	assert_int_equal(mount_of(world, "/exports").fhs_status, MNT3ERR_NOENT);
	assert_int_equal(mount_of(world, world->path).fhs_status, MNT3ERR_NOENT);
}

static void
export_lists_all(void **state)
{
	struct world *world = *state;
	const exports *list;

	world_directory(world, "d", 0755);
	world->exports[1] = (struct rr_tree_export){ world->path, "/other" };
	world->config.export_count = 2;
	world_restart(world);
	list = world_mount_call(world, MOUNTPROC3_EXPORT, NULL);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	assert_int_equal((*list)->ex_dir.length, 7);
	assert_memory_equal((*list)->ex_dir.data, "/export", 7);
	assert_null((*list)->ex_groups);
	assert_memory_equal((*list)->ex_next->ex_dir.data, "/other", 6);
	assert_null((*list)->ex_next->ex_next);
}

/* Clients that mount the part of a path before its last slash send "" where that slash is the first octet. */
static void
no_path_is_the_root(void **state)
{
	struct world *world = *state;
	mountres3 res = mount_of(world, "");

	assert_int_equal(res.fhs_status, MNT3ERR_NOENT);
	world->exports[0].name = "/";
	world_restart(world);
	res = mount_of(world, "");
	assert_int_equal(res.fhs_status, MNT3_OK);
	assert_int_equal(res.u.mountinfo.fhandle.length, world_mount(world, "/").data.length);
}

static void
unmounting_is_heard(void **state)
{
	struct world *world = *state;
	dirpath path = world_bytes("/export");
	const mountlist *list;

	world_mount_call(world, MOUNTPROC3_NULL, NULL);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	world_mount_call(world, MOUNTPROC3_UMNT, &path);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	world_mount_call(world, MOUNTPROC3_UMNTALL, NULL);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	list = world_mount_call(world, MOUNTPROC3_DUMP, NULL);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	assert_null(*list);
}

/* RFC 1094, A.5.2: "If the status is zero, then the call completed successfully, and a file handle for the
 * directory follows." There is no NFS version 2 here, so no handle follows; what is said of a path is what
 * version 3 says. */
static void
versions_1_and_2_give_no_handle(void **state)
{
	struct world *world = *state;
	dirpath there = world_bytes("/export"), nothing = world_bytes("/export/nothing");
	struct rr_mounts *mounts;
	const mountlist *list;

	assert_int_equal(rr_mounts_new(&rr_env_system, &mounts), 0);
	rr_nfs_server_list_mounts(world->server, mounts);
	for (uint32_t version = 1; version <= 2; version++) {
		const fhstatus *res = world_old_mount_call(world, version, MOUNTPROC2_MNT, &there);

		assert_int_equal(res->fhs_status, MNT3ERR_ACCES);
		assert_int_equal(world->size, 4);
		res = world_old_mount_call(world, version, MOUNTPROC2_MNT, &nothing);
		assert_int_equal(res->fhs_status, MNT3ERR_NOENT);
		assert_int_equal(world->size, 4);
	}
	list = world_mount_call(world, MOUNTPROC3_DUMP, NULL);
	assert_null(*list);
	rr_nfs_server_list_mounts(world->server, NULL);
	rr_mounts_free(mounts);
}

/* "showmount -e" and "showmount -a" of old systems, and an automounter that unmounts by version 1. */
static void
versions_1_and_2_list_as_version_3(void **state)
{
	struct world *world = *state;
	dirpath path = world_bytes("/export");
	struct rr_mounts *mounts;

	assert_int_equal(rr_mounts_new(&rr_env_system, &mounts), 0);
	rr_nfs_server_list_mounts(world->server, mounts);
	world->request.source = (struct rr_source){ .known = true, .address = { [15] = 7 } };
	for (uint32_t version = 1; version <= 2; version++) {
		assert_int_equal(mount_of(world, "/export").fhs_status, MNT3_OK);
		assert_non_null(
			*(const mountlist *)world_old_mount_call(world, version, MOUNTPROC2_DUMP, NULL));
		for (uint32_t proc = MOUNTPROC2_EXPORT; proc <= MOUNTPROC2_EXPORTALL; proc++) {
			const exports *list = world_old_mount_call(world, version, proc, NULL);

			assert_memory_equal((*list)->ex_dir.data, "/export", 7);
			assert_null((*list)->ex_next);
		}
		world_old_mount_call(world, version, MOUNTPROC2_UMNT, &path);
		assert_null(*(const mountlist *)world_old_mount_call(world, version, MOUNTPROC2_DUMP, NULL));
	}
	rr_nfs_server_list_mounts(world->server, NULL);
	rr_mounts_free(mounts);
}

/* A set bit in pc_mask says that the limit is not known. */
static void
pathconf_of_version_2_knows_no_limit(void **state)
{
	struct world *world = *state;
	dirpath path = world_bytes("/export");
	const ppathcnf *limits = world_old_mount_call(world, 2, MOUNTPROC2_PATHCONF, &path);

	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	assert_int_equal(limits->pc_mask[0], -1);
	assert_int_equal(world->size, 40);
}

/* Clients mount as root, who is squashed here; the mode of an export's root does not keep out clients with a
 * right to the export. A directory below the root is found by callers who may search the directories above
 * it; other callers do not learn what exists there. */
static void
anyone_mounts_what_is_exported(void **state)
{
	struct world *world = *state;

	world_directory(world, "d", 0700);
	assert_int_equal(chmod(world->path, 0700), 0);
	world_caller(world, 0);
	assert_int_equal(mount_of(world, "/export").fhs_status, MNT3_OK);
	world_no_one(world);
	assert_int_equal(mount_of(world, "/export").fhs_status, MNT3_OK);
	assert_int_equal(mount_of(world, "/export/d").fhs_status, MNT3ERR_ACCES);
	assert_int_equal(mount_of(world, "/export/nothing").fhs_status, MNT3ERR_ACCES);
	world_caller(world, WORLD_USER);
	assert_int_equal(mount_of(world, "/export/d").fhs_status, MNT3_OK);
	assert_int_equal(mount_of(world, "/export/nothing").fhs_status, MNT3ERR_NOENT);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(mnt_gives_the_handle_of_an_export),
		world_test(mnt_gives_directories_below_too),
		world_test(mnt_gives_nothing_else),
		world_test(export_lists_all),
		world_test(no_path_is_the_root),
		world_test(unmounting_is_heard),
		world_test(versions_1_and_2_give_no_handle),
		world_test(versions_1_and_2_list_as_version_3),
		world_test(pathconf_of_version_2_knows_no_limit),
	};
	static const struct CMUnitTest root_tests[] = { world_test(anyone_mounts_what_is_exported) };

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
