/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "world.h"

static MKDIR3res
make_directory(struct world *world, nfs_fh3 where, const char *text, uint32_t mode)
{
	MKDIR3args args = { world_where(where, text), { .mode = { true, { mode } } } };

	return *(const MKDIR3res *)world_call(world, NFSPROC3_MKDIR, &args);
}

static void
mkdir_makes_a_directory(void **state)
{
	struct world *world = *state;
	MKDIR3res res = make_directory(world, world->root, "d", 0777);
	nfs_fh3 directory;

	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "d");
	world_wcc(world, &res.u.resok.dir_wcc, "", true);
	assert_int_equal(world_stat(world, "d").st_mode, S_IFDIR | 0777);
	directory = world_keep(world, res.u.resok.obj.u.handle);
	assert_int_equal(make_directory(world, directory, "below", 0700).status, NFS3_OK);
	assert_int_equal(world_stat(world, "d/below").st_mode, S_IFDIR | 0700);
}

/* RFC 1813, 3.3.9, on "." and "..": "In this case, the server should return NFS3ERR_EXIST." */
static void
mkdir_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	MKDIR3res res;

	world_file(world, "file", "", 0644);
	res = make_directory(world, world->root, "file", 0755);
	assert_int_equal(res.status, NFS3ERR_EXIST);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	assert_int_equal(make_directory(world, world->root, ".", 0755).status, NFS3ERR_EXIST);
	assert_int_equal(make_directory(world, world->root, "..", 0755).status, NFS3ERR_EXIST);
	assert_int_equal(
		make_directory(world, world_handle(world, "file"), "d", 0755).status, NFS3ERR_NOTDIR);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(make_directory(world, world->root, "new", 0755).status, NFS3ERR_ROFS);
}

static void
a_directory_passes_its_group_on(void **state)
{
	struct world *world = *state;

	assert_int_equal(chown(world->path, WORLD_USER, 555), 0);
	assert_int_equal(chmod(world->path, 02775), 0);
	world->request.caller.group_count = 1;
	world->groups[0] = 555;
	assert_int_equal(make_directory(world, world->root, "d", 0750).status, NFS3_OK);
	assert_int_equal(world_stat(world, "d").st_mode & 07777, 02750);
	assert_int_equal(world_stat(world, "d").st_gid, 555);
	assert_int_equal(world_stat(world, "d").st_uid, WORLD_USER);
}

static SYMLINK3res
make_link(struct world *world, const char *text, struct rpcrdma_bytes target)
{
	SYMLINK3args args = { world_where(world->root, text), { { .mode = { true, { 0777 } } }, target } };

	return *(const SYMLINK3res *)world_call(world, NFSPROC3_SYMLINK, &args);
}

static void
symlink_makes_a_link_of_any_text(void **state)
{
	struct world *world = *state;
	SYMLINK3res res = make_link(world, "link", world_bytes("../any\xff where"));
	char text[100];

	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "link");
	assert_int_equal(res.u.resok.obj_attributes.u.attributes.type, NF3LNK);
	world_wcc(world, &res.u.resok.dir_wcc, "", true);
	assert_int_equal(readlinkat(world->fd, "link", text, sizeof text), 13);
	assert_memory_equal(text, "../any\xff where", 13);
}

static void
symlink_tells_why_it_cannot(void **state)
{
	static char target[PATH_MAX];
	struct world *world = *state;
	SYMLINK3res res;

	memset(target, 'a', sizeof target);
	res = make_link(world, "link", (struct rpcrdma_bytes){ target, PATH_MAX });
	assert_int_equal(res.status, NFS3ERR_NAMETOOLONG);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	assert_int_equal(
		make_link(world, "longest", (struct rpcrdma_bytes){ target, PATH_MAX - 1 }).status, NFS3_OK);
	assert_int_equal(make_link(world, "link", world_bytes("")).status, NFS3ERR_INVAL);
	assert_int_equal(make_link(world, "link", (struct rpcrdma_bytes){ "a\0b", 3 }).status, NFS3ERR_INVAL);
	assert_int_equal(make_link(world, "longest", world_bytes("x")).status, NFS3ERR_EXIST);
	assert_false(world_exists(world, "link"));
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(make_link(world, "link", world_bytes("x")).status, NFS3ERR_ROFS);
}

