/* SPDX-License-Identifier: BSD-3-Clause */
/* The mount, with a kernel that this test plays: a socket that keeps messages apart stands for /dev/fuse, and
 * files in memory for the server. */
#include "../mutate.h"
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

static void
world_ended(void *ctx)
{
	((struct world *)ctx)->ended = true;
}

static void
done(struct rr_vfs_call *call)
{
	(void)call;
}

static void
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

static void
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
static uint64_t
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
static bool
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
static int
answer(struct world *world, uint64_t unique)
{
	do
		turn_until(taken(world), (void)0);
	while (world->header.unique != unique);
	return -world->header.error;
}

static int
call(struct world *world, uint32_t opcode, uint64_t node, const void *args, size_t size, const void *more,
	size_t more_size)
{
	return answer(world, ask(world, opcode, node, args, size, more, more_size));
}

#define CALL(world, opcode, node, in, ...) call(world, opcode, node, &(in), sizeof(in), __VA_ARGS__)

static void
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
static uint64_t
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
static uint64_t
begin_file(struct world *world, uint64_t behind_max, uint64_t *file)
{
	world_begin(world, behind_max);
	begin(world);
	return make(world, "file", file);
}

static int
write_at(struct world *world, uint64_t node, uint64_t file, uint64_t offset, char octet, uint32_t size)
{
	const struct fuse_write_in in = { .fh = file, .offset = offset, .size = size };
	uint8_t data[PIECE];

	memset(data, octet, sizeof(data));
	assert_true(size <= sizeof(data));
	return CALL(world, FUSE_WRITE, node, in, data, size);
}

static int
flush(struct world *world, uint64_t node, uint64_t file)
{
	const struct fuse_flush_in in = { .fh = file };

	return CALL(world, FUSE_FLUSH, node, in, NULL, 0);
}

/* Reads, and compares with an octet that is everywhere. */
static void
read_is(struct world *world, uint64_t node, uint64_t file, uint64_t offset, char octet, uint32_t size)
{
	const struct fuse_read_in in = { .fh = file, .offset = offset, .size = size };

	assert_int_equal(CALL(world, FUSE_READ, node, in, NULL, 0), 0);
	assert_int_equal(world->length, size);
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(world->body[i], octet);
}

static struct rr_fuse_counters
counted(const struct world *world)
{
	struct rr_fuse_counters counters;

	rr_fuse_counters(world->fuse, &counters);
	return counters;
}

/* 100 writes of 4 KiB become one WRITE, and close(2) has it stable. */
static void
writes_are_gathered(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(write_at(&world, node, file, i * PIECE, 'x', PIECE), 0);
	assert_int_equal(counted(&world).writes, 0);
	assert_int_equal(counted(&world).behind, 100 * PIECE);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(counted(&world).writes, 1);
	assert_int_equal(counted(&world).commits, 1);
	assert_int_equal(counted(&world).behind, 0);
	read_is(&world, node, file, 50 * PIECE, 'x', PIECE);
	world_end(&world);
}

/* What nobody closes is at the server after a second, as sync(2) asks nobody. */
static void
what_is_old_is_written(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'x', 10), 0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).writes, 1);
	world_end(&world);
}

/* A name is looked up while the file is being written: the kernel must not cut the file to what the server
 * has. */
static void
what_is_behind_counts_for_the_size(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 1000, 'x', 24), 0);
	assert_int_equal(call(&world, FUSE_LOOKUP, FUSE_ROOT_ID, NULL, 0, "file", 5), 0);
	assert_int_equal(((const struct fuse_entry_out *)world.body)->attr.size, 1024);
	assert_int_equal(counted(&world).writes, 0);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(
		call(&world, FUSE_SETATTR, node, &(struct fuse_setattr_in){ .valid = FATTR_SIZE, .size = 3 },
			sizeof(struct fuse_setattr_in), NULL, 0),
		0);
	assert_int_equal(((const struct fuse_attr_out *)world.body)->attr.size, 3);
	world_end(&world);
}

/* RFC 1813, 4.8: the server loses what was not committed, and its verifier changes: the data is written
 * again. */
