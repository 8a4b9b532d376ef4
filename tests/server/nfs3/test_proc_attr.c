/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world.h"

static GETATTR3res
getattr(struct world *world, nfs_fh3 object)
{
	GETATTR3args args = { object };

	return *(const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &args);
}

static void
getattr_tells_what_stat_tells(void **state)
{
	struct world *world = *state;
	post_op_attr attributes = { .attributes_follow = true };
	GETATTR3res res;

	world_file(world, "file", "hello", 0640);
	res = getattr(world, world_handle(world, "file"));
	assert_int_equal(res.status, NFS3_OK);
	attributes.u.attributes = res.u.resok.obj_attributes;
	world_agrees(world, &attributes, "file");
	assert_int_equal(res.u.resok.obj_attributes.type, NF3REG);
}

static void
getattr_tells_every_type(void **state)
{
	struct world *world = *state;

	world_directory(world, "d", 0755);
	assert_int_equal(mkfifoat(world->fd, "p", 0600), 0);
	assert_int_equal(mknodat(world->fd, "s", S_IFSOCK | 0600, 0), 0);
	assert_int_equal(symlinkat("nowhere", world->fd, "l"), 0);
	assert_int_equal(getattr(world, world_handle(world, "d")).u.resok.obj_attributes.type, NF3DIR);
	assert_int_equal(getattr(world, world_handle(world, "p")).u.resok.obj_attributes.type, NF3FIFO);
	assert_int_equal(getattr(world, world_handle(world, "s")).u.resok.obj_attributes.type, NF3SOCK);
	assert_int_equal(getattr(world, world_handle(world, "l")).u.resok.obj_attributes.type, NF3LNK);
	assert_int_equal(getattr(world, world_handle(world, "l")).u.resok.obj_attributes.size, 7);
}

static void
a_handle_of_what_is_gone_is_stale(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "", 0644);

	assert_int_equal(unlinkat(world->fd, "file", 0), 0);
	assert_int_equal(getattr(world, file).status, NFS3ERR_STALE);
}

static void
a_forged_handle_is_bad(void **state)
{
	struct world *world = *state;
	uint8_t data[NFS3_FHSIZE];
	nfs_fh3 forged = { { data, world->root.data.length } };

	memcpy(data, world->root.data.data, forged.data.length);
	data[0] ^= 1;
	assert_int_equal(getattr(world, forged).status, NFS3ERR_BADHANDLE);
	forged.data.length = 0;
	assert_int_equal(getattr(world, forged).status, NFS3ERR_BADHANDLE);
}

static SETATTR3res
setattr(struct world *world, nfs_fh3 object, const sattr3 *attributes)
{
	SETATTR3args args = { object, *attributes, { 0 } };

	return *(const SETATTR3res *)world_call(world, NFSPROC3_SETATTR, &args);
}

static void
setattr_sets_the_mode(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0604 } } };
	SETATTR3res res;

	world_file(world, "file", "hello", 0640);
	res = setattr(world, world_handle(world, "file"), &attributes);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0604);
	world_after(world, &res.u.resok.obj_wcc, "file", false);
}

/* RFC 1813, 3.3.2: "Servers must support extending the file size via SETATTR." */
static void
setattr_shortens_and_extends(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .size = { true, { 2 } } };
	SETATTR3res res;
	struct stat st;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);

	res = setattr(world, file, &attributes);
	assert_int_equal(res.status, NFS3_OK);
	world_after(world, &res.u.resok.obj_wcc, "file", true);
	world_holds(world, "file", "he");
	attributes.size.u.size = 100000;
	assert_int_equal(setattr(world, file, &attributes).status, NFS3_OK);
	st = world_stat(world, "file");
	assert_int_equal(st.st_size, 100000);
}

/* RFC 1813, 4.4: "should allow the owner of a file to access it regardless of the permission setting" */
static void
the_owner_truncates_a_file_that_is_read_only(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .size = { true, { 1 } } };

	world_file(world, "file", "hello", 0444);
	assert_int_equal(setattr(world, world_handle(world, "file"), &attributes).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_size, 1);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0444);
}

static void
only_a_file_has_a_size_to_set(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .size = { true, { 0 } } };
	unsigned syncs = world_syncs;
	SETATTR3res res = setattr(world, world->root, &attributes);

	assert_int_equal(res.status, NFS3ERR_INVAL);
	assert_int_equal(world_syncs, syncs);
	world_wcc(world, &res.u.resfail.obj_wcc, "", false);
	world_file(world, "file", "hello", 0640);
	attributes.size.u.size = UINT64_C(1) << 63;
	assert_int_equal(setattr(world, world_handle(world, "file"), &attributes).status, NFS3ERR_FBIG);
	world_holds(world, "file", "hello");
}

