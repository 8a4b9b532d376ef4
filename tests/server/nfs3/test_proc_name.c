/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

static LOOKUP3res
lookup(struct world *world, nfs_fh3 directory, const char *name)
{
	LOOKUP3args args = { world_where(directory, name) };

	return *(const LOOKUP3res *)world_call(world, NFSPROC3_LOOKUP, &args);
}

static void
lookup_finds_a_name(void **state)
{
	struct world *world = *state;
	LOOKUP3res res;

	world_file(world, "file", "hello", 0640);
	res = lookup(world, world->root, "file");
	assert_int_equal(res.status, NFS3_OK);
	assert_in_range(res.u.resok.object.data.length, 1, NFS3_FHSIZE);
	world_agrees(world, &res.u.resok.obj_attributes, "file");
	world_agrees(world, &res.u.resok.dir_attributes, "");
}

static void
lookup_tells_why_there_is_none(void **state)
{
	struct world *world = *state;
	LOOKUP3res res = lookup(world, world->root, "nothing");
	char name[300];

	assert_int_equal(res.status, NFS3ERR_NOENT);
	world_agrees(world, &res.u.resfail.dir_attributes, "");
	memset(name, 'n', sizeof name);
	name[256] = 0;
	assert_int_equal(lookup(world, world->root, name).status, NFS3ERR_NAMETOOLONG);
	name[255] = 0;
	assert_int_equal(lookup(world, world->root, name).status, NFS3ERR_NOENT);
	world_file(world, "file", "hello", 0640);
	res = lookup(world, world_handle(world, "file"), "x");
	assert_int_equal(res.status, NFS3ERR_NOTDIR);
	world_agrees(world, &res.u.resfail.dir_attributes, "file");
}

/* RFC 1813, 3.2: "The server should return the error, NFS3ERR_ACCES, if it receives such a filename." */
static void
names_that_no_file_can_have(void **state)
{
	struct world *world = *state;
	LOOKUP3args args = { { world->root, { "a\0b", 3 } } };

	assert_int_equal(lookup(world, world->root, "").status, NFS3ERR_ACCES);
	assert_int_equal(lookup(world, world->root, "a/b").status, NFS3ERR_ACCES);
	assert_int_equal(lookup(world, world->root, "../etc").status, NFS3ERR_ACCES);
	assert_int_equal(
		((const LOOKUP3res *)world_call(world, NFSPROC3_LOOKUP, &args))->status, NFS3ERR_ACCES);
}

static void
dots_lead_nowhere_outside(void **state)
{
	struct world *world = *state;
	LOOKUP3res res;

	world_directory(world, "d", 0755);
	res = lookup(world, world_handle(world, "d"), ".");
	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "d");
	res = lookup(world, world_handle(world, "d"), "..");
	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "");
	res = lookup(world, world->root, "..");
	assert_int_equal(res.status, NFS3_OK);
	world_agrees(world, &res.u.resok.obj_attributes, "");
}

static void
a_symbolic_link_is_found_itself(void **state)
{
	struct world *world = *state;
	LOOKUP3res res;

	assert_int_equal(symlinkat("/etc", world->fd, "link"), 0);
	res = lookup(world, world->root, "link");
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.obj_attributes.u.attributes.type, NF3LNK);
	assert_int_equal(lookup(world, world_handle(world, "link"), "passwd").status, NFS3ERR_NOTDIR);
}

static void
lookup_takes_permission_to_search(void **state)
{
	struct world *world = *state;
	nfs_fh3 directory;

	world_directory(world, "d", 0600);
	directory = world_handle(world, "d");
	assert_int_equal(lookup(world, directory, "x").status, NFS3ERR_ACCES);
}

static READLINK3res
readlink_of(struct world *world, nfs_fh3 object)
{
	READLINK3args args = { object };

	return *(const READLINK3res *)world_call(world, NFSPROC3_READLINK, &args);
}

static void
readlink_returns_the_text(void **state)
{
	struct world *world = *state;
	READLINK3res res;

	assert_int_equal(symlinkat("any thing/../\xff", world->fd, "link"), 0);
	res = readlink_of(world, world_handle(world, "link"));
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.data.length, 14);
	assert_memory_equal(res.u.resok.data.data, "any thing/../\xff", 14);
	world_agrees(world, &res.u.resok.symlink_attributes, "link");
}

static void
readlink_returns_the_longest_text(void **state)
{
	struct world *world = *state;
	char target[PATH_MAX];
	READLINK3res res;

	memset(target, 'a', sizeof target);
	target[sizeof target - 1] = 0;
	assert_int_equal(symlinkat(target, world->fd, "link"), 0);
	res = readlink_of(world, world_handle(world, "link"));
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.data.length, PATH_MAX - 1);
}

/* RFC 1813, 3.3.5: "should return the error, NFS3ERR_INVAL, if the object is not of type, NF3LNK" */
static void
only_a_symbolic_link_is_read(void **state)
{
	struct world *world = *state;
	READLINK3res res = readlink_of(world, world->root);

	assert_int_equal(res.status, NFS3ERR_INVAL);
	world_agrees(world, &res.u.resfail.symlink_attributes, "");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(lookup_finds_a_name),
		world_test(lookup_tells_why_there_is_none),
		world_test(names_that_no_file_can_have),
		world_test(dots_lead_nowhere_outside),
		world_test(a_symbolic_link_is_found_itself),
		world_test(lookup_takes_permission_to_search),
		world_test(readlink_returns_the_text),
		world_test(readlink_returns_the_longest_text),
		world_test(only_a_symbolic_link_is_read),
	};

	return world_run(tests, sizeof tests / sizeof *tests, NULL, 0);
}
