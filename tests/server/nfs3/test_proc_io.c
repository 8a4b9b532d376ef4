/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

static READ3res
read_at(struct world *world, nfs_fh3 file, uint64_t offset, uint32_t count)
{
	READ3args args = { file, offset, count };

	return *(const READ3res *)world_call(world, NFSPROC3_READ, &args);
}

static void
check_read(const READ3res *res, const char *text, bool eof)
{
	assert_int_equal(res->status, NFS3_OK);
	assert_int_equal(res->u.resok.count, strlen(text));
	assert_int_equal(res->u.resok.data.length, strlen(text));
	if (*text)
		assert_memory_equal(res->u.resok.data.data, text, strlen(text));
	assert_int_equal(res->u.resok.eof, eof);
}

/* RFC 1813, 3.3.6: "if READ3args.offset plus READ3resok.count is equal to the size of the file, eof is
 * returned as TRUE; otherwise it is FALSE" */
static void
read_returns_what_is_there_and_tells_the_end(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "hello world", 0640);
	READ3res res;

	res = read_at(world, file, 0, 5);
	check_read(&res, "hello", false);
	assert_ptr_equal(res.u.resok.data.data, world->request.payload);
	res = read_at(world, file, 6, 5);
	check_read(&res, "world", true);
	res = read_at(world, file, 6, 4);
	check_read(&res, "worl", false);
	res = read_at(world, file, 6, 5000);
	check_read(&res, "world", true);
	world_agrees(world, &res.u.resok.file_attributes, "file");
}

/* RFC 1813, 3.3.6: "If offset is greater than or equal to the size of the file, the status, NFS3_OK, is
 * returned with count set to 0 and eof set to TRUE"; "If count is 0, the READ will succeed and return 0 bytes
 * of data" */
static void
read_of_nothing_succeeds(void **state)
{
	struct world *world = *state;
	nfs_fh3 file;
	READ3res res;

	world_file(world, "file", "hello", 0640);
	world_file(world, "empty", "", 0640);
	file = world_handle(world, "file");
	res = read_at(world, file, 5, 10);
	check_read(&res, "", true);
	res = read_at(world, file, UINT64_MAX, UINT32_MAX);
	check_read(&res, "", true);
	res = read_at(world, file, 0, 0);
	check_read(&res, "", false);
	res = read_at(world, file, 5, 0);
	check_read(&res, "", true);
	res = read_at(world, world_handle(world, "empty"), 0, 10);
	check_read(&res, "", true);
	assert_null(world->request.payload);
}

/* Makes a file of size octets, all zero, and returns its handle. */
static nfs_fh3
long_file(struct world *world, off_t size)
{
	nfs_fh3 file = world_made(world, "file", "", 0640);
	int fd = openat(world->fd, "file", O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
	return file;
}

/* RFC 1813, 3.3.6: "If greater, the server may return only rtmax bytes, resulting in a short read." */
static void
read_is_bounded(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = long_file(world, 3 << 20);
	READ3res res;

	world->request.item_room = UINT32_MAX;
	res = read_at(world, file, 0, UINT32_MAX);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.count, RR_NFS_IO_MAX);
	assert_false(res.u.resok.eof);
	world->request.item_room = 1000;
	res = read_at(world, file, 0, 4096);
	assert_int_equal(res.u.resok.count, 1000);
	assert_false(res.u.resok.eof);
}

/* Where the client offers no chunk for the data, the data goes into the stream, and fills it. */
static void
read_fits_into_the_reply(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = long_file(world, 4096);
	READ3res res;

	world->request.item_room = 0;
	world->request.stream_room = 1024;
	res = read_at(world, file, 0, 4096);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(24 + world->size + res.u.resok.count, 1024);
	world->request.stream_room = 100;
	assert_int_equal(read_at(world, file, 0, 4096).status, NFS3ERR_SERVERFAULT);
}

static void
only_a_file_is_read(void **state)
{
	struct world *world = *state;
	READ3res res = read_at(world, world->root, 0, 10);

	assert_int_equal(res.status, NFS3ERR_INVAL);
	world_agrees(world, &res.u.resfail.file_attributes, "");
	assert_int_equal(mkfifoat(world->fd, "fifo", 0666), 0);
	assert_int_equal(read_at(world, world_handle(world, "fifo"), 0, 10).status, NFS3ERR_INVAL);
}

