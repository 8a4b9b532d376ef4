/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world.h"

static REMOVE3res
remove_at(struct world *world, nfs_fh3 where, const char *text)
{
	REMOVE3args args = { world_where(where, text) };

	return *(const REMOVE3res *)world_call(world, NFSPROC3_REMOVE, &args);
}

static RMDIR3res
rmdir_at(struct world *world, nfs_fh3 where, const char *text)
{
	RMDIR3args args = { world_where(where, text) };

	return *(const RMDIR3res *)world_call(world, NFSPROC3_RMDIR, &args);
}

static void
remove_takes_a_file_away(void **state)
{
	struct world *world = *state;
	GETATTR3args get;
	REMOVE3res res;
	unsigned syncs;

	get.object = world_made(world, "file", "hello", 0640);
	syncs = world_syncs;
	res = remove_at(world, world->root, "file");
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(world_syncs, syncs + 1);
	world_wcc(world, &res.u.resok.dir_wcc, "", true);
	assert_false(world_exists(world, "file"));
	assert_int_equal(
		((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3ERR_STALE);
	assert_int_equal(symlinkat("nowhere", world->fd, "link"), 0);
	assert_int_equal(remove_at(world, world->root, "link").status, NFS3_OK);
}

static void
remove_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	char text[300];
	REMOVE3res res = remove_at(world, world->root, "nothing");

	assert_int_equal(res.status, NFS3ERR_NOENT);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	memset(text, 'n', sizeof text);
	text[256] = 0;
	assert_int_equal(remove_at(world, world->root, text).status, NFS3ERR_NAMETOOLONG);
	world_directory(world, "d", 0755);
	assert_int_equal(remove_at(world, world->root, "d").status, NFS3ERR_ISDIR);
	assert_int_equal(remove_at(world, world->root, ".").status, NFS3ERR_ISDIR);
	world_file(world, "file", "hello", 0640);
	assert_int_equal(remove_at(world, world_handle(world, "file"), "x").status, NFS3ERR_NOTDIR);
	world_file(world, "d/file", "hello", 0640);
	assert_int_equal(fchmodat(world->fd, "d", 0500, 0), 0);
	assert_int_equal(remove_at(world, world_handle(world, "d"), "file").status, NFS3ERR_ACCES);
	assert_int_equal(fchmodat(world->fd, "d", 0700, 0), 0);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(remove_at(world, world->root, "file").status, NFS3ERR_ROFS);
}

static void
rmdir_takes_an_empty_directory_away(void **state)
{
	struct world *world = *state;
	RMDIR3res res;

	world_directory(world, "d", 0755);
	res = rmdir_at(world, world->root, "d");
	assert_int_equal(res.status, NFS3_OK);
	world_wcc(world, &res.u.resok.dir_wcc, "", true);
	assert_false(world_exists(world, "d"));
}

/* RFC 1813, 3.3.13, on "." and "..": "NFS3ERR_INVAL ... NFS3ERR_EXIST" */
static void
rmdir_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	RMDIR3res res;

	world_directory(world, "d", 0755);
	world_file(world, "d/file", "hello", 0640);
	res = rmdir_at(world, world->root, "d");
	assert_int_equal(res.status, NFS3ERR_NOTEMPTY);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	assert_int_equal(rmdir_at(world, world_handle(world, "d"), ".").status, NFS3ERR_INVAL);
	assert_int_equal(rmdir_at(world, world_handle(world, "d"), "..").status, NFS3ERR_EXIST);
	assert_int_equal(rmdir_at(world, world_handle(world, "d"), "file").status, NFS3ERR_NOTDIR);
	assert_int_equal(rmdir_at(world, world->root, "nothing").status, NFS3ERR_NOENT);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(rmdir_at(world, world->root, "d").status, NFS3ERR_ROFS);
}

static void
only_owners_remove_from_a_sticky_directory(void **state)
{
	struct world *world = *state;

	world_file(world, "file", "hello", 0666);
	assert_int_equal(chmod(world->path, 01777), 0);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(remove_at(world, world->root, "file").status, NFS3ERR_PERM);
	world_caller(world, WORLD_USER);
	assert_int_equal(remove_at(world, world->root, "file").status, NFS3_OK);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(remove_takes_a_file_away),
		world_test(remove_tells_why_it_cannot),
		world_test(rmdir_takes_an_empty_directory_away),
		world_test(rmdir_tells_why_it_cannot),
	};
	static const struct CMUnitTest root_tests[] = { world_test(
		only_owners_remove_from_a_sticky_directory) };

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
