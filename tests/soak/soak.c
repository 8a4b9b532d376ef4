/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak [-v] [-f loop|iwarp|crc] [-n RUNS] [SEED]: copies files to an NFS server and back, in one process,
 * while a fault script that is made from the seed plays havoc with the connection; then the same with the
 * next seed.
 *
 * A run must end (in so many turns of the loop, and so much time, which passes only while nothing else
 * happens), give all memory and all descriptors back, and deliver no wrong octet. Where the script leaves a
 * way through, the copy must also succeed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../fabric/loop/loop.h"
#include "carrier/rdma/core/room.h"
#include "fabric/filter/fault.h"
#include "fabric/iwarp/iwarp.h"
#include "nfs/client.h"
#include "server/nfs3/server.h"
#include "vfs/posix/posix.h"
#include "vfs/posix/store/storer.h"

enum { PIECES = 8, SIZE_MAX_OCTETS = 2 << 20, TURNS_MAX = 400000, OPENS = 40, QUIET = 5 };

static const uint64_t time_max = 3 * 3600 * RR_SECOND;

enum carrier { LOOP, IWARP, CRC, CARRIERS };

static const char *const carriers[] = { "loop", "iwarp", "crc" };

struct run {
	uint64_t seed, state, now;
	uint32_t turns, quiet; /* quiet: of them, in a row, in which nothing happened */
	int64_t live;          /* allocations */
	enum carrier carrier;
	char script[512];
	bool gentle; /* the copy must succeed */
	bool cuts;   /* Sends may arrive short: who discards one as he must leaves the other waiting */
	bool stuck;
	struct rr_env env;
	struct rr_fault_script fault;
	struct rpcrdma_engine *engine;
	struct rr_tree_export export;
	struct rr_posix_shared *shared;
	struct rr_vfs *vfs;
	struct rr_gate gate;
	struct rr_nfs_server *nfs_server;
	struct rpcrdma_server *server;
	struct sockaddr_in address;
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_object file;
	struct rr_nfs_io io[PIECES];
	uint32_t at, size, pending;
	bool reading;
	int error;
	const char *step;
};

static struct run *current;
static char folder[64];
static uint8_t *data, *copy;
static bool verbose;

static uint32_t
next(struct run *run)
{
	uint64_t z = run->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}

static uint32_t
below(struct run *run, uint32_t limit)
{
	return next(run) % limit;
}

static void __attribute__((noreturn)) bad(const struct run *run, const char *what)
{
	fprintf(stderr, "soak: seed %llu (%s, '%s'): %s while %s\n", (unsigned long long)run->seed,
		carriers[run->carrier], run->script, what, run->step);
	abort();
}

/* ---- What the server's thread for stores has to do, in real time ---- */

enum { STORES = 256, STORE_LIMIT = 60000 /* ms */ };

static struct {
	struct rr_store_job *job;
	void (*done)(struct rr_store_job *job);
} stores[STORES];
static uint32_t store_count;

void __real_rr_storer_add(struct rr_storer *storer, struct rr_store_job *job);
void __wrap_rr_storer_add(struct rr_storer *storer, struct rr_store_job *job);

static void
stored(struct rr_store_job *job)
{
	uint32_t i = 0;

	while (stores[i].job != job)
		i++;
	job->done = stores[i].done;
	stores[i] = stores[--store_count];
	job->done(job);
}

/* The linker puts this in front of rr_storer_add(). */
void
__wrap_rr_storer_add(struct rr_storer *storer, struct rr_store_job *job)
{
	if (store_count == STORES)
		bad(current, "too many stores at a time");
	stores[store_count].job = job;
	stores[store_count++].done = job->done;
	job->done = stored;
	__real_rr_storer_add(storer, job);
}

/* ---- Time, which passes when nothing else happens ---- */

int
epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	struct run *run = current;
	int n = (int)syscall(SYS_epoll_pwait, epoll, events, max, 0, NULL, 8);

	if (++run->turns > TURNS_MAX)
		bad(run, "too many turns of the loop");
	/* A store takes as long as the machine needs for it. */
	for (int i = 0; n == 0 && timeout != 0 && store_count > 0 && i < STORE_LIMIT; i++)
		n = (int)syscall(SYS_epoll_pwait, epoll, events, max, 1, NULL, 8);
	/* What TCP has under way may take a moment of real time. */
	if (n == 0 && timeout != 0 && run->carrier != LOOP && run->quiet++ < QUIET)
		n = (int)syscall(SYS_epoll_pwait, epoll, events, max, 1, NULL, 8);
	if (n > 0)
		run->quiet = 0;
	if (n != 0 || timeout == 0)
		return n;
	run->now += timeout < 0 ? time_max / 4 : (uint64_t)timeout * RR_MILLISECOND;
	run->stuck = run->cuts && run->now > time_max / 2;
	if (run->now > time_max)
		bad(run, "nothing has happened for hours");
	return 0;
}