static void
read_tells_that_it_failed(void **state)
{
	struct world *world = *state;
	READ3res res;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);

	world_read_error = EIO;
	res = read_at(world, file, 0, 10);
	assert_int_equal(res.status, NFS3ERR_IO);
	world_agrees(world, &res.u.resfail.file_attributes, "file");
	world_read_error = EINTR;
	res = read_at(world, file, 0, 10);
	check_read(&res, "hello", true);
}

static void
read_waits_for_memory(void **state)
{
	struct world *world = *state;
	void *others[4];
	nfs_fh3 file = world_made(world, "file", "hello", 0640);
	READ3res res;

	for (unsigned i = 0; i < 4; i++) {
		others[i] = rr_pool_get(world->pool, NULL, 1 << 20);
		assert_non_null(others[i]);
	}
	read_at(world, file, 0, 10);
	assert_int_equal(world->handled, RPCRDMA_HANDLE_LATER);
	assert_null(world->request.payload);
	for (unsigned i = 0; i < 4; i++)
		rr_pool_put(world->pool, others[i]);
	res = read_at(world, file, 0, 10);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	check_read(&res, "hello", true);
}

static bool
is_not_awaited(void *ctx)
{
	(void)ctx;
	return false;
}

static uint64_t
moved_nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

/* RFC 1813, 3.3.6: "it is possible for the server to return fewer than count bytes of data." Three quarters
 * of the memory are in use, and the READ asks for more than the rest of the memory allows. */
static void
a_read_is_short_where_memory_is(void **state)
{
	static const struct rr_party_ops ops = { .is_awaited = is_not_awaited, .moved = moved_nothing };
	enum { SIZE = 1 << 20, SHORT = 64 << 10 };
	struct world *world = *state;
	struct rr_party *party = rr_party_new(&world->shares, "127.0.0.1:1", &ops, world);
	void *other = rr_pool_get(world->pool, NULL, 2 << 20), *more = rr_pool_get(world->pool, NULL, SIZE),
	     *own;
	char *text = calloc(1, SIZE + 1);
	nfs_fh3 file;
	READ3res res;

	assert_true(text && party && other && more);
	memset(text, 'x', SIZE);
	file = world_made(world, "file", text, 0640);
	world->request.party = party;
	text[SHORT] = 0;
	res = read_at(world, file, 0, SIZE);
	assert_int_equal(world->handled, RPCRDMA_HANDLED);
	check_read(&res, text, false);
	res = read_at(world, file, SIZE - SHORT, SIZE);
	check_read(&res, text, true);
	/* A client that holds memory waits for its turn. */
	own = rr_pool_get(world->pool, party, SHORT);
	assert_non_null(own);
	read_at(world, file, 0, SIZE);
	assert_int_equal(world->handled, RPCRDMA_HANDLE_LATER);
	rr_pool_put(world->pool, own);
	rr_pool_put(world->pool, other);
	rr_pool_put(world->pool, more);
	/* Where there is enough memory, a READ is not short. */
	text[SHORT] = 'x';
	res = read_at(world, file, 0, SIZE);
	check_read(&res, text, true);
	rr_pool_put(world->pool, world->request.payload);
	world->request.payload = NULL;
	world->request.party = NULL;
	rr_party_end(party, world);
	free(text);
}

static WRITE3res
write_at(struct world *world, nfs_fh3 file, uint64_t offset, const char *text, stable_how stable)
{
	WRITE3args args = { file, offset, (uint32_t)strlen(text), stable, world_bytes(text) };

	return *(const WRITE3res *)world_call(world, NFSPROC3_WRITE, &args);
}

static COMMIT3res
commit(struct world *world, nfs_fh3 file)
{
	COMMIT3args args = { file, 0, 0 };

	return *(const COMMIT3res *)world_call(world, NFSPROC3_COMMIT, &args);
}

static void
write_changes_the_file(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "hello world", 0640);
	WRITE3res res;

	res = write_at(world, file, 6, "there", UNSTABLE);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.count, 5);
	assert_int_equal(res.u.resok.committed, UNSTABLE);
	world_after(world, &res.u.resok.file_wcc, "file", true);
	world_holds(world, "file", "hello there");
	res = write_at(world, file, 11, "!!", UNSTABLE);
	assert_int_equal(res.status, NFS3_OK);
	world_holds(world, "file", "hello there!!");
}

