/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nfs tcp|iwarp VERSION null|read|write|read-4.2|list|store OCTETS DEPTH CALLS: makes CALLS calls to an NFS
 * server in the same process, DEPTH calls at a time, over NFS version 3, or over version 4.2 with read-4.2.
 * VERSION is that of RPC-over-RDMA, or 0 over TCP. A READ or WRITE (UNSTABLE) has OCTETS octets of a file on
 * tmpfs. A list is a READDIRPLUS of a directory on tmpfs with OCTETS entries, which one reply holds. Client
 * and server have an engine each, and take turns in one thread when the client has mounted the export:
 * bench/instructions counts the instructions of client_turn() and server_turn().
 *
 * A store is a WRITE (FILE_SYNC) to a file in the working directory, which must lie on a disk: else the
 * program exits with IN_MEMORY. The server has threads for what may wait, as rpcrdma-serve has, and its
 * engine a thread of its own.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rpcrdma/nfs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "nfs/client.h"
#include "rpc/server.h"
#include "server/nfs3/server.h"
#include "server/nfs4/server.h"
#include "still.h"
#include "vfs/door.h"
#include "vfs/gate.h"
#include "vfs/posix/posix.h"

enum { OCTETS_MAX = 1 << 20, DEPTH_MAX = 64, ARENA = 1 << 20, WORKERS = 4, IN_MEMORY = 3 };

enum work { WORK_NULL, WORK_READ, WORK_WRITE, WORK_READ_4, WORK_LIST, WORK_STORE, WORKS };

static const char *const works[WORKS] = { "null", "read", "write", "read-4.2", "list", "store" };

struct bench;

/* A lane makes a call after the other. */
struct lane {
	struct bench *bench;
	struct rr_call call;
	READDIRPLUS3args list;
	READDIRPLUS3res listed;
	struct rpcrdma_nfs_io io;
};

/* A directory, on tmpfs or on a disk, with one file in it and a directory with entries. */
static char directory_in_memory[] = "/dev/shm/rpcrdma-bench-XXXXXX",
	    directory_here[] = "rpcrdma-bench-XXXXXX";
static char *directory = directory_in_memory;
static uint32_t entries;

struct bench {
	struct rpcrdma_engine *client_engine, *server_engine;
	struct rr_posix_shared *shared;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs_server;
	struct rr_nfs4_shared *shared4;
	struct rr_nfs4_server *nfs4_server;
	struct rpcrdma_server *server;
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_object file, list;
	pthread_t thread; /* the server's, while the client waits for it */
	atomic_bool waits;
	enum work work;
	uint32_t octets, depth, left, under_way;
	struct lane lanes[DEPTH_MAX];
};

void client_turn(struct bench *bench);
void server_turn(struct bench *bench);

static void lane_begin(struct lane *lane);

/* Tells whether the lane's call did what it was to do. */
static bool
lane_is_good(const struct lane *lane)
{
	const struct bench *bench = lane->bench;
	uint32_t count = 0;

	if (bench->work == WORK_NULL)
		return true;
	if (bench->work != WORK_LIST)
		return lane->io.moved == bench->octets;
	if (lane->listed.status != NFS3_OK || !lane->listed.u.resok.reply.eof)
		return false;
	for (const entryplus3 *entry = lane->listed.u.resok.reply.entries; entry; entry = entry->nextentry)
		count += entry->name_attributes.attributes_follow && entry->name_handle.handle_follows;
	return count == bench->octets + 2; /* "." and "..", too */
}

static void
lane_end(struct lane *lane, int error)
{
	if (error || !lane_is_good(lane))
		errx(1, "%s: %s", works[lane->bench->work], rpcrdma_nfs_error(lane->bench->nfs));
	lane->bench->under_way--;
	lane_begin(lane);
}

static void
lane_called(struct rr_call *call, int error)
{
	lane_end(call->ctx, error);
}

static void
lane_moved(void *ctx, int error)
{
	lane_end(ctx, error);
}