static bool
is_stuck(void *ctx)
{
	return ((struct run *)ctx)->stuck;
}

/* What is on the disk is not what is tested. */
int
fsync(int fd)
{
	(void)fd;
	return 0;
}

int
fdatasync(int fd)
{
	(void)fd;
	return 0;
}

static uint64_t
now(void *ctx)
{
	return ((struct run *)ctx)->now;
}

static void *
allocate(void *ctx, void *old, size_t size)
{
	struct run *run = ctx;

	run->live += (size > 0 && !old) - (size == 0 && old);
	return rr_env_system.realloc(rr_env_system.ctx, old, size);
}

static void
fill(void *ctx, void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)next(ctx);
}

/* ---- What is to go wrong ---- */

static void
add_rule(struct run *run)
{
	static const char *const actions[] = { "delay", "reorder", "drop", "flush", "corrupt", "fail",
		"cut" };
	static const char *const operations[] = { "connect", "accept", "send", "write", "read", "register",
		"receive", "complete" };
	char statement[64];
	struct rr_fault_script script;
	struct rr_text text;
	uint32_t action = below(run, run->carrier == CRC ? 7 : 6);

	if (run->carrier != CRC && action >= 4)
		action++;
	snprintf(statement, sizeof(statement), "%s %s %u;", actions[action], operations[below(run, 8)],
		1 + below(run, below(run, 2) ? 12 : 80));
	if (rr_fault_parse(statement, &script, &text))
		return;
	strcat(run->script, statement);
	run->gentle &= action < 5;
	run->cuts |= action == 6;
}

static void
make_script(struct run *run)
{
	static const char *const kinds[] = { "drop", "delay,reorder", "drop,delay,reorder,flush", "fail,drop",
		"cut,delay", "fail,delay,cut,reorder,flush,drop", "corrupt,delay",
		"fail,delay,cut,reorder,flush,drop,corrupt" };
	uint32_t rules = below(run, 4), kind = below(run, run->carrier == CRC ? 8 : 6);
	char statement[128];
	struct rr_text text;

	run->gentle = true;
	for (uint32_t i = 0; i < rules; i++)
		add_rule(run);
	if (below(run, 3)) {
		snprintf(statement, sizeof(statement), "random seed=%u rate=0.0%02u delay=%ums kinds=%s",
			next(run), 1 + below(run, 30), 1 + below(run, below(run, 8) ? 50 : 100000),
			kinds[kind]);
		strcat(run->script, statement);
		run->gentle &= kind < 3 || kind == 6;
		run->cuts |= kind == 4 || kind == 5 || kind == 7;
	}
	if (rr_fault_parse(run->script, &run->fault, &text))
		bad(run, text.text);
}

/* ---- One end and the other ---- */

static void
start_engine(struct run *run)
{
	static const uint32_t credits[] = { 1, 2, 8, 64 };
	struct rr_engine_config config = rr_engine_config_default;

	config.filter = rr_fault_filter;
	config.filter_ctx = &run->fault;
	config.credits = credits[below(run, 4)];
	config.inline_send = config.inline_receive = below(run, 2) ? 4096 : 1024;
	config.remote_invalidation = below(run, 2);
	config.crc = run->carrier == CRC || rr_fault_corrupts(&run->fault);
	if (rr_engine_new_on(&run->env, &config,
		    run->carrier == LOOP ? rr_loop_fabric_new : rr_iwarp_fabric_new, &run->engine))
		bad(run, "no engine");
}

