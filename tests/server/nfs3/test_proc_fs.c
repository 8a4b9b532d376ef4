/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "world.h"

static void
fsstat_tells_how_much_space_there_is(void **state)
{
	struct world *world = *state;
	FSSTAT3args args = { world->root };
	const FSSTAT3res *res = world_call(world, NFSPROC3_FSSTAT, &args);
	const FSSTAT3resok *ok = &res->u.resok;
	struct statvfs fs;

	assert_int_equal(statvfs(world->path, &fs), 0);
	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &ok->obj_attributes, "");
	assert_int_equal(ok->tbytes, (uint64_t)fs.f_blocks * fs.f_frsize);
	assert_int_equal(ok->tfiles, fs.f_files);
	assert_true(ok->abytes <= ok->fbytes && ok->fbytes <= ok->tbytes);
	assert_true(ok->afiles <= ok->ffiles && ok->ffiles <= ok->tfiles);
	assert_int_equal(ok->invarsec, 0);
}

static void
fsinfo_tells_what_the_server_can(void **state)
{
	struct world *world = *state;
	FSINFO3args args = { world->root };
	const FSINFO3res *res = world_call(world, NFSPROC3_FSINFO, &args);
	const FSINFO3resok *ok = &res->u.resok;

	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &ok->obj_attributes, "");
	assert_int_equal(ok->rtmax, 1 << 20);
	assert_int_equal(ok->rtpref, 1 << 20);
	assert_int_equal(ok->wtmax, 1 << 20);
	assert_int_equal(ok->wtpref, 1 << 20);
	assert_int_equal(ok->dtpref, 1 << 20);
	assert_int_equal(ok->time_delta.seconds, 0);
	assert_int_equal(ok->time_delta.nseconds, 1);
	assert_int_equal(ok->properties, FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME);
}

/* RFC 1813, 3.3.19: "maxfilesize: The maximum size of a file on the file system." */
static void
fsinfo_tells_how_large_a_file_can_be(void **state)
{
	struct world *world = *state;
	FSINFO3args args = { world_made(world, "file", "", 0644) };
	uint64_t limit = ((const FSINFO3res *)world_call(world, NFSPROC3_FSINFO, &args))->u.resok.maxfilesize;
	char path[128];

	snprintf(path, sizeof path, "%s/file", world->path);
	assert_int_equal(truncate(path, (off_t)limit), 0);
	if (limit < INT64_MAX)
		assert_int_equal(truncate(path, (off_t)limit + 1), -1);
	args.fsroot = world->root;
	assert_int_equal(
		((const FSINFO3res *)world_call(world, NFSPROC3_FSINFO, &args))->u.resok.maxfilesize, limit);
}

static void
pathconf_tells_the_limits_of_names(void **state)
{
	struct world *world = *state;
	PATHCONF3args args = { world->root };
	const PATHCONF3res *res = world_call(world, NFSPROC3_PATHCONF, &args);
	const PATHCONF3resok *ok = &res->u.resok;

	assert_int_equal(res->status, NFS3_OK);
	world_agrees(world, &ok->obj_attributes, "");
	assert_int_equal(ok->name_max, 255);
	assert_true(ok->linkmax > 1);
	assert_true(ok->no_trunc);
	assert_true(ok->chown_restricted);
	assert_false(ok->case_insensitive);
	assert_true(ok->case_preserving);
}

static void
all_three_refuse_a_bad_handle(void **state)
{
	struct world *world = *state;
	nfs_fh3 bad = { world_bytes("no handle of this server") };

	assert_int_equal(
		((const FSSTAT3res *)world_call(world, NFSPROC3_FSSTAT, &bad))->status, NFS3ERR_BADHANDLE);
	assert_int_equal(
		((const FSINFO3res *)world_call(world, NFSPROC3_FSINFO, &bad))->status, NFS3ERR_BADHANDLE);
	assert_int_equal(((const PATHCONF3res *)world_call(world, NFSPROC3_PATHCONF, &bad))->status,
		NFS3ERR_BADHANDLE);
}

/* Each procedure checks its handle, and returns what a failed call must return. */
static void
every_procedure_refuses_a_bad_handle(void **state)
{
	struct world *world = *state;
	union {
		max_align_t align;
		uint8_t zero[1024];
	} args = { .zero = { 0 } };

	for (uint32_t proc = NFSPROC3_GETATTR; proc <= NFSPROC3_COMMIT; proc++) {
		const nfsstat3 *status = world_call(world, proc, &args);

		assert_int_equal(world->handled, RPCRDMA_HANDLED);
		assert_int_equal(*status, NFS3ERR_BADHANDLE);
	}
}

static void
null_does_nothing(void **state)
{
	struct world *world = *state;

	world_call(world, NFSPROC3_NULL, NULL);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	assert_int_equal(world->size, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(fsstat_tells_how_much_space_there_is),
		world_test(fsinfo_tells_what_the_server_can),
		world_test(fsinfo_tells_how_large_a_file_can_be),
		world_test(pathconf_tells_the_limits_of_names),
		world_test(all_three_refuse_a_bad_handle),
		world_test(every_procedure_refuses_a_bad_handle),
		world_test(null_does_nothing),
	};

	return world_run(tests, sizeof tests / sizeof *tests, NULL, 0);
}
