/* SPDX-License-Identifier: BSD-3-Clause */
/* This does random operations through client and server of NFS version 3, on files in memory that answer at
 * once, late, or with an error, and compares the results with a model: a few names in a few directories. A
 * failure is printed with its seed and step; `test-nfs-model SEED STEPS` repeats it. */
#include "../gate.h"
#include "../stage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vfs/memory/memory.h"
#include "nfs/client_private.h"
#include "server/nfs3/server.h"

enum { NODES = 48, NAMES = 6, SIZE = 20000, STEPS = 6000, PIECE = 5000 };

struct node {
	ftype3 type; /* 0: the node is free */
	struct rpcrdma_nfs_handle handle;
	uint32_t links; /* number of names */
	uint32_t size;
	uint8_t data[SIZE];
	int entries[NAMES]; /* of a directory: indices of nodes, or -1 */
	int parent;
};

struct world {
	struct stage stage;
	struct rr_memory *memory;
	struct rr_memory_dice dice;
	uint32_t fail; /* this many of a thousand operations of the storage fail */
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs_server;
	struct rpcrdma_server *server;
	struct rr_drc *drc;
	struct sockaddr_in address;
	struct rpcrdma_nfs *nfs;
	struct node nodes[NODES]; /* the first is the root */
	uint64_t state, seed, step;
	bool done;
	int error;
};

static uint64_t given_seed = 1, given_steps = STEPS;

#define expect(world, condition)                                                                             \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			fail_msg(                                                                            \
				"seed %lu, step %lu: not so: %s", (world)->seed, (world)->step, #condition); \
	} while (0)

static uint32_t
throw_die(struct world *world, uint32_t sides)
{
	world->state = world->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(world->state >> 33) % sides;
}

static void
decide(void *ctx, enum rr_vfs_operation operation, const struct rr_vfs_call *call,
	struct rr_memory_fate *fate)
{
	struct world *world = ctx;

	rr_memory_dice(&world->dice, operation, call, fate);
	if (throw_die(world, 1000) < world->fail)
		fate->status = RR_VFS_IO;
}

static void
world_serve(struct world *world)
{
	static const struct rr_vfs_export export = { "/" };
	const struct rr_memory_config config = { .exports = &export, .export_count = 1, .seed = world->seed };
	struct rr_server_config server = rr_server_config_default;
	struct rr_service services[RR_NFS_SERVICES];
	struct rr_text text;

	assert_int_equal(rr_memory_new(&rr_env_system, &config, &world->memory), 0);
	assert_int_equal(rr_memory_provider(world->memory, world->stage.engine->loop, &world->vfs), 0);
	world->dice = (struct rr_memory_dice){ .state = world->seed, .late = 300, .turns = 3 };
	rr_memory_steer(world->memory, &(struct rr_memory_script){ decide, world });
	test_gate_init(&world->gate, world->vfs, TEST_GATE_OPEN);
	assert_int_equal(rr_nfs_server_new(&rr_env_system, world->stage.engine->results, &world->gate,
				 &world->nfs_server),
		0);
	rr_nfs_server_services(world->nfs_server, services);
	world->drc = rr_drc_new(&rr_env_system, &rr_drc_config_default);
	server.drc = world->drc;
	assert_int_equal(
		rr_server_new(world->stage.engine, &server, services, RR_NFS_SERVICES, &world->server), 0);
	world->address = stage_loopback();
	if (rr_server_listen(world->server, RR_TRANSPORT_TCP, (struct sockaddr *)&world->address,
		    sizeof(world->address), NULL, &text) < 0)
		fail_msg("%s", text.text);
}

static struct world *
world_new(uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rr_nfs_config config = { .rpc = { .transport = RR_TRANSPORT_TCP,
						.address_size = sizeof(struct sockaddr_in) },
		.server = "localhost",
		.path = "/" };
	struct rr_text text;

	assert_non_null(world);
	world->state = world->seed = seed;
	stage_init(&world->stage);
	world->stage.runs = true;
	stage_engine(&world->stage, NULL, NULL);
	world_serve(world);
	memcpy(&config.rpc.address, &world->address, sizeof(world->address));
	if (rr_nfs_open(world->stage.engine, &config, &world->nfs, &text) != 0)
		fail_msg("%s", text.text);
	world->nodes[0].type = NF3DIR;
	world->nodes[0].handle = *rr_nfs_root(world->nfs);
	for (int i = 0; i < NAMES; i++)
		world->nodes[0].entries[i] = -1;
	return world;
}

