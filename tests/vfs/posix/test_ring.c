/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../test.h"
#include "vfs/posix/ring.h"

/* This tests reads of a file that is not in the page cache. */

enum { BLOCK = 4096, BLOCKS = 64, MOST = 16 };

/* The next call of io_uring_submit() takes none of the entries, and reports no error. */
static bool takes_none;

struct io_uring;
int io_uring_submit(struct io_uring *uring);

int
io_uring_submit(struct io_uring *uring)
{
	union {
		void *address;
		int (*call)(struct io_uring *);
	} library = { .address = dlsym(RTLD_NEXT, "io_uring_submit") };

	if (takes_none) {
		takes_none = false;
		return 0;
	}
	return library.call(uring);
}

struct world {
	struct rr_loop *loop;
	struct rr_ring *ring;
	int fd;
	uint8_t data[BLOCKS][BLOCK];
};

struct one {
	struct rr_ring_read read;
	uint32_t done; /* how often done() was called */
	uint8_t data[BLOCK];
};

static void
one_done(struct rr_ring_read *read)
{
	rr_container(read, struct one, read)->done++;
}

static bool
one_begin(struct world *world, struct one *one, uint64_t offset)
{
	memset(one, 0, sizeof(*one));
	one->read = (struct rr_ring_read){
		.fd = world->fd, .size = BLOCK, .data = one->data, .offset = offset, .done = one_done
	};
	return rr_ring_begin(world->ring, &one->read);
}

static void
await(struct world *world, const struct one *one)
{
	/* The kernel may interrupt a turn that waits, in order to go on with a read. */
	for (int turns = 0; one->done == 0; turns++)
		assert_true(turns < 1000 && rr_loop_turn(world->loop, 10 * RR_SECOND) >= 0);
}

static int
begin(void **state)
{
	char name[] = "/var/tmp/rpcrdma-ring-XXXXXX";
	struct world *world = calloc(1, sizeof(*world));
	int error;

	world->fd = mkstemp(name);
	assert_true(world->fd >= 0);
	unlink(name);
	for (uint32_t i = 0; i < BLOCKS; i++)
		memset(world->data[i], (int)(i + 1), BLOCK);
	assert_int_equal(write(world->fd, world->data, sizeof(world->data)), sizeof(world->data));
	assert_int_equal(fsync(world->fd), 0);
	assert_int_equal(posix_fadvise(world->fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	world->loop = rr_loop_new(&rr_env_system);
	assert_non_null(world->loop);
	*state = world;
	error = rr_ring_new(&rr_env_system, world->loop, MOST, &world->ring);
	assert_true(error == 0 || error == -RPCRDMA_ERR_NOTSUP);
	return 0;
}

static int
end(void **state)
{
	struct world *world = *state;

	rr_ring_free(world->ring);
	rr_loop_free(world->loop);
	close(world->fd);
	free(world);
	return 0;
}

#define NEED_RING(world)                                                                                     \
	if (!(world)->ring) {                                                                                \
		print_message("there is no io_uring here\n");                                                \
		skip();                                                                                      \
	}

static void
each_read_brings_its_own_octets(void **state)
{
	struct world *world = *state;
	struct one ones[MOST];

	NEED_RING(world);
	for (uint32_t i = 0; i < MOST; i++)
		assert_true(one_begin(world, &ones[i], (uint64_t)(BLOCKS - 1 - 3 * i) * BLOCK));
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(ones[i].done, 0); /* done() is not called from rr_ring_begin() */
	for (uint32_t i = 0; i < MOST; i++) {
		await(world, &ones[i]);
		assert_int_equal(ones[i].done, 1);
		assert_int_equal(ones[i].read.result, BLOCK);
		assert_memory_equal(ones[i].data, world->data[BLOCKS - 1 - 3 * i], BLOCK);
	}
}

static void
there_are_never_more_than_agreed(void **state)
{
	struct world *world = *state;
	struct one ones[MOST], more;

	NEED_RING(world);
	for (uint32_t i = 0; i < MOST; i++)
		assert_true(one_begin(world, &ones[i], 0));
	assert_false(one_begin(world, &more, 0));
	await(world, &ones[0]);
	assert_true(one_begin(world, &more, BLOCK));
	await(world, &more);
	assert_memory_equal(more.data, world->data[1], BLOCK);
	for (uint32_t i = 0; i < MOST; i++)
		await(world, &ones[i]);
}

static void
the_end_of_the_file_and_errors_are_said(void **state)
{
	struct world *world = *state;
	struct one one;

	NEED_RING(world);
	assert_true(one_begin(world, &one, sizeof(world->data) - 100));
	await(world, &one);
	assert_int_equal(one.read.result, 100);
	assert_true(one_begin(world, &one, sizeof(world->data)));
	await(world, &one);
	assert_int_equal(one.read.result, 0);
	one.done = 0;
	one.read.fd = -1;
	assert_true(rr_ring_begin(world->ring, &one.read));
	await(world, &one);
	assert_int_equal(one.read.result, -EBADF);
}

static void
reads_that_are_under_way_are_done_before_the_ring_ends(void **state)
{
	struct world *world = *state;
	struct one ones[MOST];

	NEED_RING(world);
	for (uint32_t i = 0; i < MOST; i++)
		assert_true(one_begin(world, &ones[i], (uint64_t)i * BLOCK));
	rr_ring_free(world->ring);
	world->ring = NULL;
	for (uint32_t i = 0; i < MOST; i++) {
		assert_int_equal(ones[i].done, 1);
		assert_memory_equal(ones[i].data, world->data[i], BLOCK);
	}
}

static void
reads_that_the_kernel_did_not_take_are_given_to_it_again(void **state)
{
	struct world *world = *state;
	struct one one;

	NEED_RING(world);
	takes_none = true;
	assert_true(one_begin(world, &one, 0));
	await(world, &one);
	assert_false(takes_none);
	assert_int_equal(one.read.result, BLOCK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_read_brings_its_own_octets, begin, end),
		cmocka_unit_test_setup_teardown(there_are_never_more_than_agreed, begin, end),
		cmocka_unit_test_setup_teardown(the_end_of_the_file_and_errors_are_said, begin, end),
		cmocka_unit_test_setup_teardown(
			reads_that_are_under_way_are_done_before_the_ring_ends, begin, end),
		cmocka_unit_test_setup_teardown(
			reads_that_the_kernel_did_not_take_are_given_to_it_again, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
