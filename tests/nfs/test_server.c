/* SPDX-License-Identifier: BSD-3-Clause */
#include "../gate.h"
#include "../stage.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fabric/loop/loop.h"
#include "fabric/iwarp/iwarp.h"
#include "nfs/client.h"
#include "server/nfs3/server.h"
#include "vfs/posix/posix.h"

/* This tests server and client in one engine: from the client's calls down to the carrier, and up again to a
 * directory. */

enum { PIECES = 4, PIECE = 1 << 20, SIZE = PIECES * PIECE - 12345, FILES = 500 };

static rr_fabric_new *provider; /* NULL: TCP */
static bool apart;              /* the procedures run in a thread of their own */

enum { GROUP = 54321 };

struct world {
	struct stage stage;
	char path[STAGE_PATH];
	struct rr_tree_export export;
	struct rr_posix_shared *shared;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs_server;
	struct rpcrdma_server *server;
	struct rr_drc *drc; /* outlives the server */
	struct rr_service nfs_service;
	bool striking;        /* the connection breaks after the next call, before its reply is sent */
	uint32_t inline_then; /* the inline threshold after that, in version 1; 0: as before */
	struct rr_task strike;
	struct sockaddr_in address;
	struct rpcrdma_nfs *nfs;
	uint8_t *data, *copy; /* of SIZE octets each, and a few more */
	struct rr_nfs_io io[PIECES];
	unsigned done;
};

/* These count how often the thread of the loop waited for a disk, and how often any thread waited for all
 * disks of the machine. */
static _Thread_local bool in_loop;
static atomic_uint waits_in_loop, waits_for_all;

static int
note_wait(void)
{
	waits_in_loop += in_loop;
	return 0;
}

/* These functions replace those of the C library for the objects that this program is linked with. */
int
fsync(int fd)
{
	(void)fd;
	return note_wait();
}

int
fdatasync(int fd)
{
	(void)fd;
	return note_wait();
}

int
syncfs(int fd)
{
	(void)fd;
	return note_wait();
}

void
sync(void)
{
	waits_for_all++;
	note_wait();
}

static enum rpcrdma_handled
handle(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const struct rr_service *service = &world->nfs_service;

	if (world->striking)
		rr_loop_defer(world->stage.engine->loop, &world->strike);
	world->striking = false;
	return service->handlers[request->proc](service->ctx, request, args, result);
}

/* Puts handle() in front of each procedure of NFS. */
static void
interpose(struct world *world, struct rr_service *service)
{
	static rpcrdma_handler *handlers[NFSPROC3_COMMIT + 1];

	for (uint32_t i = 0; i <= NFSPROC3_COMMIT; i++)
		handlers[i] = handle;
	world->nfs_service = *service;
	service->handlers = handlers;
	service->ctx = world;
}

static void
start_server(struct world *world)
{
	struct rr_server_config server = rr_server_config_default;
	struct rr_tree_config tree = {
		.exports = &world->export, .export_count = 1, .workers = apart ? RR_POSIX_WORKERS : 0
	};
	struct sockaddr *address = (struct sockaddr *)&world->address;
	struct rr_service services[RR_NFS_SERVICES];
	struct rr_text text = { "" };
	int error = rr_posix_new(
		&world->stage.env, world->stage.engine->loop, &tree, world->shared, &world->vfs, &text);

	if (error)
		fail_msg("%s", text.text);
	if (apart)
		rr_posix_apart(world->vfs);
	test_gate_init(&world->gate, world->vfs, TEST_GATE_OPEN);
	assert_int_equal(rr_nfs_server_new(&world->stage.env, world->stage.engine->results, &world->gate,
				 &world->nfs_server),
		0);
	rr_nfs_server_services(world->nfs_server, services);
	interpose(world, &services[0]);
	server.drc = world->drc;
	assert_int_equal(
		rr_server_new(world->stage.engine, &server, services, RR_NFS_SERVICES, &world->server), 0);
	error = provider ? rr_server_listen(world->server, RR_TRANSPORT_AUTO, address, sizeof world->address,
				   NULL, &text)
			 : rr_server_listen(world->server, RR_TRANSPORT_TCP, address, sizeof world->address,
				   NULL, &text);
	if (error)
		fail_msg("%s", text.text);
}

static void
stop_server(struct world *world)
{
	rr_server_free(world->server);
	rr_vfs_destroy(world->vfs);
	rr_nfs_server_free(world->nfs_server);
	rr_gate_end(&world->gate);
}