static void
world_free(struct world *world)
{
	rpcrdma_nfs_close(world->nfs);
	rr_server_free(world->server);
	rr_vfs_destroy(world->vfs);
	rr_nfs_server_free(world->nfs_server);
	rr_gate_end(&world->gate);
	rr_drc_free(world->drc);
	rr_memory_free(world->memory);
	stage_end(&world->stage);
	free(world);
}

/* Tells whether the operation succeeded, and checks that its status is that of the model. After an error of
 * the storage the model stays as it is. */
static bool
judge(struct world *world, int status, int wanted)
{
	if (status == NFS3ERR_IO && world->fail > 0)
		return false;
	if (status != wanted)
		fail_msg("seed %lu, step %lu: status %d where %d was wanted", world->seed, world->step,
			status, wanted);
	return status == NFS3_OK;
}

static const char *
name_of(int name)
{
	static const char *const names[NAMES] = { "a", "b", "c", "d", "e", "f" };

	return names[name];
}

/* Picks a node of this type, or of any type where type is 0. -1: there is no such node. */
static int
pick(struct world *world, ftype3 type)
{
	uint32_t first = throw_die(world, NODES);

	for (uint32_t i = 0; i < NODES; i++) {
		int node = (int)((first + i) % NODES);
		bool fits = type ? world->nodes[node].type == type : world->nodes[node].type != 0;

		if (fits)
			return node;
	}
	return -1;
}

/* Picks a file. NULL: there is no file. */
static struct node *
pick_file(struct world *world)
{
	int file = pick(world, NF3REG);

	return file >= 0 ? &world->nodes[file] : NULL;
}

static int
free_node(const struct world *world)
{
	for (int i = 1; i < NODES; i++)
		if (world->nodes[i].type == 0)
			return i;
	return -1;
}

static bool
is_empty(const struct node *node)
{
	for (int i = 0; i < NAMES; i++)
		if (node->entries[i] >= 0)
			return false;
	return true;
}

/* Removes a name from the model, and checks that the handle of a node that lost its last name is stale. */
static void
drop_name(struct world *world, int directory, int name)
{
	struct node *node = &world->nodes[world->nodes[directory].entries[name]];
	struct rpcrdma_nfs_object object;
	uint32_t fail = world->fail;

	world->nodes[directory].entries[name] = -1;
	if (--node->links > 0)
		return;
	world->fail = 0;
	expect(world, rr_nfs_getattr(world->nfs, &node->handle, &object) == NFS3ERR_STALE);
	world->fail = fail;
	node->type = 0;
}

static void
add_name(struct world *world, int directory, int name, int node)
{
	world->nodes[directory].entries[name] = node;
	world->nodes[node].parent = directory;
	world->nodes[node].links++;
}

/* Looks up a name at the server, without errors of the storage. */
static struct rpcrdma_nfs_object
look(struct world *world, int directory, int name)
{
	struct rpcrdma_nfs_object object;
	uint32_t fail = world->fail;

	world->fail = 0;
	expect(world,
		rr_nfs_lookup(world->nfs, &world->nodes[directory].handle, name_of(name), &object) == 0);
	world->fail = fail;
	return object;
}

/* Makes a file by an UNCHECKED CREATE, which the client itself never sends. Returns the result. */
static int
create_unchecked(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name)
{
	const CREATE3args args = { .where = { rr_nfs_fh(directory), rr_nfs_string(name) },
		.how.mode = UNCHECKED };
	CREATE3res result;
	struct rr_call call = { .program = &NFS_V3_program,
		.proc = NFSPROC3_CREATE,
		.args = &args,
		.result = &result,
		.keep = nfs->keep,
		.keep_size = sizeof(nfs->keep) };
	int error = rr_nfs_wait(nfs, nfs->client, &call);

	return error < 0 ? error : (int)result.status;
}

static void
make(struct world *world)
{
	static const ftype3 types[] = { NF3REG, NF3REG, NF3DIR, NF3LNK };
	static const struct rpcrdma_nfs_changes nothing = { .size = sizeof(nothing) };
	int directory = pick(world, NF3DIR), name = (int)throw_die(world, NAMES), made = free_node(world);
	ftype3 type = types[throw_die(world, 4)];
	bool guarded = throw_die(world, 2);
	int there = world->nodes[directory].entries[name], status;
	const struct rpcrdma_nfs_handle *handle = &world->nodes[directory].handle;
	bool reused = type == NF3REG && !guarded && there >= 0 && world->nodes[there].type == NF3REG;
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	if (made < 0)
		return;
	if (type == NF3REG)
		status = guarded ? rpcrdma_nfs_create(
					   world->nfs, handle, name_of(name), &nothing, &object, NULL)
				 : create_unchecked(world->nfs, handle, name_of(name));
	else if (type == NF3DIR)
		status = rpcrdma_nfs_mkdir(world->nfs, handle, name_of(name), &nothing, &object, NULL);
	else
		status = rpcrdma_nfs_symlink(world->nfs, handle, name_of(name), name_of(name), &object, NULL);
	if (!judge(world, status, there < 0 || reused ? NFS3_OK : NFS3ERR_EXIST) || reused)
		return;
	world->nodes[made] = (struct node){ .type = type, .handle = look(world, directory, name).handle };
	for (int i = 0; i < NAMES; i++)
		world->nodes[made].entries[i] = -1;
	add_name(world, directory, name, made);
}

