/* SPDX-License-Identifier: BSD-3-Clause */
#include "../nfs/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/cp/pump.h"
#include "tool/tool.h"

/*
 * The data path of cp, between a local file and a server that does what each test
 * wants. A restart of the server destroys unstable data, so the data on the server
 * show whether the client sent again what was lost.
 */

enum { SIZE = 3000001 };

static struct fake *fake;
static struct rr_side local, remote;
static struct rr_directory here, there;
static struct rr_file from, to;
static struct rr_progress progress;
static struct rr_pump pump;
static char folder[] = "/tmp/rpcrdma-pump-XXXXXX";

/* There is a signal; or there will be one when a piece waits for its time. */
static bool interrupt, interrupt_wait;

bool
rr_tool_interrupted(void *ctx)
{
	(void)ctx;
	return interrupt || (interrupt_wait && pump.waiting);
}

static void
make_source(void)
{
	int fd = openat(here.fd, "source", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint8_t *data = malloc(SIZE);

	assert_true(fd >= 0 && data);
	for (uint32_t i = 0; i < SIZE; i++)
		data[i] = fake_octet(i);
	assert_int_equal(write(fd, data, SIZE), SIZE);
	close(fd);
	free(data);
}

static int
setup(void **state)
{
	struct rpcrdma_nfs *nfs;

	(void)state;
	strcpy(folder, "/tmp/rpcrdma-pump-XXXXXX");
	assert_non_null(mkdtemp(folder));
	interrupt = interrupt_wait = false;
	fake = fake_new();
	fake->rtmax = fake->wtmax = 100000;
	nfs = fake_must_open(fake, "/export");
	here.fd = open(folder, O_RDONLY | O_DIRECTORY);
	there.handle = *rr_nfs_root(nfs);
	local = (struct rr_side){ .ops = &rr_side_local, .piece_max = RR_PUMP_PIECE, .hole_unit = 4096 };
	remote = (struct rr_side){
		.ops = &rr_side_remote, .nfs = nfs, .piece_max = rr_nfs_write_max(nfs), .hole_unit = 65536
	};
	rr_progress_init(&progress, false);
	assert_int_equal(rr_pump_init(&pump, fake->stage.engine, &progress), 0);
	make_source();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	from.side->ops->close(&from);
	to.side->ops->close(&to);
	unlinkat(here.fd, "source", 0);
	unlinkat(here.fd, "target", 0);
	close(here.fd);
	rmdir(folder);
	rr_pump_free(&pump);
	rpcrdma_nfs_close(remote.nfs);
	fake_free(fake);
	return 0;
}

/* Copies the local file to a new file on the server, which is object 1. */
static int
push(void)
{
	struct rr_info info = { .size = SIZE, .used = SIZE };

	assert_int_equal(local.ops->open(&local, &here, "source", NULL, &from), 0);
	assert_int_equal(remote.ops->create(&remote, &there, "target", SIZE, &to), 0);
	return rr_pump_copy(&pump, &from, &to, &info);
}

static void
assert_pushed(void)
{
	const struct fake_object *object = &fake->objects[1];

	assert_int_equal(object->size, SIZE);
	assert_int_equal(object->stable, SIZE);
	for (uint32_t i = 0; i < SIZE; i++)
		if (object->data[i] != fake_octet(i))
			fail_msg("octet %u is wrong", i);
}

static void
a_file_is_pushed_and_committed_once(void **state)
{
	(void)state;
	assert_int_equal(push(), 0);
	assert_pushed();
	assert_int_equal(fake->calls[NFSPROC3_COMMIT], 1);
	assert_int_equal(fake->calls[NFSPROC3_WRITE], 31);
	assert_int_equal(progress.total, SIZE);
}

/* The clock of the engine goes on by a millisecond in each turn. */
static void
a_limited_copy_takes_the_time_of_its_limit(void **state)
{
	const uint64_t limit = 1 << 20, time = SIZE * RR_SECOND / limit;
	uint64_t before;

	(void)state;
	pump.rate.limit = limit;
	before = fake->stage.now;
	assert_int_equal(push(), 0);
	assert_in_range(fake->stage.now - before, time - RR_SECOND / 4, time + RR_SECOND / 2);
	/* The last read, which found the end of the file, has moved nothing. */
	assert_int_equal(rr_rate_wait(&pump.rate, fake->stage.now), 0);
	assert_pushed();
	assert_int_equal(progress.total, SIZE);
}

/* The wait for the next piece ends with the copy. */
static void
a_limited_copy_is_interrupted_while_it_waits(void **state)
{
	(void)state;
	pump.rate.limit = 1024;
	interrupt_wait = true;
	assert_int_equal(push(), -RPCRDMA_ERR_CANCELLED);
	assert_false(rr_timer_armed(&pump.later));
	assert_int_equal(pump.busy, 0);
}

static void
data_lost_in_a_restart_in_the_middle_is_sent_again(void **state)
{
	(void)state;
	fake->crash_at = NFSPROC3_WRITE;
	fake->crash_after = 20;
	assert_int_equal(push(), 0);
	assert_pushed();
	assert_true(fake->calls[NFSPROC3_WRITE] > 31 + 1);
	assert_int_equal(progress.total, SIZE);
}

static void
data_lost_before_the_commit_is_sent_again(void **state)
{
	(void)state;
	fake->crash_at = NFSPROC3_COMMIT;
	fake->crash_before = true;
	assert_int_equal(push(), 0);
	assert_pushed();
	assert_int_equal(fake->calls[NFSPROC3_WRITE], 62);
}

static void
stable_data_needs_no_commit(void **state)
{
	(void)state;
	fake->committed = FILE_SYNC;
	fake->crash_at = NFSPROC3_WRITE;
	fake->crash_after = 20;
	assert_int_equal(push(), 0);
	assert_pushed();
	assert_int_equal(fake->calls[NFSPROC3_COMMIT], 0);
}

/* A server whose verifier changes with each call would have the data sent again for ever. */
static void
a_server_that_never_keeps_anything_is_given_up(void **state)
{
	(void)state;
	fake->verifier_step = 1;
	assert_int_equal(push(), -RPCRDMA_ERR_PEER);
	assert_non_null(strstr(pump.failed->text.text, "forgot"));
}

/* A pipe that has all of its data from the beginning. */
enum { PIPED = 50500, PIPED_PIECE = 1000 };

static void
open_pipe(void)
{
	static uint8_t data[PIPED];
	int ends[2];

	for (uint32_t i = 0; i < PIPED; i++)
		data[i] = fake_octet(i);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], data, PIPED), PIPED);
	close(ends[1]);
	from = (struct rr_file){ .side = &local, .stream = true, .fd = ends[0], .watch.fd = -1 };
}