static void
setattr_sets_times_given_or_now(void **state)
{
	struct world *world = *state;
	sattr3 attributes = {
		.atime = { SET_TO_CLIENT_TIME, { { 1234567, 891 } } },
		.mtime = { SET_TO_SERVER_TIME, { { 0, 0 } } },
	};
	struct stat st;

	world_file(world, "file", "hello", 0640);
	assert_int_equal(setattr(world, world_handle(world, "file"), &attributes).status, NFS3_OK);
	st = world_stat(world, "file");
	assert_int_equal(st.st_atim.tv_sec, 1234567);
	assert_int_equal(st.st_atim.tv_nsec, 891);
	assert_true(st.st_mtim.tv_sec > WORLD_LONG_AGO);
}

/* A client must not set the nanoseconds that mean "now" for utimensat(2). */
static void
nanoseconds_are_less_than_a_second(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mtime = { SET_TO_CLIENT_TIME, { { 1, UTIME_NOW } } } };

	world_file(world, "file", "hello", 0640);
	assert_int_equal(setattr(world, world_handle(world, "file"), &attributes).status, NFS3ERR_INVAL);
	assert_int_equal(world_stat(world, "file").st_mtim.tv_sec, WORLD_LONG_AGO);
}

static void
a_symbolic_link_is_not_followed(void **state)
{
	struct world *world = *state;
	sattr3 attributes = {
		.mode = { true, { 0600 } },
		.mtime = { SET_TO_CLIENT_TIME, { { 77, 0 } } },
	};
	nfs_fh3 link;

	world_file(world, "file", "hello", 0640);
	assert_int_equal(symlinkat("file", world->fd, "link"), 0);
	if (world_is_root())
		assert_int_equal(fchownat(world->fd, "link", WORLD_USER, WORLD_USER, AT_SYMLINK_NOFOLLOW), 0);
	link = world_handle(world, "link");
	assert_int_equal(setattr(world, link, &attributes).status, NFS3_OK);
	assert_int_equal(world_stat(world, "link").st_mtim.tv_sec, 77);
	assert_int_equal(world_stat(world, "file").st_mtim.tv_sec, WORLD_LONG_AGO);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
}

/* RFC 1813, 3.3.2: "If the values are different, the server must preserve the object attributes and must
 * return a status of NFS3ERR_NOT_SYNC." */
static void
the_guard_is_the_time_of_change(void **state)
{
	struct world *world = *state;
	SETATTR3args args = { .new_attributes = { .mode = { true, { 0600 } } }, .guard = { .check = true } };
	const SETATTR3res *res;
	struct stat st;

	args.object = world_made(world, "file", "hello", 0640);
	st = world_stat(world, "file");
	args.guard.u.obj_ctime = (nfstime3){ (uint32_t)st.st_ctim.tv_sec, (uint32_t)st.st_ctim.tv_nsec ^ 1 };
	res = world_call(world, NFSPROC3_SETATTR, &args);
	assert_int_equal(res->status, NFS3ERR_NOT_SYNC);
	world_after(world, &res->u.resfail.obj_wcc, "file", false);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
	st = world_stat(world, "file");
	args.guard.u.obj_ctime = (nfstime3){ (uint32_t)st.st_ctim.tv_sec, (uint32_t)st.st_ctim.tv_nsec };
	res = world_call(world, NFSPROC3_SETATTR, &args);
	assert_int_equal(res->status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0600);
}

static void
what_setattr_sets_is_stored(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0600 } } };
	nfs_fh3 file = world_made(world, "file", "hello", 0640);
	unsigned syncs;

	syncs = world_syncs;
	assert_int_equal(setattr(world, file, &attributes).status, NFS3_OK);
	assert_true(world_syncs > syncs);
	world_sync_error = EIO;
	assert_int_equal(setattr(world, file, &attributes).status, NFS3ERR_IO);
}

static void
read_only_sets_nothing(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .mode = { true, { 0600 } } };
	SETATTR3res res;

	world_file(world, "file", "hello", 0640);
	world->config.read_only = true;
	world_restart(world);
	res = setattr(world, world_handle(world, "file"), &attributes);
	assert_int_equal(res.status, NFS3ERR_ROFS);
	world_wcc(world, &res.u.resfail.obj_wcc, "file", false);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0640);
}

static uint32_t
allowed(struct world *world, const char *path)
{
	ACCESS3args args = { world_handle(world, path), 0x3f };
	const ACCESS3res *res = world_call(world, NFSPROC3_ACCESS, &args);

	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &res->u.resok.obj_attributes, path);
	return res->u.resok.access;
}

