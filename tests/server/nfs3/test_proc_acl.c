/* SPDX-License-Identifier: BSD-3-Clause */
/* NFSACL: access lists beside NFS version 3. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../gate.h"
#include "world.h"

enum { UO = 1, U = 2, GO = 4, G = 8, M = 16, O = 32, DEFAULT = 0x1000 };
enum { ALL = NA_ACL | NA_ACLCNT | NA_DFACL | NA_DFACLCNT };

static const GETACL3res *
getacl(struct world *world, const char *path, uint32_t mask)
{
	GETACL3args args = { world_handle(world, path), mask };

	return world_acl_call(world, ACLPROC3_GETACL, &args);
}

static nfsstat3
setacl(struct world *world, const char *path, uint32_t mask, aclent *entries, uint32_t count,
	aclent *defaults, uint32_t default_count)
{
	SETACL3args args = { world_handle(world, path),
		{ mask, (int32_t)count, { count, entries }, (int32_t)default_count,
			{ default_count, defaults } } };
	const SETACL3res *res = world_acl_call(world, ACLPROC3_SETACL, &args);

	/* The attributes follow, with the mode that the list has made. */
	if (res->status == NFS3_OK)
		world_agrees(world, &res->u.resok.attr, path);
	return res->status;
}

static void
check_entry(const aclent *entry, int32_t type, uint32_t id, uint32_t perm)
{
	assert_int_equal(entry->type, type);
	assert_int_equal(entry->id, id);
	assert_int_equal(entry->perm, perm);
}

/* An object without a list has one by its mode, of four entries: the mask is said, too. */
static void
an_object_without_a_list_has_one_by_its_mode(void **state)
{
	struct world *world = *state;
	uint32_t owner = world_is_root() ? WORLD_USER : geteuid(),
		 group = world_is_root() ? WORLD_USER : getegid();
	const GETACL3res *res;

	world_file(world, "file", "", 0640);
	res = getacl(world, "file", NA_ACL | NA_ACLCNT);
	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &res->u.resok.attr, "file");
	assert_int_equal(res->u.resok.acl.mask, NA_ACL | NA_ACLCNT);
	assert_int_equal(res->u.resok.acl.aclcnt, 4);
	assert_int_equal(res->u.resok.acl.aclent_list.count, 4);
	check_entry(&res->u.resok.acl.aclent_list.values[0], UO, owner, 6);
	check_entry(&res->u.resok.acl.aclent_list.values[1], GO, group, 4);
	check_entry(&res->u.resok.acl.aclent_list.values[2], M, 0, 4);
	check_entry(&res->u.resok.acl.aclent_list.values[3], O, 0, 0);
	assert_int_equal(res->u.resok.acl.dfaclcnt, 0);
	res = getacl(world, "file", ALL);
	assert_int_equal(res->u.resok.acl.dfaclcnt, 0);
	res = getacl(world, "file", NA_ACLCNT);
	assert_int_equal(res->u.resok.acl.aclcnt, 4);
	assert_int_equal(res->u.resok.acl.aclent_list.count, 0);
	assert_int_equal(getacl(world, "file", 0x10)->status, NFS3ERR_INVAL);
	assert_int_equal(symlinkat("file", world->fd, "link"), 0);
	assert_int_equal(getacl(world, "link", ALL)->status, NFS3_OK);
}

/* The kernel of this machine has what the client has set. */
static void
a_list_is_set_and_read(void **state)
{
	aclent list[] = { { O, 7, 0 }, { UO, 7, 6 }, { M, 7, 0xff06 }, { U, 1234, 6 }, { GO, 7, 4 },
		{ G, 77, 4 } };
	struct world *world = *state;
	char path[STAGE_PATH + 8];
	const GETACL3res *res;

	world_file(world, "file", "", 0600);
	assert_int_equal(setacl(world, "file", NA_ACL | NA_ACLCNT, list, 6, NULL, 0), NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 0777, 0660);
	snprintf(path, sizeof(path), "%s/file", world->path);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), 4 + 6 * 8);
	res = getacl(world, "file", NA_ACL | NA_ACLCNT);
	assert_int_equal(res->u.resok.acl.aclent_list.count, 6);
	check_entry(&res->u.resok.acl.aclent_list.values[1], U, 1234, 6);
	check_entry(&res->u.resok.acl.aclent_list.values[3], G, 77, 4);
	check_entry(&res->u.resok.acl.aclent_list.values[4], M, 0, 6);
}