static void
strike(struct rr_task *task)
{
	struct world *world = rr_container(task, struct world, strike);
	struct rr_engine_config *config = &world->stage.engine->config;

	stop_server(world);
	if (world->inline_then > 0) {
		config->versions = RR_VERSIONS_1;
		config->inline_send = config->inline_receive = world->inline_then;
	}
	start_server(world);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof *world);
	struct rr_nfs_config config = {
		.rpc = { .transport = provider ? RR_TRANSPORT_AUTO : RR_TRANSPORT_TCP,
			.address_size = sizeof world->address,
			.user = { .gid_count = 1, .gids = { GROUP } },
			.retry = 10 * RR_SECOND },
		.server = "localhost",
		.path = "/export",
	};
	struct rr_text text;

	assert_non_null(world);
	*state = world;
	stage_init(&world->stage);
	world->stage.runs = true;
	stage_engine(&world->stage, NULL, provider);
	stage_directory(world->path);
	world->export = (struct rr_tree_export){ world->path, "/export" };
	assert_int_equal(rr_posix_shared_new(&rr_env_system, 1, &world->shared), 0);
	world->data = malloc(SIZE);
	world->copy = calloc(1, SIZE + 100);
	for (uint32_t i = 0; i < SIZE; i++)
		world->data[i] = (uint8_t)(i * 7 + i / 253);
	world->address = stage_loopback();
	rr_task_init(&world->strike, strike);
	world->drc = rr_drc_new(&world->stage.env, &rr_drc_config_default);
	assert_non_null(world->drc);
	start_server(world);
	memcpy(&config.rpc.address, &world->address, sizeof world->address);
	if (rr_nfs_open(world->stage.engine, &config, &world->nfs, &text) != 0)
		fail_msg("%s", text.text);
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rpcrdma_nfs_close(world->nfs);
	stop_server(world);
	rr_posix_shared_free(world->shared);
	rr_drc_free(world->drc);
	stage_end(&world->stage);
	stage_remove(world->path);
	free(world->data);
	free(world->copy);
	free(world);
	return 0;
}

static void
io_done(struct rr_nfs_io *io, int error)
{
	struct world *world = io->ctx;

	assert_int_equal(error, 0);
	world->done++;
}

/* Reads or writes all pieces of the file at the same time. */
static void
move(struct world *world, const struct rpcrdma_nfs_handle *file, uint8_t *data, uint32_t size, bool writing)
{
	world->done = 0;
	for (uint32_t i = 0; i < PIECES; i++) {
		uint32_t rest = size - i * PIECE;

		world->io[i] = (struct rr_nfs_io){
			.file = file,
			.data = data + i * PIECE,
			.offset = i * PIECE,
			.length = rest < PIECE ? rest : PIECE,
			.stable = UNSTABLE,
			.done = io_done,
			.ctx = world,
		};
		if (writing)
			rr_nfs_write(world->nfs, &world->io[i]);
		else
			rr_nfs_read(world->nfs, &world->io[i]);
	}
	while (world->done < PIECES)
		assert_true(rr_loop_turn(world->stage.engine->loop, 10 * RR_SECOND) >= 0);
}

static struct rpcrdma_nfs_object
make_file(struct world *world, const char *text)
{
	struct rpcrdma_nfs_object file = { .size = sizeof(file) };
	const struct rpcrdma_nfs_changes changes = {
		.size = sizeof(changes), .set_mode = true, .mode = 0640
	};

	assert_int_equal(
		rpcrdma_nfs_create(world->nfs, rr_nfs_root(world->nfs), text, &changes, &file, NULL), 0);
	return file;
}

/* Makes a symbolic link with the name "link". Returns the result. */
static int
make_link(struct world *world, const char *target)
{
	struct rpcrdma_nfs_object link = { .size = sizeof(link) };

	return rpcrdma_nfs_symlink(world->nfs, rr_nfs_root(world->nfs), "link", target, &link, NULL);
}

/* RFC 8267, 5.1: MOUNT is served over TCP, too; it was used to open the file system, over each transport. */
static void
a_large_file_goes_there_and_back(void **state)
{
	struct world *world = *state;
	struct rpcrdma_nfs_object file = make_file(world, "file");
	uint8_t verifier[NFS3_WRITEVERFSIZE];

	move(world, &file.handle, world->data, SIZE, true);
	assert_int_equal(rpcrdma_nfs_commit(world->nfs, &file.handle, verifier, NULL), 0);
	for (uint32_t i = 0; i < PIECES; i++)
		assert_memory_equal(world->io[i].verifier, verifier, sizeof verifier);
	/* The last READ asks for octets behind the end of the file. */
	move(world, &file.handle, world->copy, SIZE + 100, false);
	assert_int_equal(world->io[PIECES - 1].moved, SIZE - (PIECES - 1) * PIECE);
	assert_true(world->io[PIECES - 1].eof);
	assert_memory_equal(world->copy, world->data, SIZE);
	assert_int_equal(rr_nfs_getattr(world->nfs, &file.handle, &file), 0);
	assert_int_equal(file.length, SIZE);
}