static void
make_link(struct world *world)
{
	int directory = pick(world, NF3DIR), name = (int)throw_die(world, NAMES), file = pick(world, NF3REG);

	if (file < 0)
		return;
	if (judge(world,
		    rpcrdma_nfs_link(world->nfs, &world->nodes[file].handle, &world->nodes[directory].handle,
			    name_of(name), NULL),
		    world->nodes[directory].entries[name] < 0 ? NFS3_OK : NFS3ERR_EXIST))
		add_name(world, directory, name, file);
}

static void
take_away(struct world *world)
{
	int directory = pick(world, NF3DIR), name = (int)throw_die(world, NAMES);
	int there = world->nodes[directory].entries[name], status, wanted = NFS3_OK;
	const struct rpcrdma_nfs_handle *handle = &world->nodes[directory].handle;
	bool of_directory = throw_die(world, 2),
	     is_directory = there >= 0 && world->nodes[there].type == NF3DIR;

	if (of_directory)
		status = rpcrdma_nfs_rmdir(world->nfs, handle, name_of(name), NULL);
	else
		status = rpcrdma_nfs_remove(world->nfs, handle, name_of(name), NULL);
	if (there < 0)
		wanted = NFS3ERR_NOENT;
	else if (of_directory != is_directory)
		wanted = is_directory ? NFS3ERR_ISDIR : NFS3ERR_NOTDIR;
	else if (is_directory && !is_empty(&world->nodes[there]))
		wanted = NFS3ERR_NOTEMPTY;
	if (judge(world, status, wanted))
		drop_name(world, directory, name);
}

static int
rename_wanted(const struct world *world, int moved, int to, int replaced)
{
	bool directory = moved >= 0 && world->nodes[moved].type == NF3DIR;

	if (moved < 0)
		return NFS3ERR_NOENT;
	if (moved == replaced)
		return NFS3_OK;
	for (int up = to; directory; up = world->nodes[up].parent) {
		if (up == moved)
			return NFS3ERR_INVAL;
		if (up == 0)
			break;
	}
	if (replaced < 0)
		return NFS3_OK;
	if (directory != (world->nodes[replaced].type == NF3DIR))
		return NFS3ERR_EXIST;
	return directory && !is_empty(&world->nodes[replaced]) ? NFS3ERR_NOTEMPTY : NFS3_OK;
}

static void
change_name(struct world *world)
{
	int from = pick(world, NF3DIR), to = pick(world, NF3DIR);
	int old = (int)throw_die(world, NAMES), new = (int)throw_die(world, NAMES);
	int moved = world->nodes[from].entries[old], replaced = world->nodes[to].entries[new];
	int status = rpcrdma_nfs_rename(world->nfs, &world->nodes[from].handle, name_of(old),
		&world->nodes[to].handle, name_of(new), NULL);

	if (!judge(world, status, rename_wanted(world, moved, to, replaced)) || moved == replaced)
		return;
	world->nodes[from].entries[old] = -1;
	if (replaced >= 0)
		drop_name(world, to, new);
	world->nodes[moved].links--;
	add_name(world, to, new, moved);
}

static void
moved_data(struct rr_nfs_io *io, int error)
{
	struct world *world = io->ctx;

	world->done = true;
	world->error = error;
}

static int
move_data(struct world *world, struct rr_nfs_io *io, bool writing)
{
	io->done = moved_data;
	io->ctx = world;
	world->done = false;
	if (writing)
		rr_nfs_write(world->nfs, io);
	else
		rr_nfs_read(world->nfs, io);
	turn_until(world->done, rr_loop_turn(world->stage.engine->loop, RR_SECOND));
	return world->error;
}

static void
write_data(struct world *world)
{
	struct node *node = pick_file(world);
	uint32_t offset = throw_die(world, SIZE - PIECE), length = 1 + throw_die(world, PIECE);
	uint8_t data[PIECE];
	struct rr_nfs_io io = { .data = data, .offset = offset, .length = length };

	if (!node)
		return;
	io.file = &node->handle;
	for (uint32_t i = 0; i < length; i++)
		data[i] = (uint8_t)throw_die(world, 256);
	io.stable = (stable_how)throw_die(world, 3);
	if (!judge(world, move_data(world, &io, true), NFS3_OK))
		return;
	expect(world, io.committed >= io.stable);
	memcpy(node->data + offset, data, length);
	if (offset + length > node->size)
		node->size = offset + length;
}