static void
start_server(struct run *run)
{
	struct rr_tree_config tree = { .exports = &run->export, .export_count = 1 };
	struct rr_service services[RR_NFS_SERVICES];
	struct rr_rules *rules;
	struct rr_text text = { "" };

	run->export = (struct rr_tree_export){ folder, "/" };
	if (rr_posix_shared_new(&run->env, run->seed, &run->shared) < 0)
		bad(run, "no memory");
	run->address =
		(struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (rr_posix_new(&run->env, run->engine->loop, &tree, run->shared, &run->vfs, &text))
		bad(run, text.text);
	if (rr_rules_new(&run->env, 1, &rules) ||
		rr_rules_add(rules, 0, "*(rw,no_root_squash,insecure)", &rr_right_default, &text))
		bad(run, "no memory");
	rr_gate_init(&run->gate, run->vfs, rules, NULL);
	rr_rules_release(rules);
	if (rr_nfs_server_new(&run->env, run->engine->results, &run->gate, &run->nfs_server))
		bad(run, "no memory");
	rr_nfs_server_services(run->nfs_server, services);
	if (rr_server_new(run->engine, &rr_server_config_default, services, RR_NFS_SERVICES, &run->server) ||
		rr_server_listen(run->server, RR_TRANSPORT_AUTO, (struct sockaddr *)&run->address,
			sizeof(run->address), NULL, &text))
		bad(run, text.text[0] ? text.text : "no server");
}

/* The first connection is not tried again by the client itself. */
static int
open_client(struct run *run)
{
	struct rr_nfs_config config = {
		.rpc = { .transport = RR_TRANSPORT_AUTO,
			.address_size = sizeof(run->address),
			.retry = 3600 * RR_SECOND },
		.server = "soak",
		.path = "/",
		.interrupted = is_stuck,
		.interrupted_ctx = run,
	};
	struct rr_text text = { "" };
	int error = 0;

	run->step = "connecting";
	memcpy(&config.rpc.address, &run->address, sizeof(run->address));
	for (int i = 0; i < OPENS && !run->stuck; i++) {
		error = rr_nfs_open(run->engine, &config, &run->nfs, &text);
		if (!error)
			return 0;
	}
	if (verbose)
		fprintf(stderr, "soak: seed %llu: %s\n", (unsigned long long)run->seed, text.text);
	return error;
}

static void move(struct run *run, struct rr_nfs_io *io);

static void
moved(struct rr_nfs_io *io, int error)
{
	struct run *run = io->ctx;

	run->pending--;
	if (error) {
		run->error = run->error ? run->error : error;
		return;
	}
	if (run->reading && io->moved != io->length)
		bad(run, "a READ was short");
	if (run->reading && memcmp(io->data, data + io->offset, io->length) != 0)
		bad(run, "wrong octets were read");
	move(run, io);
}

/* The next piece of the file, if there is one. */
static void
move(struct run *run, struct rr_nfs_io *io)
{
	uint32_t length = 1 + below(run, below(run, 2) ? 2000 : below(run, 8) ? 66000 : 1 << 20);

	if (run->error || run->at == run->size)
		return;
	if (length > run->size - run->at)
		length = run->size - run->at;
	*io = (struct rr_nfs_io){ .file = &run->file.handle,
		.data = (run->reading ? copy : data) + run->at,
		.offset = run->at,
		.length = length,
		.stable = below(run, 2) ? UNSTABLE : FILE_SYNC,
		.done = moved,
		.ctx = run };
	run->at += length;
	run->pending++;
	if (run->reading)
		rr_nfs_read(run->nfs, io);
	else
		rr_nfs_write(run->nfs, io);
}

static int
move_all(struct run *run, bool reading)
{
	uint32_t window = 1 + below(run, PIECES);

	run->reading = reading;
	run->step = reading ? "reading" : "writing";
	run->at = 0;
	for (uint32_t i = 0; i < window; i++)
		move(run, &run->io[i]);
	while (run->pending && !run->stuck)
		if (rr_loop_turn(run->engine->loop, -1) < 0)
			bad(run, strerror(errno));
	for (uint32_t i = 0; i < PIECES; i++)
		rr_nfs_io_cancel(&run->io[i]);
	return run->stuck ? -RPCRDMA_ERR_CANCELLED : run->error;
}

static void
check_file(const struct run *run, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	memset(copy, 0, run->size);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, copy, SIZE_MAX_OCTETS) != (ssize_t)run->size ||
		memcmp(copy, data, run->size) != 0)
		bad(run, "wrong octets were written");
	close(fd);
}