static void
access_tells_what_the_mode_permits(void **state)
{
	struct world *world = *state;

	world_file(world, "file", "", 0640);
	world_file(world, "program", "", 0500);
	world_directory(world, "all", 0700);
	world_directory(world, "search", 0300);
	world_directory(world, "write", 0600);
	assert_int_equal(allowed(world, "file"), ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND);
	assert_int_equal(allowed(world, "program"), ACCESS3_READ | ACCESS3_EXECUTE);
	assert_int_equal(allowed(world, "all"),
		ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE);
	assert_int_equal(
		allowed(world, "search"), ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE);
	assert_int_equal(allowed(world, "write"), ACCESS3_READ);
}

static void
access_tells_only_what_was_asked(void **state)
{
	struct world *world = *state;
	ACCESS3args args = { world->root, ACCESS3_LOOKUP };

	assert_int_equal(((const ACCESS3res *)world_call(world, NFSPROC3_ACCESS, &args))->u.resok.access,
		ACCESS3_LOOKUP);
}

static void
access_tells_that_nothing_can_be_changed(void **state)
{
	struct world *world = *state;

	world->config.read_only = true;
	world_restart(world);
	world_file(world, "file", "", 0777);
	assert_int_equal(allowed(world, "file"), ACCESS3_READ | ACCESS3_EXECUTE);
	assert_int_equal(allowed(world, ""), ACCESS3_READ | ACCESS3_LOOKUP);
}

static void
access_depends_on_who_asks(void **state)
{
	struct world *world = *state;

	world_file(world, "file", "", 0640);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(allowed(world, "file"), 0);
	world->request.caller.group_count = 1;
	world->groups[0] = WORLD_USER;
	assert_int_equal(allowed(world, "file"), ACCESS3_READ);
	world_no_one(world);
	assert_int_equal(allowed(world, "file"), 0);
	assert_int_equal(allowed(world, ""), ACCESS3_READ | ACCESS3_LOOKUP);
}

static void
others_may_not_set(void **state)
{
	struct world *world = *state;
	sattr3 mode = { .mode = { true, { 0777 } } }, owner = { .uid = { true, { WORLD_OTHER } } };
	nfs_fh3 file = world_made(world, "file", "hello", 0644);

	assert_int_equal(setattr(world, file, &owner).status, NFS3ERR_PERM);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(setattr(world, file, &mode).status, NFS3ERR_PERM);
	mode = (sattr3){ .size = { true, { 0 } } };
	assert_int_equal(setattr(world, file, &mode).status, NFS3ERR_ACCES);
	world_holds(world, "file", "hello");
}

static void
root_is_root_only_where_it_is_not_squashed(void **state)
{
	struct world *world = *state;
	sattr3 owner = { .uid = { true, { WORLD_OTHER } }, .gid = { true, { 77 } } };
	nfs_fh3 file = world_made(world, "file", "hello", 0644);

	world_caller(world, 0);
	assert_int_equal(setattr(world, file, &owner).status, NFS3ERR_PERM);
	world->rule = "*(rw,no_root_squash)";
	world_restart(world);
	assert_int_equal(setattr(world, file, &owner).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_uid, WORLD_OTHER);
	assert_int_equal(world_stat(world, "file").st_gid, 77);
	owner.uid.u.uid = UINT32_MAX;
	assert_int_equal(setattr(world, file, &owner).status, NFS3ERR_INVAL);
}

/* Setting the owner clears the set-id bits, so the mode is set after the owner. */
static void
set_id_bits_survive_a_change_of_owner_in_one_call(void **state)
{
	struct world *world = *state;
	sattr3 attributes = { .uid = { true, { WORLD_OTHER } }, .mode = { true, { 04755 } } };

	world_file(world, "file", "hello", 0644);
	world->rule = "*(rw,no_root_squash)";
	world_restart(world);
	world_caller(world, 0);
	assert_int_equal(setattr(world, world_handle(world, "file"), &attributes).status, NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 04755);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(getattr_tells_what_stat_tells),
		world_test(getattr_tells_every_type),
		world_test(a_handle_of_what_is_gone_is_stale),
		world_test(a_forged_handle_is_bad),
		world_test(setattr_sets_the_mode),
		world_test(setattr_shortens_and_extends),
		world_test(the_owner_truncates_a_file_that_is_read_only),
		world_test(only_a_file_has_a_size_to_set),
		world_test(setattr_sets_times_given_or_now),
		world_test(nanoseconds_are_less_than_a_second),
		world_test(a_symbolic_link_is_not_followed),
		world_test(the_guard_is_the_time_of_change),
		world_test(what_setattr_sets_is_stored),
		world_test(read_only_sets_nothing),
		world_test(access_tells_what_the_mode_permits),
		world_test(access_tells_only_what_was_asked),
		world_test(access_tells_that_nothing_can_be_changed),
	};
	static const struct CMUnitTest root_tests[] = {
		world_test(access_depends_on_who_asks),
		world_test(others_may_not_set),
		world_test(root_is_root_only_where_it_is_not_squashed),
		world_test(set_id_bits_survive_a_change_of_owner_in_one_call),
	};

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