/* Four entries whose mask says what the group says have no mask at their sender. */
static void
a_mask_like_the_group_is_none(void **state)
{
	aclent list[] = { { UO, 0, 6 }, { GO, 0, 4 }, { M, 0, 4 }, { O, 0, 4 } };
	struct world *world = *state;
	char path[STAGE_PATH + 8];

	world_file(world, "file", "", 0600);
	assert_int_equal(setacl(world, "file", NA_ACL, list, 4, NULL, 0), NFS3_OK);
	assert_int_equal(world_stat(world, "file").st_mode & 0777, 0644);
	snprintf(path, sizeof(path), "%s/file", world->path);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), -1);
	assert_int_equal(errno, ENODATA);
	list[2].perm = 0;
	assert_int_equal(setacl(world, "file", NA_ACL, list, 4, NULL, 0), NFS3_OK);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), 4 + 4 * 8);
}

/* A default list is inherited by what is made in the directory; an empty one removes it. */
static void
a_default_list_is_inherited(void **state)
{
	aclent access[] = { { UO, 0, 7 }, { GO, 0, 5 }, { O, 0, 5 } };
	aclent list[] = { { UO | DEFAULT, 0, 7 }, { U | DEFAULT, 4321, 7 }, { GO | DEFAULT, 0, 5 },
		{ M | DEFAULT, 0, 7 }, { O | DEFAULT, 0, 0 } };
	struct world *world = *state;
	MKDIR3args mkdir = { { { { 0 } }, world_bytes("inner") }, { .mode = { true, { 0777 } } } };
	const GETACL3res *res;

	world_directory(world, "d", 0700);
	assert_int_equal(setacl(world, "d", ALL, access, 3, list, 5), NFS3_OK);
	assert_int_equal(world_stat(world, "d").st_mode & 0777, 0755);
	mkdir.where.dir = world_handle(world, "d");
	assert_int_equal(((const MKDIR3res *)world_call(world, NFSPROC3_MKDIR, &mkdir))->status, NFS3_OK);
	res = getacl(world, "d/inner", ALL);
	assert_int_equal(res->status, NFS3_OK);
	assert_int_equal(res->u.resok.acl.aclcnt, 5);
	check_entry(&res->u.resok.acl.aclent_list.values[1], U, 4321, 7);
	assert_int_equal(res->u.resok.acl.dfaclcnt, 5);
	check_entry(&res->u.resok.acl.dfaclent_list.values[1], U | DEFAULT, 4321, 7);
	/* The list of the directory itself stays when only the other one is removed. */
	assert_int_equal(setacl(world, "d", NA_DFACL, NULL, 0, NULL, 0), NFS3_OK);
	res = getacl(world, "d", ALL);
	assert_int_equal(res->u.resok.acl.dfaclcnt, 0);
	assert_int_equal(res->u.resok.acl.aclcnt, 4);
}

