/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_test.h"

#include <string.h>

/* This tests how the NFS client reads and writes the data of files in pieces. */

struct result {
	bool done;
	int error;
};

static void
io_done(struct rr_nfs_io *io, int error)
{
	struct result *result = io->ctx;

	result->done = true;
	result->error = error;
}

static int
move(struct rr_nfs_io *io, void (*start)(struct rpcrdma_nfs *nfs, struct rr_nfs_io *io))
{
	struct result result = { 0 };

	io->file = &object.handle;
	io->done = io_done;
	io->ctx = &result;
	start(nfs, io);
	assert_false(result.done);
	while (!result.done)
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
	return result.error;
}

static uint8_t data[FAKE_FILE_MAX];

static void
open_file(uint64_t size)
{
	fake_file(fake, 0, "file", size);
	nfs = fake_must_open(fake, "/export");
	assert_int_equal(rr_nfs_walk(nfs, "file", true, &object), 0);
}

static void
assert_octets(const struct rr_nfs_io *io)
{
	for (uint32_t i = 0; i < io->moved; i++)
		if (data[i] != fake_octet(io->offset + i))
			fail_msg("octet %u of the piece at %llu is wrong", i, (unsigned long long)io->offset);
}

static void
pieces_of_every_kind_of_size_are_read(void **state)
{
	static const uint32_t lengths[] = { 1, 3, 4, 1000, 4000, 4096, 5001, 100000, 1 << 20, 3000001 };
	struct rr_nfs_io io = { .data = data };

	(void)state;
	fake->rtmax = 300000;
	open_file(3000001);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		io.offset = 3000001 - lengths[i];
		io.length = lengths[i];
		memset(data, 0, sizeof(data));
		assert_int_equal(move(&io, rr_nfs_read), 0);
		assert_int_equal(io.moved, lengths[i]);
		assert_true(io.eof);
		assert_octets(&io);
	}
}

static void
large_reads_are_placed_by_rdma_write(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 1 << 20 };
	struct rpcrdma_counters counters;

	(void)state;
	open_file(1 << 20);
	assert_int_equal(move(&io, rr_nfs_read), 0);
	rr_client_counters(rr_nfs_rpc(nfs), &counters);
	assert_true(counters.octets_rdma_write >= 1 << 20);
	assert_octets(&io);
}

static void
short_reads_are_continued_to_the_end_of_the_file(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 100000 };

	(void)state;
	open_file(50000);
	fake->read_most = 777;
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_int_equal(io.moved, 50000);
	assert_true(io.eof);
	assert_octets(&io);
}

static void
answers_of_an_octet_each_are_given_up(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 100000 };

	(void)state;
	open_file(100000);
	fake->read_most = fake->write_most = 1;
	assert_int_equal(move(&io, rr_nfs_read), -RPCRDMA_ERR_PEER);
	assert_true(fake->calls[NFSPROC3_READ] < 100);
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
	assert_true(fake->calls[NFSPROC3_WRITE] < 100);
	assert_non_null(strstr(rpcrdma_nfs_error(nfs), "few octets"));
	io.length = 30;
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_int_equal(io.moved, 30);
}

static void
reading_behind_the_end_gives_nothing_and_the_end(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10, .offset = 100 };

	(void)state;
	open_file(100);
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_int_equal(io.moved, 0);
	assert_true(io.eof);
}

static void
reads_wait_a_jukebox_out(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10 };

	(void)state;
	open_file(100);
	fake->jukebox = 2;
	assert_int_equal(move(&io, rr_nfs_read), 0);
	assert_octets(&io);
}

