/* SPDX-License-Identifier: BSD-3-Clause */
/* The mount, in front of a kernel that this test plays. */
#include "../mutate.h"
#include "world.h"

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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_a_lock_is_interrupted),
		cmocka_unit_test(nodes_are_forgotten),
		cmocka_unit_test(requests_are_mutated),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