static struct rr_cp_piece *first; /* the piece at offset 0 of the file */
static struct rr_timer patience;

static bool
is_any_slot_idle(void)
{
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++)
		if (pump.slots[i].state == RR_SLOT_IDLE)
			return true;
	return false;
}

/* Writes the first piece once each slot has a piece, and no more can be read. */
static void
write_first_at_last(struct rr_timer *timer)
{
	if (is_any_slot_idle() || pump.reading)
		rr_loop_arm(fake->stage.engine->loop, timer, 1000000);
	else
		assert_int_equal(rr_side_remote.write(first->file, first), 0);
}

static int
write_slowly_at_first(struct rr_file *file, struct rr_cp_piece *piece)
{
	if (piece->offset > 0)
		return rr_side_remote.write(file, piece);
	first = piece;
	piece->file = file;
	rr_timer_init(&patience, write_first_at_last);
	rr_loop_arm(fake->stage.engine->loop, &patience, 1000000);
	return 0;
}

static void
a_stream_that_is_faster_than_the_server_is_pushed_to_its_end(void **state)
{
	struct rr_side_ops slow = rr_side_remote;
	struct rr_info info = { .size = RR_SIZE_UNKNOWN };

	(void)state;
	slow.write = write_slowly_at_first;
	remote.ops = &slow;
	local.loop = fake->stage.engine->loop;
	remote.piece_max = PIPED_PIECE;
	open_pipe();
	assert_int_equal(remote.ops->create(&remote, &there, "target", RR_SIZE_UNKNOWN, &to), 0);
	assert_int_equal(rr_pump_copy(&pump, &from, &to, &info), 0);
	remote.ops = &rr_side_remote;
	assert_int_equal(info.size, PIPED);
	assert_int_equal(fake->objects[1].size, PIPED);
	for (uint32_t i = 0; i < PIPED; i++)
		assert_int_equal(fake->objects[1].data[i], fake_octet(i));
}