static void
lane_begin(struct lane *lane)
{
	const struct rpcrdma_nfs_then then = { lane_moved, lane };
	struct bench *bench = lane->bench;
	int error = 0;

	if (bench->left == 0)
		return;
	bench->left--;
	bench->under_way++;
	if (lane->call.args)
		lane->call.arena = rpcrdma_arena(lane->io.data, ARENA);
	if (bench->work == WORK_NULL || bench->work == WORK_LIST)
		rr_client_call(rr_nfs_rpc(bench->nfs), &lane->call);
	else if (bench->work == WORK_WRITE || bench->work == WORK_STORE)
		error = rpcrdma_nfs_write(bench->nfs, &lane->io, &then);
	else
		error = rpcrdma_nfs_read(bench->nfs, &lane->io, &then);
	if (error)
		errx(1, "%s: %s", works[bench->work], rpcrdma_nfs_error(bench->nfs));
}

/* Turns an engine, and waits for us microseconds where there is nothing to do. */
static void
bench_turn(struct rpcrdma_engine *engine, uint32_t us)
{
	if (rpcrdma_engine_turn(engine, us) < 0)
		errx(1, "%s", rpcrdma_engine_error(engine));
}

static void
bench_client_turn(struct bench *bench)
{
	bench_turn(bench->client_engine, 0);
}

static void
bench_server_turn(struct bench *bench)
{
	bench_turn(bench->server_engine, 0);
}

__attribute__((noinline)) void
client_turn(struct bench *bench)
{
	bench_client_turn(bench);
}

__attribute__((noinline)) void
server_turn(struct bench *bench)
{
	bench_server_turn(bench);
}

/* Makes the calls, by turns that are counted or not. */
static void
bench_run(struct bench *bench, uint32_t calls, bool counted)
{
	bench->left = calls;
	for (uint32_t i = 0; i < bench->depth; i++)
		lane_begin(&bench->lanes[i]);
	while (bench->under_way > 0) {
		(counted ? client_turn : bench_client_turn)(bench);
		(counted ? server_turn : bench_server_turn)(bench);
	}
}

/* ---- The server ---- */

/* The names of the files, below the directory. */
enum { NAME = 64 };

static const char *
name_of(char name[NAME], const char *what)
{
	snprintf(name, NAME, "%s/%s", directory, what);
	return name;
}

static const char *
name_of_entry(char name[NAME], uint32_t number)
{
	snprintf(name, NAME, "%s/list/an-entry-%u", directory, number);
	return name;
}

static void
files_remove(void)
{
	char name[NAME];

	for (uint32_t i = 0; i < entries; i++)
		remove(name_of_entry(name, i));
	if (remove(name_of(name, "list")) || remove(name_of(name, "file")) || remove(directory))
		warn("%s", directory);
}

static void
file_make(const char *name, const void *octets, size_t size)
{
	FILE *file = fopen(name, "w");

	if (!file || fwrite(octets, 1, size, file) != size || fclose(file))
		err(1, "%s", name);
}

static void
files_make(const struct bench *bench)
{
	static uint8_t octets[OCTETS_MAX];
	char name[NAME];

	if (!mkdtemp(directory) || mkdir(name_of(name, "list"), 0700))
		err(1, "%s", directory);
	atexit(files_remove);
	file_make(name_of(name, "file"), octets, sizeof(octets));
	for (; bench->work == WORK_LIST && entries < bench->octets; entries++)
		file_make(name_of_entry(name, entries), "", 0);
}

/* Tells whether the directory lies on a file system in memory, where nothing is stored. */
static bool
is_in_memory(void)
{
	struct statfs about;

	return statfs(directory, &about) != 0 || about.f_type == TMPFS_MAGIC;
}

/* Makes the storage of the server: the directory as the export /bench. */
static void
bench_provide(struct bench *bench)
{
	const struct rr_tree_export export = { directory, "/bench" };
	const struct rr_tree_config config = {
		.exports = &export, .export_count = 1, .workers = bench->work == WORK_STORE ? WORKERS : 0
	};
	const struct rr_env *env = &rr_env_system;
	struct rr_rules *rules;
	struct rr_text text;

	if (rr_posix_shared_new(env, 1, &bench->shared) < 0 ||
		rr_posix_new(env, bench->server_engine->loop, &config, bench->shared, &bench->vfs, &text) <
			0 ||
		rr_rules_new(env, 1, &rules) < 0 ||
		rr_rules_add(
			rules, 0, "*(rw,no_root_squash,insecure,sec=sys:none)", &rr_right_default, &text) < 0)
		errx(1, "the directory of the server");
	rr_gate_init(&bench->gate, bench->vfs, rules, NULL);
	rr_rules_release(rules);
}