static MKNOD3res
make_node(struct world *world, const char *text, const mknoddata3 *what)
{
	MKNOD3args args = { world_where(world->root, text), *what };

	return *(const MKNOD3res *)world_call(world, NFSPROC3_MKNOD, &args);
}

static void
mknod_makes_pipes_and_sockets(void **state)
{
	struct world *world = *state;
	mknoddata3 what = { .type = NF3FIFO, .u.pipe_attributes.mode = { true, { 0622 } } };
	MKNOD3res res = make_node(world, "fifo", &what);

	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "fifo");
	world_wcc(world, &res.u.resok.dir_wcc, "", true);
	assert_int_equal(world_stat(world, "fifo").st_mode, S_IFIFO | 0622);
	what.type = NF3SOCK;
	assert_int_equal(make_node(world, "socket", &what).status, NFS3_OK);
	assert_int_equal(world_stat(world, "socket").st_mode, S_IFSOCK | 0622);
	assert_int_equal(make_node(world, "socket", &what).status, NFS3ERR_EXIST);
}

/* RFC 1813, 3.3.11: "Note that NF3REG, NF3DIR, and NF3LNK are illegal types for MKNOD." */
static void
mknod_makes_nothing_else(void **state)
{
	static const ftype3 illegal[] = { NF3REG, NF3DIR, NF3LNK };
	struct world *world = *state;

	for (unsigned i = 0; i < 3; i++) {
		mknoddata3 what = { .type = illegal[i] };
		MKNOD3res res = make_node(world, "x", &what);

		assert_int_equal(res.status, NFS3ERR_BADTYPE);
		world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	}
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(make_node(world, "x", &(mknoddata3){ .type = NF3FIFO }).status, NFS3ERR_ROFS);
}

static void
only_root_makes_devices(void **state)
{
	struct world *world = *state;
	mknoddata3 what = { .type = NF3CHR, .u.device = { .spec = { 1, 3 } } };

	assert_int_equal(make_node(world, "null", &what).status, NFS3ERR_PERM);
	what.u.device.spec.specdata1 = 1 << 12;
	assert_int_equal(make_node(world, "null", &what).status, NFS3ERR_INVAL);
	assert_false(world_exists(world, "null"));
}

static void
root_makes_devices(void **state)
{
	struct world *world = *state;
	mknoddata3 what = { .type = NF3CHR, .u.device = { .spec = { 1, 3 } } };
	MKNOD3res res;

	world->rule = "*(rw,no_root_squash)";
	world_restart(world);
	world_caller(world, 0);
	res = make_node(world, "null", &what);
	if (res.status == NFS3ERR_PERM)
		skip(); /* the root user of a container may lack this right */
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.obj_attributes.u.attributes.type, NF3CHR);
	assert_int_equal(res.u.resok.obj_attributes.u.attributes.rdev.specdata1, 1);
	assert_int_equal(res.u.resok.obj_attributes.u.attributes.rdev.specdata2, 3);
	assert_true(world_stat(world, "null").st_rdev == makedev(1, 3));
	what.type = NF3BLK;
	assert_int_equal(make_node(world, "disk", &what).status, NFS3_OK);
	assert_true(S_ISBLK(world_stat(world, "disk").st_mode));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(mkdir_makes_a_directory),
		world_test(mkdir_tells_why_it_cannot),
		world_test(symlink_makes_a_link_of_any_text),
		world_test(symlink_tells_why_it_cannot),
		world_test(mknod_makes_pipes_and_sockets),
		world_test(mknod_makes_nothing_else),
		world_test(only_root_makes_devices),
	};
	static const struct CMUnitTest root_tests[] = {
		world_test(a_directory_passes_its_group_on),
		world_test(root_makes_devices),
	};

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
