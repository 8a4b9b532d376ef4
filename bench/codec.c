/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec NAME TIMES: writes and reads messages of NFS version 3 TIMES times, by the code that is generated
 * from the schema: the arguments and the result of lookup, read (64 KiB, beside the stream) or readdirplus
 * (32 entries). bench/instructions counts the instructions of codec_put() and codec_get().
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "ulb/nfs3.h"

enum { STREAM = 65536, ARENA = 65536, ENTRIES = 32, ITEMS = 1 };

static uint8_t data[STREAM], arena_memory[ARENA];

static const struct rpcrdma_bytes handle = { data, 28 };

/* A procedure with its arguments and its result, and memory to read them into. */
struct codec {
	const struct rpcrdma_procedure *procedure;
	const void *args, *result;
	void *got;
	uint8_t stream[STREAM];
	struct rpcrdma_item items[ITEMS];
	struct rpcrdma_message message;
};

void codec_put(struct codec *codec, bool is_call);
void codec_get(struct codec *codec, bool is_call);

__attribute__((noinline)) void
codec_put(struct codec *codec, bool is_call)
{
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, codec->stream, sizeof(codec->stream), codec->items, ITEMS);
	if (is_call)
		codec->procedure->put_args(&writer, codec->args);
	else
		codec->procedure->put_result(&writer, codec->result);
	if (writer.failed)
		errx(1, "%s cannot be written", codec->procedure->name);
	codec->message = rpcrdma_xdr_written(&writer);
}

__attribute__((noinline)) void
codec_get(struct codec *codec, bool is_call)
{
	struct rpcrdma_arena arena = rpcrdma_arena(arena_memory, sizeof(arena_memory));
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &codec->message, &arena);
	if (is_call)
		codec->procedure->get_args(&reader, codec->got);
	else
		codec->procedure->get_result(&reader, codec->got);
	if (!rpcrdma_xdr_done(&reader))
		errx(1, "%s cannot be read", codec->procedure->name);
}

static void
codec_run(struct codec *codec, uint32_t times)
{
	/* The compiler makes no variants of functions that are called by such pointers. */
	void (*volatile const steps[])(struct codec *, bool) = { codec_put, codec_get };
	size_t size = codec->procedure->args_size > codec->procedure->result_size
			      ? codec->procedure->args_size
			      : codec->procedure->result_size;

	codec->got = malloc(size);
	if (!codec->got)
		errx(1, "no memory");
	for (uint32_t i = 0; i < times; i++) {
		for (int is_call = 1; is_call >= 0; is_call--) {
			memset(codec->got, 0, size);
			steps[0](codec, is_call);
			steps[1](codec, is_call);
		}
	}
	free(codec->got);
}

static post_op_attr
attributes(void)
{
	return (post_op_attr){ .attributes_follow = true, .u.attributes.type = NF3REG };
}

static void
codec_lookup(LOOKUP3args *args, LOOKUP3res *res)
{
	args->what = (diropargs3){ { handle }, { data, 17 } };
	res->u.resok.object.data = handle;
	res->u.resok.obj_attributes = res->u.resok.dir_attributes = attributes();
}

static void
codec_read(READ3args *args, READ3res *res)
{
	*args = (READ3args){ .file.data = handle, .count = sizeof(data) };
	res->u.resok = (READ3resok){
		.file_attributes = attributes(), .count = sizeof(data), .data = { data, sizeof(data) }
	};
}

static void
codec_readdirplus(READDIRPLUS3args *args, READDIRPLUS3res *res)
{
	static entryplus3 entries[ENTRIES];

	*args = (READDIRPLUS3args){ .dir.data = handle, .dircount = 4096, .maxcount = 32768 };
	for (int i = 0; i < ENTRIES; i++)
		entries[i] = (entryplus3){ .fileid = (fileid3)i,
			.name = { data, 17 },
			.name_attributes = attributes(),
			.name_handle = { true, { { handle } } },
			.nextentry = i + 1 < ENTRIES ? &entries[i + 1] : NULL };
	res->u.resok.dir_attributes = attributes();
	res->u.resok.reply.entries = entries;
}

int
main(int argc, char **argv)
{
	static struct codec codec;
	static union {
		LOOKUP3args lookup;
		READ3args read;
		READDIRPLUS3args readdirplus;
	} args;
	static union {
		LOOKUP3res lookup;
		READ3res read;
		READDIRPLUS3res readdirplus;
	} res;
	uint32_t proc = NFSPROC3_LOOKUP;

	if (argc != 3)
		errx(2, "usage: codec lookup|read|readdirplus TIMES");
	if (strcmp(argv[1], "read") == 0) {
		proc = NFSPROC3_READ;
		codec_read(&args.read, &res.read);
	} else if (strcmp(argv[1], "readdirplus") == 0) {
		proc = NFSPROC3_READDIRPLUS;
		codec_readdirplus(&args.readdirplus, &res.readdirplus);
	} else {
		codec_lookup(&args.lookup, &res.lookup);
	}
	codec.procedure = &NFS_V3_program.procedures[proc];
	codec.args = &args;
	codec.result = &res;
	codec_run(&codec, (uint32_t)atoi(argv[2]));
	return 0;
}