/* Listens by that transport, and returns the port. */
static uint16_t
bench_listen(struct bench *bench, enum rr_transport transport)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rr_text text;

	if (rr_server_listen(
		    bench->server, transport, (struct sockaddr *)&address, sizeof(address), NULL, &text) < 0)
		errx(1, "the server: %s", text.text);
	return ntohs(address.sin_port);
}

static void
bench_serve_4(struct bench *bench, struct rr_service *service)
{
	const struct rr_nfs4_shared_config config = { .tables = rr_nfs4_tables_config_default };
	struct rpcrdma_engine *engine = bench->server_engine;
	struct rr_nfs4_server_config server = { .pool = engine->results, .gate = &bench->gate };
	struct rr_text text;

	if (rr_nfs4_shared_new(engine->env, &config, &bench->shared4, &text) < 0)
		errx(1, "%s", text.text);
	server.shared = bench->shared4;
	if (rr_nfs4_server_new(engine->env, engine->loop, &server, &bench->nfs4_server, &text) < 0)
		errx(1, "%s", text.text);
	rr_nfs4_server_service(bench->nfs4_server, service);
}

static void
bench_serve(struct bench *bench)
{
	struct rpcrdma_engine *engine = bench->server_engine;
	struct rr_service services[RR_NFS_SERVICES + 1];

	bench_provide(bench);
	if (rr_nfs_server_new(engine->env, engine->results, &bench->gate, &bench->nfs_server) < 0)
		errx(1, "no memory for a server");
	rr_nfs_server_services(bench->nfs_server, services);
	bench_serve_4(bench, &services[RR_NFS_SERVICES]);
	if (rr_server_new(engine, &rr_server_config_default, services, RR_NFS_SERVICES + 1, &bench->server) <
		0)
		errx(1, "no memory for a server");
}

/* Turns the server's engine, in its own thread, while a function of the client waits: those that open and
 * close it.
 */
static void *
bench_serve_waiting(void *ctx)
{
	struct bench *bench = ctx;

	while (bench->waits)
		bench_turn(bench->server_engine, 1000000);
	return NULL;
}

static void
bench_wait_begin(struct bench *bench)
{
	bench->waits = true;
	if (pthread_create(&bench->thread, NULL, bench_serve_waiting, bench))
		errx(1, "no thread");
}

static void
bench_wait_end(struct bench *bench)
{
	bench->waits = false;
	pthread_join(bench->thread, NULL);
}

/* ---- The client ---- */

/* Mounts and looks up the file. MOUNT is called over TCP. */
static void
bench_open(struct bench *bench, bool tcp)
{
	uint16_t mount = bench_listen(bench, RR_TRANSPORT_TCP);
	char url[128];
	const struct rpcrdma_nfs_config config = { .size = sizeof(config), .url = url };

	snprintf(url, sizeof(url), "nfs://127.0.0.1:%u/bench?version=%s&transport=%s&mountport=%u",
		tcp ? mount : bench_listen(bench, RR_TRANSPORT_IWARP),
		bench->work == WORK_READ_4 ? "4.2" : "3", tcp ? "tcp" : "iwarp", mount);
	bench_wait_begin(bench);
	if (rpcrdma_nfs_open(bench->client_engine, &config, &bench->nfs) ||
		rpcrdma_nfs_find(bench->nfs, "file", true, &bench->file) ||
		rpcrdma_nfs_find(bench->nfs, "list", true, &bench->list))
		errx(1, "%s: %s", url,
			bench->nfs ? rpcrdma_nfs_error(bench->nfs)
				   : rpcrdma_engine_error(bench->client_engine));
	bench_wait_end(bench);
}

/* Makes the calls while the server's engine turns in its own thread, so that each side waits for the other.
 */