static int
pull(void)
{
	struct rr_info info;

	fake_file(fake, 0, "origin", SIZE);
	assert_int_equal(remote.ops->find(&remote, "origin", true, &info), 0);
	assert_int_equal(remote.ops->open(&remote, &there, "origin", &info, &from), 0);
	assert_int_equal(local.ops->create(&local, &here, "target", SIZE, &to), 0);
	return rr_pump_copy(&pump, &from, &to, &info);
}

static void
a_file_is_pulled_through_short_reads_and_a_restart(void **state)
{
	uint8_t *data = malloc(SIZE);
	int fd;

	(void)state;
	fake->read_most = 77777;
	fake->crash_at = NFSPROC3_READ;
	fake->crash_after = 9;
	assert_int_equal(pull(), 0);
	fd = openat(here.fd, "target", O_RDONLY);
	assert_int_equal(pread(fd, data, SIZE, 0), SIZE);
	close(fd);
	for (uint32_t i = 0; i < SIZE; i++)
		if (data[i] != fake_octet(i))
			fail_msg("octet %u is wrong", i);
	free(data);
}

static void
a_file_that_shrank_is_an_error_of_the_source(void **state)
{
	int fd = openat(here.fd, "source", O_WRONLY);

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE / 2), 0);
	close(fd);
	assert_true(push() < 0);
	assert_ptr_equal(pump.failed, &local);
	assert_non_null(strstr(local.text.text, "changed its size"));
	assert_int_equal(pump.busy, 0);
}

/* ---- Sources whose size is wrong, as that of the files of /proc and /sys is ---- */

static uint64_t told; /* the size that the source says that it has */

static int
describe_wrongly(struct rr_file *file, struct rr_info *info)
{
	(void)file;
	*info = (struct rr_info){ .kind = RR_KIND_FILE, .size = told, .used = told };
	return 0;
}

static void
push_with_size(uint64_t size)
{
	struct rr_side_ops wrong = rr_side_local;
	struct rr_info info = { .size = size, .used = size };

	told = size;
	wrong.describe = describe_wrongly;
	local.ops = &wrong;
	assert_int_equal(local.ops->open(&local, &here, "source", NULL, &from), 0);
	assert_int_equal(remote.ops->create(&remote, &there, "target", size, &to), 0);
	assert_int_equal(rr_pump_copy(&pump, &from, &to, &info), 0);
	assert_int_equal(info.size, SIZE);
	info.mode = 0600;
	assert_int_equal(remote.ops->finish(&to, &info), 0);
	local.ops = &rr_side_local;
	assert_pushed();
}

static void
a_file_is_read_to_its_end_whatever_its_size_is_said_to_be(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 4096, SIZE / 2, SIZE - 1, SIZE, SIZE + 1, SIZE + 100001 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		push_with_size(sizes[i]);
		if (i + 1 < sizeof(sizes) / sizeof(*sizes)) {
			teardown(state);
			setup(state);
		}
	}
}