static void
what_the_server_loses_is_written_again(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	assert_int_equal(write_at(&world, node, file, 0, 'a', PIECE), 0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(counted(&world).writes, 1);
	rr_memory_lose_power(world.memory);
	assert_int_equal(write_at(&world, node, file, PIECE, 'b', PIECE), 0);
	assert_int_equal(flush(&world, node, file), 0);
	assert_int_equal(counted(&world).writes, 3);
	rr_memory_lose_power(world.memory);
	read_is(&world, node, file, 0, 'a', PIECE);
	read_is(&world, node, file, PIECE, 'b', PIECE);
	world_end(&world);
}

/* A later write of the same octets is not overtaken. */
static void
writes_that_overlap_keep_their_order(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	for (char octet = 'a'; octet <= 'z'; octet++)
		assert_int_equal(write_at(&world, node, file, 100, octet, 50), 0);
	read_is(&world, node, file, 100, 'z', 50);
	assert_int_equal(flush(&world, node, file), 0);
	world_end(&world);
}

/* A full disk is told by close(2), and only once; the file can be written when there is space again. */
static void
an_error_is_told_once(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	rr_memory_space(world.memory, 1, 0);
	assert_int_equal(write_at(&world, node, file, 0, 'x', PIECE), 0);
	assert_int_equal(flush(&world, node, file), ENOSPC);
	assert_int_equal(flush(&world, node, file), 0);
	rr_memory_space(world.memory, 0, 0);
	assert_int_equal(write_at(&world, node, file, 0, 'y', PIECE), 0);
	assert_int_equal(flush(&world, node, file), 0);
	read_is(&world, node, file, 0, 'y', PIECE);
	world_end(&world);
}

/* More than may be behind is not taken over before there is room. */
static void
memory_is_bounded(void **state)
{
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 8 * PIECE, &file);
	for (uint64_t i = 0; i < 200; i++) {
		/* Not one behind the other, so that each is a piece. */
		assert_int_equal(write_at(&world, node, file, 2 * i * PIECE, 'x', PIECE), 0);
		assert_true(counted(&world).behind <= 8 * PIECE);
	}
	assert_int_equal(flush(&world, node, file), 0);
	read_is(&world, node, file, 2 * 199 * PIECE, 'x', PIECE);
	world_end(&world);
}

/* A request that waits for a lock is answered when it is interrupted, and one that is not waiting is left
 * alone. */
static void
a_wait_for_a_lock_is_interrupted(void **state)
{
	struct world world;
	struct fuse_lk_in in = { .owner = 1, .lk = { .start = 0, .end = 9, .type = F_WRLCK } };
	struct fuse_interrupt_in interrupt = { 0 };
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	in.fh = file;
	assert_int_equal(CALL(&world, FUSE_SETLK, node, in, NULL, 0), 0);
	in.owner = 2;
	assert_int_equal(CALL(&world, FUSE_SETLK, node, in, NULL, 0), EAGAIN);
	assert_int_equal(CALL(&world, FUSE_GETLK, node, in, NULL, 0), 0);
	assert_int_equal(((const struct fuse_lk_out *)world.body)->lk.type, F_WRLCK);
	interrupt.unique = ask(&world, FUSE_SETLKW, node, &in, sizeof(in), NULL, 0);
	stage_turn(&world.stage);
	ask(&world, FUSE_INTERRUPT, 0, &interrupt, sizeof(interrupt), NULL, 0);
	assert_int_equal(answer(&world, interrupt.unique), EINTR);
	interrupt.unique = ask(&world, FUSE_SETLKW, node, &in, sizeof(in), NULL, 0);
	/* The process of the first owner closes the file. */
	assert_int_equal(
		call(&world, FUSE_FLUSH, node, &(struct fuse_flush_in){ .fh = file, .lock_owner = 1 },
			sizeof(struct fuse_flush_in), NULL, 0),
		0);
	stage_pass(&world.stage, RR_SECOND);
	assert_int_equal(answer(&world, interrupt.unique), 0);
	world_end(&world);
}

/* Nodes go when the kernel forgets them; what it was never told is not forgotten. */
static void
nodes_are_forgotten(void **state)
{
	struct world world;
	struct fuse_forget_in forget = { .nlookup = 1 };
	uint64_t nodes, file;
	char name[16];

	(void)state;
	world_begin(&world, 64 << 20);
	begin(&world);
	nodes = counted(&world).nodes;
	for (int i = 0; i < 100; i++) {
		struct fuse_release_in release;
		uint64_t node;

		snprintf(name, sizeof(name), "%d", i);
		node = make(&world, name, &file);
		release = (struct fuse_release_in){ .fh = file };
		assert_int_equal(CALL(&world, FUSE_RELEASE, node, release, NULL, 0), 0);
		assert_int_equal(call(&world, FUSE_LOOKUP, FUSE_ROOT_ID, NULL, 0, name, strlen(name) + 1), 0);
		assert_int_equal(((const struct fuse_entry_out *)world.body)->nodeid, node);
		forget.nlookup = 2;
		ask(&world, FUSE_FORGET, node, &forget, sizeof(forget), NULL, 0);
		ask(&world, FUSE_FORGET, node, &forget, sizeof(forget), NULL, 0);
	}
	stage_settle(&world.stage);
	assert_int_equal(counted(&world).nodes, nodes);
	/* A name that is not there is told as an entry without a node, which the kernel may keep. */
	assert_int_equal(call(&world, FUSE_LOOKUP, FUSE_ROOT_ID, NULL, 0, "none", 5), 0);
	assert_int_equal(((const struct fuse_entry_out *)world.body)->nodeid, 0);
	assert_int_equal(call(&world, FUSE_GETATTR, 12345, &(struct fuse_getattr_in){ 0 },
				 sizeof(struct fuse_getattr_in), NULL, 0),
		ESTALE);
	world_end(&world);
}

