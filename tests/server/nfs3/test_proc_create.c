/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "world.h"

static CREATE3res
create(struct world *world, const char *path, createmode3 mode, const sattr3 *attributes)
{
	CREATE3args args = { world_where(world->root, path), { .mode = mode } };

	if (attributes)
		args.how.u.obj_attributes = *attributes;
	return *(const CREATE3res *)world_call(world, NFSPROC3_CREATE, &args);
}

static CREATE3res
create_exclusively(struct world *world, const char *path, const char verifier[8])
{
	CREATE3args args = { world_where(world->root, path), { .mode = EXCLUSIVE } };

	memcpy(args.how.u.verf, verifier, 8);
	return *(const CREATE3res *)world_call(world, NFSPROC3_CREATE, &args);
}

static void
check_made(struct world *world, const CREATE3res *res, const char *path)
{
	nfs_fh3 handle;

	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &res->u.resok.obj_attributes, path);
	world_wcc(world, &res->u.resok.dir_wcc, "", true);
	assert_true(res->u.resok.obj.handle_follows);
	handle = world_keep(world, res->u.resok.obj.u.handle);
	assert_memory_equal(handle.data.data, world_handle(world, path).data.data, handle.data.length);
}

static void
create_makes_a_file_with_its_attributes(void **state)
{
	struct world *world = *state;
	sattr3 attributes = {
		.mode = { true, { 0666 } },
		.size = { true, { 100 } },
		.mtime = { SET_TO_CLIENT_TIME, { { 4321, 9 } } },
	};
	CREATE3res res = create(world, "file", GUARDED, &attributes);
	struct stat st = world_stat(world, "file");

	check_made(world, &res, "file");
	/* The umask of the server, which is 022 here, has no effect on the mode. */
	assert_int_equal(st.st_mode, S_IFREG | 0666);
	assert_int_equal(st.st_size, 100);
	assert_int_equal(st.st_mtim.tv_sec, 4321);
	if (world_is_root())
		assert_int_equal(st.st_uid, WORLD_USER);
}

static void
create_unchecked_takes_what_is_there(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0600 } } };
	CREATE3res res;

	world_file(world, "file", "hello", 0640);
	res = create(world, "file", UNCHECKED, &attributes);
	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "file");
	world_wcc(world, &res.u.resok.dir_wcc, "", false);
	world_holds(world, "file", "hello");
	attributes.size.set_it = true;
	assert_int_equal(create(world, "file", UNCHECKED, &attributes).status, NFS3_OK);
	world_holds(world, "file", "");
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
	res = create(world, "new", UNCHECKED, &attributes);
	check_made(world, &res, "new");
	world_directory(world, "d", 0755);
	assert_int_equal(create(world, "d", UNCHECKED, &attributes).status, NFS3ERR_EXIST);
}

static void
create_guarded_does_not(void **state)
{
	struct world *world = *state;
	CREATE3res res;

	world_file(world, "file", "hello", 0640);
	res = create(world, "file", GUARDED, NULL);
	assert_int_equal(res.status, NFS3ERR_EXIST);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	world_holds(world, "file", "hello");
	assert_int_equal(symlinkat("nowhere", world->fd, "link"), 0);
	assert_int_equal(create(world, "link", GUARDED, NULL).status, NFS3ERR_EXIST);
	assert_int_equal(create(world, "link", UNCHECKED, NULL).status, NFS3ERR_EXIST);
	assert_false(world_exists(world, "nowhere"));
}

/* RFC 1813, 3.3.8: "If they match, the server treats the request as a success. ... If the verifiers do not
 * match, the request is rejected with the status, NFS3ERR_EXIST." */