static void
handles_outlive_the_server(void **state)
{
	struct world *world = *state;
	struct rpcrdma_nfs_object file = make_file(world, "file");
	uint8_t before[NFS3_WRITEVERFSIZE], after[NFS3_WRITEVERFSIZE];

	move(world, &file.handle, world->data, SIZE, true);
	memcpy(before, world->io[0].verifier, sizeof before);
	stop_server(world);
	world->shared->verifier = 2;
	start_server(world);
	assert_int_equal(rpcrdma_nfs_commit(world->nfs, &file.handle, after, NULL), 0);
	assert_memory_not_equal(after, before, sizeof after);
	move(world, &file.handle, world->copy, SIZE, false);
	assert_memory_equal(world->copy, world->data, SIZE);
}

static int
count_entry(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	assert_non_null(entry->object);
	assert_int_equal(entry->name[0], 'n');
	++*(unsigned *)ctx;
	return 0;
}

static void
a_pipe_is_made_and_rights_are_asked_for(void **state)
{
	const struct rpcrdma_nfs_changes changes = {
		.size = sizeof(changes), .set_mode = true, .mode = 0620
	};
	struct rpcrdma_nfs_object pipe = { .size = sizeof(pipe), .type = RPCRDMA_NFS_FIFO }, file;
	struct world *world = *state;
	const struct rpcrdma_nfs_handle *root = rr_nfs_root(world->nfs);
	uint32_t granted = 0;
	struct stat found;
	char text[128];

	assert_int_equal(rpcrdma_nfs_mknod(world->nfs, root, "pipe", &changes, &pipe, NULL), 0);
	snprintf(text, sizeof text, "%s/pipe", world->path);
	assert_int_equal(lstat(text, &found), 0);
	assert_int_equal(found.st_mode, S_IFIFO | 0620);
	assert_int_equal(pipe.type, RPCRDMA_NFS_FIFO);
	assert_int_equal(pipe.number, found.st_ino);
	assert_int_equal(
		rpcrdma_nfs_mknod(world->nfs, root, "pipe", &changes, &pipe, NULL), RPCRDMA_NFS_EXIST);
	pipe.type = RPCRDMA_NFS_FILE;
	assert_int_equal(
		rpcrdma_nfs_mknod(world->nfs, root, "other", &changes, &pipe, NULL), -RPCRDMA_ERR_INVAL);
	file = make_file(world, "file");
	assert_int_equal(rpcrdma_nfs_access(world->nfs, &file.handle,
				 RPCRDMA_NFS_MAY_READ | RPCRDMA_NFS_MAY_LOOKUP, &granted, NULL),
		0);
	/* RFC 1813, 3.3.4: "Look up a name in a directory (no meaning for non-directory objects)." */
	assert_int_equal(granted, RPCRDMA_NFS_MAY_READ);
	assert_int_equal(rpcrdma_nfs_access(world->nfs, &file.handle, 1, NULL, NULL), -RPCRDMA_ERR_INVAL);
}

static void
a_large_directory_is_listed(void **state)
{
	struct world *world = *state;
	struct rpcrdma_nfs_object directory = { .size = sizeof(directory) };
	unsigned count = 0;
	char text[128];

	assert_int_equal(
		rpcrdma_nfs_mkdir(world->nfs, rr_nfs_root(world->nfs), "d", NULL, &directory, NULL), 0);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(text, sizeof text, "%s/d/name-%u", world->path, i);
		assert_int_equal(mknod(text, S_IFREG | 0644, 0), 0);
	}
	assert_int_equal(rr_nfs_readdir(world->nfs, &directory.handle, count_entry, &count), 0);
	assert_int_equal(count, FILES);
}

static void
names_are_made_moved_and_removed(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_nfs_handle *root = rr_nfs_root(world->nfs);
	struct rpcrdma_nfs_object object;
	char target[RR_NFS_PATH];

	make_file(world, "file");
	assert_int_equal(make_link(world, "file"), 0);
	assert_int_equal(rr_nfs_lookup(world->nfs, root, "link", &object), 0);
	assert_int_equal(rr_nfs_readlink(world->nfs, &object.handle, target), 0);
	assert_string_equal(target, "file");
	assert_int_equal(rpcrdma_nfs_rename(world->nfs, root, "file", root, "moved", NULL), 0);
	assert_int_equal(rr_nfs_lookup(world->nfs, root, "file", &object), NFS3ERR_NOENT);
	assert_int_equal(rpcrdma_nfs_remove(world->nfs, root, "moved", NULL), 0);
	assert_int_equal(rpcrdma_nfs_remove(world->nfs, root, "moved", NULL), NFS3ERR_NOENT);
	assert_int_equal(rpcrdma_nfs_rmdir(world->nfs, root, "link", NULL), NFS3ERR_NOTDIR);
}