static void
bench_run_waiting(struct bench *bench, uint32_t calls)
{
	bench_wait_begin(bench);
	bench->left = calls;
	for (uint32_t i = 0; i < bench->depth; i++)
		lane_begin(&bench->lanes[i]);
	while (bench->under_way > 0)
		bench_turn(bench->client_engine, 1000000);
	bench_wait_end(bench);
}

/* Prepares a READDIRPLUS of the directory list, for a lane whose work that is. */
static void
bench_make_list(struct bench *bench, struct lane *lane)
{
	lane->call.proc = NFSPROC3_READDIRPLUS;
	lane->list = (READDIRPLUS3args){
		.dir.data = { bench->list.handle.data, bench->list.handle.length },
		.dircount = OCTETS_MAX,
		.maxcount = OCTETS_MAX,
	};
	lane->call.args = &lane->list;
	lane->call.result = &lane->listed;
	lane->call.reply_max = OCTETS_MAX;
}

static void
bench_make_lanes(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->depth; i++) {
		struct lane *lane = &bench->lanes[i];

		lane->bench = bench;
		lane->call = (struct rr_call){
			.program = &NFS_V3_program, .proc = NFSPROC3_NULL, .done = lane_called, .ctx = lane
		};
		lane->io = (struct rpcrdma_nfs_io){ .size = sizeof(lane->io),
			.file = bench->file.handle,
			.data = calloc(1, OCTETS_MAX),
			.length = bench->octets,
			.stability =
				bench->work == WORK_STORE ? RPCRDMA_NFS_FILE_SYNC : RPCRDMA_NFS_UNSTABLE };
		if (!lane->io.data)
			errx(1, "no memory");
		if (bench->work == WORK_LIST)
			bench_make_list(bench, lane);
	}
}

static void
bench_end(struct bench *bench)
{
	bench_wait_begin(bench);
	rpcrdma_nfs_close(bench->nfs);
	bench_wait_end(bench);
	rr_server_free(bench->server);
	rr_nfs_server_free(bench->nfs_server);
	rr_nfs4_server_end(bench->nfs4_server);
	rr_nfs4_server_free(bench->nfs4_server);
	rr_nfs4_shared_free(bench->shared4);
	rr_vfs_destroy(bench->vfs);
	rr_gate_end(&bench->gate);
	rr_posix_shared_free(bench->shared);
}

int
main(int argc, char **argv)
{
	static struct bench bench = { .file.size = sizeof(bench.file), .list.size = sizeof(bench.list) };
	struct rpcrdma_engine_config config = { .size = sizeof(config), .credits = 256 };
	bool tcp;

	if (argc != 7)
		errx(2, "usage: nfs tcp|iwarp VERSION null|read|write|read-4.2|list|store OCTETS DEPTH "
			"CALLS");
	tcp = strcmp(argv[1], "tcp") == 0;
	config.rpcrdma_version = (uint32_t)atoi(argv[2]);
	while (strcmp(argv[3], works[bench.work]) != 0)
		if (++bench.work == WORKS)
			errx(2, "there is no %s", argv[3]);
	bench.octets = (uint32_t)atoi(argv[4]);
	bench.depth = (uint32_t)atoi(argv[5]);
	if (bench.octets > OCTETS_MAX || bench.depth == 0 || bench.depth > DEPTH_MAX)
		errx(2, "at most %d octets, and 1 to %d calls at a time", OCTETS_MAX, DEPTH_MAX);
	if (rpcrdma_engine_new(&config, &bench.client_engine) < 0 ||
		rpcrdma_engine_new(&config, &bench.server_engine) < 0)
		errx(1, "no engine");
	if (bench.work == WORK_STORE)
		directory = directory_here;
	files_make(&bench);
	if (bench.work == WORK_STORE && is_in_memory())
		exit(IN_MEMORY);
	bench_serve(&bench);
	bench_open(&bench, tcp);
	bench_make_lanes(&bench);
	if (bench.work == WORK_STORE) {
		bench_run_waiting(&bench, (uint32_t)atoi(argv[6]));
	} else {
		still_begin();
		bench_run(&bench, 4 * bench.depth, false);
		bench_run(&bench, (uint32_t)atoi(argv[6]), true);
	}
	bench_end(&bench);
	return 0;
}