static int
there_and_back(struct run *run)
{
	const struct rpcrdma_nfs_changes changes = {
		.size = sizeof(changes), .set_mode = true, .mode = 0600
	};
	uint8_t verifier[NFS3_WRITEVERFSIZE];
	int error;

	run->step = "creating";
	run->file.size = sizeof(run->file);
	error = rpcrdma_nfs_create(run->nfs, rr_nfs_root(run->nfs), "file", &changes, &run->file, NULL);
	if (!error)
		error = move_all(run, false);
	run->step = "committing";
	if (!error)
		error = rpcrdma_nfs_commit(run->nfs, &run->file.handle, verifier, NULL);
	if (error)
		return error;
	check_file(run, "file");
	memset(copy, 0, run->size);
	error = move_all(run, true);
	run->step = "removing";
	return error ? error : rpcrdma_nfs_remove(run->nfs, rr_nfs_root(run->nfs), "file", NULL);
}

static bool
run_once(uint64_t seed, int carrier)
{
	struct run run = { .seed = seed, .state = seed * 2654435761u, .now = RR_SECOND, .step = "starting" };
	char path[128];
	int error;

	current = &run;
	run.carrier = carrier < 0 ? (enum carrier)(seed % CARRIERS) : (enum carrier)carrier;
	run.env = (struct rr_env){ .realloc = allocate, .now = now, .random = fill, .ctx = &run };
	make_script(&run);
	run.size = below(&run, below(&run, 2) ? 5000 : below(&run, 20) ? 200000 : SIZE_MAX_OCTETS);
	start_engine(&run);
	start_server(&run);
	error = open_client(&run);
	if (!error)
		error = there_and_back(&run);
	if (verbose)
		fprintf(stderr, "soak: seed %llu (%s, '%s'): %d, %llu faults, %u turns%s%s\n",
			(unsigned long long)seed, carriers[run.carrier], run.script, error,
			(unsigned long long)rr_fault_count(rr_room_in(run.engine)->fabric), run.turns,
			run.nfs && error ? ", " : "", run.nfs && error ? rpcrdma_nfs_error(run.nfs) : "");
	/* A call whose connection is lost five times in a row is given up. */
	if (error == -RPCRDMA_ERR_DISCONNECTED && rr_fault_count(rr_room_in(run.engine)->fabric) >= 5)
		run.gentle = false;
	if (error && run.gentle)
		bad(&run, run.nfs ? rpcrdma_nfs_error(run.nfs) : "no connection came up");
	run.step = "ending";
	rpcrdma_nfs_close(run.nfs);
	rr_server_free(run.server);
	rr_vfs_destroy(run.vfs);
	rr_nfs_server_free(run.nfs_server);
	rr_gate_end(&run.gate);
	rr_posix_shared_free(run.shared);
	rpcrdma_engine_free(run.engine);
	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	if (run.live)
		bad(&run, "memory was lost");
	return error == 0;
}

static int
lowest_free_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

int
main(int argc, char **argv)
{
	uint64_t seed = 1, runs = 300, copied = 0;
	int carrier = -1, option, free_descriptor;

	while ((option = getopt(argc, argv, "vf:n:")) != -1) {
		if (option == 'v')
			verbose = true;
		else if (option == 'n')
			runs = strtoull(optarg, NULL, 10);
		else if (option != 'f')
			return 2;
		for (int i = 0; option == 'f' && i < CARRIERS; i++)
			carrier = strcmp(optarg, carriers[i]) == 0 ? i : carrier;
	}
	if (optind < argc)
		seed = strtoull(argv[optind], NULL, 10);
	snprintf(folder, sizeof(folder), "%s/rpcrdma-soak-XXXXXX",
		access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	data = malloc(SIZE_MAX_OCTETS);
	copy = malloc(SIZE_MAX_OCTETS);
	if (!data || !copy || !mkdtemp(folder))
		return 1;
	for (uint32_t i = 0; i < SIZE_MAX_OCTETS; i++)
		data[i] = (uint8_t)(i * 7 + i / 253 + 1);
	free_descriptor = lowest_free_descriptor();
	for (uint64_t i = 0; i < runs; i++)
		copied += run_once(seed + i, carrier);
	rmdir(folder);
	free(data);
	free(copy);
	printf("%llu runs from seed %llu: %llu copied, the others failed as they must\n",
		(unsigned long long)runs, (unsigned long long)seed, (unsigned long long)copied);
	return lowest_free_descriptor() == free_descriptor ? 0 : 1;
}