static void
create_exclusive_may_be_repeated_by_the_same_client(void **state)
{
	struct world *world = *state;
	CREATE3res res = create_exclusively(world, "file", "\xff\x11\x22\x33\x44\x55\x66\xf7");
	nfs_fh3 file;

	check_made(world, &res, "file");
	file = world_handle(world, "file");
	world_restart(world);
	res = create_exclusively(world, "file", "\xff\x11\x22\x33\x44\x55\x66\xf7");
	assert_int_equal(res.status, NFS3_OK);
	world_wcc(world, &res.u.resok.dir_wcc, "", false);
	assert_memory_equal(res.u.resok.obj.u.handle.data.data, file.data.data, file.data.length);
	assert_int_equal(
		create_exclusively(world, "file", "\xff\x11\x22\x34\x44\x55\x66\xf7").status, NFS3ERR_EXIST);
	assert_int_equal(
		create_exclusively(world, "file", "\xff\x11\x22\x33\x44\x56\x66\xf7").status, NFS3ERR_EXIST);
}

static void
create_exclusive_is_not_repeated_once_the_file_is_in_use(void **state)
{
	struct world *world = *state;
	WRITE3args write = { .count = 1, .stable = FILE_SYNC, .data = world_bytes("x") };
	CREATE3res res = create_exclusively(world, "file", "12345678");
	struct stat st = world_stat(world, "file");
	struct timespec times[2] = { st.st_atim, st.st_mtim };

	assert_int_equal(res.status, NFS3_OK);
	write.file = world_keep(world, res.u.resok.obj.u.handle);
	assert_int_equal(((const WRITE3res *)world_call(world, NFSPROC3_WRITE, &write))->status, NFS3_OK);
	/* A file with content is another file, even if it has the times of the verifier. */
	assert_int_equal(utimensat(world->fd, "file", times, 0), 0);
	assert_int_equal(create_exclusively(world, "file", "12345678").status, NFS3ERR_EXIST);
}

/* RFC 1813, 4.7: "any data associated with the request is now on stable storage" */
static void
what_was_made_is_stored(void **state)
{
	struct world *world = *state;
	unsigned syncs = world_syncs;

	assert_int_equal(create(world, "file", GUARDED, NULL).status, NFS3_OK);
	/* Both the file and its directory are stored. */
	assert_int_equal(world_syncs, syncs + 2);
	world_sync_error = EIO;
	assert_int_equal(create(world, "other", GUARDED, NULL).status, NFS3ERR_IO);
}

static void
create_tells_why_it_cannot(void **state)
{
	struct world *world = *state;
	CREATE3args args = { .how = { .mode = UNCHECKED } };
	char long_name[300];

	memset(long_name, 'n', sizeof long_name);
	long_name[256] = 0;
	assert_int_equal(create(world, long_name, UNCHECKED, NULL).status, NFS3ERR_NAMETOOLONG);
	assert_int_equal(create(world, "", UNCHECKED, NULL).status, NFS3ERR_ACCES);
	assert_int_equal(create(world, "a/b", UNCHECKED, NULL).status, NFS3ERR_ACCES);
	assert_int_equal(create(world, ".", UNCHECKED, NULL).status, NFS3ERR_EXIST);
	assert_int_equal(create(world, "..", UNCHECKED, NULL).status, NFS3ERR_EXIST);
	world_file(world, "file", "hello", 0640);
	args.where = world_where(world_handle(world, "file"), "x");
	assert_int_equal(
		((const CREATE3res *)world_call(world, NFSPROC3_CREATE, &args))->status, NFS3ERR_NOTDIR);
	world_directory(world, "closed", 0500);
	args.where = world_where(world_handle(world, "closed"), "x");
	assert_int_equal(
		((const CREATE3res *)world_call(world, NFSPROC3_CREATE, &args))->status, NFS3ERR_ACCES);
}

static void
nothing_is_left_where_the_attributes_cannot_be_set(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mtime = { SET_TO_CLIENT_TIME, { { 1, 2000000000 } } } };
	CREATE3res res = create(world, "file", GUARDED, &attributes);

	assert_int_equal(res.status, NFS3ERR_INVAL);
	assert_false(world_exists(world, "file"));
	world_agrees(world, &res.u.resfail.dir_wcc.after, "");
}