/* A thread beside that of the loop stores the changes of calls, and the loop serves other calls meanwhile.
 * For a symbolic link, which cannot be opened, its file system is stored. */
static void
the_loop_waits_for_no_disk(void **state)
{
	const struct rpcrdma_nfs_changes mode = { .size = sizeof(mode), .set_mode = true, .mode = 0600 };
	const struct rpcrdma_nfs_changes time = {
		.size = sizeof(time), .set_modified = true, .modified = { .seconds = 77 }
	};
	struct world *world = *state;
	const struct rpcrdma_nfs_handle *root = rr_nfs_root(world->nfs);
	struct rpcrdma_nfs_object file, link;

	in_loop = true;
	waits_in_loop = waits_for_all = 0;
	file = make_file(world, "file");
	assert_int_equal(rpcrdma_nfs_change(world->nfs, &file.handle, &mode, NULL), 0);
	assert_int_equal(make_link(world, "file"), 0);
	assert_int_equal(rr_nfs_lookup(world->nfs, root, "link", &link), 0);
	assert_int_equal(rpcrdma_nfs_change(world->nfs, &link.handle, &time, NULL), 0);
	assert_int_equal(rpcrdma_nfs_rename(world->nfs, root, "file", root, "moved", NULL), 0);
	assert_int_equal(rpcrdma_nfs_remove(world->nfs, root, "moved", NULL), 0);
	assert_int_equal(waits_in_loop, 0);
	assert_int_equal(waits_for_all, 0);
}

/* A call that would fail when it is executed twice succeeds where only its reply was lost. */
static void
lost_replies_are_not_lost_changes(void **state)
{
	struct world *world = *state;
	const struct rpcrdma_nfs_handle *root = rr_nfs_root(world->nfs);
	struct rpcrdma_nfs_object object;

	world->striking = true;
	make_file(world, "file"); /* GUARDED: a second execution would find the file */
	world->striking = true;
	assert_int_equal(rpcrdma_nfs_rename(world->nfs, root, "file", root, "moved", NULL), 0);
	assert_int_equal(rr_nfs_lookup(world->nfs, root, "moved", &object), 0);
	world->striking = true;
	assert_int_equal(rpcrdma_nfs_remove(world->nfs, root, "moved", NULL), 0);
	assert_int_equal(rr_nfs_lookup(world->nfs, root, "moved", &object), NFS3ERR_NOENT);
	assert_false(world->striking);
	assert_true(rr_drc_hits(world->drc) == 3);
}

/* RFC 8166, 3.4: a message is the same however it travels. The client comes back with another version and a
 * smaller threshold: the target of the link, which was inline, now travels as a Read chunk. */
static void
a_repeated_symlink_is_known_however_it_travels(void **state)
{
	struct world *world = *state;
	char target[2010];

	memset(target, 't', sizeof target - 1);
	target[sizeof target - 1] = 0;
	make_file(world, "file"); /* version 2 is agreed on before */
	world->striking = true;
	world->inline_then = 1024;
	assert_int_equal(make_link(world, target), 0);
	assert_false(world->striking);
	assert_int_equal(rr_drc_hits(world->drc), 1);
}

/* The kernel demands this of a thread that uses RDMA adapters. The test needs root, as other users cannot
 * change their credentials. */
static void
a_thread_apart_leaves_this_ones_credentials_alone(void **state)
{
	struct world *world = *state;
	gid_t before[NGROUPS_MAX], after[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, before);

	if (!apart)
		skip();
	make_file(world, "file");
	assert_int_equal(getgroups(NGROUPS_MAX, after), count);
	assert_memory_equal(after, before, (size_t)count * sizeof(before[0]));
	for (int i = 0; i < count; i++)
		assert_int_not_equal(after[i], GROUP);
}

static int
run(const char *title, rr_fabric_new *make, bool in_own_thread)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_large_file_goes_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(handles_outlive_the_server, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pipe_is_made_and_rights_are_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_directory_is_listed, setup, teardown),
		cmocka_unit_test_setup_teardown(lost_replies_are_not_lost_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_repeated_symlink_is_known_however_it_travels, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_made_moved_and_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_loop_waits_for_no_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_thread_apart_leaves_this_ones_credentials_alone, setup, teardown),
	};

	provider = make;
	apart = in_own_thread;
	return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int
main(void)
{
	int failed = run("over the loop provider", rr_loop_fabric_new, false);

	failed += run("over iWARP", rr_iwarp_fabric_new, false);
	failed += run("over TCP", NULL, false);
	failed += run("with a thread for the procedures", rr_loop_fabric_new, true);
	return failed != 0;
}