/* RFC 1813, 3.3.7: "If stable was FILE_SYNC, then committed must also be FILE_SYNC" */
static void
write_is_as_stable_as_asked(void **state)
{
	struct world *world = *state;
	unsigned syncs;
	nfs_fh3 file = world_made(world, "file", "", 0640);
	WRITE3res res;

	syncs = world_syncs;
	write_at(world, file, 0, "a", UNSTABLE);
	assert_int_equal(world_syncs, syncs);
	res = write_at(world, file, 0, "a", DATA_SYNC);
	assert_int_equal(res.u.resok.committed, DATA_SYNC);
	assert_int_equal(world_syncs, syncs + 1);
	res = write_at(world, file, 0, "a", FILE_SYNC);
	assert_int_equal(res.u.resok.committed, FILE_SYNC);
	assert_int_equal(world_syncs, syncs + 2);
	assert_int_equal(commit(world, file).status, NFS3_OK);
	assert_int_equal(world_syncs, syncs + 3);
}

/* RFC 1813, 3.3.7: "a WRITE request with count set to 0 should not cause the mtime of the file to be updated"
 */
static void
write_of_nothing_changes_nothing(void **state)
{
	struct world *world = *state;
	WRITE3res res;

	world_file(world, "file", "hello", 0640);
	res = write_at(world, world_handle(world, "file"), 100, "", FILE_SYNC);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.count, 0);
	world_after(world, &res.u.resok.file_wcc, "file", false);
	world_holds(world, "file", "hello");
}

static void
write_takes_what_makes_sense(void **state)
{
	struct world *world = *state;
	WRITE3args args = { .count = 6, .stable = UNSTABLE, .data = world_bytes("seven..") };
	const WRITE3res *res;

	args.file = world_made(world, "file", "hello", 0640);
	res = world_call(world, NFSPROC3_WRITE, &args);
	assert_int_equal(res->status, NFS3ERR_INVAL);
	world_after(world, &res->u.resfail.file_wcc, "file", false);
	assert_int_equal(write_at(world, world->root, 0, "x", UNSTABLE).status, NFS3ERR_INVAL);
	assert_int_equal(write_at(world, args.file, UINT64_MAX, "x", UNSTABLE).status, NFS3ERR_FBIG);
	assert_int_equal(write_at(world, args.file, INT64_MAX, "x", UNSTABLE).status, NFS3ERR_FBIG);
	world_holds(world, "file", "hello");
}

/* RFC 1813, 3.3.7: "the server should not return an error unless no data was written at all" */
static void
a_write_that_does_not_fit_is_short_first(void **state)
{
	struct world *world = *state;
	struct rlimit before, limit;
	WRITE3res res;
	nfs_fh3 file = world_made(world, "file", "", 0640);

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	res = write_at(world, file, 0, "hello", FILE_SYNC);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.u.resok.count, 3);
	res = write_at(world, file, 3, "lo", FILE_SYNC);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(res.status, NFS3ERR_FBIG);
	world_holds(world, "file", "hel");
}

static void
write_is_bounded(void **state)
{
	static char data[RR_NFS_IO_MAX + 4096];
	struct world *world = *state;
	WRITE3args args = { .count = sizeof data, .stable = UNSTABLE, .data = { data, sizeof data } };

	args.file = world_made(world, "file", "", 0640);
	assert_int_equal(
		((const WRITE3res *)world_call(world, NFSPROC3_WRITE, &args))->u.resok.count, RR_NFS_IO_MAX);
	assert_int_equal(world_stat(world, "file").st_size, RR_NFS_IO_MAX);
}

/* RFC 1813, 4.4: "should allow the owner of a file to access it regardless of the permission setting" */
static void
the_owner_reads_and_writes_whatever_the_mode(void **state)
{
	struct world *world = *state;
	READ3res res;
	nfs_fh3 file = world_made(world, "file", "hello", 0);

	assert_int_equal(write_at(world, file, 0, "j", FILE_SYNC).status, NFS3_OK);
	res = read_at(world, file, 0, 100);
	check_read(&res, "jello", true);
	assert_int_equal(world_stat(world, "file").st_mode & 07777, 0);
}

