/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-storage URL read|write SIZE DEPTH COUNT [ORDER]: makes COUNT READs or WRITEs (FILE_SYNC) of SIZE
 * octets of the file that URL names, DEPTH at a time, and prints how many there were in a second. ORDER: next
 * (each behind the one before, and from the beginning again at the end of the file) or random, by a generator
 * that always begins the same way.
 */
#include <inttypes.h>
#include <rpcrdma/nfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH_MAX = 256 };

struct bench {
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_object file;
	bool writes, random;
	uint32_t length, under_way;
	uint64_t blocks, next, state; /* of the generator */
	uint64_t left;                /* calls that are not begun yet */
	int error;
};

struct lane {
	struct bench *bench;
	struct rpcrdma_nfs_io io;
};

/* Returns the next number of SplitMix64, which is public domain. */
static uint64_t
bench_random(struct bench *bench)
{
	uint64_t x = bench->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void lane_begin(struct lane *lane);

static void
lane_done(void *ctx, int error)
{
	struct lane *lane = ctx;
	struct bench *bench = lane->bench;

	bench->under_way--;
	if (!error && lane->io.moved != bench->length)
		error = -RPCRDMA_ERR_PEER;
	if (error)
		bench->error = error;
	else
		lane_begin(lane);
}

static void
lane_begin(struct lane *lane)
{
	const struct rpcrdma_nfs_then then = { lane_done, lane };
	struct bench *bench = lane->bench;
	uint64_t block = bench->random ? bench_random(bench) : bench->next++;
	int error;

	if (bench->left == 0 || bench->error)
		return;
	bench->left--;
	lane->io.offset = block % bench->blocks * bench->length;
	error = bench->writes ? rpcrdma_nfs_write(bench->nfs, &lane->io, &then)
			      : rpcrdma_nfs_read(bench->nfs, &lane->io, &then);
	if (error)
		bench->error = error;
	else
		bench->under_way++;
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
bench_run(struct bench *bench, struct rpcrdma_engine *engine, uint32_t depth)
{
	static struct lane lanes[DEPTH_MAX];

	for (uint32_t i = 0; i < depth; i++) {
		lanes[i].bench = bench;
		lanes[i].io = (struct rpcrdma_nfs_io){ .size = sizeof(lanes[i].io),
			.file = bench->file.handle,
			.data = calloc(1, bench->length),
			.length = bench->length,
			.stability = RPCRDMA_NFS_FILE_SYNC };
		if (!lanes[i].io.data)
			return -RPCRDMA_ERR_NOMEM;
		lane_begin(&lanes[i]);
	}
	while (bench->under_way > 0)
		if (rpcrdma_engine_turn(engine, -1) < 0)
			return -RPCRDMA_ERR_SYSTEM;
	for (uint32_t i = 0; i < depth; i++)
		free(lanes[i].io.data);
	return bench->error;
}

/* Mounts, and finds the file that the URL names. */
static int
bench_open(struct bench *bench, struct rpcrdma_engine *engine, const char *url)
{
	const struct rpcrdma_nfs_config config = { .size = sizeof(config), .url = url };
	int error = rpcrdma_nfs_open(engine, &config, &bench->nfs);

	if (error)
		return error;
	bench->file.size = sizeof(bench->file);
	return rpcrdma_nfs_find(bench->nfs, "", true, &bench->file);
}

static int
bench_measure(struct bench *bench, struct rpcrdma_engine *engine, uint32_t depth)
{
	uint64_t count = bench->left;
	double start = seconds();
	int error;

	bench->blocks = bench->file.length / bench->length;
	if (bench->blocks == 0)
		return -RPCRDMA_ERR_INVAL;
	error = bench_run(bench, engine, depth);
	if (!error)
		printf("%.1f\n", (double)count / (seconds() - start));
	return error;
}

int
main(int argc, char **argv)
{
	struct rpcrdma_engine *engine;
	struct bench bench = { 0 };
	uint32_t depth;
	int error;

	if (argc < 6) {
		fprintf(stderr, "usage: bench-storage URL read|write SIZE DEPTH COUNT [next|random]\n");
		return 2;
	}
	bench.writes = strcmp(argv[2], "write") == 0;
	bench.length = (uint32_t)strtoul(argv[3], NULL, 10);
	depth = (uint32_t)strtoul(argv[4], NULL, 10);
	bench.left = strtoull(argv[5], NULL, 10);
	bench.random = argc > 6 && strcmp(argv[6], "random") == 0;
	if (bench.length == 0 || depth == 0 || depth > DEPTH_MAX || rpcrdma_engine_new(NULL, &engine) < 0)
		return 2;
	error = bench_open(&bench, engine, argv[1]);
	if (!error)
		error = bench_measure(&bench, engine, depth);
	if (error)
		fprintf(stderr, "bench-storage: %s: error %d: %s\n", argv[1], error,
			bench.nfs ? rpcrdma_nfs_error(bench.nfs) : rpcrdma_engine_error(engine));
	rpcrdma_nfs_close(bench.nfs);
	rpcrdma_engine_free(engine);
	return error ? 1 : 0;
}