static void
read_only_creates_nothing(void **state)
{
	struct world *world = *state;
	CREATE3res res;

	world->config.read_only = true;
	world_restart(world);
	res = create(world, "file", UNCHECKED, NULL);
	assert_int_equal(res.status, NFS3ERR_ROFS);
	world_wcc(world, &res.u.resfail.dir_wcc, "", false);
	assert_false(world_exists(world, "file"));
}

/* The client may not set this owner: the file belongs to the caller, and the reply shows that. */
static void
the_owner_is_the_caller(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .uid = { true, { 4242 } }, .mode = { true, { 0400 } } };
	CREATE3res res = create(world, "file", GUARDED, &attributes);

	check_made(world, &res, "file");
	assert_int_equal(world_stat(world, "file").st_uid, world_is_root() ? WORLD_USER : geteuid());
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0400);
}

static void
a_default_acl_is_kept(void **state)
{
	/* Version 2: user::rwx, user:3000:rwx, group::r-x, mask::r-x, other::--- */
	static const uint8_t acl[] = { 2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0xb8, 0x0b, 0,
		0, 4, 0, 5, 0, 255, 255, 255, 255, 16, 0, 5, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255,
		255, 255 };
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0666 } } };

	if (setxattr(world->path, "system.posix_acl_default", acl, sizeof acl, 0) < 0)
		skip();
	assert_int_equal(create(world, "file", GUARDED, &attributes).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
}

static void
a_caller_makes_files_where_it_may(void **state)
{
	struct world *world = *state;

	world_caller(world, WORLD_OTHER);
	assert_int_equal(create(world, "file", UNCHECKED, NULL).status, NFS3ERR_ACCES);
	assert_int_equal(chmod(world->path, 01777), 0);
	assert_int_equal(create(world, "file", UNCHECKED, NULL).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_uid, WORLD_OTHER);
	assert_int_equal(world_stat(world, "file").st_gid, WORLD_OTHER);
	world_caller(world, 0);
	assert_int_equal(create(world, "roots", UNCHECKED, NULL).status, NFS3_OK);
	assert_int_equal(world_stat(world, "roots").st_uid, 65534);
	world->rule = "*(rw,no_root_squash)";
	world_restart(world);
	assert_int_equal(create(world, "really", UNCHECKED, NULL).status, NFS3_OK);
	assert_int_equal(world_stat(world, "really").st_uid, 0);
}

/* A caller may write and search a directory without permission to read it; the new entry is stored
 * nevertheless. */
static void
a_drop_box_takes_files(void **state)
{
	struct world *world = *state;
	unsigned syncs = world_syncs;

	assert_int_equal(chmod(world->path, 0733), 0);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(create(world, "file", UNCHECKED, NULL).status, NFS3_OK);
	assert_int_equal(world_syncs, syncs + 2);
}

static void
a_directory_gives_its_group(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0640 } } };

	assert_int_equal(chown(world->path, WORLD_USER, 555), 0);
	assert_int_equal(chmod(world->path, 02775), 0);
	assert_int_equal(create(world, "file", UNCHECKED, &attributes).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_gid, 555);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(create_makes_a_file_with_its_attributes),
		world_test(create_unchecked_takes_what_is_there),
		world_test(create_guarded_does_not),
		world_test(create_exclusive_may_be_repeated_by_the_same_client),
		world_test(create_exclusive_is_not_repeated_once_the_file_is_in_use),
		world_test(what_was_made_is_stored),
		world_test(create_tells_why_it_cannot),
		world_test(nothing_is_left_where_the_attributes_cannot_be_set),
		world_test(read_only_creates_nothing),
		world_test(the_owner_is_the_caller),
		world_test(a_default_acl_is_kept),
	};
	static const struct CMUnitTest root_tests[] = {
		world_test(a_caller_makes_files_where_it_may),
		world_test(a_drop_box_takes_files),
		world_test(a_directory_gives_its_group),
	};

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
