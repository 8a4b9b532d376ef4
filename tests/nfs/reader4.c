/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader4.h"

#include "nfs/client_private.h"

struct reader4 reader;

int
reader4_setup(void **state)
{
	(void)state;
	reader = (struct reader4){ .fake = fake4_new() };
	return 0;
}

int
reader4_teardown(void **state)
{
	(void)state;
	rpcrdma_nfs_close(reader.nfs);
	fake4_free(reader.fake);
	return 0;
}

void
reader4_done(struct rr_nfs_io *io, int error)
{
	struct reader4_piece *piece = io->ctx;

	piece->done = true;
	piece->error = error;
}

void
reader4_start(struct reader4_piece *piece, uint64_t offset, uint32_t length)
{
	*piece = (struct reader4_piece){ .io = { .file = &reader.object.handle,
						 .data = reader.data + offset,
						 .offset = offset,
						 .length = length,
						 .done = reader4_done } };
	piece->io.ctx = piece;
	rr_nfs_read(reader.nfs, &piece->io);
}

int
reader4_end(struct reader4_piece *piece)
{
	while (!piece->done)
		assert_true(rr_loop_turn(reader.fake->stage.engine->loop, -1) >= 0);
	return piece->error;
}

int
reader4_read(uint64_t offset, uint32_t length)
{
	struct reader4_piece piece;

	reader4_start(&piece, offset, length);
	return reader4_end(&piece);
}

void
reader4_open(void)
{
	reader.nfs = fake4_must_open(reader.fake);
	assert_int_equal(rr_nfs_walk(reader.nfs, "file", true, &reader.object), 0);
	assert_int_equal(reader.object.type, RPCRDMA_NFS_FILE);
	assert_int_equal(reader.object.uid, 1000);
}

void
reader4_assert_whole(void)
{
	assert_int_equal(reader4_read(0, FAKE4_SIZE), 0);
	assert_memory_equal(reader.data, reader.fake->data, FAKE4_SIZE);
}
