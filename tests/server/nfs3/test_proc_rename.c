/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world.h"

static RENAME3res
rename_at(struct world *world, nfs_fh3 from, const char *old, nfs_fh3 to, const char *new)
{
	RENAME3args args = { world_where(from, old), world_where(to, new) };

	return *(const RENAME3res *)world_call(world, NFSPROC3_RENAME, &args);
}

static nfsstat3
renamed(struct world *world, const char *old, const char *new)
{
	return rename_at(world, world->root, old, world->root, new).status;
}

static void
rename_moves_between_directories(void **state)
{
	struct world *world = *state;
	GETATTR3args get;
	unsigned syncs;
	RENAME3res res;
	nfs_fh3 a, b;

	world_directory(world, "a", 0755);
	world_directory(world, "b", 0755);
	world_file(world, "a/file", "hello", 0640);
	world_age(world, "a");
	a = world_handle(world, "a");
	b = world_handle(world, "b");
	get.object = world_handle(world, "a/file");
	syncs = world_syncs;
	res = rename_at(world, a, "file", b, "moved");
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(world_syncs, syncs + 2);
	world_wcc(world, &res.u.resok.fromdir_wcc, "a", true);
	world_wcc(world, &res.u.resok.todir_wcc, "b", true);
	assert_false(world_exists(world, "a/file"));
	world_holds(world, "b/moved", "hello");
	/* RFC 1813, 3.3.14: servers "are strongly encouraged to attempt to keep file handles from becoming
	 * stale" */
	assert_int_equal(((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3_OK);
}

static void
rename_replaces_what_is_alike(void **state)
{
	struct world *world = *state;
	GETATTR3args get;

	world_file(world, "new", "new", 0640);
	get.object = world_made(world, "old", "old", 0640);
	assert_int_equal(renamed(world, "new", "old"), NFS3_OK);
	world_holds(world, "old", "new");
	assert_int_equal(
		((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3ERR_STALE);
	world_directory(world, "d", 0755);
	world_directory(world, "e", 0755);
	assert_int_equal(renamed(world, "d", "e"), NFS3_OK);
	assert_false(world_exists(world, "d"));
}

/* RFC 1813, 3.3.14: "If they are not compatible or if the target is a directory but not empty, the server
 * should return the error, NFS3ERR_EXIST." */
static void
rename_replaces_nothing_else(void **state)
{
	struct world *world = *state;
	RENAME3res res;

	world_file(world, "file", "hello", 0640);
	world_directory(world, "d", 0755);
	world_directory(world, "full", 0755);
	world_directory(world, "full/below", 0755);
	world_age(world, "");
	res = rename_at(world, world->root, "file", world->root, "d");
	assert_int_equal(res.status, NFS3ERR_EXIST);
	world_agrees(world, &res.u.resfail.todir_wcc.after, "");
	world_wcc(world, &res.u.resfail.fromdir_wcc, "", false);
	assert_int_equal(renamed(world, "d", "file"), NFS3ERR_EXIST);
	/* This is the error of local file systems, which RENAME may return, too. */
	assert_int_equal(renamed(world, "d", "full"), NFS3ERR_NOTEMPTY);
}

/* RFC 1813, 3.3.14: "If from and to both refer to the same file (they might be hard links of each other),
 * then RENAME should perform no action and return NFS3_OK." */
static void
rename_of_a_file_to_itself_does_nothing(void **state)
{
	struct world *world = *state;

	world_file(world, "file", "hello", 0640);
	assert_int_equal(linkat(world->fd, "file", world->fd, "same", 0), 0);
	assert_int_equal(renamed(world, "file", "same"), NFS3_OK);
	assert_int_equal(renamed(world, "file", "file"), NFS3_OK);
	world_holds(world, "file", "hello");
	world_holds(world, "same", "hello");
	world_handle(world, "file");
	world_handle(world, "same");
}

static void
rename_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	char text[300];
	nfs_fh3 file, d;

	world_file(world, "file", "hello", 0640);
	world_directory(world, "d", 0755);
	file = world_handle(world, "file");
	d = world_handle(world, "d");
	memset(text, 'n', sizeof text);
	text[256] = 0;
	assert_int_equal(renamed(world, "nothing", "x"), NFS3ERR_NOENT);
	assert_int_equal(renamed(world, "file", text), NFS3ERR_NAMETOOLONG);
	assert_int_equal(renamed(world, "file", ""), NFS3ERR_ACCES);
	assert_int_equal(renamed(world, "file", ".."), NFS3ERR_INVAL);
	assert_int_equal(renamed(world, ".", "x"), NFS3ERR_INVAL);
	assert_int_equal(rename_at(world, file, "x", d, "y").status, NFS3ERR_NOTDIR);
	assert_int_equal(rename_at(world, world->root, "file", file, "y").status, NFS3ERR_NOTDIR);
	assert_int_equal(rename_at(world, world->root, "d", d, "below").status, NFS3ERR_INVAL);
	assert_int_equal(fchmodat(world->fd, "d", 0500, 0), 0);
	assert_int_equal(rename_at(world, world->root, "file", d, "x").status, NFS3ERR_ACCES);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(renamed(world, "file", "x"), NFS3ERR_ROFS);
	world_holds(world, "file", "hello");
}

static LINK3res
link_at(struct world *world, nfs_fh3 file, nfs_fh3 where, const char *text)
{
	LINK3args args = { file, world_where(where, text) };

	return *(const LINK3res *)world_call(world, NFSPROC3_LINK, &args);
}

/* RFC 1813, 3.3.15: "the attributes for the file should have a value for nlink that is one greater" */
static void
link_gives_a_file_another_name(void **state)
{
	struct world *world = *state;
	unsigned syncs;
	LINK3res res;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);

	syncs = world_syncs;
	res = link_at(world, file, world->root, "other");
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(world_syncs, syncs + 1);
	assert_int_equal(res.u.resok.file_attributes.u.attributes.nlink, 2);
	world_agrees(world, &res.u.resok.file_attributes, "other");
	world_wcc(world, &res.u.resok.linkdir_wcc, "", true);
	world_holds(world, "other", "hello");
}

static void
link_names_a_symbolic_link_itself(void **state)
{
	struct world *world = *state;

	assert_int_equal(symlinkat("nowhere", world->fd, "link"), 0);
	if (world_is_root())
		assert_int_equal(fchownat(world->fd, "link", WORLD_USER, WORLD_USER, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(link_at(world, world_handle(world, "link"), world->root, "other").status, NFS3_OK);
	assert_true(S_ISLNK(world_stat(world, "other").st_mode));
}

static void
link_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);
	LINK3res res;

	res = link_at(world, file, world->root, "file");
	assert_int_equal(res.status, NFS3ERR_EXIST);
	world_agrees(world, &res.u.resfail.file_attributes, "file");
	world_wcc(world, &res.u.resfail.linkdir_wcc, "", false);
	assert_int_equal(link_at(world, world->root, world->root, "x").status, NFS3ERR_INVAL);
	assert_int_equal(link_at(world, file, world->root, ".").status, NFS3ERR_EXIST);
	assert_int_equal(link_at(world, file, file, "x").status, NFS3ERR_NOTDIR);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(link_at(world, file, world->root, "x").status, NFS3ERR_ROFS);
	assert_false(world_exists(world, "x"));
}

/* Two exports are two file systems for clients, wherever they lie on this machine. */
static void
nothing_crosses_exports(void **state)
{
	struct world *world = *state;
	char path[100];
	nfs_fh3 sub, file;

	world_directory(world, "sub", 0755);
	world_file(world, "file", "hello", 0640);
	strcpy(path, world->path);
	strcat(path, "/sub");
	world->exports[1] = (struct rr_tree_export){ path, "/sub" };
	world->config.export_count = 2;
	world_restart(world);
	sub = world_mount(world, "/sub");
	file = world_handle(world, "file");
	assert_int_equal(rename_at(world, world->root, "file", sub, "x").status, NFS3ERR_XDEV);
	assert_int_equal(link_at(world, file, sub, "x").status, NFS3ERR_XDEV);
	world_holds(world, "file", "hello");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(rename_moves_between_directories),
		world_test(rename_replaces_what_is_alike),
		world_test(rename_replaces_nothing_else),
		world_test(rename_of_a_file_to_itself_does_nothing),
		world_test(rename_tells_why_it_cannot),
		world_test(link_gives_a_file_another_name),
		world_test(link_names_a_symbolic_link_itself),
		world_test(link_tells_why_it_cannot),
		world_test(nothing_crosses_exports),
	};

	return world_run(tests, sizeof tests / sizeof *tests, NULL, 0);
}
