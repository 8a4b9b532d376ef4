/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_NFS_READER4_H
#define RR_TESTS_NFS_READER4_H

#include "fake4.h"

/* A client of the server in fake4.h, which reads the server's file: what tests of the client begin with. */

struct reader4 {
	struct fake4 *fake;
	struct rpcrdma_nfs *nfs;          /* NULL before it is opened, and after a test has closed it */
	struct rpcrdma_nfs_object object; /* the file, once it was walked to */
	uint8_t data[FAKE4_SIZE];         /* what was read */
};

/* The reader of the test that runs now. */
extern struct reader4 reader;

/* A part of the file that is being read, or was. */
struct reader4_piece {
	struct rr_nfs_io io;
	bool done;
	int error;
};

int reader4_setup(void **state);
int reader4_teardown(void **state);

/* Opens the server and walks to its file. */
void reader4_open(void);

/* Begins to read a part of the file to its place in reader.data; takes turns of the loop until that has
 * ended, and returns its error. reader4_read() does both. reader4_done() is what a piece calls when it ends.
 */
void reader4_start(struct reader4_piece *piece, uint64_t offset, uint32_t length);
int reader4_end(struct reader4_piece *piece);
int reader4_read(uint64_t offset, uint32_t length);
void reader4_done(struct rr_nfs_io *io, int error);

/* Reads the file and compares it with the server's. */
void reader4_assert_whole(void);

#endif
