/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients without a right to an export get nothing by handles of it, however they got the handles. */
#include <string.h>

#include "../../gate.h"
#include "ulb/mount3.h"
#include "world.h"

enum { WORDS = 64 };

/* Arguments of any procedure, all zero except the handles. */
union args {
	nfs_fh3 handle;
	RENAME3args rename;
	LINK3args link;
	uint64_t zero[WORDS];
};

static void
come_from(struct world *world, const char *from)
{
	world->request.source = rr_address_source_of(from);
}

/* Changes the rules while the server runs. */
static void
rule(struct world *world, const char *text)
{
	struct rr_gate gate;

	test_gate_init(&gate, world->vfs, text);
	rr_gate_take(&world->gate, gate.rules);
	rr_gate_end(&gate);
}

static union args
args_with(uint32_t proc, nfs_fh3 first, nfs_fh3 second)
{
	union args args = { .zero = { 0 } };

	args.handle = first;
	if (proc == NFSPROC3_RENAME)
		args.rename.to.dir = second;
	if (proc == NFSPROC3_LINK)
		args.link.link.dir = second;
	return args;
}

/* Checks that the result is NFS3ERR_ACCES, with no attributes behind the status. */
static void
gets_nothing(struct world *world, uint32_t proc, nfs_fh3 first, nfs_fh3 second)
{
	const struct rpcrdma_procedure *procedure = &NFS_V3_program.procedures[proc];
	union args args = args_with(proc, first, second);
	const nfsstat3 *status = world_call(world, proc, &args);
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_item item;
	uint8_t stream[1024];

	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	if (*status != NFS3ERR_ACCES)
		fail_msg("%s: status %d", procedure->name, *status);
	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), &item, 1);
	procedure->put_result(&writer, status);
	assert_false(writer.failed);
	for (size_t i = 4; i < rpcrdma_xdr_length(&writer); i++)
		assert_int_equal(stream[i], 0);
}

static void
no_procedure_works_with_a_handle_that_somebody_else_got(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "text", 0666);

	come_from(world, "198.51.100.1:700");
	rule(world, "192.0.2.0/24(rw)");
	for (uint32_t proc = NFSPROC3_GETATTR; proc <= NFSPROC3_COMMIT; proc++) {
		gets_nothing(world, proc, world->root, world->root);
		gets_nothing(world, proc, file, file);
	}
	world_holds(world, "file", "text");
}

static void
a_handle_that_is_none_is_no_way_in(void **state)
{
	struct world *world = *state;
	const nfs_fh3 forged = { { "no handle of this server at all, I say", 38 } };

	come_from(world, "198.51.100.1:700");
	rule(world, "192.0.2.0/24(rw)");
	for (uint32_t proc = NFSPROC3_GETATTR; proc <= NFSPROC3_COMMIT; proc++)
		gets_nothing(world, proc, forged, forged);
}

/* A call has handles of two exports with different rules. */
static void
both_handles_of_a_call_are_looked_at(void **state)
{
	struct world *world = *state;
	struct rr_rules *rules;
	struct rr_text why;
	nfs_fh3 other;

	world->exports[1] = (struct rr_tree_export){ world->path, "/other" };
	world->config.export_count = 2;
	world_restart(world);
	world->root = world_mount(world, "/export");
	other = world_mount(world, "/other");
	come_from(world, "192.0.2.1:700");
	assert_int_equal(rr_rules_new(&rr_env_system, 2, &rules), 0);
	assert_int_equal(rr_rules_add(rules, 0, "192.0.2.1(rw)", &rr_right_default, &why), 0);
	rr_gate_take(&world->gate, rules);
	rr_rules_release(rules);
	gets_nothing(world, NFSPROC3_RENAME, other, world->root);
	gets_nothing(world, NFSPROC3_RENAME, world->root, other);
	gets_nothing(world, NFSPROC3_LINK, other, world->root);
	gets_nothing(world, NFSPROC3_LINK, world->root, other);
}

static mountstat3
mount_status(struct world *world, const char *text)
{
	dirpath path = world_bytes(text);

	return ((const mountres3 *)world_mount_call(world, MOUNTPROC3_MNT, &path))->fhs_status;
}