/* The kernel's requests with each bit flipped, and cut off: no crash, and at most one answer. */
static const char *
mutated(const uint8_t *data, size_t size, void *context)
{
	struct world *world = context;
	uint32_t length = (uint32_t)size;
	uint8_t message[512];
	uint32_t opcode;
	int answers = 0;

	if (size < sizeof(struct fuse_in_header) || size > sizeof(message))
		return NULL;
	memcpy(message, data, size);
	memcpy(message, &length, sizeof(length)); /* the kernel does not lie about that */
	memcpy(&opcode, message + offsetof(struct fuse_in_header, opcode), sizeof(opcode));
	/* An INIT or an end of the mount begins something else. */
	if (opcode == FUSE_INIT || opcode == FUSE_DESTROY)
		return NULL;
	if (send(world->kernel, message, size, 0) != (ssize_t)size)
		return "not sent";
	for (int i = 0; i < 3; i++)
		answers += taken(world) && world->header.unique != 0;
	while (taken(world))
		;
	return answers <= 1 ? NULL : "answered twice";
}

static void
requests_are_mutated(void **state)
{
	static const struct {
		uint32_t opcode;
		size_t args;
		const char *names;
		size_t size;
	} rows[] = { { FUSE_LOOKUP, 0, "file", 5 }, { FUSE_SETATTR, sizeof(struct fuse_setattr_in), "", 0 },
		{ FUSE_RENAME2, sizeof(struct fuse_rename2_in), "file\0other", 11 },
		{ FUSE_WRITE, sizeof(struct fuse_write_in), "data", 4 }, { FUSE_SYMLINK, 0, "link\0to", 8 },
		{ FUSE_SETXATTR, FUSE_COMPAT_SETXATTR_IN_SIZE, "user.a\0v", 8 },
		{ FUSE_READDIRPLUS, sizeof(struct fuse_read_in), "", 0 },
		{ FUSE_BATCH_FORGET, sizeof(struct fuse_batch_forget_in), "0123456789abcdef", 16 },
		{ FUSE_COPY_FILE_RANGE, sizeof(struct fuse_copy_file_range_in), "", 0 },
		{ FUSE_SETLK, sizeof(struct fuse_lk_in), "", 0 } };
	struct world world;
	uint64_t file, node;

	(void)state;
	node = begin_file(&world, 64 << 20, &file);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t message[512] = { 0 };
		struct fuse_in_header header = {
			.opcode = rows[i].opcode, .unique = 1000, .nodeid = i % 2 ? node : FUSE_ROOT_ID
		};
		size_t size = sizeof(header) + rows[i].args + rows[i].size;

		header.len = (uint32_t)size;
		memcpy(message, &header, sizeof(header));
		memset(message + sizeof(header), (int)file, rows[i].args ? 1 : 0);
		memcpy(message + sizeof(header) + rows[i].args, rows[i].names, rows[i].size);
		rr_mutate(message, size, mutated, &world);
	}
	world_end(&world);
}

/* Memory that ends is an error of the request, and no more. */
static void
memory_runs_out(void **state)
{
	(void)state;
	for (uint32_t fail = 1; fail < 60; fail++) {
		struct world world;
		uint64_t unique;

		world_begin(&world, 64 << 20);
		begin(&world);
		stage_tick(&world.stage);
		world.stage.allocations = 0;
		world.stage.fail_at = fail;
		unique = ask(&world, FUSE_CREATE, FUSE_ROOT_ID,
			&(struct fuse_create_in){ .flags = O_RDWR | O_CREAT, .mode = 0100644 },
			sizeof(struct fuse_create_in), "file", 5);
		answer(&world, unique);
		if (world.header.error == 0) {
			struct fuse_open_out open;
			uint64_t node = ((const struct fuse_entry_out *)world.body)->nodeid;

			memcpy(&open, world.body + sizeof(struct fuse_entry_out), sizeof(open));
			write_at(&world, node, open.fh, 0, 'x', PIECE);
			flush(&world, node, open.fh);
		}
		world.stage.fail_at = 0;
		world_end(&world);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_are_gathered),
		cmocka_unit_test(what_is_old_is_written),
		cmocka_unit_test(what_is_behind_counts_for_the_size),
		cmocka_unit_test(what_the_server_loses_is_written_again),
		cmocka_unit_test(writes_that_overlap_keep_their_order),
		cmocka_unit_test(an_error_is_told_once),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_wait_for_a_lock_is_interrupted),
		cmocka_unit_test(nodes_are_forgotten),
		cmocka_unit_test(requests_are_mutated),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
