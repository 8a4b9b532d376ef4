/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nfs_get URL: lists the directory of the URL, reads all its files at the same time into memory of its own,
 * by RDMA if the URL's transport has it, and prints how many octets each file has.
 */
#include <inttypes.h>
#include <rpcrdma/nfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 64 };

struct file {
	struct get *get;
	char name[RPCRDMA_NFS_NAME_MAX + 1];
	struct rpcrdma_nfs_object object;
	struct rpcrdma_nfs_io io;
	int error;
};

struct get {
	struct rpcrdma_nfs *nfs;
	struct file files[FILES_MAX];
	uint32_t count, under_way;
};

static int
take_entry(void *ctx, const struct rpcrdma_nfs_entry *entry)
{
	struct get *get = ctx;
	struct file *file = &get->files[get->count];

	if (get->count == FILES_MAX)
		return -RPCRDMA_ERR_LIMIT;
	file->get = get;
	snprintf(file->name, sizeof(file->name), "%s", entry->name);
	get->count++;
	return 0;
}

static void
read_done(void *ctx, int error)
{
	struct file *file = ctx;

	file->error = error;
	file->get->under_way--;
}

/* Starts to read the file. An object that is no file, or is empty, is left out. */
static int
start(struct file *file, const struct rpcrdma_nfs_handle *directory)
{
	const struct rpcrdma_nfs_then then = { read_done, file };
	struct rpcrdma_nfs *nfs = file->get->nfs;
	int error;

	file->object.size = sizeof(file->object);
	error = rpcrdma_nfs_lookup(nfs, directory, file->name, &file->object, NULL);
	if (error || file->object.type != RPCRDMA_NFS_FILE || file->object.length == 0)
		return error;
	file->io = (struct rpcrdma_nfs_io){
		.size = sizeof(file->io),
		.file = file->object.handle,
		.length = (uint32_t)file->object.length,
		.data = malloc(file->object.length),
	};
	error = file->io.data ? rpcrdma_nfs_read(nfs, &file->io, &then) : -RPCRDMA_ERR_NOMEM;
	file->get->under_way += error == 0;
	return error;
}

static int
get_all(struct get *get, struct rpcrdma_engine *engine)
{
	struct rpcrdma_nfs_object directory = { .size = sizeof(directory) };
	int error = rpcrdma_nfs_find(get->nfs, "", true, &directory);

	if (!error)
		error = rpcrdma_nfs_list(get->nfs, &directory.handle, take_entry, get);
	for (uint32_t i = 0; i < get->count && !error; i++)
		error = start(&get->files[i], &directory.handle);
	while (get->under_way > 0 && !error) {
		int turned = rpcrdma_engine_turn(engine, -1);

		error = turned < 0 ? turned : 0;
	}
	for (uint32_t i = 0; i < get->count && !error; i++)
		error = get->files[i].error;
	return error;
}

static void
print_all(const struct get *get)
{
	struct rpcrdma_counters counters = { .size = sizeof(counters) };

	for (uint32_t i = 0; i < get->count; i++)
		printf("%s %" PRIu32 "\n", get->files[i].name, get->files[i].io.moved);
	if (rpcrdma_nfs_counters(get->nfs, &counters) == 0)
		printf("by RDMA Write %" PRIu64 "\n", counters.octets_rdma_write);
}

int
main(int argc, char **argv)
{
	static struct get get;
	struct rpcrdma_nfs_config config = { .size = sizeof(config) };
	struct rpcrdma_engine *engine;
	int error;

	if (argc != 2) {
		fprintf(stderr, "usage: nfs_get URL\n");
		return 2;
	}
	config.url = argv[1];
	error = rpcrdma_engine_new(NULL, &engine);
	if (error) {
		fprintf(stderr, "nfs_get: %s\n", rpcrdma_strerror(error));
		return EXIT_FAILURE;
	}
	error = rpcrdma_nfs_open(engine, &config, &get.nfs);
	if (error) {
		fprintf(stderr, "nfs_get: %s\n", rpcrdma_engine_error(engine));
	} else {
		error = get_all(&get, engine);
		if (error)
			fprintf(stderr, "nfs_get: %s\n", rpcrdma_nfs_error(get.nfs));
		else
			print_all(&get);
		rpcrdma_nfs_close(get.nfs);
	}
	for (uint32_t i = 0; i < get.count; i++)
		free(get.files[i].io.data);
	rpcrdma_engine_free(engine);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