static void
data_of_such_a_file_that_the_server_lost_is_sent_again(void **state)
{
	(void)state;
	fake->crash_at = NFSPROC3_COMMIT;
	fake->crash_before = true;
	push_with_size(SIZE / 2);
}

static void
so_is_a_file_of_a_server(void **state)
{
	static const uint64_t sizes[] = { 0, 100000, SIZE + 1 };
	static uint8_t data[SIZE + 2];
	struct rr_side_ops wrong = rr_side_remote;

	wrong.describe = describe_wrongly;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct rr_info info;
		int fd;

		if (i > 0) {
			teardown(state);
			setup(state);
		}
		fake_file(fake, 0, "origin", SIZE);
		remote.ops = &wrong;
		assert_int_equal(remote.ops->find(&remote, "origin", true, &info), 0);
		told = info.size = info.used = sizes[i];
		assert_int_equal(remote.ops->open(&remote, &there, "origin", &info, &from), 0);
		assert_int_equal(local.ops->create(&local, &here, "target", told, &to), 0);
		assert_int_equal(rr_pump_copy(&pump, &from, &to, &info), 0);
		assert_int_equal(info.size, SIZE);
		info.mode = 0600;
		assert_int_equal(local.ops->finish(&to, &info), 0);
		remote.ops = &rr_side_remote;
		fd = openat(here.fd, "target", O_RDONLY);
		assert_int_equal(pread(fd, data, sizeof(data), 0), SIZE);
		close(fd);
		for (uint32_t octet = 0; octet < SIZE; octet++)
			if (data[octet] != fake_octet(octet))
				fail_msg("octet %u is wrong", octet);
	}
}

static void
interruption_leaves_nothing_under_way(void **state)
{
	(void)state;
	interrupt = true;
	assert_int_equal(push(), -RPCRDMA_ERR_CANCELLED);
	for (uint32_t i = 0; i < RR_PUMP_PIECES; i++)
		assert_int_equal(pump.slots[i].state, RR_SLOT_IDLE);
	for (int i = 0; i < 50; i++)
		rr_loop_turn(fake->stage.engine->loop, 0);
}

/* ---- Copies that the server makes by itself ---- */

static uint64_t lost; /* octets that the server forgets before the next commit */

/* Does not clone files, but copies them by itself. */
static int
copy_within(struct rr_file *source, struct rr_file *target, uint64_t offset, uint64_t length, bool clone)
{
	(void)source;
	(void)target;
	(void)offset;
	(void)length;
	return clone ? 1 : 0;
}

static int
commit_with_loss(struct rr_file *file, uint64_t *forgotten)
{
	(void)file;
	*forgotten = lost;
	lost = 0;
	return 0;
}

/* The octets that the server forgot are copied twice, and are counted once, as those behind them are. */
static void
octets_that_the_server_copies_again_are_counted_once(void **state)
{
	struct rr_side_ops within = rr_side_remote;

	(void)state;
	within.within = copy_within;
	within.commit = commit_with_loss;
	remote.ops = &within;
	pump.within = pump.clones = true;
	lost = SIZE / 3;
	assert_int_equal(push(), 0);
	remote.ops = &rr_side_remote;
	assert_int_equal(lost, 0);
	assert_int_equal(pump.copied_within, SIZE);
	assert_int_equal(progress.total, SIZE);
}

/* ---- Local files ---- */