static void
read_data(struct world *world)
{
	struct node *node = pick_file(world);
	uint32_t offset = throw_die(world, SIZE), length = 1 + throw_die(world, PIECE), left;
	uint8_t data[PIECE];
	struct rr_nfs_io io = { .data = data, .offset = offset, .length = length };

	if (!node)
		return;
	io.file = &node->handle;
	if (!judge(world, move_data(world, &io, false), NFS3_OK))
		return;
	left = offset < node->size ? node->size - offset : 0;
	expect(world, io.moved == (length < left ? length : left));
	expect(world, io.eof == (io.moved == left));
	expect(world, memcmp(data, node->data + offset, io.moved) == 0);
}

static void
set_size(struct world *world)
{
	struct node *node = pick_file(world);
	uint32_t size = throw_die(world, SIZE);
	const struct rpcrdma_nfs_changes changes = {
		.size = sizeof(changes), .set_length = true, .length = size
	};

	if (!node || !judge(world, rpcrdma_nfs_change(world->nfs, &node->handle, &changes, NULL), NFS3_OK))
		return;
	if (size < node->size)
		memset(node->data + size, 0, node->size - size);
	node->size = size;
}

static void
get_attributes(struct world *world)
{
	int any = pick(world, 0);
	const struct node *node = &world->nodes[any];
	struct rpcrdma_nfs_object object;

	if (!judge(world, rr_nfs_getattr(world->nfs, &node->handle, &object), NFS3_OK))
		return;
	expect(world, (int)object.type == (int)node->type);
	if (node->type != NF3DIR)
		expect(world, object.links == node->links);
	if (node->type == NF3REG)
		expect(world, object.length == node->size);
}

static void
look_up(struct world *world)
{
	int directory = pick(world, NF3DIR), name = (int)throw_die(world, NAMES);
	int there = world->nodes[directory].entries[name];
	struct rpcrdma_nfs_object object;

	if (judge(world, rr_nfs_lookup(world->nfs, &world->nodes[directory].handle, name_of(name), &object),
		    there < 0 ? NFS3ERR_NOENT : NFS3_OK))
		expect(world, (int)object.type == (int)world->nodes[there].type);
}

static int
count_name(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	uint32_t *counts = ctx;

	if (strlen(entry->name) != 1 || entry->name[0] < 'a' || entry->name[0] >= 'a' + NAMES)
		return NFS3ERR_SERVERFAULT;
	counts[entry->name[0] - 'a']++;
	return 0;
}

static void
list(struct world *world)
{
	int directory = pick(world, NF3DIR);
	uint32_t counts[NAMES] = { 0 };

	if (!judge(world, rr_nfs_readdir(world->nfs, &world->nodes[directory].handle, count_name, counts),
		    NFS3_OK))
		return;
	for (int i = 0; i < NAMES; i++)
		expect(world, counts[i] == (world->nodes[directory].entries[i] >= 0));
}

static void
commit(struct world *world)
{
	int file = pick(world, NF3REG);
	uint8_t verifier[NFS3_WRITEVERFSIZE];

	if (file >= 0)
		judge(world, rpcrdma_nfs_commit(world->nfs, &world->nodes[file].handle, verifier, NULL),
			NFS3_OK);
}

static void
run(uint64_t seed, uint64_t steps, uint32_t fail)
{
	static void (*const actions[])(struct world * world) = { make, make, make, make_link, take_away,
		take_away, change_name, change_name, write_data, write_data, read_data, read_data, set_size,
		get_attributes, look_up, list, commit };
	struct world *world = world_new(seed);

	world->fail = fail;
	for (; world->step < steps; world->step++)
		actions[throw_die(world, sizeof(actions) / sizeof(actions[0]))](world);
	world_free(world);
}

static void
the_server_does_what_the_model_does(void **state)
{
	(void)state;
	run(given_seed, given_steps, 0);
	run(given_seed + 1, given_steps, 0);
}

static void
an_error_of_the_storage_changes_nothing(void **state)
{
	(void)state;
	run(given_seed + 2, given_steps, 50);
	run(given_seed + 3, given_steps, 300);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_does_what_the_model_does),
		cmocka_unit_test(an_error_of_the_storage_changes_nothing),
	};

	if (argc > 1)
		given_seed = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		given_steps = strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