static bool
has_user_namespaces(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) < 0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A changed mode, even for a moment, would change the time of change. */
static void
the_mode_is_not_changed_for_the_owner_to_read(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "hello", 0);
	struct stat before = world_stat(world, "file"), after;
	READ3res res;

	if (!has_user_namespaces()) {
		print_message("skipped: this user may have no user namespaces\n");
		skip();
	}
	res = read_at(world, file, 0, 100);
	check_read(&res, "hello", true);
	after = world_stat(world, "file");
	assert_memory_equal(&after.st_ctim, &before.st_ctim, sizeof(after.st_ctim));
}

static void
the_verifier_lasts_until_the_server_ends(void **state)
{
	struct world *world = *state;
	writeverf3 first;
	nfs_fh3 file = world_made(world, "file", "", 0640);
	WRITE3res res;
	COMMIT3res committed;

	res = write_at(world, file, 0, "hello", UNSTABLE);
	memcpy(first, res.u.resok.verf, sizeof first);
	committed = commit(world, file);
	assert_int_equal(committed.status, NFS3_OK);
	assert_memory_equal(committed.u.resok.verf, first, sizeof first);
	assert_false(committed.u.resok.file_wcc.before.attributes_follow);
	world_agrees(world, &committed.u.resok.file_wcc.after, "file");
	world->shared->verifier = 77;
	world_restart(world);
	committed = commit(world, file);
	assert_memory_not_equal(committed.u.resok.verf, first, sizeof first);
}

/* RFC 1813, 3.3.7: "it will not destroy any data without changing the value of verf" */
static void
a_failure_to_store_changes_the_verifier(void **state)
{
	struct world *world = *state;
	uint64_t before = world->shared->verifier;
	COMMIT3res res;
	nfs_fh3 file = world_made(world, "file", "", 0640);

	write_at(world, file, 0, "hello", UNSTABLE);
	world_sync_error = EIO;
	res = commit(world, file);
	assert_int_equal(res.status, NFS3ERR_IO);
	assert_int_not_equal(world->shared->verifier, before);
	before = world->shared->verifier;
	world_sync_error = ENOSPC;
	assert_int_equal(write_at(world, file, 0, "hello", FILE_SYNC).status, NFS3ERR_NOSPC);
	assert_int_not_equal(world->shared->verifier, before);
	assert_int_equal(commit(world, file).status, NFS3_OK);
}

static void
only_a_file_is_committed(void **state)
{
	struct world *world = *state;

	assert_int_equal(commit(world, world->root).status, NFS3ERR_INVAL);
}

static void
read_only_writes_nothing(void **state)
{
	struct world *world = *state;
	WRITE3res res;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);

	world->config.read_only = true;
	world_restart(world);
	res = write_at(world, file, 0, "x", UNSTABLE);
	assert_int_equal(res.status, NFS3ERR_ROFS);
	world_after(world, &res.u.resfail.file_wcc, "file", false);
	assert_int_equal(commit(world, file).status, NFS3_OK);
	world_holds(world, "file", "hello");
}

static void
permission_is_the_callers(void **state)
{
	struct world *world = *state;
	READ3res res;
	nfs_fh3 file = world_made(world, "file", "hello", 0640);

	/* The permission is checked also where a descriptor is open already. */
	assert_int_equal(write_at(world, file, 0, "h", UNSTABLE).status, NFS3_OK);
	world_caller(world, WORLD_OTHER);
	res = read_at(world, file, 0, 10);
	assert_int_equal(res.status, NFS3ERR_ACCES);
	world_agrees(world, &res.u.resfail.file_attributes, "file");
	assert_int_equal(write_at(world, file, 0, "x", UNSTABLE).status, NFS3ERR_ACCES);
	world->request.caller.gid = WORLD_USER;
	res = read_at(world, file, 0, 10);
	check_read(&res, "hello", true);
	assert_int_equal(write_at(world, file, 0, "x", UNSTABLE).status, NFS3ERR_ACCES);
	world_caller(world, 0);
	assert_int_equal(read_at(world, file, 0, 10).status, NFS3ERR_ACCES);
	world_no_one(world);
	assert_int_equal(read_at(world, file, 0, 10).status, NFS3ERR_ACCES);
}