/* An earlier error of a call, as errno has it, is not that of the object. */
static void
a_named_pipe_in_place_of_a_file_is_no_full_disk(void **state)
{
	struct rr_info info = { .kind = RR_KIND_FILE };
	int reader;

	(void)state;
	assert_int_equal(mkfifoat(here.fd, "target", 0600), 0);
	reader = openat(here.fd, "target", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	errno = ENOSPC;
	assert_true(local.ops->go_on(&local, &here, "target", &info, 0, &to) < 0);
	close(reader);
	assert_string_equal(local.text.text, "it is no regular file any more");
	assert_false(local.fatal);
	assert_int_equal(push(), 0); /* opens the files that the teardown closes */
}

/* A directory with more names than a catalog may have does not lack memory. */
static void
a_directory_with_too_many_names_is_said_to_be_too_large(void **state)
{
	struct rr_catalog catalog = { .octets = RR_CATALOG_MAX };

	(void)state;
	assert_true(local.ops->list(&local, &here, &catalog) < 0);
	rr_catalog_free(&catalog);
	assert_string_equal(local.text.text, "there are more names than memory for them");
	assert_int_equal(push(), 0); /* opens the files that the teardown closes */
}

/* A server lists a directory, in which a file has two names, and later a symbolic link of the directory's
 * name: the second name of the file is none of what the link leads to. */
static void
a_hard_link_is_not_made_through_a_symbolic_link(void **state)
{
	static const struct {
		const char *name;
		int flags;
	} made[] = { { "a/b", 0 }, { "a/c/file", 0 }, { "a/c", AT_REMOVEDIR }, { "a", AT_REMOVEDIR },
		{ "outside/file", 0 }, { "outside", AT_REMOVEDIR }, { "name", 0 } };
	struct rr_first copy = { .top = here, .path = "a/b/file" };
	struct stat st;

	(void)state;
	assert_int_equal(mkdirat(here.fd, "a", 0700), 0);
	assert_int_equal(mkdirat(here.fd, "a/b", 0700), 0);
	assert_int_equal(mkdirat(here.fd, "outside", 0700), 0);
	close(openat(here.fd, "a/b/file", O_WRONLY | O_CREAT, 0600));
	close(openat(here.fd, "outside/file", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(local.ops->make_name(&local, &copy, &here, "name"), 0);
	assert_int_equal(fstatat(here.fd, "a/b/file", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_nlink, 2);
	assert_int_equal(local.ops->make_name(&local, &copy, &here, "name"), 1);
	assert_int_equal(renameat(here.fd, "a/b", here.fd, "a/c"), 0);
	assert_int_equal(symlinkat("../outside", here.fd, "a/b"), 0);
	assert_true(local.ops->make_name(&local, &copy, &here, "other") < 0);
	assert_int_equal(fstatat(here.fd, "other", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(fstatat(here.fd, "outside/file", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_nlink, 1);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		assert_int_equal(unlinkat(here.fd, made[i].name, made[i].flags), 0);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_file_is_pushed_and_committed_once),
		WITH_WORLD(a_limited_copy_takes_the_time_of_its_limit),
		WITH_WORLD(a_limited_copy_is_interrupted_while_it_waits),
		WITH_WORLD(data_lost_in_a_restart_in_the_middle_is_sent_again),
		WITH_WORLD(data_lost_before_the_commit_is_sent_again),
		WITH_WORLD(stable_data_needs_no_commit),
		WITH_WORLD(a_server_that_never_keeps_anything_is_given_up),
		WITH_WORLD(a_stream_that_is_faster_than_the_server_is_pushed_to_its_end),
		WITH_WORLD(a_file_is_pulled_through_short_reads_and_a_restart),
		WITH_WORLD(a_file_that_shrank_is_an_error_of_the_source),
		WITH_WORLD(a_file_is_read_to_its_end_whatever_its_size_is_said_to_be),
		WITH_WORLD(data_of_such_a_file_that_the_server_lost_is_sent_again),
		WITH_WORLD(so_is_a_file_of_a_server),
		WITH_WORLD(interruption_leaves_nothing_under_way),
		WITH_WORLD(octets_that_the_server_copies_again_are_counted_once),
		WITH_WORLD(a_named_pipe_in_place_of_a_file_is_no_full_disk),
		WITH_WORLD(a_directory_with_too_many_names_is_said_to_be_too_large),
		WITH_WORLD(a_hard_link_is_not_made_through_a_symbolic_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
