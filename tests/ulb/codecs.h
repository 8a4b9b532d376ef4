/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_ULB_CODECS_H
#define RR_TESTS_ULB_CODECS_H

#include "../mutate.h"
#include "../padding.h"

#include <rpcrdma/xdr.h>

/* Takes arguments and results of a program's procedures through its table of codecs. */

enum { RR_STREAM = 4096, RR_ARENA = 65536 };

struct rr_codec {
	size_t size;
	uint32_t max, items;
	void (*get)(struct rpcrdma_xdr_reader *reader, void *object);
	void (*put)(struct rpcrdma_xdr_writer *writer, const void *object);
};

static inline struct rr_codec
rr_args_codec(const struct rpcrdma_procedure *p)
{
	return (struct rr_codec){ p->args_size, p->args_max, p->args_items, p->get_args, p->put_args };
}

static inline struct rr_codec
rr_result_codec(const struct rpcrdma_procedure *p)
{
	return (struct rr_codec){ p->result_size, p->result_max, p->result_items, p->get_result,
		p->put_result };
}

/* Reads a stream without items; the object is valid until the next one is read. NULL: the stream cannot be
 * read. */
static inline const void *
rr_read_object(const struct rr_codec *codec, const void *stream, size_t length)
{
	static _Alignas(max_align_t) uint8_t memory[RR_ARENA], object[1024];
	const struct rpcrdma_message message = { .stream = stream, .length = (uint32_t)length };
	struct rpcrdma_arena arena = rpcrdma_arena(memory, sizeof(memory));
	struct rpcrdma_xdr_reader reader;

	assert_true(codec->size <= sizeof(object));
	rpcrdma_xdr_reader_init(&reader, &message, &arena);
	codec->get(&reader, object);
	return rpcrdma_xdr_done(&reader) ? object : NULL;
}

/* Checks that an object that can be read is written as the same octets, except for padding. Returns NULL
 * or the fault. */
static inline const char *
rr_comes_back(const uint8_t *data, size_t size, void *context)
{
	const struct rr_codec *codec = context;
	const void *object = rr_read_object(codec, data, size);
	uint8_t again[RR_STREAM];
	struct rpcrdma_xdr_writer writer;

	if (!object)
		return NULL;
	rpcrdma_xdr_writer_init(&writer, again, sizeof(again), NULL, 0);
	codec->put(&writer, object);
	if (writer.failed || rpcrdma_xdr_length(&writer) != size ||
		!rr_same_but_for_padding(again, data, size))
		return "it is written differently than it was read";
	return codec->items == 0 && size > codec->max ? "it is larger than it can be" : NULL;
}

/* Writes object, and reads every mutation of the octets. Returns how many octets were written. */
static inline size_t
rr_round_trip(struct rr_codec codec, const void *object)
{
	uint8_t stream[RR_STREAM];
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, stream, sizeof(stream), NULL, 0);
	codec.put(&writer, object);
	assert_false(writer.failed);
	assert_non_null(rr_read_object(&codec, stream, rpcrdma_xdr_length(&writer)));
	rr_mutate(stream, rpcrdma_xdr_length(&writer), rr_comes_back, &codec);
	return rpcrdma_xdr_length(&writer);
}

#endif
