/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_FUSE_WORLD_H
#define RR_TESTS_FUSE_WORLD_H

/* A kernel that the tests play: a socket that keeps messages apart stands for /dev/fuse, and files in memory
 * for the server. */
#include "../stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../vfs/memory/memory.h"
#include "fuse/fuse.h"

enum { MESSAGE = 1 << 17, PIECE = 4096 };

struct world {
	struct stage stage;
	struct rr_memory *memory;
	struct rr_vfs *vfs;
	struct rr_fuse *fuse;
	int kernel; /* the test's end */
	int fuse_fd;
	uint64_t unique;
	bool ended;
	uint32_t user;
	/* The last answer. */
	struct fuse_out_header header;
	uint8_t body[MESSAGE];
	size_t length;
};

static const struct rr_vfs_export exports[] = { { "/" } };

static inline void
world_ended(void *ctx)
{
	((struct world *)ctx)->ended = true;
}

static inline void
done(struct rr_vfs_call *call)
{
	(void)call;
}

static inline void
world_begin(struct world *world, uint64_t behind_max)
{
	const struct rr_memory_config memory = { .exports = exports, .export_count = 1, .seed = 1 };
	struct rr_fuse_config config = { .write_max = 1 << 20,
		.behind_max = behind_max,
		.file_least = RR_SECOND,
		.file_most = 8 * RR_SECOND,
		.directory_least = RR_SECOND,
		.directory_most = 8 * RR_SECOND,
		.locks = true,
		.callers = true,
		.ended = world_ended,
		.ctx = world };
	const struct rr_vfs_caller caller = { 0 };
	struct rr_vfs_getattr getattr = { .call = { .caller = &caller, .done = done } };
	struct rr_vfs_handle root;
	int sockets[2];

	*world = (struct world){ 0 };
	stage_init(&world->stage);
	stage_loop(&world->stage);
	assert_int_equal(rr_memory_new(&world->stage.env, &memory, &world->memory), 0);
	assert_int_equal(rr_memory_provider(world->memory, world->stage.loop, &world->vfs), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
	world->kernel = sockets[0];
	world->fuse_fd = config.fd = sockets[1];
	config.vfs = world->vfs;
	rr_vfs_root(world->vfs, 0, &root);
	getattr.object.handle = (struct rpcrdma_bytes){ root.data, root.length };
	assert_int_equal(rr_vfs_getattr(world->vfs, &getattr), RR_VFS_OK);
	config.root = getattr.attributes;
	assert_int_equal(rr_fuse_new(&world->stage.env, &config, &world->fuse), 0);
}

static inline void
world_end(struct world *world)
{
	rr_fuse_free(world->fuse);
	close(world->kernel);
	close(world->fuse_fd);
	rr_vfs_destroy(world->vfs);
	rr_memory_free(world->memory);
	stage_end(&world->stage);
}

/* Sends a request; more: octets behind the arguments. Returns its number. */
static inline uint64_t
ask(struct world *world, uint32_t opcode, uint64_t node, const void *args, size_t size, const void *more,
	size_t more_size)
{
	static uint8_t message[MESSAGE];
	struct fuse_in_header header = { .len = (uint32_t)(sizeof(header) + size + more_size),
		.opcode = opcode,
		.unique = ++world->unique,
		.nodeid = node,
		.uid = world->user };

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), args, size);
	if (more_size)
		memcpy(message + sizeof(header) + size, more, more_size);
	assert_int_equal(send(world->kernel, message, header.len, 0), header.len);
	return header.unique;
}

/* Takes the next answer, if there is one. */
static inline bool
taken(struct world *world)
{
	uint8_t message[sizeof(world->header) + sizeof(world->body)];
	ssize_t got;

	stage_turn(&world->stage);
	got = recv(world->kernel, message, sizeof(message), 0);
	if (got < (ssize_t)sizeof(world->header))
		return false;
	memcpy(&world->header, message, sizeof(world->header));
	world->length = (size_t)got - sizeof(world->header);
	memcpy(world->body, message + sizeof(world->header), world->length);
	assert_int_equal(world->header.len, got);
	return true;
}

/* Waits for the answer to that request; notifications are passed over. Returns its errno. */
static inline int
answer(struct world *world, uint64_t unique)
{
	do
		turn_until(taken(world), (void)0);
	while (world->header.unique != unique);
	return -world->header.error;
}

static inline int
call(struct world *world, uint32_t opcode, uint64_t node, const void *args, size_t size, const void *more,
	size_t more_size)
{
	return answer(world, ask(world, opcode, node, args, size, more, more_size));
}

#define CALL(world, opcode, node, in, ...) call(world, opcode, node, &(in), sizeof(in), __VA_ARGS__)

static inline void
begin(struct world *world)
{
	const struct fuse_init_in in = {
		.major = 7, .minor = 38, .flags = UINT32_MAX, .max_readahead = 1 << 17
	};
	const struct fuse_init_out *out = (const void *)world->body;

	assert_int_equal(CALL(world, FUSE_INIT, 0, in, NULL, 0), 0);
	assert_int_equal(out->major, 7);
	assert_true(out->flags & FUSE_PARALLEL_DIROPS);
	assert_true(out->flags & FUSE_POSIX_LOCKS);
	/* With that, sizes that other clients make are never seen. */
	assert_false(out->flags & FUSE_WRITEBACK_CACHE);
}

/* Makes a file and opens it. Returns its node; *file: its number. */
static inline uint64_t
make(struct world *world, const char *name, uint64_t *file)
{
	const struct fuse_create_in in = { .flags = O_RDWR | O_CREAT, .mode = 0100644 };
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out;

	assert_int_equal(CALL(world, FUSE_CREATE, FUSE_ROOT_ID, in, name, strlen(name) + 1), 0);
	assert_int_equal(world->length, sizeof(out));
	memcpy(&out, world->body, sizeof(out));
	*file = out.open.fh;
	return out.entry.nodeid;
}

/* The world with a mount, and with a file that is made and open. */
static inline uint64_t
begin_file(struct world *world, uint64_t behind_max, uint64_t *file)
{
	world_begin(world, behind_max);
	begin(world);
	return make(world, "file", file);
}

static inline int
write_at(struct world *world, uint64_t node, uint64_t file, uint64_t offset, char octet, uint32_t size)
{
	const struct fuse_write_in in = { .fh = file, .offset = offset, .size = size };
	uint8_t data[PIECE];

	memset(data, octet, sizeof(data));
	assert_true(size <= sizeof(data));
	return CALL(world, FUSE_WRITE, node, in, data, size);
}

static inline int
flush(struct world *world, uint64_t node, uint64_t file)
{
	const struct fuse_flush_in in = { .fh = file };

	return CALL(world, FUSE_FLUSH, node, in, NULL, 0);
}

static inline int
synced(struct world *world, uint64_t node, uint64_t file)
{
	const struct fuse_fsync_in in = { .fh = file };

	return CALL(world, FUSE_FSYNC, node, in, NULL, 0);
}

/* Reads, and compares with an octet that is everywhere. */
static inline void
read_is(struct world *world, uint64_t node, uint64_t file, uint64_t offset, char octet, uint32_t size)
{
	const struct fuse_read_in in = { .fh = file, .offset = offset, .size = size };

	assert_int_equal(CALL(world, FUSE_READ, node, in, NULL, 0), 0);
	assert_int_equal(world->length, size);
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(world->body[i], octet);
}

static inline struct rr_fuse_counters
counted(const struct world *world)
{
	struct rr_fuse_counters counters;

	rr_fuse_counters(world->fuse, &counters);
	return counters;
}

#endif