/* RFC 1813, 5.2.1: "MNT3ERR_ACCES Permission denied" */
static void
mnt_denies_what_is_there_and_what_is_not_alike(void **state)
{
	struct world *world = *state;

	world_directory(world, "d", 0755);
	come_from(world, "198.51.100.1:700");
	rule(world, "192.0.2.0/24(rw)");
	assert_int_equal(mount_status(world, "/export"), MNT3ERR_ACCES);
	assert_int_equal(mount_status(world, "/export/d"), MNT3ERR_ACCES);
	assert_int_equal(mount_status(world, "/export/nothing"), MNT3ERR_ACCES);
	assert_int_equal(mount_status(world, "/nothing"), MNT3ERR_ACCES);
	come_from(world, "192.0.2.1:700");
	assert_int_equal(mount_status(world, "/export/d"), MNT3_OK);
	assert_int_equal(mount_status(world, "/nothing"), MNT3ERR_NOENT);
}

static void
export_lists_what_the_caller_may_use_and_by_which_rule(void **state)
{
	struct world *world = *state;
	const exports *list;

	come_from(world, "198.51.100.1:700");
	rule(world, "192.0.2.0/24(rw)");
	list = world_mount_call(world, MOUNTPROC3_EXPORT, NULL);
	assert_null(*list);
	come_from(world, "192.0.2.1:700");
	list = world_mount_call(world, MOUNTPROC3_EXPORT, NULL);
	assert_non_null(*list);
	assert_int_equal((*list)->ex_groups->gr_name.length, 12);
	assert_memory_equal((*list)->ex_groups->gr_name.data, "192.0.2.0/24", 12);
}

/* RFC 1813, 5.2.1: "a vector of RPC authentication flavors that are supported with the client's use of the
 * file handle" */
static void
mnt_names_the_flavors_and_others_are_refused(void **state)
{
	struct world *world = *state;
	dirpath path = world_bytes("/export");
	GETATTR3args get = { world->root };
	const mountres3 *res;

	rule(world, "*(rw,sec=sys)");
	world_no_one(world);
	res = world_mount_call(world, MOUNTPROC3_MNT, &path);
	assert_int_equal(res->fhs_status, MNT3_OK);
	assert_int_equal(res->u.mountinfo.auth_flavors.count, 1);
	assert_int_equal(res->u.mountinfo.auth_flavors.values[0], RR_AUTH_SYS);
	world_call(world, NFSPROC3_GETATTR, &get);
	assert_int_equal(world->handled, RPCRDMA_HANDLE_TOO_WEAK);
	world_caller(world, WORLD_USER);
	assert_int_equal(((const GETATTR3res *)world_call(world, NFSPROC3_GETATTR, &get))->status, NFS3_OK);
}

static void
who_may_only_read_changes_nothing(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "text", 0666);
	WRITE3args write = { .file = file, .count = 1, .data = { "x", 1 } };
	REMOVE3args remove = { world_where(world->root, "file") };
	READ3args read = { .file = file, .count = 4 };

	rule(world, "*(ro)");
	come_from(world, "198.51.100.1:700");
	assert_int_equal(
		((const WRITE3res *)world_call(world, NFSPROC3_WRITE, &write))->status, NFS3ERR_ROFS);
	assert_int_equal(
		((const REMOVE3res *)world_call(world, NFSPROC3_REMOVE, &remove))->status, NFS3ERR_ROFS);
	assert_int_equal(((const READ3res *)world_call(world, NFSPROC3_READ, &read))->status, NFS3_OK);
	world_holds(world, "file", "text");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(no_procedure_works_with_a_handle_that_somebody_else_got),
		world_test(a_handle_that_is_none_is_no_way_in),
		world_test(both_handles_of_a_call_are_looked_at),
		world_test(mnt_denies_what_is_there_and_what_is_not_alike),
		world_test(export_lists_what_the_caller_may_use_and_by_which_rule),
		world_test(mnt_names_the_flavors_and_others_are_refused),
		world_test(who_may_only_read_changes_nothing),
	};

	return world_run(tests, sizeof tests / sizeof tests[0], NULL, 0);
}