static void
lists_that_make_no_sense_are_refused(void **state)
{
	aclent good[] = { { UO, 0, 6 }, { GO, 0, 4 }, { O, 0, 4 } };
	aclent twice[] = { { UO, 0, 6 }, { UO, 0, 6 }, { GO, 0, 4 }, { O, 0, 4 } };
	aclent no_mask[] = { { UO, 0, 6 }, { U, 1, 6 }, { GO, 0, 4 }, { O, 0, 4 } };
	aclent tag[] = { { UO, 0, 6 }, { GO, 0, 4 }, { O, 0, 4 }, { 0x40, 0, 4 } };
	aclent negative[] = { { UO, 0, 6 }, { GO, 0, 4 }, { O, 0, 4 }, { -1, 0, 4 } };
	aclent rights[] = { { UO, 0, 8 }, { GO, 0, 4 }, { O, 0, 4 } };
	struct world *world = *state;
	SETACL3args lies = { { { 0 } }, { NA_ACL, 4, { 3, good }, 0, { 0, NULL } } };

	world_file(world, "file", "", 0600);
	assert_int_equal(setacl(world, "file", NA_ACL, twice, 4, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", NA_ACL, no_mask, 4, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", NA_ACL, tag, 4, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", NA_ACL, negative, 4, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", NA_ACL, rights, 3, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", NA_ACL, NULL, 0, NULL, 0), NFS3ERR_INVAL);
	assert_int_equal(setacl(world, "file", 0x10, good, 3, NULL, 0), NFS3ERR_INVAL);
	/* Only directories have lists that are inherited. */
	assert_int_equal(setacl(world, "file", ALL, good, 3, good, 3), NFS3ERR_INVAL);
	lies.fh = world_handle(world, "file");
	assert_int_equal(
		((const SETACL3res *)world_acl_call(world, ACLPROC3_SETACL, &lies))->status, NFS3ERR_INVAL);
	lies.acl.aclcnt = -3;
	assert_int_equal(
		((const SETACL3res *)world_acl_call(world, ACLPROC3_SETACL, &lies))->status, NFS3ERR_INVAL);
	assert_int_equal(world_stat(world, "file").st_mode & 0777, 0600);
}

static void
the_longest_list_is_no_more_than_storage_takes(void **state)
{
	static aclent list[NFS_ACL_MAX_ENTRIES];
	struct world *world = *state;

	for (uint32_t i = 0; i < NFS_ACL_MAX_ENTRIES; i++)
		list[i] = (aclent){ U, i, 4 };
	list[0].type = UO;
	list[1].type = GO;
	list[2].type = M;
	list[3].type = O;
	world_file(world, "file", "", 0600);
	/* A file system that has no room for such a list says so, and changes nothing. */
	if (setacl(world, "file", NA_ACL, list, NFS_ACL_MAX_ENTRIES, NULL, 0) != NFS3_OK) {
		assert_int_equal(world_stat(world, "file").st_mode & 0777, 0600);
		return;
	}
	assert_int_equal(getacl(world, "file", NA_ACL)->u.resok.acl.aclent_list.count, NFS_ACL_MAX_ENTRIES);
}

static void
another_user_reads_and_does_not_set(void **state)
{
	aclent list[] = { { UO, 0, 7 }, { GO, 0, 7 }, { O, 0, 7 } };
	struct world *world = *state;

	world_file(world, "file", "", 0640);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(getacl(world, "file", NA_ACL)->status, NFS3_OK);
	assert_int_equal(setacl(world, "file", NA_ACL, list, 3, NULL, 0), NFS3ERR_PERM);
	assert_int_equal(world_stat(world, "file").st_mode & 0777, 0640);
}

/* A right that a list gives is had, and one that its mask takes away is not. */
static void
lists_decide_who_may_read(void **state)
{
	aclent list[] = { { UO, 0, 6 }, { U, WORLD_OTHER, 4 }, { GO, 0, 0 }, { M, 0, 4 }, { O, 0, 0 } };
	struct world *world = *state;
	READ3args read = { .count = 5 };

	world_file(world, "file", "hello", 0600);
	read.file = world_handle(world, "file");
	assert_int_equal(setacl(world, "file", NA_ACL, list, 5, NULL, 0), NFS3_OK);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(((const READ3res *)world_call(world, NFSPROC3_READ, &read))->status, NFS3_OK);
	world_caller(world, WORLD_USER);
	list[3].perm = 2;
	assert_int_equal(setacl(world, "file", NA_ACL, list, 5, NULL, 0), NFS3_OK);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(((const READ3res *)world_call(world, NFSPROC3_READ, &read))->status, NFS3ERR_ACCES);
}

static void
where_all_is_read_only_no_list_is_set(void **state)
{
	aclent list[] = { { UO, 0, 7 }, { GO, 0, 7 }, { O, 0, 7 } };
	struct world *world = *state;

	world_file(world, "file", "", 0640);
	world->config.read_only = true;
	world_restart(world);
	assert_int_equal(setacl(world, "file", NA_ACL, list, 3, NULL, 0), NFS3ERR_ROFS);
	assert_int_equal(getacl(world, "file", ALL)->status, NFS3_OK);
}

/* Callers whose rule has no_acl get no lists, and set none. The lists still count for them. */
static void
where_lists_are_hidden_none_is_read_or_set(void **state)
{
	aclent list[] = { { UO, 0, 6 }, { U, 1234, 6 }, { GO, 0, 0 }, { M, 0, 6 }, { O, 0, 0 } };
	struct world *world = *state;
	const GETACL3res *res;
	struct rr_gate gate;

	world_file(world, "file", "", 0600);
	assert_int_equal(setacl(world, "file", NA_ACL, list, 5, NULL, 0), NFS3_OK);
	test_gate_init(&gate, world->vfs, "*(rw,no_root_squash,insecure,no_acl)");
	rr_gate_take(&world->gate, gate.rules);
	rr_gate_end(&gate);
	res = getacl(world, "file", ALL);
	assert_int_equal(res->status, NFS3ERR_NOTSUPP);
	world_agrees(world, &res->u.resfail.attr, "file");
	list[1].perm = 7;
	assert_int_equal(setacl(world, "file", NA_ACL, list, 5, NULL, 0), NFS3ERR_NOTSUPP);
	assert_int_equal(world_stat(world, "file").st_mode & 0777, 0660);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(an_object_without_a_list_has_one_by_its_mode),
		world_test(a_list_is_set_and_read),
		world_test(a_mask_like_the_group_is_none),
		world_test(a_default_list_is_inherited),
		world_test(lists_that_make_no_sense_are_refused),
		world_test(the_longest_list_is_no_more_than_storage_takes),
		world_test(where_all_is_read_only_no_list_is_set),
		world_test(where_lists_are_hidden_none_is_read_or_set),
	};
	const struct CMUnitTest root_tests[] = {
		world_test(another_user_reads_and_does_not_set),
		world_test(lists_decide_who_may_read),
	};

	return world_run(tests, sizeof(tests) / sizeof(tests[0]), root_tests,
		sizeof(root_tests) / sizeof(root_tests[0]));
}