/* RFC 1813, 4.4: "the server allows reading of files if the uid given in the call has either execute or read
 * permission on the file" */
static void
a_program_is_read_to_be_executed(void **state)
{
	struct world *world = *state;
	READ3res res;
	nfs_fh3 file = world_made(world, "program", "hello", 0711);

	world_caller(world, WORLD_OTHER);
	res = read_at(world, file, 0, 10);
	check_read(&res, "hello", true);
	assert_int_equal(write_at(world, file, 0, "x", UNSTABLE).status, NFS3ERR_ACCES);
}

/* RFC 1813, 3.3.21: "COMMIT will always return NFS3_OK, unless there has been an unexpected error": the
 * permission to write may have been taken away since the WRITE. */
static void
commit_takes_no_permission(void **state)
{
	struct world *world = *state;
	nfs_fh3 file = world_made(world, "file", "hello", 0600);

	world_caller(world, WORLD_OTHER);
	assert_int_equal(commit(world, file).status, NFS3_OK);
}

/* A write by another caller clears the bits that would give that caller the rights of the owner. */
static void
set_id_bits_do_not_survive_anothers_write(void **state)
{
	struct world *world = *state;

	world_file(world, "program", "hello", 06777);
	world_caller(world, WORLD_OTHER);
	assert_int_equal(write_at(world, world_handle(world, "program"), 0, "x", UNSTABLE).status, NFS3_OK);
	assert_int_equal(world_stat(world, "program").st_mode & 07777, 0777);
}

static void
a_full_file_system_is_told(void **state)
{
	static char data[RR_NFS_IO_MAX];
	struct world *world = *state;
	WRITE3args args = { .count = sizeof data, .stable = FILE_SYNC, .data = { data, sizeof data } };
	const WRITE3res *res;

	if (mount("tmpfs", world->path, "tmpfs", 0, "size=64k,mode=777") < 0)
		skip();
	close(world->fd);
	world->fd = open(world->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	world_restart(world);
	/* Descriptors that are open keep the mount alive. It ends with them, also where this test fails. */
	assert_int_equal(umount2(world->path, MNT_DETACH), 0);
	world_file(world, "file", "", 0640);
	world->root = world_mount(world, "/export");
	args.file = world_handle(world, "file");
	res = world_call(world, NFSPROC3_WRITE, &args);
	assert_int_equal(res->status, NFS3_OK);
	assert_int_equal(res->u.resok.count, 65536);
	args.offset = 65536;
	res = world_call(world, NFSPROC3_WRITE, &args);
	assert_int_equal(res->status, NFS3ERR_NOSPC);
	world_agrees(world, &res->u.resfail.file_wcc.after, "file");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		world_test(read_returns_what_is_there_and_tells_the_end),
		world_test(read_of_nothing_succeeds),
		world_test(read_is_bounded),
		world_test(read_fits_into_the_reply),
		world_test(only_a_file_is_read),
		world_test(read_tells_that_it_failed),
		world_test(read_waits_for_memory),
		world_test(a_read_is_short_where_memory_is),
		world_test(write_changes_the_file),
		world_test(write_is_as_stable_as_asked),
		world_test(write_of_nothing_changes_nothing),
		world_test(write_takes_what_makes_sense),
		world_test(a_write_that_does_not_fit_is_short_first),
		world_test(write_is_bounded),
		world_test(the_owner_reads_and_writes_whatever_the_mode),
		world_test(the_mode_is_not_changed_for_the_owner_to_read),
		world_test(the_verifier_lasts_until_the_server_ends),
		world_test(a_failure_to_store_changes_the_verifier),
		world_test(only_a_file_is_committed),
		world_test(read_only_writes_nothing),
	};
	static const struct CMUnitTest root_tests[] = {
		world_test(permission_is_the_callers),
		world_test(a_program_is_read_to_be_executed),
		world_test(commit_takes_no_permission),
		world_test(set_id_bits_do_not_survive_anothers_write),
		world_test(a_full_file_system_is_told),
	};

	return world_run(
		tests, sizeof tests / sizeof *tests, root_tests, sizeof root_tests / sizeof *root_tests);
}