static void
lies_about_data_are_not_believed(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 100 };

	(void)state;
	open_file(1000);
	fake->lie = FAKE_READ_COUNT;
	assert_int_equal(move(&io, rr_nfs_read), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_READ_NOTHING;
	assert_int_equal(move(&io, rr_nfs_read), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_READ_TOO_MUCH;
	memset(data, 0, sizeof(data));
	assert_true(move(&io, rr_nfs_read) < 0);
	assert_int_equal(data[100], 0);
	fake->lie = FAKE_WRITE_NOTHING;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_WRITE_TOO_MUCH;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
	fake->lie = FAKE_WRITE_LESS_STABLE;
	io.stable = FILE_SYNC;
	assert_int_equal(move(&io, rr_nfs_write), -RPCRDMA_ERR_PEER);
}

static void
a_cancelled_piece_is_left_alone(void **state)
{
	struct result result = { 0 };
	struct rr_nfs_io io = { .data = data, .length = 1 << 20, .done = io_done, .ctx = &result };

	(void)state;
	open_file(1 << 20);
	io.file = &object.handle;
	rr_nfs_read(nfs, &io);
	rr_nfs_io_cancel(&io);
	rr_nfs_io_cancel(&io);
	memset(data, 0, 4096);
	for (int i = 0; i < 100; i++)
		rr_loop_turn(fake->stage.engine->loop, 0);
	assert_false(result.done);
	assert_int_equal(data[4095], 0);
	fake->jukebox = 1;
	rr_nfs_read(nfs, &io);
	while (fake->jukebox > 0)
		rr_loop_turn(fake->stage.engine->loop, 0);
	rr_nfs_io_cancel(&io);
	assert_int_equal(move(&io, rr_nfs_read), 0);
}

static void
what_is_written_arrives_in_any_portions(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 200001, .offset = 1000 };
	const struct fake_object *file = &fake->objects[1];
	uint8_t verifier[NFS3_WRITEVERFSIZE];

	(void)state;
	fake->wtmax = 65536;
	fake->write_most = 10001;
	open_file(0);
	for (uint32_t i = 0; i < io.length; i++)
		data[i] = fake_octet(i);
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.moved, io.length);
	assert_int_equal(io.committed, UNSTABLE);
	assert_false(io.verifier_changed);
	assert_int_equal(file->size, 201001);
	assert_memory_equal(file->data + 1000, data, io.length);
	assert_int_equal(rpcrdma_nfs_commit(nfs, &object.handle, verifier, NULL), 0);
	assert_memory_equal(verifier, io.verifier, sizeof(verifier));
	assert_int_equal(file->stable, 201001);
}

/* RFC 1813, section 3.3.7: the server "will not destroy any data without changing the value of verf". */
static void
a_restart_within_a_piece_shows(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 30000 };

	(void)state;
	fake->write_most = 10000;
	open_file(0);
	fake->verifier_step = 1;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_true(io.verifier_changed);
	assert_int_equal(io.verifier[0], 2);
	fake->verifier_step = 0;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_false(io.verifier_changed);
}

static void
the_least_stable_part_counts(void **state)
{
	struct rr_nfs_io io = { .data = data, .length = 10000, .stable = DATA_SYNC };

	(void)state;
	open_file(0);
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.committed, DATA_SYNC);
	fake->committed = FILE_SYNC;
	assert_int_equal(move(&io, rr_nfs_write), 0);
	assert_int_equal(io.committed, FILE_SYNC);
}

static void
pieces_survive_a_restart_of_the_server(void **state)
{
	enum { PIECES = 4, LENGTH = 500000 };
	struct result results[PIECES] = { 0 };
	struct rr_nfs_io io[PIECES] = { 0 };
	uint32_t done = 0;

	(void)state;
	open_file((uint64_t)PIECES * LENGTH);
	fake->crash_at = NFSPROC3_READ;
	for (uint32_t i = 0; i < PIECES; i++) {
		io[i] = (struct rr_nfs_io){
			.file = &object.handle,
			.data = data + (size_t)i * LENGTH,
			.offset = (uint64_t)i * LENGTH,
			.length = LENGTH,
			.done = io_done,
			.ctx = &results[i],
		};
		rr_nfs_read(nfs, &io[i]);
	}
	while (done < PIECES) {
		assert_true(rr_loop_turn(fake->stage.engine->loop, -1) >= 0);
		for (uint32_t i = done = 0; i < PIECES; i++)
			done += results[i].done;
	}
	for (uint32_t i = 0; i < PIECES; i++)
		assert_int_equal(results[i].error, 0);
	for (uint32_t i = 0; i < PIECES * LENGTH; i++)
		if (data[i] != fake_octet(i))
			fail_msg("octet %u is wrong", i);
	assert_int_equal(rr_client_reconnects(rr_nfs_rpc(nfs)), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(pieces_of_every_kind_of_size_are_read),
		fake_test(large_reads_are_placed_by_rdma_write),
		fake_test(short_reads_are_continued_to_the_end_of_the_file),
		fake_test(answers_of_an_octet_each_are_given_up),
		fake_test(reading_behind_the_end_gives_nothing_and_the_end),
		fake_test(reads_wait_a_jukebox_out),
		fake_test(lies_about_data_are_not_believed),
		fake_test(a_cancelled_piece_is_left_alone),
		fake_test(what_is_written_arrives_in_any_portions),
		fake_test(a_restart_within_a_piece_shows),
		fake_test(the_least_stable_part_counts),
		fake_test(pieces_survive_a_restart_of_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
