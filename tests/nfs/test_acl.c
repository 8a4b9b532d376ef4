/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists by the public functions, at a server of this project, by each version. */
#include "../vfs/behind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "nfs/client.h"

enum { UO = RPCRDMA_NFS_ACL_USER_OBJ, U = RPCRDMA_NFS_ACL_USER, GO = RPCRDMA_NFS_ACL_GROUP_OBJ };
enum { G = RPCRDMA_NFS_ACL_GROUP, M = RPCRDMA_NFS_ACL_MASK, O = RPCRDMA_NFS_ACL_OTHER };

struct world {
	struct behind *behind;
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_object file, directory;
	struct rpcrdma_nfs_acl_entry entries[2][RPCRDMA_NFS_ACL_MAX];
	struct rpcrdma_nfs_acl access, inherited; /* with the entries: what was read */
};

static struct world *world;

static void
make(const char *name, bool is_directory, struct rpcrdma_nfs_object *object)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", world->behind->path, name);
	if (is_directory)
		assert_int_equal(mkdir(path, 0750), 0);
	else
		close(open(path, O_CREAT | O_WRONLY, 0640));
	assert_int_equal(chmod(path, is_directory ? 0750 : 0640), 0);
	object->size = sizeof(*object);
	assert_int_equal(rr_nfs_walk_below(world->nfs, name, true, object), 0);
}

static int
setup(void **state)
{
	enum rr_nfs_version version = *(const enum rr_nfs_version *)*state;
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO },
		.server = "localhost",
		.path = "/export",
		.version = version,
	};
	struct rr_text text;

	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	world->behind = behind_new(version, 0);
	config.rpc.address_size = sizeof(world->behind->address);
	memcpy(&config.rpc.address, &world->behind->address, sizeof(world->behind->address));
	if (rr_nfs_open(world->behind->stage.engine, &config, &world->nfs, &text) != 0)
		fail_msg("%s", text.text);
	make("file", false, &world->file);
	make("directory", true, &world->directory);
	world->access = (struct rpcrdma_nfs_acl){ world->entries[0], RPCRDMA_NFS_ACL_MAX, 0 };
	world->inherited = (struct rpcrdma_nfs_acl){ world->entries[1], RPCRDMA_NFS_ACL_MAX, 0 };
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(world->nfs);
	behind_free(world->behind);
	free(world);
	return 0;
}

static void
read_lists(const struct rpcrdma_nfs_object *object)
{
	assert_int_equal(rpcrdma_nfs_get_acl(
				 world->nfs, &object->handle, &world->access, &world->inherited, NULL, NULL),
		0);
}

static int
set(const struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_acl *access,
	const struct rpcrdma_nfs_acl *inherited)
{
	return rpcrdma_nfs_set_acl(world->nfs, &object->handle, access, inherited, NULL);
}

static void
check(const struct rpcrdma_nfs_acl *acl, const struct rpcrdma_nfs_acl *expected)
{
	assert_int_equal(acl->count, expected->count);
	assert_memory_equal(acl->entries, expected->entries, acl->count * sizeof(*acl->entries));
}

static struct rpcrdma_nfs_acl_entry some[] = { { UO, 6, 0 }, { U, 6, 1234 }, { GO, 4, 0 }, { G, 5, 77 },
	{ M, 7, 0 }, { O, 0, 0 } };
static const struct rpcrdma_nfs_acl list = { some, 6, 6 };
static struct rpcrdma_nfs_acl_entry mode_entries[] = { { UO, 7, 0 }, { GO, 5, 0 }, { O, 0, 0 } };
static const struct rpcrdma_nfs_acl mode = { mode_entries, 3, 3 };

static void
lists_are_read_as_they_were_set(void **state)
{
	const struct rpcrdma_nfs_acl none = { NULL, 0, 0 };

	(void)state;
	read_lists(&world->directory);
	check(&world->access, &mode);
	assert_int_equal(world->inherited.count, 0);
	assert_int_equal(set(&world->file, &list, NULL), 0);
	read_lists(&world->file);
	check(&world->access, &list);
	assert_int_equal(world->inherited.count, 0);
	/* Each of a directory's lists without the other one. */
	assert_int_equal(set(&world->directory, NULL, &list), 0);
	read_lists(&world->directory);
	check(&world->access, &mode);
	check(&world->inherited, &list);
	assert_int_equal(set(&world->directory, &list, NULL), 0);
	read_lists(&world->directory);
	check(&world->access, &list);
	check(&world->inherited, &list);
	assert_int_equal(set(&world->directory, &mode, &none), 0);
	read_lists(&world->directory);
	check(&world->access, &mode);
	assert_int_equal(world->inherited.count, 0);
}

static void
a_list_that_is_none_is_not_set(void **state)
{
	struct rpcrdma_nfs_acl_entry bad[] = { { UO, 6, 0 }, { GO, 4, 0 }, { O, 8, 0 } };
	struct rpcrdma_nfs_acl acl = { bad, 3, 3 };

	(void)state;
	assert_int_equal(set(&world->file, &acl, NULL), -RPCRDMA_ERR_INVAL);
	bad[2] = (struct rpcrdma_nfs_acl_entry){ U, 4, 5 };
	assert_int_equal(set(&world->file, &acl, NULL), -RPCRDMA_ERR_INVAL);
	acl.count = 0;
	assert_int_equal(set(&world->file, &acl, NULL), -RPCRDMA_ERR_INVAL);
	assert_true(set(&world->file, NULL, &list) != 0); /* it is no directory */
	read_lists(&world->file);
	assert_int_equal(world->access.count, 3);
}

static void
what_has_no_room_is_not_cut(void **state)
{
	struct rpcrdma_nfs_acl small = { world->entries[0], 2, 0 };

	(void)state;
	assert_int_equal(rpcrdma_nfs_get_acl(world->nfs, &world->file.handle, &small, NULL, NULL, NULL),
		-RPCRDMA_ERR_LIMIT);
	assert_int_equal(rpcrdma_nfs_get_acl(world->nfs, &world->file.handle,
				 &(struct rpcrdma_nfs_acl){ NULL, 3, 0 }, NULL, NULL, NULL),
		-RPCRDMA_ERR_INVAL);
}

static void
note(void *ctx, int error)
{
	*(int *)ctx = error;
}

static void
an_operation_may_go_on_meanwhile(void **state)
{
	int outcome = 1;
	const struct rpcrdma_nfs_then then = { .done = note, .ctx = &outcome };

	(void)state;
	assert_int_equal(rpcrdma_nfs_set_acl(world->nfs, &world->file.handle, &list, NULL, &then), 0);
	turn_until(outcome != 1, rr_loop_turn(world->behind->stage.engine->loop, RR_SECOND));
	assert_int_equal(outcome, 0);
	/* One that is cancelled calls nobody. */
	outcome = 1;
	assert_int_equal(
		rpcrdma_nfs_get_acl(world->nfs, &world->file.handle, &world->access, NULL, NULL, &then), 0);
	rpcrdma_nfs_cancel(world->nfs, &then);
	read_lists(&world->file);
	check(&world->access, &list);
	assert_int_equal(outcome, 1);
}

int
main(void)
{
	static const enum rr_nfs_version versions[] = { RR_NFS_VERSION_3, RR_NFS_VERSION_41,
		RR_NFS_VERSION_42 };
	int failed = 0;

	if (getxattr("/dev/shm", "system.posix_acl_access", NULL, 0) < 0 && errno == ENOTSUP)
		return 77;
	for (size_t i = 0; i < 3; i++) {
		void *version;
		struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(lists_are_read_as_they_were_set, setup, teardown),
			cmocka_unit_test_setup_teardown(a_list_that_is_none_is_not_set, setup, teardown),
			cmocka_unit_test_setup_teardown(what_has_no_room_is_not_cut, setup, teardown),
			cmocka_unit_test_setup_teardown(an_operation_may_go_on_meanwhile, setup, teardown),
		};

		memcpy(&version, &(const void *){ &versions[i] }, sizeof(version));
		for (size_t j = 0; j < sizeof(tests) / sizeof(tests[0]); j++)
			tests[j].initial_state = version;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
